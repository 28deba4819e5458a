"""Submissions are written whole or not at all, and say what was given."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.submissions import (
    METHOD,
    MODEL,
    SIZE,
    SRAVEN_BOARD,
    TRAINING,
    guesses,
    small_board,
    snapshot,
    truth,
    write,
)
from sraven import ConfigurationError, OutputError, score_submission, write_submission
from sraven.core.base.names import name_fault
from sraven.core.submissions.submission import read_description

pytestmark = pytest.mark.usefixtures("small_boards")


TEXTS = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=30
).filter(lambda text: name_fault(text) is None)


def test_any_text_survives_the_file(tmp_path_factory):
    board = small_board(SRAVEN_BOARD)
    predictions = {"test": [guesses(board, "test", 0)]}

    @settings(max_examples=8)
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
        ({"predictions": {"dev": [np.zeros((SIZE, 3), int)]}}, "split='dev': "),
        ({"predictions": {"test": [np.zeros((SIZE, 4), int)]}}, "[301, 4]"),
        ({"predictions": {"test": [np.full((SIZE, 3), 5)]}}, "row 0 has the symbol 5; symbols are 0 to 4"),
        ({"predictions": {"test": np.zeros((SIZE, 3), int)}}, "[3]"),
        ({"predictions": {"test": {-1: np.zeros((SIZE, 3), int)}}}, "a seed=-1: "),
        ({"predictions": [np.zeros((SIZE, 3), int)]}, "predictions has no names"),
        ({"predictions": {"test": 3}}, "predictions of test"),
        ({"predictions": {}}, "runs has 0 entries; expected 1 or more"),
        ({"method": {"authors": "A. Author"}}, "method.authors is 'A. Author'; expected a list"),
        ({"model": {"parameters": object()}}, "description of the submission has <object"),
        ({"training": {"seconds": float("inf")}}, ""),
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
