"""Time whole commands, start-up included, and keep the result with what it takes to repeat it.

    python tests/speed/commands.py docs/results/commands.json

Each runs once to warm caches and then five times, alternating, so that a slow spell of the machine
hits all of them.
"""

import sys
from functools import partial
from pathlib import Path

from record import in_turns, keep, sraven

ENTRIES = "docs/leaderboard/submissions"
COMMANDS = {
    "sraven --help": "",
    "sraven score, 51,200 x 2 splits x 3 seeds, M=4": f"{ENTRIES}/sraven-v1/*-uniform-random",
    "sraven score, 51,200 x 2 splits x 3 seeds, M=8": f"{ENTRIES}/sraven-m8-v1/*-uniform-random",
    "sraven score, 16,384 x 2 splits x 1 seed, fuzzy logic": f"{ENTRIES}/fuzzylogic-v1/*-ideal-observer",
}
"""Arguments by name: a pattern of the submission to score, or nothing for the help."""

RUNS = 5


def main(goal: str) -> None:
    """Time the commands and write seconds, the fastest first, to ``goal``."""
    arguments = {
        name: ["score", str(next(Path().glob(pattern)))] if pattern else ["--help"]
        for name, pattern in COMMANDS.items()
    }
    works = {name: partial(sraven, *words) for name, words in arguments.items()}
    seconds = in_turns(works, RUNS)
    keep(goal, {"seconds": {name: sorted(round(s, 3) for s in times) for name, times in seconds.items()}})


if __name__ == "__main__":
    main(*sys.argv[1:])
