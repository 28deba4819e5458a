"""Time to render and grade 100,000 puzzles, beside what else has to be done with them.

    python tests/speed/text_speed.py docs/results/text-speed.json

Seconds are the best of five; `beside_json` is the ratio to writing the same prompts as JSON, which every
file of prompts takes.
"""

import json
import sys

import numpy as np
from record import keep, least_seconds

from sraven import SRAVEN, text
from sraven.text.prompts import render_answers

COUNT, K = 100_000, 8


def main(goal: str) -> None:
    """Measure and write to ``goal``."""
    task = SRAVEN(M=4, K=K)
    batch, shots = task.sample("ood", 0, COUNT), task.sample("train", 0, COUNT)
    prompts = text.render(batch, K)
    right = render_answers(batch.target)
    wrong = render_answers(np.ascontiguousarray(batch.context[:, 7]))
    works = {
        "generate": lambda: task.sample("ood", 0, COUNT),
        "json": lambda: [json.dumps(prompt) for prompt in prompts],
        "render told": lambda: text.render(batch, K),
        "render untold": lambda: text.render(batch, K, "untold"),
        "render told, 1 shot": lambda: text.render(batch, K, shots=shots),
        "grade, all right": lambda: text.grade(right, batch, K),
        "grade, all wrong": lambda: text.grade(wrong, batch, K),
        "grade, all unparsed": lambda: text.grade(prompts, batch, K),
    }
    seconds = least_seconds(works, 5)
    result = {
        "instances": COUNT,
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "beside_json": {name: round(value / seconds["json"], 2) for name, value in seconds.items()},
    }
    keep(goal, result)
    print(json.dumps(result["seconds"], indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
