"""Fuzzy logic as a family of tasks: where all that the core and the commands ask of it is."""

from typing import Any

from fuzzylogic.settings import Settings
from sraven.core.family import Family, Help, LevelText, Measured, Show, Size


def _task(**settings: Any) -> Any:
    from fuzzylogic.task import FuzzyLogic

    return FuzzyLogic(**settings)


def _measure(task: Any, n: int, threads: int | None) -> Measured:
    from fuzzylogic.measure import measure

    return measure(task, n, threads)


def _show() -> Any:
    from fuzzylogic import show

    return show


def _bench() -> Any:
    from fuzzylogic import bench

    return bench


FAMILY = Family(
    name="fuzzylogic",
    package="fuzzylogic",
    task=_task,
    settings=Settings,
    reference_levels={
        "known-functions": LevelText(
            "linear in known functions",
            "ridge regression within a sequence on the values of the functions of training, which composes "
            "nothing",
            is_baseline=True,
        ),
        "known-terms": LevelText(
            "linear in known terms",
            "ridge regression within a sequence on the values of the functions of training and of their "
            "terms, which composes nothing",
            is_baseline=True,
        ),
        "gp": LevelText(
            "Gaussian process",
            "a Gaussian process (Matérn 5/2) within a sequence, which knows nothing of training and composes "
            "nothing",
            is_baseline=True,
        ),
        "gp-known": LevelText(
            "Gaussian process and known terms",
            "a Gaussian process within a sequence, linear in the functions of training and their terms "
            "besides, which composes nothing",
            is_baseline=True,
        ),
        "look-up": LevelText(
            "look-up",
            "the function of training that is nearest to the points shown, plus a Gaussian process of what "
            "it leaves, which composes nothing",
            is_baseline=True,
        ),
        # No network is told the symmetry, so an entry behind this one isn't worse than knowing nothing.
        "gp-symmetric": LevelText(
            "knows the symmetry",
            "a Gaussian process within a sequence with mean and covariance of the functions of training "
            "under all renamings and negations of variables: linear in the targets, it composes nothing, but "
            "no network is told that symmetry",
            is_remarked=True,
        ),
    },
    nouns="sequences",
    summary="The second task: generate, show, ambiguity.",
    text="""Fuzzy-logic functions to be learnt in context (paper, section 3).

    \b
    Example:
      sraven fuzzylogic generate --L 4 --K 2 --N 32 --holdout 0.7
      sraven fuzzylogic show --explain
    """,
    helps={
        "generate": Help(
            "Write a fuzzy-logic dataset that load_dataset loads.",
            """Write a dataset of fuzzy-logic functions to be learnt in context.

            If it is interrupted, the same command goes on and ends with the same bytes.

            \b
            Example:
              sraven fuzzylogic generate --L 4 --K 2 --N 32 --holdout 0.7
            """,
        ),
        "show": Help(
            "Look at sequences, with the function behind them.",
            """Show sequences: points, their values, and the function as a formula.

            \b
            Example:
              sraven fuzzylogic show --explain
            """,
        ),
        "ambiguity": Help(
            "Measure what the points of a sequence leave open.",
            """Measure what the points of a sequence leave open, and what the ideal observer scores.

            A query is ambiguous if two functions that agree with all points shown disagree on it. The
            observer predicts the mean over all agreeing functions that it assumes: its R² is the ceiling.

            \b
            Example:
              sraven fuzzylogic ambiguity --K 2 --N 16
            """,
        ),
    },
    sizes={
        "train": Size(1_000_000, "Sequences of known combinations."),
        "test": Size(16_384, "More sequences of the same combinations."),
        "ood": Size(16_384, "Sequences of held-out combinations."),
        "ood_terms": Size(16_384, "Sequences of unseen terms."),
    },
    show=Show(_show, explain="Show the query's value, the function, and how many agree."),
    measure=_measure,
    bench=_bench,
    examples={
        "fuzzylogic": {"L": 3, "K": 2, "N": 7, "holdout": 0.5, "seed": 5},
        "fuzzylogic-fixed": {"L": 5, "K": 3, "N": 11, "holdout": 0.5, "seed": 5, "query": "fixed_context"},
    },
)
