"""SRAVEN as a family of tasks: where all that the core and the commands ask of it is."""

from typing import Any

from sraven.core.family import Family, Help, LevelText, Measured, Show, Size
from sraven.settings import M_LIMIT, Settings

_PARTNERS_MISLEAD = (
    *("sraven-blocks-v1", "sraven-pairs-v1", "sraven-few-v1", "sraven-repeats-v1"),
    *("sraven-blocks3-v1", "sraven-blocks3-1-v1", "sraven-blocks3-2-v1", "sraven-few3-v1"),
)
"""Boards whose divisions separate siblings: the rules beside a feature tell which of two it follows."""

_SMALL = {"M": 3, "K": 7, "holdout": 0.3, "seed": 5}


def _of_order(order: int) -> LevelText:
    return LevelText(
        f"observer of order {order}",
        f"an observer with perfect rules that assumes the combinations of which any {order} rules occur "
        "together in training, and guesses where none of them explains what it sees",
    )


def _task(**settings: Any) -> Any:
    from sraven.task import SRAVEN

    return SRAVEN(**settings)


def _measure(task: Any, n: int, threads: int | None) -> Measured:
    from sraven.measure import measure

    return measure(task, n, threads)


def _show() -> Any:
    from sraven import show

    return show


def _picture() -> Any:
    from sraven.plots import save_picture

    return save_picture


def _bench() -> Any:
    from sraven import bench

    return bench


FAMILY = Family(
    name="sraven",
    package="sraven",
    task=_task,
    settings=Settings,
    reference_levels={
        "independent": LevelText(
            "exact marginals, random ties",
            "an ideal observer that knows the split, answering with the most probable symbol of each "
            "position by itself, and any of several; no bound, as a network sees all positions at each",
        ),
        "nearest-combination": LevelText(
            "nearest combination",
            "an observer with perfect rules that assumes only the combinations of training, and 1 % of the "
            "symbols that it sees to be wrong: the panel of the most probable explanation, any of several",
            is_baseline=True,
        ),
        "local": LevelText(
            "each position by itself",
            "an observer with perfect rules that answers each position by its own best rule and positions of "
            "the other columns, whatever the others take: what needs no joint solution",
        ),
        "composition-blind": LevelText(
            "composition-blind",
            "an observer with perfect rules that assumes only the combinations of training, and "
            "guesses where none of them explains what it sees",
        ),
        **{f"order-{order}": _of_order(order) for order in range(M_LIMIT - 1, 1, -1)},
    },
    helps={
        "generate": Help(
            "Write a SRAVEN dataset that load_dataset loads.",
            """Write a dataset of symbolic Raven's matrices, with exact ambiguity certificates.

            If it is interrupted, the same command goes on and ends with the same bytes.

            \b
            Example:
              sraven generate --M 4 --K 8 --holdout 0.25
              sraven generate --answers unique --train 20_000_000 --out raven-unique
            """,
        ),
        "show": Help(
            "Look at instances, with their rules and all valid answers.",
            """Show instances: colours stand for symbols, and with --explain for features.

            \b
            Example:
              sraven show --explain
              sraven show --split ood --index 7 --out puzzle.png
            """,
        ),
        "ambiguity": Help(
            "Measure how many instances have several answers.",
            """Measure how many instances have several answers, and what the ideal observer scores.

            "several answers" is the paper's definition, "differs everywhere" what its published code counts:
            an answer that differs from the target in every feature. The observer columns give the best
            accuracy that is possible: for one that assumes all combinations of rules, and for one that
            knows those of the split.

            \b
            Example:
              sraven ambiguity --M 4 --K 8 -n 4096
            """,
        ),
    },
    sizes={
        "train": Size(1_000_000, "Instances of known combinations."),
        "test": Size(51_200, "New instances of known combinations."),
        "ood": Size(51_200, "Instances of held-out combinations."),
    },
    show=Show(
        _show, explain="Show the answer, the rules, the permutations and all valid answers.", picture=_picture
    ),
    measure=_measure,
    bench=_bench,
    regrouped=dict.fromkeys(_PARTNERS_MISLEAD, "partners mislead"),
    examples={
        "sraven": _SMALL,
        "sraven-unique": {**_SMALL, "answers": "unique"},
        "sraven-unpermuted": {**_SMALL, "M": 5, "K": 11, "permute": False},
        "sraven-ten": {**_SMALL, "rule_set": "ten"},
        "sraven-blocks": {**_SMALL, "holdout": "blocks"},
        "sraven-camps": {**_SMALL, "holdout": "camps"},
    },
)
