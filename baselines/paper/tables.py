"""Tables of a figure's page: of its rows, how far they are apart, of the grid's points, of all runs."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from baselines.config import TextRecipe
from baselines.evaluate import SHORT
from baselines.paper.figures import Figure, Row, read_board_once
from baselines.paper.plan import operations_of, parameters_of
from baselines.paper.records import Record
from baselines.paper.results import Difference, Estimate, RowSummary, Runs, difference
from sraven.board.board import Board
from sraven.board.ceilings import KNOWS
from sraven.core.escape import with_error

SPACE = "\N{NO-BREAK SPACE}"

NOTHING = "–"
"""Where there is no number."""


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; nothing without rows."""
    if not rows:
        return ""
    lines = [headings, ["---"] * len(headings), *([bound(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bound(text: str) -> str:
    """Return a text whose numbers no line breaks."""
    for sign in (" ± ", " %"):
        text = text.replace(sign, sign.replace(" ", SPACE))
    return text


def number(estimate: Estimate | None, digits: int = 3) -> str:
    """Return a mean with its standard error, by so many digits or those that the error needs; of a single
    seed, the mean alone.
    """
    if estimate is None:
        return NOTHING
    return _minus(with_error(estimate.mean, estimate.error, digits))


def signed(found: Difference) -> str:
    """Return a difference, and how surely there is one."""
    value, p = _minus(f"{found.value:+.3f}"), found.p
    if p is None:
        return value
    return f"{value} (p < 0.001)" if p < 0.001 else f"{value} (p = {p:.{2 if p >= 0.1 else 3}f})"


def _minus(text: str) -> str:
    return text.replace("-", "−")


def varied(figure: Figure) -> list[str]:
    """Return the fields in which the points of a figure's grid differ."""
    return [name for name in figure.points[0] if len({point[name] for point in figure.points}) > 1]


def point_names(figure: Figure) -> str:
    """Return the fields that the grid varies, as a heading."""
    return ", ".join(SHORT[name] for name in varied(figure))


def point_values(figure: Figure, point: Mapping[str, float] | None) -> str:
    """Return the values of a point in these fields."""
    return NOTHING if point is None else ", ".join(f"{point[name]:g}" for name in varied(figure))


def label(row: Row, names: Sequence[str]) -> str:
    """Return what distinguishes a row from others, in some columns; a number says of what it is."""
    given = [(name, row.labels[name]) for name in names if name in row.labels]
    return ", ".join(f"{name} {value}" if value[0].isdigit() else value for name, value in given)


def reported(row: Row) -> Estimate | None:
    """Return what the paper, or its authors, report of a row; None if there is no number."""
    for each in read_board_once(row.board).reported:
        if each.method == row.reported:
            return Estimate(each.value, each.standard_error, each.seeds)
    return None


# The tables --------------------------------------------------------------------------------------------


def score_table(figure: Figure, summaries: Sequence[RowSummary]) -> str:
    """Return the table of rows that ran; nothing if none did."""
    if not summaries:
        return ""
    first, *others = _splits(figure, summaries)
    with_reported = any(summary.row.reported for summary in summaries)
    # What a narrow screen cuts off comes last.
    headings = [*figure.headings, "seeds", f"`{first}`"]
    headings += ["reported", "ours − reported"] if with_reported else []
    headings += [*(f"`{split}`" for split in others), *(["kept"] if figure.kept else []), "training loss"]
    headings += ["grid points", point_names(figure)] if varied(figure) else []
    rows = []
    for summary in summaries:
        cells = [*summary.row.labels.values(), _seeds(figure, summary), number(summary.estimate(first))]
        if with_reported:
            ours, theirs = summary.estimate(first), reported(summary.row)
            apart = signed(difference(ours, theirs)) if ours and theirs else NOTHING
            cells += [number(theirs), apart]
        cells += [number(summary.estimate(split)) for split in others]
        cells += [number(summary.ratio("ood", "test"))] if figure.kept else []
        cells += [number(summary.training_loss, 5)]
        if varied(figure):
            cells += [f"{len(summary.points)}/{len(figure.points)}", point_values(figure, summary.point)]
        rows.append(cells)
    return table(headings, rows)


def rows_left(figure: Figure, summaries: Sequence[RowSummary]) -> str:
    """Say how many rows haven't run at full length, with what is reported of them; nothing if all have."""
    rows = [summary.row for summary in summaries if not summary.points]
    if not rows:
        return ""
    known = (f"{label(row, figure.headings)} {number(found)}" for row in rows if (found := reported(row)))
    named = f" (reported: {'; '.join(known)})" if any(map(reported, rows)) else ""
    count = f"{len(rows)} of {len(summaries):,} row{'s' * (len(summaries) != 1)}"
    return bound(f"Not run at full length yet: {count}{named}.")


def ceiling_table(figure: Figure) -> str:
    """Return the table of the best that can be reached on ``ood``; nothing where that is perfect."""
    rows = []
    for board in dict.fromkeys(row.board for row in figure.rows):
        known, unknown = (_ceiling(read_board_once(board), prior) for prior in KNOWS)
        if known is not None and round(known, 3) < 1:
            rows.append([f"`{board}`", f"{known:.3f}", NOTHING if unknown is None else f"{unknown:.3f}"])
    headings = ["board", "best that can be reached on `ood`", "thinking all combinations possible"]
    return table(headings, rows)


def _ceiling(board: Board | TextRecipe, prior: str) -> float | None:
    found = board.ceiling("ood", board.metric, prior) if "ood" in board.splits else None
    return None if found is None else found.value


def line_table(figure: Figure) -> str:
    """Return the table of what scores are read against; nothing where nothing is known."""
    splits, rows = _ranked(figure)[::-1], []
    boards = [read_board_once(name) for name in dict.fromkeys(row.board for row in figure.rows)]
    for board in boards:
        lines = zip(*(board.reference_levels(split) for split in splits), strict=True)
        of_board = [f"`{board.id}`"] * (len(boards) > 1)
        rows += [[*of_board, each[0].title, *(f"{line.value:.3f}" for line in each)] for each in lines]
    headings = ["board"] * (len(boards) > 1) + ["read against"]
    return table([*headings, *(f"`{split}`" for split in splits)], rows)


def _minutes(records: Sequence[Record]) -> str:
    """Return the mean minutes of a row's runs, apart for each device: a mean over devices is no machine's."""
    by_device: dict[str, list[float]] = {}
    for record in records:
        if record.seconds:
            device = str((record.machine or {}).get("device", "not known"))
            by_device.setdefault(device, []).append(record.seconds / 60)
    parts = (f"{np.mean(found):.0f} ({device})" for device, found in sorted(by_device.items()))
    return ", ".join(parts) or NOTHING


def cost_table(figure: Figure, summaries: Sequence[RowSummary]) -> str:
    """Return the table of what each row costs; nothing if none ran."""
    rows = []
    for summary in summaries:
        config = summary.points[0].records[0].config  # of its others, too, where all diverged
        operations = f"{operations_of(config) / config.steps / 1e9:.1f}"
        minutes = _minutes(summary.records)
        rows.append([*summary.row.labels.values(), f"{parameters_of(config):,}", operations, minutes])
    headings = [*figure.headings, "parameters", "G operations a step", "minutes (device)"]
    return table(headings, rows)


def difference_tables(
    figure: Figure, summaries: Sequence[RowSummary], board: Board | TextRecipe
) -> Iterator[str]:
    """Yield, for each column along which a figure compares, how far rows are from the best on ``ood``.

    Compared are rows that have both scores and differ in that column alone.
    """
    best = max if board.higher_is_better else min
    for heading in figure.compared:
        places: dict[str, list[RowSummary]] = {}
        for summary in summaries:
            if summary.estimate("ood") and summary.estimate("test"):
                others = [name for name in summary.row.labels if name != heading]
                places.setdefault(label(summary.row, others), []).append(summary)
        rows = []
        for place, group in places.items():
            first = best(group, key=lambda each: _of(each, "ood").mean)
            rows += [_compare(place, first, other, heading) for other in group if other is not first]
        lost = [f"{each}: `test` − `ood`" for each in "AB"]
        headings = ["", f"A: {heading}, best on `ood`", "B", "A − B on `test`", "A − B on `ood`", *lost]
        is_one_place = not any(row[0] for row in rows)
        yield table(headings[is_one_place:], [row[is_one_place:] for row in rows])


def _of(summary: RowSummary, split: str, seeds: frozenset[int] | None = None) -> Estimate:
    found = summary.estimate(split, seeds=seeds)
    assert found is not None, "only rows that ran are compared"
    return found


def _compare(place: str, best: RowSummary, other: RowSummary, heading: str) -> list[str]:
    """Return how far a row is from another, and how far each is on ``test`` from what it is on ``ood``."""
    # Rows of different seeds are compared on those that both have.
    seeds = (best.seeds & other.seeds) or None
    on_seeds = f" on seed {', '.join(map(str, sorted(seeds)))}" if seeds and best.seeds != other.seeds else ""
    both = [(_of(best, split, seeds), _of(other, split, seeds)) for split in ("test", "ood")]
    # The same runs have both scores, so their errors don't combine as those of two rows do.
    lost = [Difference(_of(each, "test").mean - _of(each, "ood").mean, None) for each in (best, other)]
    names = [label(each.row, [heading]) for each in (best, other)]
    return [place, *names, *(signed(difference(*each)) + on_seeds for each in both), *map(signed, lost)]


def point_table(figure: Figure, summaries: Sequence[RowSummary]) -> str:
    """Return the table of the grid's points, for rows of which several ran; nothing if there are none."""
    several = [summary for summary in summaries if len(summary.points) > 1]
    splits = _splits(figure, several)
    headings = [*figure.headings, point_names(figure), "seeds", *(f"`{split}`" for split in splits)]
    rows = [
        [
            *runs.row.labels.values(),
            point_values(figure, runs.point) + ", chosen" * (runs.point == summary.point),
            _seeds(figure, runs),
            *(number(runs.estimate(split)) for split in splits),
        ]
        for summary in several
        for runs in summary.points
    ]
    return table(headings, rows)


def _splits(figure: Figure, summaries: Sequence[RowSummary]) -> list[str]:
    """Return the splits to show: what a figure is of first, unranked ones last."""
    ranked = _ranked(figure)[::-1]
    records = (record for summary in summaries for runs in summary.points for record in runs.records)
    return list(dict.fromkeys([*ranked, *(split for record in records for split in record.scores)]))


def _ranked(figure: Figure) -> list[str]:
    """Return the splits of a figure's boards, in distribution first."""
    known = figure.board.splits
    return [name for name in ("test", "ood", "ood_terms") if name in known] or list(known)


def _seeds(figure: Figure, runs: Runs) -> str:
    return f"{len(runs.records)}/{len(figure.seeds)}"
