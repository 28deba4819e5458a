"""Directories of tokens: interrupted, resumed, in each other's way."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.prepare import prepare
from helpers.example import all_bytes
from helpers.python import python
from helpers.refusals import assert_refused
from sraven.core.errors import OutputError
from sraven.files.files import write_json
from sraven.files.staging import MANIFEST

KILLED = """
import os, signal, sys
from pathlib import Path
from baselines.lm.prepare import Preparation, prepare
from baselines.lm.sources import find_sources
from baselines.lm.tokenizer import read_tokenizer

pattern, model, out, calls, processes = sys.argv[1:]
left = int(calls)

def on_progress(documents, size):
    global left
    left -= documents > 0
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    sources = tuple(find_sources([pattern]))
    prepare(Preparation(sources, read_tokenizer(Path(model))), out,
            processes=int(processes), on_progress=on_progress)
"""
"""Prepares, and is killed after some batches."""


@pytest.mark.parametrize(("calls", "processes"), [(2, 1), (0, 2)])
def test_killed_and_resumed(calls, processes, source_files, preparation, directory, tmp_path):
    script, out = tmp_path / "killed.py", tmp_path / "out"
    script.write_text(KILLED)
    arguments = [source_files / "*.jsonl", directory / "tokenizer.model", out, calls, processes]
    assert python(script, *arguments).returncode == -signal.SIGKILL
    staging = out / ".sraven-partial"
    assert [path.name for path in out.iterdir()] == [staging.name]
    whole = {path.name: os.stat(path).st_ino for path in (staging / "shards").glob("*.npy")}
    for name in whole:
        assert np.load(staging / "shards" / name).size
    assert_refused("unfinished: run the same", Corpus, out, error=OutputError)
    noted = {path.stem for path in (staging / "entries").iterdir()}
    prepare(preparation, out, processes=1)
    assert all_bytes(out) == all_bytes(directory)
    kept = {name for name, inode in whole.items() if os.stat(out / "shards" / name).st_ino == inode}
    assert {name for name in whole if name.split(".")[0] in noted} <= kept
    if processes == 1:
        assert len(noted) == calls


def test_the_finished_is_left_alone_and_in_the_way_of_other_tokens(preparation, tmp_path):
    out, other = tmp_path / "out", replace(preparation, sources=preparation.sources[1:2])
    prepare(preparation, out, processes=1)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    prepare(preparation, out, processes=1)
    with pytest.raises(OutputError, match=r"holds other tokens \(sources differ\)"):
        prepare(other, out, processes=1)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    (out / "shards" / "00000.tokens.npy").unlink()
    assert_refused("damaged", prepare, preparation, out, error=OutputError, processes=1)
    assert prepare(other, out, processes=1, force=True)["documents"] == 5
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "shards", "tokenizer.model"]


def test_what_is_not_ours_is_left_alone(preparation, tmp_path_factory):
    tmp_path, dataset = tmp_path_factory.mktemp("mine"), tmp_path_factory.mktemp("dataset")
    (tmp_path / "notes.txt").write_text("mine")
    newer = {"kind": "tokens", "layout": 9, "plan": {}, "shards": [], "tokenizer": {}}
    for manifest, reason in (({"layout": 1, "splits": {}}, "lacks 'kind'"), (newer, "layout is 9")):
        write_json(dataset / MANIFEST, manifest)
        message = rf"isn't the manifest of a directory of tokens \({reason}"
        for force in (False, True):
            assert_refused("holds no tokens", prepare, preparation, tmp_path, error=OutputError, force=force)
            assert_refused(message, prepare, preparation, dataset, error=OutputError, force=force)
    assert_refused("is a file", prepare, preparation, tmp_path / "notes.txt", error=OutputError)
    assert all_bytes(tmp_path) == {"notes.txt": b"mine"}
