"""Challenge rounds: what is drawn, what is published, and every way to cheat that leaves a trace."""

import hashlib
import json
import os
import re
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.submissions import (
    FUZZY_BOARD,
    SAME_EVERY_TIME,
    SRAVEN_BOARD,
    parquet,
    predictions_file,
    small_board,
    snapshot,
    use_boards,
)
from sraven import ConfigurationError, OutputError
from sraven.core.boards.board import read_board
from sraven.core.boards.scoring import Run, score_runs
from sraven.core.challenge import (
    check_commitment,
    new_challenge,
    read_challenge,
    score_challenge,
    write_answer,
    write_commitment,
)
from sraven.core.challenge.answer import read_prediction_files
from sraven.core.challenge.files import npy_bytes, to_text
from sraven.core.challenge.round import reveal, write_round
from sraven.core.challenge.secret import draw
from sraven.core.tasks.digests import array_bytes
from sraven.core.tasks.families import make_board_task

BOARDS = (SRAVEN_BOARD, FUZZY_BOARD)
SECRET, ANOTHER, SALT = "5a" * 32, "c3" * 32, "0f" * 32
ENTRANTS = ["1" * 64, "2" * 64]
PACKAGED = {name: read_board(name) for name in ("sraven-features2-v1", "fuzzylogic-points16-holdout30-v1")}
GIVEN = {SRAVEN_BOARD: {"context"}, FUZZY_BOARD: {"inputs", "targets"}}


@pytest.fixture(autouse=True)
def _small_boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))


def secret_text(secret=SECRET):
    return to_text({"schema": 1, "secret": secret, "salt": SALT})


def truth(batch):
    """Return what is to be predicted."""
    return batch.target if hasattr(batch, "target") else batch.targets[:, -1]


def same(one, other):
    return all(np.array_equal(a, b) for split in one for a, b in zip(one[split], other[split], strict=True))


# What is drawn


def test_draw_is_the_specified_one(monkeypatch):
    """By hashes of the standard library, and the oracle that shares no code with the kernels."""
    board = small_board(SRAVEN_BOARD)
    name = {"board": board.digest, "commitments": ENTRANTS, "secret": SECRET, "stream": "challenge"}
    stream = oracle.sha256_of_json(name)
    batch = draw(board, SECRET, ENTRANTS)["ood"]
    pool = {"stream": "challenge indices", "secret": stream, "split": "ood"}
    text = json.dumps(pool, sort_keys=True, separators=(",", ":")).encode()
    words = hashlib.shake_256(text).digest(8 * len(batch.target))
    key = oracle.derive_key(stream="challenge", secret=stream, split="ood")
    monkeypatch.setattr(oracle, "instance_key", lambda config, split: key)
    for n in range(20):
        index = int.from_bytes(words[8 * n : 8 * n + 8], "little") % 2**62
        expected = oracle.instance(board.task.config, "ood", index)
        assert batch.context[n].tolist() == [list(panel) for panel in expected.context]
        assert tuple(batch.target[n].tolist()) == tuple(expected.target)


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ("sraven-features2-v1", "9c81f2248127faaf535711814ef3c8e17e6f74a10624cd7e4e9ca8a4d8e3bd4a"),
        (
            "fuzzylogic-points16-holdout30-v1",
            "6130306e96158dea394c45f6140153d5c49fb3b56dce75bd94eb2acc09ce001c",
        ),
    ],
)
def test_draw_never_changes(board, expected):
    """A round that was held stays one that can be checked."""
    found = hashlib.sha256()
    for batch in draw(PACKAGED[board], SECRET, ENTRANTS).values():
        for array in batch:
            found.update(array_bytes(array))
    assert found.hexdigest() == expected


@settings(SAME_EVERY_TIME, max_examples=5)
@given(st.sampled_from(BOARDS), st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_secret_and_commitments_decide(name, one, other):
    board, secret = small_board(name), one.hex()
    found = draw(board, secret, ENTRANTS)
    assert same(found, draw(board, secret, ENTRANTS[::-1], threads=1))
    if other != one:
        assert not same(found, draw(board, other.hex(), ENTRANTS))
        assert not same(found, draw(board, secret, [*ENTRANTS, other.hex()]))


@pytest.mark.parametrize("name", BOARDS)
def test_combinations_are_the_boards_own(name):
    """Else the combinations that a model was trained on would be held out from it."""
    board = small_board(name)
    for split, batch in draw(board, SECRET, ENTRANTS).items():
        known = set(board.task.combination_indices(split).tolist())
        assert len(truth(batch)) == board.splits[split]
        assert set(batch.combination.tolist()) <= known
        public = board.sample(split, 0, board.splits[split])
        assert not same({split: batch}, {split: public})
    assert board.task.sample("test", 0, 5)[0].tolist() == public_test(name).tolist()


def public_test(name):
    """The instances of the board's own, from a task that never drew anything else."""
    return make_board_task(small_board(name).content["config"]).sample("test", 0, 5)[0]


# A round


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "code").mkdir()
    (folder / "weights.bin").write_bytes(bytes(1000))
    (folder / "code" / "model.py").write_text("guess\n")
    return folder


@pytest.fixture(scope="module")
def rounds(program, tmp_path_factory):
    """For each board, a round with two entrants of the same program; tests only read it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        root, found = tmp_path_factory.mktemp("rounds"), {}
        digests = [write_commitment(root / f"{name}.json", program, name) for name in ("one", "two")]
        for board in BOARDS:
            new_challenge(board, root / board, digests, day=date(2026, 11, 21))
            challenge = read_challenge(root / board / "public")
            batches = reveal(challenge, root / board / "private" / "secret.json")
            right = {split: [truth(batch)] * 2 for split, batch in batches.items()}
            wrong = {split: [np.zeros_like(array) for array in arrays] for split, arrays in right.items()}
            write_answer(root / board / "right", challenge, root / "one.json", program, right)
            write_answer(root / board / "wrong", challenge, root / "two.json", program, wrong)
            found[board] = root / board
        return found


@pytest.fixture
def sraven_round(rounds, tmp_path):
    """A copy of a round, to be tampered with."""
    return shutil.copytree(rounds[SRAVEN_BOARD], tmp_path / "round")


def refuse(message, function, *arguments, error=ConfigurationError):
    with pytest.raises(error) as refused:
        function(*arguments)
    text = str(refused.value)
    assert re.search(message, text), text
    assert text.isprintable()


@pytest.mark.parametrize("board", BOARDS)
def test_contexts_are_published_and_nothing_else(rounds, board):
    folder = rounds[board]
    challenge = read_challenge(folder / "public")
    batches = reveal(challenge, folder / "private" / "secret.json")
    files = {str(path.relative_to(folder / "public")) for path in (folder / "public").rglob("*.*")}
    assert files == {
        "challenge.json",
        *(f"contexts/{split}/{name}.npy" for split in batches for name in GIVEN[board]),
    }
    secret = json.loads((folder / "private" / "secret.json").read_text())
    everything = b"".join((folder / "public" / file).read_bytes() for file in files)
    for split, batch in batches.items():
        given_arrays, whole = challenge.contexts[split], batch._asdict()
        assert set(given_arrays) == GIVEN[board]
        for name, array in given_arrays.items():
            points = whole[name][:, :-1] if name == "targets" else whole[name]
            assert np.array_equal(array, points)
        for hidden in (truth(batch), batch.combination, *(whole[n] for n in whole if n not in GIVEN[board])):
            assert np.ascontiguousarray(hidden).tobytes()[:64] not in everything
    for hidden in (secret["secret"], secret["salt"]):
        assert hidden.encode() not in everything and bytes.fromhex(hidden) not in everything


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
def test_secret_is_for_its_owner_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        new_challenge(SRAVEN_BOARD, tmp_path / "round", ENTRANTS)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "round").rglob("*")}
    assert (modes["private"], modes["secret.json"]) == (0o700, 0o600)
    assert (tmp_path / "round").stat().st_mode & 0o777 == 0o755


def test_two_rounds_have_nothing_in_common(rounds, tmp_path):
    new_challenge(SRAVEN_BOARD, tmp_path / "round", ENTRANTS)
    one, other = (
        read_challenge(folder / "public").contexts["ood"]["context"]
        for folder in (rounds[SRAVEN_BOARD], tmp_path / "round")
    )
    assert len({row.tobytes() for row in one} & {row.tobytes() for row in other}) <= 1


@pytest.mark.parametrize("kind", ["directory", "empty", "file", "link"])
def test_round_is_never_written_over(tmp_path, kind):
    out = tmp_path / "round"
    if kind == "link":
        out.symlink_to(tmp_path / "nowhere")
    elif kind == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        if kind == "directory":
            (out / "mine").write_text("mine")
    before = snapshot(tmp_path)
    refuse("round exists", new_challenge, SRAVEN_BOARD, out, ENTRANTS, error=OutputError)
    assert snapshot(tmp_path) == before


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    def fail(array):
        raise OSError("no space left on device")

    monkeypatch.setattr("sraven.core.challenge.round.npy_bytes", fail)
    refuse("no space left", new_challenge, SRAVEN_BOARD, tmp_path / "round", ENTRANTS, error=OSError)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize(
    ("commitments", "message"),
    [
        ([], "0 commitments are given"),
        (["1" * 63], "is no SHA-256"),
        (["A" * 64], "is no SHA-256"),
        (["1" * 64 + "\n"], "is no SHA-256"),
        (["1" * 64, "1" * 64], "is given twice"),
    ],
)
def test_round_needs_commitments(tmp_path, commitments, message):
    refuse(message, new_challenge, SRAVEN_BOARD, tmp_path / "round", commitments)
    assert snapshot(tmp_path) == {}


# Tampering with what is published


def _flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def _replace(array):
    return lambda path: path.write_bytes(npy_bytes(array))


def _pickle(path):
    with open(path, "wb") as file:
        np.save(file, np.array([{"a": 1}], object), allow_pickle=True)


def _link(path):
    path.rename(path.parent.parent.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent.parent.parent / "elsewhere")


def _append(path):
    path.write_bytes(path.read_bytes() + b"!")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_flip, r"contexts/ood/context.npy: isn't what challenge.json says"),
        (_append, r"context.npy: has \d+,\d+ bytes of data; expected"),
        (lambda path: path.write_bytes(b""), "isn't an .npy file"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff\xff"), "isn't an .npy file"),
        (lambda path: path.write_bytes(bytes(1 << 20)), "has 1,048,576 bytes"),
        (_replace(np.zeros((199, 8, 3), np.int64)), "has .* bytes; expected|holds int64"),
        (_replace(np.zeros((199, 8, 2), np.uint8)), r"holds uint8 \[199, 8, 2\]; expected"),
        (_pickle, "holds object|isn't an .npy file"),
        (lambda path: path.unlink(), "can't be read"),
        (_link, "can't be read"),
        (lambda path: (path.parent / "target.npy").write_bytes(b""), "target.npy: isn't part of a round"),
        (lambda path: (path.parent.parent.parent / "x").symlink_to("/etc"), "is a link"),
    ],
)
def test_changed_contexts_are_refused(sraven_round, change, message):
    change(sraven_round / "public" / "contexts" / "ood" / "context.npy")
    refuse(message, read_challenge, sraven_round / "public")


def edit(path, change):
    """Change a file of JSON, and write it as this project does."""
    content = json.loads(path.read_text())
    change(content)
    path.write_bytes(to_text(content))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(board="sraven-v9"), "there is no board"),
        (lambda content: content.update(board=FUZZY_BOARD), "use the version of sraven"),
        (lambda content: content.update(board_digest="0" * 64), "use the version of sraven"),
        (lambda content: content["splits"].pop("test"), "has not the splits"),
        (lambda content: content["splits"]["ood"].update(instances=10**9), "has not the splits"),
        (lambda content: content["splits"]["ood"].update(instances=10**400), "instances is"),
        (lambda content: content["splits"]["ood"]["contexts"].update(target="0" * 64), "expected context"),
        (lambda content: content["splits"]["ood"]["contexts"].update(context="0" * 64), "isn't what"),
        (lambda content: content.update(labels=[1]), "has 'labels'; expected only"),
        (lambda content: content.update(opened="2026-11-21\n::notice::"), "opened is"),
    ],
)
def test_changed_description_is_refused(sraven_round, change, message):
    edit(sraven_round / "public" / "challenge.json", change)
    refuse(message, read_challenge, sraven_round / "public")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace('"schema": 1', '"schema": 1, "schema": 1'),
        lambda text: text.replace('"schema": 1', '"schema": 1.0'),
        lambda text: text[:-2],
        lambda text: "[" * 100_000,
        lambda text: "",
    ],
)
def test_description_has_one_way_to_be_written(sraven_round, change):
    path = sraven_round / "public" / "challenge.json"
    path.write_text(change(path.read_text()))
    refuse("isn't JSON|was edited|schema is", read_challenge, sraven_round / "public")


# The organiser


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"\xff", secret_text()[:-1], b"[" * 100_000])
def test_secret_that_is_none_is_refused_and_not_shown(sraven_round, text):
    path = sraven_round / "private" / "secret.json"
    path.write_bytes(text)
    refuse("secret.json: isn't the secret.json of a round$", score_challenge, sraven_round / "public", path)


def test_secret_of_another_round_is_refused(sraven_round):
    path = sraven_round / "private" / "secret.json"
    path.write_bytes(secret_text())
    refuse("is the secret of another round", score_challenge, sraven_round / "public", path)


@pytest.mark.parametrize("what", ["contexts", "labels", "commitments"])
def test_organiser_can_not_publish_something_else(tmp_path, what):
    """Contexts drawn otherwise, labels told otherwise, entrants added after the draw."""
    (tmp_path / "round").mkdir()
    (tmp_path / "other").mkdir()
    board = small_board(SRAVEN_BOARD)
    write_round(tmp_path / "round", board, secret_text(), ENTRANTS, "2026-11-21")
    write_round(tmp_path / "other", board, secret_text(ANOTHER), ENTRANTS, "2026-11-21")
    public, path = tmp_path / "round" / "public", tmp_path / "round" / "public" / "challenge.json"
    score_challenge(public, tmp_path / "round" / "private" / "secret.json")
    other = json.loads((tmp_path / "other" / "public" / "challenge.json").read_text())
    if what == "commitments":
        edit(path, lambda content: content["commitments"].append("3" * 64))
    else:
        edit(path, lambda content: content["splits"]["ood"].update({what: other["splits"]["ood"][what]}))
    if what == "contexts":
        shutil.copytree(tmp_path / "other/public/contexts/ood", public / "contexts/ood", dirs_exist_ok=True)
    message = "(contexts|labels) of (test|ood) isn't what the secret gives"
    refuse(message, score_challenge, public, tmp_path / "round" / "private" / "secret.json")


def test_round_has_the_same_bytes_whenever_it_is_written(tmp_path):
    board = small_board(FUZZY_BOARD)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_round(tmp_path / name, board, secret_text(), ENTRANTS, "2026-11-21", threads=1)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")


def test_digest_of_the_labels_says_nothing_without_the_salt(tmp_path):
    board, said = small_board(SRAVEN_BOARD), []
    for salt in (SALT, ANOTHER):
        (tmp_path / salt).mkdir()
        secret = to_text({"schema": 1, "secret": SECRET, "salt": salt})
        write_round(tmp_path / salt, board, secret, ENTRANTS, "2026-11-21")
        said.append(read_challenge(tmp_path / salt / "public").content["splits"])
    for split in board.splits:
        one, other = (splits[split] for splits in said)
        assert one["contexts"] == other["contexts"] and one["labels"] != other["labels"]


# Scores


@pytest.mark.parametrize("board", BOARDS)
def test_answers_are_scored_as_boards_are(rounds, board):
    folder = rounds[board]
    secret = folder / "private" / "secret.json"
    found = score_challenge(folder / "public", secret, [folder / "wrong", folder / "right"])
    assert (found["entrants"], found["answered"], found["refused"]) == (2, 2, [])
    assert [answer["name"] for answer in found["answers"]] == ["one", "two"]
    challenge = read_challenge(folder / "public")
    scoring, metric = challenge.board.task.scoring, challenge.board.metric
    for split, batch in reveal(challenge, secret).items():
        right, wrong = (answer["splits"][split] for answer in found["answers"])
        assert right["metrics"][metric]["mean"] == 1.0 and right["instances"] == len(truth(batch))
        every, nothing = np.ones(len(truth(batch)), bool), np.zeros_like(truth(batch))
        runs = [Run(seed, nothing, every) for seed in range(2)]
        expected = score_runs(scoring, scoring.labels(batch, None), runs)
        assert wrong["metrics"][metric]["mean"] == expected.metrics[metric].mean < 0.5
        assert wrong["metrics"][metric]["interval"] == list(expected.metrics[metric].interval)


def scored(folder, *answers):
    return score_challenge(
        folder / "public", folder / "private" / "secret.json", [folder / answer for answer in answers]
    )


def refused_answer(folder, message, *others):
    """Score an answer that was tampered with; it alone must be refused."""
    found = scored(folder, "right", *others)
    reasons = [entry["why"] for entry in found["refused"] if entry["answer"] == str(folder / "right")]
    assert len(reasons) == 1 and re.search(message, reasons[0]), found["refused"]
    assert reasons[0].isprintable()
    assert [answer["name"] for answer in found["answers"]] == ["two"] * len(others)


def test_answer_is_refused_if_a_file_was_changed_and_others_are_not(sraven_round):
    _flip(sraven_round / "right" / "predictions" / "ood" / "seed-1.parquet")
    refused_answer(sraven_round, "seed-1.parquet: its SHA-256 is", "wrong")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(challenge="0" * 64), "answers the round 000000000000…; this one is"),
        (lambda content: content.update(commitment="0" * 64), "names another commitment"),
        (lambda content: content["runs"].pop(), "seed 1 has no predictions of"),
        (lambda content: content["runs"].append(content["runs"][0]), "seed 0 of .* twice"),
        (lambda content: content["runs"][0].update(file="../../x"), r"runs\[0\].file isn't predictions/"),
        (lambda content: content["runs"][0].update(split="train"), r"runs\[0\].split is train"),
        (lambda content: content["runs"][0].update(split="\x1b[2K"), r"runs\[0\].split is \\x1b\[2K"),
        (lambda content: content["runs"][0].update(seed=True), "seed is True"),
        (lambda content: content.update(extra=1), "has 'extra'"),
    ],
)
def test_answer_is_refused_for_what_it_says(sraven_round, change, message):
    edit(sraven_round / "right" / "answer.json", change)
    refused_answer(sraven_round, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "extra").write_text(""), "extra: isn't part of an answer"),
        (lambda folder: (folder / "link").symlink_to("/etc"), "link: is a link"),
        (lambda folder: (folder / "commitment.json").unlink(), "commitment.json: can't be read"),
        (lambda folder: (folder / "answer.json").unlink(), "answer.json: can't be read"),
        (shutil.rmtree, "can't be read"),
    ],
)
def test_answer_is_refused_for_its_files(sraven_round, change, message):
    change(sraven_round / "right")
    refused_answer(sraven_round, message, "wrong")


def test_answer_in_another_entrants_name_is_refused(sraven_round):
    """Their digest is public, but what opens it isn't."""
    theirs = json.loads((sraven_round / "wrong" / "answer.json").read_text())["commitment"]
    edit(sraven_round / "right" / "answer.json", lambda content: content.update(commitment=theirs))
    refused_answer(sraven_round, "names another commitment than the one beside it")


def test_one_commitment_has_one_answer(sraven_round):
    shutil.copytree(sraven_round / "right", sraven_round / "again")
    found = scored(sraven_round, "right", "again", "wrong")
    assert [answer["name"] for answer in found["answers"]] == ["two"]
    assert [entry["answer"] for entry in found["refused"]] == [
        str(sraven_round / name) for name in ("right", "again")
    ]
    assert "there are 2 answers for the commitment" in found["refused"][0]["why"]


def test_answer_to_another_round_is_refused(sraven_round, program, tmp_path):
    digests = json.loads((sraven_round / "public" / "challenge.json").read_text())["commitments"]
    new_challenge(SRAVEN_BOARD, tmp_path / "later", digests)
    shutil.copytree(sraven_round / "right", tmp_path / "later" / "right")
    found = scored(tmp_path / "later", "right")
    assert "answers the round" in found["refused"][0]["why"] and found["answers"] == []


# Commitments and answers


@pytest.fixture
def mine(program, tmp_path):
    """A copy of a program, its commitment, a round that has it, and predictions."""
    copy = shutil.copytree(program, tmp_path / "program")
    digest = write_commitment(tmp_path / "commitment.json", copy, "mine")
    new_challenge(SRAVEN_BOARD, tmp_path / "round", [digest])
    challenge = read_challenge(tmp_path / "round" / "public")
    predictions = {split: [np.zeros((size, 3), np.uint8)] for split, size in challenge.board.splits.items()}
    return copy, tmp_path / "commitment.json", challenge, predictions


def test_commitment_is_the_digest_of_its_file_and_has_a_salt(program, tmp_path):
    one, other = (write_commitment(tmp_path / f"{n}.json", program, "mine") for n in range(2))
    assert one == hashlib.sha256((tmp_path / "0.json").read_bytes()).hexdigest() != other
    assert (tmp_path / "0.json").stat().st_mode & 0o777 == 0o600
    content = json.loads((tmp_path / "0.json").read_text())
    assert [entry["path"] for entry in content["files"]] == ["code/model.py", "weights.bin"]
    assert content["files"][1] == {
        "path": "weights.bin",
        "bytes": 1000,
        "sha256": hashlib.sha256(bytes(1000)).hexdigest(),
    }
    assert check_commitment(tmp_path / "0.json", program) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: _flip(folder / "weights.bin"), "weights.bin was changed since the commitment"),
        (lambda folder: (folder / "code/model.py").write_text("look\n"), "code/model.py was changed"),
        (lambda folder: (folder / "weights.bin").unlink(), "weights.bin is missing since"),
        (lambda folder: (folder / "labels.npy").write_text(""), "labels.npy is new since"),
        (lambda folder: (folder / "link").symlink_to("/etc/passwd"), "link: is a link"),
        (shutil.rmtree, "is not a directory"),
    ],
)
def test_answer_needs_the_program_that_was_committed(mine, tmp_path, change, message):
    program, commitment, challenge, predictions = mine
    change(program)
    before = snapshot(tmp_path)
    arguments = (tmp_path / "answer", challenge, commitment, program, predictions)
    refuse(message, write_answer, *arguments)
    assert snapshot(tmp_path) == before


def test_late_commitment_is_refused(mine, tmp_path):
    program, _, challenge, predictions = mine
    write_commitment(tmp_path / "late.json", program, "late")
    arguments = (tmp_path / "answer", challenge, tmp_path / "late.json", program, predictions)
    refuse("isn't one of this round: it came after the round was opened", write_answer, *arguments)
    assert not (tmp_path / "answer").exists()


def test_late_commitment_is_refused_by_the_organiser_too(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    write_answer(tmp_path / "round" / "right", challenge, commitment, program, predictions)
    digest = write_commitment(tmp_path / "late.json", program, "late")
    shutil.copyfile(tmp_path / "late.json", tmp_path / "round" / "right" / "commitment.json")
    edit(tmp_path / "round" / "right" / "answer.json", lambda content: content.update(commitment=digest))
    refused_answer(tmp_path / "round", "isn't one of this round: it came after the round was opened")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("ood"), "seed 0 has no predictions of ood"),
        (lambda p: p.update(ood=p["ood"] * 2), "seed 1 has no predictions of test"),
        (lambda p: p.clear(), "there are 0 seeds"),
        (lambda p: p.update(train=p["ood"]), "split='train'"),
        (lambda p: p.update(ood=[p["ood"][0][1:]]), r"has shape \[198, 3\]; expected \[199, 3\]"),
        (lambda p: p.update(ood=[p["ood"][0] + 5]), "row 0"),
        (lambda p: p.update(ood=[p["ood"][0] + 0.5]), "expected integers"),
    ],
)
def test_predictions_that_can_not_be_scored_are_refused(mine, tmp_path, change, message):
    program, commitment, challenge, predictions = mine
    change(predictions)
    refuse(message, write_answer, tmp_path / "answer", challenge, commitment, program, predictions)
    assert not (tmp_path / "answer").exists()


def test_answer_and_commitment_are_never_written_over(mine, tmp_path):
    program, commitment, challenge, predictions = mine
    (tmp_path / "answer").write_text("mine")
    before = snapshot(tmp_path)
    arguments = (tmp_path / "answer", challenge, commitment, program, predictions)
    refuse("answer exists", write_answer, *arguments, error=OutputError)
    refuse("never overwritten", write_commitment, commitment, program, "mine", error=OutputError)
    refuse("lies within", write_commitment, program / "c.json", program, "mine", error=OutputError)
    refuse("name is", write_commitment, tmp_path / "new.json", program, "\x1b[2K")
    refuse("name is empty", write_commitment, tmp_path / "new.json", program, "")
    assert snapshot(tmp_path) == before


# Files of predictions


def test_predictions_are_read_from_files_of_either_kind(tmp_path):
    board = small_board(SRAVEN_BOARD)
    arrays = {split: np.full((size, 3), 2, np.uint8) for split, size in board.splits.items()}
    for split, array in arrays.items():
        (tmp_path / split).mkdir()
        np.save(tmp_path / split / "seed-0.npy", array.astype(np.int64))
        order = np.random.default_rng(0).permutation(len(array))
        (tmp_path / split / "seed-7.parquet").write_bytes(predictions_file(array[order], order))
    found = read_prediction_files(tmp_path, board)
    assert {split: sorted(seeds) for split, seeds in found.items()} == {"test": [0, 7], "ood": [0, 7]}
    assert all(
        np.array_equal(array, arrays[split]) for split, seeds in found.items() for array in seeds.values()
    )


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ood/seed-0.npy", b"", "isn't an .npy file of numbers"),
        ("ood/seed-0.npy", npy_bytes(np.zeros(1, "S3"))[:-1], "isn't an .npy file of numbers"),
        ("ood/seed-0.parquet", b"PAR1", "^ood/seed-0.parquet: "),
        ("ood/seed-0.parquet", predictions_file(np.zeros((5, 3), np.uint8)), "lacks 194 of the 199"),
        ("ood/seed-0.parquet", parquet({"x": [1]}), "has the columns"),
        ("ood/seed-00.npy", b"", "expected <split>/seed-<n>.npy"),
        ("ood/seed-0.csv", b"", "expected <split>/seed-<n>.npy"),
        ("train/seed-0.npy", b"", "with a split of test, ood"),
        ("seed-0.npy", b"", "expected <split>/seed-<n>.npy"),
    ],
)
def test_other_files_are_refused(tmp_path, name, data, message):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    refuse(message, read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))


def test_objects_are_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "p" / "ood").mkdir(parents=True)
    np.save(tmp_path / "p" / "ood" / "seed-0.npy", np.array([Evil()], object), allow_pickle=True)
    refuse("isn't an .npy file of numbers", read_prediction_files, tmp_path / "p", small_board(SRAVEN_BOARD))
    assert not (tmp_path / "ran").exists()


def test_seed_is_there_once(tmp_path):
    (tmp_path / "ood").mkdir()
    for kind in ("npy", "parquet"):
        Path(tmp_path / "ood" / f"seed-0.{kind}").write_bytes(
            npy_bytes(np.zeros((199, 3), np.uint8))
            if kind == "npy"
            else predictions_file(np.zeros((199, 3), np.uint8))
        )
    refuse("seed 0 of ood is there twice", read_prediction_files, tmp_path, small_board(SRAVEN_BOARD))
