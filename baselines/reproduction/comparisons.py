"""Who is ahead, in distribution and out of it, and by how many standard errors: sentences and tables."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from baselines.reproduction.cells import ReadBoard
from baselines.reproduction.sets import Figure
from baselines.reproduction.summaries import Difference, Estimate, Summary, difference
from baselines.reproduction.words import bound, label, number, plural, reported, signed, signed_errors, table

_NEAR = 2.0
"""Combined standard errors up to which two means don't contradict each other."""


class _Group(NamedTuple):
    """Rows that ran, and differ in one column alone.

    Attributes:
        place: what the other columns say of them.
        test: the rows, the best in distribution first.
        ood: the same, the best out of it first.
    """

    place: str
    test: list[Summary]
    ood: list[Summary]


def comparisons(figure: Figure, summaries: Sequence[Summary], higher_is_better: bool = True) -> Iterator[str]:
    """Yield paragraphs on the rows that ran: who leads, and all differences from who is best on ``ood``.

    Args:
        figure: of the paper.
        summaries: of its rows.
        higher_is_better: whether more of the metric is better.
    """
    for heading in figure.compared:
        groups = _groups(summaries, heading, higher_is_better)
        if groups:
            yield "\n".join(f"- {_leads(group, heading)}" for group in groups)
            yield _differences(groups, heading)


def leads(figure: Figure, summaries: Sequence[Summary], higher_is_better: bool = True) -> list[str]:
    """Return the sentences of `comparisons` on who leads."""
    return [
        _leads(group, heading)
        for heading in figure.compared
        for group in _groups(summaries, heading, higher_is_better)
    ]


def _groups(summaries: Sequence[Summary], heading: str, higher_is_better: bool) -> list[_Group]:
    """Return rows that ran and differ in one column alone, wherever there are two."""
    sign = -1 if higher_is_better else 1
    places: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.estimate("ood") and summary.estimate("test"):
            others = [name for name in summary.row.labels if name != heading]
            places.setdefault(label(summary.row, others), []).append(summary)
    return [
        _Group(place, *(sorted(rows, key=_by(split, sign)) for split in ("test", "ood")))
        for place, rows in places.items()
        if len(rows) > 1
    ]


def _leads(group: _Group, heading: str) -> str:
    """Say who leads, in distribution and out of it."""
    test, ood = _lead(group.test, "test", heading), _lead(group.ood, "ood", heading)
    return bound(f"{group.place + ': ' if group.place else ''}{test} in distribution, {ood} out of it.")


def _differences(groups: Sequence[_Group], heading: str) -> str:
    """Return the table of all differences from who is best on ``ood``."""
    rows = [_compare(place, ood[0], other, heading) for place, _, ood in groups for other in ood[1:]]
    lost = [f"{each}: `test` − `ood`" for each in "AB"]
    headings = ["", f"A: {heading}, best on `ood`", "B", "A − B on `test`", "A − B on `ood`", *lost]
    plain = not any(row[0] for row in rows)
    return table(headings[plain:], [row[plain:] for row in rows])


def _of(summary: Summary, split: str) -> Estimate:
    found = summary.estimate(split)
    assert found is not None, "only rows that ran are compared"
    return found


def _by(split: str, sign: int) -> Callable[[Summary], float]:
    return lambda summary: sign * _of(summary, split).mean


def _lead(ordered: Sequence[Summary], split: str, heading: str) -> str:
    """Say which row leads on a split, before which, and how surely."""
    best, second = ordered[:2]
    one, two = _of(best, split), _of(second, split)
    errors = difference(one, two).errors
    single = "one seed each" if one.seeds == two.seeds == 1 else "no standard error of both"
    surely = single if errors is None else f"{abs(errors):.1f} s.e. apart"
    name, other = (label(each.row, [heading]) for each in (best, second))
    return f"**{name}** leads with {number(one)} before {other} with {number(two)} ({surely})"


def _compare(place: str, best: Summary, other: Summary, heading: str) -> list[str]:
    """Return how far a row is from another, and how far each is on ``test`` from what it is on ``ood``."""
    apart = [difference(_of(best, split), _of(other, split)) for split in ("test", "ood")]
    # The same runs have both scores, so their errors don't combine as those of two rows do.
    lost = [Difference(_of(each, "test").mean - _of(each, "ood").mean, None) for each in (best, other)]
    names = [label(each.row, [heading]) for each in (best, other)]
    return [place, *names, *map(signed, apart), *map(signed, lost)]


def beside_reported(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> str:
    """Say how far rows with several seeds are from what is reported of them; nothing without such."""
    found = {}
    for summary in summaries:
        ours, theirs = summary.estimate("ood"), reported(summary.row, read(summary.row.board))
        apart = difference(ours, theirs).errors if ours and theirs else None
        if apart is not None:
            found[label(summary.row, figure.headings)] = apart
    if not found:
        return ""
    near = sum(abs(apart) <= _NEAR for apart in found.values())
    are = "is" if near == 1 else "are"
    each = "; ".join(f"{name} {signed_errors(apart)}" for name, apart in found.items())
    return (
        f"Of {plural(len(found), 'row')} with several seeds, {near} {are} within two combined standard "
        f"errors of what is reported ({each})."
    )


def reported_comparison(figure: Figure, read: ReadBoard) -> str:
    """Say how many rows are above HYLA by the reported numbers; nothing if there are none."""
    found = {row.reported: reported(row, read(row.board)) for row in figure.rows if row.reported}
    known = {name: estimate for name, estimate in found.items() if name and estimate}
    base = known.pop("HYLA", None)
    if base is None:
        return ""
    above = {name: difference(each, base) for name, each in known.items() if each.mean > base.mean}
    if not above:
        return "By the reported numbers, no other row is above HYLA."
    most = max(found.errors or 0.0 for found in above.values())
    are = "is" if len(above) == 1 else "are"
    return (
        f"By the reported numbers, {plural(len(above), 'row')} of the other {len(known)} {are} above HYLA's "
        f"{number(base)} ({'; '.join(above)}), by {most:.1f} combined standard errors at most."
    )
