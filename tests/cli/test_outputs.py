"""Output paths: an unusable one is refused as the user wrote it, before any work."""

import os
from pathlib import Path

import pytest

from cli.shared.options import output_directory, output_file, picture_file
from helpers.commands import COMMANDS, find_command

WRITERS = [
    (line, option.opts[0], option.type.dir_okay)
    for line in COMMANDS
    for option in find_command(*line.split()).params
    if option.type in (output_directory, output_file, picture_file)
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


def refused_at(refused, path, *line):
    err = refused(*line, path)
    assert str(path) in err and ".tmp" not in err and "partial" not in err
    return err


@pytest.mark.parametrize(("line", "option", "is_directory"), WRITERS)
def test_what_cant_be_written_is_refused(refused, monkeypatch, line, option, is_directory):
    command = (*line.split(), option)
    assert "is an address" in refused_at(refused, "s3://bucket/x", *command)
    other = refused_at(refused, "file" if is_directory else "folder", *command)
    assert ("is a file" if is_directory else "is a directory") in other
    Path("loop").symlink_to("loop")
    assert "leads back to itself" in refused_at(refused, "loop", *command)
    Path("loop").unlink()
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may write anywhere
    assert f"{Path.cwd()} is closed to you" in refused_at(refused, "closed", *command)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_full_disk_is_no_fault_of_the_path(run):
    code, out, err = run("text", "generate", "-n", 2, "--M", 2, "--out", "/dev/full")
    assert (code, out) == (1, "") and err == "error: /dev/full: No space left on device\n"


def test_every_command_that_writes_is_among_them():
    """An option of such a name has one of the three types."""
    words = {"--out", "--html", "--runs", "--results"}
    takes = {line: {each.opts[0] for each in find_command(*line.split()).params} & words for line in COMMANDS}
    checked = {(line, option) for line, option, _ in WRITERS}
    missed = {(line, option) for line, options in takes.items() for option in options} - checked
    assert not missed
