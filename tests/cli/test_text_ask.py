"""`sraven text ask` at an endpoint that is slow, busy, broken, truncates, refuses and cuts connections."""

import json
from itertools import groupby

import pytest

from helpers.harnesses import needs
from helpers.submissions import description
from helpers.text_board import SECOND, read_lines as read, text_board

needs("llm", "httpx")

import httpx

from helpers.scripted_endpoint import DEEDS

MISDEEDS = {
    **{name: (name, "right") for name in ("slow", "broken", "dropped", "half", "page")},
    "busy": ("busy", "busy", "right"),
    **{name: (name,) for name in ("parts", "truncated", "thoughts", "refused", "filtered", "bad")},
    "never": ("broken",),
}
"""What is done to the first questions, a try each, of which the last goes on; to all others it is right."""


def test_misdeeds_lose_nothing_and_the_same_line_goes_on(server, questions, line, run, done, tmp_path):
    for (_, prompt), script in zip(questions, MISDEEDS.values(), strict=False):
        server.scripts[prompt] = script
    ids = dict(zip(MISDEEDS, (name for name, _ in questions), strict=False))
    settings = ("--max-tokens", 99, "--temperature", 0, "--effort", "low", "--seed", 3, "--system", "Think.")
    settings += ("--stop", r"\n\n")
    prices = ("--price-in", 10, "--price-out", 100)
    rest = ("--tries", 4, *settings, *prices)
    code, out, err = run(*line, *rest, "--json")
    found = json.loads(out)
    assert (code, err, found["asked"], found["failed"], found["missing"]) == (1, "", 44, 2, 2)
    assert found["cost_usd"] == pytest.approx(41 * (200 * 10 + 10 * 100) / 1e6)
    [body] = {json.dumps(each | {"messages": each["messages"][:1]}) for each in server.asked}
    sent = {"max_tokens": 99, "temperature": 0, "reasoning_effort": "low", "seed": 3, "stop": "\n\n"}
    assert json.loads(body) == {"model": "m", "messages": [{"role": "system", "content": "Think."}], **sent}
    lines = {each["id"]: each for each in read(tmp_path / "c.jsonl")}
    assert len(lines) == 44 and "flagged" in lines[ids["bad"]]["error"]
    assert "503" in lines[ids["never"]]["error"] and lines[ids["never"]]["completion"] is None
    said = json.loads(run("text", "score", tmp_path / "c.jsonl", "--json")[1])["scores"][0]["total"]
    assert said["accuracy"]["value"] == pytest.approx(38 / 44) and said["missing"] == 0
    assert sorted(reason.split(":")[0] for reason in said["reasons"]) == [
        *("cut off", "no reply, the request failed", "refused")
    ]
    assert sorted(said["reasons"].values()) == [2, 2, 2]

    server.scripts.clear()
    server.asked.clear()
    code, out, _ = run(*line, *rest)
    assert code == 0 and "44 replies, 2 of them new" in out and len(server.asked) == 2
    done("text", "submit", tmp_path / "c.jsonl", "--out", tmp_path / "s", "--author", "A")
    replies = description(tmp_path / "s")["replies"]
    assert (replies["model"], replies["revision"]) == ("m", "scripted-2026-11")
    assert replies["harness"] == "sraven text ask"
    settings = {"api": "chat", "max_tokens": 99, "effort": "low", "seed": 3, "system": "Think."}
    settings["stop"] = r"\n\n"
    assert replies["settings"] == settings and replies["temperature"] == 0
    found = json.loads(done("score", tmp_path / "s", "--json"))["splits"]["ladder"]["metrics"]
    assert found["accuracy"]["mean"] == pytest.approx(40 / 44, abs=1e-9)


def test_another_way_of_asking_is_another_file(server, line, done, refused, tmp_path):
    done(*line, "--limit", 4)
    assert sorted(each["id"].split("_")[1][:5] for each in read(tmp_path / "c.jsonl")) == [
        *("M2-K7", "M2-K9", "M3-K7", "M4-K7")
    ]
    for change in (("--temperature", 1), ("--model", "n"), ("--system", "Hm")):
        assert "line 1 was asked in another way" in refused(*line, "--limit", 4, *change)
    assert len(server.asked) == 4


def test_levels_one_after_the_other(server, line, done, tmp_path):
    done(*line, "--limit", 8, "--by-level", "--concurrency", 1)
    asked = [each["id"].split("_")[1][:5] for each in read(tmp_path / "c.jsonl")]
    assert len(asked) == 8 and [level for level, _ in groupby(asked)] == list(dict.fromkeys(asked))


def test_a_line_that_a_power_cut_left_is_asked_again(server, line, done, tmp_path):
    done(*line, "--limit", 4)
    path = tmp_path / "c.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    done(*line, "--limit", 4)
    assert len(server.asked) == 5 and len({each["id"] for each in read(path)}) == 4


def test_each_sample_has_a_seed_of_its_own(server, questions, line, run, done, refused, tmp_path):
    """The second sample of a question fails; the same line asks it again, by its seed."""
    asked = (*line, "--limit", 2, "--samples", 3, "--seed", 5)
    right = DEEDS["right"]
    server.scripts[questions[0][1]] = (
        lambda prompt, sent: httpx.Response(400, text="no") if sent["seed"] == 6 else right(prompt, sent),
    )
    assert run(*asked)[0] == 1
    assert sorted(each["seed"] for each in server.asked) == [5, 5, 6, 6, 7, 7]
    server.scripts.clear()
    server.asked.clear()
    done(*asked)
    assert [each["seed"] for each in server.asked] == [6]
    kept = [each for each in read(tmp_path / "c.jsonl") if each["id"] == questions[0][0]]
    assert [each["completion"] is None for each in kept if each["seed"] == 6] == [True, False]
    assert {each["asked"]["seed"] for each in kept if "asked" in each} == {5}
    assert "an integer from 0 to" in refused(*line, "--samples", 3, "--seed", 10**15)


def test_a_dry_run_says_what_it_costs_and_sends_nothing(server, line, done, tmp_path, monkeypatch):
    done(*line, "--limit", 4)
    kept, asked = (tmp_path / "c.jsonl").read_bytes(), len(server.asked)
    monkeypatch.delenv("KEY")
    prices = ("--price-in", 2.5, "--price-out", 10)
    plan = json.loads(done(*line, *prices, "--samples", 2, "--dry-run", "--json"))
    assert plan["requests"] == 84 == plan["output_tokens"] // 1000
    assert 84 * 200 < plan["input_tokens"] < 84 * 500
    assert plan["cost_usd"] == pytest.approx((plan["input_tokens"] * 2.5 + 84_000 * 10) / 1e6)
    out = done(*line[:-1], tmp_path / "other.jsonl", *prices, "--max-tokens", 4000, "--dry-run")
    assert "44 requests would be made" in out and "176,000 tokens of replies: 1.76 US dollars" in out
    assert out.splitlines()[-1].endswith("US dollars in all")
    assert "dollars" not in done(*line, "--dry-run")
    assert len(server.asked) == asked and (tmp_path / "c.jsonl").read_bytes() == kept
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".jsonl"] == ["c.jsonl"]


def test_a_small_cost_is_not_nothing(server, questions, line, done):
    out = done(*line, "--limit", 1, "--price-in", 1, "--price-out", 30)
    assert out.splitlines()[1].endswith(", 0.0005 US dollars")


def test_fresh_questions_stand_beside_the_public_ones(server, questions, line, run, done, refused, tmp_path):
    for _, prompt in questions[::2]:
        server.scripts[prompt] = ("truncated",)  # of the public ones, half are right
    done(*line)
    done(*line, "--fresh-seed", 77)
    out = run("text", "score", tmp_path / "c.jsonl")[1]
    assert "fresh seed 77" in out and "public − fresh, sraven-text-small-v2: -0.5000, 95 % in [" in out
    assert f"5 is the seed of {SECOND} itself" in refused(*line, "--fresh-seed", text_board(SECOND).task.seed)
    fresh = [each for each in read(tmp_path / "c.jsonl") if "_s77_" in each["id"]]
    assert len(fresh) == 44 and all("canary" in each for each in fresh)


def test_newer_names_are_learnt(server, line, done):
    server.usual = ("renamed",)
    assert "44 replies" in done(*line, "--max-tokens", 50, "--concurrency", 1)
    assert [each.get("max_tokens") for each in server.asked] == [50, *[None] * 44]


def test_many_failures_one_after_the_other_end_it(server, line, run):
    server.usual = ("bad",)
    code, _, err = run(*line, "--concurrency", 1)
    assert code == 1 and "10 questions failed one after the other" in err and "lacks 44 replies" in err
