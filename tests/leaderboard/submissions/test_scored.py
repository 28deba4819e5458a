"""Submissions: what is written is read as it was, and scored as the board scores it."""

import hashlib
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

from helpers.example import all_bytes
from helpers.submissions import (
    FUZZY_BOARD,
    METHOD,
    MODEL,
    SIZE,
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
    score_predictions,
    small_board,
    snapshot,
    truth,
    write,
)
from sraven import ConfigurationError, OutputError, score_submission, write_submission
from sraven.files.jsonable import as_json
from sraven.files.names import name_fault
from sraven.leaderboard.submissions.submission import read_description

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_what_is_written_scores_what_the_board_scores(name, tmp_path):
    """And what it claims is right if it is as near as machines are."""
    board = small_board(name)
    alone = {split: board.score(split, guesses(board, split, 0)) for split in board.splits}
    claims = {
        split: {metric: score.mean + 5e-7 for metric, score in scores.metrics.items()}
        for split, scores in alone.items()
    }
    write(tmp_path / "submission", name, seeds=1, claimed=claims)
    scores = score_submission(tmp_path / "submission")
    assert (scores["schema"], scores["board"], scores["board_digest"]) == (1, name, board.digest)
    assert set(scores["splits"]) == set(board.splits)
    for split, found in scores["splits"].items():
        gaps = found.pop("gap_to_ceiling")
        assert found == as_json(alone[split]) and set(found["metrics"]) == set(board.content["metrics"])
        for metric, gap in gaps.items():
            ceiling = board.content["ceiling"][split]["knowing_split"][metric]["value"]
            better = -1 if metric == "mse" else 1
            assert gap == pytest.approx(better * (ceiling - found["metrics"][metric]["mean"]))


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
    size, right = board.splits["test"], truth(board, "test")
    third = np.arange(size) % 3 == 0
    answered = ~third, np.zeros(size, bool), np.ones(size, bool)
    for seed, rows in enumerate(answered):
        plant(folder, predictions_file(right[rows], np.flatnonzero(rows)), seed=seed)
    found = score_submission(folder)["splits"]["test"]
    assert found["missing"] == [third.sum(), size, 0] and found["instances"] == size
    wanted = score_predictions(board.task, "test", size, enumerate((right, rows) for rows in answered))
    for metric, score in found["metrics"].items():
        assert score["by_seed"] == list(wanted.metrics[metric].by_seed)


# Writing: whole or not at all


TEXTS = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=30
).filter(lambda text: name_fault(text) is None)

TRICKY = [
    *("1234e56", "0912345", "1e5", "0x10", "no", "~", "2026-11-21", "1:20:30", "<<", "=", "- a", "a: b"),
    *(" x ", "#", "é∞😀", "'\"", "&a", "*a", "!!int 3", "%", "null", "true", "1_000", ".5", "-", "?"),
]
"""Texts that YAML takes for something else, unless they stand in quotes."""


def test_any_text_survives_the_file(tmp_path_factory):
    predictions = {"test": [guesses(small_board(SRAVEN_BOARD), "test", 0)]}

    @settings(max_examples=5)
    @given(st.lists(TEXTS, min_size=2))
    @example(TRICKY)
    @example(TRICKY[::-1])
    def check(texts):
        folder = tmp_path_factory.mktemp("texts") / "s"
        method = {"name": texts[0], "code_commit": texts[1], "authors": texts}
        write(folder, SRAVEN_BOARD, predictions=predictions, method=method)
        assert read_description(folder)[0]["method"] == {**METHOD, **method}

    check()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictions": {"test": [np.full((SIZE, 3), 5)]}}, "symbol 5"),
        ({"predictions": {"test": np.zeros((SIZE, 3), int)}}, "[3]"),
        ({"predictions": {"test": {-1: np.zeros((SIZE, 3), int)}}}, "a seed=-1: "),
        ({"predictions": [np.zeros((SIZE, 3), int)]}, "predictions has no names"),
        ({"method": {"authors": "A. Author"}}, "method.authors is 'A. Author'; expected a list"),
        ({"training": {"selection_split": "validation"}}, "expected a split of sraven-small-v1"),
        ({"model": {"parameters": object()}}, "description of the submission has <object"),
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


def test_fault_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sraven.leaderboard.submissions.submit.write_text", fail)
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
