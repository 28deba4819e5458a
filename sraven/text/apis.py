"""The interfaces of language models: how a question is put to each, and how its reply is read.

A reply is read into what a line of a file of completions has, whichever interface it came by. What isn't of
the shape that the interface documents is refused, so nothing is taken for a reply that isn't one.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sraven.core.spec import setting

CANARY = "SRAVEN in words: benchmark data, not to be trained on; canary 86ee7636-ba28-4ac6-9236-fd302c7a9e32"
"""Stands in each line of prompts and completions but those of `train`, so that it is found in a corpus."""

CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
"""What interfaces call it that a reply ended because it had to."""

DECLINED = frozenset({"content_filter", "refusal", "safety"})
"""What they call it that a model, or a filter before it, won't answer."""

_TEXT_PARTS = frozenset({"text", "output_text"})


@dataclass(frozen=True)
class Asking:
    """How a model is asked; what is None isn't sent.

    Attributes:
        model: its name at the endpoint.
        max_tokens: most tokens of a reply, thoughts included.
        temperature: at which it is sampled.
        effort: of its reasoning, such as ``low``.
        seed: of its sampling.
        system: what it is told before the question.
    """

    model: str
    max_tokens: int | None = setting(None, "Of a reply at most, thoughts included.")
    temperature: float | None = setting(None, "At which replies are sampled.")
    effort: str | None = setting(None, "Of reasoning, such as low, where the model has one.", values="TEXT")
    seed: int | None = setting(None, "Of the sampling, sent with each question.")
    system: str | None = setting(None, "What the model is told before each question.", values="TEXT")

    @property
    def stated(self) -> dict[str, Any]:
        """What is sent beside the question, as lines of completions have it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Reply(NamedTuple):
    """What came back.

    Attributes:
        text: what the model said.
        finish: why it ended, in the interface's word; empty if that isn't said.
        usage: tokens, as the interface counts them; None if it doesn't.
        model: as the endpoint names what replied; empty if it doesn't.
    """

    text: str
    finish: str
    usage: dict[str, Any] | None
    model: str


class API(NamedTuple):
    """An interface.

    Attributes:
        path: of requests, behind the address that ends in ``/v1``.
        headers: returns those that carry a key.
        write: returns the body of a request.
        read: returns the text of a reply, and why it ended, given the body of one; raises KeyError,
            TypeError, IndexError or ValueError for what is none.
    """

    path: str
    headers: Callable[[str], dict[str, str]]
    write: Callable[[Asking, str], dict[str, Any]]
    read: Callable[[Any], tuple[str, str]]


def join_parts(content: object) -> str | None:
    """Return a text that is whole or in parts, ``[{"type": "text", "text": …}]``; None if it is no text.

    Parts of other kinds, such as thoughts, are left out.
    """
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return content if isinstance(content, str) else None
    said = [part.get("text") for part in content if str(part.get("type")) in _TEXT_PARTS]
    return "".join(text for text in said if isinstance(text, str))


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _kept(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _write_chat(asking: Asking, prompt: str) -> dict[str, Any]:
    told = [{"role": "system", "content": asking.system}] if asking.system is not None else []
    return {
        "model": asking.model,
        "messages": [*told, {"role": "user", "content": prompt}],
        **_kept(
            max_tokens=asking.max_tokens,
            temperature=asking.temperature,
            reasoning_effort=asking.effort,
            seed=asking.seed,
        ),
    }


def _read_chat(body: Any) -> tuple[str, str]:
    choice = body["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason") or ""
    if refusal := message.get("refusal"):
        return str(refusal), "refusal"
    return join_parts(message.get("content")) or "", str(finish)


def _write_responses(asking: Asking, prompt: str) -> dict[str, Any]:
    return {
        "model": asking.model,
        "input": prompt,
        **_kept(
            instructions=asking.system,
            max_output_tokens=asking.max_tokens,
            temperature=asking.temperature,
            reasoning=None if asking.effort is None else {"effort": asking.effort},
        ),
    }


def _read_responses(body: Any) -> tuple[str, str]:
    finish = (body.get("incomplete_details") or {}).get("reason") or body["status"]
    parts = [part for each in body["output"] if each["type"] == "message" for part in each["content"]]
    if refusals := [part["refusal"] for part in parts if part["type"] == "refusal"]:
        return "\n".join(refusals), "refusal"
    return join_parts(parts) or "", str(finish)


_MOST_MESSAGES_TOKENS = 32_000
"""Tokens of a reply where none are said: this interface requires a number."""


def _write_messages(asking: Asking, prompt: str) -> dict[str, Any]:
    effort = None if asking.effort is None else {"effort": asking.effort}
    return {
        "model": asking.model,
        "max_tokens": asking.max_tokens or _MOST_MESSAGES_TOKENS,
        "messages": [{"role": "user", "content": prompt}],
        **_kept(system=asking.system, temperature=asking.temperature, output_config=effort),
    }


def _read_messages(body: Any) -> tuple[str, str]:
    finish = body["stop_reason"]
    return join_parts(body["content"]) or "", str(finish)


APIS: Mapping[str, API] = {
    "chat": API("chat/completions", _bearer, _write_chat, _read_chat),
    "responses": API("responses", _bearer, _write_responses, _read_responses),
    "messages": API(
        "messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _write_messages,
        _read_messages,
    ),
}
"""The interfaces by name: OpenAI's two, of which most servers speak the first, and Anthropic's."""


def read_reply(api: str, body: Any) -> Reply:
    """Return the reply in a body.

    Raises:
        ValueError: if there is none in it.
    """
    try:
        text, finish = APIS[api].read(body)
        usage, model = body.get("usage"), body.get("model")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"it is no reply of the interface {api}: {type(error).__name__} {error}") from None
    return Reply(
        text,
        finish,
        usage if isinstance(usage, dict) else None,
        model if isinstance(model, str) else "",
    )
