"""Text of a fuzzy-logic dataset's card: its configuration and its counts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.terms import combinations_of, formula
from sraven.core.roles import Arrays, Description

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic

_ROWS_IN_CARD = 1_000
_QUERIES = {
    "uniform": "Every sequence has points of its own.",
    "fixed_context": "All sequences share their points, except for the query's.",
    "fixed_query": "All sequences share the query's point.",
}
_PURPOSES = {
    "train": "known combinations of seen terms",
    "test": "the same combinations, new points",
    "ood": "held-out combinations of seen terms",
    "ood_terms": "combinations of unseen terms",
}


def describe(task: "FuzzyLogic", tallies: Mapping[str, Arrays]) -> Description:
    """Return the texts of a dataset card, given the tallies of each split."""
    return Description(
        title=f"Fuzzy logic in context (L={task.L}, K={task.K}, N={task.N})",
        summary=(
            f"Functions of {task.L} variables in [0, 1), each the disjunction (max) of {task.K} terms; a "
            "term is the conjunction (min) of all variables, negated (1 - x) or not. A sequence shows "
            f"{task.N - 1} points with their values and asks for the value of one more."
        ),
        body="\n\n".join(
            [_splits_section(task, tallies), _terms_section(task), _combinations_section(task, tallies)]
        ),
        limitations=(
            "The functions are noiseless and synthetic; what a model scores says nothing about fuzzy logic "
            "in practice. The seed is public, so anyone can derive the targets."
        ),
        biases=(
            "Combinations are drawn uniformly from each split; after few points, a sequence may leave "
            "several combinations open, which `sraven fuzzylogic ambiguity` measures."
        ),
        uses="Training and evaluating models for compositional generalisation in context.",
        keywords=("compositional-generalization", "in-context-learning", "fuzzy-logic", "synthetic"),
    )


def _splits_section(task: "FuzzyLogic", tallies: Mapping[str, Arrays]) -> str:
    lines = ["| split | combinations | of | sequences |", "| --- | --- | --- | --- |"]
    for split, tally in tallies.items():
        n = int(tally["sequences"])
        lines.append(f"| `{split}` | {task.n_combinations(split):,} | {_PURPOSES[split]} | {n:,} |")
    return (
        f"## Seen and held out\n\nEvery seen term occurs in `train`. {_QUERIES[task.query]} The last target "
        "is the query's: mask it in the model's input.\n\n" + "\n".join(lines)
    )


def _terms_section(task: "FuzzyLogic") -> str:
    parts = task.partition
    example = formula(parts.seen[: task.K], task.L)
    text = (
        "## Terms\n\nBit l of a term (value 2^l) is set where variable l+1 enters un-negated. Of the "
        f"{1 << task.L:,} terms, {len(parts.seen):,} are seen and {len(parts.unseen):,} unseen. The terms "
        f"{', '.join(map(str, parts.seen[: task.K]))} make {example}."
    )
    if 0 < len(parts.unseen) <= _ROWS_IN_CARD:
        text += f" Unseen: {', '.join(map(str, parts.unseen))}."
    return text


def _combinations_section(task: "FuzzyLogic", tallies: Mapping[str, Arrays]) -> str:
    """Return how many sequences each combination has, in each split."""
    if not all("by_combination" in tally for tally in tallies.values()):
        return "## Combinations\n\nThere are too many to count one by one."
    counts: NDArray[Any] = np.stack([tally["by_combination"] for tally in tallies.values()], axis=1)
    occurring = np.flatnonzero(counts.sum(axis=1))
    text = f"## Combinations\n\n{len(occurring):,} combinations occur."
    if len(occurring) > _ROWS_IN_CARD:
        return f"{text} `manifest.json` holds the counts of each under `tallies`."
    terms = combinations_of(occurring, 1 << task.L, task.K)
    rows = [
        f"| {number} | {' '.join(map(str, ids))} | {' | '.join(f'{count:,}' for count in counts[number])} |"
        for number, ids in zip(occurring, terms, strict=True)
    ]
    header = f"| combination | terms | {' | '.join(f'`{name}`' for name in tallies)} |"
    table = "\n".join([header, "| --- " * (2 + len(tallies)) + "|", *rows])
    return f"{text}\n\n<details><summary>All of them</summary>\n\n{table}\n\n</details>"
