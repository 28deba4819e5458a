"""Count the tasks and instances there are."""

from dataclasses import asdict

import click

from cli.shared.options import field_option
from cli.shared.printing import json_option, print_outcome
from sraven.settings import Settings


@click.command(name="count")
@field_option(Settings, "M")
@field_option(Settings, "K")
@field_option(Settings, "rule_set")
@field_option(Settings, "holdout", holdout=None)
@field_option(Settings, "seed")
@json_option
def command(M: int, K: int, rule_set: str, holdout: float | str | None, seed: int) -> None:
    """Count the tasks and instances there are (paper, appendix B.1 and Figure A9).

    With --holdout, also how many combinations are known and held out.

    \b
    Example:
      sraven count --M 4 --K 8
      sraven count --M 4 --K 8 --holdout blocks
    """
    from sraven.counting import count
    from sraven.rules import rules_of

    rules = rules_of(rule_set)
    counts, R = asdict(count(M, K, rules)), len(rules)
    meanings = {
        "multisets": f"rule combinations: C({R} + M - 1, M)",
        "alignments": "ways to match the columns' positions: (M!)^2",
        "tasks": f"alignments with a rule for each feature: (M!)^2 {R}^M",
        "instances": "tasks with their symbols",
        "paper_tasks": f"the paper's formula: C({R} + M - 1, M) ((M!)^2 - M)",
    }
    if holdout is not None:
        from sraven.task import SRAVEN

        task = SRAVEN(M, K, holdout, seed, rule_set=rule_set)
        for name, split in (("known", "train"), ("held_out", "ood")):
            counts[name] = len(task.combinations(split)) if split in task.splits else 0
            meanings[name] = f"rule combinations of {split}: holdout={holdout!r}, seed={seed}"
    written = {name: f"{number:,}" if number < 10**15 else f"{number:.4e}" for name, number in counts.items()}
    lines = (f"{name:>11}  {number:>21}  {meanings[name]}" for name, number in written.items())
    print_outcome(value={"M": M, "K": K, **counts}, text="\n".join(lines))
