"""`sraven text ask`, hostile endpoints, odd addresses and numbers: no secret, reply or cent gets lost."""

import asyncio
import json
import re
import sys

import pytest

from helpers.harnesses import needs
from helpers.scripted_models import oracle
from helpers.text_board import read_lines as read

needs("llm", "httpx")

import httpx

from helpers.scripted_endpoint import chat
from sraven.text.apis import Asking
from sraven.text.asking import Endpoint

KEY = "sk-very/secret-1"


def whole(prompt, **changes):
    """Return the body of a right reply, as text."""
    return json.dumps({**json.loads(chat(oracle(prompt)).content), **changes})


def reply(text, status=200, **headers):
    return lambda prompt, asked: httpx.Response(status, text=text, headers=headers)


# Secrets


ECHOES = [
    lambda prompt, asked: chat(f"Your key is {KEY}. {oracle(prompt)}"),
    lambda prompt, asked: chat(oracle(prompt), KEY, reasoning_content=f"Hm, {KEY}"),
    lambda prompt, asked: httpx.Response(200, text=whole(prompt, model=KEY, usage={KEY: KEY})),
    lambda prompt, asked: httpx.Response(200, text=whole(prompt).replace("Answer", json.dumps(KEY)[1:-1])),
    reply("x" * 290 + KEY, 400),
    reply(json.dumps({"error": {"message": f"no such key: {KEY}"}}).replace("/", "\\/"), 400),
    reply(f"<html>{KEY}</html>", 503),
    reply(f"<html>{KEY}</html>"),
    reply(json.dumps({"error": {"code": 402, "message": KEY}})),
    lambda prompt, asked: (_ for _ in ()).throw(httpx.LocalProtocolError(f"Illegal header value b'{KEY}'")),
]


@pytest.mark.parametrize("options", [("--key-env", "KEY"), ()], ids=["key", "password"])
def test_a_key_that_is_echoed_is_nowhere(server, line, run, monkeypatch, tmp_path, options):
    monkeypatch.setenv("KEY", f" {KEY}\t\r\n")
    url = "http://here/v1" if options else f"http://me:{KEY.replace('/', '%2F')}@here/v1?key={KEY}"
    server.key, server.usual = KEY if options else "Basic", ("right",)
    rest = [*line[:3], "--model", "m", "--url", url, *options]
    for n, echo in enumerate(ECHOES):
        server.usual, out = (echo,), tmp_path / f"{n}.jsonl"
        code, *printed = run(*rest, "--out", out, "--limit", 3, "--concurrency", 1)
        kept = "".join(printed) + out.read_text()
        assert re.search(r"secret.?-1", kept) is None, n
        assert "[secret]" in kept and read(out) and "Traceback" not in kept
        if n < 3:
            assert code == 0
    assert "sk-" not in run(*rest, "--out", tmp_path / "0.jsonl", "--temperature", 1)[2]


def test_azure_has_its_key_in_another_header(server, line, done):
    url = "http://here/openai/deployments/d/chat/completions?api-version=2024-06-01"
    done(*line, "--url", url, "--limit", 1)
    assert server.urls == [url]


# Replies and what is none


PAID = {
    "byte order mark": lambda prompt: b"\xef\xbb\xbf" + whole(prompt).encode(),
    "NaN": lambda prompt: whole(prompt, logprobs=float("nan")).encode(),
    "a name twice": lambda prompt: whole(prompt).replace('{"choices"', '{"model": "a", "choices"').encode(),
    "half a character": lambda prompt: whole(prompt).replace("By the", "\\ud83d By the").encode(),
}


@pytest.mark.parametrize("name", PAID)
def test_paid_replies_are_read(server, line, run, done, name, tmp_path):
    server.usual = (lambda prompt, asked: httpx.Response(201, content=PAID[name](prompt)),)
    done(*line, "--limit", 4)
    assert len(server.asked) == 4
    [found] = json.loads(run("text", "score", tmp_path / "c.jsonl", "--json")[1])["scores"]
    assert found["replies"] == 4 and found["total"]["accuracy"]["value"] == 1


ANSWER = "Answer: [1 2]"
NO_CREDIT = '{"error": {"message": "insufficient credits", "code": 402}}'

NONE = {
    "a page": (reply("<html>log in first</html>"), 2, "Expecting value", "log in first"),
    "half a reply": (reply('{"choices": [{"mess'), 2, "", '"mess'),
    "not of the interface": (reply(f'{{"answer": "{ANSWER}"}}'), 2, "no reply of the interface", ANSWER),
    "null": (reply("null"), 2, "no reply of the interface", "null"),
    "deep": (reply("[" * 9999), 2, "nested deeper", "[[["),
    "tool calls": (lambda p, a: chat(None, "tool_calls", tool_calls=[{"id": 7}]), 1, "calls tools", "7"),
    "a thought": (lambda p, a: chat(None, reasoning_content=ANSWER), 1, "empty: the server put", ANSWER),
    "an error, and half": (lambda p, a: chat("Half", "error"), 3, "ended by error", "Half"),
    "no credit": (reply(NO_CREDIT), 1, "402 insufficient credits", "402"),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_whole_reply_is_none_and_is_kept(server, line, run, name, tmp_path):
    """Tried as often as makes sense, kept as it came, and said; the same line asks it again."""
    deed, tries, cause, kept = NONE[name]
    server.usual = (deed,)
    code, out, err = run(*line, "--limit", 2, "--tries", 3, "--json")
    found = json.loads(out)
    assert (code, err, found["failed"], found["missing"], len(server.asked)) == (1, "", 2, 2, 2 * tries)
    assert [count for each, count in found["causes"].items() if cause in each] == [2]
    assert all(each["completion"] is None and kept in each["raw"] for each in read(tmp_path / "c.jsonl"))
    server.usual = ("right",)
    assert "2 replies, 2 of them new" in run(*line, "--limit", 2)[1]


# Waits, failures, money


def test_waits_are_said_and_end_it_if_they_are_too_long(server, line, run, monkeypatch, tmp_path):
    monkeypatch.setattr("sraven.text.asking.SAID_WAIT", 0.01)
    server.usual = (reply("busy", 429, **{"Retry-After": "0.02"}), "right")
    code, _, err = run(*line, "--limit", 1)
    assert code == 0 and err.count("\n") == 1 and "http://here/v1 asks to wait 0 s: 429 busy" in err
    server.usual = (reply("come back tomorrow", 429, **{"Retry-After": "86400"}),)
    server.asked.clear()
    code, _, err = run(*line, "--concurrency", 1)
    assert code == 1 and "asks to wait 86,400 s, which is too long: 429 come back tomorrow" in err
    assert len(server.asked) == 1


def test_a_standstill_is_said(server, questions, line, run, monkeypatch):
    """That one request waits is no standstill while another is under way."""
    monkeypatch.setattr("sraven.text.asking.SAID_STANDSTILL", 0.0)
    busy = questions[0][1]
    server.scripts[busy] = (reply("busy", 429), "right")
    code, _, err = run(*line, "--limit", 1, "--concurrency", 1)
    assert (code, err) == (0, "all requests wait, for up to 0 s: 429 busy\n")

    async def later(prompt):
        while server.tries[busy] < 4:
            await asyncio.sleep(0)
        return chat(oracle(prompt))

    server.scripts[busy] = ("right", "right", *server.scripts[busy])
    server.scripts[questions[1][1]] = (lambda prompt, asked: later(prompt),)
    code, _, err = run(*line, "--limit", 2, "--samples", 2, "--concurrency", 2)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("status", [403, 404])
def test_one_refused_question_ends_nothing_and_several_in_a_row_do(server, questions, line, run, status):
    deed = reply("not this one", status)
    for _, prompt in questions[::2]:
        server.scripts[prompt] = (deed,)
    code, out, _ = run(*line, "--concurrency", 1)
    assert code == 1 and "22 of them new; 22 failed, and would again" in out
    assert f"22 of 44: {status} not this one" in out
    server.scripts.clear()
    server.asked.clear()
    server.usual = (deed,)
    code, _, err = run(*line, "--concurrency", 1)
    assert code == 1 and f"({status})" in err and len(server.asked) == 3


def test_replies_under_way_are_kept_when_it_ends(server, questions, line, run, tmp_path):
    """The first question ends it while two are being answered, and one waits to be tried again."""
    ended = []

    async def end():
        while len(server.asked) < 4:
            await asyncio.sleep(0)
        ended.append(True)
        return httpx.Response(401, text="who are you?")

    async def later(prompt):
        while not ended:
            await asyncio.sleep(0)
        return chat(oracle(prompt))

    server.usual = (lambda prompt, asked: later(prompt),)
    server.scripts[questions[0][1]] = (lambda prompt, asked: end(),)
    server.scripts[questions[1][1]] = (reply("busy", 429, **{"Retry-After": "500"}), "right")
    code, _, err = run(*line, "--concurrency", 4)
    assert code == 1 and "the key isn't taken (401)" in err and "lacks 42 replies" in err
    kept = read(tmp_path / "c.jsonl")
    assert sorted(each["completion"] is None for each in kept) == [False, False, True]
    assert len(server.asked) == 4


def test_a_budget_holds_though_the_endpoint_states_no_cost(server, line, run, tmp_path):
    usage = {"prompt_tokens": 200, "completion_tokens": 0, "cost": 0}
    server.usual = (lambda prompt, asked: httpx.Response(200, text=whole(prompt, usage=usage)),)
    priced = (*line, "--price-in", 1000, "--price-out", 0, "--concurrency", 1, "--budget", 2)  # 0.2 each
    assert run(*priced)[0] == 1 and 8 <= len(read(tmp_path / "c.jsonl")) <= 10
    server.asked.clear()
    code, _, err = run(*priced)
    assert code == 1 and "is nearly spent" in err and not server.asked
    small = (*priced[:-4], "--concurrency", 1000, "--budget", 0.01, "--out", tmp_path / "small.jsonl")
    assert run(*small)[0] == 1 and len(server.asked) == 1
    free = ["--out", tmp_path / "free.jsonl", "--concurrency", 1, "--budget", 2]
    assert "--budget needs costs" in run(*line, *free)[2]


# Odd lines


ODD = {
    "--budget": ("nan", "inf", "-1", "0"),
    "--timeout": ("nan", "inf", "0"),
    "--limit": ("0", "-1"),
    "--samples": ("0", "nan"),
    "--concurrency": ("0",),
    "--tries": ("0",),
    "--shots": ("-1", "65"),
    "--model": ("m\udcff",),
    "--key-env": ("sk-not-a-name",),
    "--url": ("localhost:8000", "http://me:pw@here/v1"),
}
"""Of what `Asking`, `read_address` and `read_key` refuse, one each: see their tests."""


@pytest.mark.parametrize(("option", "value"), [(name, each) for name in ODD for each in ODD[name]])
def test_odd_values_are_refused_before_anything_is_asked(server, line, refused, option, value, tmp_path):
    err = refused(*line, option, value)
    assert not server.asked and not (tmp_path / "c.jsonl").exists()
    assert "sk-not" not in err and "pw" not in err.replace("SRAVEN", "")


@pytest.mark.parametrize("price", ["nan", "inf", "-1", "1e9"])
@pytest.mark.parametrize("option", ["--price-in", "--price-out"])
def test_odd_prices_are_refused(line, refused, option, price):
    assert "go together" in refused(*line, option, 1)
    assert "go together" not in refused(*line, option, price)


NO_PROXY, NO_HOST = "is no address of a proxy", "has what is no host"

SAID = {
    "HTTPS_PROXY": dict.fromkeys(("ftp://h", "http://h:port", "http://[::1"), NO_PROXY),
    "ALL_PROXY": {"http://me:passw0rd@h:port": NO_PROXY},
    "NO_PROXY": dict.fromkeys(("[::1]", "fe80::/10", "\u201cx\u201d", "\x7f"), NO_HOST),
    "SSL_CERT_FILE": {
        "nowhere": "No such file",
        "x" * 5000: "name too long",
        ".": "Is a directory",
        __file__: "no certificates are in it",
    },
}


@pytest.mark.parametrize(("name", "value"), [(name, each) for name in SAID for each in SAID[name]])
def test_what_the_environment_says_is_refused_by_its_name(line, refused, monkeypatch, name, value, tmp_path):
    for other in (*SAID, "HTTP_PROXY", "SSL_CERT_DIR"):
        monkeypatch.delenv(other, raising=False)
        monkeypatch.delenv(other.lower(), raising=False)
    monkeypatch.setenv(name, value)
    err = refused(*line)
    assert name in err and SAID[name][value] in err
    assert "passw0rd" not in err and not (tmp_path / "c.jsonl").exists()


def test_a_socks_proxy_needs_a_package(line, refused, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://h:1")
    monkeypatch.setitem(sys.modules, "socksio", None)
    assert "pip install 'httpx[socks]'" in refused(*line)


@pytest.mark.parametrize("error", [UnicodeError("long"), OverflowError("port"), httpx.InvalidURL("bad")])
def test_what_only_shows_when_it_is_sent_is_a_line_too(server, questions, line, refused, run, error):
    def fail(prompt, asked):
        raise error

    server.usual = (fail,)
    assert "http://here/v1 can't be reached as the environment says" in refused(*line, "--limit", 1)
    server.scripts[questions[0][1]] = ("right",)  # it can, so the second question is to blame
    assert "1 of them new; 1 failed" in run(*line, "--limit", 2, "--concurrency", 1)[1]


def test_no_secret_is_in_what_python_prints_of_an_endpoint():
    assert "passw0rd" not in repr(Endpoint("http://me:passw0rd@here", Asking("m")))
    assert KEY not in repr(Endpoint("http://here", Asking("m"), KEY))


def test_what_may_pass_is_worth_asking_again_though_it_was_tried_once(server, line, run):
    server.usual = (reply("be back soon", 503),)
    out = run(*line, "--limit", 2, "--tries", 1)[1]
    assert "2 failed, which the same line asks again" in out and "2 of 2: 503 be back soon" in out
    server.usual = (reply("", 307, Location="https://there/v1"),)
    out = run(*line, "--limit", 2)[1]
    assert "2 failed, and would again" in out and "2 of 2: 307 https://there/v1" in out
