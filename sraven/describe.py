"""Text of a SRAVEN dataset's card: its configuration and its counts."""

from collections.abc import Mapping
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Arrays, Description
from sraven.divisions import DIVISIONS

if TYPE_CHECKING:
    from sraven.task import SRAVEN

_NUMBERS = ("eight", "nine", "ten", "eleven", "twelve", "13", "14", "15")
"""Of rules, from 8 on."""

_ROWS_IN_CARD = 1_000
"""Combinations that a table of the card may list; the manifest always has all of them."""


_KEPT = {
    "any": "Every instance that the rules give is kept, ambiguous ones too: `num_answers` tells which.",
    "unique": "Only instances with exactly one answer are kept, so the answer is the only right one.",
}
_BIASES = {
    "any": "Multisets of rules are drawn uniformly, so a rule doesn't occur equally often in every split; "
    "some instances have several right answers, of which the target is one.",
    "unique": "Multisets of rules are drawn uniformly before ambiguous instances are rejected, so those that "
    "are ambiguous more often occur less often than the others: the tables above say by how much.",
}
_ONE_ANSWER = {
    "any": "Share of the instances of a multiset that have one answer",
    "unique": "Acceptance rate of a multiset: instances kept among those drawn",
}
"""What cards say, by the policy of answers."""


def describe(task: "SRAVEN", tallies: Mapping[str, Arrays]) -> Description:
    """Return the texts of a dataset card, given the tallies of each split."""
    order = (
        "each column shows the features in an order of its own"
        if task.permute
        else "all columns show the features in the same order"
    )
    return Description(
        title=f"SRAVEN (M={task.M}, K={task.K}, {task.answers} answers)",
        summary=(
            f"Symbolic Raven's Progressive Matrices: 3×3 grids of panels with {task.M} features of "
            f"{task.K} symbols; each feature follows one of {_NUMBERS[len(task.rules) - 8]} rules within "
            f"every row, {order}, and the ninth panel is to be predicted."
        ),
        body="\n\n".join(
            [
                splits_section(task),
                f"## Answers\n\n{_KEPT[task.answers]}\n\n{_answers_table(tallies)}",
                _rules_section(task, tallies),
                _combinations_section(task, tallies),
            ]
        ),
        limitations=(
            "The task tests rule induction over symbols, not perception or language; what a model scores "
            "says nothing about human intelligence. The seed is public, so anyone can derive the labels."
        ),
        biases=_BIASES[task.answers],
        uses="Training and evaluating models for compositional generalisation in context.",
        keywords=(
            "compositional-generalization",
            "in-context-learning",
            "abstract-reasoning",
            "raven-progressive-matrices",
            "synthetic",
        ),
    )


def splits_section(task: "SRAVEN") -> str:
    """Return how the combinations are divided."""
    known, held_out = len(task.combinations("train")), len(task.combinations("all"))
    held_out -= known
    ood = f" `ood` draws from the other {held_out}, none of which occurs in `train`." if held_out else ""
    if isinstance(task.holdout, str):
        ood += f" They are divided by `{task.holdout}`. {getdoc(DIVISIONS[task.holdout])}"
    return (
        "## Known and held-out combinations\n\n"
        f"Of the {known + held_out:,} multisets of {task.M} rules, `train` and `test` share {known:,}; "
        f"`test` has new instances of known tasks.{ood} Every rule occurs in `train`."
    )


def _answers_table(tallies: Mapping[str, Arrays]) -> str:
    lines = [
        "| split | instances | with several answers | share | drawn for each one kept |",
        "| --- | --- | --- | --- | --- |",
    ]
    for split, tally in tallies.items():
        n, unique, proposals = (int(tally[name].sum()) for name in ("instances", "unique", "proposals"))
        lines.append(f"| `{split}` | {n:,} | {n - unique:,} | {(n - unique) / n:.2%} | {proposals / n:.3f} |")
    return "\n".join(lines)


def _rules_section(task: "SRAVEN", tallies: Mapping[str, Arrays]) -> str:
    """Return the share of each rule among the features, before and after the policy."""
    combinations = task.combinations("all")
    counts = np.stack([(combinations == rule).sum(axis=1) for rule in range(len(task.rules))], axis=1)

    def shares(by_combination: NDArray[Any]) -> NDArray[np.float64]:
        features = by_combination @ counts
        return np.asarray(features / features.sum())

    names = list(tallies)
    header = "| id | rule | a row | " + " | ".join(f"`{name}` drawn | `{name}` kept" for name in names) + " |"
    lines = [header, "| --- " * (3 + 2 * len(names)) + "|"]
    columns = [shares(tallies[name][kind]) for name in names for kind in ("proposals", "instances")]
    for rule, content in enumerate(task.rules):
        cells = " | ".join(f"{column[rule]:.4f}" for column in columns)
        lines.append(f"| {rule} | {content.name} | {content.row} | {cells} |")
    return (
        "## Rules\n\nSymbols are 0 to K-1 and arithmetic is modulo K. The last columns give the share of "
        "each rule among all features, as drawn and as kept.\n\n" + "\n".join(lines)
    )


def _combinations_section(task: "SRAVEN", tallies: Mapping[str, Arrays]) -> str:
    """Return, by multiset of rules, how often an instance has one answer."""
    combinations = task.combinations("all")
    drawn: NDArray[Any] = np.sum([tally["proposals"] for tally in tallies.values()], axis=0)
    unique: NDArray[Any] = np.sum([tally["unique"] for tally in tallies.values()], axis=0)
    occurring = np.flatnonzero(drawn)
    rate = unique[occurring] / drawn[occurring]
    spread = f"from {rate.min():.4f} to {rate.max():.4f}, median {np.median(rate):.4f}"
    text = f"## Multisets of rules\n\n{_ONE_ANSWER[task.answers]}, over all splits: {spread}."
    if len(occurring) > _ROWS_IN_CARD:
        return f"{text} `manifest.json` holds the counts of each, in lexicographic order, under `tallies`."
    rows = [
        f"| {row} | {' '.join(map(str, combinations[row]))} | {drawn[row]:,} | {share:.4f} |"
        for row, share in zip(occurring, rate, strict=True)
    ]
    table = "\n".join(["| combination | rules | drawn | one answer |", "| --- | --- | --- | --- |", *rows])
    return f"{text}\n\n<details><summary>All multisets</summary>\n\n{table}\n\n</details>"
