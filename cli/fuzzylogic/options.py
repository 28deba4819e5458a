"""Options that the commands of fuzzy logic share."""

from typing import TYPE_CHECKING

import click

from cli.options import task_argument, version_option

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic


def _make_fuzzylogic(
    L: int,
    K: int,
    N: int,
    holdout: float,
    unseen_terms: float,
    seed: int,
    query: str,
    version: str | None,
) -> "FuzzyLogic":
    from fuzzylogic.task import FuzzyLogic
    from sraven.core.tasks.versions import current_version

    return FuzzyLogic(
        L=L,
        K=K,
        N=N,
        holdout=holdout,
        unseen_terms=unseen_terms,
        seed=seed,
        query=query,
        version=current_version() if version is None else version,
    )


fuzzylogic_task = task_argument(
    _make_fuzzylogic,
    click.option("--L", "L", type=int, default=4, show_default=True, help="Variables, 1 to 16."),
    click.option("--K", "K", type=int, default=2, show_default=True, help="Terms of a function, 1 to 8."),
    click.option("--N", "N", type=int, default=32, show_default=True, help="Points, the query's included."),
    click.option(
        "--holdout", type=float, default=0.7, show_default=True, help="Share of combinations kept for ood."
    ),
    click.option(
        "--unseen-terms",
        type=float,
        default=0.25,
        show_default=True,
        help="Share of terms for ood_terms.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Draws divisions and sequences."),
    click.option(
        "--query",
        default="uniform",
        show_default=True,
        metavar="uniform|fixed_context|fixed_query",
        help="What all sequences share: nothing, all points but the query's, or the query's.",
    ),
    version_option,
)
"""Adds the options that make a fuzzy-logic task; the command gets ``task``."""
