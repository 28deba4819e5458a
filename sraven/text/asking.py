"""Questions put to an endpoint, many at a time; replies are handed out as they come, in any order.

What may pass is tried again: an endpoint that is busy or broken for a while, a line that is cut. What fails
for good is handed out as a failure and stops nothing, unless so many fail one after the other that something
else must be wrong. What an endpoint says is masked before anything else sees it. `httpx` is needed for this,
which the extra `llm` installs.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.request import getproxies

import httpx

from sraven.core.errors import ConfigurationError
from sraven.files.environment import certificates_fault
from sraven.files.strict_json import parse_loosely
from sraven.text.addresses import read_address, url_secrets
from sraven.text.apis import Asking, NoReplyError, Outcome, Reply, read_reply, write_request
from sraven.text.failures import ANY_TRIES, LONGEST_RAW, PASSING, UNREADABLE_TRIES, Failure, why_to_stop
from sraven.text.masking import make_mask, map_texts, without_halves
from sraven.text.waits import SAID_STANDSTILL, SAID_WAIT, asked_wait, next_wait

LONGEST_BODY = 1 << 24
"""Bytes of a reply at most."""

_SHOWN = 300


class StoppedAskingError(ConfigurationError):
    """An endpoint that can't be asked any further; the message says why."""


class _EndingError(Exception):
    """Asking ends before a question is tried once more."""


@dataclass
class Endpoint:
    """Where questions are asked.

    Attributes:
        url: address that ends in ``/v1``, or whatever the path of the interface follows.
        asking: how a model is asked there.
        key: sent with each question; None for none.
        tries: of a question, at most.
        timeout: seconds that a try may take.
        say: is called with what is worth saying meanwhile.

    Raises:
        ConfigurationError: for what is no address, or if it has a user beside the key.
    """

    url: str = field(repr=False)
    asking: Asking
    key: str | None = field(default=None, repr=False)
    tries: int = 6
    timeout: float = 600.0
    say: Callable[[str], None] = lambda text: None

    def __post_init__(self) -> None:
        self.address = read_address(self.url)
        if self.key and self.address.has_user:
            raise ConfigurationError(
                "--url has a user, and --key-env a key: only one can be sent; leave one out"
            )
        proxies = [secret for proxy in getproxies().values() for secret in url_secrets(proxy)]
        self._mask = make_mask([self.key or "", *self.address.secrets, *proxies])
        self._ending, self._at_work, self._waiting = asyncio.Event(), 0, 0
        self._renamed: dict[str, str] = {}
        self._is_reached, self._said_until = False, 0.0

    def connect(self, concurrency: int) -> httpx.AsyncClient:
        """Return what sends questions, as the environment says: proxies, certificates.

        Raises:
            ConfigurationError: if that can't be used.
        """
        name, before = ("api-key", "") if self.address.is_azure else ("Authorization", "Bearer ")
        headers = {name: before + self.key} if self.key else {}
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        try:
            httpx.URL(self.address.url)
        except (httpx.InvalidURL, ValueError):
            raise ConfigurationError(f"--url: {self.address.shown} is no address that httpx takes") from None
        try:
            return httpx.AsyncClient(headers=headers, limits=limits, timeout=self.timeout)
        except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
            raise ConfigurationError(_fault_of_environment(error)) from None

    async def ask(self, client: httpx.AsyncClient, prompt: str, sample: int = 0) -> Reply:
        """Ask a question until there is a reply.

        Args:
            client: what sends it.
            prompt: the question.
            sample: which sample of it this is.

        Raises:
            Failure: if there is none.
            _EndingError: if asking ends before there is one.
        """
        request = write_request(self.asking.of_sample(sample), prompt)
        for attempt in range(1, self.tries + 1):
            try:
                return await self._try(client, request)
            except Failure as error:
                failure = error
            except (httpx.RequestError, TimeoutError) as error:
                said = " ".join(self._mask(str(error)).split()) or type(error).__name__
                failure = Failure(said, 0, ANY_TRIES)
            if attempt >= min(failure.tries, self.tries) or failure.is_fatal:
                break
            await self._pause(next_wait(attempt, failure.wait), failure)
        if attempt > 1:
            failure.why += f" ({attempt} tries)"
        raise failure

    async def _pause(self, seconds: float, failure: Failure) -> None:
        """Wait, unless asking ends."""
        self._waiting += 1
        is_asked = seconds > SAID_WAIT and failure.wait
        stands = seconds > SAID_STANDSTILL and self._waiting == self._at_work
        if (is_asked or stands) and time.time() > self._said_until:
            self._said_until = time.time() + seconds
            who = f"{self.address.shown} asks to wait" if is_asked else "all requests wait, for up to"
            self.say(f"{who} {seconds:,.0f} s: {failure.why}")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending.wait()
                raise _EndingError
        finally:
            self._waiting -= 1

    async def _try(self, client: httpx.AsyncClient, request: dict[str, Any]) -> Reply:
        body = {self._renamed.get(name, name): value for name, value in request.items()}
        data = bytearray()
        try:
            async with (
                asyncio.timeout(self.timeout),
                client.stream("POST", self.address.url, json=body) as response,
            ):
                self._is_reached = True
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > LONGEST_BODY:
                        kept = {"raw": self._mask(data.decode(errors="replace"))[:LONGEST_RAW]}
                        raise Failure(f"a reply of more than {LONGEST_BODY:,} bytes", kept=kept)
        except (httpx.InvalidURL, ValueError, OverflowError) as error:
            said = self._mask(str(error))
            if self._is_reached:
                raise Failure(
                    said, 0, UNREADABLE_TRIES
                ) from None  # else it is of the address, or of a proxy's
            raise ConfigurationError(
                f"{self.address.shown} can't be reached as the environment says: {said}"
            ) from None
        if response.status_code == 400 and "max_tokens" in body and b"max_completion_tokens" in data:
            self._renamed["max_tokens"] = "max_completion_tokens"  # newer models have another word for it
            raise Failure("max_tokens isn't taken", 400, ANY_TRIES, 0.0)
        return self._read(response.status_code, response.headers, bytes(data))

    def _read(self, status: int, headers: httpx.Headers, data: bytes) -> Reply:
        raw = self._mask(data.decode(errors="replace"))
        shown = " ".join(raw[:_SHOWN].split()) or self._mask(headers.get("location", "no word of why"))
        kept: dict[str, Any] = {"raw": raw[:LONGEST_RAW]} if 200 <= status < 300 else {}
        try:
            body = map_texts(parse_loosely(data), lambda text: self._mask(without_halves(text)))
        except ValueError as error:
            if kept:
                said = f"its reply can't be read ({error}): {shown}"
                raise Failure(said, status, UNREADABLE_TRIES, kept=kept) from None
            body = None
        try:
            return read_reply(status, body)
        except NoReplyError as error:
            status, said = error.status, " ".join(str(error)[:_SHOWN].split()) or shown
            again = status >= 500 or status in PASSING
            raise Failure(
                said if status == 200 else f"{status} {said}",
                status,
                ANY_TRIES if again else 1,
                asked_wait(headers, time.time()) if again else None,
                {**error.kept, **kept},
            ) from None
        except ValueError as error:
            raise Failure(f"{error}: {shown}", status, UNREADABLE_TRIES, kept=kept) from None


def _fault_of_environment(error: Exception) -> str:
    """Return what is wrong with the variables that httpx reads, by their names: values may have passwords."""
    if isinstance(error, OSError):  # ssl.SSLError among them
        return certificates_fault(error) or f"the certificates can't be read: {error}"
    named = [name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "all_proxy")]
    for name in named:
        proxy = os.environ[name]
        try:
            httpx.Client(trust_env=False, proxy=proxy if "://" in proxy else f"http://{proxy}").close()
        except ImportError:
            return f"{name} is a SOCKS proxy, for which httpx needs socksio: pip install 'httpx[socks]'"
        except (httpx.InvalidURL, ValueError):
            return f"{name} is no address of a proxy, such as http://localhost:3128"
    return "NO_PROXY has what is no host, such as an address in brackets; write localhost,127.0.0.1,::1"


def ask_all(
    endpoint: Endpoint,
    questions: Iterable[tuple[str, str, int]],
    take: Callable[[Outcome], bool],
    concurrency: int = 8,
) -> None:
    """Ask questions, some at a time, until there are no more or it is to end.

    Args:
        endpoint: where.
        questions: ids, prompts and samples; the next one is taken when it is asked.
        take: is given the outcome of each, as it comes; returns whether to ask more. When it says no, tries
            under way are waited for, and given to it, too, as they are paid for; no other is begun.
        concurrency: how many are asked at a time.

    Raises:
        StoppedAskingError: if the endpoint can't be asked any further. Earlier outcomes were given to
            ``take``.
        ConfigurationError: if nothing can be sent there.
    """
    left, failures, stopped = iter(questions), list[Failure](), ""
    endpoint._ending, endpoint._at_work = asyncio.Event(), concurrency

    async def work(client: httpx.AsyncClient) -> None:
        nonlocal failures, stopped
        while not endpoint._ending.is_set() and (asked := next(left, None)):
            question, prompt, sample = asked
            try:
                outcome = Outcome(question, await endpoint.ask(client, prompt, sample), sample=sample)
                failures = []
            except _EndingError:
                return
            except Failure as failure:
                outcome = Outcome(question, None, failure.why, failure.tries > 1, failure.kept, sample)
                failures.append(failure)
                why = why_to_stop(failures)
                stopped = stopped or (why and f"{endpoint.address.shown}{why}")
            if not take(outcome) or stopped:
                endpoint._ending.set()
        endpoint._at_work -= 1

    async def run() -> None:
        async with endpoint.connect(concurrency) as client, asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(work(client))

    try:
        asyncio.run(run())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if stopped:
        raise StoppedAskingError(stopped)
