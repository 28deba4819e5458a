"""The standing that the package brings: what is written is read back, and nothing else is believed."""

import json
from dataclasses import fields

import pytest

from helpers.standings import entries_of, judged, scoring
from helpers.submissions import SRAVEN_BOARD
from sraven import BoardError, ConfigurationError
from sraven.core.leaderboard import snapshot
from sraven.core.leaderboard.filed import make_fault
from sraven.core.leaderboard.standing import Entry, Leaderboard, Replies, SplitScore
from sraven.core.untrusted.schemas import read_schema

pytestmark = pytest.mark.usefixtures("small_boards")

IDS = [f"{SRAVEN_BOARD}/202611{day}-an-entry" for day in (21, 23, 22)]


@pytest.fixture(scope="module")
def evidence():
    """A reference, an entry that is ranked, and one that isn't; tests only read them."""
    return {
        IDS[0]: scoring(0.9, method={"family": "reference"}),
        IDS[1]: scoring(0.6, method={"code": "https://example.org/code", "code_commit": "0" * 40}),
        IDS[2]: scoring(0.7, training={"selection_split": "ood"}),
    }


@pytest.fixture
def found(evidence):
    return judged(evidence)


def packed(found):
    return json.dumps(snapshot.make_snapshot(found)).encode()


@pytest.fixture
def as_packaged(found, monkeypatch):
    """Make the standing the one that the package brings."""
    monkeypatch.setattr(snapshot, "_packaged", lambda: snapshot.parse_snapshot(packed(found)))


def test_it_is_read_back_as_it_was(found, as_packaged):
    read = snapshot.read_snapshot(pins={})
    assert [each.entries for each in read.standings] == [each.entries for each in found.standings]
    assert read.content == found.content and read.date == "2026-11-23"
    ranks = [(entry.id, entry.rank) for entry in entries_of(read)]
    assert ranks == [(IDS[0], None), (IDS[2], None), (IDS[1], 1)]
    read = snapshot.read_snapshot(SRAVEN_BOARD, pins={}, own={"mine": scoring(0.65)})
    assert [(entry.id, entry.rank) for entry in entries_of(read)][2:] == [("mine", 1), (IDS[1], 2)]


def test_board_without_entries_has_what_papers_report(monkeypatch):
    monkeypatch.setattr(snapshot, "_packaged", dict)
    [standing] = snapshot.read_snapshot(SRAVEN_BOARD, pins={}).standings
    assert [entry.badge for entry in standing.entries] == ["reported"]
    with pytest.raises(ConfigurationError, match="there is no board 'nothing-v1'"):
        snapshot.read_snapshot("nothing-v1", pins={})


def test_it_is_written_whole_and_the_same_each_time(found, tmp_path):
    path = tmp_path / "folder" / "standing.json"
    snapshot.write_snapshot(path, found)
    first = path.read_bytes()
    snapshot.write_snapshot(path, found)
    assert path.read_bytes() == first and list(path.parent.iterdir()) == [path]
    assert snapshot.parse_snapshot(first) == snapshot.parse_snapshot(packed(found))


def test_what_is_left_out_or_not_filed_has_no_place_in_it(found, evidence, tmp_path):
    faulty = Leaderboard(found.standings, (make_fault("sraven-v1/x", "is bad"),))
    with pytest.raises(ConfigurationError, match="sraven-v1/x is left out; mend it"):
        snapshot.write_snapshot(tmp_path / "standing.json", faulty)
    with pytest.raises(ConfigurationError, match="leave mine out"):
        snapshot.write_snapshot(tmp_path / "standing.json", judged(evidence, {"mine": scoring(0.65)}))
    assert list(tmp_path.iterdir()) == []


def change(place, value):
    def changed(content):
        *way, last = place
        for name in way:
            content = content[name]
        if value is None:
            del content[last]
        else:
            content[last] = value

    return changed


ENTRY = ("boards", 0, "entries", 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change(("schema",), 2), "schema is 2; expected 1"),
        (change((*ENTRY, "value"), "0.9"), "boards[0].entries[0].value is '0.9'; expected a number"),
        (change((*ENTRY, "interval"), [1.0]), "boards[0].entries[0].interval has 1 entries; expected 2"),
        (change((*ENTRY, "by_split", "ood", "seeds"), None), "boards[0].entries[0].by_split.ood lacks"),
        (change((*ENTRY, "more"), 1), "boards[0].entries[0] has 'more'; expected only"),
    ],
)
def test_damaged_one_is_refused(found, change, message):
    content = json.loads(packed(found))
    change(content)
    with pytest.raises(BoardError) as refused:
        snapshot.parse_snapshot(json.dumps(content).encode())
    assert str(refused.value).startswith(f"{snapshot.SNAPSHOT}: {message}")
    assert str(refused.value).endswith("; reinstall sraven")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_is_refused(data):
    with pytest.raises(BoardError, match="isn't JSON; reinstall sraven"):
        snapshot.parse_snapshot(data)


def test_another_version_of_a_board_is_refused(monkeypatch):
    monkeypatch.setattr(snapshot, "_packaged", lambda: {SRAVEN_BOARD: ("0" * 64, ())})
    with pytest.raises(BoardError, match=f"is of another {SRAVEN_BOARD}; reinstall sraven"):
        snapshot.read_snapshot(pins={})


def test_schema_has_all_that_a_row_has():
    definitions = read_schema("snapshot")["$defs"]
    for name, kind in (("entry", Entry), ("split_score", SplitScore), ("replies", Replies)):
        names = [each.name for each in fields(kind)]
        assert definitions[name]["required"] == list(definitions[name]["properties"]) == names
