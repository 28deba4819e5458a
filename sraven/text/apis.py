"""OpenAI's interface of chats, which most servers speak: how a question is put, and how its reply is read.

A reply is read into what a line of a file of completions has. What isn't a whole reply of the shape that the
interface documents is refused, with what is known of it, so nothing is taken for a reply that isn't one.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.core.spec import setting
from sraven.files.names import name_fault, text_fault

CANARY = "SRAVEN in words: benchmark data, not to be trained on; canary 86ee7636-ba28-4ac6-9236-fd302c7a9e32"
"""Stands in each line of prompts and completions but those of `train`, so that it is found in a corpus."""

CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
"""Finish reasons of a reply that was cut off; these and those below in any case."""

DECLINED = frozenset(
    {"content_filter", "content_policy_violation", "refusal", "safety", "prohibited_content", "blocklist"}
    | {"recitation", "spii", "sensitive"}
)
"""Finish reasons of a refusal, by the model or a filter before it."""

BROKEN = frozenset(
    {"error", "abort", "aborted", "cancelled", "insufficient_system_resource", "malformed_function_call"}
    | {"network_error", "pause_turn"}
)
"""Finish reasons of what isn't whole."""

REASONING = ("reasoning_content", "reasoning")
"""Where servers put thoughts, beside the reply."""

EMPTY = "empty: the server put the text into reasoning_content; ask without its parser of thoughts"
"""Why there is no reply where all that was said is a thought."""

_TEXT_PARTS = frozenset({"text", "output_text"})

_LONGEST_NAME, _LONGEST_TEXT, _MOST = 200, 2000, 10**15
"""As submissions have them: what can't be submitted isn't worth asking."""

_HOTTEST = 100.0


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
        stop: a text before which a reply ends, with ``\\n`` for a line break.

    Raises:
        ConfigurationError: for what a submission couldn't say.
    """

    model: str
    max_tokens: int | None = setting(None, "Of a reply at most, thoughts included.")
    temperature: float | None = setting(None, "At which replies are sampled.")
    effort: str | None = setting(None, "Of reasoning, such as low, where the model has one.", values="TEXT")
    seed: int | None = setting(None, "Of the sampling, sent with each question; of sample k, seed + k.")
    system: str | None = setting(None, "What the model is told before each question.", values="TEXT")
    stop: str | None = setting(
        None, "A text before which a reply ends; '\\n\\n' is an empty line.", values="TEXT"
    )

    def __post_init__(self) -> None:
        for name, most, find_fault in (
            ("model", _LONGEST_NAME, name_fault),
            ("effort", _LONGEST_NAME, name_fault),
            ("system", _LONGEST_TEXT, text_fault),
            ("stop", _LONGEST_NAME, name_fault),
        ):
            text = getattr(self, name)
            fault = f"has more than {most:,} characters" if text and len(text) > most else ""
            if text is not None and (fault := fault or find_fault(text) or ""):
                raise ConfigurationError(f"{name}={quoted(text)} {fault}; choose another")
        for name, least in (("max_tokens", 1), ("seed", 0)):
            if (number := getattr(self, name)) is not None:
                check_integer(name, number, least, _MOST)
        heat = self.temperature
        if heat is not None and (isinstance(heat, bool) or not 0 <= heat <= _HOTTEST):
            raise ConfigurationError(
                f"temperature={quoted(heat)}: expected a number from 0 to {_HOTTEST:.0f}"
            )

    def of_sample(self, sample: int) -> "Asking":
        """Return how a sample of a question is asked, from 0: the same seed would be the same reply."""
        return self if self.seed is None else replace(self, seed=self.seed + sample)

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
        reasoning: its thoughts, by the names that the endpoint gives them.
    """

    text: str
    finish: str
    usage: dict[str, Any] | None
    model: str
    reasoning: dict[str, Any]

    @property
    def said(self) -> dict[str, Any]:
        """The fields of its line of completions."""
        known = {"finish_reason": self.finish, "usage": self.usage, "model": self.model, **self.reasoning}
        return {"completion": self.text} | {
            name: value for name, value in known.items() if value not in (None, "")
        }


class Outcome(NamedTuple):
    """The outcome of a question: a reply; or None, and why there is none.

    Attributes:
        question: its id.
        reply: the reply, or None.
        error: why there is none.
        again: whether asking again may help.
        kept: what is known of what came in its place, as fields of its line.
        sample: which sample of the question it is, from 0.
    """

    question: str
    reply: Reply | None
    error: str = ""
    again: bool = False
    kept: dict[str, Any] = {}  # noqa: RUF012  # nothing changes it
    sample: int = 0


class NoReplyError(ValueError):
    """A response that is no whole reply; the message says why.

    Attributes:
        status: the HTTP status that stands for it.
        kept: of what came in its place, what its line is to say.
    """

    def __init__(self, why: str, status: int, kept: dict[str, Any] | None = None) -> None:
        super().__init__(why)
        self.status, self.kept = status, kept or {}


def join_parts(content: object) -> str | None:
    """Return a text that is whole or in parts, ``[{"type": "text", "text": …}]``; None if it is no text.

    Parts of other kinds, such as thoughts, are left out; a part that doesn't say its kind makes it no text.
    """
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content):
        return None
    said = [part.get("text") for part in content if part["type"] in _TEXT_PARTS]
    return "".join(said) if all(isinstance(text, str) for text in said) else None


def write_request(asking: Asking, prompt: str) -> dict[str, Any]:
    """Return the body of a request."""
    told = [{"role": "system", "content": asking.system}] if asking.system is not None else []
    options = {"reasoning_effort" if name == "effort" else name: said for name, said in asking.stated.items()}
    options.pop("system", None)
    if asking.stop is not None:
        options["stop"] = asking.stop.replace("\\n", "\n")
    return {**options, "messages": [*told, {"role": "user", "content": prompt}]}


def read_reply(status: int, body: Any) -> Reply:
    """Return the reply in a response.

    Args:
        status: of HTTP.
        body: as parsed; an error that it states counts as the status that it names.

    Raises:
        NoReplyError: if there is none, or it isn't whole. Its status is 200 if the endpoint says of
            no error.
        ValueError: if it is nothing that the interface documents.
    """
    stated = _Stated.read(body)
    if stated.kinds & DECLINED and status in (200, 400):
        return Reply(stated.words, "content_filter", None, "", {})
    if stated.is_error or not 200 <= status < 300:
        raise NoReplyError(stated.words, status if status >= 300 else stated.status)
    try:
        choice, *others = body["choices"]
        message, finish = choice["message"], str(choice.get("finish_reason") or "")
        content, refusal = message.get("content"), message.get("refusal")
        reasoning = {name: message[name] for name in REASONING if message.get(name)}
        others = [each for each in others if each["message"].get("content")]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"it is no reply of the interface: {type(error).__name__} {error}") from None
    usage, model, text = body.get("usage"), body.get("model"), join_parts(content)
    reply = Reply(
        str(refusal) if refusal else text or "",
        "refusal" if refusal else finish,
        usage if isinstance(usage, dict) else None,
        model if isinstance(model, str) else "",
        reasoning,
    )
    said = _Stated.read(choice)
    kept = {name: value for name, value in reply.said.items() if name != "completion"}
    if said.is_error or finish.lower() in BROKEN:
        raise NoReplyError(f"it ended by {said.words or finish}", said.status, kept)
    if fault := _fault(reply, message, bool(others)):
        raise NoReplyError(fault, 200, kept)
    return reply


def _fault(reply: Reply, message: dict[str, Any], more: bool) -> str:
    """Return why what a model ended by itself is no whole reply."""
    content = message.get("content")
    if content is not None and join_parts(content) is None:
        return f"its content is no text: {quoted(content)}"
    if reply.text or reply.finish.lower() in CUT | DECLINED:
        return ""
    faults = {
        "it calls tools, and there are none": message.get("tool_calls") or message.get("function_call"),
        EMPTY: reply.reasoning or (isinstance(content, list) and content),
        "its first choice is empty, and another isn't": more,
        "it has no text": content is None,
    }
    return next((fault for fault, holds in faults.items() if holds), "")


class _Stated(NamedTuple):
    """The error that a body or a choice states.

    Attributes:
        is_error: whether it does.
        words: of the endpoint; empty if it says nothing.
        status: the HTTP status that it names; 500 if it doesn't.
        kinds: what it calls the error.
    """

    is_error: bool
    words: str = ""
    status: int = 500
    kinds: frozenset[str] = frozenset()

    @classmethod
    def read(cls, body: Any) -> "_Stated":
        body = body[0] if isinstance(body, list) and body else body
        error = body.get("error") if isinstance(body, dict) else None
        if not error:
            told = body.get("message") or body.get("detail") if isinstance(body, dict) else None
            return cls(False, told if isinstance(told, str) else "")
        while isinstance(error, dict) and isinstance(error.get("error"), dict):
            error = error["error"]
        if not isinstance(error, dict):
            return cls(True, str(error))
        code, kind, words = (error.get(name) for name in ("code", "type", "message"))
        kinds = frozenset(str(each).lower() for each in (code, kind) if each)
        named = [int(each) for each in kinds if each.isascii() and each.isdigit() and 400 <= int(each) < 600]
        return cls(True, str(words or code or kind or error), named[0] if named else 500, kinds)
