"""Keep the result of a `sraven` command, with what it takes to repeat it.

    python tests/speed/record.py docs/results/bench.json bench --threads 2

runs ``sraven bench --threads 2 --json`` and writes command, commit, machine and result as JSON.
"""

import json
import subprocess
import sys
from pathlib import Path

from sraven.core.compute.bench import machine
from sraven.core.system.files import write_json


def output(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(goal: str, *arguments: str) -> None:
    """Run ``sraven`` with the arguments and write what it prints to ``goal``."""
    result = json.loads(output(sys.executable, "-m", "sraven", *arguments, "--json"))
    changed = output(
        "git", "status", "--porcelain", "--untracked-files=no", "--", "sraven", "fuzzylogic", "cli"
    )
    record = {
        "command": " ".join(["sraven", *arguments]),
        "commit": output("git", "rev-parse", "HEAD") + (" with changes" if changed else ""),
        "machine": machine(),
        "result": result,
    }
    Path(goal).parent.mkdir(parents=True, exist_ok=True)
    write_json(Path(goal), record)


if __name__ == "__main__":
    main(*sys.argv[1:])
