"""`sraven text batch` and `collect`: requests for three interfaces, and the results that they hand out."""

import json

import pytest

from helpers.scripted_models import oracle
from helpers.submissions import use_boards
from helpers.text_board import SECOND, text_contents

USAGE = {"input_tokens": 200, "output_tokens": 10}


@pytest.fixture(autouse=True)
def _boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"), text_contents(SECOND))


def read(path):
    text = path.read_text()
    return (
        json.loads(text)["requests"]
        if text.startswith('{"requests"')
        else list(map(json.loads, text.splitlines()))
    )


def of_openai(request, make):
    return {"id": "b", "custom_id": request["custom_id"], **make}


def ok(body):
    return {"response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}


def chat_result(request):
    [system, user] = request["body"]["messages"]
    assert (request["url"], system["content"]) == ("/v1/chat/completions", "Think.")
    message = {"role": "assistant", "content": oracle(user["content"]), "refusal": None}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE, "model": "m-1"}
    return of_openai(request, ok(body))


def responses_result(request):
    body = request["body"]
    assert (request["url"], body["instructions"], body["reasoning"]) == (
        "/v1/responses",
        "Think.",
        {"effort": "low"},
    )
    said = [{"type": "output_text", "text": oracle(body["input"]), "annotations": []}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": said}]
    return of_openai(request, ok({"status": "completed", "output": output, "usage": USAGE, "model": "m-1"}))


def messages_result(request):
    params = request["params"]
    assert (params["max_tokens"], params["system"], set(request)) == (99, "Think.", {"custom_id", "params"})
    content = [
        {"type": "thinking", "thinking": "Answer: [0 0]"},
        {"type": "text", "text": oracle(params["messages"][0]["content"])},
    ]
    message = {"content": content, "stop_reason": "end_turn", "usage": USAGE, "model": "m-1"}
    return {"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": message}}


RESULTS = {"chat": chat_result, "responses": responses_result, "messages": messages_result}

FAILURES = {
    "chat": ({"response": {"status_code": 500, "body": {"error": {"message": "sorry"}}}, "error": None},),
    "responses": ({"response": None, "error": {"code": "batch_expired", "message": "sorry"}},),
    "messages": (
        {"result": {"type": "errored", "error": {"type": "overloaded_error", "message": "sorry"}}},
        {"result": {"type": "expired"}},
    ),
}


@pytest.mark.parametrize("api", RESULTS)
def test_requests_become_completions_and_failures_are_asked_again(done, tmp_path, api):
    asked = ("text", "batch", SECOND, "--model", "m", "--api", api, "--max-tokens", 99, "--system", "Think.")
    requests, results, out = (tmp_path / name for name in ("requests", "results.jsonl", "completions.jsonl"))
    assert "44 requests" in done(*asked, "--effort", "low", "--out", requests)
    sent = read(requests)
    failed = [
        {"custom_id": each["custom_id"], **fault} for each, fault in zip(sent, FAILURES[api], strict=False)
    ]
    lines = [RESULTS[api](each) for each in sent[len(failed) :]][::-1]
    results.write_text("".join(json.dumps(each) + "\n" for each in lines))
    errors = tmp_path / "errors.jsonl"
    errors.write_text("".join(json.dumps(each) + "\n" for each in failed))
    found = json.loads(done("text", "collect", results, errors, "--out", out, "--json"))
    assert (found["completions"], found["failed"]) == (len(lines), len(failed))
    total = json.loads(done("text", "score", results.with_name("completions.jsonl"), "--json"))["scores"][0][
        "total"
    ]
    assert total["accuracy"]["value"] == pytest.approx(len(lines) / 44) and total["missing"] == 0
    assert total["usage"]["output_tokens"] == 10 * len(lines)
    done(*asked, "--remaining", out, "--out", requests)
    assert {each["custom_id"] for each in read(requests)} == {each["custom_id"] for each in failed}


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {**body, "choices": []},
        lambda body: {**body, "choices": [{"message": "hello"}]},
        lambda body: {"object": "list"},
        lambda body: None,
        lambda body: ["x"],
    ],
)
def test_what_is_no_reply_is_named_by_its_line(refused, done, tmp_path, change):
    done("text", "batch", SECOND, "--model", "m", "--system", "Think.", "--out", tmp_path / "r")
    result = chat_result(read(tmp_path / "r")[0])
    result["response"]["body"] = change(result["response"]["body"])
    (tmp_path / "x").write_text("\n" + json.dumps(result) + "\n")
    found = refused("text", "collect", tmp_path / "x", "--out", tmp_path / "c")
    assert "line 2" in found and not (tmp_path / "c").exists()
