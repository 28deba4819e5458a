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
from pathlib import Path
from statistics import median_high

from record import keep, sraven

PROMPTS = ("The", "In the first half of the season ,")

RATES = "tokens_per_second", "flops_per_second"


def prepare(sources, tokenizer, out):
    """Prepare texts; return the numbers of their documents, tokens and bytes."""
    named = [f"--source={source}" for source in sources]
    line = ["c4", "prepare", *named, "--tokenizer", tokenizer, "--out", out, "--json"]
    manifest = json.loads(sraven(*line))
    return {name: manifest[name] for name in ("documents", "tokens", "text_bytes")}


def train(attention, options, more):
    """Train and evaluate a model; return how, and what came of it."""
    here = options.folder / attention
    line = ["train", "c4-v1", "--attention", attention, "--size", options.size, "--steps", options.steps]
    line += ["--data", options.folder / "train", *more, "--out", here]
    print("sraven", *line, flush=True)
    sraven(*line)
    lines = [json.loads(text) for text in (here / "log.jsonl").read_text().splitlines()]
    found = json.loads(sraven("evaluate", here, "--data", options.folder / "validation", "--json"))

    def sample(prompt):
        [text] = json.loads(sraven("c4", "sample", here, "--prompt", prompt, "--top", 40, "--json"))["texts"]
        return str(text)

    return {
        "command": shlex.join(["sraven", *map(str, line)]),
        "attention": attention,
        "training": {
            **{name: lines[-1][name] for name in ("loss", "perplexity", "bits_per_byte")},
            **{name: median_high(each[name] for each in lines) for name in RATES},
        },
        "curve": [[each["step"], round(each["loss"], 4)] for each in lines[:: max(1, len(lines) // 20)]],
        "validation": {name: value for name, value in found["runs"][0].items() if name != "folder"},
        "unigram_entropy": found["unigram_entropy"],
        "samples": {prompt: sample(prompt) for prompt in PROMPTS},
    }


def main():
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
    texts = {
        name: prepare(sources, options.tokenizer, options.folder / name)
        for name, sources in (("train", options.train), ("validation", options.validation))
    }
    results = []
    for attention in options.attention:
        results.append(train(attention, options, more))
        keep(options.goal, {"texts": texts, "results": results})


if __name__ == "__main__":
    main()
