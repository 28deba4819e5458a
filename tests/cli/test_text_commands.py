"""`sraven text`: prompts out, completions in; from the prompts of a board to a submission."""

import json
from hashlib import sha256

import pytest

from helpers.page import Page
from helpers.submissions import description, edit, use_boards
from helpers.text_board import BOARD, SECOND, right_replies, text_board, text_contents, write_lines
from sraven.text import find_question

ASKED = ["text", "generate", "--M", "2", "--K", "7", "-n", "6"]


def read(text):
    return [json.loads(line) for line in text.splitlines()]


def test_prompts_name_themselves_and_hold_no_answers(done):
    lines = read(done(*ASKED))
    assert len(lines) == 6
    for index, line in enumerate(lines):
        questions, number = find_question(line["id"])
        assert number == index == line["index"] and line["split"] == "ood"
        assert [line["prompt"]] == questions.prompts([index])
        assert line["sha256"] == sha256(line["prompt"].encode()).hexdigest()
        assert set(line) == {"id", "split", "index", "sha256", "prompt", "canary"}
    assert questions.task.answers == "unique" and questions.form == "told"
    assert read(done(*ASKED, "--answers", "any"))[0]["id"] == "v1_M2-K7_h25_s0_ood-6_told-0_0"


@pytest.mark.parametrize("options", [[], ["--shots", "1"], ["--form", "untold"]])
def test_a_whole_round_scores_one(run, done, tmp_path, options):
    prompts = tmp_path / "p.jsonl"
    assert "6 prompts" in done(*ASKED, *options, "--solved", "--out", prompts)
    lines = read(prompts.read_text())
    assert all(line["text"] == f"{line['prompt']}\n{line['answer']}" for line in lines)
    answers = [{"id": line["id"], "completion": line["answer"]} for line in lines]
    completions = write_lines(tmp_path / "c.jsonl", answers)
    code, out, err = run("text", "score", completions, "--json")
    [found] = json.loads(out)["scores"]
    score = found["total"]
    assert (code, err, score["accuracy"]["value"], score["missing"]) == (0, "", 1, 0)
    code, out, err = run("text", "score", write_lines(completions, [answers[0], *answers[3:]]))
    assert code == 0 and found["name"] in out
    assert ("ceiling –" in err) == ("untold" in options)
    assert f"2 of 6 questions have no completion; the first is {answers[1]['id']}" in err


def facts_of(path):
    [(attributes, _)] = Page(path.read_text()).find("main")
    return json.loads(attributes["data-play"])


def test_a_page_asks_what_prompts_ask(done, tmp_path):
    out = done(*ASKED[:1], "play", *ASKED[2:], "--out", tmp_path / "page.html", "--json")
    [name] = json.loads(out)["questions"]
    [found] = facts_of(tmp_path / "page.html")["sets"]
    assert found["name"] == name and json.loads(out)["puzzles"] == 6
    assert {line["id"] for line in read(done(*ASKED))} == {f"{name}_{index}" for index in range(6)}


def test_practice_is_of_train_and_starts_easy(done, refused, tmp_path):
    page = tmp_path / "page.html"
    done("text", "play", "--practice", "--out", page)
    found = facts_of(page)["sets"]
    assert [(each["M"], each["K"], len(each["solutions"])) for each in found] == [
        (M, 8, 5) for M in range(1, 5)
    ]
    assert all("_train-" in each["name"] and "unique" not in each["name"] for each in found)
    again = ["text", "play", "--practice", "--out", tmp_path / "other.html"]
    assert "takes puzzles of train; leave --split out" in refused(*again, "--split", "ood")


# Boards


SAID = ("--model", "org/m", "--revision", "1", "--harness", "h", "--harness-version", "2", "--author", "A")


@pytest.fixture(autouse=True)
def _boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"), {**text_contents(), **text_contents(SECOND)})


@pytest.fixture
def prompts(done):
    return read(done("text", "generate", "--board", BOARD))


def test_completions_become_a_submission_that_scores(done, prompts, tmp_path):
    replies = [*right_replies()[:40], None, "no", "", "Answer: [9 9]"]
    lines = [{"id": each["id"], "completion": reply} for each, reply in zip(prompts, replies, strict=True)]
    path = write_lines(tmp_path / "done.jsonl", lines[::-1])
    out = done("text", "submit", path, "--out", tmp_path / "s", *SAID, "--json")
    assert json.loads(out)["form"] == "told-0-shot"
    found = json.loads(done("score", tmp_path / "s", "--json"))["splits"]["ladder"]["metrics"]
    assert found["accuracy"]["mean"] == pytest.approx(40 / 44, abs=1e-9)
    assert found["unparsed"]["mean"] == pytest.approx(4 / 44, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ids: ["v1_M4-K8-unique_h25_s0_ood-2000_told-0_7"], "is no set of questions of a board"),
        (lambda ids: [ids[0], ids[1].replace("_told-0_", "_untold-0_")], "submit each board and form apart"),
        (lambda ids: [], "has no completions"),
    ],
)
def test_completions_of_other_questions_are_refused(refused, prompts, tmp_path, change, message):
    ids = change([each["id"] for each in prompts])
    path = write_lines(tmp_path / "done.jsonl", [{"id": each, "completion": "x"} for each in ids])
    assert message in refused("text", "submit", path, "--out", tmp_path / "s", *SAID)
    assert not (tmp_path / "s").exists()


def test_board_is_printed_and_checked(run, done):
    out = done("boards", BOARD)
    assert "rungs=M1-K7 M2-K7 M3-K7 M2-K9" in out and "M=3, K=7" in out
    assert f"prompts: told-0-shot   {text_board().prompts['told-0-shot'][:12]}" in out
    assert "every instance is the board's" in run("boards", BOARD, "--check")[2]


# The second edition, with what replies took


@pytest.fixture
def second(done):
    return read(done("text", "generate", "--board", SECOND))


TOOK = [
    {"usage": {"input_tokens": 300, "output_tokens": 1000, "total_tokens": 1300}, "cost": 0.25},
    {"usage": {"prompt_tokens": 310, "completion_tokens": 2000}, "cost": 1},
    {"usage": {"input_tokens": 300}, "cost": "much"},
    {"usage": {"input_tokens": -1, "output_tokens": True}, "cost": -1},
    {"usage": None, "cost": None},
]
"""The third one and those after it say nothing that counts."""


@pytest.fixture
def completed(second, tmp_path):
    """A file of right replies, every second one with a word behind it; the first ones say what they took."""
    lines = []
    for row, (each, reply) in enumerate(zip(second, right_replies(SECOND), strict=True)):
        usage = TOOK[row] if row < len(TOOK) else {}
        lines.append({"id": each["id"], "completion": f"{reply}, I think." if row % 2 else reply, **usage})
    return write_lines(tmp_path / "done.jsonl", lines)


def test_prompts_of_a_board_are_those_that_it_pins(second):
    checksum = sha256("".join(each["prompt"] + "\0" for each in second).encode()).hexdigest()
    assert checksum == text_board(SECOND).prompts["told-0-shot"]


def test_scores_tell_both_readings_and_what_replies_took(done, completed):
    out = done("text", "score", completed)
    assert f"{SECOND}, told-0-shot, read leniently" in out and "read strictly" in out and "M4-K7" in out
    assert "tokens: 610 of prompts, 3,000 of replies (1,500 each), from 2 of 44 replies" in out
    assert "cost: 1.25 US dollars, from 2 of 44 replies" in out
    [found] = json.loads(done("text", "score", completed, "--json"))["scores"]
    scores = found["levels"]
    assert {score["accuracy"]["value"] for score in (*scores, found["total"])} == {1}
    assert [score["strict"]["target"]["value"] for score in scores] == [1, 0, 1, 0]
    assert [score["level"] for score in scores] == ["M2-K7", "M3-K7", "M2-K9", "M4-K7"]
    assert [score["usage"]["output_tokens"] for score in scores] == [1000, 2000, 0, 0]


def test_submissions_are_ranked_by_the_lenient_reading(done, completed, leaderboard, tmp_path):
    done("text", "submit", completed, completed, "--out", tmp_path / "s", *SAID)
    found = json.loads(done("score", tmp_path / "s", "--json"))["splits"]["ladder"]["metrics"]
    assert (found["accuracy"]["mean"], found["accuracy_strict"]["mean"]) == (1, 0.5)
    usage = {"replies": 88, "with_tokens": 4, "input_tokens": 1220, "output_tokens": 6000}
    said = description(tmp_path / "s")["replies"]
    assert said["usage"] == {**usage, "with_cost": 4, "cost_usd": 2.5}
    with_own = ("leaderboard", SECOND, "--leaderboard", leaderboard, "--add", tmp_path / "s")
    done(*with_own, "--html", tmp_path / "page")
    for shown in (done(*with_own), (tmp_path / "page" / "index.html").read_text()):
        assert "read strictly" in shown and "tokens a reply" in shown and "1,500" in shown
    [row] = json.loads(done(*with_own, "--json"))["rows"]
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (305, 1500, 0.625)


def test_people_have_rows_of_their_own(done, second, leaderboard, tmp_path):
    lines = [{"id": each["id"], "completion": "Answer: [0 0]", "seconds": 3} for each in second]
    files = [write_lines(tmp_path / f"{name}.jsonl", lines) for name in ("ann", "ben")]
    done("text", "submit", *files, "--out", tmp_path / "s", *SAID)
    people = {"number": 2, "found": "two students, unpaid", "minutes": 2.2}
    edit(tmp_path / "s", lambda content: content["replies"].update(people=people))
    options = ("--leaderboard", leaderboard, "--add", tmp_path / "s", "--json")
    [row] = json.loads(done("leaderboard", SECOND, *options))["rows"]
    assert row["rank"] is None
    assert "people, not a model: 2 (two students, unpaid), 2 minutes each" in row["remark"]


# Batches


@pytest.mark.parametrize("batch", ["openai", "anthropic"])
def test_a_batch_asks_what_the_prompts_of_a_board_ask(done, second, batch):
    asked = ("--model", "org/m", "--max-tokens", 9, "--temperature", 0, "--system", "Think.")
    requests = read(done("text", "generate", "--board", SECOND, "--batch", batch, *asked))
    params = [each.get("body") or each["params"] for each in requests]
    assert [each["custom_id"] for each in requests] == [each["id"] for each in second]
    assert [each["messages"][-1]["content"] for each in params] == [each["prompt"] for each in second]
    assert all(each["model"] == "org/m" and each["temperature"] == 0 for each in params)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--board", BOARD, "--M", 3), "leave --M out"),
        (("--board", BOARD, "--shots", 3), "has no form told-3-shot; it has"),
        (("--fresh-seed", 3), "name one with --board"),
        (("--batch", "openai"), "--batch needs --model"),
        (("--board", BOARD, "--batch", "anthropic", "--model", "m"), "needs --max-tokens"),
        (("--batch", "openai", "--model", "m", "--solved"), "leave --solved out"),
        (("--model", "m"), "leave --model out"),
        (("--max-tokens", 9), "leave --max-tokens out"),
    ],
)
def test_what_can_not_be_asked_is_told_and_nothing_written(refused, options, message, tmp_path):
    assert message in refused("text", "generate", *options, "--out", tmp_path / "p.jsonl")
    assert not (tmp_path / "p.jsonl").exists()


def test_halves_of_characters_are_said_and_samples_have_pass_at_k(run, done, second, tmp_path):
    replies = right_replies(SECOND)
    lines = [{"id": each["id"], "completion": text} for each, text in zip(second, replies, strict=True)]
    lines += [{"id": each["id"], "completion": "Row 1", "finish_reason": "length"} for each in second]
    for line, odd in zip(lines, ("\ud83d", "\udcff", "\U0001f600 \ufffd"), strict=False):
        line["completion"] = f"{odd} {line['completion']}"
    path = write_lines(tmp_path / "c.jsonl", lines)
    out = run("text", "score", path)[1]
    assert "pass@1 0.5000 in all 44, pass@2 1.0000 in all 44" in out
    assert "of the 44 with a reply that is cut off, over these: none of 44" in out
    assert "of those with a complete reply, over these: 1.0000 in all 44" in out
    code, out, err = run("text", "submit", path, "--out", tmp_path / "s", *SAID)
    assert code == 0 and "2 replies have halves of characters" in err and second[0]["id"] in err
    assert f"{SECOND}, told-0-shot, 2 runs" in out and len(description(tmp_path / "s")["runs"]) == 2
