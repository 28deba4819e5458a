"""The tallies of sorted errors: they count what scores count, and conserve it."""

from collections import Counter

import numpy as np
import pytest

from helpers import error_oracle, oracle
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, small_board
from sraven import SRAVEN, ConfigurationError
from sraven.core.tasks.families import diagnosis_of
from sraven.errors import KINDS

COLUMNS = (*KINDS, "missing")
COUNT = 200


@pytest.fixture(scope="module")
def tallied():
    """A task, its labels, predictions of all kinds, which of them are there, and their tallies."""
    task, random = SRAVEN(M=3, K=4, holdout=0.9, seed=1), np.random.default_rng(2)
    batch = task.sample("ood", 0, COUNT)
    labels = task.scoring.labels(batch, None)
    panels = np.where(random.random((COUNT, 3)) < 0.7, batch.target, random.integers(0, 4, (COUNT, 3)))
    panels[:50] = task.ideal_observer(batch)[0][:50]
    panels[50:100] = random.permuted(batch.target[50:100], axis=1)
    answered = random.random(COUNT) < 0.9
    tallies = diagnosis_of(task).tally(labels, panels.astype(np.uint8), answered, None)
    return task, batch, panels.astype(np.uint8), answered, tallies


def slow_tallies(task, batch, panels, answered):
    """Return the tallies as Counters of (row, column), by loops; a column None stands for what is right."""
    found = {name: Counter() for name in ("overall", "answers", "distance", "rules")}
    known = task.combinations("train").tolist()
    names = [rule.name for rule in task.rules]
    columns = zip(*(array.tolist() for array in tuple(batch)), strict=True)
    for n, (context, target, rules, permutations, _) in enumerate(columns):
        panel, answers = panels[n].tolist(), len(oracle.answers(context, task.K, True))
        kind = error_oracle.kind(context, rules, permutations, panel, task.K, True)
        kind = (None if kind == "right" else kind) if answered[n] else "missing"
        found["overall"]["all", kind] += 1
        bounds = {1: "1", 2: "2", 4: "3 to 4", 8: "5 to 8", 16: "9 to 16"}
        row = next((name for most, name in bounds.items() if answers <= most), "17 and more")
        found["answers"][row, kind] += 1
        found["distance"][str(error_oracle.distance(rules, known)), kind] += 1
        followed = error_oracle.followed(context, rules, permutations, panel, task.K)
        for p, feature in enumerate(permutations[2]):
            column = {0: "no rule", 1: names[min(followed[p], default=0)]}.get(
                len(followed[p]), "several rules"
            )
            if kind in ("missing", "valid alternative", "correspondence"):
                column = kind
            right = panel[p] == target[p] and answered[n]
            found["rules"][names[rules[feature]], None if right else column] += 1
    return found


def test_tallies_equal_a_loop_over_the_instances(tallied):
    task, batch, panels, answered, tallies = tallied
    expected = slow_tallies(task, batch, panels, answered)
    assert list(tallies) == list(expected)
    for name, tally in tallies.items():
        totals = Counter()
        for (row, _), count in expected[name].items():
            totals[row] += count
        assert dict(zip(tally.rows, tally.totals.tolist(), strict=True)) == totals
        counts = {
            (row, column): int(tally.counts[r, c])
            for r, row in enumerate(tally.rows)
            for c, column in enumerate(tally.columns)
        }
        assert {cell: count for cell, count in counts.items() if count} == {
            cell: count for cell, count in expected[name].items() if cell[1]
        }
    assert (tallies["overall"].counts > 0).all()  # each kind comes up
    assert len(tallies["distance"].rows) > 1 and len(tallies["answers"].rows) > 3


def test_tallies_conserve_what_scores_count(tallied):
    task, batch, panels, answered, tallies = tallied
    outcomes = task.scoring.outcomes(task.scoring.labels(batch, None), panels, answered, None)
    for name in ("overall", "answers", "distance"):
        tally = tallies[name]
        assert tally.columns == COLUMNS and tally.unit == "instances"
        assert (tally.totals.sum(), tally.counts.sum()) == (COUNT, outcomes["wrong"].sum())
    assert tallies["overall"].counts[0, 0] == outcomes["wrong_but_valid"].sum()
    rules = tallies["rules"]
    assert rules.unit == "features" and rules.totals.sum() == 3 * COUNT
    for row, name in enumerate(rules.rows):
        assert rules.counts[row].sum() == rules.totals[row] - outcomes[f"right.{name}"].sum()


def test_board_and_task_give_the_same_for_the_same_predictions():
    board = small_board(SRAVEN_BOARD)
    predictions = guesses(board, "ood", 0)
    found = board.diagnose("ood", predictions)
    assert found == board.task.diagnose("ood", predictions)
    assert found == board.task.diagnose(board.task.split("ood", len(predictions)), predictions)
    score = board.score("ood", predictions).metrics
    assert found.overall.wrong.mean == pytest.approx(1 - score["accuracy"].mean)
    assert found.overall.of_wrong["valid alternative"].mean == score["valid_alternatives"].mean
    assert sum(share.mean for share in found.overall.of_wrong.values()) == pytest.approx(1)


def test_perfect_predictions_leave_nothing_to_sort():
    board = small_board(SRAVEN_BOARD)
    overall = board.diagnose("ood", board.labels("ood").arrays["target"]).overall
    assert (overall.wrong.counts, overall.wrong.mean) == ((0,), 0.0)
    assert {share.mean for share in overall.of_wrong.values()} == {None}


def test_task_without_a_diagnosis_says_so():
    board = small_board(FUZZY_BOARD)
    for call in (board.diagnose, board.task.diagnose):
        with pytest.raises(
            ConfigurationError, match="nothing sorts the wrong answers of the task fuzzylogic"
        ):
            call("ood", guesses(board, "ood", 0))


def test_bad_predictions_are_told_as_by_score():
    with pytest.raises(ConfigurationError, match=r"predictions of ood .*\[199\].*\[199, 3\]"):
        small_board(SRAVEN_BOARD).diagnose("ood", np.zeros(199, int))
