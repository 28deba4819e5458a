"""Files of requests for the batch interfaces of OpenAI and Anthropic, and the files of their results."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sraven.core.errors import ConfigurationError
from sraven.core.system.files import open_plain
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.apis import APIS, Asking, as_completion, as_failure, read_reply
from sraven.text.completions import LONGEST_LINE
from sraven.text.ids import find_question

MOST_LETTERS = 64
"""Letters of the name of a request: what Anthropic takes."""


def as_requests(api: str, asking: Asking, questions: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the text of a file of requests, piece by piece.

    OpenAI takes lines of JSON, of `chat` and of `responses`; Anthropic one object with the list of all, which
    is the body of the request that makes a batch.

    Args:
        api: name of the interface.
        asking: how the model is asked.
        questions: ids and prompts.

    Raises:
        ConfigurationError: for an id that is too long.
    """
    is_object = api == "messages"
    yield '{"requests": [\n' if is_object else ""
    for number, (question, prompt) in enumerate(questions):
        if len(question) > MOST_LETTERS:
            raise ConfigurationError(
                f"{question} has more than {MOST_LETTERS} letters, which batches don't take; ask one by one, "
                "`sraven text ask`"
            )
        body = APIS[api].write(asking, prompt)
        if is_object:
            yield ",\n" * bool(number) + json.dumps({"custom_id": question, "params": body})
        else:
            request = {"custom_id": question, "method": "POST", "url": f"/v1/{APIS[api].path}", "body": body}
            yield json.dumps(request) + "\n"
    yield "\n]}\n" if is_object else ""


class Result(NamedTuple):
    """A result of a batch, as a line of a file of completions; and whether it is a failure."""

    line: dict[str, Any]
    failed: bool


def read_results(path: Path) -> Iterator[Result]:
    """Yield the results of a file, of outputs or of errors, of any of the three interfaces.

    Raises:
        ConfigurationError: at the first line that is none, or of no known question.
    """
    with open_plain(path, follow_links=True) as file:
        for number, data in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if data.strip():
                yield _read(f"{path}, line {number:,}", data)


def _read(where: str, data: bytes) -> Result:
    try:
        value = parse_json(data)
        question = value["custom_id"]
        find_question(question)
        api, body, fault = _result(value)
        if body is None:
            return Result(as_failure(question, " ".join(json.dumps(fault).split())[:500]), True)
        return Result(as_completion(question, read_reply(api, body)), False)
    except (KeyError, TypeError, AttributeError):
        raise ConfigurationError(
            f"{where} is no result of a batch; expected an object with custom_id"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from None


def _result(value: dict[str, Any]) -> tuple[str, Any, Any]:
    """Return the interface of a result, and its body; or None, and why there is none."""
    if (found := value.get("result")) is not None:
        return "messages", found["message"] if found["type"] == "succeeded" else None, found
    response = value["response"] or {}
    body: Any = response.get("body")
    if response.get("status_code") != 200 or value.get("error"):
        return "", None, value.get("error") or body or response or "no response"
    return "chat" if "choices" in body else "responses", body, None
