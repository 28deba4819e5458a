"""Submissions: what is written is read as it was, and scored as the board scores it."""

import hashlib
import shutil
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    small_board,
    truth,
    write,
)
from sraven import score_submission
from sraven.core.submissions.runs import make_run

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_what_is_written_scores_what_the_board_scores(name, tmp_path):
    board = small_board(name)
    write(tmp_path / "submission", name, seeds=1)
    scores = score_submission(tmp_path / "submission")
    assert (scores["schema"], scores["board"], scores["board_digest"]) == (1, name, board.digest)
    assert set(scores["splits"]) == set(board.splits)
    for split, found in scores["splits"].items():
        assert "fingerprint" not in found
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


def test_predictions_are_in_the_order_of_their_indices():
    """The order of a file's rows and what is missing are all that differs: a permutation changes nothing."""
    board = small_board(SRAVEN_BOARD)
    whole = guesses(board, "ood", 0)

    @given(st.permutations(range(199)), st.integers(0, 199))
    def check(order, count):
        index = np.array(order[:count], np.int64)
        made = make_run(board, "ood", 4, (index, whole[index]))
        assert made.seed == 4 and made.answered.sum() == count
        assert set(np.flatnonzero(made.answered)) == set(index)
        assert np.array_equal(made.predictions[index], whole[index])

    check()
