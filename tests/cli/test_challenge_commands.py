"""`sraven challenge`: a round from the commitment to the scores, as its people type it."""

import json
import re
import shutil

import pytest

from helpers.challenges import write_copies
from helpers.submissions import SRAVEN_BOARD, snapshot, use_boards


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty directory to work in, with the small boards in place of the packaged ones."""
    use_boards(monkeypatch, tmp_path / "boards")
    (tmp_path / "work" / "program").mkdir(parents=True)
    (tmp_path / "work" / "program" / "model.py").write_text("copy\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def refused(run, message, *arguments, code=2):
    found, _, err = run("challenge", *arguments)
    assert found == code and re.search(message, err), err
    assert err.count("\n") == 1 and "Traceback" not in err


@pytest.fixture
def opened(done, folder):
    """A round with one entrant, whose predictions lie beside it."""
    digest = done(
        "challenge", "commit", "program", "--name", "[bold]A copy", "--out", "commitment.json"
    ).strip()
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert done("challenge", "commit", "program", "--check", "commitment.json").strip() == digest
    out = done("challenge", "new", SRAVEN_BOARD, digest, "--out", "round")
    assert "round/public: publish this" in out and "round/private: keep this" in out
    write_copies(folder, 3)
    return folder


ANSWER = ("answer", "round/public", "predictions", "--commitment", "commitment.json", "--program", "program")
SCORE = ("score", "round/public", "--secret", "round/private/secret.json")


def test_round_from_commitment_to_scores(done, opened):
    assert done("challenge", *ANSWER, "--out", "answer") == "answer: send this to the organiser\n"
    out = done("challenge", *SCORE, "answer")
    assert "1 committed to a program, 1 answered" in out and " [bold]A copy " in out
    found = json.loads(done("challenge", *SCORE, "answer", "--json"))
    [answer] = found["answers"]
    assert (answer["name"], answer["splits"]["ood"]["seeds"]) == ("[bold]A copy", [0, 1, 2])
    assert found["board"] == SRAVEN_BOARD and found["refused"] == []
    assert "0 answered" in done("challenge", *SCORE)


def test_secret_is_never_printed(run, done, opened):
    for number, arguments in enumerate([(), ("--json",)]):
        out = done("challenge", "new", SRAVEN_BOARD, "1" * 64, "--out", f"round-{number}", *arguments)
        secret = json.loads((opened / f"round-{number}" / "private" / "secret.json").read_text())
        assert secret["secret"] not in out and secret["salt"] not in out
    (opened / "secret.json").write_text(f'{{"secret": "{"5a" * 40}"}}')
    code, out, err = run("challenge", "score", "round/public", "--secret", "secret.json")
    assert (code, out) == (2, "") and "5a5a" not in err and "isn't the secret.json of a round" in err


def test_bad_answer_is_named_and_the_others_are_scored(run, done, opened):
    done("challenge", *ANSWER, "--out", "answer")
    shutil.copytree(opened / "answer", opened / "bad\n::notice::x")
    (opened / "bad\n::notice::x" / "answer.json").write_text("{")
    code, out, err = run("challenge", *SCORE, "answer", "bad\n::notice::x")
    assert code == 1 and "1 answered" in out
    assert re.fullmatch(r"refused: bad\\n::notice::x: .*isn't JSON\n", err)


def test_faults_are_one_line_and_leave_nothing(run, opened):
    before = snapshot(opened)
    refused(run, "round exists", "new", SRAVEN_BOARD, "1" * 64, "--out", "round")
    refused(run, "there is no board", "new", "sraven-v9", "1" * 64, "--out", "new")
    refused(run, "is no SHA-256", "new", SRAVEN_BOARD, "x", "--out", "new")
    refused(run, "0 commitments are given", "new", SRAVEN_BOARD, "--out", "new")
    refused(run, "never overwritten", "commit", "program", "--name", "x", "--out", "commitment.json")
    refused(run, "--name and --out are missing", "commit", "program")
    refused(run, "--check takes neither", "commit", "program", "--check", "commitment.json", "--name", "x")
    refused(run, "challenge.json: can't be read", "answer", "nowhere", *ANSWER[2:], "--out", "answer")
    refused(run, "can't be read", "score", "round/public", "--secret", "nowhere")
    assert snapshot(opened) == before
    (opened / "program" / "model.py").write_text("look it up\n")
    refused(run, "model.py was changed since the commitment", *ANSWER, "--out", "answer")
    refused(run, "model.py was changed", "commit", "program", "--check", "commitment.json")
    assert not (opened / "answer").exists()


def test_text_can_not_be_hidden(run, tmp_path):
    refused(run, "about a text that anyone may have read", "new", "c4-v1", "1" * 64, "--out", tmp_path / "r")
    assert snapshot(tmp_path) == {}
