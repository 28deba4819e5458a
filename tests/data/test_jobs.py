"""The seam: jobs in threads and processes, the same results, and what can't be."""

import os
import socket
import sys
import threading
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from helpers.light_jobs import fail, square
from helpers.python import python
from helpers.refusals import assert_refused
from sraven import SRAVEN
from sraven.data.directory import Journal, read_begun
from sraven.data.engines import jobs as jobs_module
from sraven.data.engines.jobs import HERE, Engine, map_jobs
from sraven.data.manifest import Shard, list_shards, make_manifest, make_plan, make_shard_entry
from sraven.files.staging import STAGING


@pytest.fixture
def here(tmp_path):
    """The function that does jobs on this machine."""
    return partial(map_jobs, engine=HERE, folder=tmp_path)


@pytest.mark.parametrize(
    ("local", "workers", "apart"),
    [("threads", 1, False), ("threads", 2, False), ("processes", 1, False), ("processes", 2, True)],
)
def test_results_are_in_order(local, workers, apart, here, tmp_path):
    progress, kept = [], []
    how = {"local": local, "workers": workers, "keep": kept.append}
    results = here(partial(square, 100), range(20), lambda *more: progress.append(more), **how)
    assert [number for number, _ in results] == [100 + job * job for job in range(20)]
    assert sorted(kept) == results
    assert (os.getpid() in {process for _, process in results}) != apart
    assert tuple(map(sum, zip(*progress, strict=True))) == (20, sum(range(20)))
    assert not list(tmp_path.iterdir())


def test_nothing_to_do(here):
    assert here(square, [], local="threads") == here(square, [], local="processes") == []


def test_of_several_errors_the_first_jobs_is_raised(here):
    with pytest.raises(ValueError, match="job 1"):
        here(fail, range(6), local="processes", workers=2)


def test_an_error_where_results_are_kept_ends_it(here):
    keep = Mock(side_effect=OSError("disk full"))
    with pytest.raises(OSError, match="disk full"):
        here(partial(square, 0), range(50), local="threads", workers=1, keep=keep)


def test_threads_stop_within_a_job(here):
    started, stopped = threading.Barrier(2), []

    def work(job, on_progress):
        if job == 0:
            started.wait(60)
            raise OSError("disk full")
        started.wait(60)
        try:
            while True:
                on_progress(1, 0)
        except InterruptedError:
            stopped.append(job)
            raise

    with pytest.raises(OSError, match="disk full"):
        here(work, range(2), local="threads", workers=2)
    assert stopped == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("spark",), "engine='spark': "),
        (("local", "auto"), "address='auto': is for engine='ray'"),
        (("ray", "ray://head:10001"), "address='ray://head:10001': expected auto, or HOST:PORT"),
        (("ray", "head"), "address='head': expected auto, or HOST:PORT"),
    ],
)
def test_engines_that_cant_be(arguments, message):
    assert_refused(f"^{message}", Engine, *arguments)


def test_what_a_cluster_takes_and_decides(refused, monkeypatch, tmp_path):
    line = ["generate", "--engine=ray", "--address=head:6379", "--threads=2", "--out", tmp_path / "raven"]
    monkeypatch.setattr(jobs_module, "find_spec", lambda name: None)
    assert "engine='ray' needs ray: pip install '.[cluster]' in a checkout" in refused(*line)
    monkeypatch.setattr(jobs_module, "find_spec", lambda name: True)
    assert "threads=2: the cluster at an address has processors of its own" in refused(*line)
    assert not (tmp_path / "raven").exists()


def test_an_address_without_a_cluster_is_refused(refused, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]' in a checkout")
    none_runs = ConnectionError("Could not find any running Ray instance. Please specify the one to use.")
    monkeypatch.setattr(ray, "init", Mock(side_effect=none_runs))
    with socket.socket() as nobody:  # bound, and not listening
        nobody.bind(("127.0.0.1", 0))
        for address in (f"127.0.0.1:{nobody.getsockname()[1]}", "auto"):
            out = tmp_path / "raven"
            line = ["--train=10", "--test=10", "--ood=10", "--engine=ray", f"--address={address}"]
            err = refused("generate", *line, "--out", out)
            assert f"address='{address}': no Ray cluster can be used there (" in err
            assert not (out / "manifest.json").exists()


# `on_a_cluster`, in a process of its own: Ray forks, which a process with JAX's threads must not


TESTS = Path(__file__).with_name("on_a_cluster.py")


@pytest.mark.long
def test_on_ray(tmp_path):
    pytest.importorskip("ray", reason="needs Ray: pip install '.[cluster]' in a checkout")
    alone = ["-p", "no:xdist", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'alone'}"]
    result = python("-m", "pytest", "-q", "-rs", *alone, TESTS, cwd=REPOSITORY, timeout=900)
    assert result.returncode == 0, result.stdout + result.stderr
    if "skipped" in result.stdout:
        pytest.skip(result.stdout)
    assert "2 passed" in result.stdout


# Plans for very many instances


TASK = SRAVEN(M=4, K=8)


def test_the_pages_tables_are_those_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / "speed"))
    import scale_plan

    text = scale_plan.PAGE.read_text()
    assert text == scale_plan.page(text), "python tests/speed/scale_plan.py writes them again"
    assert text.count("<!-- end -->\n") == 2
    sys.modules.pop("scale_plan")


def entry_of(shard, counts):
    return make_shard_entry(shard, 1, "a" * 64, ["b" * 64] * 4, {"proposals": counts, "instances": counts})


def test_ten_billion_instances_are_listed():
    shards = list_shards(TASK, make_plan(TASK, {"train": 10**10}, "parquet"))
    assert len(shards) == 38_147 and sum(shard.count for shard in shards) == 10**10
    assert shards[-1].path == "M4-K8/train-38146-of-38147.parquet"


@pytest.mark.parametrize(("most", "size"), [(255, 1), (256, 2), (65_536, 4)])
def test_counts_take_few_bytes_and_come_back_the_same(tmp_path, most, size):
    (tmp_path / STAGING).mkdir()
    journal = Journal(tmp_path, make_plan(TASK, {"train": 10**6}, "parquet"))
    counts = np.array([0, 7, most], np.int64)
    entry = entry_of(Shard("train", "M4-K8/train-00000-of-00004.parquet", 0, 5), counts)
    journal.add(entry)
    plan, entries = read_begun(tmp_path)
    for tallies in (entry["tallies"], entries[entry["path"]]["tallies"]):
        assert tallies["proposals"].itemsize == size
        assert tallies["proposals"].tolist() == counts.tolist()
    again = Journal(tmp_path, plan)
    assert (tmp_path / STAGING / "journal.jsonl").read_text().count('"proposals": [0, 7, ') == 1
    assert list(again.entries) == [entry["path"]]


def test_small_counts_add_up_beyond_their_bytes():
    plan = make_plan(TASK, {"train": 3 * 262_144}, "parquet")
    shards = list_shards(TASK, plan)
    entries = {shard.path: entry_of(shard, [200, 255]) for shard in shards}
    made = make_manifest(TASK, plan, entries)["splits"]["train"]
    assert made["tallies"] == {"proposals": [600, 765], "instances": [600, 765]}
    assert all("tallies" not in shard for shard in made["shards"])
