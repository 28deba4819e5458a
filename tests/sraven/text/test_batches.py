"""Batches: what is asked as providers document it, and what comes back is scored as any completion."""

import gzip

import pytest

from helpers.refusals import assert_refused
from helpers.text_board import write_lines
from sraven.text.apis import EMPTY, Asking
from sraven.text.batches import BATCHES, as_completion
from sraven.text.completions import read_completions
from sraven.text.replies import CUT_OFF, NO_REPLY, REFUSED
from sraven.text.scores import score_completions


def chat(text, finish="stop", **message):
    """Return a body as OpenAI's batches have it."""
    choice = {"index": 0, "message": {"content": text, **message}, "finish_reason": finish}
    return {"choices": [choice], "model": "m-1", "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


def openai(question, body, status=200):
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": question, "response": response, "error": None}


def anthropic(question, text, stop="end_turn", kind="succeeded", **more):
    message = {"type": "message", "role": "assistant", "model": "m-1", "stop_reason": stop}
    message |= {"content": [{"type": "text", "text": text}], "usage": {"input_tokens": 9, "output_tokens": 1}}
    return {"custom_id": question, "result": {"type": kind, **({"message": message} if text else {}), **more}}


FAULTS = {
    "openai": [
        (openai("?", chat("Row 1", "length")), CUT_OFF),
        (openai("?", chat(None, refusal="No.")), REFUSED),
        (openai("?", {"error": {"code": "content_filter", "message": "flagged"}}, 400), REFUSED),
        (openai("?", chat(None, reasoning_content="Answer: [1 2]")), EMPTY),
        (openai("?", chat("Answer: [1 2]"), 500), NO_REPLY),
        ({"custom_id": "?", "response": None, "error": {"code": "expired", "message": "late"}}, NO_REPLY),
        (openai("?", {"object": "nothing"}), NO_REPLY),
    ],
    "anthropic": [
        (anthropic("?", "Row 1", "max_tokens"), CUT_OFF),
        (anthropic("?", "No.", "refusal"), REFUSED),
        (anthropic("?", "Row 1", "pause_turn"), NO_REPLY),
        (anthropic("?", "", kind="canceled"), NO_REPLY),
        (anthropic("?", "", kind="errored", error={"type": "error", "error": {"message": "x"}}), NO_REPLY),
    ],
}
WRITERS = {"openai": lambda question, text: openai(question, chat(text)), "anthropic": anthropic}


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")]
)
@pytest.mark.parametrize("provider", WRITERS)
def test_outputs_are_scored_like_lines_of_completions(file, right, provider, pack):
    lines = [WRITERS[provider](*each) for each in reversed(right.items())]
    file.write_bytes(pack(write_lines(file, lines).read_bytes()))
    total = score_completions(file)[0].total
    assert (total.n, total.accuracy.value, total.missing) == (10, 1, 0)
    assert (total.usage.input_tokens, total.usage.output_tokens) == (90, 10)
    assert {each.said["model"] for each in read_completions(file)} == {"m-1"}


@pytest.mark.parametrize("provider", FAULTS)
def test_what_is_no_reply_is_said(file, right, provider):
    lines = [{**line, "custom_id": name} for (line, _), name in zip(FAULTS[provider], right, strict=False)]
    found = list(read_completions(write_lines(file, lines)))
    assert [each.fault for each in found] == [fault for _, fault in FAULTS[provider]]
    for each in found:
        assert (each.text is None) == (each.fault in (NO_REPLY, EMPTY))
        assert each.text is not None or each.said["error"]


@pytest.mark.parametrize("line", [{"id": "7", "completion": "x"}, {"custom_id": "7"}, {"response": {}}, {}])
def test_other_lines_stay_as_they_are(line):
    assert as_completion(line) is line


@pytest.mark.parametrize(
    "value", [None, 7, [], "x", {"body": 7}, {"message": 7}, {"message": {"content": 7}}]
)
@pytest.mark.parametrize("name", ["response", "result"])
def test_odd_values_in_a_batch_are_no_reply(name, value):
    found = as_completion({"custom_id": "7", name: value})
    assert found["completion"] is None and found["error"]


def test_requests_by_hand():
    asking = Asking("m", max_tokens=9, temperature=0, system="Think.")
    told, asked = {"role": "system", "content": "Think."}, {"role": "user", "content": "Q"}
    body = {"model": "m", "max_completion_tokens": 9, "temperature": 0, "messages": [told, asked]}
    request = {"custom_id": "7", "method": "POST", "url": "/v1/chat/completions", "body": body}
    assert BATCHES["openai"](asking, "7", "Q") == request
    params = {"model": "m", "max_tokens": 9, "temperature": 0, "system": "Think.", "messages": [asked]}
    assert BATCHES["anthropic"](asking, "7", "Q") == {"custom_id": "7", "params": params}
    for settings in ({}, {"max_tokens": 9, "effort": "low"}):
        assert_refused(
            "needs --max-tokens, and has no --effort", BATCHES["anthropic"], Asking("m", **settings), "7", "Q"
        )


@pytest.mark.parametrize("end", [b"", b"\0" * 9])
def test_a_damaged_archive_is_named_with_its_line(file, right, end):
    write_lines(file, [anthropic(*each) for each in right.items()])
    file.write_bytes(gzip.compress(file.read_bytes())[:-12] + end)
    assert_refused(r"line \d+: what gzip packed is damaged", lambda: list(read_completions(file)))
