"""Pages of results: what was written by hand of a figure, and below it what the records give."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from baselines.paper import tables
from baselines.paper.figures import Figure
from baselines.paper.plan import operations_of
from baselines.paper.records import FOLDER
from baselines.paper.results import FigureStanding
from baselines.paper.tables import point_names, point_values, table

_ATTENTIONS = "[Names of attentions](../baselines.md#attention)"
_TERMS = {
    "fuzzylogic": f"{_ATTENTIONS}, [splits](../fuzzylogic.md#splits).",
    "sraven": f"{_ATTENTIONS}, [splits](../sraven.md#combinations-and-splits).",
    "c4": f"{_ATTENTIONS}, [scores](../language-modelling.md#evaluating).",
}
"""Where the words of a page are explained, by family of tasks."""

_MEANINGS = {
    "r2_per_sequence": "the paper's R²: 1 is perfect",
    "accuracy": "the share of panels that are right in all features",
    "loss": "nats a token: less is better",
}

_INDEX = "index"
"""Name of what was written by hand of all figures together."""

_SEEDS = (
    "± is the standard error over seeds, and p that of Welch's t-test between two means of seeds. In the "
    "published code a seed also draws the split and the data; here it draws parameters and dropout, while "
    "all runs see the same split and data. So an error here says less than one there."
)


def pages_of(standings: Sequence[FigureStanding], results: Path) -> dict[Path, str]:
    """Return the pages of figures that have runs or prose, and the one that leads to them, by path.

    Args:
        standings: of the figures.
        results: the folder of the pages; the index lies beside it, under its name.
    """
    shown = (each for each in standings if _has_page(each, results))
    pages = {results / f"{each.figure.name}.md": page(each, results) for each in shown}
    return {results.with_name(f"{results.name}.md"): index(standings, results), **pages}


def prose_path(results: Path, name: str) -> Path:
    """Return where the text lies that was written by hand of a figure, beside its records."""
    return results / FOLDER / f"{name}.md"


def _beginning(results: Path, name: str) -> Iterator[str]:
    path = prose_path(results, name)
    where = path.relative_to(results.parent).as_posix()
    yield f"<!-- Made by `sraven reproduce --render` from the records and {where}; edits here are lost. -->"
    if path.is_file():
        yield path.read_text("utf-8").strip()


def picture_name(figure: Figure) -> str:
    """Return the name of a figure's picture, beside its page."""
    return f"{figure.name}.svg"


def _has_runs(standing: FigureStanding) -> bool:
    return any(summary.points for level in standing.summaries for summary in level)


def _has_page(standing: FigureStanding, results: Path) -> bool:
    return _has_runs(standing) or prose_path(results, standing.figure.name).is_file()


def is_drawn(standing: FigureStanding) -> bool:
    """Return whether a figure has a picture: if it is one in the paper, and something ran at full length."""
    return standing.figure.chart is not None and any(each.records for each in standing.summaries[0])


# A page -----------------------------------------------------------------------------------------------


def page(standing: FigureStanding, results: Path) -> str:
    """Return the page of a figure, as Markdown."""
    comment, *prose = _beginning(results, standing.figure.name)
    paragraphs = [comment, f"# {standing.figure.title}", *prose, "## Runs"]
    if not _has_runs(standing):
        paragraphs.append(_not_run(standing))
    else:
        paragraphs.append(_coverage(standing))
        for place in range(len(standing.levels)):
            paragraphs += _level(standing, place)
    paragraphs += ["## How to go on", _how(standing)]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _coverage(standing: FigureStanding) -> str:
    figure, found = standing.figure, standing.coverage
    text = f"**{found.done:,} of {found.planned:,} runs, full length**"
    if len(figure.points) == 1:
        return f"{text}."
    return (
        f"{text}, at the recipe's point of Table A3's grid ({point_names(figure)}: "
        f"{point_values(figure, figure.points[0])}); {found.grid_done:,} of {found.grid_planned:,} at all "
        f"{len(figure.points)} points."
    )


def _not_run(standing: FigureStanding) -> str:
    """Return what stands in place of results where nothing ran: how much is planned, and its cost."""
    figure, found = standing.figure, standing.coverage
    first = [cell.config for cell in standing.cells if cell.point == figure.points[0]]
    steps, operations = sum(each.steps for each in first), sum(map(operations_of, first))
    grid = f" ({found.grid_planned:,} at all {len(figure.points)} points of the grid)"
    return (
        f"**No run yet.** There are {found.planned:,} of them{grid * (len(figure.points) > 1)}: {steps:,} "
        f"steps and {operations:.1e} floating-point operations."
    )


def _level(standing: FigureStanding, place: int) -> Iterator[str]:
    """Yield the results of runs of one length, in paragraphs."""
    figure, level, is_whole = standing.figure, standing.levels[place], place == 0
    summaries = [summary for summary in standing.summaries[place] if summary.points]
    board = figure.board
    if not is_whole:
        yield f"## {level.name[:1].upper()}{level.name[1:]}"
        yield "Another experiment, and no part of the figure: see [how runs are counted](../results.md)."
    elif is_drawn(standing):
        yield f"![{figure.title}: the numbers of the table below]({picture_name(figure)})"
    reported = " What is reported is of held-out tasks." * any(row.reported for row in figure.rows)
    meaning = _MEANINGS.get(board.metric, "as the board defines it")
    yield f"Scores are `{board.metric}`, {meaning}.{reported}"
    if is_whole:
        yield _TERMS[figure.family]
        yield tables.ceiling_table(figure)
    yield tables.score_table(figure, summaries)
    if is_whole and figure.costed:
        yield tables.line_table(figure)
        yield tables.cost_table(figure, summaries)
    if is_whole:
        yield tables.rows_left(figure, standing.summaries[0])
    if level.text:
        yield f"Trained on the text `{level.text[:9]}`, by the digest of its tokens."
    if any(summary.records for summary in summaries):
        yield from tables.difference_tables(figure, summaries, board)
        if len(figure.points) > 1:
            yield (
                "Of the grid's points that ran with the most seeds, a row shows the one with the best mean "
                + ("score on `test`, never by `ood`." if "test" in board.splits else "score.")
            )
        if points := tables.point_table(figure, summaries):
            yield f"Where several points ran, one by one:\n\n{points}"
        yield _SEEDS


def _how(standing: FigureStanding) -> str:
    name, found = standing.figure.name, standing.coverage
    if standing.figure.family == "c4":
        return (
            f"Text has to be [prepared](../language-modelling.md) first; then `sraven reproduce --run {name} "
            "--tokens TOKENS --validation DOCUMENTS` trains what is left on it."
        )
    grid = "" if found.grid_planned == found.planned else "; `--grid` trains the other points as well"
    return (
        f"`sraven reproduce --plan {name}` says what is left, "
        f"`sraven reproduce --run {name} --budget 3h` trains it{grid}. "
        "[The results](../results.md) have the rest, and `results/reproduction` has a record of each run."
    )


# The index --------------------------------------------------------------------------------------------


def index(standings: Sequence[FigureStanding], results: Path) -> str:
    """Return the page that leads to the figures."""
    folder, rows = results.name, []
    for each in standings:
        *runs, lengths = each.counts
        name, title = each.figure.name, each.figure.title
        shown = f"[{title}]({folder}/{name}.md)" if _has_page(each, results) else f"{title} (`--run {name}`)"
        rows.append([shown, *runs, lengths or "none"])
    coverage = table(["figure or table", "runs, full length", "whole grid", "other lengths"], rows)
    names = "\n".join(f"{folder}/{each.figure.name}" for each in standings if _has_page(each, results))
    tree = f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```"
    paragraphs = [*_beginning(results, _INDEX), "## How much there is", coverage, tree]
    return "\n\n".join(paragraphs) + "\n"
