"""`sraven challenge`: a round from the commitment to the scores, as its people type it."""

import json
import re
import shutil

import pytest

from helpers.challenges import write_copies
from helpers.corpus_submissions import CORPUS_BOARD, corpus_contents
from helpers.submissions import SRAVEN_BOARD, small_contents, snapshot, use_boards


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty directory to work in, with the small boards in place of the packaged ones."""
    use_boards(monkeypatch, tmp_path / "boards", {**small_contents(), **corpus_contents()})
    (tmp_path / "work" / "program").mkdir(parents=True)
    (tmp_path / "work" / "program" / "model.py").write_text("copy\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def refuse(refused, message, *arguments):
    assert message in refused("challenge", *arguments)


@pytest.fixture
def opened(done, folder):
    """A round with one entrant, whose predictions lie beside it."""
    named = ("--name", "[bold]A copy", "--out", "commitment.json")
    digest = done("challenge", "commit", "program", *named).strip()
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


def test_secret_is_never_printed(done, refused, opened):
    for number, arguments in enumerate([(), ("--json",)]):
        out = done("challenge", "new", SRAVEN_BOARD, "1" * 64, "--out", f"round-{number}", *arguments)
        secret = json.loads((opened / f"round-{number}" / "private" / "secret.json").read_text())
        assert secret["secret"] not in out and secret["salt"] not in out
    (opened / "secret.json").write_text(f'{{"secret": "{"5a" * 40}"}}')
    err = refused("challenge", "score", "round/public", "--secret", "secret.json")
    assert "5a5a" not in err and "isn't the secret.json of a round" in err


def test_bad_answer_is_named_and_the_others_are_scored(run, done, opened):
    done("challenge", *ANSWER, "--out", "answer")
    shutil.copytree(opened / "answer", opened / "bad\n::notice::x")
    (opened / "bad\n::notice::x" / "answer.json").write_text("{")
    code, out, err = run("challenge", *SCORE, "answer", "bad\n::notice::x")
    assert code == 1 and "1 answered" in out
    assert re.fullmatch(r"refused: bad\\n::notice::x: .*isn't JSON\n", err)


def test_faults_are_one_line_and_leave_nothing(refused, opened):
    before = snapshot(opened)
    refuse(refused, "round exists", "new", SRAVEN_BOARD, "1" * 64, "--out", "round")
    refuse(refused, "is no SHA-256", "new", SRAVEN_BOARD, "x", "--out", "new")
    refuse(refused, "about a text that anyone may have read", "new", CORPUS_BOARD, "1" * 64, "--out", "new")
    refuse(refused, "never overwritten", "commit", "program", "--name", "x", "--out", "commitment.json")
    refuse(refused, "--name and --out are missing", "commit", "program")
    refuse(refused, "--check takes neither", "commit", "program", "--check", "commitment.json", "--name", "x")
    refuse(refused, "challenge.json: can't be read", "answer", "nowhere", *ANSWER[2:], "--out", "answer")
    refuse(refused, "can't be read", "score", "round/public", "--secret", "nowhere")
    assert snapshot(opened) == before
    (opened / "program" / "model.py").write_text("look it up\n")
    refuse(refused, "model.py was changed since the commitment", *ANSWER, "--out", "answer")
    refuse(refused, "model.py was changed", "commit", "program", "--check", "commitment.json")
    assert not (opened / "answer").exists()
