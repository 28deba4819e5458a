"""The standing: who is ranked, in which order, and why others aren't."""

import hashlib
import json
import shutil
from dataclasses import replace
from datetime import date

import pytest

from helpers.evidence_example import stated
from helpers.submissions import (
    FUZZY_BOARD,
    SRAVEN_BOARD,
    edit,
    only_boards,
    small_board,
    small_contents,
    use_boards,
)
from sraven import ConfigurationError
from sraven.core.boards.board import read_board
from sraven.core.leaderboard.ranking import ceiling, read_leaderboard
from sraven.core.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")

LAST = date(2026, 12, 31)


@pytest.fixture(scope="module")
def filed(originals, tmp_path_factory):
    """A filed submission to each small board; tests only read them."""
    leaderboard = tmp_path_factory.mktemp("filed")
    with only_boards(tmp_path_factory.mktemp("boards")):
        return {
            board: file_submission(folder, leaderboard, day=date(2026, 11, 22))
            for board, folder in originals.items()
        }


@pytest.fixture
def enter(filed, tmp_path):
    """File another entry by hand: its description is edited, and its scores are for it."""

    def enter(name, value=None, change=lambda content: None, board=SRAVEN_BOARD, day="20261123"):
        folder = shutil.copytree(filed[board], tmp_path / "submissions" / board / f"{day}-{name}")

        def both(content):
            content["method"]["name"] = name
            change(content)

        edit(folder, both)
        rescore(folder, value)
        return folder

    return enter


def rescore(folder, value=None, change=lambda scores: None):
    """Make the scores beside a submission those of its description; the primary one can be given."""
    scores = json.loads((folder / "scores.json").read_text())
    scores["submission_digest"] = hashlib.sha256((folder / "submission.yaml").read_bytes()).hexdigest()
    if value is not None:
        metric = small_contents()[scores["board"]]["metric"]
        scores["splits"]["ood"]["metrics"][metric].update(mean=value, interval=[value - 0.05, value + 0.05])
    change(scores)
    (folder / "scores.json").write_text(json.dumps(scores))


def read(tmp_path, board=None):
    """Return the leaderboard as if the scores beside its entries were those of their predictions."""
    return read_leaderboard(tmp_path, board, last=LAST, pins={}, gather=stated)


def standing(tmp_path, board=SRAVEN_BOARD):
    found = read(tmp_path, board)
    [standing] = found.standings
    assert standing.board.id == board and found.faults == ()
    return standing.entries


def by_name(entries):
    return {entry.method: entry for entry in entries}


def test_entry_says_what_was_filed(filed, enter, tmp_path):
    folder = enter("hyla")
    edit(
        folder,
        lambda content: content["method"].update(paper="https://x.org/p", code="http://x.org/c", family="f"),
    )
    rescore(folder)
    scores = json.loads((folder / "scores.json").read_text())["splits"]
    entry = by_name(standing(tmp_path))["hyla"]
    accuracy = scores["ood"]["metrics"]["accuracy"]
    assert entry.id == f"{SRAVEN_BOARD}/20261123-hyla" and entry.date == "2026-11-23"
    assert (entry.family, entry.description, entry.badge) == ("f", "It guesses.", "scored")
    assert (entry.rank, entry.remark, entry.seeds) == (1, "", 3)
    assert (entry.value, entry.standard_error) == (accuracy["mean"], accuracy["standard_error"])
    assert entry.interval == tuple(accuracy["interval"])
    best = small_contents()[SRAVEN_BOARD]["ceiling"]["ood"]["knowing_split"]["accuracy"]["value"]
    assert entry.gap == pytest.approx(best - entry.value)
    assert (entry.parameters, entry.train_instances, entry.budget) == (1_000, 1_500, 2_000)
    assert (entry.paper, entry.code) == ("https://x.org/p", "http://x.org/c")
    assert entry.splits == {
        split: {metric: score["mean"] for metric, score in found["metrics"].items()}
        for split, found in scores.items()
    }


def test_ranks_count_apart_for_each_budget(enter, tmp_path):
    def trained_on(instances):
        return lambda content: content["training"].update(instances=instances)

    enter("a", 0.3, trained_on(1_000))
    enter("b", 0.5, trained_on(1_001))
    enter("c", 0.9, trained_on(2_000))
    enter("d", 0.7, trained_on(2_000))
    enter("e", 0.8, trained_on(4_000))
    enter("f", 0.1, trained_on(0))
    entries = standing(tmp_path)
    scored = [entry for entry in entries if entry.badge == "scored"]
    assert [(entry.method, entry.budget, entry.rank) for entry in scored] == [
        ("c", 2_000, 1),
        ("e", 4_000, 1),
        ("d", 2_000, 2),
        ("b", 2_000, 3),
        ("a", 1_000, 1),
        ("f", 1_000, 2),
    ]
    values = [entry.value for entry in entries]
    assert values == sorted(values, reverse=True)


def drop_seeds(split, kept):
    def change(content):
        content["runs"] = [run for run in content["runs"] if run["split"] != split or run["seed"] < kept]

    return change


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (lambda content: content["method"].update(family="reference"), "a reference, not a model"),
        (drop_seeds("ood", 2), "fewer than 3 seeds on ood"),
        (drop_seeds("test", 2), "fewer than 3 seeds on test"),
        (drop_seeds("test", 0), "fewer than 3 seeds on test"),
        (lambda content: content["training"].update(extra_data="the web"), "used extra data"),
        (
            lambda content: content["training"].update(selection_split="ood"),
            "chosen by its scores on held-out combinations",
        ),
        (lambda content: content["training"].update(instances=4_001), "trained on more than 4,000 instances"),
    ],
)
def test_entry_that_is_not_ranked_says_why(change, remark, enter, tmp_path):
    enter("a", 0.9, change)
    enter("b", 0.5)
    found = by_name(standing(tmp_path))
    assert (found["a"].rank, found["a"].remark) == (None, remark)
    assert (found["b"].rank, found["b"].remark) == (1, "")
    if "more than" in remark or "reference" in remark:
        assert found["a"].budget is None


def test_all_reasons_are_given(enter, tmp_path):
    def change(content):
        content["training"].update(extra_data="x", instances=10**9)
        drop_seeds("ood", 1)(content)

    enter("a", 0.9, change)
    remark = by_name(standing(tmp_path))["a"].remark
    assert remark == "fewer than 3 seeds on ood; used extra data; trained on more than 4,000 instances"


def test_entry_without_the_primary_split_comes_last(enter, tmp_path):
    def without_ood(content):
        drop_seeds("ood", 0)(content)

    folder = enter("a", None, without_ood)
    rescore(folder, change=lambda scores: scores["splits"].pop("ood"))
    enter("b", 0.0)
    entries = standing(tmp_path)
    last = entries[-1]
    assert (last.method, last.value, last.interval, last.gap, last.seeds, last.rank) == (
        "a",
        None,
        None,
        None,
        0,
        None,
    )
    assert last.remark == "fewer than 3 seeds on ood" and set(last.splits) == {"test"}


def test_reported_rows_have_no_rank(enter, tmp_path):
    enter("a", 0.5)
    enter("b", 0.6)
    reported = by_name(standing(tmp_path))["as reported"]
    assert (reported.badge, reported.rank, reported.id) == ("reported", None, "")
    assert (reported.value, reported.standard_error, reported.interval) == (0.55, 0.01, None)
    assert (reported.seeds, reported.parameters, reported.train_instances) == (3, 402_824, 2_000)
    assert reported.description == "a paper" and "drawn by other code" in reported.remark
    assert [entry.method for entry in standing(tmp_path)] == ["b", "as reported", "a"]
    assert by_name(standing(tmp_path))["a"].rank == 2


def test_entries_as_good_as_each_other_share_a_rank(enter, tmp_path):
    """A score that is a rounding error higher takes nobody's rank, whatever its name."""
    for name, value in (("b", 0.5), ("a", 0.5 + 9.9e-7), ("c", 0.5 - 2e-6), ("d", 0.5 - 2.9e-6), ("e", 0.4)):
        enter(name, value)
    ranks = [(entry.method, entry.rank) for entry in standing(tmp_path) if entry.badge == "scored"]
    assert ranks == [("a", 1), ("b", 1), ("c", 3), ("d", 3), ("e", 5)]


def test_entry_that_was_run_again_keeps_its_rank_when_it_is_copied(enter, tmp_path):
    """Who files a copy of it unranks nobody but himself; without the badge, neither is ranked."""

    def gather(folder):
        found = stated(folder)
        return replace(found, predictions=stated(honest).predictions)

    def read_both():
        found = read_leaderboard(tmp_path, SRAVEN_BOARD, last=LAST, pins={}, gather=gather)
        assert found.faults == ()
        entries = by_name(found.standings[0].entries)
        return [(entries[name].rank, entries[name].badge) for name in ("honest", "copy")]

    honest = enter("honest", change=lambda content: content["method"].update(code_commit="0" * 40))
    enter("copy", day="20261120")
    assert read_both() == [(None, "scored"), (None, "scored")]
    digest = hashlib.sha256((honest / "submission.yaml").read_bytes()).hexdigest()
    pin = {"submission_digest": digest, "code_commit": "0" * 40, "by": "a maintainer", "date": "2026-11-24"}
    (tmp_path / "reproduced.yaml").write_text(json.dumps({f"{SRAVEN_BOARD}/{honest.name}": pin}))
    assert read_both() == [(1, "reproduced"), (None, "scored")]


def test_errors_come_lowest_first(enter, tmp_path, monkeypatch, tmp_path_factory):
    contents = {SRAVEN_BOARD: {**small_contents()[SRAVEN_BOARD], "higher_is_better": False}}
    use_boards(monkeypatch, tmp_path_factory.mktemp("lower"), contents)
    digest = read_board(SRAVEN_BOARD).digest
    for name, value in (("a", 0.3), ("b", 0.1)):
        folder = enter(name, value, lambda content: content.update(board_digest=digest))
        rescore(folder, change=lambda scores: scores.update(board_digest=digest))
    assert [entry.method for entry in standing(tmp_path)] == ["b", "a", "as reported"]


def test_diagnostic_boards_have_no_ranks(enter, tmp_path):
    assert small_contents()[FUZZY_BOARD]["series"] != "ranked"
    enter("a", 0.5, board=FUZZY_BOARD)
    [entry] = standing(tmp_path, FUZZY_BOARD)
    assert (entry.method, entry.value, entry.rank) == ("a", 0.5, None)


def test_boards_with_entries_are_read_and_others_left_out(enter, tmp_path):
    assert [found.board.id for found in read(tmp_path).standings] == [SRAVEN_BOARD]  # has reported rows
    enter("a", board=FUZZY_BOARD)
    assert {found.board.id for found in read(tmp_path).standings} == {SRAVEN_BOARD, FUZZY_BOARD}
    assert [entry.badge for entry in standing(tmp_path)] == ["reported"]


def test_board_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no board 'sraven-v1'"):
        read_leaderboard(tmp_path, "sraven-v1")


def test_ceiling_is_that_of_the_observer_that_knows_the_split():
    board = small_board(SRAVEN_BOARD)
    assert ceiling(board) == board.content["ceiling"]["ood"]["knowing_split"]["accuracy"]["value"]
