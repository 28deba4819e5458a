"""Datasets in parts, and their merge: the same bytes, whatever happens on the way."""

import json
import os
import shutil
from functools import partial
from unittest.mock import Mock

import pytest

from fuzzylogic import FuzzyLogic
from helpers.example import all_bytes
from helpers.killing import killed_everywhere
from helpers.refusals import assert_refused
from sraven import SRAVEN, OutputError, write_dataset
from sraven.data import manifest
from sraven.data.directory import JOURNAL, read_begun
from sraven.data.merge import merge_parts
from sraven.data.parts import Part, read_part
from sraven.files.staging import STAGING

TASK = SRAVEN(M=2, K=5, holdout=0.3)
SIZES = {"train": 90, "test": 35, "ood": 10}
PARTS = 3


@pytest.fixture(autouse=True, scope="module")
def _small_shards():
    """Blocks of ten instances, so that a few make many shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest, "block_size", lambda columns: 10)
        patch.setattr(manifest, "BLOCKS_IN_SHARD", 1)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory, _small_shards):
    """A folder with all parts, and with the dataset written at once."""
    folder = tmp_path_factory.mktemp("made")
    for number in range(1, PARTS + 1):
        write_dataset(TASK, SIZES, folder / f"part-{number}", part=Part(number, PARTS), threads=1)
    write_dataset(TASK, SIZES, folder / "whole")
    return folder


@pytest.fixture
def parts(made, tmp_path):
    """The directories of all parts, and the bytes of the dataset written at once."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return [tmp_path / f"part-{number}" for number in range(1, PARTS + 1)], all_bytes(tmp_path / "whole")


def check_merge(folders, whole):
    """Merge parts into a directory beside them, which has to be the dataset written at once."""
    out = folders[0].with_name("merged")
    merge_parts(folders, out)
    assert all_bytes(out) == whole


def test_merged_in_any_order_it_is_what_is_written_at_once(parts):
    folders, whole = parts
    before = [all_bytes(folder) for folder in folders]
    check_merge([folders[place] for place in (2, 0, 1)], whole)
    assert [all_bytes(folder) for folder in folders] == before


OTHERS = [
    (FuzzyLogic(L=3, K=2, N=4), {"train": 50, "ood_terms": 20}, "parquet", [3, 2, 2]),
    (FuzzyLogic(L=3, K=2, N=4), {"train": 50, "ood_terms": 20}, "arrow", [3, 2, 2]),
    (TASK, {"ood": 15}, "parquet", [1, 1, 0]),
]


@pytest.mark.parametrize(("task", "sizes", "file_format", "shards"), OTHERS)
def test_other_tasks_and_formats_have_parts_and_some_are_empty(tmp_path, task, sizes, file_format, shards):
    options, folders = {"file_format": file_format}, [tmp_path / str(number) for number in (1, 2, 3)]
    made = [
        write_dataset(task, sizes, folder, part=Part(n, 3), **options) for n, folder in enumerate(folders, 1)
    ]
    assert [sum(len(split["shards"]) for split in each["splits"].values()) for each in made] == shards
    write_dataset(task, sizes, tmp_path / "whole", **options)
    check_merge(folders, all_bytes(tmp_path / "whole"))


def test_the_command_without_a_part_finishes_one(parts):
    folders, whole = parts
    write_dataset(TASK, SIZES, folders[0])
    assert all_bytes(folders[0]) == whole


def test_a_part_goes_on_where_it_was(tmp_path, parts):
    folders, whole = parts
    journal = folders[1] / STAGING / JOURNAL
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:3]) + lines[3][:20])  # killed within a line
    with pytest.raises(OutputError, match=r"\d+ of 14 shards are in none of these parts"):
        merge_parts(folders, tmp_path / "merged")
    write_dataset(TASK, SIZES, folders[1], part=Part(2, PARTS))
    check_merge(folders, whole)


def test_a_merge_killed_anywhere_goes_on(tmp_path, parts):
    folders, whole = parts
    out = tmp_path / "merged"
    merge = partial(merge_parts, folders, out)
    for operations in killed_everywhere(merge, partial(shutil.rmtree, out, ignore_errors=True), step=5):
        merge()
        assert all_bytes(out) == whole, operations
    assert operations > 20


def test_a_disk_without_second_names_gets_copies(tmp_path, parts, monkeypatch):
    folders, whole = parts
    monkeypatch.setattr(os, "link", Mock(side_effect=OSError("another disk")))
    check_merge(folders, whole)


def refuses(folders, out, match):
    assert_refused(match, merge_parts, folders, out, error=OutputError)
    assert not out.exists()


def test_what_is_no_dataset_of_these_parts_is_refused(parts, tmp_path):
    (one, two, three), out = parts[0], tmp_path / "merged"
    refuses([one, three], out, "5 of 14 shards are in none of these parts .*name the other parts")
    refuses([one, two, three, two], out, "is in .*part-2 and in .*part-2; leave out one")
    refuses([tmp_path / "whole", one], out, "whole holds a whole dataset")
    refuses([tmp_path / "absent"], out, "holds no part of a dataset")
    refuses([], out, "there are no parts")
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3, seed=1), SIZES, tmp_path / "other", part=Part(1, 2))
    refuses([one, tmp_path / "other"], out, r"part of another dataset than .*part-1 \(seed differ\)")
    write_dataset(TASK, {**SIZES, "ood": 20}, tmp_path / "sizes", part=Part(1, 2))
    refuses([one, tmp_path / "sizes"], out, r"\(sizes differ\)")


def test_damaged_shards_arent_published(parts, tmp_path):
    folders, whole = parts
    shard = next((folders[1] / STAGING).rglob("*.parquet"))
    content = shard.read_bytes()
    shard.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(OutputError, match=f"{shard.name} is missing or damaged; .* mends it"):
        merge_parts(folders, tmp_path / "merged")
    assert not (tmp_path / "merged" / manifest.MANIFEST).exists()
    shard.write_bytes(content)
    check_merge(folders, whole)


@pytest.mark.parametrize("plan", ["", "no JSON", "[]", "{}", '{"config": 3}'])
def test_a_strange_plan_is_no_part(parts, tmp_path, plan):
    folders, _ = parts
    (folders[0] / STAGING / JOURNAL).write_text(plan + "\n")
    refuses(folders, tmp_path / "merged", "part-1")


def edit_journal(folder, line, **changes):
    """Change what a line of a part's journal says: the plan's, which is the first, or an entry's."""
    journal = folder / STAGING / JOURNAL
    lines = journal.read_text().splitlines()
    lines[line] = json.dumps({**json.loads(lines[line]), **changes})
    journal.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"sizes": {"train": 10**13}}, "sizes.train"),
        ({"sizes": {"\x1b[2K": 5}}, r".x1b\[2K"),
        ({"file_format": "exe"}, "file_format"),
        ({"pyarrow": "\n::error::"}, "pyarrow"),
        ({"config_name": "M3"}, "config_name"),
    ],
)
def test_a_strange_journal_is_refused_in_one_line(parts, tmp_path, changes, place):
    folders, _ = parts
    for folder in folders:
        edit_journal(folder, 0, **changes)
    assert_refused(place, merge_parts, folders, tmp_path / "merged")


@pytest.mark.parametrize(
    "changes",
    [
        {"num_bytes": 1},
        {"start": 3},
        {"blocks": ["0" * 64]},
        {"extra": 1},
        {"tallies": {"proposals": [10**40], "instances": [1], "unique": [1]}},
        {"sha256": 5},
        {"path": "../x"},
    ],
)
def test_what_a_journal_says_of_a_shard_is_recomputed(parts, tmp_path, changes):
    folders, whole = parts
    kept = (folders[1] / STAGING / JOURNAL).read_text()
    edit_journal(folders[1], 2, **changes)
    [changed] = changes
    said = rf"journal has another '?{changed}|damaged|in none of these"
    assert_refused(said, merge_parts, folders, tmp_path / "merged", error=OutputError)
    assert not (tmp_path / "merged" / manifest.MANIFEST).exists()
    (folders[1] / STAGING / JOURNAL).write_text(kept)
    check_merge(folders, whole)


def test_of_a_journal_without_an_end_only_the_shards_are_kept(parts, tmp_path):
    folders, whole = parts
    with open(folders[0] / STAGING / JOURNAL, "r+b") as journal:
        entries = [json.loads(line) for line in journal.read().splitlines()[1:]]
        for number in range(1000):
            journal.write(json.dumps({**entries[0], "path": f"{number}.parquet"}).encode() + b"\n")
        journal.truncate(1 << 31)  # zeros, which take no room on the disk
    assert read_begun(folders[0])[1].keys() == {entry["path"] for entry in entries}
    check_merge(folders, whole)


def test_other_versions_of_pyarrow_are_refused(parts, tmp_path):
    folders, _ = parts
    for folder in folders:
        edit_journal(folder, 0, pyarrow="1.2.3")
    refuses(folders, tmp_path / "merged", r"was written with PyArrow 1\.2\.3")


def test_a_part_isnt_written_over_the_whole(parts, tmp_path):
    with pytest.raises(OutputError, match="holds the whole already"):
        write_dataset(TASK, SIZES, tmp_path / "whole", part=Part(1, 2))


def test_parts_are_read_as_they_are_written():
    assert read_part("3/64") == Part(3, 64) and str(Part(3, 64)) == "3/64"
    assert [Part(n, 3).choose(range(8)) for n in (1, 2, 3)] == [[0, 3, 6], [1, 4, 7], [2, 5]]
    for text in ("0/4", "5/4", "3", "a/b", "1/0", "-1/4", "1/4/2", "\u0663/64"):
        assert_refused("expected 3/64 for the third of 64 parts", read_part, text)


def test_the_commands(done, refused, tmp_path):
    line = ["generate", "--M=2", "--K=5", "--holdout=0.3", "--train=90", "--test=35", "--ood=10", "--out"]
    for number in (1, 2):
        out = done(*line, tmp_path / f"p{number}", f"--part={number}/2")
        assert "shards" in out and "sraven merge" in out
    assert "are in none of these parts" in refused("merge", tmp_path / "p2", "--out", tmp_path / "merged")
    out = done("merge", tmp_path / "p2", tmp_path / "p1", "--out", tmp_path / "merged")
    assert "90 instances" in out and "load_dataset" in out
    done(*line, tmp_path / "whole")
    assert all_bytes(tmp_path / "merged") == all_bytes(tmp_path / "whole")
    assert json.loads(done(*line, tmp_path / "p1", "--part=1/2", "--json"))["of"] == 2
    refused(*line, tmp_path / "p3", "--part=3/2")
    assert not (tmp_path / "p3").exists()
