"""The process that decodes: it may die, lie or hang, and imports nothing from where it runs."""

import numpy as np
import pytest

from helpers.submissions import predictions_file
from helpers.untrusted import PANEL, PANELS, RIGHT, refusal
from sraven.core.untrusted.read import decode_predictions


def test_files_are_told_apart():
    files = {
        "a": (predictions_file(PANELS[:5], [9, 8, 7, 6, 5]), 20),
        "b": (predictions_file(PANELS[:0]), 7),
        "c": (predictions_file(PANELS[3:]), 17),
    }
    found = decode_predictions(files, PANEL)
    assert list(found) == ["a", "b", "c"]
    assert found["a"][0].tolist() == [9, 8, 7, 6, 5] and np.array_equal(found["a"][1], PANELS[:5])
    assert found["b"][0].shape == (0,) and found["b"][1].shape == (0, 3)
    assert found["c"][0].tolist() == list(range(17)) and np.array_equal(found["c"][1], PANELS[3:])
    bad = {**files, "d": (predictions_file(PANELS), 19), "e": (b"", 5)}
    assert refusal(decode_predictions, bad, PANEL) == "d: declares 20 rows; the split has 19"


@pytest.fixture
def program(tmp_path):
    """A program in place of the one that decodes."""
    return tmp_path / "program.py"


@pytest.mark.parametrize(
    ("code", "size"),
    [
        ("import os; os.abort()", 9),
        ("raise SystemExit(3)", 9),
        ("", 9),
        ("import sys; sys.stdin.buffer.read(70_000)", 1 << 22),
        *((f"print('{{\"rows\": {rows}}}')", 9) for rows in (21, -1, 10**30, 5)),
    ],
)
def test_decoder_that_dies_or_was_taken_over_is_a_refusal(code, size, program):
    program.write_text(code)
    found = refusal(decode_predictions, {"x": (bytes(size), 20)}, PANEL, program=program)
    assert "x: makes the Parquet decoder fail" in found


def test_decoder_that_does_not_end_is_a_refusal(program):
    program.write_text("import signal; signal.pause()")
    found = refusal(decode_predictions, {"x": (RIGHT, 20)}, PANEL, program=program, seconds=0.1)
    assert "take too long to decode" in found


def test_decoder_imports_nothing_from_where_it_runs(monkeypatch, tmp_path):
    for name in ("numpy", "pyarrow", "json", "resource"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert len(decode_predictions({"x": (RIGHT, 20)}, PANEL)["x"][0]) == 20
    assert not (tmp_path / "taken").exists()
