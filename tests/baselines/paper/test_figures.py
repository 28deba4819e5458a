"""The figures' runs and steps, against the counts that were made without this code."""

from operator import attrgetter

import pytest

from baselines.paper.cells import cells_of, choose, config_of, has_levels, homes_of
from baselines.paper.figures import FIGURES, QUEUES
from baselines.paper.tables import reported
from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError

COUNTED = {
    "figure-2c": (108, 5.4e6, 432),
    "table-a1-fuzzylogic": (42, 2.1e6, 168),
    "table-a1-sraven": (42, 6.6e6, 336),
    "figure-4": (135, 24.6e6, 1080),
    "activations": (15, 2.3e6, 120),
    "figure-5c": (45, 7e6, 360),
    "figure-5d": (63, 10e6, 504),
    "figure-a5": (81, 13e6, 648),
    "figures-a6-a7": (4, 1.25e6, 4),
    "figure-6": (3, 3.0e6, 12),
}
"""Runs and steps at one point of the grid, then runs of the whole grid."""


@pytest.fixture(scope="module")
def cells():
    return {name: cells_of(figure) for name, figure in FIGURES.items()}


@pytest.mark.parametrize("name", COUNTED)
def test_a_figure_has_the_runs_and_steps_that_it_takes(cells, name):
    runs, steps, grid_runs = COUNTED[name]
    first = [cell for cell in cells[name] if cell.point == FIGURES[name].points[0]]
    assert (len(first), len(cells[name])) == (runs, grid_runs)
    assert sum(cell.config.steps for cell in first) == pytest.approx(steps, rel=0.03)


def test_cells_have_digests_of_their_own_and_rows_the_same_columns_and_a_place_of_their_own(cells):
    for name, figure in FIGURES.items():
        digests = [cell.digest for cell in cells[name]]
        assert len(set(digests)) == len(digests) == len(figure.rows) * len(figure.points) * len(figure.seeds)
        assert {tuple(row.labels) for row in figure.rows} == {figure.headings}
        assert len({tuple(row.labels.values()) for row in figure.rows}) == len(figure.rows)
        assert set(figure.compared) <= set(figure.headings)
        if figure.chart:
            assert {figure.chart.across, figure.chart.panel or "attention"} <= set(figure.headings)


def test_what_is_said_to_be_reported_is_on_the_board():
    rows = [row for figure in FIGURES.values() for row in figure.rows if row.reported]
    assert len(rows) == 14 + 14 + 5
    assert all(reported(row) for row in rows)


SAID = {
    "points": lambda config: str(config["N"]),
    "held out": lambda config: f"{100 * config['holdout']:.0f} %",
    "M": lambda config: str(config["M"]),
}
"""What a board's configuration has to do with labels, by their heading."""


@pytest.mark.parametrize("name", ["figure-2c", "figure-5d", "figure-a5"])
def test_boards_are_what_the_rows_say(name):
    for row in FIGURES[name].rows:
        config = read_board(row.board).content["config"]
        said = {heading: SAID[heading](config) for heading in row.labels if heading != "attention"}
        assert said.items() <= row.labels.items() and said


def test_both_readings_of_the_width_factor_are_cells():
    fields = attrgetter("width", "qkv_width", "mlp_width", "heads")
    shapes = {
        (row.labels["model"], *fields(config_of(row, FIGURES[name].points[0], 0)))
        for name in ("figure-4", "figure-4-heads")
        for row in FIGURES[name].rows
        if "width" in row.labels["model"]
    }
    assert shapes == {
        ("width factor 2", 256, 128, 512, 16),
        ("width factor 4", 512, 256, 1024, 16),
        ("width factor 2 for heads too", 256, 128, 512, 32),
        ("width factor 4 for heads too", 512, 256, 1024, 64),
    }


def test_a_run_of_several_figures_has_one_home():
    figure = FIGURES["table-a1-fuzzylogic"]
    hyla = config_of(figure.rows[2], figure.points[0], 1)
    beside = ["attention-dropout", "precision-fuzzylogic", "splits-fuzzylogic", "rivals-fuzzylogic"]
    beside += ["positions-fuzzylogic"]
    assert homes_of(hyla) == ["figure-2c", "table-a1-fuzzylogic", *beside]
    deep = config_of(figure.rows[9], figure.points[0], 1)
    assert homes_of(deep) == ["table-a1-fuzzylogic", "rivals-fuzzylogic"]


def test_figures_whose_rows_have_lengths_of_their_own_have_no_shorter_level():
    without = {name for name, figure in FIGURES.items() if not has_levels(figure)}
    assert without == {"figure-4", "figure-4-heads", "who-composes", "rows-or-partners", "budgets-fuzzylogic"}


def test_a_queue_is_trained_in_its_order():
    assert len(list(choose(QUEUES, {}))) == sum(map(len, QUEUES.values()))
    [one] = [each for each in choose(["queue"], {"heads": ["1"]}) if each.cells]
    assert (one.figure.name, len(one.cells)) == ("figure-5c", 9)
    with pytest.raises(ConfigurationError, match="figure='figure-9'"):
        list(choose(["figure-9"], {}))
