"""Keep the result of a `sraven` command, with what it takes to repeat it.

    python tests/speed/record.py docs/results/bench.json bench --threads 2

runs ``sraven bench --threads 2 --json`` and writes command, commit, machine and result as JSON.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sraven.core.compute.bench import machine
from sraven.core.system.files import write_json

PACKAGES = ("sraven", "fuzzylogic", "baselines", "cli")


def output(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def keep(goal: str | Path, found: Mapping[str, Any], command: str = "", **more: Any) -> None:
    """Write what was found, with what it takes to repeat it.

    Args:
        goal: the file.
        found: entries of the record.
        command: that found it; empty for the script that runs.
        **more: what else there is to say of the machine.
    """
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", *PACKAGES)
    record = {
        "command": command or shlex.join(["python", *sys.argv]),
        "commit": output("git", "rev-parse", "HEAD") + (" with changes" if changed else ""),
        "machine": {**machine(), **more},
    }
    Path(goal).parent.mkdir(parents=True, exist_ok=True)
    write_json(Path(goal), {**record, **found})


def main(goal: str, *arguments: str) -> None:
    """Run ``sraven`` with the arguments and write what it prints to ``goal``."""
    result = json.loads(output(sys.executable, "-m", "sraven", *arguments, "--json"))
    keep(goal, {"result": result}, command=" ".join(["sraven", *arguments]))


if __name__ == "__main__":
    main(*sys.argv[1:])
