"""Plans for very many instances: the page's tables, and what a driver holds of each file."""

import sys

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from sraven import SRAVEN
from sraven.core.dataset.directory import Journal, read_begun
from sraven.core.dataset.manifest import Shard, list_shards, make_manifest, make_plan, make_shard_entry
from sraven.core.system.staging import STAGING

TASK = SRAVEN(M=4, K=8)


def test_the_pages_tables_are_those_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / "speed"))
    import scale_plan

    text = scale_plan.PAGE.read_text()
    assert text == scale_plan.page(text), "python tests/speed/scale_plan.py writes them again"
    assert text.count("<!-- end -->\n") == 4
    sys.modules.pop("scale_plan")


@pytest.fixture
def journal(tmp_path):
    """An empty journal of ten billion instances."""
    (tmp_path / STAGING).mkdir()
    return Journal(tmp_path, make_plan(TASK, {"train": 10**10}, "parquet"))


def entry_of(shard, counts):
    return make_shard_entry(shard, 1, "a" * 64, ["b" * 64] * 4, {"proposals": counts, "instances": counts})


def test_ten_billion_instances_are_listed():
    shards = list_shards(TASK, make_plan(TASK, {"train": 10**10}, "parquet"))
    assert len(shards) == 38_147 and sum(shard.count for shard in shards) == 10**10
    assert shards[-1].path == "M4-K8/train-38146-of-38147.parquet"


@pytest.mark.parametrize(("most", "size"), [(255, 1), (256, 2), (65_536, 4)])
def test_counts_take_few_bytes_and_come_back_the_same(journal, tmp_path, most, size):
    counts = np.array([0, 7, most], np.int64)
    entry = entry_of(Shard("train", "M4-K8/train-00000-of-38147.parquet", 0, 5), counts)
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
