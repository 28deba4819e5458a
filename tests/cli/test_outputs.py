"""Output paths: an unusable one is refused as the user wrote it, before any work."""

import json
import os
from pathlib import Path

import pytest

from cli.shared import outputs
from cli.shared.outputs import OF_PLACE, output_directory, output_file
from helpers.commands import COMMANDS, find_command
from helpers.tiny_runs import tiny_options
from sraven.core.system.files import replacing
from sraven.core.system.staging import staged

WRITERS = [
    (line, option.opts[0], option.type.dir_okay)
    for line in COMMANDS
    for option in find_command(*line.split()).params
    if option.type in (output_directory, output_file)
]
"""Each option that says where to write: its command, the option, and whether it is a directory."""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """A directory with a file and another directory, which nobody changes."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("kept")
    Path("prompts.jsonl").write_text("")
    Path("folder").mkdir()
    yield
    assert Path("file").read_text() == "kept" and sorted(os.listdir()) == ["file", "folder", "prompts.jsonl"]
    assert not os.listdir("folder")


def refused(run, path, *line):
    code, out, err = run(*line, path)
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1, err
    assert str(path) in err and ".tmp" not in err and "partial" not in err
    return err


@pytest.mark.parametrize(("line", "option", "is_directory"), WRITERS)
def test_what_cant_be_written_is_refused(run, monkeypatch, line, option, is_directory):
    command = (*line.split(), option)
    assert "is a file" in refused(run, "file/below/it", *command)
    other = refused(run, "file" if is_directory else "folder", *command)
    assert ("is a file" if is_directory else "is a directory") in other
    refused(run, "x" * 300, *command)
    monkeypatch.setattr(outputs.os, "access", lambda place, mode: False)  # root may write anywhere
    err = refused(run, "closed", *command)
    assert f"{Path.cwd()} is closed to you" in err


def test_so_it_is_by_what_finds_out_later(run):
    line = ["train", "fuzzylogic-v1", "--attention=linear", *tiny_options(), "--out"]
    refused(run, "file/below/it", *line)
    with pytest.raises(NotADirectoryError) as error, replacing(Path("file/below/it")):
        pass
    assert error.value.filename == "file/below/it"
    with pytest.raises(OSError, match="file") as error, staged(Path("file/below")):
        pass
    assert error.value.errno in OF_PLACE


def test_missing_directories_are_made(done, tmp_path_factory, monkeypatch):
    """Of files as of directories; so it has always been for those."""
    folder = tmp_path_factory.mktemp("new")
    generate = ["text", "generate", "-n", 2, "--M", 2, "--out"]
    assert json.loads(done(*generate, folder / "a" / "b" / "prompts.jsonl", "--json"))["prompts"] == 2
    assert len((folder / "a" / "b" / "prompts.jsonl").read_text().splitlines()) == 2
    out = done("challenge", "commit", folder / "a", "--name=x", "--json", "--out", folder / "c" / "d")
    assert len(json.loads(out)["commitment"]) == 64


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_full_disk_is_no_fault_of_the_path(run):
    code, out, err = run("text", "generate", "-n", 2, "--M", 2, "--out", "/dev/full")
    assert (code, out) == (1, "") and err == "error: /dev/full: No space left on device\n"


def test_every_command_that_writes_is_among_them():
    """An option of such a name has one of the two types, or its command is in the short list above."""
    words = {"--out", "--png", "--svg", "--html", "--losses", "--runs", "--results"}
    takes = {line: {each.opts[0] for each in find_command(*line.split()).params} & words for line in COMMANDS}
    checked = {(line, option) for line, option, _ in WRITERS}
    missed = {(line, option) for line, options in takes.items() for option in options} - checked
    assert not missed
