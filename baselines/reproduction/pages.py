"""Pages of results, made from the records: what the paper claims, what we find, what can't be said yet."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from baselines.reproduction.cells import ReadBoard, read_board_once
from baselines.reproduction.claims import CLAIMS, ENDING, INTRODUCTION, SEEDS, Claim
from baselines.reproduction.comparisons import beside_reported, comparisons, leads, reported_comparison
from baselines.reproduction.sets import Figure
from baselines.reproduction.standing import Standing
from baselines.reproduction.summaries import Level
from baselines.reproduction.tables import point_table, rows_left, run_table, score_table
from baselines.reproduction.words import meaning, plural, point_names, point_values, table
from sraven.core.boards.board import Board
from sraven.core.boards.ceilings import KNOWS

_ATTENTIONS = "[Names of attentions](../baselines.md#attention)"
_TERMS = {
    "fuzzylogic": f"{_ATTENTIONS}, [splits](../fuzzylogic.md#splits).",
    "sraven": f"{_ATTENTIONS}, [splits](../sraven.md#combinations-and-splits).",
    "c4": f"{_ATTENTIONS}, [scores](../language-modelling.md#evaluating).",
}
"""Where the words of a page are explained, by family of tasks."""

_GENERATED = "<!-- Made by `sraven reproduce --render` from the records beside it; edits are lost. -->"


def pages_of(
    standings: Sequence[Standing],
    results: Path,
    *,
    claims: Mapping[str, Claim] = CLAIMS,
    read: ReadBoard = read_board_once,
) -> dict[Path, str]:
    """Return the pages of figures, and the one that leads to them, by path.

    Args:
        standings: of the figures.
        results: the folder of the pages; the index lies beside it, under its name.
        claims: the prose of each figure.
        read: returns a board, given its id.
    """
    pages = {
        results / f"{each.figure.name}.md": page(each, claims[each.figure.name], read) for each in standings
    }
    return {results.with_name(f"{results.name}.md"): index(standings, results.name, read), **pages}


def picture_name(figure: Figure) -> str:
    """Return the name of a figure's picture, beside its page."""
    return f"{figure.name}.svg"


def is_drawn(standing: Standing) -> bool:
    """Tell whether a figure has a picture: if it is one in the paper, and something ran at full length."""
    return standing.figure.chart is not None and any(each.records for each in standing.summaries[0])


# A page -----------------------------------------------------------------------------------------------


def page(standing: Standing, claim: Claim, read: ReadBoard = read_board_once) -> str:
    """Return the page of a figure, as Markdown."""
    figure = standing.figure
    paragraphs = [
        _GENERATED,
        f"# {figure.title}",
        "## What the paper claims",
        claim.paper,
        reported_comparison(figure, read),
        "## What we find",
        _coverage(standing),
        *_level(standing, 0, read),
    ]
    for place, level in enumerate(standing.levels[1:], 1):
        paragraphs += [*_apart(standing, level), *_level(standing, place, read)]
    paragraphs += [
        "## What can't be said yet",
        "\n".join(f"- {note}" for note in (*_gaps(standing), *claim.notes)),
        "## How to go on",
        _how(standing),
        *_runs(standing, read),
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _apart(standing: Standing, level: Level) -> Iterator[str]:
    """Yield what tells runs of another length, or on another text, from the figure's."""
    runs = plural(len(level.records), "run")
    if level.steps is None:
        yield f"## Another text: `{(level.text or '')[:9]}`"
        yield f"Losses on another text can't be compared, so this is no part of the figure: {runs}."
        return
    yield f"## Another length: {level.steps:,} steps"
    yield (
        f"{100 * level.steps / standing.steps:.0f} % of full length. The learning rate falls to its end with "
        f"the last step, so this is another experiment, and no part of the figure: {runs}."
    )


def _coverage(standing: Standing) -> str:
    figure, found = standing.figure, standing.coverage
    text = f"**{found.done:,} of {found.planned:,} runs, full length**"
    if len(figure.points) == 1:
        return f"{text}."
    return (
        f"{text}, at the recipe's point of Table A3's grid ({point_names(figure)}: "
        f"{point_values(figure, figure.points[0])}); {found.grid_done:,} of {found.grid_planned:,} at all "
        f"{len(figure.points)} points."
    )


def _level(standing: Standing, place: int, read: ReadBoard) -> Iterator[str]:
    """Yield what runs of one length came to, in paragraphs."""
    figure = standing.figure
    summaries = [summary for summary in standing.summaries[place] if summary.points]
    board = read(figure.rows[0].board)
    if place == 0 and is_drawn(standing):
        yield f"![{figure.title}: the numbers of the table below]({picture_name(figure)})"
    scores = f"Scores are `{board.metric}`, {meaning(board.metric)}."
    with_reported = any(row.reported for row in figure.rows)
    yield scores + " What is reported is of held-out tasks." * with_reported
    if place == 0:
        yield _ceilings(figure, read)
        yield _TERMS[figure.family]
    yield score_table(figure, summaries, read)
    if place == 0:
        yield rows_left(figure, standing.summaries[0], read)
        yield beside_reported(figure, summaries, read)
    if text := standing.levels[place].text:
        yield f"Trained on the text `{text[:9]}`, by the digest of its tokens."
    if any(summary.records for summary in summaries):
        yield from comparisons(figure, summaries, bool(board.content["higher_is_better"]))
        if len(figure.points) > 1:
            yield (
                "Of the grid's points that ran with the most seeds, a row shows the one with the best mean "
                + ("score on `test`, never by `ood`." if "test" in board.splits else "score.")
            )
        if points := point_table(figure, summaries, read):
            yield f"Where several points ran, one by one:\n\n{points}"
        yield SEEDS


def _ceilings(figure: Figure, read: ReadBoard) -> str:
    """Say what the ideal observer scores on ``ood`` of a figure's boards; nothing where that is perfect."""
    texts = []
    for board in dict.fromkeys(row.board for row in figure.rows):
        known, unknown = (_ceiling(read(board), knowing) for knowing in KNOWS)
        if known is not None and round(known, 3) < 1:
            texts.append(f"{known:.3f} on `{board}`" + (f" ({unknown:.3f})" if unknown is not None else ""))
    return (
        "The best that can be reached on `ood` knowing its combinations (in brackets: thinking all "
        f"combinations possible): {', '.join(texts)}."
        if texts
        else ""
    )


def _ceiling(board: Board, knowing: str) -> float | None:
    found = board.ceiling("ood", board.metric, knowing) if "ood" in board.splits else None
    return None if found is None else found.value


def _gaps(standing: Standing) -> Iterator[str]:
    """Yield what the coverage leaves open."""
    figure, found, summaries = standing.figure, standing.coverage, standing.summaries[0]
    if found.grid_done == 0:
        yield "Nothing can be concluded yet: none of its runs has been trained at full length."
        return
    few = sum(0 < len(summary.records) < len(figure.seeds) for summary in summaries)
    if few:
        yield (
            f"{plural(few, 'row')} {'has' if few == 1 else 'have'} fewer seeds than {len(figure.seeds)}; of "
            "one seed, nothing is known of the spread."
        )
    if found.grid_done < found.grid_planned:
        yield (
            f"The grid is unfinished ({found.grid_done:,} of {found.grid_planned:,} runs), so a row may have "
            "a better point than the one that it shows, and the paper's has been chosen from all."
        )


def _how(standing: Standing) -> str:
    name, found = standing.figure.name, standing.coverage
    if standing.figure.family == "c4":
        return (
            f"Text has to be [prepared](../language-modelling.md) first; then `sraven reproduce --run {name} "
            "--tokens TOKENS --validation DOCUMENTS` trains what is left on it."
        )
    grid = "" if found.grid_planned == found.planned else "; `--grid` trains the other points as well"
    return (
        f"`sraven reproduce --plan {name}` says what is left and how long it takes, "
        f"`sraven reproduce --run {name} --budget 3h` trains it{grid}. "
        "[The results](../results.md) have the rest."
    )


def _runs(standing: Standing, read: ReadBoard) -> Iterator[str]:
    """Yield all runs, one by one."""
    count = sum(len(level.records) for level in standing.levels)
    if count:
        # Closed at first: a figure may have hundreds.
        yield f"<details>\n<summary>All {plural(count, 'run')}, one by one</summary>"
        yield run_table(standing, read)
        yield "</details>"


# The index --------------------------------------------------------------------------------------------


def index(standings: Sequence[Standing], folder: str, read: ReadBoard = read_board_once) -> str:
    """Return the page that leads to the figures.

    Args:
        standings: of the figures.
        folder: name of the folder of their pages.
        read: returns a board, given its id.
    """
    rows = []
    for each in standings:
        found = each.coverage
        lengths = [f"{len(level.records)} of {level.name}" for level in each.levels[1:]]
        rows.append(
            [
                f"[{each.figure.title}]({folder}/{each.figure.name}.md)",
                f"{found.done:,} of {found.planned:,}",
                f"{found.grid_done:,} of {found.grid_planned:,}",
                "; ".join(lengths) or "none",
            ]
        )
    coverage = table(["figure or table", "runs, full length", "whole grid", "other lengths"], rows)
    names = "\n".join(f"{folder}/{each.figure.name}" for each in standings)
    tree = f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```"
    ahead = _ahead(standings, folder, read)
    paragraphs = [_GENERATED, INTRODUCTION, *ahead, "## How much there is", coverage, ENDING, tree]
    return "\n\n".join(paragraphs) + "\n"


def _ahead(standings: Sequence[Standing], folder: str, read: ReadBoard) -> Iterator[str]:
    """Yield who is ahead at full length; a figure that has the runs of earlier ones alone says no more."""
    told: set[str] = set()
    sentences = []
    for each in standings:
        runs = each.levels[0].records.keys() - told
        told |= runs
        higher_is_better = bool(read(each.figure.rows[0].board).content["higher_is_better"])
        found = leads(each.figure, each.summaries[0], higher_is_better) if runs else []
        sentences += [f"- [{each.figure.title}]({folder}/{each.figure.name}.md), {lead}" for lead in found]
    if sentences:
        yield "## Who is ahead, at full length"
        yield "\n".join(sentences)
