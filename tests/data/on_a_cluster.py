"""Jobs on a Ray cluster: the bytes of one machine, whatever is killed on the way. `test_jobs` runs these."""

import json
import os
import signal
import threading
import time
from functools import partial

import pytest

from baselines.lm import prepare as preparing
from baselines.lm.prepare import Preparation, prepare
from baselines.lm.sources import find_sources
from baselines.lm.tokenizer import train_tokenizer
from helpers import ray_jobs
from helpers.example import all_bytes
from helpers.python import python
from helpers.ray_cluster import VARIABLES, short_folder, started, two_nodes
from sraven import SRAVEN, OutputError, write_dataset
from sraven.core import digests
from sraven.core.errors import ConfigurationError
from sraven.data import write as writing
from sraven.data.engines import on_ray
from sraven.data.engines.jobs import Engine, map_jobs
from sraven.files.staging import APART, STAGING

TASK, SIZES = SRAVEN(M=2, K=5, holdout=0.3), {"train": 4_000, "test": 1_500, "ood": 900}
RAY = Engine("ray")


@pytest.fixture
def whole(tmp_path, monkeypatch):
    """The bytes of a dataset of 7 small shards, written in threads."""
    monkeypatch.setattr(digests, "MOST_INSTANCES", 256)
    monkeypatch.setattr(writing, "_write_shard", ray_jobs.in_small_shards)
    manifest = write_dataset(TASK, SIZES, tmp_path / "whole")
    assert sum(len(split["shards"]) for split in manifest["splits"].values()) == 7
    return all_bytes(tmp_path / "whole")


def test_a_cluster(whole, tmp_path, monkeypatch):
    """All in one test, because a cluster takes its time to start."""
    with two_nodes() as (cluster, second):
        jobs_are_shared_out(tmp_path / "meeting")
        same_bytes(tmp_path / "two-nodes", whole)
        same_tokens(tmp_path / "tokens")
        errors_are_those_of_the_work(tmp_path)
        other_workers_are_refused(tmp_path, monkeypatch)
        the_driver_is_killed(tmp_path / "driver", whole, cluster)
        a_node_is_killed(tmp_path / "node", whole, cluster, second, monkeypatch)


def same_bytes(out, whole):
    progress = []
    write_dataset(TASK, SIZES, out, engine=RAY, shards=lambda done, of: progress.append((done, of)))
    assert all_bytes(out) == whole
    assert progress == [(done, 7) for done in range(1, 8)]


def jobs_are_shared_out(folder):
    progress = []
    folder.mkdir()
    (folder / "met").mkdir()
    found = map_jobs(
        partial(ray_jobs.meet, folder / "met", 2),
        range(3),
        lambda *more: progress.append(more),
        engine=RAY,
        local="threads",
        folder=folder,
    )
    assert len({node for node, _ in found}) == 2
    assert sorted(progress) == [(1, job) for job in range(3)]
    for _, path in found:  # where the driver was may lie the files of a stranger
        assert os.environ["RAY_TMPDIR"] not in path


def same_tokens(folder):
    folder.mkdir()
    words = ["many", "nodes", "read", "a", "corpus", "of", "texts", "and", "write", "what", "one", "writes"]
    texts = [" ".join(words[(7 * n + k) % len(words)] for k in range(4 + n % 9)) for n in range(60)]
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n".join(texts[number * 20 : number * 20 + 20]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # names of sources are as they are given, and workers are elsewhere
        sources = tuple(find_sources(["*.txt"]))
        preparation = Preparation(sources, train_tokenizer(texts, 285))
        progress = []
        prepare(preparation, "local", processes=1)
        killed = partial(ray_jobs.killed_once, folder / "mark")
        patch.setattr(preparing, "write_source", partial(killed, preparing.write_source))
        prepare(preparation, "ray", engine=RAY, sources=lambda *done: progress.append(done))
    assert (folder / "mark").exists() and all_bytes(folder / "ray") == all_bytes(folder / "local")
    assert progress == [(1, 3), (2, 3), (3, 3)]


def errors_are_those_of_the_work(folder):
    for error in (OSError(28, "No space left on device", "shard"), ConfigurationError("no such record")):
        with pytest.raises(type(error)) as raised:
            map_jobs(ray_jobs.fail, [error], engine=RAY, local="threads", folder=folder)
        assert (type(raised.value), raised.value.args) == (type(error), error.args)


def other_workers_are_refused(folder, monkeypatch):
    refused = partial(map_jobs, ray_jobs.fail, [OSError()], engine=RAY, local="threads", folder=folder)
    with monkeypatch.context() as patch:
        patch.setattr(on_ray.Path, "touch", lambda path: None)  # a mark that isn't on the workers' disk
        with pytest.raises(OutputError, match=r"a worker on .* can't see .*directory that all nodes share"):
            refused()
    with monkeypatch.context() as patch:
        patch.setattr(on_ray, "installed_versions", lambda names: {"pyarrow": "1.2.3"})
        with pytest.raises(OutputError, match=r"has pyarrow \d.*, this process 1\.2\.3; install the same"):
            refused()
    assert not list(folder.glob("seen-*"))


DRIVER = """
import json, os, signal, sys
from helpers import ray_jobs
from helpers.ray_cluster import stay_on_loopback
from sraven import SRAVEN, write_dataset
from sraven.data import write
from sraven.data.engines.jobs import Engine
from sraven.core import digests

stay_on_loopback()
digests.MOST_INSTANCES, write._write_shard = 256, ray_jobs.in_small_shards
out, address, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])

def die(done, of):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

write_dataset(SRAVEN(M=2, K=5, holdout=0.3), sizes, out, engine=Engine("ray", address), shards=die)
"""


def the_driver_is_killed(out, whole, cluster):
    result = python("-c", DRIVER, out, cluster.address, json.dumps(SIZES), timeout=120)
    assert result.returncode == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    journal = (out / STAGING / "journal.jsonl").read_bytes()
    assert len(journal.splitlines()) == 1 + 2
    (out / STAGING / APART / "left-by-a-worker").write_text("half of a shard")
    write_dataset(TASK, SIZES, out, engine=RAY)
    assert all_bytes(out) == whole


def a_node_is_killed(out, whole, cluster, doomed, monkeypatch):
    mark = out.with_name("node-mark")

    def kill():
        while not mark.exists():
            time.sleep(0.05)
        cluster.remove_node(doomed, allow_graceful=False)  # ends its processes at once

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with monkeypatch.context() as patch:
        stuck = partial(ray_jobs.stuck_on, doomed.node_id, mark)
        patch.setattr(writing, "partial", lambda *given: partial(stuck, partial(*given)))
        write_dataset(TASK, SIZES, out, engine=RAY)
    killer.join(60)
    assert not killer.is_alive() and all_bytes(out) == whole


LOCAL = """
import sys
from cli.main import main
from helpers.ray_cluster import stay_on_loopback

stay_on_loopback()
main(sys.argv[1:])
"""


def test_a_cluster_of_this_machine(tmp_path):
    line = ["generate", "--M=2", "--K=5", "--holdout=0.3", "--train=90", "--test=35", "--ood=10"]
    variables = {"PYTHONPATH": VARIABLES["PYTHONPATH"], "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "5" * 64}

    def generate():
        with short_folder() as folder:
            where = {"cwd": tmp_path, "env": {**os.environ, **variables, "RAY_TMPDIR": str(folder)}}
            options = ["--out=ray", "--engine=ray", "--threads=1"]
            result = python("-c", LOCAL, *line, *options, timeout=600, **where)
        if result.returncode:
            raise ChildProcessError(result.stderr)
        return result

    result = started(generate, ChildProcessError, tries=1)  # it tries again itself
    assert result.stderr == "" and "90 instances" in result.stdout
    write_dataset(TASK, {"train": 90, "test": 35, "ood": 10}, tmp_path / "local")
    assert all_bytes(tmp_path / "ray") == all_bytes(tmp_path / "local")
