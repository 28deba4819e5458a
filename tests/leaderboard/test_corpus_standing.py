"""The standing of a corpus's board: nothing is ranked but on the documents whose fingerprint is pinned."""

import hashlib
from datetime import date

import numpy as np
import pytest
import yaml

from helpers.corpus_submissions import CORPUS_BOARD, corpus_board, losses, write_corpus
from helpers.page import page_of, panels_of, rows_of
from helpers.standings import judged
from helpers.submissions import only_boards
from helpers.text_board import BOARD, right_replies, text_board, text_contents, write_replies
from sraven.core.errors import BoardError
from sraven.leaderboard.eligibility import RANKED_SEEDS, least_seeds
from sraven.leaderboard.evidence import gather_evidence
from sraven.leaderboard.fingerprints import parse_pins, pin_text, read_pins
from sraven.leaderboard.page.page import make_page
from sraven.leaderboard.ranking import read_leaderboard
from sraven.leaderboard.submissions.corpus import fingerprint
from sraven.leaderboard.submissions.submit import file_submission, write_reference
from sraven.leaderboard.unfiled import share_boards

pytestmark = pytest.mark.usefixtures("corpus_boards")


@pytest.fixture
def enter(leaderboard, tmp_path):
    """File an entry."""

    def enter(name, day, **options):
        folder = write_corpus(tmp_path / name, **{"method": {"name": name}, **options})
        return file_submission(folder, leaderboard, day=date(2026, 11, day))

    return enter


LAST = date(2026, 11, 30)

FINGERPRINT = fingerprint(corpus_board().labels("validation", losses()))

PINS = {corpus_board().digest: {"validation": FINGERPRINT}}


def standing_of(leaderboard, pins=PINS):
    found = read_leaderboard(leaderboard, CORPUS_BOARD, last=LAST, pins=pins)
    assert found.faults == ()
    return found.standings[0]


def entries_of(leaderboard, pins=PINS):
    return {entry.method: entry for entry in standing_of(leaderboard, pins).entries}


def test_lowest_loss_is_first_and_self_reported(enter, leaderboard):
    enter("low", 23, predictions=[losses(seed, 0.5) for seed in range(3)])
    folder = enter("high", 22, method={"name": "high", "code_commit": "0" * 40})
    digest = hashlib.sha256((folder / "submission.yaml").read_bytes()).hexdigest()
    pin = {"submission_digest": digest, "code_commit": "0" * 40, "by": "a maintainer", "date": "2026-11-24"}
    (leaderboard / "reproduced.yaml").write_text(yaml.safe_dump({f"{CORPUS_BOARD}/20261122-high": pin}))
    assert read_pins() == {}  # none is pinned yet
    found = entries_of(leaderboard)
    assert [(name, entry.rank, entry.badge) for name, entry in found.items()] == [
        ("low", 1, "self-reported"),
        ("high", 2, "reproduced"),
    ]
    low = found["low"]
    assert (low.gap, low.train_instances, low.budget, low.remark) == (None, 4_000, 5_000, "")
    assert low.fingerprint == found["high"].fingerprint == FINGERPRINT
    assert list(low.splits) == ["validation"] and low.value == low.splits["validation"]["loss"]


def test_nothing_is_ranked_before_a_fingerprint_is_pinned(enter, leaderboard):
    enter("a", 22)
    for pins in ({}, {"0" * 64: {"validation": FINGERPRINT}}):
        standing = standing_of(leaderboard, pins)
        message = f"no fingerprint of the documents of {CORPUS_BOARD} is pinned yet, so none of its"
        assert standing.note.startswith(message)
        assert [(entry.rank, entry.remark) for entry in standing.entries] == [(None, standing.note)]
        assert message.removeprefix("no ") in make_page([standing])
    assert standing_of(leaderboard).note == ""


def test_entry_on_other_documents_has_no_rank_whatever_its_date(enter, leaderboard):
    other = [losses(seed, 0.5) for seed in range(3)]
    for array in other:
        array[:, 0] *= np.linspace(0.97, 1.0, len(array))
        array[0, 2] += 1
    enter("backdated", 20, predictions=other, training={"instances": 9_000})
    enter("honest", 27)
    found = entries_of(leaderboard)
    assert (found["honest"].rank, found["honest"].remark) == (1, "")
    message = "trained on more than 5,000 tokens; its documents aren't those of the board"
    assert (found["backdated"].rank, found["backdated"].remark) == (None, message)


def test_what_is_printed_to_be_pinned_is_read_back():
    text = pin_text(corpus_board(), {"validation": FINGERPRINT})
    assert parse_pins(b"# a comment\n" + text.encode()) == PINS
    assert parse_pins(b"# nothing yet\n") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]x", "isn't YAML"),
        ("- a", "expected names and values"),
        ("c4-v1: {}", "has a name that"),
        (f"{'0' * 64}: {'1' * 64}", "expected names and values"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{}}}}", "fingerprints"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{validation: abc}}}}", "64 hexadecimal digits"),
    ],
)
def test_damaged_file_of_fingerprints_is_refused(text, message):
    with pytest.raises(BoardError, match=message) as error:
        parse_pins(text.encode())
    assert str(error.value).endswith("; reinstall sraven")


# Boards of texts: one run is enough, forms rank apart, ceilings need told rules


def replies(right, shift=0):
    """Return replies of which so many, from some question on, are right; what others say is no answer."""
    every = right_replies()
    chosen = {(shift + 3 * row) % 44 for row in range(right)}
    return [reply if row in chosen else "I can't tell." for row, reply in enumerate(every)]


def form(name):
    return {"form": name, "prompt_digest": text_board().prompts[name]}


ENTRIES = {
    "Large": {"replies": replies(30)},
    "Small": {"replies": replies(20, 1)},
    "Told nothing": {"replies": replies(25, 2), "said": form("untold-2-shot")},
    "Trained": {"replies": replies(40), "training": {"instances": 900}},
    "Beyond": {"replies": replies(36), "training": {"instances": 2_000}},
    "Mute": {"replies": ["…"] * 44},
    "Chosen": {"replies": replies(33, 5), "training": {"selection_split": "ladder"}},
    "<b>Evil</b>": {"replies": replies(28, 9), "said": {"model": "<i>m</i>", "harness": "</p><script>"}},
}


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    root = tmp_path_factory.mktemp("standing")
    with only_boards(root / "boards", text_contents()):
        for number, (name, entry) in enumerate(ENTRIES.items()):
            write_replies(root / f"{number}", method={"name": name}, **entry)
        for name in ("copy-last-panel", "babbler"):
            write_reference(root / name, BOARD, name)
        folders, find_board = sorted(set(root.iterdir()) - {root / "boards"}), share_boards()
        evidence = {
            f"{BOARD}/20261122-{folder.name}": gather_evidence(folder, find_board=find_board)
            for folder in folders
        }
        [standing] = judged(evidence).standings
        yield standing


@pytest.fixture(scope="module")
def entries(standing):
    return {entry.method: entry for entry in standing.entries}


def test_one_run_is_enough_where_the_model_is_given(entries):
    assert least_seeds(text_board()) == 1 < RANKED_SEEDS
    assert entries["Large"].rank == 1 and entries["Large"].seeds == 1 and not entries["Large"].remark


def test_entries_are_ranked_among_those_of_their_form_and_budget(entries):
    ranks = {name: entry.rank for name, entry in entries.items()}
    assert [ranks[name] for name in ("Large", "<b>Evil</b>", "Small")] == [1, 2, 3]
    assert ranks["Told nothing"] == ranks["Trained"] == 1
    assert entries["Large"].budget == 0 and entries["Trained"].budget == 1_000


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Beyond", "trained on more than 1,000 instances"),
        ("Mute", "no better than chance"),
        ("Chosen", "chosen by its scores on held-out combinations"),
        ("babbler", "a reference, not a model"),
    ],
)
def test_who_is_not_ranked_is_told_why(entries, name, reason):
    assert entries[name].rank is None and reason in entries[name].remark


def test_a_ceiling_bounds_those_alone_who_are_told_the_rules(entries):
    assert entries["Large"].gap == pytest.approx(14 / 44) and entries["Told nothing"].gap is None


def test_entry_says_which_model_was_asked_how_and_each_rung_has_its_interval(entries):
    large = entries["Large"]
    assert (large.replies.model, large.replies.form, large.replies.harness) == (
        "example/model",
        "told-0-shot",
        "a script",
    )
    assert large.parameters is None
    assert list(large.rungs) == [rung["metric"] for rung in text_board().rungs]
    assert all(low <= large.splits["ladder"][name] <= high for name, (low, high) in large.rungs.items())


# The page


@pytest.fixture(scope="module")
def page(standing):
    return page_of(standing)


def test_groups_are_forms_and_budgets(page):
    titles = [text for _, text in page.find("span", class_="group-title")]
    assert [title.replace("\u00a0", " ") for title in titles] == [
        "Asked told-0-shot, trained on no instances",
        "Asked untold-2-shot, trained on no instances",
        "Asked told-0-shot, trained on up to 1,000 instances",
        "Trained on more than 1,000 instances",
        "References",
    ]
    assert "told-0-shot" in page.text and "each ranked apart" in page.text
    assert "rungs=M1-K7 M2-K7 M3-K7 M2-K9" in page.text


def test_plots_show_accuracy_over_each_setting_with_ceilings_and_chance(page, standing):
    titles = [text for _, text in page.find("p", class_="panel-title")]
    assert titles == ["Accuracy over M at K = 7", "Accuracy over K at M = 2"]
    assert len(panels_of(page)) == 2
    lines = [a["class"] for a, _ in page.find("polyline")]
    scored = sum(entry.value is not None for entry in standing.entries)
    assert lines.count("line") == 2 * scored and lines.count("chance") == 2
    assert lines.count("ceiling") == lines.count("ceiling uncertified") == 2
    labels = [a["aria-label"] for a, _ in page.find("g", role="img")]
    assert any(text.startswith("Large: 0.6818 (scored); M = 1: ") for text in labels)


def test_unparsed_replies_have_a_column(page):
    [(_, label)] = page.find("th", scope="col", class_="other")
    assert label == "Unparsed"
    cells = [text for _, text in page.find("td", class_="other", data_label="Unparsed")]
    assert len(cells) == len(rows_of(page)) and "1.0000" in cells and "0.3182" in cells
