"""Questions put to an endpoint, many at a time; replies are handed out as they come, in any order.

What may pass is tried again: an endpoint that is busy or broken for a while, a line that is cut, a reply that
isn't whole. What fails for good is handed out as a failure and stops nothing, unless so many fail one after
the other that something else must be wrong. `httpx` is needed for this, which the extra `llm` installs.
"""

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, NamedTuple

import httpx

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.core.system.files import open_plain
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.apis import CANARY, Asking, Reply, read_reply, write_request
from sraven.text.completions import Usage, read_completions, read_usage
from sraven.text.mixtures import Mixture
from sraven.text.questions import PART, Questions

FATAL = {
    401: "the key isn't taken",
    403: "the key isn't allowed this",
    404: "there is no such address or model",
}
"""HTTP statuses after which asking ends, as every question would get them, and what they mean."""

PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 that pass; so do all from 500 on."""

MOST_FAILED = 10
"""So many failures one after the other stop everything."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a second try, which double, and at most; an endpoint may ask for less or more."""

LONGEST_ASKED_WAIT = 600.0
"""Seconds that an endpoint may ask to wait at most."""

LONGEST_BODY = 1 << 24
"""Bytes of a reply at most."""


class StoppedAskingError(ConfigurationError):
    """An endpoint that can't be asked any further; the message says why."""


class _Passing(Exception):  # noqa: N818
    """What may be tried again, and how long the endpoint asks to wait; None if it doesn't say."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _Failure(Exception):  # noqa: N818
    """A question that can't be asked."""


@dataclass
class Endpoint:
    """Where questions are asked.

    Attributes:
        url: address that ends in ``/v1``, or whatever the paths of the interface follow.
        asking: how a model is asked there.
        key: sent with each question; None for none.
        tries: of a question, at most.
        timeout: seconds that a try may take.
    """

    url: str
    asking: Asking
    key: str | None = None
    tries: int = 6
    timeout: float = 600.0
    _renamed: dict[str, str] = field(default_factory=dict)

    async def ask(self, client: httpx.AsyncClient, prompt: str) -> Reply:
        """Ask a question until there is a reply.

        Raises:
            _Failure: if there is none for this one.
            StoppedAskingError: if there would be none for any.
        """
        for attempt in range(1, self.tries + 1):
            try:
                return await self._try(client, prompt)
            except (_Passing, httpx.RequestError, TimeoutError) as error:
                if attempt == self.tries:
                    said = " ".join(str(error).split()) or type(error).__name__
                    raise _Failure(f"{said} ({attempt} tries)") from None
                await asyncio.sleep(_wait(attempt, error))
        raise AssertionError("there is a try")

    async def _try(self, client: httpx.AsyncClient, prompt: str) -> Reply:
        request = write_request(self.asking, prompt)
        body = {self._renamed.get(name, name): value for name, value in request.items()}
        address = f"{self.url.rstrip('/')}/chat/completions"
        async with asyncio.timeout(self.timeout), client.stream("POST", address, json=body) as response:
            data = bytearray()
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > LONGEST_BODY:
                    raise _Failure(f"a reply of more than {LONGEST_BODY:,} bytes")
        if response.status_code == 400 and "max_tokens" in body and b"max_completion_tokens" in data:
            self._renamed["max_tokens"] = "max_completion_tokens"  # newer models have another word for it
            raise _Passing("max_tokens isn't taken", 0.0)
        return self._read(response, bytes(data))

    def _read(self, response: httpx.Response, data: bytes) -> Reply:
        status, text = response.status_code, " ".join(data[:300].decode(errors="replace").split())
        if status in FATAL:
            raise StoppedAskingError(f"{self.url}: {FATAL[status]} ({status}): {text}")
        if status >= 500 or status in PASSING:
            raise _Passing(f"{status} {text}", _asked_wait(response.headers))
        if status != 200:
            raise _Failure(f"{status} {text}")
        try:
            return read_reply(parse_json(data))
        except ValueError as error:
            raise _Passing(f"{error}: {text}") from None


def _wait(attempt: int, error: Exception) -> float:
    """Return how many seconds to wait after a try."""
    longest: float = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
    if isinstance(error, _Passing) and error.wait is not None:
        return min(error.wait, LONGEST_ASKED_WAIT)
    # Not all at once, or the same rush comes again.
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


def _asked_wait(headers: httpx.Headers) -> float | None:
    """Return how many seconds an endpoint asks to wait; None if it doesn't say."""
    said: str = headers.get("retry-after", "")
    return float(said) if said.replace(".", "", 1).isdigit() and said.isascii() else None


class Outcome(NamedTuple):
    """The outcome of a question: a reply; or None, and why there is none."""

    question: str
    reply: Reply | None
    error: str = ""


def ask_all(
    endpoint: Endpoint,
    questions: Iterable[tuple[str, str]],
    take: Callable[[Outcome], bool],
    concurrency: int = 8,
) -> None:
    """Ask questions, some at a time, until there are no more or it is to end.

    Args:
        endpoint: where.
        questions: ids and prompts; the next one is taken when it is asked.
        take: is given the outcome of each, as it comes; returns whether to ask more. Those that are being
            asked when it says no are waited for, and given to it, too.
        concurrency: how many are asked at a time.

    Raises:
        StoppedAskingError: if the endpoint can't be asked any further. Earlier outcomes were given to
            ``take``.
    """
    left, goes_on, failed = iter(questions), True, 0
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)

    async def work(client: httpx.AsyncClient) -> None:
        nonlocal goes_on, failed
        while goes_on and (asked := next(left, None)):
            question, prompt = asked
            try:
                outcome = Outcome(question, await endpoint.ask(client, prompt))
            except _Failure as error:
                outcome = Outcome(question, None, str(error))
            goes_on &= take(outcome)
            failed = 0 if outcome.reply else failed + 1
            if failed >= MOST_FAILED:
                raise StoppedAskingError(
                    f"{endpoint.url}: {failed} questions failed one after the other, the last with: "
                    f"{outcome.error}"
                )

    async def run() -> None:
        async with (
            httpx.AsyncClient(headers=headers, limits=limits, timeout=endpoint.timeout) as client,
            asyncio.TaskGroup() as workers,
        ):
            for _ in range(concurrency):
                workers.create_task(work(client))

    try:
        asyncio.run(run())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


# The file of outcomes

HARNESS = "sraven text ask"


_BEGINNING = b'{"id"'


def mend(path: Path) -> None:
    """Cut off a last line of completions that has no end, as a power cut may leave one."""
    if not path.exists():
        return
    whole, last = 0, b""
    with open_plain(path, follow_links=True) as file:
        for last in file:
            whole += len(last)
    if not last.endswith(b"\n") and last.startswith(_BEGINNING[: len(last)]):
        os.truncate(path, whole - len(last))


class Ledger:
    """A file that completions are added to, a line as each comes.

    Args:
        path: the file; it need not be there.
        asking: how they are asked. A file whose completions were asked in another way is refused.
        prices: US dollars for a million tokens of prompts, and of replies; None if they aren't known.

    Attributes:
        replies: of the completions that are there, by the id of the question; failures don't count.
        usage: what these took, as far as it is known.
        failed: questions that failed since the file was opened.

    Raises:
        ConfigurationError: if a line can't be read, or was asked in another way.
    """

    def __init__(self, path: Path, asking: Asking, prices: tuple[float, float] | None = None) -> None:
        self.path, self.prices = path, prices
        self.asked = {"harness": HARNESS, "version": version("sraven"), "api": "chat", **asking.stated}
        self.replies, self.usage, self.failed = Counter[str](), Usage(), 0
        mend(path)
        if path.exists():
            for completion in read_completions(path):
                self._check(completion.where, completion.said.get("asked"))
                if completion.text is not None:
                    self.replies[completion.question] += 1
                    self.usage += completion.usage

    def _check(self, where: str, asked: Any) -> None:
        """Refuse lines that were asked in another way: they would be one entry."""
        if isinstance(asked, dict) and asked | {"version": ""} != self.asked | {"version": ""}:
            other = {
                name: asked.get(name)
                for name in {*asked, *self.asked}
                if asked.get(name) != self.asked.get(name)
            }
            raise ConfigurationError(
                f"{where} was asked in another way: {quoted(other)}; choose another file"
            )

    def _cost(self, usage: dict[str, Any]) -> float | None:
        """Return what a reply cost: as the endpoint says, else by the prices."""
        if isinstance(stated := usage.get("cost"), int | float):
            return float(stated)
        took = read_usage({"usage": usage})
        if self.prices is None or not took.with_tokens:
            return None
        return (took.input_tokens * self.prices[0] + took.output_tokens * self.prices[1]) / 1e6

    def add(self, file: IO[str], question: str, reply: Reply | None, error: str = "") -> None:
        """Write the outcome of a question as a line."""
        line: dict[str, Any] = {"id": question, "completion": None, "error": error}
        if reply is None:
            self.failed += 1
        else:
            known = {
                "finish_reason": reply.finish,
                "usage": reply.usage,
                "model": reply.model,
                "cost": self._cost(reply.usage or {}),
            }
            said = {name: value for name, value in known.items() if value not in (None, "")}
            line = {"id": question, "canary": CANARY, "completion": reply.text, "asked": self.asked, **said}
            self.replies[question] += 1
            self.usage += read_usage(line)
        file.write(json.dumps(line) + "\n")
        file.flush()

    @property
    def each(self) -> float:
        """US dollars of a reply, the mean of those that are known."""
        return self.usage.cost_usd / self.usage.with_cost if self.usage.with_cost else 0.0


def wanted(
    mixture: Mixture, replies: Mapping[str, int], limit: int | None, samples: int
) -> list[tuple[Questions, int]]:
    """Return the questions that lack replies, levels in turn, one for each reply that is missing.

    Args:
        mixture: of questions.
        replies: how many each has, by its id.
        limit: how many of the first questions are asked; None for all.
        samples: replies that each is to have.
    """
    asked = mixture.in_turn(limit)
    return [
        (questions, index)
        for sample in range(samples)
        for questions, index in asked
        if replies.get(questions.id_of(index), 0) <= sample
    ]


def posed(questions: list[tuple[Questions, int]]) -> Iterator[tuple[str, str]]:
    """Yield ids and prompts of questions, made some at a time."""
    for start in range(0, len(questions), PART):
        part = questions[start : start + PART]
        rows: dict[Questions, list[int]] = {}
        for each, index in part:
            rows.setdefault(each, []).append(index)
        prompts = {
            each: dict(zip(indices, each.prompts(indices), strict=True)) for each, indices in rows.items()
        }
        yield from ((each.id_of(index), prompts[each][index]) for each, index in part)
