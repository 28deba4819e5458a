"""Keep the result of a `sraven` command, with what it takes to repeat it.

    python tests/speed/record.py docs/results/bench.json bench --threads 2

runs ``sraven bench --threads 2 --json`` and writes command, commit, machine and result as JSON. The scripts
beside it return what they measure, and `recorded` writes the same of them.
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


def keep(goal, found, command=""):
    """Write what was found, with what it takes to repeat it.

    Args:
        goal: the file.
        found: entries of the record.
        command: that found it; empty for the script that runs.
    """
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", *PACKAGES)
    record = {
        "command": command or shlex.join(["python", *sys.argv]),
        "commit": output("git", "rev-parse", "HEAD") + (" with changes" if changed else ""),
        "machine": {**machine(), **devices()},
    }
    Path(goal).parent.mkdir(parents=True, exist_ok=True)
    write_json(Path(goal), {**record, **found})


def devices():
    """Return JAX's version and devices, if what was measured uses JAX."""
    if not (jax := sys.modules.get("jax")):
        return {}
    kinds = {"backend": jax.default_backend(), "device": jax.devices()[0].device_kind}
    return {"jax": jax.__version__, **kinds, "devices": jax.device_count()}


def recorded(*measures):
    """Let a command line name a measure, unless there is one alone, a file, and what to measure with.

    Args:
        *measures: return entries of the record, given words of the command line, integers as such.
    """
    words = [int(each) if each.isdigit() else each for each in sys.argv[1:]]
    name = words.pop(0) if len(measures) > 1 else measures[0].__name__
    goal, *given = words
    keep(goal, {each.__name__: each for each in measures}[name](*given))


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


if __name__ == "__main__":
    goal, *line = sys.argv[1:]
    keep(goal, {"result": json.loads(sraven(*line, "--json"))}, command=shlex.join(["sraven", *line]))
