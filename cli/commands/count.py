"""Count the tasks and instances there are."""

from dataclasses import asdict

import click

from cli.shared.families import field_option
from cli.shared.printing import json_option, print_outcome
from sraven.settings import Settings


@click.command(name="count")
@field_option(Settings, "M")
@field_option(Settings, "K")
@field_option(Settings, "rule_set")
@json_option
def command(M: int, K: int, rule_set: str) -> None:
    """Count the tasks and instances there are (paper, appendix B.1 and Figure A9).

    \b
    Example:
      sraven count --M 4 --K 8
      sraven count --M 4 --K 8 --rules ten
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
    written = {name: f"{number:,}" if number < 10**15 else f"{number:.4e}" for name, number in counts.items()}
    lines = (f"{name:>11}  {number:>21}  {meanings[name]}" for name, number in written.items())
    print_outcome(value={"M": M, "K": K, **counts}, text="\n".join(lines))
