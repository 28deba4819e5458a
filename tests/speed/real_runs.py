"""Train, evaluate and score the three main attentions, and keep the scores with what it takes to repeat it.

    python tests/speed/real_runs.py docs/results/fuzzylogic-baselines.json runs --steps 3000

Interrupted, the same line goes on. The folder ``runs`` gets a run directory for each seed and a submission
for each attention, ``attention-dropout/entry``. Two cores need 0.1 s a step.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from record import output

from sraven.core.compute.bench import machine
from sraven.core.system.files import write_json


def run(command: str) -> str:
    """Run a `sraven` command line and return what it prints."""
    words = shlex.split(command)
    assert words[0] == "sraven"
    return output(sys.executable, "-m", "sraven", *words[1:])


def train(board: str, attention: str, dropout: float, steps: int, folder: Path) -> dict[str, Any]:
    """Train three seeds of an attention, score them, and return how and what."""
    here = folder / f"{attention}-{dropout:g}"
    line = (
        f"sraven train {board} --attention {attention} --attention-dropout {dropout:g} --steps {steps} "
        f"--seeds 0,1,2 --save-every 500 --out {here}"
    )
    print(line, flush=True)
    run(line)
    entry = here / "entry"
    if not entry.exists():
        run(f"sraven evaluate {here}/seed-0 {here}/seed-1 {here}/seed-2 --out {entry}")
    splits = json.loads(run(f"sraven score {entry} --json"))["splits"]
    last = json.loads((here / "seed-0" / "log.jsonl").read_text().splitlines()[-1])
    return {
        "command": line,
        "attention": attention,
        "attention_dropout": dropout,
        "instances_per_second": last["instances_per_second"],
        "scores": {split: scores["metrics"] for split, scores in splits.items()},
    }


def main() -> None:
    """Train what the arguments say, and write the result after each attention."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("goal", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board", default="fuzzylogic-v1")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--attention", nargs="+", default=["softmax", "linear", "hyla"])
    parser.add_argument("--dropout", nargs="+", type=float, default=[0.0, 0.1])
    options = parser.parse_args()
    changed = output("git", "status", "--porcelain", "--untracked-files=no")
    record = {
        "command": f"python tests/speed/real_runs.py {' '.join(sys.argv[1:])}",
        "commit": output("git", "rev-parse", "HEAD") + (" with changes" if changed else ""),
        "machine": machine(),
        "board": options.board,
        "steps": options.steps,
        "results": [],
    }
    for dropout in options.dropout:
        for attention in options.attention:
            result = train(options.board, attention, dropout, options.steps, options.folder)
            record["results"].append(result)
            write_json(options.goal, record)


if __name__ == "__main__":
    main()
