"""Rates of writing and preparing data.

    python tests/speed/scale.py rates docs/results/scale.json
    python tests/speed/scale.py preparation docs/results/preparation.json tokenizer.model 'c4/*.json.gz'

- ``rates``: what the plan of docs/scale.md stands on, whose tables are written again. Writes a data set of
  SRAVEN with one and two threads, and with one and two workers of a Ray cluster of this machine, whose
  start is timed apart; lets many simulated workers do jobs that sleep, for what this process spends on a
  job; and lists, notes and reads a data set of 10^10 instances whose files aren't written. With a number of
  shards less is written, for a try.
- ``preparation``: on one core beside SentencePiece's own encoding. Prepares the sources with one process,
  from files to finished shards, and encodes the same documents, held in memory, with one thread. Each runs
  five times, alternating, so that a slow spell of the machine hits both. Speeds and their ratio are of
  processor time, which other programs disturb least.
"""

import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

from record import in_turns, recorded, seconds_of
from scale_plan import render

from baselines.lm.prepare import Preparation, prepare
from baselines.lm.sources import find_sources, read_documents
from baselines.lm.tokenizer import read_tokenizer
from sraven import SRAVEN, verify_dataset, write_dataset
from sraven.data.card import render_croissant
from sraven.data.directory import Journal
from sraven.data.engines.jobs import HERE, Engine, map_jobs
from sraven.data.engines.on_ray import connected
from sraven.data.manifest import list_shards, make_manifest, make_plan
from sraven.data.merge import merge_parts
from sraven.data.parts import Part
from sraven.files.files import json_text
from sraven.files.staging import STAGING

TASK = SRAVEN(M=4, K=8, holdout=0.25)
SHARD = 262_144
PLANNED = 10**10
EMPTY = 500
SLEEP = 1.0
"""Seconds of a simulated job: about what a shard takes."""


def nothing(job, on_progress):
    """Do no work."""
    return job


def sleep(job, on_progress):
    """Be a worker elsewhere: it costs this machine nothing."""
    time.sleep(SLEEP)
    return job


def write(folder, shards, engine, workers):
    """Return instances a second of writing some shards."""
    sizes = {"train": shards * SHARD, "test": 0, "ood": 0}
    how = {"engine": engine, "threads": None if engine.address else workers}
    return sizes["train"] / seconds_of(partial(write_dataset, TASK, sizes, folder, **how))


def measure_writing(folder, shards):
    """Return instances a second by engine and workers, and how long Ray takes to start."""
    write(folder / "warm", 1, HERE, 1)
    rates, starts = {}, {}
    for workers in (1, 2):
        rates[f"local {workers}"] = write(folder / f"local-{workers}", shards, HERE, workers)
    for workers in (1, 2):
        begun = time.perf_counter()
        with connected(None, workers):
            ray, jobs = Engine("ray"), range(workers)
            map_jobs(nothing, jobs, engine=ray, local="threads", folder=folder)
            starts[f"ray {workers}"] = time.perf_counter() - begun
            write(folder / f"ray-warm-{workers}", workers, ray, workers)
            rates[f"ray {workers}"] = write(folder / f"ray-{workers}", shards, ray, workers)
            many = partial(map_jobs, nothing, range(EMPTY), engine=ray, local="threads", folder=folder)
            rates["ray, empty jobs"] = EMPTY / seconds_of(many)  # of two workers, which are the last
    return {"instances_per_second": rates, "start_seconds": starts}


def measure_many(folder):
    """Return the share of the time that simulated workers work, by their number."""
    found = {}
    for workers in (64, 1000):
        jobs = range(4 * workers)
        spent = seconds_of(
            partial(map_jobs, sleep, jobs, engine=HERE, local="threads", folder=folder, workers=workers)
        )
        found[str(workers)] = 4 * SLEEP / spent
    return found


def measure_after(folder, shards):
    """Return the rates of what follows: merging and verifying, with the sizes of files."""
    sizes = {"train": shards * SHARD, "test": 0, "ood": 0}
    for number in (1, 2):
        write_dataset(TASK, sizes, folder / f"part-{number}", part=Part(number, 2))
    merged = seconds_of(partial(merge_parts, [folder / "part-1", folder / "part-2"], folder / "merged"))
    verified = seconds_of(partial(verify_dataset, folder / "merged", threads=1))
    size = sum(path.stat().st_size for path in (folder / "merged").rglob("*.parquet"))
    return {
        "bytes_per_instance": size / sizes["train"],
        "merge_bytes_per_second": size / merged,
        "verify_instances_per_second": sizes["train"] / verified,
    }


def measure_driver(folder):
    """Return what one process spends on all files of the planned data set, none of which is there."""
    plan = make_plan(TASK, {"train": PLANNED}, "parquet")
    listing = seconds_of(partial(list_shards, TASK, plan))
    shards = list_shards(TASK, plan)
    (folder / STAGING).mkdir(parents=True)
    part = folder / "part"
    write_dataset(TASK, {"train": SHARD}, part, part=Part(1, 1))
    entry = next(iter(Journal(part, make_plan(TASK, {"train": SHARD}, "parquet")).entries.values()))
    journal = Journal(folder, plan)
    noted = 500
    noting = seconds_of(lambda: [journal.add({**entry, "path": each.path}) for each in shards[:noted]])
    size = (folder / STAGING / "journal.jsonl").stat().st_size / noted
    entries = {each.path: {**entry, "path": each.path, "start": each.start} for each in shards}
    reading = seconds_of(partial(Journal, folder, plan)) / noted
    making = seconds_of(partial(make_manifest, TASK, plan, entries))
    manifest = make_manifest(TASK, plan, entries)
    return {
        "shards": len(shards),
        "list_seconds": listing,
        "notes_per_second": noted / noting,
        "journal_bytes": round(size * len(shards)),
        "journal_read_seconds": reading * len(shards),
        "tallies_bytes": sum(each.nbytes for each in entry["tallies"].values()) * len(shards),
        "manifest_seconds": making,
        "manifest_bytes": len(json_text(manifest)),
        "croissant_bytes": len(json_text(render_croissant(TASK, manifest))),
    }


def rounded(value):
    """Return measurements with four digits."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def rates(shards=24):
    """Return all rates of writing, reading and driving."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "writing": measure_writing(folder / "writing", shards),
            "many": measure_many(folder),
            "after": measure_after(folder / "after", shards),
            "driver": measure_driver(folder / "driver"),
        }
    return rounded(found)


# Preparation of text -------------------------------------------------------------------------------------


PREPARED = 5
ENCODED = 1024


def both_seconds(work):
    """Return how long a call takes on the clock, and of the processor's time."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def preparation(model, *patterns):
    """Time both; return megabytes of text a second, and their ratio."""
    tokenizer = read_tokenizer(Path(model))
    sources = tuple(find_sources(patterns))
    texts = [text for source in sources for _, text in read_documents(source)]
    text_bytes = sum(map(len, texts))
    manifests = []

    def prepare_all():
        with tempfile.TemporaryDirectory() as out:
            manifests.append(prepare(Preparation(sources, tokenizer), out, processes=1))

    def encode_all():
        for start in range(0, len(texts), ENCODED):
            tokenizer.processor.encode(texts[start : start + ENCODED], num_threads=1, return_type="numpy")

    seconds = in_turns({"prepare": prepare_all, "encode": encode_all}, PREPARED, both_seconds)
    speed = {name: text_bytes / 1e6 / median(each for _, each in times) for name, times in seconds.items()}
    return {
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


if __name__ == "__main__":
    recorded(rates, preparation)
    render()
