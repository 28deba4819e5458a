"""A board's own metrics, gaps and ceilings: fixed by its file, whatever its task gets later."""

import json
from copy import deepcopy
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from fuzzylogic.metrics import FuzzyLogicScoring
from helpers import fuzzy_oracle, oracle
from helpers.checkout import REPOSITORY
from helpers.refusals import assert_refused
from helpers.submissions import (
    DEFINITIONS,
    FUZZY_BOARD,
    REPORTED,
    SRAVEN_BOARD,
    assert_filed_alike,
    small_board,
    small_contents,
    truth,
    use_boards,
)
from sraven import SRAVEN, Board, BoardError
from sraven.board.board import board_ids, read_board
from sraven.board.ceilings import ANSWERS, KNOWS, Ceiling
from sraven.board.freeze import make_board
from sraven.core.roles import Metric
from sraven.leaderboard.ranking import read_leaderboard
from sraven.metrics import SRAVENScoring
from sraven.references import CEILINGS

SRAVEN_SCORE, FUZZY_SCORE = import_module("sraven.metrics"), import_module("fuzzylogic.metrics")
SUBMISSIONS = REPOSITORY / "docs" / "leaderboard" / "submissions"
ENTRIES = {
    "fuzzylogic": SUBMISSIONS / "fuzzylogic-v1" / "20261121-constant-mean",
    "sraven": SUBMISSIONS / "sraven-v1" / "20261121-majority-symbol",
}
FEW = {"test": 20, "ood": 20}
YOUNGER = Metric(("novel", "instances"), lambda novel, n: novel / n)


@pytest.fixture
def younger_metric(monkeypatch):
    """Give both tasks a metric, before all others and with a column of its own, also by combination."""

    def with_column(outcomes):
        def changed(self, labels, predictions, answered, threads):
            found = outcomes(self, labels, predictions, answered, threads)
            return {"novel": np.sqrt(np.arange(len(predictions))), **found}

        return changed

    small_contents()  # boards that were frozen before
    for module, kind in ((SRAVEN_SCORE, SRAVENScoring), (FUZZY_SCORE, FuzzyLogicScoring)):
        monkeypatch.setattr(kind, "outcomes", with_column(kind.outcomes))
        [(version, names)] = module.BY_COMBINATION.items()
        monkeypatch.setattr(module, "BY_COMBINATION", {version: ("younger", *names)})
    make = SRAVEN_SCORE._make_metrics
    monkeypatch.setattr(SRAVEN_SCORE, "_make_metrics", lambda *about: {"younger": YOUNGER, **make(*about)})
    monkeypatch.setattr(FUZZY_SCORE, "METRICS", {"younger": YOUNGER, **FUZZY_SCORE.METRICS})
    monkeypatch.setattr(FuzzyLogicScoring, "metrics", FUZZY_SCORE.METRICS)


# Metrics


@pytest.mark.parametrize(("family", "more"), [("sraven", ()), ("fuzzylogic", ("--json",))])
def test_younger_metric_is_shown_beside_filed_scores_that_stay(family, more, younger_metric, run, tmp_path):
    entry = ENTRIES[family]
    code, out, err = run("score", entry, "--check", "--out", tmp_path / "scores.json", *more)
    assert (code, err) == (0, "")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert_filed_alike(scores, entry)
    if not more:
        assert "younger (younger than the board)" in out
        return
    found = json.loads(out)
    assert scores.items() <= found.items() and found["composing"]["metric"] == "r2_per_sequence"
    assert set(found["beside"]) == {"test", "ood"} and "younger" in found["beside"]["test"]
    mean = found["beside"]["ood"]["younger"]["mean"]
    assert mean == pytest.approx(np.sqrt(np.arange(16_384)).mean(), abs=1e-8)


def test_new_board_gets_all_metrics(younger_metric):
    made = make_board({**DEFINITIONS[1], "id": "fuzzylogic-younger-v1", "sizes": FEW}, train_digested=16)
    assert made["metrics"][0] == "younger" and Board.from_content(made).metrics_beside == ()


def test_metric_that_is_lacking_is_named():
    content = small_board(SRAVEN_BOARD).content
    board = Board.from_content({**content, "metrics": [*content["metrics"], "beauty", "wit"]})
    for ask in (lambda: board.metrics, lambda: board.score("ood", truth(board, "ood"))):
        assert_refused("scored by beauty, wit, which this sraven can't compute; ", ask, error=BoardError)


@pytest.mark.parametrize("name", [SRAVEN_BOARD, FUZZY_BOARD])
def test_metrics_use_all_columns(name):
    """So the columns that are summed, and how machines add them up, are those of the filed scores."""
    board = small_board(name)
    labels = board.labels("ood")
    outcomes = board.task.scoring.outcomes(
        labels, truth(board, "ood"), np.ones(board.splits["ood"], np.bool_), None
    )
    used = {column for metric in board.metrics for column in board.task.scoring.metrics[metric].summands}
    assert used == set(labels.summands) | set(outcomes)


# Gaps


def with_ceiling(value, **changes):
    """Return the small board of fuzzy logic with other ceilings on ood."""
    content = deepcopy(small_board(FUZZY_BOARD).content)
    for metrics in content["ceiling"]["ood"].values():
        for ceiling in metrics.values():
            ceiling["value"] = value
    return {**content, **changes}


def test_gap_is_how_much_worse_a_score_is():
    board = Board.from_content(with_ceiling(0.25))
    assert board.gap("ood", "r2", 0.5) is None  # no ceiling of it is known
    assert board.gap("ood", "r2_per_sequence", 0.125) == 0.125
    assert board.gap("ood", "mse", 0.375) == 0.125  # where less is better
    assert (board.gap("ood", "r2_per_sequence", 0.5), board.gap("ood", "mse", 0.125)) == (-0.25, 0.125 - 0.25)
    assert board.gap("ood", "mse", None) is None
    assert board.gap("ood", "mse", 0.1 + 0.2) == 0.05  # rounded as scores are


def test_reported_rows_have_the_gap_of_submissions(monkeypatch, tmp_path):
    definition = {**DEFINITIONS[1], **REPORTED, "metric": "mse", "sizes": FEW}
    reported = make_board(definition, train_digested=16)
    content = with_ceiling(0.25, metric="mse", higher_is_better=False, reference=reported["reference"])
    use_boards(monkeypatch, tmp_path / "boards", {FUZZY_BOARD: content})
    [standing] = read_leaderboard(tmp_path, only=FUZZY_BOARD).standings
    [row] = standing.entries
    assert (row.value, row.gap) == (0.55, 0.3)


# Ceilings


def sraven_ceiling(task, split, count, combinations, metric):
    assert metric == "accuracy"
    contexts = task.sample(split, 0, count).context.tolist()
    rows = combinations.tolist()
    found = (oracle.posterior(context, task.K, rows, task.permute) for context in contexts)
    return [float(max(each.values())) for each in found]  # what an answer as a whole promises


def fuzzy_ceiling(task, split, count, combinations, metric):
    batch, errors = task.sample(split, 0, count), []
    for inputs, targets in zip(batch.inputs, batch.targets, strict=True):
        points = [tuple(map(fuzzy_oracle.Fraction, point)) for point in inputs.tolist()]
        values = [fuzzy_oracle.Fraction(value) for value in targets.tolist()]
        found = fuzzy_oracle.agreeing(points, values, [tuple(row) for row in combinations.tolist()])
        error = float((sum(found) / len(found) - values[-1]) ** 2)
        errors.append(error if metric == "mse" else 1 - error / np.var(targets, dtype=np.float64))
    return errors


MEANINGS = {
    ("sraven", "joint"): (SRAVEN(M=2, K=5, holdout=0.25, seed=3), sraven_ceiling),
    ("fuzzylogic", "mean"): (FuzzyLogic(L=3, K=2, N=4, holdout=0.5, seed=3), fuzzy_ceiling),
}
"""By family and kind of answer: a task, and the score of such an observer on each instance."""


@pytest.mark.parametrize("split", ["test", "ood"])
@pytest.mark.parametrize("prior", KNOWS)
@pytest.mark.parametrize(("family", "answer"), MEANINGS)
def test_ceilings_are_what_their_words_say(family, answer, prior, split):
    task, compute = MEANINGS[family, answer]
    combinations = task.combinations(split if prior == "split" else "all")
    definition = task.references.answers[max(task.references.answers)]
    means = task.references.ceilings(split, 40, None)[KNOWS[prior]]
    assert set(means) == set(definition) and set(definition.values()) == {answer} <= set(ANSWERS)
    for metric, found in means.items():
        wanted = compute(task, split, 40, combinations, metric)
        assert found.value == pytest.approx(np.mean(wanted), abs=1e-9)
        assert found.standard_error == pytest.approx(np.std(wanted, ddof=1) / 40**0.5, abs=1e-9)


@pytest.mark.parametrize("name", board_ids())
def test_each_ceiling_of_a_board_has_a_meaning(name):
    board = read_board(name)
    answers, ceiling = "mean" if board.family == "fuzzylogic" else "joint", board.content["ceiling"]
    assert set(ceiling) == set(board.splits)
    for split, prior, metric in product(board.splits, KNOWS, board.metrics):
        listed = ceiling.get(split, {}).get(KNOWS[prior], {})
        expected = Ceiling(**listed[metric], knows=prior, answers=answers) if metric in listed else None
        assert board.ceiling(split, metric, prior) == expected


def test_definition_that_is_unknown_is_refused():
    board = Board.from_content({**small_board(SRAVEN_BOARD).content, "ceiling_definition": 2})
    with pytest.raises(BoardError, match="ceiling of accuracy by definition 2, which this sraven doesn't"):
        board.ceiling("ood", "accuracy")
    assert_refused(r"prior='nothing': .*'split', 'all comb", board.ceiling, "ood", "accuracy", "nothing")


def test_new_definition_is_named_by_new_boards_and_old_ones_keep_theirs(monkeypatch):
    definition = {**DEFINITIONS[0], "sizes": FEW}
    old = make_board(definition, train_digested=16)
    monkeypatch.setitem(CEILINGS, 2, {"accuracy": "mean"})
    new = make_board(definition, train_digested=16)
    assert "ceiling_definition" not in old and new["ceiling_definition"] == 2
    answers = [Board.from_content(content).ceiling("ood", "accuracy").answers for content in (old, new)]
    assert answers == ["joint", "mean"]
