"""Who is ahead, in distribution and out of it, and by how many standard errors: sentences and tables."""

from collections.abc import Callable, Iterator, Sequence

from baselines.reproduction.cells import ReadBoard
from baselines.reproduction.sets import Figure
from baselines.reproduction.standing import Estimate, Summary, difference
from baselines.reproduction.words import label, number, plural, reported, signed, table


def comparisons(figure: Figure, summaries: Sequence[Summary], higher_is_better: bool = True) -> Iterator[str]:
    """Yield paragraphs on the rows that ran: who leads, and all differences from who is best on ``ood``.

    Args:
        figure: of the paper.
        summaries: of its rows.
        higher_is_better: whether more of the metric is better.
    """
    sign = -1 if higher_is_better else 1
    for heading in figure.compared:
        sentences, rows = [], []
        for place, group in _groups(summaries, heading):
            ran = [summary for summary in group if summary.estimate("ood") and summary.estimate("test")]
            if len(ran) < 2:
                continue
            test, ood = (sorted(ran, key=_by(split, sign)) for split in ("test", "ood"))
            leaders = (
                f"{_lead(test, 'test', heading)} in distribution, {_lead(ood, 'ood', heading)} out of it"
            )
            sentences.append(f"- {place + ': ' if place else ''}{leaders}.")
            rows += [_compare(place, ood[0], other, heading) for other in ood[1:]]
        if rows:
            yield "\n".join(sentences)
            headings = [
                "",
                f"{heading}: the best on `ood`",
                "less",
                "on `test`",
                "on `ood`",
                "lost from `test` to `ood`",
            ]
            plain = not any(row[0] for row in rows)
            yield table(headings[plain:], [row[plain:] for row in rows])


def _groups(summaries: Sequence[Summary], heading: str) -> list[tuple[str, list[Summary]]]:
    """Return rows that differ in one column alone, with what the others say."""
    groups: dict[str, list[Summary]] = {}
    for summary in summaries:
        others = [name for name in summary.row.labels if name != heading]
        groups.setdefault(label(summary.row, others), []).append(summary)
    return list(groups.items())


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
    """Return by how much a row is ahead of another, and what each loses from ``test`` to ``ood``."""
    apart = [signed(difference(_of(best, split), _of(other, split))) for split in ("test", "ood")]
    lost = [f"{abs(_of(each, 'test').mean - _of(each, 'ood').mean):.3f}" for each in (best, other)]
    return [place, label(best.row, [heading]), label(other.row, [heading]), *apart, ", ".join(lost)]


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
