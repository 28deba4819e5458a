"""Reference levels of language models' scores: ceilings of the ladder.

    python tests/speed/text_ladder.py docs/results/text-ladder.json

Nothing here depends on the machine: the same numbers come out anywhere.
"""

import sys
from dataclasses import asdict, replace

from record import keep

from sraven.text import LADDER
from sraven.text.grading import share
from sraven.text.questions import LEVELS

INSTANCES = 100_000


def brief(mean):
    """Return a mean to six digits."""
    return {name: round(value, 6) for name, value in asdict(mean).items()}


def ceiling(task, split):
    """Return the best accuracy to expect on instances of policy `any`, where answers aren't certified."""
    any_answers = replace(task, answers="any")
    batch = any_answers.sample(split, 0, INSTANCES)
    return share(any_answers.ideal_observer(batch)[1])


def main(goal):
    """Compute all and write it to ``goal``."""
    rungs = []
    for rung in (*LADDER, *(level for level in LEVELS if level not in LADDER)):
        rungs.append(
            {
                "M": rung.M,
                "K": rung.K,
                "chance": rung.questions().chance,
                "ceiling_on_any": {split: brief(ceiling(rung.task, split)) for split in ("all", rung.split)},
            }
        )
        print(rung, rungs[-1]["ceiling_on_any"], flush=True)
    keep(goal, {"rungs": rungs})


if __name__ == "__main__":
    main(*sys.argv[1:])
