"""Count the tasks and instances there are."""

from dataclasses import asdict

import click

from cli.shared.families import field_option
from cli.shared.options import json_option
from cli.shared.printing import print_json
from sraven.settings import Settings


@click.command(name="count")
@field_option(Settings, "M")
@field_option(Settings, "K")
@field_option(Settings, "rule_set")
@json_option
def command(M: int, K: int, rule_set: str, as_json: bool) -> None:
    """Count the tasks and instances there are (paper, appendix B.1 and Figure A9).

    \b
    Example:
      sraven count --M 4 --K 8
      sraven count --M 4 --K 8 --rules ten
    """
    from sraven.counting import count
    from sraven.rules import rules_of

    rules = rules_of(rule_set)
    counts, R = count(M, K, rules), len(rules)
    if as_json:
        print_json({"M": M, "K": K, **asdict(counts)})
        return
    meanings = {
        "multisets": f"rule combinations: C({R} + M - 1, M)",
        "alignments": "ways to match the columns' positions: (M!)^2",
        "tasks": f"alignments with a rule for each feature: (M!)^2 {R}^M",
        "instances": "tasks with their symbols",
        "paper_tasks": f"the paper's formula: C({R} + M - 1, M) ((M!)^2 - M)",
    }
    for name, number in asdict(counts).items():
        written = f"{number:,}" if number < 10**15 else f"{number:.4e}"
        click.echo(f"{name:>11}  {written:>21}  {meanings[name]}")
