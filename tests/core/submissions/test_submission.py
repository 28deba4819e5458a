"""Submissions: what is written is scored, and every fault refuses them in one line."""

import hashlib
import os
import re
import shutil
from copy import deepcopy
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cli.main
from helpers.example import all_bytes
from helpers.submissions import (
    FUZZY_BOARD,
    METHOD,
    MODEL,
    SAME_EVERY_TIME,
    SRAVEN_BOARD,
    TRAINING,
    description,
    edit,
    guesses,
    lists,
    parquet,
    path_of,
    plant,
    predictions_file,
    small_board,
    small_contents,
    snapshot,
    truth,
    use_boards,
    write,
)
from sraven import ConfigurationError, OutputError, SubmissionError, score_submission, write_submission
from sraven.core.boards.scoring import score_runs
from sraven.core.ground.names import name_fault
from sraven.core.submissions import submission as reader
from sraven.core.submissions.runs import make_run
from sraven.core.submissions.submission import differing, read_description, read_submission
from sraven.core.submissions.submit import file_submission, slug

FIRST = path_of("test", 0)
SIZE = 301


@pytest.fixture(autouse=True)
def _small_boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A submission to each small board; tests only read them."""
    folder = tmp_path_factory.mktemp("originals")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, folder / "boards")
        return {board: write(folder / board, board) for board in (SRAVEN_BOARD, FUZZY_BOARD)}


@pytest.fixture(scope="module")
def scored(originals, tmp_path_factory):
    """What the submission to SRAVEN's board scores; tests only read it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        return score_submission(originals[SRAVEN_BOARD])


@pytest.fixture
def folder(originals, tmp_path):
    """A submission, to be damaged."""
    return shutil.copytree(originals[SRAVEN_BOARD], tmp_path / "submission")


@pytest.fixture
def fuzzy_folder(originals, tmp_path):
    return shutil.copytree(originals[FUZZY_BOARD], tmp_path / "submission")


@pytest.fixture
def refuse(tmp_path, capsys, monkeypatch):
    """Submit a folder that has a fault; return the message, and check that it is all that comes of it."""
    raw = []
    fail = cli.main._fail
    monkeypatch.setattr(cli.main, "_fail", lambda text, code: raw.append(text) or fail(text, code))
    leaderboard = tmp_path / "leaderboard"
    leaderboard.mkdir()

    def refuse(folder):
        before = snapshot(tmp_path)
        with pytest.raises(SystemExit) as stop:
            cli.main.main(["submit", str(folder), "--leaderboard", str(leaderboard)])
        out, err = capsys.readouterr()
        assert (stop.value.code, out, err) == (2, "", f"error: {raw[0]}\n")
        assert raw[0].replace("…", "").isprintable() and len(raw[0]) < 500
        assert snapshot(tmp_path) == before
        return raw[0]

    return refuse


# What is right


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_what_is_written_scores_what_the_board_scores(name, tmp_path):
    board = small_board(name)
    write(tmp_path / "submission", name, seeds=1)
    scores = score_submission(tmp_path / "submission")
    assert (scores["schema"], scores["board"], scores["board_digest"]) == (1, name, board.digest)
    assert set(scores["splits"]) == set(board.splits)
    for split, found in scores["splits"].items():
        wanted = board.score(split, guesses(board, split, 0))
        assert (found["instances"], found["seeds"], found["missing"]) == (board.splits[split], [0], [0])
        assert set(found["metrics"]) == set(wanted.metrics) == set(board.content["metrics"])
        for metric, score in wanted.metrics.items():
            here = found["metrics"][metric]
            assert (here["mean"], here["standard_error"]) == (score.mean, score.standard_error)
            assert here["interval"] == (score.interval and list(score.interval))
            assert here["by_seed"] == list(score.by_seed)
        for metric, wanted_lists in wanted.by_combination.items():
            for key, values in found["by_combination"][metric].items():
                assert values == list(getattr(wanted_lists, key))
        for metric, gap in found["gap_to_ceiling"].items():
            ceiling = board.content["ceiling"][split]["knowing_split"][metric]["value"]
            worse = found["metrics"][metric]["mean"] - ceiling if metric == "mse" else None
            assert gap == pytest.approx(
                ceiling - found["metrics"][metric]["mean"] if worse is None else worse
            )


def test_digest_of_a_submission_is_that_of_its_description(originals, scored):
    data = (originals[SRAVEN_BOARD] / "submission.yaml").read_bytes()
    assert scored["submission_digest"] == hashlib.sha256(data).hexdigest()


def test_description_holds_what_was_given(originals):
    content = description(originals[SRAVEN_BOARD])
    board = small_board(SRAVEN_BOARD)
    assert (content["schema"], content["board"], content["board_digest"]) == (1, SRAVEN_BOARD, board.digest)
    assert (content["method"], content["model"]) == (METHOD, MODEL)
    assert content["training"] == {**TRAINING, "extra_data": None, "used_ood": False}
    runs = [(run["split"], run["seed"], run["file"]) for run in content["runs"]]
    assert sorted(runs) == sorted((s, n, path_of(s, n)) for s, n in product(("test", "ood"), range(3)))
    for run in content["runs"]:
        data = (originals[SRAVEN_BOARD] / run["file"]).read_bytes()
        assert run["sha256"] == hashlib.sha256(data).hexdigest()
    assert set(content["environment"]["packages"]) >= {"numpy"}
    present = set(all_bytes(originals[SRAVEN_BOARD]))
    assert present == {"submission.yaml", "README.md", *(path for _, _, path in runs)}


def test_writing_twice_gives_the_same_bytes(originals, tmp_path):
    write(tmp_path / "again", SRAVEN_BOARD)
    assert all_bytes(tmp_path / "again") == all_bytes(originals[SRAVEN_BOARD])


def test_seeds_have_any_numbers_and_come_in_order(tmp_path):
    board = small_board(SRAVEN_BOARD)
    arrays = {seed: guesses(board, "test", seed) for seed in (10, 9, 2**63 - 1)}
    write(tmp_path / "submission", SRAVEN_BOARD, predictions={"test": arrays})
    scores = score_submission(tmp_path / "submission")["splits"]
    assert list(scores) == ["test"] and scores["test"]["seeds"] == [9, 10, 2**63 - 1]
    for seed, value in zip((9, 10, 2**63 - 1), scores["test"]["metrics"]["accuracy"]["by_seed"], strict=True):
        assert value == board.score("test", arrays[seed]).metrics["accuracy"].mean


def test_what_says_the_same_scores_the_same(folder, scored):
    """Order of rows and runs, encoding, compression, row groups, metadata, and what is optional."""
    board = small_board(SRAVEN_BOARD)
    arrays = [guesses(board, "test", seed) for seed in range(3)]
    order = np.random.default_rng(0).permutation(SIZE)
    plant(folder, predictions_file(arrays[0][order], order, row_group_size=50), seed=0)
    plant(folder, predictions_file(arrays[1], compression="gzip", version="1.0"), seed=1)
    fields = [pa.field("index", pa.int64(), False), pa.field("prediction", lists(arrays[2]).type, False)]
    table = pa.table([pa.array(np.arange(SIZE)), lists(arrays[2])], schema=pa.schema(fields))
    plant(folder, parquet(table.replace_schema_metadata({"pandas": "{broken", "x": "y" * 1000})), seed=2)
    edit(folder, lambda content: content["runs"].reverse())
    edit(folder, lambda content: content.pop("environment"))
    (folder / "README.md").unlink()
    (folder / "scores.json").write_text("{")
    (folder / "predictions" / "train").mkdir()
    assert score_submission(folder)["splits"] == scored["splits"]


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_missing_predictions_are_reported_and_count_as_wrong(name, originals, tmp_path):
    folder = shutil.copytree(originals[name], tmp_path / "submission")
    board = small_board(name)
    size = board.splits["test"]
    right = truth(board, "test")
    kept = np.arange(size) % 3 != 0
    plant(folder, predictions_file(right[kept], np.flatnonzero(kept)), seed=0)
    plant(folder, predictions_file(right[:0]), seed=1)
    plant(folder, predictions_file(right), seed=2)
    found = score_submission(folder)["splits"]["test"]
    missing = int((~kept).sum())
    assert found["missing"] == [missing, size, 0] and found["instances"] == size
    if name == SRAVEN_BOARD:
        for metric in ("accuracy", "feature_accuracy"):
            assert found["metrics"][metric]["by_seed"] == [
                pytest.approx(share, abs=1e-9) for share in (1 - missing / size, 0, 1)
            ]
    else:
        worst = [max(float(value), 1 - float(value)) ** 2 for value in right]
        lacking = [error for error, answered in zip(worst, kept, strict=True) if not answered]
        assert found["metrics"]["mse"]["by_seed"] == [
            pytest.approx(total / size, abs=1e-9) for total in (sum(lacking), sum(worst), 0)
        ]


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_right_claims_are_accepted(name, tmp_path):
    board = small_board(name)
    arrays = {split: guesses(board, split, 7) for split in board.splits}
    claims = {
        split: {metric: score.mean + 5e-7 for metric, score in board.score(split, array).metrics.items()}
        for split, array in arrays.items()
    }
    write(tmp_path / "claiming", name, predictions={s: [a] for s, a in arrays.items()}, claimed=claims)
    assert set(score_submission(tmp_path / "claiming")["splits"]) == set(claims)


# What is refused, and why


def rewrite(change):
    """Return a fault: the text of ``submission.yaml`` is another."""

    def fault(folder):
        path = folder / "submission.yaml"
        path.write_bytes(change(path.read_bytes()))

    return fault


def say(*place, value):
    """Return a fault: ``submission.yaml`` has another value at a place."""

    def fault(folder):
        def change(content):
            for name in place[:-1]:
                content = content.setdefault(name, {}) if isinstance(content, dict) else content[name]
            content[place[-1]] = value

        edit(folder, change)

    return fault


def drop(*place):
    """Return a fault: ``submission.yaml`` lacks a name."""

    def fault(folder):
        def change(content):
            for name in place[:-1]:
                content = content[name]
            del content[place[-1]]

        edit(folder, change)

    return fault


def touch(change):
    """Return a fault: something is done to the file of the first run."""

    def fault(folder):
        path = folder / FIRST
        data = path.read_bytes()
        path.unlink()
        change(path, data)

    return fault


def put(data):
    """Return a fault: the first run has another file, with its right checksum."""
    return lambda folder: plant(folder, data(folder) if callable(data) else data)


def rows(index, predictions=None):
    """Return a fault: the first run has these rows."""
    predictions = np.zeros((len(index), 3), np.uint8) if predictions is None else predictions
    return put(predictions_file(predictions, index))


def symbols(changed):
    """Return a fault: the first run has other symbols at some rows."""
    values = np.zeros((SIZE, 3), np.uint8)
    for row, panel in changed.items():
        values[row] = panel
    return put(predictions_file(values))


def move_run(file):
    """Return a fault: the first run's file lies, and is named, elsewhere."""

    def fault(folder):
        goal = folder / file
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / FIRST, goal)
        edit(folder, lambda content: content["runs"][0].update(file=file))

    return fault


def corrupted(folder):
    data = bytearray((folder / FIRST).read_bytes())
    middle = len(data) // 2 - 200
    data[100:160] = bytes(60)
    data[middle : middle + 20] = b"\xff" * 20
    return bytes(data)


def split_directory_as_link(folder):
    shutil.move(folder / "predictions" / "ood", folder.parent / "elsewhere")
    (folder / "predictions" / "ood").symlink_to(folder.parent / "elsewhere")


def own_directory_as_link(folder):
    link = folder.parent / "link"
    link.symlink_to(folder)
    return link


def as_link(path, data):
    elsewhere = path.parents[3] / "elsewhere.parquet"
    elsewhere.write_bytes(data)
    path.symlink_to(elsewhere)


def description_as_link(folder):
    shutil.move(folder / "submission.yaml", folder.parent / "elsewhere.yaml")
    (folder / "submission.yaml").symlink_to(folder.parent / "elsewhere.yaml")


def description_as_fifo(folder):
    (folder / "submission.yaml").unlink()
    os.mkfifo(folder / "submission.yaml")


def description_as_directory(folder):
    (folder / "submission.yaml").unlink()
    (folder / "submission.yaml").mkdir()


def many_files(folder):
    for number in range(501):
        (folder / "predictions" / str(number)).touch()


def same_run_twice(folder):
    edit(folder, lambda content: content["runs"].append(dict(content["runs"][0])))


def same_seed_otherwise(folder):
    shutil.copy(folder / FIRST, folder / "predictions/test/seed-0.0.parquet")

    def change(content):
        content["runs"].append(
            {**content["runs"][0], "seed": 0.0, "file": "predictions/test/seed-0.0.parquet"}
        )

    edit(folder, change)


def other_split(folder):
    move_run(path_of("train", 0))(folder)
    edit(folder, lambda content: content["runs"][0].update(split="train"))


def split_with_line_end(folder):
    move_run("predictions/test\n/seed-0.parquet")(folder)
    edit(folder, lambda content: content["runs"][0].update(split="test\n"))


def digest_of_another_version(folder):
    digest = hashlib.sha256(b"another").hexdigest()
    edit(folder, lambda content: content.update(board_digest=digest))


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n"
    for here, before in zip("bcdefghi", "abcdefgh", strict=True)
)
DESCRIPTION = "submission.yaml: "

FAULTS = {
    # The description
    "no description": (
        lambda folder: (folder / "submission.yaml").unlink(),
        DESCRIPTION + "can't be read: No su",
    ),
    "description is a link": (description_as_link, DESCRIPTION + "can't be read: Too many levels of symb"),
    "description is a fifo": (description_as_fifo, DESCRIPTION + "is no plain file"),
    "description is a directory": (description_as_directory, DESCRIPTION + "is no plain file"),
    "empty description": (rewrite(lambda text: b""), DESCRIPTION + "is None; expected names and values"),
    "a list": (rewrite(lambda text: b"- 1\n- 2\n"), DESCRIPTION + "is [1, 2]; expected names and values"),
    "a text": (rewrite(lambda text: b"hello"), DESCRIPTION + "is 'hello'; expected names and values"),
    "not UTF-8": (rewrite(lambda text: text + b"# \xff\n"), "isn't YAML in UTF-8"),
    "not YAML": (rewrite(lambda text: b"a: [" + text), "isn't YAML in UTF-8"),
    "binary": (rewrite(lambda text: os.urandom(0) + bytes(range(256))), "isn't YAML in UTF-8"),
    "huge": (rewrite(lambda text: text + b"#" * 300_000), "bytes; expected 262,144 or fewer"),
    "a tag": (
        rewrite(lambda text: b"x: !!python/object/apply:os.system ['touch run']\n" + text),
        "line 1: has the tag 'tag:yaml.org,2002:python/object/apply:os.system'; tags aren't allowed",
    ),
    "laughs": (
        rewrite(lambda text: LAUGHS.encode() + text),
        "line 1: has an anchor or alias; write the value",
    ),
    "an alias": (rewrite(lambda text: text + b"claimed: *x\n"), "has an anchor or alias"),
    "a merge": (rewrite(lambda text: text + b"<<: {schema: 1}\n"), "has '<<'; expected only schema, board"),
    "a name twice": (rewrite(lambda text: text + b"board: other\n"), "has 'board' twice"),
    "two documents": (
        rewrite(lambda text: text + b"---\nschema: 1\n"),
        "begins a second document; expected one",
    ),
    "deep nesting": (rewrite(lambda text: b"x: " + b"[" * 5_000 + b"]" * 5_000), "is nested deeper than 20"),
    "base 60": (rewrite(lambda text: text.replace(b"1000", b"1" + b":00" * 200 + b".5")), DESCRIPTION),
    "huge number": (rewrite(lambda text: text.replace(b"1000", b"0x" + b"F" * 6_000)), "model.parameters is"),
    "no character": (rewrite(lambda text: text + b'x: "\\UFFFFFFFF"\n'), "isn't YAML in UTF-8"),
    # Its content
    "other schema": (say("schema", value=2), DESCRIPTION + "schema is 2; expected 1"),
    "no board": (drop("board"), DESCRIPTION + "lacks 'board'"),
    "no runs": (say("runs", value=[]), DESCRIPTION + "runs has 0 entries; expected 1 or more"),
    "a strange name": (say("evil", value=1), DESCRIPTION + "has 'evil'; expected only schema, board"),
    "used ood": (say("training", "used_ood", value=True), "training.used_ood is True; expected False"),
    "no word on ood": (drop("training", "used_ood"), "training lacks 'used_ood'"),
    "negative parameters": (
        say("model", "parameters", value=-1),
        "model.parameters is -1; expected 0 or more",
    ),
    "too many parameters": (
        say("model", "parameters", value=10**16),
        "model.parameters is 10000000000000000; expected 1,000,000,000,000,000 or less",
    ),
    "parameters that are true": (
        say("model", "parameters", value=True),
        "model.parameters is True; expected a",
    ),
    "half a parameter": (say("model", "parameters", value=0.5), "model.parameters is 0.5; expected a"),
    "a whole float": (say("model", "parameters", value=1.0), "model.parameters is 1.0; expected a"),
    "infinite time": (say("training", "seconds", value=float("inf")), "training.seconds is"),
    "time that is no number": (say("training", "seconds", value=float("nan")), "training.seconds is"),
    "code that is a script": (
        say("method", "code", value="javascript:alert(1)"),
        "method.code is 'javascript:alert(1)'; expected an address that begins with https:// or http://",
    ),
    "paper in a file": (
        say("method", "paper", value="file:///etc/passwd"),
        "method.paper is 'file:///etc/pa",
    ),
    "address in quotes": (say("method", "code", value="https://x.org/'onclick="), "method.code is"),
    "address with line end": (
        say("method", "code", value="https://x.org\n"),
        "method.code is 'https://x.org\\n'",
    ),
    "address with space": (say("method", "code", value="https://x.org/a b"), "method.code is"),
    "no authors": (say("method", "authors", value=[]), "method.authors has 0 entries; expected 1 or more"),
    "author that is a list": (
        say("method", "authors", value=[["A"]]),
        "method.authors[0] is ['A']; expected a",
    ),
    "no name": (say("method", "name", value=""), "method.name is empty"),
    "long name": (
        say("method", "name", value="x" * 201),
        "method.name has 201 characters; expected 200 or fewer",
    ),
    "name with escape": (say("method", "name", value="\x1b[31mred"), "method.name is '\\x1b[31mred'"),
    "name that runs backwards": (say("method", "name", value="a\u202eb"), "method.name is 'a\\u202eb'"),
    "name with line end": (say("method", "name", value="a\nb"), "method.name is 'a\\nb'"),
    "name that is blank": (
        say("method", "name", value=" "),
        "method.name is ' ', which is blank; expected",
    ),
    "name of no width": (
        say("method", "name", value="a\u200b"),
        "method.name is 'a\\u200b', which has U+200B (ZERO WIDTH SPACE), which can't be seen",
    ),
    "name that shows as nothing": (say("method", "name", value="\u3164"), "has U+3164 (HANGUL FILLER)"),
    "name with marks that pile up": (
        say("method", "name", value="a" + "\u0301" * 50),
        "has more than 3 combining marks in a row",
    ),
    "family with hidden text": (say("method", "family", value="a\U000e0041"), "has U+E0041 (TAG LATIN"),
    "author who hides": (say("method", "authors", value=["A", "B\u2060"]), "method.authors[1] is 'B\\u2060'"),
    "description with another end": (
        say("method", "description", value="a\x85b"),
        "method.description is 'a\\x85b', which has U+0085, which",
    ),
    "address with a user": (
        say("method", "code", value="https://github.com@evil.example"),
        "method.code is 'https://github.com@evil.example'; expected an address that begins with https://",
    ),
    "address with a port": (say("method", "code", value="https://github.com:443/x"), "without user name,"),
    "address with other letters": (
        say("method", "paper", value="https://g\u0456thub.com"),
        "method.paper is",
    ),
    "address of a machine": (say("method", "code", value="http://127.0.0.1/"), "a plain host"),
    "name that is no character": (rewrite(lambda text: text.replace(b"A method", b'"\\ud800"')), "name"),
    "many packages": (
        say("environment", "packages", value={f"p{n}": "1" for n in range(501)}),
        "environment.packages has 501 entries; expected 500 or fewer",
    ),
    "a long strange name": (say("x" * 10_000, value=1), DESCRIPTION + "has 'xxx"),
    "a long name of a claim": (
        say("claimed", "x" * 10_000, value=1),
        DESCRIPTION + "claimed has a name that has 10,000 characters",
    ),
    # The board
    "unknown board": (
        say("board", value="sraven-smal-v1"),
        "there is no board 'sraven-smal-v1'; did you mean srav",
    ),
    "board by path": (say("board", value="../sraven-small-v1"), "there is no board '../sraven-small-v1'"),
    "another version": (digest_of_another_version, "the predictions are for another version of the board"),
    "digest in capitals": (
        lambda folder: edit(folder, lambda content: content.update(board_digest="A" * 64)),
        "board_digest is 'AAA",
    ),
    "other board's digest": (
        say("board", value=FUZZY_BOARD),
        f"but {FUZZY_BOARD} has",
    ),
    # The runs
    "unknown split": (other_split, "runs[0].split is 'train'; sraven-small-v1 has test, ood"),
    "split by path": (
        say("runs", 0, "split", value="../test"),
        "runs[0].split is '../test'; expected the name of",
    ),
    "split with line end": (split_with_line_end, "runs[0].split is 'test\\n'"),
    "negative seed": (say("runs", 0, "seed", value=-1), "runs[0].seed is -1; expected 0 or more"),
    "seed that is true": (say("runs", 0, "seed", value=True), "runs[0].seed is True; expected a"),
    "seed of another file": (
        say("runs", 0, "seed", value=7),
        "runs[0].file is 'predictions/test/seed-0.parquet'; exp",
    ),
    "many runs": (
        lambda folder: edit(
            folder, lambda content: content.update(runs=[dict(content["runs"][0]) for _ in range(201)])
        ),
        "runs has 201 entries; expected",
    ),
    "same run twice": (same_run_twice, f"runs has {FIRST} twice"),
    "same seed otherwise": (same_seed_otherwise, "runs[6].seed is 0.0; expected a"),
    # The files
    "file above": (
        move_run("../seed-0.parquet"),
        "runs[0].file is '../seed-0.parquet'; expected 'predictions/test",
    ),
    "file above, on a detour": (
        move_run("predictions/test/../seed-0.parquet"),
        "runs[0].file is 'predictions/test/../seed-0.parquet'; expected",
    ),
    "file at an absolute path": (
        say("runs", 0, "file", value="/etc/passwd"),
        "runs[0].file is '/etc/passwd'; expected 'predictions/test/seed-0.parquet'",
    ),
    "file in a strange place": (
        move_run("predictions/seed-0.parquet"),
        "runs[0].file is 'predictions/seed-0.par",
    ),
    "file of another name": (
        move_run("predictions/test/seed-0.pkl"),
        "runs[0].file is 'predictions/test/seed-0.pkl'",
    ),
    "file is a link": (touch(as_link), f"{FIRST}: is a link or no plain file; a submission has plain files"),
    "file is a link to nothing": (
        touch(lambda path, data: path.symlink_to("x")),
        f"{FIRST}: is a link or no",
    ),
    "file is a fifo": (touch(lambda path, data: os.mkfifo(path)), f"{FIRST}: is a link or no plain file"),
    "file is a directory": (touch(lambda path, data: path.mkdir()), f"{FIRST}: the file is missing"),
    "directory is a link": (split_directory_as_link, "predictions/ood: is a link or no plain file"),
    "submission is a link": (own_directory_as_link, "link: is not a directory (links aren't followed)"),
    "submission isn't there": (
        lambda folder: folder / "nowhere",
        "nowhere isn't the directory of a submission",
    ),
    "submission is a file": (
        lambda folder: folder / "README.md",
        "README.md isn't the directory of a submission",
    ),
    "README is a link": (
        lambda folder: (folder / "README.md").unlink() or (folder / "README.md").symlink_to("/etc/passwd"),
        "README.md: is a link or no plain file",
    ),
    "missing file": (lambda folder: (folder / FIRST).unlink(), f"{FIRST}: the file is missing"),
    "stray pickle": (
        lambda folder: (folder / "x.pkl").touch(),
        "x.pkl: isn't part of a submission; remove it",
    ),
    "stray run": (
        lambda folder: (folder / path_of("test", 9)).touch(),
        "predictions/test/seed-9.parquet: isn't part of a submission",
    ),
    "stray hidden file": (lambda folder: (folder / ".git").touch(), ".git: isn't part of a submission"),
    "stray name with line end": (
        lambda folder: (folder / "a\nb").touch(),
        "a\\nb: isn't part of a submission",
    ),
    "many files": (many_files, "has more than 500 files; a submission has fewer"),
    "large file": (
        put(bytes((1 << 20) + 2 * SIZE * 11 + 1)),
        f"{FIRST}: has 1,055,199 bytes; expected 1,055,198 or fewer",
    ),
    "cut": (touch(lambda path, data: path.write_bytes(data[:-9])), f"{FIRST}: its SHA-256 is "),
    "changed": (
        touch(lambda path, data: path.write_bytes(data[:99] + bytes([data[99] ^ 1]) + data[100:])),
        "but submission.yaml says",
    ),
    "emptied": (touch(lambda path, data: path.write_bytes(b"")), "e3b0c44298fc…, but submission.yaml says"),
    "another checksum": (
        say("runs", 0, "sha256", value="0" * 64),
        "000000000000…: the file was changed or cut",
    ),
    "no checksum": (say("runs", 0, "sha256", value="0" * 63), "runs[0].sha256 is '000"),
    # Their content
    "cut, checksum corrected": (put(lambda folder: (folder / FIRST).read_bytes()[:-9]), f"{FIRST}: "),
    "corrupted, checksum corrected": (put(corrupted), f"{FIRST}: "),
    "emptied, checksum corrected": (put(b""), f"{FIRST}: "),
    "no Parquet": (put(b"index,prediction\n" * 50), f"{FIRST}: Parquet magic bytes not found in footer"),
    "wrong type": (
        put(predictions_file(np.zeros((SIZE, 3), np.uint16))),
        "has prediction of type fixed_size_list<element: uint16>[3]; expected fixed-size list of 3 uint8",
    ),
    "wrong type of index": (
        put(
            parquet(
                {"index": np.arange(SIZE, dtype=np.int32), "prediction": lists(np.zeros((SIZE, 3), np.uint8))}
            )
        ),
        "has index of type int32; expected int64",
    ),
    "longer lists": (
        put(predictions_file(np.zeros((SIZE, 4), np.uint8))),
        "expected fixed-size list of 3 uint8",
    ),
    "lists of any length": (
        put(parquet({"index": np.arange(2), "prediction": pa.array([[1], [2]], pa.list_(pa.uint8()))})),
        "expected fixed-size list of 3 uint8",
    ),
    "other columns": (
        put(parquet({"id": np.arange(SIZE), "pred": lists(np.zeros((SIZE, 3), np.uint8))})),
        "has the columns 'id', 'pred'; expected index, prediction",
    ),
    "extra column": (
        put(parquet({"index": [0], "prediction": lists(np.zeros((1, 3), np.uint8)), "target": [1]})),
        "has the columns 'index', 'prediction', 'target'; expected index, prediction",
    ),
    "a missing index": (
        put(parquet({"index": pa.array([0, None]), "prediction": lists(np.zeros((2, 3), np.uint8))})),
        "row 1: index is missing",
    ),
    "a missing panel": (
        put(parquet({"index": [0, 1], "prediction": pa.array([None, [1, 2, 3]], pa.list_(pa.uint8(), 3))})),
        "row 0: prediction is missing",
    ),
    "more rows": (rows([*range(SIZE), 0]), "declares 302 rows; the split has 301"),
    "an index twice": (rows([5, 6, 5, 6]), f"{FIRST}: row 2 has index 5, which row 0 has"),
    "an index beyond": (rows([0, 301, 302]), f"{FIRST}: row 1 has index 301; test has the indices 0 to 300"),
    "an index far beyond": (rows([2**63 - 1]), "row 0 has index 9223372036854775807; test has the indices"),
    "a negative index": (rows([0, 1, -1]), f"{FIRST}: row 2 has index -1; test has the indices 0 to 300"),
    "the least index": (rows([-(2**63)]), "row 0 has index -9223372036854775808"),
    "a symbol beyond": (
        symbols({7: [0, 5, 1], 9: [255, 0, 0]}),
        "row 7 has the symbol 5; symbols are 0 to 4",
    ),
    "the greatest symbol": (symbols({300: [4, 4, 255]}), f"{FIRST}: row 300 has the symbol 255"),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_refused_in_one_line(fault, message, folder, refuse):
    other = fault(folder)
    found = refuse(other if isinstance(other, Path) else folder)
    assert message in found
    assert (
        found.startswith((DESCRIPTION, "predictions/", str(folder), "there is no board")) or ": is" in found
    )
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            np.where(np.arange(211) == 8, np.nan, 0.5).astype(np.float32),
            "row 8 is nan; expected a finite number",
        ),
        (
            np.where(np.arange(211) == 9, np.inf, 0.5).astype(np.float32),
            "row 9 is inf; expected a finite number",
        ),
        (np.where(np.arange(211) == 0, -np.inf, 0.5).astype(np.float32), "row 0 is -inf"),
        (np.zeros(211), "has prediction of type double; expected float32"),
        (np.zeros((211, 1), np.float32), "expected float32"),
        (np.zeros(211, np.uint8), "has prediction of type uint8; expected float32"),
    ],
)
def test_wrong_numbers_of_fuzzy_logic_are_refused(values, message, fuzzy_folder, refuse):
    plant(fuzzy_folder, predictions_file(values), seed=1)
    found = refuse(fuzzy_folder)
    assert found.startswith(path_of("test", 1) + ": ") and message in found


@pytest.fixture(scope="module")
def read_and_scored(originals, tmp_path_factory):
    """The submission to SRAVEN's board as it is read, and its scores by split."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        read = read_submission(originals[SRAVEN_BOARD])
    board = small_board(SRAVEN_BOARD)
    return read, {
        split: score_runs(board.task.scoring, board.labels(split), runs) for split, runs in read.runs.items()
    }


@pytest.fixture
def claim(folder, monkeypatch, read_and_scored):
    """Change what is claimed; predictions are neither decoded nor scored again."""
    read, scores = read_and_scored
    by_runs = {id(runs): scores[split] for split, runs in read.runs.items()}
    monkeypatch.setattr(
        reader, "read_submission", lambda path: replace(read, content=reader.read_description(path)[0])
    )
    monkeypatch.setattr(reader, "score_runs", lambda scoring, labels, runs, **options: by_runs[id(runs)])

    def claim(split, metric, value):
        say("claimed", split, metric, value=value)(folder)
        return folder

    return claim


@pytest.mark.parametrize(
    ("split", "metric", "off"),
    [("test", "accuracy", 2e-6), ("ood", "position.0", -2e-6), ("ood", "accuracy", 1)],
)
def test_wrong_claim_is_refused(split, metric, off, claim, refuse, scored):
    mean = scored["splits"][split]["metrics"][metric]["mean"]
    assert refuse(claim(split, metric, mean + off)) == (
        f"submission.yaml: claimed.{split}.{metric} is {mean + off}, but the predictions score {mean}; "
        "correct the claim, or leave it out"
    )


@pytest.mark.parametrize(
    ("split", "metric", "value", "message"),
    [
        ("test", "accuracy", float("nan"), "claimed.test.accuracy is"),
        ("test", "accuracy", float("inf"), "claimed.test.accuracy is"),
        ("test", "accuracy", 10**400, "claimed.test.accuracy is"),
        ("test", "accuracy", 10**15, "claimed.test.accuracy is"),
        ("test", "accuracy", "0.5", "claimed.test.accuracy is '0.5'; expected a number"),
        ("test", "accuracy", None, "claimed.test.accuracy is None; expected a number"),
        ("test", "f1", 0, "claimed.test.f1 is no score of this submission"),
        ("train", "accuracy", 0, "claimed.train.accuracy is no score of this submission"),
    ],
)
def test_claim_of_what_is_no_score_is_refused(split, metric, value, message, claim, refuse):
    found = refuse(claim(split, metric, value))
    assert found.startswith(DESCRIPTION) and message in found


def test_claim_on_a_split_without_predictions_is_refused(tmp_path, refuse):
    board = small_board(SRAVEN_BOARD)
    folder = write(tmp_path / "s", SRAVEN_BOARD, predictions={"test": [guesses(board, "test", 0)]})
    say("claimed", "ood", "accuracy", value=0)(folder)
    assert "claimed.ood.accuracy is no score of this submission" in refuse(folder)


def test_claim_on_what_is_not_defined_is_refused(tmp_path, refuse):
    """Of perfect predictions, none is wrong: the share of valid alternatives has no denominator."""
    board = small_board(SRAVEN_BOARD)
    folder = write(tmp_path / "s", SRAVEN_BOARD, predictions={"test": [truth(board, "test")]})
    assert score_submission(folder)["splits"]["test"]["metrics"]["valid_alternatives"]["mean"] is None
    say("claimed", "test", "valid_alternatives", value=0)(folder)
    assert "claimed.test.valid_alternatives is 0, but the predictions score None" in refuse(folder)


def test_installation_with_other_instances_scores_nothing(folder, refuse, monkeypatch, tmp_path_factory):
    contents = {name: {**content} for name, content in small_contents().items()}
    splits = contents[SRAVEN_BOARD]["splits"]
    splits = {**splits, "ood": {**splits["ood"], "blocks": ["0" * 64]}}
    contents[SRAVEN_BOARD] = {**contents[SRAVEN_BOARD], "splits": splits}
    use_boards(monkeypatch, tmp_path_factory.mktemp("other"), contents)
    digest = reader.read_board(SRAVEN_BOARD).digest
    edit(folder, lambda content: content.update(board_digest=digest))
    assert refuse(folder).startswith(f"board {SRAVEN_BOARD}, split ood: instances 0 to 198 aren't those of")


def test_file_that_changes_while_it_is_scored_is_not_filed(folder, tmp_path, monkeypatch):
    def score(*arguments, **options):
        scores = score_submission(*arguments, **options)
        plant(folder, predictions_file(truth(small_board(SRAVEN_BOARD), "test")))
        return scores

    monkeypatch.setattr("sraven.core.submissions.submit.score_submission", score)
    (tmp_path / "leaderboard").mkdir()
    with pytest.raises(SubmissionError, match="was changed while it was scored"):
        file_submission(folder, tmp_path / "leaderboard")
    assert all_bytes(tmp_path / "leaderboard") == {}


def test_predictions_are_in_the_order_of_their_indices():
    """The order of a file's rows and what is missing are all that differs: a permutation changes nothing."""
    board = small_board(SRAVEN_BOARD)
    whole = guesses(board, "ood", 0)

    @SAME_EVERY_TIME
    @given(st.permutations(range(199)), st.integers(0, 199))
    def check(order, count):
        index = np.array(order[:count], np.int64)
        made = make_run(board, "ood", 4, (index, whole[index]))
        assert made.seed == 4 and made.answered.sum() == count
        assert set(np.flatnonzero(made.answered)) == set(index)
        assert np.array_equal(made.predictions[index], whole[index])

    check()


# Writing


TEXTS = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=30
).filter(lambda text: name_fault(text) is None)


def test_any_text_survives_the_file(tmp_path_factory):
    board = small_board(SRAVEN_BOARD)
    predictions = {"test": [guesses(board, "test", 0)]}

    @settings(SAME_EVERY_TIME, max_examples=15)
    @given(TEXTS, TEXTS)
    @example("1234e56", "0912345")
    @example("1e5", "0x10")
    @example("no", "~")
    @example("2026-11-21", "1:20:30")
    @example("<<", "=")
    @example("- a", "a: b")
    @example(" x ", "#")
    @example("é∞😀", "'\"")
    @example("&a", "*a")
    @example("!!int 3", "%")
    @example("null", "true")
    @example("1_000", ".5")
    @example("-", "?")
    def check(name, commit):
        folder = tmp_path_factory.mktemp("texts") / "s"
        write(
            folder,
            SRAVEN_BOARD,
            predictions=predictions,
            method={"name": name, "code_commit": commit, "authors": [name, commit]},
        )
        content, _ = read_description(folder)
        assert content["method"] == {**METHOD, "name": name, "code_commit": commit, "authors": [name, commit]}

    check()


def test_lines_of_a_description_survive_the_file(tmp_path):
    text = "First line.\n\n  An indented one: with a colon\n- and a dash"
    folder = write(tmp_path / "s", SRAVEN_BOARD, seeds=1, method={"description": text})
    assert read_description(folder)[0]["method"]["description"] == text


def test_numbers_of_numpy_and_tuples_can_be_written(tmp_path):
    board = small_board(SRAVEN_BOARD)
    arrays = [guesses(board, "ood", seed) for seed in range(2)]
    correct = [(array == truth(board, "ood")).all(axis=1) for array in arrays]
    folder = write(
        tmp_path / "s",
        SRAVEN_BOARD,
        predictions={"ood": dict(zip(np.arange(2), arrays, strict=True))},
        method={"authors": ("A", "B")},
        model={"parameters": np.int64(5)},
        training={"seconds": np.float64(1e-7)},
        claimed={"ood": {"accuracy": np.mean(correct)}},
    )
    content, _ = read_description(folder)
    assert content["model"]["parameters"] == 5 and content["method"]["authors"] == ["A", "B"]
    assert content["training"]["seconds"] == 1e-7
    assert score_submission(folder)["splits"]["ood"]["metrics"]["accuracy"]["mean"] == pytest.approx(
        content["claimed"]["ood"]["accuracy"], abs=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictions": {"dev": [np.zeros((SIZE, 3), int)]}}, "split='dev': expected one of 'test', 'ood'"),
        ({"predictions": {"test": [np.zeros((SIZE, 4), int)]}}, "predictions of test has shape [301, 4]"),
        ({"predictions": {"test": [np.zeros((SIZE, 3))]}}, "has dtype float64; expected integers"),
        ({"predictions": {"test": [np.full((SIZE, 3), 5)]}}, "row 0 has the symbol 5; symbols are 0 to 4"),
        ({"predictions": {"test": [np.full((SIZE, 3), -1)]}}, "a value outside 0 to 255"),
        ({"predictions": {"test": np.zeros((SIZE, 3), int)}}, "predictions of test has shape [3]"),
        ({"predictions": {"test": {-1: np.zeros((SIZE, 3), int)}}}, "a seed=-1: expected an integer from 0"),
        ({"predictions": {"test": {"0": np.zeros((SIZE, 3), int)}}}, "a seed='0'"),
        ({"predictions": {"test": {2**63: np.zeros((SIZE, 3), int)}}}, "a seed=9223372036854775808"),
        ({"predictions": [np.zeros((SIZE, 3), int)]}, "predictions has no names"),
        ({"predictions": {"test": 3}}, "predictions of test"),
        ({"predictions": {}}, "runs has 0 entries; expected 1 or more"),
        ({"method": {"name": ""}}, "method.name is empty"),
        ({"method": {"nmae": "x"}}, "method has 'nmae'; expected only name, family"),
        ({"method": {"authors": "A. Author"}}, "method.authors is 'A. Author'; expected a list"),
        ({"method": {"code": "ftp://x"}}, "method.code is 'ftp://x'; expected an address"),
        ({"method": {"name": "\ud800"}}, "method.name"),
        ({"model": {"parameters": -1}}, "model.parameters is -1; expected 0 or more"),
        ({"model": {"parameters": object()}}, "description of the submission has <object"),
        ({"training": {"used_ood": True}}, "training.used_ood is True; expected False"),
        ({"training": {"seconds": float("inf")}}, ""),
        ({"training": {"seconds": float("nan")}}, ""),
        ({"claimed": {"test": {"accuracy": "high"}}}, "claimed.test.accuracy is 'high'; expected a number"),
        ({"claimed": {"test": {"accuracy": float("nan")}}}, ""),
        ({"claimed": {"test": 0.5}}, "claimed.test"),
    ],
)
def test_what_can_not_be_submitted_is_not_written(options, message, tmp_path):
    with pytest.raises(ConfigurationError) as error:
        write(tmp_path / "new" / "submission", SRAVEN_BOARD, **options)
    assert message in str(error.value) and str(error.value).isprintable()
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("name", ["method", "model", "training"])
@pytest.mark.parametrize("value", ["x", None, 3, ["a"]])
def test_description_without_names_is_not_written(name, value, tmp_path):
    given = {"method": METHOD, "model": MODEL, "training": TRAINING, name: value}
    with pytest.raises(ConfigurationError, match=f"^{name} is "):
        write_submission(tmp_path / "s", SRAVEN_BOARD, {"test": [np.zeros((SIZE, 3), int)]}, **given)
    assert snapshot(tmp_path) == {}


def test_fault_in_the_last_array_leaves_nothing(tmp_path):
    board = small_board(SRAVEN_BOARD)
    arrays = {split: [guesses(board, split, seed) for seed in range(3)] for split in board.splits}
    arrays["ood"][2] = arrays["ood"][2][:-1]
    with pytest.raises(ConfigurationError, match=r"predictions of ood has shape \[198, 3\]"):
        write(tmp_path / "s", SRAVEN_BOARD, predictions=arrays)
    assert snapshot(tmp_path) == {}


def test_fault_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sraven.core.submissions.submit.write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "s", SRAVEN_BOARD)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_what_exists_is_not_overwritten(make, tmp_path):
    make(tmp_path / "s")
    before = snapshot(tmp_path)
    with pytest.raises(OutputError, match="exists; choose another directory for the submission"):
        write(tmp_path / "s", SRAVEN_BOARD)
    assert snapshot(tmp_path) == before


def test_unknown_board_is_not_written_for(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no board 'sraven-v1'"):
        write_submission(tmp_path / "s", "sraven-v1", {}, method=METHOD, model=MODEL, training=TRAINING)
    assert snapshot(tmp_path) == {}


# Filing


def test_filed_submission_is_the_same_with_its_scores(originals, scored, tmp_path):
    (tmp_path / "leaderboard").mkdir()
    goal = file_submission(originals[SRAVEN_BOARD], tmp_path / "leaderboard", day=date(2026, 11, 22))
    assert goal == tmp_path / "leaderboard" / "submissions" / SRAVEN_BOARD / "20261122-a-method"
    filed = all_bytes(goal)
    scores = filed.pop("scores.json")
    assert filed == all_bytes(originals[SRAVEN_BOARD])
    assert yaml.safe_load(scores) == scored == score_submission(goal)
    before = snapshot(tmp_path)
    with pytest.raises(OutputError, match="exists; give the method another name"):
        file_submission(originals[SRAVEN_BOARD], tmp_path / "leaderboard", day=date(2026, 11, 22))
    assert snapshot(tmp_path) == before


def test_without_a_leaderboard_nothing_is_filed(originals, tmp_path):
    with pytest.raises(OutputError, match="isn't a directory; run this in a checkout, or name it"):
        file_submission(originals[SRAVEN_BOARD], tmp_path / "leaderboard")
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("A method", "a-method"),
        ("../../etc/passwd", "etc-passwd"),
        ("HYLA, φ = SiLU", "hyla-silu"),
        ("...", "method"),
        ("-", "method"),
        ("中", "method"),
        ("x" * 200, "x" * 60),
        ("a\nb", "a-b"),
    ],
)
def test_slug_is_a_plain_name(name, wanted):
    assert slug(name) == wanted


@SAME_EVERY_TIME
@given(st.text(max_size=100))
def test_slug_of_anything_is_a_plain_name(name):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-?", slug(name)) and len(slug(name)) <= 60


# Comparing scores


def test_differing_scores_are_named(scored):
    assert differing(scored, scored) == []
    stored = deepcopy(scored)
    stored["splits"]["ood"]["metrics"]["accuracy"]["by_seed"][1] += 9e-7
    assert differing(stored, scored) == []
    stored["splits"]["ood"]["metrics"]["accuracy"]["by_seed"][1] += 9e-7
    stored["splits"]["test"]["seeds"].append(9)
    stored["splits"]["test"]["metrics"]["f1"] = {}
    del stored["splits"]["ood"]["missing"]
    stored["board"] = "x"
    assert set(differing(stored, scored)) == {
        "splits.ood.metrics.accuracy.by_seed[1]",
        "splits.test.seeds",
        "splits.test.metrics.f1",
        "splits.ood.missing",
        "board",
    }


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**400, None, "0.5", [0.5], {}, True, -1], ids=range(9)
)
def test_any_other_value_differs(value):
    assert differing({"a": value}, {"a": 0.5}) == ["a"]
    assert differing({"a": 0.5}, {"a": value}) == ["a"]


def test_reading_gives_runs_in_order(originals):
    found = read_submission(originals[SRAVEN_BOARD])
    assert list(found.runs) == ["test", "ood"]
    for split, runs in found.runs.items():
        assert [run.seed for run in runs] == [0, 1, 2]
        for run in runs:
            assert run.answered.all()
            assert np.array_equal(run.predictions, guesses(small_board(SRAVEN_BOARD), split, run.seed))


# By which split hyperparameters were chosen


@pytest.mark.parametrize("split", ["train", "test", "ood", None])
def test_hyperparameters_are_chosen_by_a_split_of_the_board(split, tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert read_submission(folder).content["training"]["selection_split"] == split


@pytest.mark.parametrize("split", ["validation", "test and OOD", "OOD", "o o d", "ood ", "none", "\u043eod"])
def test_other_splits_to_choose_by_are_refused(split, tmp_path):
    told = (
        "training.selection_split is .*; expected a split of sraven-small-v1 \\(train, test, ood\\), or null"
    )
    with pytest.raises(ConfigurationError, match=told):
        write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert not (tmp_path / "s").exists()
    folder = write(tmp_path / "s", SRAVEN_BOARD)
    edit(folder, lambda content: content["training"].update(selection_split=split))
    with pytest.raises(SubmissionError, match=told):
        read_submission(folder)
