"""From the prompts of a board to a submission, on the command line."""

import hashlib
import json

import pytest

from helpers.submissions import only_boards
from helpers.text_board import BOARD, right_replies, text_board, text_contents

SAID = ("--model", "org/m", "--revision", "1", "--harness", "h", "--harness-version", "2", "--author", "A")


@pytest.fixture(scope="module", autouse=True)
def _boards(tmp_path_factory):
    from helpers.submissions import SRAVEN_BOARD, small_contents

    contents = {**text_contents(), SRAVEN_BOARD: small_contents()[SRAVEN_BOARD]}
    with only_boards(tmp_path_factory.mktemp("boards"), contents):
        yield


@pytest.fixture
def prompts(run, tmp_path):
    assert run("text", "generate", "--board", BOARD, "--out", tmp_path / "prompts.jsonl")[0] == 0
    return [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]


def complete(path, prompts, replies=None):
    """Write a file of completions, the last question first."""
    pairs = zip(prompts, right_replies() if replies is None else replies, strict=True)
    lines = [json.dumps({"id": each["id"], "completion": reply}) for each, reply in pairs]
    path.write_text("\n".join(reversed(lines)))
    return path


def test_prompts_of_a_board_are_those_that_it_pins(prompts):
    checksum = hashlib.sha256("".join(each["prompt"] + "\0" for each in prompts).encode()).hexdigest()
    assert checksum == text_board().prompts["told-0-shot"] and len({each["id"] for each in prompts}) == 44


def test_completions_become_a_submission_that_scores(run, prompts, tmp_path):
    replies = [*right_replies()[:40], None, "no", "", "Answer: [9 9]"]
    path = complete(tmp_path / "done.jsonl", prompts, replies)
    code, out, err = run("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID, "--json")
    assert (code, err) == (0, "") and json.loads(out)["form"] == "told-0-shot"
    code, out, _ = run("score", tmp_path / "s", "--json")
    found = json.loads(out)["splits"]["ladder"]["metrics"]
    assert code == 0 and found["accuracy"]["mean"] == pytest.approx(40 / 44, abs=1e-9)
    assert found["unparsed"]["mean"] == pytest.approx(4 / 44, abs=1e-9)


def test_questions_without_a_completion_are_told(run, prompts, tmp_path):
    path = complete(tmp_path / "done.jsonl", prompts[:30], right_replies()[:30])
    code, _, err = run("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID)
    assert code == 0 and "14 questions have no completion and count as wrong" in err
    left = ("text", "generate", "--board", BOARD, "--remaining", path)
    assert len(run(*left)[1].splitlines()) == 14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ids: [*ids, ids[0]], "a second completion of"),
        (lambda ids: ["v1_M4-K8-unique_h25_s0_ood-2000_told-0_7"], "is no question of sraven-text-small-v1"),
        (lambda ids: [ids[0], ids[1].replace("_told-0_", "_untold-0_")], "submit each form apart"),
        (lambda ids: ["mine"], "is no id that `sraven text generate` gives"),
        (lambda ids: [], "has no completions"),
    ],
)
def test_completions_of_other_questions_are_refused(run, prompts, tmp_path, change, message):
    ids = change([each["id"] for each in prompts])
    path = tmp_path / "done.jsonl"
    path.write_text("".join(json.dumps({"id": each, "completion": "x"}) + "\n" for each in ids))
    code, _, err = run("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID)
    assert code == 2 and message in err and len(err.splitlines()) == 1 and not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("text", "generate", "--board", BOARD, "--M", 3), "leave --M out"),
        (("text", "generate", "--board", BOARD, "--count", 3), "leave -n out"),
        (("text", "generate", "--board", BOARD, "--shots", 3), "isn't asked told-3-shot; it is asked"),
        (("text", "generate", "--board", "sraven-small-v1"), "asks nothing in words"),
        (("train", BOARD, "--attention", "hyla", "--steps", 1, "--out", "run"), "expected sraven"),
    ],
)
def test_what_a_board_of_texts_has_not_is_told_in_one_line(refused, line, message):
    assert message in refused(*line)


def test_board_and_its_standing_are_printed(run, tmp_path):
    code, out, _ = run("boards", BOARD)
    assert code == 0 and "rungs=M1-K7 M2-K7 M3-K7 M2-K9" in out and "M=3, K=7" in out
    assert f"prompts: told-0-shot   {text_board().prompts['told-0-shot'][:12]}" in out
    assert "every instance is the board's" in run("boards", BOARD, "--check")[2]
    (tmp_path / "leaderboard").mkdir()
    assert run("reference", BOARD, "babbler", "--out", tmp_path / "babbler")[0] == 0
    assert run("submit", tmp_path / "babbler", "--leaderboard", tmp_path / "leaderboard")[0] == 0
    code, out, _ = run("leaderboard", BOARD, "--leaderboard", tmp_path / "leaderboard")
    assert code == 0 and "unparsed" in out and "told-0-shot" in out and "1.0000" in out
