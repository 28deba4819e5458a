"""No entry changes another's standing but by scoring higher, whatever it says of itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers.evidence_example import make_evidence
from helpers.standings import entries_of, judged
from helpers.submissions import SRAVEN_BOARD, only_boards
from sraven.leaderboard.contribution.change import displaced

pytestmark = pytest.mark.usefixtures("small_boards")

FILED = {
    f"{SRAVEN_BOARD}/2026112{day}-{slug}": (name, value, seeds)
    for day, slug, name, value, seeds in (
        (1, "hyla", "hyla, 1,500 instances", 0.7, 3),
        (2, "softmax", "softmax, rate 0.001, 1,500 instances", 0.5, 3),
        (3, "few", "hyla, two seeds", 0.6, 2),
        (4, "linear", "linear", 0.4, 4),
    )
}


def scored(name, ood, seeds=3, *, test=0.6, predictions=None, **said):
    """Return evidence that scores so much, with predictions like no others."""
    scores = {"test": {"accuracy": [test] * seeds}, "ood": {"accuracy": [ood] * seeds}}
    numbers = dict.fromkeys(("test", "ood"), tuple(range(seeds)))
    return make_evidence(name, scores=scores, seeds=numbers, predictions=predictions, **said)


@pytest.fixture(scope="module", autouse=True)
def _no_ranges():
    """Nothing here is about the ranges of ranks, which take long to draw."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        name = "sraven.leaderboard.ranking.rank_ranges"
        monkeypatch.setattr(name, lambda entries, **options: [None] * len(entries))
        yield


@pytest.fixture(scope="module")
def filed():
    return {place: scored(*said) for place, said in FILED.items()}


@pytest.fixture(scope="module")
def before(filed, tmp_path_factory):
    """The standing before anybody moves."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        return judged(filed, only=SRAVEN_BOARD)


@st.composite
def hostile(draw, victims):
    """An entry around one that is filed: its names, authors, predictions and more, or some of them."""
    place = draw(st.sampled_from(sorted(victims)))
    victim = victims[place]
    name = victim.content["method"]["name"] + draw(
        st.sampled_from(["", ", rate 1", ", decay 0", ", seeds 3, 4"])
    )
    seeds, ood = draw(st.integers(1, 5)), draw(st.sampled_from([0.0, 0.3, 0.5, 0.5 + 5e-7, 0.65, 0.9]))
    copied = draw(st.sets(st.sampled_from(sorted(victim.predictions))))
    predictions = {}
    for run in copied:
        array, share = np.array(victim.predictions[run]), draw(st.sampled_from([0.0, 0.012, 0.3]))
        array[: int(share * len(array))] += 1
        predictions[run] = array % 5
    method = {"authors": victim.content["method"]["authors"]}
    if draw(st.booleans()):
        method["family"] = "reference"
    entry = scored(
        *(name, ood, seeds),
        test=draw(st.sampled_from([0.0, 0.6, 1.0])),
        predictions={run: array for run, array in predictions.items() if int(run[-1]) < seeds},
        method=method,
        training={"instances": draw(st.sampled_from([0, 1_500, 4_000]))},
    )
    if draw(st.booleans()):
        entry.content["replaces"] = place
    if draw(st.booleans()):
        entry.content["points"] = [{"name": name, "scores": {"test": 1.0, "ood": 0.0}}]
    return replace(entry, digest=entry.digest[::-1])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_hostile_entries_move_nobody(filed, before, data):
    entry = data.draw(hostile(filed))
    added = judged(filed, {"mine": entry}, SRAVEN_BOARD, before)
    [own] = [each for each in entries_of(added) if each.own]
    assert displaced(before, added, own) == ""
    place = f"{SRAVEN_BOARD}/{data.draw(st.sampled_from(['20261120', '20261129']))}-mine"
    lying = judged({**filed, place: entry}, (), SRAVEN_BOARD, before)
    [same] = [each for each in entries_of(lying) if each.id == place]
    assert displaced(before, lying, same) == ""
    assert (own.rank, own.remark) == (same.rank, same.remark)  # what is shown is what is filed


def test_an_author_may_add_seeds_whatever_others_filed_meanwhile(filed, before):
    """Two seeds were copied by another entry, which is a copy; who replaces his own with three is none."""
    place = f"{SRAVEN_BOARD}/20261123-few"
    copied = dict(filed[place].predictions)
    thief, more = (f"{SRAVEN_BOARD}/2026112{day}" for day in ("4-thief", "5-more"))
    stolen = {**filed, thief: scored("thief", 0.6, predictions=copied)}
    ours = scored("hyla, three seeds", 0.6, predictions=copied)
    ours.content["replaces"] = place
    assert {e.id: e.rank for e in entries_of(judged(stolen, before=before))}[thief] is None
    found = judged({**stolen, more: ours}, before=before, replaced={place: more})
    ranks = {entry.id: (entry.rank, entry.remark) for entry in entries_of(found)}
    assert ranks[more] == (2, "") and ranks[thief][0] is None
    assert f"replaced by {more}" in ranks[place][1]


def test_a_grid_that_says_its_points_keeps_its_rank_and_a_point_that_was_filed_loses_its_own(filed):
    ours, point = (f"{SRAVEN_BOARD}/2026112{day}-{slug}" for day, slug in ((5, "grid"), (4, "point")))
    grid = scored("grid", 0.65, test=0.9)
    grid.content["points"] = [{"name": "rate 0.1", "scores": {"test": 0.8, "ood": 0.2}}]
    found = judged({**filed, ours: grid, point: scored("a point", 0.68, test=0.7)}, points={point: ours})
    entries = {entry.id: entry for entry in entries_of(found)}
    assert (entries[ours].rank, entries[ours].grid_range) == (2, (0.2, 0.68))
    assert entries[point].rank is None and ours in entries[point].remark


def test_what_moves_another_is_found():
    """The check itself: a rank that is taken away, a remark, a row that goes."""
    before = judged({"a": scored("a", 0.5), "b": scored("b", 0.4)})
    after = judged({"a": scored("a", 0.5), "b": scored("b", 0.4)}, {"c": scored("c", 0.45)})
    new = next(entry for entry in entries_of(after) if entry.own)
    assert displaced(before, after, new) == ""
    assert displaced(after, before, replace(new, value=0.1)) == "c"
    [standing] = after.standings
    for change in ({"rank": None}, {"rank": 3}, {"remark": "x"}, {"grid_range": (0.0, 1.0)}):
        moved = tuple(replace(e, **change) if e.id == "a" else e for e in standing.entries)
        changed = replace(after, standings=(replace(standing, entries=moved),))
        assert displaced(before, changed, new) == "a"
