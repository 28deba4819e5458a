"""Entries compared: differences, intervals, p, and what is counted; against loops and tables."""

import numpy as np
import pytest

from helpers.leaderboard_example import make_entry
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, only_boards, small_board, truth, write
from sraven import compare_submissions
from sraven.leaderboard.comparison import DRAWS, Difference, _over_seeds, compare_entries, correct, find_entry
from sraven.leaderboard.standing import Combinations
from sraven.scoring.bootstrap import draw_counts

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two submissions with two seeds each, the second of which gets more right; their predictions."""
    folder, board = tmp_path_factory.mktemp("pair"), small_board(SRAVEN_BOARD)
    names = {"weak": 0.3, "strong": 0.6}
    both = [
        {split: [better(board, split, seed, share) for seed in (0, 1)] for split in board.splits}
        for share in names.values()
    ]
    with only_boards(folder / "boards"):
        for name, predictions in zip(names, both, strict=True):
            write(folder / name, SRAVEN_BOARD, predictions=predictions, method={"name": name})
    return [folder / name for name in names], both


@pytest.fixture(scope="module")
def compared(pair, tmp_path_factory):
    """The first less the second."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        return compare_submissions(*pair[0])


def better(board, split, seed, share):
    """Return guesses some of which are replaced by the truth."""
    random, right = np.random.default_rng([seed, int(10 * share)]), truth(board, split)
    return np.where(random.random((len(right), 1)) < share, right, guesses(board, split, 7 + seed))


def test_differences_are_those_of_plain_numpy(pair, compared):
    predictions, board = pair[1], small_board(SRAVEN_BOARD)
    about = (compared.board, compared.methods, compared.seeds)
    assert about == (SRAVEN_BOARD, ("weak", "strong"), (2, 2))
    for split in board.splits:
        target, combination = truth(board, split), board.labels(split).arrays["combination"]
        right = [
            np.array([(np.asarray(run) == target).all(axis=1) for run in of_entry[split]])
            for of_entry in predictions
        ]
        means = [runs.mean() for runs in right]
        each = compared.splits[split]["accuracy"]
        assert (each.first, each.second) == pytest.approx(means)
        assert each.difference == pytest.approx(means[0] - means[1])
        counts = [(sum(a & ~b), sum(b & ~a)) for a in right[0] for b in right[1]]
        assert each.better == pytest.approx(np.mean(counts, axis=0))
        listed = np.unique(combination)
        times = draw_counts(len(listed), 0, DRAWS)[np.searchsorted(listed, combination)].astype(float)
        over_combinations = [(runs.mean(axis=0) @ times) / times.sum(axis=0) for runs in right]
        errors = [runs.mean(axis=1).std(ddof=1) / 2**0.5 for runs in right]
        over_seeds = _over_seeds((2, 2), tuple(errors))
        apart = np.subtract(*over_combinations)
        wanted = [np.quantile(apart + sign * over_seeds, [0.025, 0.975]) for sign in (1, -1)]
        assert any(np.allclose(each.interval, ends, atol=1e-6) for ends in wanted)
        assert (each.p <= 0.05) == (not each.interval[0] <= 0 <= each.interval[1])


def test_nothing_differs_from_itself_and_a_metric_that_is_not_defined_has_no_difference(tmp_path):
    """Nothing is wrong with one of its seeds, so no share of what is wrong is."""
    board = small_board(SRAVEN_BOARD)
    runs = {"ood": [truth(board, "ood"), guesses(board, "ood", 0)]}
    folder = write(tmp_path / "s", SRAVEN_BOARD, predictions=runs)
    found = compare_submissions(folder, folder).splits["ood"]
    assert found["valid_alternatives"] == Difference(None, None)
    same = found["accuracy"]
    assert (same.difference, same.is_better) == (0, False) and same.p > 0.9
    assert same.better[0] == same.better[1]


def test_the_other_way_round_is_the_same_with_the_other_sign(pair, compared):
    [first, second], _ = pair
    backward = compare_submissions(second, first)
    for split, metrics in compared.splits.items():
        for metric, each in metrics.items():
            other = backward.splits[split][metric]
            if each.difference is None:
                assert other == each
                continue
            assert (each.difference, each.p, each.corrected) == (-other.difference, other.p, other.corrected)
            assert each.interval == pytest.approx([-end for end in reversed(other.interval)])
            assert each.better == (other.better and other.better[::-1])


def test_what_ranks_is_planned_and_the_rest_is_corrected(compared):
    found = compared.splits
    assert found["ood"]["accuracy"].corrected == found["ood"]["accuracy"].p
    others = [each for metrics in found.values() for each in metrics.values()]
    assert any(each.corrected > each.p for each in others if each.p is not None)


def test_holm_by_hand():
    found = correct([Difference(0, 0, p=p) for p in (0.03, 0.01, 0.04, 0.9)] + [Difference(None, None)])
    assert [each.corrected for each in found] == [0.09, 0.04, 0.09, 0.9, None]
    assert [each.is_clear for each in found] == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("seeds", "errors", "spread", "most"),
    [
        ((3, 3), (1.0, 1.0), 2**0.5, 2.776),  # 4 degrees of freedom
        ((3, 1), (1.0, None), 2, 4.303),  # 2, and a seed of variance 3 beside a mean of variance 1
        ((3, 1), (1.0, 0.0), 1, 4.303),
        ((2, 2), (1.0, 0.0), 1, 12.706),  # 1
    ],
)
def test_seeds_have_the_tails_of_students_t(seeds, errors, spread, most):
    """What |t| passes in 5 % of cases, with the degrees of freedom by Welch."""
    assert (np.abs(_over_seeds(seeds, errors)) > most * spread).mean() == pytest.approx(0.05, abs=0.005)
    assert not _over_seeds(seeds, (None, None)).any()


MEANS = np.linspace(0, 0.9, 9)


def entry(name, more=0.0, error=0.001, means=MEANS):
    apart = Combinations((10,) * 9, tuple(means + more))
    return make_entry(name, 0.45 + more, combinations=apart, standard_error=error, digest=name)


def test_entries_of_the_standing_are_compared_by_the_same_combinations():
    """One is ahead on each of them, whichever are drawn; apart, their intervals overlap widely."""
    others = [entry("b"), entry("c", error=0.05), entry("d", means=MEANS[::-1])]
    clear, *unsure = compare_entries(entry("a", 0.02), others, higher_is_better=True)
    assert clear.is_clear and clear.is_better and clear.difference == pytest.approx(0.02)
    assert not any(each.is_clear for each in unsure)
    assert all(each.interval[0] < 0 < each.interval[1] for each in unsure)


def test_who_else_is_there_and_who_is_asked_for_changes_no_draw():
    a, b, c = entry("a", 0.01), entry("b", error=0.02), entry("c", means=MEANS[::-1])
    [alone], [backward] = (compare_entries(x, [y], higher_is_better=True) for x, y in ((a, b), (b, a)))
    beside = compare_entries(a, [c, b], higher_is_better=True)[1]
    assert (beside.interval, beside.p) == (alone.interval, alone.p) and alone.p == backward.p
    assert alone.interval == pytest.approx([-end for end in reversed(backward.interval)])


def test_entries_are_found_by_name_and_what_is_not_is_refused(pair, leaderboard, tmp_path):
    first, fuzzy = pair[0][0], write(tmp_path / "fuzzy", FUZZY_BOARD)
    filed = leaderboard / "submissions" / SRAVEN_BOARD / "20261121-weak"
    filed.mkdir(parents=True)
    for name in (filed, filed.name, f"{SRAVEN_BOARD}/{filed.name}"):
        assert find_entry(name, leaderboard) == filed
    for other, message in (
        ("nothing", "nothing is neither a directory nor a filed entry below"),
        (fuzzy, f"is for {SRAVEN_BOARD} and .* for {FUZZY_BOARD}; compare entries of one board"),
    ):
        assert_refused(message, compare_submissions, first, other, leaderboard=leaderboard)
    twin = filed.parent.with_name("other-board") / filed.name
    twin.mkdir(parents=True)
    message = f"{filed.name} is filed for other-board, {SRAVEN_BOARD}; write BOARD/{filed.name}"
    assert_refused(message, compare_submissions, filed.name, first, leaderboard=leaderboard)
