"""Pages say what the records say, and the ones that are kept are what the kept records give."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.reproduction.claims import CLAIMS as ALL_CLAIMS
from baselines.reproduction.comparisons import reported_comparison
from baselines.reproduction.headline import headline
from baselines.reproduction.pages import pages_of
from baselines.reproduction.records import write_record
from baselines.reproduction.render import render, stale_pages, stale_pictures
from baselines.reproduction.sets import FIGURES as ALL_FIGURES
from baselines.reproduction.standing import standings_of
from baselines.reproduction.words import number, products
from helpers.reproduction import CLAIMS, FIGURES, STEPS, cell, figure, record
from sraven.core.boards.board import read_board
from sraven.core.boards.ceilings import KNOWS
from sraven.core.ground.errors import OutputError

SVG = "http://www.w3.org/2000/svg"
DOCS = Path(__file__).parents[3] / "docs"

TINY = FIGURES["tiny"]


def write(results, *records):
    for each in records:
        write_record(results, each, FIGURES)


def texts_of(results, figures=FIGURES):
    """Return the pages by the names of their files, with plain spaces in place of those that bind."""
    claims = dict.fromkeys(figures, CLAIMS["tiny"])
    pages = pages_of(standings_of(results, figures=figures), results, claims=claims)
    return {path.name: text.replace("\N{NO-BREAK SPACE}", " ") for path, text in pages.items()}


def page_of(results):
    return texts_of(results)["tiny.md"]


def index_of(results, figures=FIGURES):
    return texts_of(results, figures)["results.md"]


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


def test_kept_pages_and_pictures_are_what_the_kept_records_give():
    standings = standings_of(DOCS / "results")
    stale = [*stale_pages(standings, DOCS / "results"), *stale_pictures(standings, DOCS / "results")]
    assert not stale, "run: sraven reproduce --render"


def test_every_figure_has_its_prose():
    assert ALL_CLAIMS.keys() == ALL_FIGURES.keys()


def test_a_row_has_seeds_points_and_means_with_their_errors(results):
    cells = row_of(page_of(results), "32", "HYLA")
    assert cells[:4] == ["3/3", "0.900 ± 0.058", "0.811 ± 0.078", "0.800 ± 0.029"]
    assert cells[4:] == ["0.01000 ± 0.00000", "1/4", "0.001, 0.1"]


def test_a_table_has_the_rows_that_ran_and_a_line_says_which_are_left(results):
    page = page_of(results)
    assert "| 16 |" not in page
    assert "\n\nNot run at full length yet: 2 of 4 rows (points 16 × softmax, HYLA).\n\n" in page


def test_what_is_reported_of_rows_that_are_left_stays(tmp_path):
    for each in (cell(TINY, "softmax"), cell(TINY, "hyla", points="16")):
        write(tmp_path, record(each, 0.9, 0.6))
    left = "2 of 4 rows (reported: points 32, HYLA 0.811 ± 0.078; points 16, softmax –)."
    assert f"Not run at full length yet: {left}" in page_of(tmp_path)


def test_rows_that_are_left_are_told_in_as_few_words_as_they_allow():
    figure = ALL_FIGURES["figure-2c"]
    rows = [row for row in figure.rows if row.board != "fuzzylogic-v1"]
    assert products(rows, figure.headings) == (
        "points 16, 64, 96 × held out 30 %, 50 %, 70 % × softmax, linear, HYLA",
        "points 32 × held out 30 %, 50 % × softmax, linear, HYLA",
    )


def test_a_page_tells_its_coverage_and_what_it_leaves_open(results):
    page = page_of(results)
    assert "**6 of 12 runs, full length**" in page
    assert "6 of 48 at all 4 points" in page
    assert "- It is a test." in page
    assert "a seed also draws the split and the data" in page


def test_a_page_tells_who_is_ahead_and_how_surely(results):
    page = page_of(results)
    assert "softmax has 0.900 ± 0.029 and HYLA 0.800 ± 0.029 (p = 0.070) in distribution" in page
    assert "HYLA has 0.900 ± 0.058 and softmax 0.700 ± 0.058 (p = 0.070) out of it" in page
    apart = "| points 32 | HYLA | softmax | −0.100 (p = 0.070) | +0.200 (p = 0.070) | −0.100 | +0.200 |"
    assert apart in page


def test_who_is_surely_ahead_leads_and_seeds_are_paired(tmp_path):
    results = tmp_path / "results"
    for seed in range(3):
        write(results, record(cell(TINY, "softmax", seed), 0.9, 0.6 + 0.001 * seed))
        write(results, record(cell(TINY, "hyla", seed), 0.9, 0.7 + 0.001 * seed))
    page = page_of(results)
    assert "**HYLA** leads with 0.7010 ± 0.0006 before softmax with 0.6010 ± 0.0006 (p < 0.001)" in page
    for seed in (1, 2):
        (path,) = results.glob(f"**/{cell(TINY, 'softmax', seed).digest}.json")
        path.unlink()
    assert "HYLA has 0.700 and softmax 0.600 (one seed each, on seed 0)" in page_of(results)


def test_rows_with_several_seeds_are_compared_with_what_is_reported(results):
    """Softmax: 0.7 ± 0.058 beside 0.633 ± 0.023. HYLA: 0.9 ± 0.058 beside 0.811 ± 0.078."""
    assert (
        "Of 2 rows with several seeds, none differs from what is reported at p < 0.05 "
        "(32, softmax p = 0.37; 32, HYLA p = 0.42)."
    ) in page_of(results).replace("points ", "")


def test_the_best_that_can_be_reached_is_the_ceiling_of_each_board():
    kept = (DOCS / "results" / "figure-5d.md").read_text()
    known, unknown = (read_board("sraven-v1").ceiling("ood", "accuracy", each).value for each in KNOWS)
    assert f"{known:.3f} on `sraven-v1` ({unknown:.3f})" in kept
    assert "`sraven-features8-v1`" in kept


def test_nothing_is_said_of_a_ceiling_that_is_perfect(results):
    assert "that can be reached" not in page_of(results)


def test_a_shorter_run_stands_apart(results):
    page = page_of(results)
    full, short = page.split("## Another length: 60 steps")
    assert "50 % of full length" in short
    assert "0.050" not in full
    assert row_of(short, "32", "softmax")[:4] == ["1/3", "0.050", "0.633 ± 0.023", "0.100"]


def test_a_run_of_another_figure_at_full_length_is_no_other_length_of_this_one(results):
    twice = {"tiny": TINY, "longer": figure("longer", steps=2 * STEPS)}
    write_record(results, record(cell(twice["longer"], "hyla"), 0.5, 0.5), twice)
    standings = standings_of(results, figures=twice)
    assert [[level.steps for level in each.levels] for each in standings] == [[None, 60], [None, 60]]


def test_points_of_the_grid_stand_side_by_side_where_several_ran(results):
    assert "one by one:" not in page_of(results)
    write(results, record(cell(TINY, "hyla", learning_rate=0.003), 0.85, 0.3))
    (table,) = re.findall(r"one by one:\n\n((?:\|.*\n)+)", page_of(results))
    assert len(table.splitlines()) == 2 + 2
    assert row_of(table, "32", "HYLA", "0.001, 0.1, chosen")[:2] == ["3/3", "0.900 ± 0.058"]
    assert row_of(table, "32", "HYLA", "0.003, 0.1") == ["1/3", "0.300", "0.850"]


def test_one_seed_has_no_standard_error(tmp_path):
    results = tmp_path / "results"
    write(results, record(cell(TINY, "softmax"), 0.9, 0.6), record(cell(TINY, "hyla"), 0.8, 0.7))
    page = page_of(results)
    assert "HYLA has 0.700 and softmax 0.600 (one seed each) out of it" in page
    assert "2 rows have fewer seeds than 3" in page


def test_a_run_that_diverged_is_shown_but_scores_nothing(tmp_path):
    results = tmp_path / "results"
    write(results, record(cell(TINY, "softmax"), 0, 0, diverged=True))
    page = page_of(results)
    assert row_of(page, "32", "softmax")[:2] == ["0/3", "–"]
    assert "100, diverged" in page


def test_without_records_pages_say_that_nothing_can_be_said(tmp_path):
    (tmp_path / "results").mkdir()
    page = page_of(tmp_path / "results")
    assert "**0 of 12 runs" in page
    assert "- Nothing can be concluded yet: none of its runs" in page
    assert "yet: 4 of 4 rows" in page
    assert "| seeds |" not in page and ".svg" not in page


def test_the_index_lists_every_figure_with_its_coverage(results):
    assert "| [Figure tiny](results/tiny.md) | 6 of 12 | 6 of 48 | 1 of 60 steps |" in index_of(results)


def test_the_index_tells_who_is_ahead_at_full_length_once(results, tmp_path):
    """A second figure of the same runs says no more; a shorter run alone says nothing."""
    lead = "\n- [Figure tiny](results/tiny.md), points 32: softmax has 0.900"
    index = index_of(results, {"tiny": TINY, "twin": replace(TINY, name="twin")})
    assert (index.count(lead), index.count("softmax has 0.")) == (1, 1)
    short = tmp_path / "short" / "results"
    write(short, *(record(cell(TINY, each), 0.9, 0.6, steps=60) for each in ("softmax", "hyla")))
    assert "Who is ahead" not in index_of(short)


def test_rendering_writes_what_isnt_up_to_date_and_nothing_else(results):
    options = {"figures": FIGURES, "claims": CLAIMS}
    written = render(results, **options)
    assert {path.name for path in written} == {"results.md", "tiny.md", "tiny.svg"}
    assert render(results, **options) == []
    write(results, record(cell(TINY, "hyla", 0), 0.8, 0.1))
    assert {path.name for path in render(results, **options)} == {"results.md", "tiny.md", "tiny.svg"}
    before = (results / "tiny.svg").read_bytes()
    (results / "tiny.svg").unlink()
    render(results, **options)
    assert (results / "tiny.svg").read_bytes() == before


def test_a_picture_is_svg_with_every_attention(results):
    render(results, figures=FIGURES, claims=CLAIMS)
    text = (results / "tiny.svg").read_text()
    assert text.startswith("<?xml")
    for word in ("softmax", "HYLA", "R² per sequence", "points"):
        assert word in text


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
        render(results, figures=FIGURES, claims=CLAIMS)
    assert not (results / "tiny.md").exists()


def test_by_the_papers_numbers_five_variants_are_above_hyla_none_by_a_standard_error():
    told = reported_comparison(ALL_FIGURES["table-a1-fuzzylogic"], read_board)
    assert "5 rows of the other 13 are above HYLA's 0.811 ± 0.078" in told
    assert told.endswith("; the least p of a difference is 0.52.")
    assert reported_comparison(figure(), read_board) == "By the reported numbers, no other row is above HYLA."


def test_the_headline_shows_what_the_records_give():
    standings = {each.figure.name: each for each in standings_of(DOCS / "results")}
    drawing = ET.fromstring(headline(list(standings.values())))
    told = [text.text for text in drawing.iter(f"{{{SVG}}}text")]
    for summary in standings["table-a1-fuzzylogic"].summaries[0][:3]:
        assert number(summary.estimate("ood")) in told
    assert "composition-blind 0.051" in told and "ceiling 0.946" in told
    assert headline([standings["figure-2c"]]) is None
