"""Eligibility: each rule by itself, and the bounds that it rests on."""

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from helpers.evidence_example import make_evidence, random_predictions, score
from helpers.standings import entries_of, judged
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, truth
from sraven.board.board import board_ids, read_board
from sraven.leaderboard.copies import equal_seeds, find_borrowing, find_sources, is_copy
from sraven.leaderboard.eligibility import (
    CEILING_ERRORS,
    ELIGIBILITY_RULES,
    find_remarks,
    judge_submission,
    reasons_unranked,
)
from sraven.leaderboard.entries import entry_of
from sraven.leaderboard.evidence import most_agreement, run_name


def why_unranked(evidence):
    return [each.reason for each in reasons_unranked(evidence)]


def reasons(**options):
    return why_unranked(make_evidence(**options))


def seeds(test, ood):
    return {"seeds": {"test": test, "ood": ood}}


def alike(split):
    same = random_predictions(small_board(SRAVEN_BOARD), split, 7)
    return {"predictions": {f"{split}/0": same, f"{split}/2": same}}


OTHER_SEEDS = "its splits have other seeds: "
CHOSEN = "chosen by its scores on held-out combinations"
UNNAMED = "chosen among several settings by a split that it doesn't name"
TOLD = "a learnt ceiling: it is told what the ranked networks have to find out"


@pytest.mark.parametrize(
    ("options", "rule", "reason"),
    [
        ({}, None, None),
        ({"board": small_board(FUZZY_BOARD)}, None, None),
        (seeds((5, 7, 6), (7, 6, 5)), None, None),
        (
            seeds((0, 1, 2), (1, 2, 3)),
            "other seeds",
            OTHER_SEEDS + "test has seed 0 alone; ood has seed 3 alone",
        ),
        (seeds((0, 1, 2, 8, 9), (0, 1, 2)), "other seeds", OTHER_SEEDS + "test has seed 8, 9 alone"),
        (seeds((0, 1, 2), ()), "seeds", "fewer than 3 seeds on ood"),
        (seeds((0, 1), (0, 1, 2)), "seeds", "fewer than 3 seeds on test"),
        ({"training": {"extra_data": "the web"}}, "data", "used extra data"),
        ({"training": {"instances": 4_001}}, "budget", "trained on more than 4,000 instances"),
        ({"training": {"selection_split": "ood"}}, "selection", CHOSEN),
        *(({"training": {"selection_split": split}}, None, None) for split in ("test", "train")),
        ({"training": {"selection_split": None, "tuning_trials": 1}}, None, None),
        ({"training": {"selection_split": None, "tuning_trials": 500}}, "selection", UNNAMED),
        ({"training": {"instances": 0}}, "budget", "says that it was trained on nothing"),
        (alike("test"), "equal seeds", "seeds 0 and 2 predict the same on test"),
        (alike("ood"), "equal seeds", "seeds 0 and 2 predict the same on ood"),
        ({"method": {"family": "reference"}, **alike("test")}, "reference", "a reference, not a model"),
        ({"method": {"family": "learnt ceiling"}}, "learnt ceiling", TOLD),
        # Of which one seed learns, that is no guesswork.
        ({"scores": {"ood": {"accuracy": [0.9, 0.008, 0.008]}}}, None, None),
    ],
)
def test_who_breaks_a_rule_is_told_so_and_what_to_do(options, rule, reason):
    found = judge_submission(make_evidence(**options))
    if "board" in options:
        first, *found = found
        assert first.rule == "diagnostic" and FUZZY_BOARD in first.reason
    assert [(each.rule, each.reason) for each in found] == ([(rule, reason)] if rule else [])
    assert [each.advice for each in found] == [ELIGIBILITY_RULES[each.rule].advice for each in found]


# The ceiling

WITH_CEILINGS = [board for board in board_ids() if read_board(board).metric == "accuracy"]


def bound(ceiling, error, n):
    return ceiling + CEILING_ERRORS * sqrt(error**2 + ceiling * (1 - ceiling) / n)


def ceilings(board):
    """Yield the splits of a board with the ceilings of its metric that chance can pass."""
    for split, size in board.splits.items():
        known = board.content["ceiling"][split]["knowing_split"][board.metric]
        if known["value"] < 1:
            yield split, known["value"], known["standard_error"], size


@pytest.mark.parametrize("board_id", WITH_CEILINGS)
def test_ideal_observer_passes_the_bound_less_than_once_in_a_million(board_id):
    """Chernoff's bound for a sum of independent right answers, for 20 seeds on two splits."""
    for _, ceiling, error, n in ceilings(read_board(board_id)):
        most = bound(ceiling, error, n)
        divergence = most * log(most / ceiling) + (1 - most) * log((1 - most) / (1 - ceiling))
        assert 20 * 2 * exp(-n * divergence) < 1e-6


@pytest.mark.parametrize("split", ["test", "ood"])
def test_score_beyond_the_ceiling_is_a_sign_of_leaked_labels(split):
    board = read_board("sraven-v1")
    [(ceiling, error, n)] = [found[1:] for found in ceilings(board) if found[0] == split]
    most = bound(ceiling, error, n)
    for value in (ceiling, most):
        assert reasons(board=board, scores={split: {"accuracy": [0.5, value, 0.5]}}) == []
    for value in (most + 1e-5, 1.0):
        [reason] = reasons(board=board, scores={split: {"accuracy": [0.5, value, 0.5]}})
        assert reason == (
            f"its accuracy on {split} is {value:.4f}, where an ideal observer reaches {ceiling:.4f} and no "
            f"more than {most:.4f} by chance: a sign of leaked labels"
        )


def test_labels_spoilt_to_stay_below_the_ceiling_show_on_ambiguous_instances():
    """Whoever copies labels and gets one in ten wrong at random is right where nobody can be."""
    board = read_board("sraven-v1")
    totals = {"ood": {"ambiguous": 12_397.0}}  # of the 51,200 instances
    honest = {"accuracy": [0.9278] * 3, "accuracy_ambiguous": [0.7017] * 3}
    assert reasons(board=board, scores={"ood": honest}, totals=totals) == []
    spoilt = {"accuracy": [0.9] * 3, "accuracy_ambiguous": [0.9] * 3}
    [reason] = reasons(board=board, scores={"ood": spoilt}, totals=totals)
    assert reason.startswith("its accuracy_ambiguous on ood is 0.9000, where an ideal observer reaches 0.77")


@pytest.mark.parametrize("board_id", ["sraven-unique-v1", "sraven-m8-v1", "fuzzylogic-v1"])
def test_where_everything_can_be_right_nothing_is_beyond(board_id):
    board = read_board(board_id)
    scores = {split: {board.metric: [1.0] * 3} for split in board.splits}
    assert reasons(board=board, scores=scores) == []


# Chance


def reaching(board, low, high):
    """Return evidence whose interval on ``ood`` is this one, and whose seeds score what it ends with."""
    evidence = make_evidence(board=board)
    found = evidence.scores["splits"]["ood"]["metrics"]
    found[board.metric] = {**score([high] * 3), "interval": [low, high]}
    return evidence


@pytest.mark.parametrize(
    ("board_id", "chance", "floor"),
    [
        ("sraven-v1", 8**-4, "nearest combination, 0.2356"),
        ("sraven-camps3-v1", 8**-3, "nearest combination, 0.1626"),
        ("fuzzylogic-v1", 0.0, "Gaussian process and known terms, 0.9240"),
        (SRAVEN_BOARD, 5**-3, None),
    ],
)
def test_guesswork_has_no_rank(board_id, chance, floor):
    below = [f"not clearly better than what composes nothing ({floor})"] if floor else []
    board = small_board(board_id) if board_id == SRAVEN_BOARD else read_board(board_id)
    for low, reason in ((chance, [f"no better than chance, which is {chance:.4g}"]), (chance + 1e-9, below)):
        assert why_unranked(reaching(board, low, chance + 2e-4)) == reason


@pytest.mark.parametrize(
    ("low", "is_ranked", "is_remarked"),
    [(0.9239, False, True), (0.9241, True, True), (0.975, True, True), (0.976, True, False)],
)
def test_what_composes_nothing_is_to_be_surpassed_by_the_whole_interval(low, is_ranked, is_remarked):
    """But what is behind the symmetry alone is ranked, with a remark."""
    evidence = reaching(read_board("fuzzylogic-v1"), low, 0.99)
    assert (why_unranked(evidence) == []) is is_ranked
    remark = "not clearly better than what knows the symmetry and composes nothing (0.9756)"
    assert find_remarks(evidence) == [remark] * is_remarked


# Points of a grid


def test_points_belong_to_one_entry_and_test_chooses_among_them():
    entry = make_evidence(scores={"test": {"accuracy": [0.6] * 3}, "ood": {"accuracy": [0.3] * 3}})
    entry.content["points"] = [{"name": "rate 0.003", "scores": {"test": 0.5, "ood": 0.7}}]
    assert why_unranked(entry) == [] and entry_of("x/20261121-a", entry).grid_range == (0.7, 0.7)
    entry.content["points"].append({"name": "rate 0.01", "scores": {"test": 0.61, "ood": 0.1}})
    assert why_unranked(entry) == ["test chooses another point of its grid, rate 0.01"]
    entry.content["training"] = {**entry.content["training"], "selection_split": None}
    assert "by a split that it doesn't name" in why_unranked(entry)[0]


# Predictions that are those of another entry, or of another seed


SPLITS, SEEDS = ("test", "ood"), range(3)


def copies(entries, *place):
    """Return of which entries each is a copy."""
    sources = find_sources(entries, *place)
    return {one: [name for name in sources[one] if is_copy(entries[one], entries[name])] for one in entries}


def found(*entries):
    """Return the copies among entries, by the names of their methods."""
    return copies({entry.content["method"]["name"]: entry for entry in entries})


def runs_of(evidence, change=lambda array: array, order=SEEDS):
    """Return the predictions of an entry as those of another one, changed, its seeds in another order."""
    return {
        run_name(split, seed): change(evidence.predictions[run_name(split, other)])
        for split in evidence.board.splits
        for seed, other in zip(SEEDS, order, strict=True)
    }


@pytest.fixture
def entry():
    return make_evidence("honest")


def test_same_predictions_are_told_to_both_whatever_the_seeds_are_called(entry):
    for order in (SEEDS, (2, 0, 1)):
        copy = make_evidence("copy", predictions=runs_of(entry, order=order))
        copies = found(entry, make_evidence("other"), copy)
        assert copies == {"honest": ["copy"], "other": [], "copy": ["honest"]}


def test_one_copied_run_is_enough_even_where_a_split_is_missing(entry):
    for name in (run_name(split, seed) for split in SPLITS for seed in SEEDS):
        copy = make_evidence("copy", predictions={name: entry.predictions[name]})
        assert found(entry, copy)["copy"] == ["honest"], name
    copy = make_evidence("copy", seeds={"test": (), "ood": (4,)})
    copy.predictions[run_name("ood", 4)] = entry.predictions[run_name("ood", 1)]
    assert found(entry, copy)["copy"] == ["honest"]


def test_of_two_the_later_is_the_copy_and_what_replaces_another_is_none(entry):
    """Neither of a confirmed successor of it, nor of what copied it meanwhile."""
    name = entry.content["method"]["name"]
    copied = {name: array for name, array in entry.predictions.items() if "2" not in name}
    copy, more = (make_evidence(each, predictions=copied) for each in ("copy", "more"))
    entries = {name: entry, "copy": copy, "more": more}
    both = {name: [], "copy": [name, "more"], "more": [name, "copy"]}
    assert copies(entries, {name: 3}) == copies(entries, {name: 3}, {}, ["copy", "more"]) == both
    assert copies(entries, {name: 3, "copy": 4, "more": 5}) == {**both, "copy": [name]}
    for order in ({name: 3}, {}):  # what came at once isn't from its successor either
        replaced = copies(entries, order, {name: "more"})
        assert replaced["more"] == [] and replaced[name] == ([] if order else ["copy"])


def test_reference_predictors_are_from_nobody(entry):
    same = make_evidence("same", method={"family": "reference"}, predictions=runs_of(entry))
    assert found(entry, same) == {"honest": ["same"], "same": []}


@pytest.mark.parametrize(("changed", "is_copy"), [(1, True), (250, True), (251, False)])
def test_nearly_the_same_is_a_copy(changed, is_copy):
    """On 5,000 instances of which half are wrong, a tenth of the errors are 250."""
    board = small_board(SRAVEN_BOARD)
    board = replace(board, covered={name: replace(board.covered[name], instances=5_000) for name in SPLITS})
    entry, other = make_evidence("honest", board), np.arange(5_000)[:, None] < changed
    copy = make_evidence("copy", board, predictions=runs_of(entry, lambda array: (array + other) % 5))
    assert found(entry, copy)["copy"] == (["honest"] if is_copy else [])


def test_perfect_predictions_are_equal_of_necessity():
    board = small_board(SRAVEN_BOARD)
    right = {run_name(split, seed): truth(board, split) for split in SPLITS for seed in SEEDS}
    scores = {split: {"accuracy": [1.0] * 3} for split in SPLITS}
    first, second = (make_evidence(name, predictions=right, scores=scores) for name in ("one", "two"))
    assert found(first, second) == {"one": [], "two": []} and equal_seeds(first) == ""


@pytest.mark.parametrize(("noise", "is_copy"), [(0.0, True), (0.019, True), (0.021, False)])
def test_numbers_that_are_nudged_are_a_copy(noise, is_copy):
    board = small_board(FUZZY_BOARD)
    errors = {split: {"mse": [0.04] * 3} for split in SPLITS}
    entry = make_evidence("honest", board, scores=errors)
    nudged = runs_of(entry, lambda array: array + np.float32(noise))
    copy = make_evidence("copy", board, scores=errors, predictions=nudged)
    assert found(entry, copy)["copy"] == (["honest"] if is_copy else [])


# Seeds of one network


def agreeing(board_id, runs):
    """Return evidence whose agreement is that of some runs on ``ood``, and why it isn't ranked."""
    board = small_board(board_id)
    errors, labels = board.task.scoring.comparison.errors, board.labels("ood").arrays
    found = most_agreement(board, {n: errors(labels, run) for n, run in enumerate(runs)})
    return found, why_unranked(replace(make_evidence(board=board), agreement={"ood": found}))


@pytest.mark.parametrize("changed", [0.0, 0.012, 0.5, 1.0])
def test_one_network_as_three_seeds_is_flagged_whatever_wrong_answers_are_changed(changed):
    """To change wrong answers costs no score; what is wrong stays so."""
    board, random = small_board(SRAVEN_BOARD), np.random.default_rng(1)
    right = truth(board, "ood")
    wrong = random.random(len(right)) < 0.4
    runs = []
    for _ in range(3):
        moved = np.where(random.random(len(right)) < changed, random.integers(1, 5, len(right)), 1)
        runs.append(((right + (wrong * moved)[:, None]) % 5).astype(np.uint8))
    (_, _, agreement), [reason] = agreeing(SRAVEN_BOARD, runs)
    assert agreement == 1 and "err alike on ood (agreement 1.000" in reason and "maintainer" in reason
    apart = [(right + (random.random(len(right)) < 0.4)[:, None]) % 5 for _ in range(3)]
    (_, _, agreement), reasons_apart = agreeing(SRAVEN_BOARD, apart)
    assert abs(agreement) < 0.3 and reasons_apart == []


@pytest.mark.parametrize(("noise", "is_flagged"), [(0.0, True), (0.1, True), (1.0, False)])
def test_one_network_with_noise_is_flagged(noise, is_flagged):
    board, random = small_board(FUZZY_BOARD), np.random.default_rng(1)
    right = truth(board, "ood")
    error = 0.1 * random.standard_normal(len(right))
    runs = [right + error + noise * 0.1 * random.standard_normal(len(right)) for _ in range(3)]
    _, found = agreeing(FUZZY_BOARD, runs)
    assert any("err alike" in reason for reason in found) is is_flagged


# Predictions that are made of those of others


def network(board, seed):
    """Return predictions like those of a network: a third is right, and half of the wrong ones are common."""
    right, random = truth(board, "ood"), np.random.default_rng(seed)
    if right.ndim == 1:
        return (right + 0.1 * random.standard_normal(len(right))).astype(np.float32)
    common, own = (right + 1) % 5, random.integers(0, 5, right.shape)
    kind = random.choice(3, len(right))[:, None]
    return np.select([kind == 0, kind == 1], [right, common], own).astype(np.uint8)


def made_of(board_id, runs):
    """Return evidence with three runs on ``ood``, random ones on ``test``."""
    board = small_board(board_id)
    kind, labels = board.task.scoring.comparison, board.labels("ood").arrays
    named = {run_name("ood", n): run for n, run in enumerate(runs)}
    evidence = make_evidence(f"{board_id} {runs[0].sum()}", board, predictions=named)
    return replace(evidence, mistakes={name: kind.errors(labels, run) for name, run in named.items()})


def plurality(runs):
    """Return of each instance what most runs say, and a mean of numbers."""
    if runs[0].ndim == 1:
        return np.mean(runs, axis=0)
    votes = np.sum([[(one == other).all(axis=1) for other in runs] for one in runs], axis=1)
    return np.stack(runs)[votes.argmax(axis=0), np.arange(len(runs[0]))]


@pytest.fixture(params=[SRAVEN_BOARD, FUZZY_BOARD])
def pool(request, small_boards):
    """A board, and three entries of its networks."""
    board = small_board(request.param)
    runs = [[network(board, [entry, seed]) for seed in SEEDS] for entry in range(3)]
    return request.param, {f"filed {n}": made_of(request.param, each) for n, each in enumerate(runs)}, runs


def test_networks_and_ensembles_of_ones_own_are_from_nobody(pool):
    board, filed, _ = pool
    own = [[network(small_board(board), [9, ensemble, n]) for n in range(3)] for ensemble in SEEDS]
    for mine in (own[0], [plurality(each) for each in own]):
        assert find_borrowing(made_of(board, mine), filed) == ""
    for name, entry in filed.items():
        assert find_borrowing(entry, {other: each for other, each in filed.items() if other != name}) == ""


def test_a_vote_over_filed_predictions_is_found_without_its_labels(pool):
    board, filed, runs = pool
    votes = [plurality([each for entry in runs for each in entry][n : n + 6]) for n in SEEDS]
    said = find_borrowing(made_of(board, votes), filed)
    assert "errs as others do together on ood (a share of 1.000" in said and "maintainer" in said
    for each in filed.values():
        each.content["method"]["family"] = "reference"
    assert find_borrowing(made_of(board, votes), filed) == find_borrowing(made_of(board, votes), {}) == ""


def test_a_copy_of_which_a_ninth_of_the_wrong_answers_was_replaced_is_found(small_boards):
    board = small_board(SRAVEN_BOARD)
    kind, labels = board.task.scoring.comparison, board.labels("ood").arrays
    victim, other = (network(board, seed) for seed in (1, 2))
    wrong = kind.errors(labels, victim)
    copy, random = victim.copy(), np.random.default_rng(3)
    chosen = random.permutation(np.flatnonzero(wrong))[: round(0.11 * wrong.sum())]
    copy[chosen] = (truth(board, "ood")[chosen] + random.integers(2, 5, (len(chosen), 1))) % 5
    runs = [(run, kind.errors(labels, run)) for run in (copy, victim, other)]
    assert kind.distance(copy, victim) > kind.share * wrong.mean()  # no copy as two runs are compared
    assert kind.borrowed(runs[0], runs[1:]) > kind.most_borrowed
    assert kind.borrowed(runs[0], runs[2:]) < kind.most_borrowed and kind.borrowed(runs[0], []) == 0
    filed = {"victim": made_of(SRAVEN_BOARD, [victim] * 3)}
    assert "errs like victim on ood (agreement 1.000" in find_borrowing(made_of(SRAVEN_BOARD, [copy]), filed)


def test_what_is_made_of_others_has_no_rank_until_a_maintainer_has_looked(small_boards):
    board = small_board(SRAVEN_BOARD)
    runs = [network(board, seed) for seed in range(9)]
    filed = {f"{n}": made_of(SRAVEN_BOARD, runs[n : n + 3]) for n in (0, 3, 6)}
    vote = made_of(SRAVEN_BOARD, [plurality(runs[n : n + 6]) for n in SEEDS])
    before = judged(filed)
    for looked, rank in (((), None), (("vote",), 1)):
        after = entries_of(judged({**filed, "vote": vote}, before=before, apart=looked))
        assert {entry.id: entry.rank for entry in after} == {"0": 1, "3": 1, "6": 1, "vote": rank}
    [own] = [each for each in entries_of(judged(filed, {"mine": vote}, before=before)) if each.own]
    assert own.rank is None and "errs as others do together" in own.remark


def test_a_maintainer_lifts_the_flag(small_boards):
    alike = replace(make_evidence("a"), agreement={"ood": (0, 1, 0.99)})
    [[entry], [looked]] = (entries_of(judged({"x": alike}, apart=names)) for names in ((), ("x",)))
    assert (entry.rank, looked.rank, looked.remark) == (None, 1, "")
