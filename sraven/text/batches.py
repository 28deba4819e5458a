"""Batches of requests, as providers take them, and what comes back, as lines of completions."""

from collections.abc import Callable
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.text.apis import Asking, NoReplyError, read_reply, write_request


def _to_openai(asking: Asking, question: str, prompt: str) -> dict[str, Any]:
    body = write_request(asking, prompt)
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")  # which all models take; some, no other
    return {"custom_id": question, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _to_anthropic(asking: Asking, question: str, prompt: str) -> dict[str, Any]:
    if asking.max_tokens is None or asking.effort is not None:
        raise ConfigurationError("a batch for anthropic needs --max-tokens, and has no --effort")
    params = {**asking.stated, "messages": [{"role": "user", "content": prompt}]}
    return {"custom_id": question, "params": params}


BATCHES: dict[str, Callable[[Asking, str, str], dict[str, Any]]] = {
    "openai": _to_openai,
    "anthropic": _to_anthropic,
}
"""Functions that return a line of a batch, of how a model is asked, an id and a prompt, by provider."""


def _from_openai(value: dict[str, Any]) -> tuple[int, Any]:
    response = value["response"] if isinstance(value["response"], dict) else {}
    status, body = response.get("status_code"), response.get("body")
    none = {"error": value.get("error") or "the batch has no reply"}
    return status if type(status) is int else 200, body if isinstance(body, dict) else none


def _from_anthropic(value: dict[str, Any]) -> tuple[int, Any]:
    result = value["result"] if isinstance(value["result"], dict) else {}
    message = result.get("message")
    if not isinstance(message, dict):
        return 200, {"error": result.get("error") or result.get("type") or "the batch has no reply"}
    parts = message.get("content")
    known = [each for each in parts if isinstance(each, dict)] if isinstance(parts, list) else []
    calls = [each for each in known if each.get("type") == "tool_use"]
    choice = {"message": {"content": parts, "tool_calls": calls}, "finish_reason": message.get("stop_reason")}
    return 200, {**message, "choices": [choice]}


_READERS: dict[str, Callable[[dict[str, Any]], tuple[int, Any]]] = {
    "response": _from_openai,
    "result": _from_anthropic,
}
"""Functions that return the HTTP status and the body, as OpenAI's chats have it, by what a line has."""


def as_completion(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a batch's output as a line of completions; any other line as it is."""
    reader = next((reader for name, reader in _READERS.items() if {name, "custom_id"} <= line.keys()), None)
    if reader is None:
        return line
    question = {"id": line["custom_id"]}
    try:
        return {**question, **read_reply(*reader(line)).said}
    except NoReplyError as error:
        return {**question, **error.kept, "completion": None, "error": str(error) or f"status {error.status}"}
    except ValueError as error:
        return {**question, "completion": None, "error": str(error)}
