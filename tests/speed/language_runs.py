"""Train language models on text, one of each attention from the same seed; keep their losses.

    python tests/speed/language_runs.py docs/results/language-model.json runs \
        --train text/train.txt 'c4/*.json.gz' --validation text/valid.txt \
        --tokenizer cc_all.32000.100extra.model --size tiny --steps 2000

Prepares both texts, trains, and evaluates on every document of the second. The entropies of the texts' token
frequencies stand beside the losses: a model that is below has learnt more than frequencies. Interrupted, the
same line goes on.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from record import keep, output

PROMPTS = ("The", "In the first half of the season ,")


def run(command: str) -> str:
    """Run a `sraven` command line and return what it prints."""
    print(command, flush=True)
    return output(sys.executable, "-m", "sraven", *shlex.split(command)[1:])


def prepare(sources: list[str], tokenizer: str, out: Path) -> dict[str, Any]:
    """Prepare texts; return the numbers of their documents, tokens and bytes."""
    named = " ".join(f"--source {shlex.quote(source)}" for source in sources)
    line = f"sraven c4 prepare {named} --tokenizer {tokenizer} --out {out} --json"
    manifest = json.loads(run(line))
    return {name: manifest[name] for name in ("documents", "tokens", "text_bytes")}


def train(attention: str, options: argparse.Namespace, more: str) -> dict[str, Any]:
    """Train and evaluate a model; return how, and what came of it."""
    here = options.folder / attention
    line = (
        f"sraven train c4-v1 --attention {attention} --size {options.size} --steps {options.steps} "
        f"--data {options.folder}/train {more} --out {here}"
    )
    run(line)
    lines = [json.loads(text) for text in (here / "log.jsonl").read_text().splitlines()]
    found = json.loads(run(f"sraven evaluate {here} --data {options.folder}/validation --json"))
    samples = {
        prompt: json.loads(run(f"sraven c4 sample {here} --prompt {shlex.quote(prompt)} --top 40 --json"))[
            "texts"
        ][0]
        for prompt in PROMPTS
    }
    speeds = sorted(each["tokens_per_second"] for each in lines)
    flops = sorted(each["flops_per_second"] for each in lines)
    return {
        "command": line.strip(),
        "attention": attention,
        "training": {
            "loss": lines[-1]["loss"],
            "perplexity": lines[-1]["perplexity"],
            "bits_per_byte": lines[-1]["bits_per_byte"],
            "tokens_per_second": speeds[len(speeds) // 2],
            "flops_per_second": flops[len(flops) // 2],
        },
        "curve": [[each["step"], round(each["loss"], 4)] for each in lines[:: max(1, len(lines) // 20)]],
        "validation": {name: value for name, value in found["runs"][0].items() if name != "folder"},
        "unigram_entropy": found["unigram_entropy"],
        "samples": samples,
    }


def main() -> None:
    """Train what the arguments say, and write the result after each attention."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("goal", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--validation", nargs="+", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--attention", nargs="+", default=["softmax", "linear", "hyla"])
    options, more = parser.parse_known_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    found = {
        "texts": {
            "train": prepare(options.train, options.tokenizer, options.folder / "train"),
            "validation": prepare(options.validation, options.tokenizer, options.folder / "validation"),
        },
        "results": [],
    }
    for attention in options.attention:
        found["results"].append(train(attention, options, " ".join(more)))
        keep(options.goal, found)


if __name__ == "__main__":
    main()
