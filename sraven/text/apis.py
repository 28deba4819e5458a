"""OpenAI's interface of chats, which most servers speak: how a question is put, and how its reply is read.

A reply is read into what a line of a file of completions has. What isn't of the shape that the interface
documents is refused, so nothing is taken for a reply that isn't one.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sraven.core.spec import setting

CANARY = "SRAVEN in words: benchmark data, not to be trained on; canary 86ee7636-ba28-4ac6-9236-fd302c7a9e32"
"""Stands in each line of prompts and completions but those of `train`, so that it is found in a corpus."""

CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
"""Finish reasons of a reply that was cut off."""

DECLINED = frozenset({"content_filter", "refusal", "safety"})
"""Finish reasons of a refusal, by the model or a filter before it."""

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
    """The response.

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


def join_parts(content: object) -> str | None:
    """Return a text that is whole or in parts, ``[{"type": "text", "text": …}]``; None if it is no text.

    Parts of other kinds, such as thoughts, are left out.
    """
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return content if isinstance(content, str) else None
    said = [part.get("text") for part in content if str(part.get("type")) in _TEXT_PARTS]
    return "".join(text for text in said if isinstance(text, str))


def write_request(asking: Asking, prompt: str) -> dict[str, Any]:
    """Return the body of a request."""
    told = [{"role": "system", "content": asking.system}] if asking.system is not None else []
    options = {"reasoning_effort" if name == "effort" else name: said for name, said in asking.stated.items()}
    options.pop("system", None)
    return {**options, "messages": [*told, {"role": "user", "content": prompt}]}


def read_reply(body: Any) -> Reply:
    """Return the reply in a body.

    Raises:
        ValueError: if there is none in it.
    """
    try:
        choice = body["choices"][0]
        message, finish = choice["message"], str(choice.get("finish_reason") or "")
        refusal, usage, model = message.get("refusal"), body.get("usage"), body.get("model")
        said = join_parts(message.get("content")) or ""
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"it is no reply of the interface: {type(error).__name__} {error}") from None
    return Reply(
        str(refusal) if refusal else said,
        "refusal" if refusal else finish,
        usage if isinstance(usage, dict) else None,
        model if isinstance(model, str) else "",
    )
