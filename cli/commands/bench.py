"""Measure the speed of this machine, as ratios."""

import tempfile
from pathlib import Path

import click

from cli.shared.options import threads_option
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.families import FAMILIES, find_family
from sraven.core.family import Benches


@click.command(name="bench")
@threads_option
@json_option
def command(threads: int | None) -> None:
    """Measure generation, certification, observer and export on this machine.

    Each speed is also given as a ratio to NumPy's on one thread right before, drawing the same 36
    symbols an instance (SRAVEN) or the same number of float32 inputs (fuzzy logic): machines and their
    moods differ, ratios less so. Takes about a minute.

    \b
    Example:
      sraven bench --threads 2
    """
    from sraven.core.bench import machine, measure
    from sraven.core.parallel import available_threads

    used = threads or available_threads()
    families = [find_family(name) for name in FAMILIES]
    benches: dict[str, Benches] = {each.name: each.bench() for each in families if each.bench}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speeds = [measure(case) for bench in benches.values() for case in bench.cases(used, folder)]
    references = {name: bench.REFERENCE for name, bench in benches.items()}
    headings = "work", "threads", "instances/s", "ratio to NumPy", "to reach"
    rows = (
        (speed.what, speed.threads, f"{speed.per_second:,.0f}", f"{speed.ratio:.3f}", speed.target)
        for speed in speeds
    )
    print_outcome(
        value={"machine": machine(), "references": references, "speeds": speeds},
        text=lambda: print_rows(headings, rows, right=headings[1:4]),
    )
