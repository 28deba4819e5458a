"""Compare entries on the same instances: difference, interval, p."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import directory, leave_out, threads_option
from cli.shared.printing import json_option, print_outcome, print_rows
from cli.shared.scores import span
from cli.shared.standing import CHECKOUT, find_standing
from sraven.core.escape import escape, figure, p_value
from sraven.files.jsonable import as_json

if TYPE_CHECKING:
    from sraven.leaderboard.comparison import Compared, Difference
    from sraven.leaderboard.standing import Entry, Standing

ALL = "all"


@click.command(name="compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--against", metavar=ALL, help="In place of B: compare with every filed entry of the board.")
@click.option(
    "--leaderboard",
    type=directory,
    help=f"Where names are looked up, and what --against {ALL} scores anew.  [default: {CHECKOUT}, and the "
    "package's snapshot]",
)
@threads_option
@json_option
def command(
    first: str, second: str | None, against: str | None, leaderboard: Path | None, threads: int | None
) -> None:
    """Compare two submissions to a board, each a directory or the name of a filed entry.

    A difference is A less B on the same instances. Its interval and p are those of 20,000 draws of other
    combinations and other seeds. A single seed is taken to differ from others as the seeds of the other
    submission do; if both have one, the interval is over combinations alone.

    Of two, all metrics on all splits are compared, and it is counted on how many instances A is better and on
    how many B is: McNemar's counts where instances are right or wrong. What the board ranks by is one planned
    comparison; for all others, p is corrected (Holm). With --against all, A stands beside every filed entry
    by what its board ranks by: networks that saw as many instances, other networks, references and learnt
    ceilings. p is corrected within each of the three.

    \b
    Example:
      sraven compare my-submission 20261122-hyla-6-400-000-instances
      sraven compare my-submission --against all
    """
    if (second is None) == (against is None) or against not in (None, ALL):
        raise click.UsageError(f"name a second submission, or give --against {ALL}, and not both")
    if second is None:
        leave_out(["threads"], "--against all compares scores that are there")
        _compare_with_all(first, leaderboard)
        return
    from sraven.leaderboard.comparison import compare_submissions

    found = compare_submissions(first, second, leaderboard=leaderboard or CHECKOUT, threads=threads)
    print_outcome(value=as_json(found), text=lambda: _print_compared(found))


def _cells(found: "Difference") -> list[str]:
    """Return the cells of a difference: it, its interval, p as it is and corrected, and what holds."""
    if found.difference is None or found.corrected is None or found.p is None:
        return ["–"] * 5
    both = [p_value(each) for each in (found.p, found.corrected)]
    return [f"{found.difference:+.4f}", span(found.interval), *both, _word(found)]


def _word(found: "Difference") -> str:
    """Return what holds: by the corrected p, else by the interval alone."""
    low, high = found.interval or (0.0, 0.0)
    if low <= 0 <= high and not found.is_clear:
        return "can't be told"
    return ("ahead" if found.is_better else "behind") + ("" if found.is_clear else " before correction")


_COLUMNS = ("A − B", "95 % interval", "p", "p (Holm)", "A is")


def _notes(seeds: Iterable[int], budgets: Sequence[int]) -> list[str]:
    """Return what to know of a comparison: unequal budgets, and single seeds."""
    notes = []
    if len(set(budgets)) > 1:
        notes.append(f"budgets differ: {' and '.join(f'{each:,}' for each in budgets)} training instances")
    if 1 in seeds:
        notes.append("one seed: how far others would differ isn't known; those of the other stand in for it")
    return notes


def _counts(found: "Difference") -> list[str]:
    """Return the cells that say on how many instances each is better."""
    return [f"{count:,.0f}" for count in found.better] if found.better else ["–"] * 2


def _print_compared(found: "Compared") -> None:
    """Print a table for each split."""
    for name, method, seeds in zip("AB", found.methods, found.seeds, strict=True):
        click.echo(f"{name}: {escape(method)}, {seeds} {'seed' if seeds == 1 else 'seeds'}")
    for split, metrics in found.splits.items():
        rows = [
            (
                metric,
                *("–" if value is None else figure(value) for value in (each.first, each.second)),
                *_cells(each),
                *_counts(each),
            )
            for metric, each in metrics.items()
        ]
        headings = ("metric", "A", "B", *_COLUMNS, "A better", "B better")
        print_rows(headings, rows, title=f"{found.board}, {split}", title_justify="left", right=headings[1:])
    for note in _notes(found.seeds, found.train_instances):
        click.echo(note)


def _find_entry(name: str, leaderboard: Path | None) -> "tuple[Standing, Entry]":
    """Return the standing of the board of a submission or filed entry, and its row."""
    from sraven.leaderboard.comparison import find_entry
    from sraven.leaderboard.submissions.submission import SUBMISSIONS, read_description

    folder = find_entry(name, leaderboard or CHECKOUT)
    board = str(read_description(folder)[0]["board"])
    is_filed = folder.resolve().parent.parent == (leaderboard or CHECKOUT).resolve() / SUBMISSIONS
    # One that was filed after the snapshot isn't there, and stands beside it as one's own does.
    for added in [(), (folder,)] if is_filed else [(folder,)]:
        [standing] = find_standing(leaderboard, board, added).standings
        for entry in standing.entries:
            if entry.own or (is_filed and entry.id == f"{board}/{folder.name}"):
                return standing, entry
    raise click.UsageError(f"{escape(name)} isn't among the entries of {board}")


def _families(entry: "Entry", others: "Iterable[Entry]") -> "dict[str, list[Entry]]":
    """Return other entries by what they are beside one; p is corrected within each."""
    from sraven.leaderboard.standing import LEARNT_CEILING, REFERENCE, saw_as_many

    names = "networks that saw as many instances", "other networks", "references and learnt ceilings"
    found: dict[str, list[Entry]] = {name: [] for name in names}
    for other in others:
        is_network = other.family not in (REFERENCE, LEARNT_CEILING)
        found[names[not saw_as_many(other, entry.train_instances) if is_network else 2]].append(other)
    return {name: members for name, members in found.items() if members}


def _compare_with_all(name: str, leaderboard: Path | None) -> None:
    """Print how a submission differs from every filed entry of its board."""
    from sraven.leaderboard.comparison import compare_entries

    standing, entry = _find_entry(name, leaderboard)
    board = standing.board
    others = [
        each for each in standing.entries if each.is_filed and each is not entry and each.value is not None
    ]
    if entry.value is None or not others:
        raise click.UsageError(
            f"{escape(name)} has no score, or there is nothing on {board.id} to compare it with"
        )
    families: dict[str, list[tuple[Entry, Difference]]] = {}
    for name, members in _families(entry, others).items():
        found = compare_entries(entry, members, higher_is_better=board.higher_is_better)
        families[name] = list(zip(members, found, strict=True))
    value: Mapping[str, Any] = {
        "board": board.id,
        "split": board.primary_split,
        "metric": board.metric,
        "entry": entry.id,
        "differences": [
            {"entry": other.id, "method": other.method, "seeds": other.seeds, "family": name}
            | {"train_instances": other.train_instances, **as_json(each)}
            for name, members in families.items()
            for other, each in members
        ],
    }

    def show() -> None:
        headings = ("B", "seeds", "trained on", "score", *_COLUMNS)
        who = f"A is {escape(entry.method)}, {figure(entry.value or 0.0)}"
        click.echo(f"{board.id}, {board.primary_split} {board.metric}: {who}")
        for name, members in families.items():
            rows = (
                (
                    escape(other.id.partition("/")[2]),
                    other.seeds,
                    f"{other.train_instances:,}" if other.train_instances else "",
                    figure(other.value or 0.0),
                    *_cells(each),
                )
                for other, each in members
            )
            print_rows(headings, rows, title=f"\n{name}", title_justify="left", right=headings[1:])
        for note in _notes([entry.seeds], [entry.train_instances]):
            click.echo(note)

    print_outcome(value=dict(value), text=show)
