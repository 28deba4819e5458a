"""`sraven bench`"""

import tempfile
from dataclasses import asdict
from pathlib import Path

import click

from cli.options import json_option, print_json, print_table, threads_option


@click.command(name="bench")
@threads_option
@json_option
def command(threads: int | None, as_json: bool) -> None:
    """Measure generation, certification, observer and export on this machine.

    Each speed is also given as a ratio to NumPy's on one thread right before, drawing the same 36
    symbols an instance (SRAVEN) or the same number of float32 inputs (fuzzy logic): machines and their
    moods differ, ratios less so. Takes about a minute.

    \b
    Example:
      sraven bench --threads 2
    """
    from rich.table import Table

    import fuzzylogic.bench
    import sraven.bench
    from sraven.core.compute.bench import machine, measure
    from sraven.core.compute.parallel import available_threads

    used = threads or available_threads()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = [*sraven.bench.cases(used, folder), *fuzzylogic.bench.cases(used, folder)]
        speeds = [measure(case) for case in cases]
    if as_json:
        references = {"sraven": sraven.bench.REFERENCE, "fuzzylogic": fuzzylogic.bench.REFERENCE}
        print_json(
            {"machine": machine(), "references": references, "speeds": [asdict(speed) for speed in speeds]}
        )
        return
    table = Table("work", "threads", "instances/s", "ratio to NumPy", "to reach")
    for column in (1, 2, 3):
        table.columns[column].justify = "right"
    for speed in speeds:
        row = speed.what, str(speed.threads), f"{speed.per_second:,.0f}", f"{speed.ratio:.3f}", speed.target
        table.add_row(*row)
    print_table(table)
