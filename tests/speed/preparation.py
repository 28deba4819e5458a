"""Measure preparation on one core beside SentencePiece's own encoding, in one run.

    python tests/speed/preparation.py docs/results/preparation.json tokenizer.model 'c4/*.json.gz'

Prepares the sources with one process, from files to finished shards, and encodes the same documents, held
in memory, with SentencePiece and one thread. Each runs five times, alternating, so that a slow spell of the
machine hits both. Speeds and their ratio are of processor time, which other programs disturb least.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from record import in_turns, keep

from baselines.lm.prepare import Preparation, prepare
from baselines.lm.records import read_source
from baselines.lm.sources import find_sources
from baselines.lm.tokenizer import read_tokenizer

RUNS = 5
BATCH = 1024


def both_seconds(work):
    """Return how long a call takes on the clock, and of the processor's time."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def main(goal, model, *patterns):
    """Time both and write megabytes of text a second, and their ratio, to ``goal``."""
    tokenizer = read_tokenizer(Path(model))
    sources = tuple(find_sources(patterns))
    texts = [record.text for source in sources for record in read_source(source) if not record.fault]
    text_bytes = sum(map(len, texts))
    manifests = []

    def prepare_all():
        with tempfile.TemporaryDirectory() as out:
            manifests.append(prepare(Preparation(sources, tokenizer), out, processes=1))

    def encode_all():
        for start in range(0, len(texts), BATCH):
            tokenizer.processor.encode(texts[start : start + BATCH], num_threads=1, return_type="numpy")

    seconds = in_turns({"prepare": prepare_all, "encode": encode_all}, RUNS, both_seconds)
    speed = {name: text_bytes / 1e6 / median(each for _, each in times) for name, times in seconds.items()}
    result = {
        "documents": len(texts),
        "text_bytes": text_bytes,
        "tokens": manifests[0]["tokens"],
        "seconds": {
            name: {
                kind: sorted(round(each[place], 3) for each in times)
                for place, kind in enumerate(("clock", "processor"))
            }
            for name, times in seconds.items()
        },
        "megabytes_per_second": {name: round(each, 3) for name, each in speed.items()},
        "ratio": round(speed["prepare"] / speed["encode"], 4),
    }
    keep(goal, result)


if __name__ == "__main__":
    main(*sys.argv[1:])
