"""The log of a run: cut where training goes on."""

import json
import os

import pytest

from baselines.train.log import LOG, Log, read_log
from baselines.train.train import train
from helpers.refusals import assert_refused
from helpers.tiny_runs import CHUNK, STEPS, lines_of, tiny
from sraven import OutputError

LINES = [json.dumps({"step": step, "loss": 1.0 / step}) for step in (5, 10, 15, 20)]


pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.parametrize(
    ("text", "step", "kept"),
    [
        ("\n".join(LINES) + "\n", 10, 2),  # what comes after is trained again
        ("\n".join(LINES) + "\n", 20, 4),
        ("\n".join(LINES), 20, 4),
        *(("\n".join([*LINES[:3], LINES[3][:size]]), 20, 3) for size in (1, 9, len(LINES[3]) - 1)),
        *((text, 0, 0) for text in (None, "", "\n")),
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


JUNK = {
    "binary": b"\xff\x00\x80" * 50,
    "nested": b"[" * 100_000,
    "long": b"7" * 1_000_000,
    "values": b'{"step": "5"}\n[1]\n{"step": true}\n"step"\nnull',
    "repeated": b'{"step": 5}',
    "empty": b"\n",
}


@pytest.mark.parametrize("kind", JUNK)
@pytest.mark.parametrize("place", [0, 2, 4])
def test_damaged_lines_are_left_out_and_counted(tmp_path, kind, place):
    whole = [line.encode() + b"\n" for line in LINES]
    place = place or int(kind == "repeated")  # before the line of step 5, it would be that
    content = [*whole[:place], JUNK[kind] + b"\n", *whole[place:]]
    (tmp_path / LOG).write_bytes(b"".join(content))
    log = Log(tmp_path, 20)
    log.close()
    assert (tmp_path / LOG).read_bytes() == b"".join(whole)
    assert (log.damaged > 0) == (place < 4)  # what comes after all is only cut off


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
        assert_refused(r"log\.jsonl is no log \(.*, or too large\); move it away", use, error=OutputError)
    assert (tmp_path / "precious").read_text() == "ten years of work"


@pytest.mark.parametrize(
    "line",
    [
        "\xff",
        '{"step": 0}',
        '{"step": 1e3}',
        f'{{"step": {10**30}}}',
        *(f'{{"step": 9, "loss": {value}}}' for value in ('"x"', "[1]", 10**400)),
        *(f'{{"step": 9, "scores": {value}}}' for value in ("null", "[]", '{"test": null}')),
        '{"step": 9, "scores": {"test": {"accuracy": "x"}}}',
        '{"step": 9, "scores": {"te\\u001b[31mst": {"accuracy": 0}}}',
    ],
)
def test_a_damaged_log_is_no_part_of_a_submission(tmp_path, line):
    """The last line, without its end, is left out: somebody may be writing it."""
    assert_refused(r"log\.jsonl can't be read: No such file", read_log, tmp_path, error=OutputError)
    (tmp_path / LOG).write_text(f"{line}\n{LINES[0]}\n{LINES[1][:-2]}", "latin-1")
    with pytest.raises(OutputError, match=r"damaged in line 1; the same `sraven train` again mends it"):
        read_log(tmp_path)
    Log(tmp_path, 20).close()
    assert read_log(tmp_path) == [LINES[0] + "\n"]
    (tmp_path / LOG).write_text(f"{LINES[0]}\n{LINES[1][:-2]}")
    assert read_log(tmp_path) == [LINES[0] + "\n"]


def test_a_run_with_a_damaged_log_goes_on_and_says_so(tiny_copy, capsys):
    log = tiny_copy / LOG
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], b"\xff\xfe\n", *lines[1:]]))
    train(tiny(), tiny_copy)
    assert log.read_bytes() == b"".join(lines)
    assert capsys.readouterr().err == f"note: {log}: left out 1 damaged lines\n"
