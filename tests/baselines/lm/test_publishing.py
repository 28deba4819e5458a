"""A directory of tokens, replaced by a writer that is killed between any two operations on files."""

import os
import shutil
from dataclasses import replace

import pytest

from baselines.lm.prepare import prepare
from helpers.killing import killed_after
from sraven.core.ground.errors import OutputError
from sraven.core.system.staging import MANIFEST, STAGING


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """What a kill leaves doesn't depend on what is on the disk already."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def test_killed_anywhere(preparation, tmp_path, monkeypatch, contents):
    """The same command ends in the same bytes, other tokens too, and no whole directory is lost."""
    new, old, third = (replace(preparation, limit=limit, shard_documents=50) for limit in (4, 3, 2))
    whole = {}
    for name, each in {"new": new, "old": old, "third": third}.items():
        prepare(each, tmp_path / name, processes=1)
        whole[name] = contents(tmp_path / name)
    out, operations, done = tmp_path / "out", 0, False
    while not done:
        for again, force in ((new, True), (new, False), (third, True)):
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(tmp_path / "old", out)
            done = killed_after(operations, monkeypatch, lambda: prepare(new, out, processes=1, force=True))
            found = contents(out)
            old_is_there = whole["old"].items() <= found.items()
            assert old_is_there or all(
                content in (found.get(f"{STAGING}/{name}"), found.get(name))
                for name, content in whole["new"].items()
            ), operations
            if old_is_there and not force:
                with pytest.raises(OutputError, match="other tokens"):
                    prepare(again, out, processes=1)
                continue
            prepare(again, out, processes=1, force=force)
            assert contents(out) == whole["new" if again is new else "third"], operations
        operations += 1
    assert operations > 15


def test_the_finished_leaves_a_living_writer_alone(preparation, tmp_path):
    prepare(replace(preparation, limit=3), tmp_path, processes=1)
    refused = []

    def look(documents, size):
        with pytest.raises(OutputError, match="being written by process"):
            prepare(replace(preparation, limit=3), tmp_path, processes=1)
        refused.append((tmp_path / STAGING / "shards").is_dir())

    prepare(replace(preparation, limit=3), tmp_path, processes=1, force=True, tell=look)
    assert refused
    assert all(refused)
    assert (tmp_path / MANIFEST).is_file()
    assert not (tmp_path / STAGING).exists()
