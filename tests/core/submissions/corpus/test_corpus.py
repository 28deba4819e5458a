"""Submissions to a board of a corpus: what is written is scored."""

import hashlib
import json
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.corpus_faults import path_of, plant
from helpers.corpus_submissions import (
    CORPUS_BOARD,
    SIZE,
    corpus_board,
    corpus_contents,
    log_text,
    losses,
    write_corpus,
)
from helpers.example import all_bytes
from helpers.submissions import SRAVEN_BOARD, description, small_contents
from sraven import ConfigurationError, score_submission
from sraven.core.submissions.runs import fingerprint
from sraven.core.submissions.submit import file_submission, write_reference
from sraven.core.tasks.task import Labels
from sraven.core.untrusted.schemas import find_problem

pytestmark = pytest.mark.usefixtures("corpus_boards")


def changed(board, **changes):
    return {**corpus_contents()[board], **changes}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lambda: changed(SRAVEN_BOARD, splits={"test": {"instances": 301}}), "splits.test lacks 'sha256'"),
        (
            lambda: changed(CORPUS_BOARD, splits=small_contents()[SRAVEN_BOARD]["splits"]),
            "expected only instances",
        ),
        (lambda: changed(CORPUS_BOARD, held_out={"ood": [[0]]}), "held_out"),
        (
            lambda: changed(CORPUS_BOARD, ceiling=small_contents()[SRAVEN_BOARD]["ceiling"]),
            "ceiling has 2 entries; expected 0 or fewer",
        ),
        (lambda: changed(SRAVEN_BOARD, labels="corpus"), "expected 0 or fewer"),
    ],
)
def test_board_that_mixes_both_kinds_breaks_the_schema(content, problem):
    assert problem in find_problem(content(), "board")


def test_what_is_written_scores_what_the_board_scores(corpus_original):
    scores = score_submission(corpus_original)
    assert find_problem(scores, "scores") is None
    assert scores["board"] == CORPUS_BOARD and list(scores["splits"]) == ["validation"]
    found = scores["splits"]["validation"]
    assert (found["instances"], found["seeds"], found["missing"]) == (SIZE, [0, 1, 2], [0, 0, 0])
    assert (found["by_combination"], found["gap_to_ceiling"]) == ({}, {})
    assert list(found["metrics"]) == ["loss", "perplexity", "bits_per_byte"] and "fingerprint" in found
    for seed in range(3):
        alone = corpus_board().score("validation", losses(seed))
        for metric, score in alone.metrics.items():
            assert found["metrics"][metric]["by_seed"][seed] == score.mean


def test_fingerprint_is_that_of_targets_and_then_bytes(corpus_original):
    array = losses()
    wanted = hashlib.sha256()
    for column in (array[:, 1], array[:, 2]):
        for number in column.tolist():
            wanted.update(int(number).to_bytes(8, "little"))
    assert score_submission(corpus_original)["splits"]["validation"]["fingerprint"] == wanted.hexdigest()


def test_fingerprint_does_not_depend_on_losses_or_on_the_kind_of_integers():
    labels = [corpus_board().labels("validation", losses(seed)) for seed in (0, 1)]
    narrow = {name: column.astype(">i4") for name, column in labels[0].summands.items()}
    assert len({fingerprint(each) for each in (*labels, Labels({}, narrow))}) == 1


@given(st.integers(0, SIZE - 1), st.sampled_from([1, 2]), st.integers(1, 1_000))
def test_fingerprint_changes_with_any_number(document, place, more):
    other = losses()
    other[document, place] += more
    board = corpus_board()
    assert fingerprint(board.labels("validation", other)) != fingerprint(board.labels("validation", losses()))


def test_directory_has_the_logs(corpus_original):
    content = description(corpus_original)
    assert [(run["seed"], run["file"], run["log"]) for run in content["runs"]] == [
        (seed, path_of(seed), f"training/seed-{seed}.jsonl") for seed in range(3)
    ]
    for run in content["runs"]:
        data = (corpus_original / run["log"]).read_bytes()
        assert data.decode() == log_text()
        assert run["log_sha256"] == hashlib.sha256(data).hexdigest()
    assert set(all_bytes(corpus_original)) == {
        "submission.yaml",
        "README.md",
        *(run[key] for run in content["runs"] for key in ("file", "log")),
    }


def test_order_of_rows_changes_nothing(corpus_original, folder):
    order = np.random.default_rng(0).permutation(SIZE)
    plant(folder, losses(1)[order], order)
    assert score_submission(folder)["splits"] == score_submission(corpus_original)["splits"]


def test_seeds_may_have_any_numbers(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(log_text())
    write_corpus(
        tmp_path / "s",
        predictions={7: losses(), np.int64(3): losses(1)},
        logs={np.int64(3): str(log), 7: log},
    )
    assert score_submission(tmp_path / "s")["splits"]["validation"]["seeds"] == [3, 7]


def test_there_are_no_references(tmp_path):
    with pytest.raises(ConfigurationError) as error:
        write_reference(tmp_path / "s", CORPUS_BOARD, "uniform-random")
    assert str(error.value) == "c4-small-v1 has no reference predictors: each would need its text"


def test_filed_entry_has_its_logs(corpus_original, leaderboard):
    goal = file_submission(corpus_original, leaderboard, day=date(2026, 11, 22))
    filed = all_bytes(goal)
    assert json.loads(filed.pop("scores.json")) == score_submission(goal)
    assert filed == all_bytes(corpus_original)
