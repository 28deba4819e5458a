"""Tables of a figure's page: of its rows, of the grid's points, of all runs."""

from collections.abc import Sequence

from baselines.reproduction.cells import Cell, ReadBoard
from baselines.reproduction.records import Record
from baselines.reproduction.sets import Figure
from baselines.reproduction.standing import Standing
from baselines.reproduction.summaries import Runs, Summary
from baselines.reproduction.words import (
    NOTHING,
    bound,
    label,
    number,
    plural,
    point_names,
    point_values,
    products,
    reported,
    table,
    varied,
)


def score_table(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> str:
    """Return the table of rows that ran; nothing if none did."""
    if not summaries:
        return ""
    first, *others = _splits(figure, summaries, read)
    with_reported = any(summary.row.reported for summary in summaries)
    # What a narrow screen cuts off comes last.
    headings = [*figure.headings, "seeds", f"`{first}`"]
    headings += ["reported"] if with_reported else []
    headings += [*(f"`{split}`" for split in others), "training loss"]
    headings += ["grid points", point_names(figure)] if varied(figure) else []
    rows = []
    for summary in summaries:
        cells = [*summary.row.labels.values(), _seeds(figure, summary), number(summary.estimate(first))]
        cells += [number(reported(summary.row, read(summary.row.board)))] if with_reported else []
        cells += [*(number(summary.estimate(split)) for split in others), number(summary.training_loss, 5)]
        if varied(figure):
            cells += [f"{len(summary.points)}/{len(figure.points)}", point_values(figure, summary.point)]
        rows.append(cells)
    return table(headings, rows)


def rows_left(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> str:
    """Say which rows haven't run at full length, with what is reported of them; nothing if all have."""
    rows = [summary.row for summary in summaries if not summary.points]
    if not rows:
        return ""
    found = {label(row, figure.headings): reported(row, read(row.board)) for row in rows}
    if any(found.values()):
        named = "; ".join(f"{name} {number(theirs)}" for name, theirs in found.items())
        named = f"reported: {named}"
    else:
        named = "; ".join(products(rows, figure.headings))
    return bound(f"Not run at full length yet: {len(rows)} of {plural(len(summaries), 'row')} ({named}).")


def point_table(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> str:
    """Return the table of the grid's points, for rows of which several ran; nothing if there are none."""
    several = [summary for summary in summaries if len(summary.points) > 1]
    if not several:
        return ""
    splits = _splits(figure, several, read)
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


def _splits(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> list[str]:
    """Return the splits to show: what a figure is of first, unranked ones last."""
    ranked = _ranked(figure, read)[::-1]
    records = (record for summary in summaries for runs in summary.points for record in runs.records)
    return list(dict.fromkeys([*ranked, *(split for record in records for split in record.scores)]))


def _ranked(figure: Figure, read: ReadBoard) -> list[str]:
    """Return the splits of a figure's boards, in distribution first."""
    known = read(figure.rows[0].board).splits
    return [name for name in ("test", "ood") if name in known] or list(known)


def _seeds(figure: Figure, runs: Runs) -> str:
    return f"{len(runs.records)}/{len(figure.seeds)}"


def run_table(standing: Standing, read: ReadBoard) -> str:
    """Return the table of all runs, one by one."""
    figure = standing.figure
    varying = [point_names(figure)] if varied(figure) else []
    scores = [f"`{split}`" for split in _ranked(figure, read)]
    headings = [
        *figure.headings,
        "seed",
        *varying,
        "steps",
        *scores,
        "training loss",
        "hours",
        "code",
        "record",
    ]
    rows = [
        _run(standing, cell, level.records[cell.digest], read)
        for level in standing.levels
        for cell in standing.cells
        if cell.digest in level.records
    ]
    return table(headings, rows)


def _run(standing: Standing, cell: Cell, record: Record, read: ReadBoard) -> list[str]:
    """Return the row of a run."""
    figure, metric = standing.figure, read(record.config.board).metric
    scores = (record.score(split, metric) for split in _ranked(figure, read))
    return [
        *cell.row.labels.values(),
        str(record.config.seed),
        *([point_values(figure, cell.point)] if varied(figure) else []),
        f"{record.steps:,}" + (", diverged" if record.diverged else ""),
        *(NOTHING if score is None else f"{score:.3f}" for score in scores),
        NOTHING if record.training_loss is None else f"{record.training_loss:.5f}",
        NOTHING if record.seconds is None else f"{record.seconds / 3600:.2f}",
        f"`{record.commit[:9]}`" if record.commit else NOTHING,
        f"[{record.digest[:9]}]({standing.links[record.digest]})",
    ]
