"""Print scores, and what they are read against: ceilings, reference levels, chance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.shared.printing import print_rows, print_table
from sraven.core.escape import escape, figure, with_error

if TYPE_CHECKING:
    from sraven.board.board import Board
    from sraven.leaderboard.evidence import Evidence
    from sraven.scoring.composing import Composing


def mean_with_error(score: Mapping[str, Any]) -> str:
    """Return a mean over seeds with its standard error, where there are several."""
    return "–" if score["mean"] is None else with_error(score["mean"], score["standard_error"])


def span(interval: Sequence[float] | None) -> str:
    """Return an interval in words; an empty text for none."""
    return " to ".join(map(figure, interval)) if interval else ""


def score_cells(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the cells of scores: of each its mean, and its interval."""
    return [cell for score in found for cell in (mean_with_error(score), span(score["interval"]))]


def print_scores(scores: Mapping[str, Any], beside: Mapping[str, Any], primary: str) -> None:
    """Print the scores of a submission: a row for each metric, columns for each split.

    Args:
        scores: what ``scores.json`` holds.
        beside: by split and metric, scores that aren't the board's.
        primary: the metric that ranks. Its intervals are over combinations, where its scores are known by
            them; all others are those of ``scores.json``.
    """
    from rich.table import Table

    from sraven.board.board import read_board
    from sraven.core.families import find_family
    from sraven.scoring.bootstrap import SHARE
    from sraven.scoring.scores import interval_over_combinations

    splits = scores["splits"]
    metrics = {split: dict(found["metrics"]) for split, found in splits.items()}
    over = f"over {find_family(read_board(scores['board']).family).resampled}"
    for split, found in splits.items():
        if interval := interval_over_combinations(found, primary):
            metrics[split][primary] = {**metrics[split][primary], "interval": interval}
            over = f"over combinations for {primary}, over instances for the others"
    table = Table("metric", title=f"{scores['board']} ({SHARE} intervals {over})", title_justify="left")
    for split, found in splits.items():
        seeds = len(found["seeds"])
        table.add_column(f"{split}: {found['instances']:,} instances, {seeds} seed{'s' * (seeds > 1)}")
        table.add_column("interval")
    for name in dict.fromkeys(name for found in metrics.values() for name in found):
        table.add_row(name, *score_cells(found[name] for found in metrics.values()))
    for name in dict.fromkeys(name for found in splits.values() for name in found["gap_to_ceiling"]):
        by_split = (found["gap_to_ceiling"].get(name) for found in splits.values())
        row = [cell for gap in by_split for cell in ("–" if gap is None else figure(gap), "")]
        table.add_row(f"gap of {name} to the ceiling", *row)
    table.add_section()
    for name in dict.fromkeys(name for found in beside.values() for name in found):
        cells = score_cells(beside[split][name] for split in splits)
        table.add_row(f"{name} (younger than the board)", *cells)
    missing = {split: found["missing"] for split, found in splits.items() if any(found["missing"])}
    print_table(table)
    if missing:
        click.echo(f"missing predictions, counted as wrong, by seed: {missing}", err=True)


def print_advice(found: "Evidence") -> None:
    """Print why a submission won't be ranked, or what to know of it, and what it doesn't say, a line each."""
    from sraven.leaderboard.eligibility import find_omissions, find_remarks, judge_submission

    reasons = judge_submission(found)
    for reason in reasons:
        click.echo(f"not ranked: {escape(reason.reason, 400)}; {reason.advice}")
    for note in (*(() if reasons else find_remarks(found)), *find_omissions(found)):
        click.echo(f"note: {note}")


Row = tuple[str, Mapping[str, str]]
"""The title of a reference level, and its score by split."""


def _ceiling(board: "Board", splits: Sequence[str]) -> Iterator[Row]:
    """Yield the ceiling of the board's file, and what it assumes."""
    found = {split: each for split in splits if (each := board.ceiling(split, board.metric))}
    scores = {split: with_error(each.value, each.standard_error) for split, each in found.items()}
    for answers in dict.fromkeys(each.answers for each in found.values()):
        yield f"ceiling, {answers}, knowing the split", scores


def _level_rows(board: "Board", splits: Sequence[str]) -> Iterator[Row]:
    """Yield the reference levels of a board, and last the score of guessing."""
    by_name: dict[str, dict[str, str]] = {}
    for split in splits:
        for level in board.reference_levels(split):
            by_name.setdefault(level.title, {})[split] = with_error(level.value, level.standard_error)
    yield from by_name.items()
    if board.chance is not None:
        yield "chance", dict.fromkeys(splits, f"{board.chance:.4g}")


def print_composing(board: "Board", found: "Composing") -> None:
    """Print what a submission keeps of its score on held-out combinations."""
    from sraven.scoring.bootstrap import SHARE
    from sraven.scoring.composing import KNOWN

    rows = [
        (f"known ({KNOWN})", found.known),
        (f"held out ({board.primary_split})", found.held_out),
        *(
            (f"  new pairs: {each.pairs} ({each.combinations} combinations)", each.score)
            for each in found.by_new_pairs
            if len(found.by_new_pairs) > 1
        ),
        ("kept: held out / known", found.kept),
        ("effect of being held out, at equal parts", found.at_equal_parts),
    ]
    if parts := found.parts:
        rows += [
            (f"features right at equal rules, known ({KNOWN})", parts.known),
            (f"features right at equal rules, held out ({board.primary_split})", parts.held_out),
            ("  lost: known less held out", parts.lost),
            ("  kept: held out / known", parts.kept),
        ]
    cells = (
        (title, "–" if each.value is None else figure(each.value), span(each.interval))
        for title, each in rows
    )
    print_rows((found.metric, "mean over seeds", f"{SHARE} over combinations"), cells)


def print_siblings(found: "Evidence") -> None:
    """Print how features are answered for which their rule's sibling gives another symbol."""
    rows = [
        (f"{split}: {row['name']}", f"{row['total']:,}", *map(figure, _sibling_shares(row)))
        for split, table in found.siblings.items()
        for row in table["rows"]
    ]
    if rows:
        print_rows(("rows or partners", "features", "right", "as their rule's sibling"), rows)


def _sibling_shares(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the shares of features that are right, and that are answered by the sibling's rule."""
    counts = (row["wrong"]["counts"], row["of_wrong"]["the sibling's answer"]["counts"])
    wrong, as_sibling = (sum(each) / len(each) / row["total"] for each in counts)
    return 1 - wrong, as_sibling


def print_bounds(board: "Board", splits: Sequence[str]) -> None:
    """Print what scores by the board's primary metric are read against on some splits."""
    if found := [*_ceiling(board, splits), *_level_rows(board, splits)]:
        rows = ((label, *(values.get(split, "–") for split in splits)) for label, values in found)
        print_rows((f"{board.metric} is read against", *splits), rows)
    if new := board.divergences:  # none where nothing is held out
        click.echo(
            f"divergence: of {board.primary_split} from train: {new.atoms:.3f} of parts (rules or terms), "
            f"{new.compounds:.3f} of pairs of parts"
        )
