"""`sraven text`: prompts out, completions in."""

import json
from hashlib import sha256

import pytest

from helpers.page import Page
from sraven.text import find_question

ASKED = ["text", "generate", "--M", "2", "--K", "7", "-n", "6"]


def read(text):
    return [json.loads(line) for line in text.splitlines()]


def test_prompts_name_themselves_and_hold_no_answers(run):
    code, out, err = run(*ASKED)
    lines = read(out)
    assert (code, err, len(lines)) == (0, "", 6)
    for index, line in enumerate(lines):
        questions, number = find_question(line["id"])
        assert number == index == line["index"] and line["split"] == "ood"
        assert [line["prompt"]] == questions.prompts([index])
        assert line["sha256"] == sha256(line["prompt"].encode()).hexdigest()
        assert set(line) == {"id", "split", "index", "sha256", "prompt"}
    assert questions.task.answers == "unique" and questions.form == "told"


@pytest.mark.parametrize("options", [[], ["--choices", "uniform", "--shots", "1"], ["--form", "untold"]])
def test_a_whole_round_scores_one(run, done, tmp_path, options):
    prompts, completions, verdicts = (tmp_path / name for name in ("p.jsonl", "c.jsonl", "v.jsonl"))
    assert "6 prompts" in done(*ASKED, *options, "--solved", "--out", prompts)
    lines = read(prompts.read_text())
    assert all(line["text"] == f"{line['prompt']}\n{line['answer']}" for line in lines)
    completions.write_text(
        "".join(json.dumps({"id": line["id"], "completion": line["answer"]}) + "\n" for line in lines)
    )
    code, out, err = run("text", "score", completions, "--json", "--out", verdicts)
    [score] = json.loads(out)
    assert (code, err, score["target"]["value"], score["missing"]) == (0, "", 1, 0)
    assert [line["id"] for line in read(verdicts.read_text())] == [line["id"] for line in lines]
    assert all(line["target"] and line["valid"] for line in read(verdicts.read_text()))
    code, out, err = run("text", "score", completions)
    assert code == 0 and score["questions"] in out
    assert ("choosing the least frequent in the matrix" in out) == ("--choices" in options)
    assert ("ceiling –" in err) == ("untold" in options)


def test_what_is_left_is_asked_again(run, done, tmp_path):
    completions = tmp_path / "c.jsonl"
    every = read(run(*ASKED)[1])
    replies = [{"id": line["id"], "completion": "Answer: [0 0]"} for line in every[2:5]]
    completions.write_text("".join(json.dumps(line) + "\n" for line in replies))
    assert read(done(*ASKED, "--remaining", completions)) == [every[0], every[1], every[5]]
    code, _, err = run("text", "score", completions)
    assert code == 0
    assert f"3 of 6 questions have no completion and count as wrong; the first is {every[0]['id']}" in err


def test_refusals_take_a_line_and_leave_what_was_there(run, refused, tmp_path):
    completions, verdicts = tmp_path / "c.jsonl", tmp_path / "v.jsonl"
    [first, *_] = read(run(*ASKED)[1])
    good = json.dumps({"id": first["id"], "completion": "hm"})
    completions.write_text(f"{good}\n{good}\n")
    verdicts.write_text("old")
    assert "line 2: a second completion" in refused("text", "score", completions, "--out", verdicts)
    assert verdicts.read_text() == "old" and len(list(tmp_path.iterdir())) == 2
    for options in (
        ["--form", "spoken"],
        ["--choices", "far"],
        ["--split", "all"],
        ["-n", "0"],
        ["--M", "99"],
    ):
        assert options[-1] in refused(*ASKED, *options, "--out", tmp_path / "p.jsonl")
    assert not (tmp_path / "p.jsonl").exists()


def test_all_instances_are_asked_about_if_told_so(run):
    [line, *_] = read(run(*ASKED, "--answers", "any")[1])
    assert line["id"] == "v1_M2-K7_h25_s0_ood-6_told-0_0"


def facts_of(path):
    [(attributes, _)] = Page(path.read_text()).find("main")
    return json.loads(attributes["data-play"])


def test_a_page_asks_what_prompts_ask(run, done, tmp_path):
    out = done(*ASKED[:1], "play", *ASKED[2:], "--out", tmp_path / "page.html", "--json")
    [name] = json.loads(out)["questions"]
    [found] = facts_of(tmp_path / "page.html")["sets"]
    assert found["name"] == name and json.loads(out)["puzzles"] == 6
    assert {line["id"] for line in read(run(*ASKED)[1])} == {f"{name}_{index}" for index in range(6)}


def test_practice_is_of_train_and_starts_easy(run, refused, tmp_path):
    page = tmp_path / "page.html"
    for options, sets in (
        ([], [(1, 8, 5), (2, 8, 5), (3, 8, 5), (4, 8, 5)]),
        (["--M", "2", "--K", "5", "-n", "3"], [(2, 5, 3)]),
    ):
        assert run("text", "play", "--practice", *options, "--out", page)[0] == 0
        found = facts_of(page)["sets"]
        assert [(each["M"], each["K"], len(each["solutions"])) for each in found] == sets
        assert all("_train-" in each["name"] and "unique" not in each["name"] for each in found)
    for option in (["--split", "ood"], ["--board", "sraven-text-v1"]):
        message = refused("text", "play", "--practice", *option, "--out", tmp_path / "other.html")
        assert f"takes puzzles of train; leave {option[0]} out" in message
    assert "leave --M out" in refused("text", "play", "--board", "b", "--M", "3", "--out", page)
    assert not (tmp_path / "other.html").exists()
