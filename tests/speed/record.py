"""Keep the result of a `sraven` command, with what it takes to repeat it.

    python tests/speed/record.py docs/results/bench.json bench --threads 2

runs ``sraven bench --threads 2 --json`` and writes command, commit, machine and result as JSON.
"""

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

from sraven.core.bench import machine
from sraven.files.files import write_json

PACKAGES = ("sraven", "fuzzylogic", "baselines", "cli")


def output(*command):
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def sraven(*arguments):
    """Return what a command of the project prints."""
    return output(sys.executable, "-m", "sraven", *map(str, arguments))


def keep(goal, found, command="", **more):
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


def seconds_of(work):
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(works, rounds, measure=seconds_of):
    """Return what is measured of each in some rounds, after one that compiles and fills caches.

    They alternate, so that a slow spell of the machine hits all of them.
    """
    turns = [{name: measure(work) for name, work in works.items()} for _ in range(rounds + 1)]
    return {name: [turn[name] for turn in turns[1:]] for name in works}


def least_seconds(works, rounds):
    """Return the least seconds of each in some rounds."""
    return {name: min(times) for name, times in in_turns(works, rounds).items()}


def choose(*commands):
    """Call the function that the first argument names, with the others."""
    name, *arguments = sys.argv[1:]
    [command] = [each for each in commands if each.__name__ == name]
    command(*(int(each) if each.isdigit() else each for each in arguments))


def main(goal, *arguments):
    """Run ``sraven`` with the arguments and write what it prints to ``goal``."""
    keep(goal, {"result": json.loads(sraven(*arguments, "--json"))}, command=" ".join(["sraven", *arguments]))


if __name__ == "__main__":
    main(*sys.argv[1:])
