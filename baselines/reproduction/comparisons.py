"""Who is ahead, in distribution and out of it, and how surely: sentences and tables."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from baselines.reproduction.cells import ReadBoard
from baselines.reproduction.sets import Figure
from baselines.reproduction.summaries import Difference, Estimate, Summary, difference
from baselines.reproduction.words import bound, label, number, plural, reported, signed, surety, table

_SURE = 0.05
"""The p below which two means are said to differ."""


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


def _paired(one: Summary, other: Summary, split: str) -> tuple[Estimate, Estimate, str]:
    """Return what two rows score on a split, on the seeds that both have, and which these are if not all."""
    seeds = one.seeds & other.seeds
    if not seeds or one.seeds == other.seeds:
        return _of(one, split), _of(other, split), ""
    first, second = one.estimate(split, seeds=seeds), other.estimate(split, seeds=seeds)
    assert first and second, "only rows that ran are compared"
    of = "seed" if len(seeds) == 1 else "seeds"
    return first, second, f"on {of} {', '.join(map(str, sorted(seeds)))}"


def _lead(ordered: Sequence[Summary], split: str, heading: str) -> str:
    """Say which row leads on a split, before which, and how surely; if nobody does, what the best score."""
    best, second = ordered[:2]
    one, two, seeds = _paired(best, second, split)
    name, other = (label(each.row, [heading]) for each in (best, second))
    p = difference(one, two).p
    surely = ", ".join(filter(None, ["one seed each" if p is None else surety(p), seeds]))
    if p is None or p >= _SURE or seeds:
        return f"{name} has {number(one)} and {other} {number(two)} ({surely})"
    return f"**{name}** leads with {number(one)} before {other} with {number(two)} ({surely})"


def _compare(place: str, best: Summary, other: Summary, heading: str) -> list[str]:
    """Return how far a row is from another, and how far each is on ``test`` from what it is on ``ood``."""
    apart = []
    for split in ("test", "ood"):
        one, two, seeds = _paired(best, other, split)
        apart.append(signed(difference(one, two)) + (f" {seeds}" if seeds else ""))
    # The same runs have both scores, so their errors don't combine as those of two rows do.
    lost = [Difference(_of(each, "test").mean - _of(each, "ood").mean, None) for each in (best, other)]
    names = [label(each.row, [heading]) for each in (best, other)]
    return [place, *names, *apart, *map(signed, lost)]


def beside_reported(figure: Figure, summaries: Sequence[Summary], read: ReadBoard) -> str:
    """Say which rows with several seeds differ from what is reported of them; nothing without such."""
    found = {}
    for summary in summaries:
        ours, theirs = summary.estimate("ood"), reported(summary.row, read(summary.row.board))
        p = difference(ours, theirs).p if ours and theirs else None
        if p is not None:
            found[label(summary.row, figure.headings)] = p
    if not found:
        return ""
    far = sum(p < _SURE for p in found.values())
    each = "; ".join(f"{name} {surety(p)}" for name, p in found.items())
    differ = "none differs" if far == 0 else f"{far} differ{'s' if far == 1 else ''}"
    return (
        f"Of {plural(len(found), 'row')} with several seeds, {differ} from what is reported at p < {_SURE} "
        f"({each})."
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
    least = min((found.p for found in above.values() if found.p is not None), default=None)
    are = "is" if len(above) == 1 else "are"
    surely = "" if least is None else f"; the least p of a difference is {least:.2f}"
    return (
        f"By the reported numbers, {plural(len(above), 'row')} of the other {len(known)} {are} above HYLA's "
        f"{number(base)} ({'; '.join(above)}){surely}."
    )
