"""Responses of an endpoint: what is a whole reply, what is none and why."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from helpers.refusals import assert_refused
from sraven.text.apis import EMPTY, Asking, NoReplyError, join_parts, read_reply
from sraven.text.batches import as_completion

USAGE = {"prompt_tokens": 3, "completion_tokens": 4}


def body(content, finish="stop", more=(), **message):
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {"choices": [choice, *more], "usage": USAGE, "model": "m-1"}


def text_part(text):
    return {"type": "text", "text": text}


FULL = {"message": {"content": "Answer: [1 2]"}, "finish_reason": "stop"}

WHOLE = {
    "text": (body("Hi"), "Hi", "stop"),
    "nothing said": (body(""), "", "stop"),
    "no reason": (body("Hi", None), "Hi", ""),
    "parts": (body([text_part("H"), {"type": "thinking", "thinking": "?"}, text_part("i")]), "Hi", "stop"),
    "cut off while thinking": (body(None, "length", reasoning_content="Hm"), "", "length"),
    "cut off, as others say it": (body(None, "MAX_TOKENS"), "", "MAX_TOKENS"),
    "filtered, as others say it": (body(None, "PROHIBITED_CONTENT"), "", "PROHIBITED_CONTENT"),
    "refusal": (body(None, refusal="I won't."), "I won't.", "refusal"),
    "no calls": (body("Hi", tool_calls=[]), "Hi", "stop"),
    "several": (body("Hi", more=[FULL]), "Hi", "stop"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_these_are_replies(name):
    found = read_reply(200, WHOLE[name][0])
    assert (found.text, found.finish, found.usage, found.model) == (*WHOLE[name][1:], USAGE, "m-1")


def test_thoughts_are_kept_beside_the_reply():
    said = read_reply(201, body("Hi", reasoning_content="Hm", reasoning="Ah")).said
    assert said["completion"] == "Hi" and (said["reasoning_content"], said["reasoning"]) == ("Hm", "Ah")


BROKEN = {
    "an error": (body("Half of", "error"), 500, "ended by error"),
    "aborted": (body("Half of", "abort"), 500, "ended by abort"),
    "an error in a choice": ({"choices": [FULL | {"error": {"code": 502, "message": "gone"}}]}, 502, "gone"),
    "an error of 200": ({"error": {"message": "no credit", "code": 402}}, 402, "no credit"),
    "an error without a number": ({"error": "overloaded"}, 500, "overloaded"),
    "an error in a list": ([{"error": {"code": 429, "message": "slow down"}}], 429, "slow down"),
    "an error in an error": ({"error": {"error": {"message": "deep"}}}, 500, "deep"),
    "calls": (body(None, "tool_calls", tool_calls=[{"id": 1}]), 200, "it calls tools"),
    "an old call": (body(None, "function_call", function_call={"name": "f"}), 200, "it calls tools"),
    "a thought": (body(None, reasoning_content="Answer: [1 2]"), 200, EMPTY),
    "a thought of another name": (body("", reasoning="Answer: [1 2]"), 200, EMPTY),
    "a thought in parts": (body([{"type": "thinking", "thinking": "Hm"}]), 200, EMPTY),
    "another choice": (body("", more=[FULL]), 200, "first choice is empty"),
    "no text": (body(None), 200, "it has no text"),
    "a number": (body(7), 200, "its content is no text: 7"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_these_are_none(name):
    content, status, why = BROKEN[name]
    with pytest.raises(NoReplyError) as error:
        read_reply(200, content)
    assert why in str(error.value) and error.value.status == status
    assert "completion" not in error.value.kept
    if "usage" in content:
        assert error.value.kept["usage"] == USAGE


@pytest.mark.parametrize(
    "content",
    [
        *(None, 7, "Hi", [], {}),
        *({"choices": each} for each in ([], [7], [{"text": "Hi"}], [{"message": "Hi"}])),
    ],
)
def test_what_nobody_documents_is_said_to_be_that(content):
    with pytest.raises(ValueError, match="it is no reply of the interface") as error:
        read_reply(200, content)
    assert not isinstance(error.value, NoReplyError)


def test_a_filter_before_the_model_refuses_and_other_statuses_are_none():
    refused = read_reply(400, {"error": {"code": "content_filter", "message": "flagged"}})
    assert (refused.text, refused.finish) == ("flagged", "content_filter")
    for status in (301, 400, 403, 500):
        with pytest.raises(NoReplyError) as error:
            read_reply(status, body("Hi"))
        assert error.value.status == status


@pytest.mark.parametrize(
    "parts", [[{"text": "a"}], [{"type": 7}], [text_part(7)], ["a"], {"type": "text"}, 7]
)
def test_what_does_not_say_its_kind_is_no_text(parts):
    assert join_parts(parts) is None


@pytest.mark.parametrize(
    "settings",
    [
        *({"seed": each} for each in (-1, 10**16, True)),
        *({"max_tokens": each} for each in (0, -5, 1.5)),
        *({"temperature": each} for each in (-5, 101, float("nan"), float("inf"), True)),
        *({"model": each} for each in ("", " ", "a\nb", "x" * 201, "m\ud800", "m\u202e")),
        *({"system": each} for each in ("", "\udcff", "x" * 2001)),
        *({"effort": each} for each in ("", "low\0")),
        *({"stop": each} for each in ("", "\n\n")),
    ],
)
def test_what_a_submission_could_not_say_is_not_asked(settings):
    assert_refused(next(iter(settings)), Asking, **{"model": "m", **settings})


fields = ["choices", "message", "content", "error", "refusal", "reasoning", "type", "text", "code"]
names = st.sampled_from(["finish_reason", *fields])
words = st.sampled_from(["stop", "text", "error", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@given(values, values, values, st.sampled_from([200, 400, 500]))
def test_any_body_is_a_reply_or_refused(content, error, more, status):
    message = {"content": content, "reasoning": more, "tool_calls": error}
    choice = {"message": message, "finish_reason": more, "error": error}
    several = {"choices": [{"message": message}, choice], "error": error}
    for tried in (content, {"choices": [choice, more]}, several):
        with suppress(ValueError):
            found = read_reply(status, tried)
            assert isinstance(found.text, str) and isinstance(found.finish, str)
        line = as_completion({"custom_id": "7", "response": {"status_code": status, "body": tried}})
        assert line["completion"] is None or isinstance(line["completion"], str)
        as_completion({"custom_id": "7", "result": {"message": tried, "type": more}})
