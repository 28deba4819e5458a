"""`sraven analyse`: what is printed and written, JSON, and the lines for what can't be analysed."""

import json
import sys

import pytest

import baselines
from baselines.analysis.stages import STAGES
from baselines.recipes import make_config
from baselines.train.directory import CONFIG
from helpers.analysed_runs import few_at_once, finished_run, language_run
from helpers.tiny_runs import changed_run, tiny
from sraven.board.board import read_board
from sraven.core.spec import values_of
from sraven.files.files import write_json


@pytest.fixture(scope="module", autouse=True)
def finished(compiled, tmp_path_factory):
    with few_at_once():
        yield finished_run(tmp_path_factory, "fuzzy", tiny())


def test_a_run_is_printed_in_brief_and_written_in_full(finished, done, tmp_path, monkeypatch):
    out, mine = tmp_path / "out", tmp_path / "imported_to_analyse.py"
    mine.touch()
    line = ("analyse", finished, "--out", out, "-n", 48, "--no-figures", "--import", mine)
    monkeypatch.setattr("baselines.analysis.report.STAGES", {"decoding": STAGES["decoding"]})
    text = done(*line)
    for words in ("probes, self, ood: f1", "always positive"):
        assert words in text
    assert text.endswith(f"\n{out}: codes, analysis.json\n")
    content = json.loads((out / "analysis.json").read_text())
    command = f"sraven analyse {finished} --out {out} -n 48 --no-figures --import {mine}"
    assert (content["command"], content["protocol"]) == (command, "board")
    monkeypatch.setattr("baselines.analysis.report.STAGES", {"similarity": STAGES["similarity"]})
    again = json.loads(done(*line, "--protocol", "fixed_context", "--json"))
    assert again == json.loads((out / "analysis.json").read_text())
    assert (again["run"], again["protocol"]) == (content["run"], "fixed_context")
    assert set(content) ^ set(again) == {"decoding", "similarity"}
    assert sorted(path.name for path in out.iterdir()) == ["analysis.json", "codes"]


def test_what_cannot_be_analysed_is_one_line(finished, refused, tmp_path, monkeypatch):
    def fault(*arguments):
        err = refused("analyse", *arguments, "--out", tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return err

    (tmp_path / "begun").mkdir()
    board = read_board("fuzzylogic-v1")
    write_json(tmp_path / "begun" / CONFIG, values_of(make_config(board, "hyla", steps=9, warmup=1)))
    assert "begun has 0 of 9 steps; train it to the end first" in fault(tmp_path / "begun")
    assert language_run(tmp_path / "text") and "is a language model's run" in fault(tmp_path / "text")
    wide = changed_run(finished, tmp_path / "wide", width=15)
    assert "(15, 3, 2) by config.json" in fault(wide)
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    monkeypatch.setattr(baselines, "analysis", None)  # which is put back as the modules are
    for name in [name for name in sys.modules if name.startswith("baselines.analysis")]:
        monkeypatch.delitem(sys.modules, name)
    line = "error: sraven analyse needs sklearn.linear_model: pip install '.[analysis]' in a checkout; see "
    assert fault(finished) == f"{line}sraven analyse --help\n"
