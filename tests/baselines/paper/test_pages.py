"""Pages say what the records say, and the ones that are kept are what the kept records give."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.paper.cells import choose_cells
from baselines.paper.figures import FIGURES as ALL_FIGURES
from baselines.paper.pages import index, pages_of, prose_path
from baselines.paper.plan import operations_of, parameters_of
from baselines.paper.records import write_record
from baselines.paper.render import render, stale
from baselines.paper.results import standings_of
from helpers.reproduction import FIGURES, STEPS, cell, figure, record
from sraven.board.board import read_board
from sraven.board.ceilings import KNOWS
from sraven.board.reference_levels import find_reference_levels
from sraven.core.errors import OutputError

RESULTS = Path(__file__).parents[3] / "docs" / "results"

TINY = FIGURES["tiny"]


def write(results, *records):
    for each in records:
        write_record(results, each, FIGURES)


def page_of(results, figures=FIGURES):
    """Return the figure's page, with plain spaces in place of those that bind."""
    pages = pages_of(standings_of(results, figures=figures), results)
    return pages[results / "tiny.md"].replace("\N{NO-BREAK SPACE}", " ")


def row_of(page, *labels):
    """Return the cells of a row of the first table."""
    (line, *_) = re.findall(rf"^\| {re.escape(' | '.join(labels))} \| (.*) \|$", page, re.MULTILINE)
    return line.split(" | ")


@pytest.fixture
def results(tmp_path):
    """A folder in which softmax and HYLA have three seeds on one board, and a shorter run."""
    results = tmp_path / "results"
    scores = {"softmax": (0.9, 0.7), "hyla": (0.8, 0.9)}
    for attention, (test, ood) in scores.items():
        for seed, more in enumerate((-0.1, 0.0, 0.1)):
            write(results, record(cell(TINY, attention, seed), test + more / 2, ood + more))
    write(results, record(cell(TINY, "softmax", 2), 0.1, 0.05, steps=60))
    return results


@pytest.fixture(scope="module")
def kept():
    return standings_of(RESULTS)


@pytest.mark.long
def test_kept_pages_that_say_what_networks_cost_are_what_the_kept_records_give(kept):
    costed = [each for each in kept if each.figure.costed]
    assert {path for path in stale(costed, RESULTS) if path.parent == RESULTS} == set()


def test_kept_pages_and_pictures_are_what_the_kept_records_give(kept, monkeypatch):
    # Networks are counted where they are written of.
    monkeypatch.setattr("baselines.paper.tables.cost_table", lambda figure, summaries: "")
    costed = {RESULTS / f"{each.figure.name}.md" for each in kept if each.figure.costed}
    assert stale(kept, RESULTS).keys() <= costed, "run: sraven reproduce --render"
    prose = {path.stem for path in (RESULTS / "reproduction").glob("*.md")}
    ran = {path.stem for path in pages_of(kept, RESULTS)} - {"results"}
    assert {*ran, "index"} <= prose <= {*ALL_FIGURES, "index"}
    assert ran == {*ALL_FIGURES} & {path.stem for path in RESULTS.glob("*.md")}


def test_a_row_has_seeds_points_and_means_with_their_errors(results):
    """What is reported is 0.811 ± 0.078, of eight seeds. Rows are compared with the best on ``ood``."""
    page = page_of(results)
    assert "**6 of 12 runs, full length**" in page and "6 of 48 at all 4 points" in page
    cells = ["3/3", "0.900 ± 0.058", "0.811 ± 0.078", "+0.089 (p = 0.42)", "0.800 ± 0.029"]
    assert row_of(page, "32", "HYLA") == [*cells, "0.01000 ± 0.00000", "1/4", "0.001, 0.1"]
    apart = ["HYLA", "softmax", "−0.100 (p = 0.070)", "+0.200 (p = 0.070)", "−0.100", "+0.200"]
    assert row_of(page, "points 32") == apart


def test_a_page_of_rivals_says_what_they_cost_and_what_scores_are_read_against(results):
    page = page_of(results, {"tiny": replace(TINY, costed=True)})
    board = read_board("fuzzylogic-v1")
    known, _ = (find_reference_levels(board, split, board.metric)[0].value for split in ("ood", "test"))
    assert f"| linear in known functions | {known:.3f} | " in page
    config = cell(TINY, "hyla").config
    assert f"| 32 | HYLA | {parameters_of(config):,} | 0.0 | 60 (not known) |" in page
    assert "G operations a step" in page and "G operations a step" not in page_of(results)


@pytest.mark.parametrize(
    ("runs", "left"),
    [
        ([("softmax", "32"), ("hyla", "32")], "2 of 4 rows."),
        ([("softmax", "32"), ("hyla", "16")], "2 of 4 rows (reported: points 32, HYLA 0.811 ± 0.078)."),
    ],
)
def test_a_table_has_the_rows_that_ran_and_a_line_says_which_are_left(tmp_path, runs, left):
    write(tmp_path, *(record(cell(TINY, attention, points=points), 0.9, 0.6) for attention, points in runs))
    assert f"\n\nNot run at full length yet: {left}\n\n" in page_of(tmp_path)


def test_rows_of_different_seeds_are_compared_on_those_that_both_have(tmp_path):
    for seed in range(3):
        write(tmp_path, record(cell(TINY, "hyla", seed), 0.9, 0.7 + 0.01 * seed))
    write(tmp_path, record(cell(TINY, "softmax", 0), 0.9, 0.6))
    assert row_of(page_of(tmp_path), "points 32")[2:4] == ["+0.000 on seed 0", "+0.100 on seed 0"]


def test_the_best_that_can_be_reached_is_the_ceiling_of_each_board(results):
    known, unknown = (read_board("sraven-v1").ceiling("ood", "accuracy", each).value for each in KNOWS)
    page = (RESULTS / "figure-5d.md").read_text()
    assert row_of(page, "`sraven-v1`") == [f"{known:.3f}", f"{unknown:.3f}"]
    assert row_of(page, "`sraven-features8-v1`")
    assert "that can be reached" not in page_of(results)  # where it is perfect


def test_a_shorter_run_stands_apart(results):
    full, short = page_of(results).split("## 60 steps")
    assert "0.050" not in full
    assert row_of(short, "32", "softmax")[:5] == ["1/3", "0.050", "0.633 ± 0.023", "−0.583", "0.100"]


def test_a_run_of_another_figure_at_full_length_is_no_other_length_of_this_one(results):
    twice = {"tiny": TINY, "longer": figure("longer", steps=2 * STEPS)}
    write_record(results, record(cell(twice["longer"], "hyla"), 0.5, 0.5), twice)
    standings = standings_of(results, figures=twice)
    assert [[level.steps for level in each.levels] for each in standings] == [[None, 60], [None, 60]]


def test_points_of_the_grid_stand_side_by_side_where_several_ran(results):
    assert "one by one:" not in page_of(results)
    write(results, record(cell(TINY, "hyla", learning_rate=0.003), 0.85, 0.3))
    page = page_of(results)
    assert "**6 of 12 runs, full length**" in page and "7 of 48 at all 4 points" in page
    (table,) = re.findall(r"one by one:\n\n((?:\|.*\n)+)", page)
    assert len(table.splitlines()) == 2 + 2
    assert row_of(table, "32", "HYLA", "0.001, 0.1, chosen")[:2] == ["3/3", "0.900 ± 0.058"]
    assert row_of(table, "32", "HYLA", "0.003, 0.1") == ["1/3", "0.300", "0.850"]


def test_a_figure_without_runs_has_a_page_if_somebody_wrote_of_it(tmp_path):
    results = tmp_path / "results"
    [(path, page)] = pages_of(standings_of(results, figures=FIGURES), results).items()
    assert path == results.with_name("results.md")
    assert "| Figure tiny (`--run tiny`) | 0 of 12 |" in page and "tiny.md" not in page
    prose_path(results, "tiny").parent.mkdir(parents=True)
    prose_path(results, "tiny").write_text("## What the paper claims\n\nAll is well.\n")
    page = page_of(results)
    operations = sum(operations_of(each.config) for each in choose_cells(TINY))
    assert page.index("All is well.") < page.index("**No run yet.** There are 12 of them (48 at all 4 points")
    assert f"{12 * STEPS:,} steps and {operations:.1e} floating-point operations." in page
    assert "sraven reproduce --run tiny" in page and "|" not in page
    standings = standings_of(results, figures=FIGURES)
    assert "| [Figure tiny](results/tiny.md) | 0 of 12 |" in index(standings, results)


def test_a_run_that_diverged_is_shown_but_scores_nothing(tmp_path):
    write(tmp_path, record(cell(TINY, "softmax"), 0, 0, diverged=True))
    page = page_of(tmp_path)
    assert row_of(page, "32", "softmax")[:2] == ["0/3", "–"]
    assert "G operations a step" in page_of(tmp_path, {"tiny": replace(TINY, costed=True)})


def test_rendering_writes_what_isnt_up_to_date_and_nothing_else(results):
    names = {"results.md", "tiny.md", "tiny.svg"}
    prose_path(results, "tiny").write_text("## What the paper claims\n\nAll is well.\n")
    assert {path.name for path in render(results, figures=FIGURES)} == names
    page = (results / "tiny.md").read_text()
    assert page.index("# Figure tiny") < page.index("All is well.") < page.index("6 of 12 runs")
    coverage = "| [Figure tiny](results/tiny.md) | 6 of 12 | 6 of 48 | 1 of 60 steps |"
    assert coverage in results.with_name("results.md").read_text()
    drawn = (results / "tiny.svg").read_text()
    assert all(word in drawn for word in ("<?xml", "softmax", "HYLA", "R² per sequence", "points"))
    assert render(results, figures=FIGURES) == []
    write(results, record(cell(TINY, "hyla", 0), 0.8, 0.1))
    assert {path.name for path in render(results, figures=FIGURES)} == names - {"results.md"}
    before = (results / "tiny.svg").read_bytes()
    (results / "tiny.svg").unlink()
    render(results, figures=FIGURES)
    assert (results / "tiny.svg").read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("{"),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text(json.dumps({"config": {}})),
        lambda path: path.rename(path.with_name(f"{'0' * 64}.json")),
    ],
)
def test_a_damaged_record_is_named_and_nothing_is_written(results, damage):
    damage(next((results / "reproduction" / "tiny").iterdir()))
    with pytest.raises(OutputError, match=r"reproduction/tiny/[0-9a-f]{64}\.json"):
        render(results, figures=FIGURES)
    assert not (results / "tiny.md").exists()
