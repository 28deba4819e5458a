"""The log of a run: cut where training goes on."""

import json
import os

import pytest

from baselines.train.log import LOG, Log, read_log
from helpers.refusals import assert_refused
from helpers.tiny_runs import CHUNK, STEPS, lines_of
from sraven import OutputError

LINES = [json.dumps({"step": step, "loss": 1.0 / step}) for step in (5, 10, 15, 20)]


pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.parametrize(
    ("text", "step", "kept"),
    [
        ("\n".join(LINES) + "\n", 10, 2),  # what comes after is trained again
        ("\n".join(LINES) + "\n", 20, 4),
        ("\n".join(LINES), 20, 3),
        *(("\n".join([*LINES[:3], LINES[3][:size]]), 20, 3) for size in (1, 9, len(LINES[3]) - 1)),
        *((text, 0, 0) for text in (None, "")),
    ],
)
def test_whole_lines_up_to_the_step_of_resuming_stay(tmp_path, text, step, kept):
    if text is not None:
        (tmp_path / LOG).write_text(text)
    log = Log(tmp_path, step)
    log.add(25, {"loss": 0.5})
    log.close()
    assert (tmp_path / LOG).read_text().splitlines() == [*LINES[:kept], '{"step": 25, "loss": 0.5}']


def test_log_of_a_run_has_a_line_for_every_chunk(tiny_run):
    lines = lines_of(tiny_run[0])
    assert [line["step"] for line in lines] == list(range(CHUNK, STEPS + 1, CHUNK))
    names = ["step", "loss", "score", "gradient_norm", "instances_per_second"]
    assert all(list(line) == names for line in lines)


# Damage


def put_a_large_one(path):
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize(
    "make", [lambda path: path.symlink_to("precious"), os.mkfifo, os.mkdir, put_a_large_one]
)
def test_something_else_in_its_place_is_refused_without_waiting(tmp_path, make):
    (tmp_path / "precious").write_text("ten years of work")
    make(tmp_path / LOG)
    for use in (lambda: Log(tmp_path, 0), lambda: read_log(tmp_path)):
        assert_refused(r"log\.jsonl can't be read: ", use, error=OutputError)
    assert (tmp_path / "precious").read_text() == "ten years of work"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\xff",
        "[" * 100_000,
        "[1]",
        '{"step": 0}',
        '{"step": true}',
        '{"step": 1e3}',
        f'{{"step": {10**30}}}',
        *(f'{{"step": 9, "loss": {value}}}' for value in ('"x"', "[1]", 10**400)),
        *(f'{{"step": 9, "scores": {value}}}' for value in ("null", "[]", '{"test": null}')),
        '{"step": 9, "scores": {"test": {"accuracy": "x"}}}',
        '{"step": 9, "scores": {"te\\u001b[31mst": {"accuracy": 0}}}',
        LINES[0],
    ],
)
def test_a_damaged_line_is_named(tmp_path, line):
    """The last line, without its end, is left out: somebody may be writing it."""
    (tmp_path / LOG).write_text(f"{LINES[0]}\n{line}\n{LINES[1]}\n", "latin-1")
    for use in (lambda: Log(tmp_path, 20), lambda: read_log(tmp_path)):
        assert_refused("damaged in line 2; remove the line", use, error=OutputError)
    (tmp_path / LOG).write_text(f"{LINES[0]}\n{LINES[1][:-2]}")
    assert read_log(tmp_path) == [LINES[0] + "\n"]
