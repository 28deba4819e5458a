"""Training cells for as long as there is time, and adopting runs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.paper.adopt import adopt
from baselines.paper.cells import cells_of
from baselines.paper.records import read_record, write_record
from baselines.paper.run import folder_of, run_cells, training_order
from baselines.session import OnBoard, ScoringOptions, make_session
from baselines.train.directory import CHECKPOINTS
from baselines.train.provenance import RECORD, commit_of
from baselines.train.result import EVALUATION, RESULT, read_result
from baselines.train.train import train
from helpers.compiling import quick_flags
from helpers.refusals import assert_refused
from helpers.reproduction import H200, SHAPE, STEPS, cell, figure
from helpers.tiny_runs import CHUNK, lines_of
from sraven.board.board import read_board
from sraven.core.errors import OutputError
from sraven.files.lock import Lock

TINY = figure(seeds=(0, 1))
FIGURES = {"tiny": TINY}
SCORING = ScoringOptions(every=60, instances=32)
RESULTS = Path(__file__).parents[3] / "docs" / "results"
KEPT = sorted(RESULTS.glob("reproduction/*/*.json"))
SOFTMAX, HYLA = cell(TINY, "softmax"), cell(TINY, "hyla")

pytestmark = pytest.mark.usefixtures("compiled")


def run(cells, folder, **options):
    options = {"scoring": SCORING, "figures": FIGURES, **options}
    return run_cells(cells, folder / "runs", folder / "results", **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with one run and its record."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, run([SOFTMAX], folder)


@pytest.fixture(scope="module")
def run_folder(finished):
    """The run's directory; tests only read it."""
    return folder_of(finished[0] / "runs", SOFTMAX.config)


@pytest.fixture
def copy(run_folder, tmp_path):
    return shutil.copytree(run_folder, tmp_path / "copy")


@pytest.mark.long
def test_a_record_has_what_it_takes_to_repeat_a_run_and_its_scores(finished, run_folder):
    folder, progress = finished
    path = folder / "results" / "reproduction" / "tiny" / f"{SOFTMAX.digest}.json"
    assert progress == ((path,), (), 0)
    record, result = read_record(path), read_result(run_folder)
    assert (record.config, record.steps, record.diverged) == (SOFTMAX.config, STEPS, False)
    assert record.commit == commit_of([run_folder])
    assert record.machine == result["trained_by"][0]["machine"]
    assert (record.seconds, record.training_loss) == (result["seconds"], result["loss"]["mean"])
    assert 0 < record.training_loss < 1 and record.seconds > 0
    assert (result["scores"]["from"], result["scores"]["splits"]) == (EVALUATION, record.scores)
    assert record.command.startswith("sraven train fuzzylogic-v1 --attention softmax")
    assert record.scores.keys() == {"test", "ood", "ood_terms"}
    assert all(metrics.keys() == {"r2_per_sequence", "r2", "mse"} for metrics in record.scores.values())
    values = json.loads(path.read_text())
    assert (values["digest"], values["steps"]) == (SOFTMAX.digest, {"done": STEPS, "planned": STEPS})


@pytest.mark.long
def test_cells_are_trained_as_sraven_train_trains(finished, run_folder, tmp_path):
    board, out = read_board("fuzzylogic-v1"), tmp_path / "run"
    shape = {**SHAPE, "warmup": SOFTMAX.config.warmup}  # that of the whole length, as the figure's
    make_session(OnBoard(board), "softmax", out, scoring=SCORING, steps=STEPS, **shape).train()

    assert (out / "config.json").read_bytes() == (run_folder / "config.json").read_bytes()
    here, there = lines_of(out), lines_of(run_folder)
    for line in (*here, *there):
        del line["instances_per_second"]
    assert here == there and [line["step"] for line in here if "scores" in line] == [60, 120]


@pytest.mark.long
def test_time_that_is_up_stops_a_run_at_a_checkpoint_and_the_same_call_goes_on(finished, tmp_path):
    _, progress = finished
    ticks = iter(range(1000))
    stopped = run([SOFTMAX, HYLA], tmp_path, stop=lambda: next(ticks) >= 3)
    assert stopped == ((), (SOFTMAX,), 2)
    run_folder = folder_of(tmp_path / "runs", SOFTMAX.config)
    checkpoints = {path.name for path in (run_folder / "checkpoints").iterdir()}
    assert lines_of(run_folder)[-1]["step"] == max(map(int, checkpoints)) == 3 * CHUNK
    assert not (run_folder / RESULT).exists()
    assert run([SOFTMAX, HYLA], tmp_path, stop=lambda: True) == ((), (), 2)

    again, unbroken = (read_record(each.records[0]) for each in (run([SOFTMAX], tmp_path), progress))
    assert (again.scores, again.training_loss) == (unbroken.scores, unbroken.training_loss)


@pytest.mark.long
def test_runs_at_a_time_end_when_asked_and_programs_on_a_gpu_go_on_as_one_after_the_other(
    finished, tmp_path, monkeypatch, stand_in
):
    """The GPU is a pretended one: its two programs train on the processor that there is."""
    monkeypatch.setenv("XLA_FLAGS", quick_flags())
    calls, cells = stand_in("nvidia-cuda-mps-control", "exit 0"), [SOFTMAX, cell(TINY, "softmax", 1), HYLA]
    done, progress = [], []
    options = {
        "on_progress": lambda cell, steps, line: progress.append((cell, steps)),
        "wrote": lambda *each: done.append(each),
    }
    stopped = run(cells, tmp_path, jobs=2, stop=lambda: bool(progress), **options)
    assert (stopped.records, stopped.left, calls()) == ((), 3, [])
    progress.clear()
    result = run(cells, tmp_path, gpus=(H200,), **options)
    assert [line.split("|")[:2] for line in calls()] == [["-d", ""], ["", "quit -t 10"]]
    assert (sorted(result.records), *result[1:]) == (sorted(path for _, path in done), (), 0)
    assert {cell.digest for cell, _ in done} == {cell.digest for cell in cells}
    assert ({cell for cell, _ in progress}, sum(steps for _, steps in progress)) == ({None}, 3 * STEPS)
    found = {path.stem: read_record(path) for path in result.records}
    assert all('"matmul_precision": "highest"' in json.dumps(each.machine) for each in found.values())
    for split, scores in read_record(finished[1].records[0]).scores.items():
        assert found[SOFTMAX.digest].scores[split] == pytest.approx(scores, abs=1e-3)
    assert run(cells, tmp_path, gpus=(H200,)) == ((), (), 0)


def test_one_process_trains_in_a_folder_and_runs_at_a_time_share_the_processors(tmp_path, monkeypatch):
    """The last one has all."""
    with Lock(tmp_path / "runs"), pytest.raises(OutputError, match="is being written by"):
        run([SOFTMAX], tmp_path)
    processors = []
    for name, stand_in in {
        "map_jobs": lambda work, jobs, *_, **__: [work(job, print) for job in jobs],
        "leave_signals_to_parent": lambda: None,
        "take_processors": processors.append,
        "_train_cells": lambda *_: [],
    }.items():
        monkeypatch.setattr(f"baselines.paper.run.{name}", stand_in)
    for cells in ([SOFTMAX, HYLA], [SOFTMAX]):
        assert run(cells, tmp_path, jobs=2) == ((), (), len(cells))
    assert processors == [2, 2]


def test_a_run_that_diverges_has_a_record_without_scores(tmp_path):
    wild = replace(SOFTMAX, config=replace(SOFTMAX.config, learning_rate=1e18, warmup=0))
    wild_figure = figure(seeds=(0,))
    assert_refused("no cell of a figure", run, [wild], tmp_path)
    point = {"learning_rate": 1e18, "weight_decay": 0.1, "warmup": 0}
    object.__setattr__(wild_figure, "points", (point,))
    progress = run([wild], tmp_path, figures={"wild": wild_figure})
    record = read_record(progress.records[0])
    assert record.diverged
    assert (record.scores, record.training_loss) == ({}, None) or record.steps < STEPS


def test_one_seed_of_every_row_comes_before_second_seeds_and_the_cheapest_first():
    wide = figure("wide", attentions=("hyla", "softmax"), seeds=(0, 1))
    cells = training_order([*cells_of(wide), *cells_of(wide)])
    assert len(cells) == 2 * 2 * 2 * 4
    first = [(each.config.seed, each.row.labels["points"], each.config.attention) for each in cells[:8]]
    assert first == [
        (seed, points, attention)
        for seed in (0, 1)
        for points, attention in (("16", "softmax"), ("16", "hyla"), ("32", "softmax"), ("32", "hyla"))
    ]
    assert {tuple(each.point.values()) for each in cells[:8]} == {(0.001, 0.1, 100)}


# Adopting ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_runs_without_provenance_are_adopted_and_none_but_cells(finished, copy, tmp_path):
    (copy / RESULT).unlink()  # what versions left that recorded neither who trained nor its result
    next(copy.glob(RECORD.format("*"))).unlink()
    record = read_record(adopt(copy, tmp_path / "results", figures=FIGURES)[0])
    assert record == replace(read_record(finished[1].records[0]), commit=None, machine=None)
    assert read_result(copy)["scores"]["from"] == EVALUATION
    values = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**values, "weight_decay": 0.2}))
    with pytest.raises(OutputError, match="copy is no cell"):
        adopt(copy, tmp_path / "none", figures=FIGURES)
    assert not (tmp_path / "none").exists()


@pytest.mark.long
def test_a_finished_run_becomes_the_record_of_its_training_whatever_its_result_says(finished, copy, tmp_path):
    result = json.loads((copy / RESULT).read_text())
    for scores in result["scores"]["splits"].values():
        scores.update(dict.fromkeys(scores, 0.9999))
    (copy / RESULT).write_text(json.dumps(result))
    path, new = adopt(copy, tmp_path, figures=FIGURES)
    assert new and path.read_bytes() == finished[1].records[0].read_bytes()
    assert adopt(copy, tmp_path, figures=FIGURES) == (path, False)
    shutil.rmtree(copy / CHECKPOINTS)
    with pytest.raises(OutputError, match=f"has 0 of {STEPS} steps; train it to the end first"):
        adopt(copy, tmp_path / "none", figures=FIGURES)
    assert not (tmp_path / "none").exists()


def test_a_shorter_run_is_adopted_as_another_level_and_names_both_machines_if_it_went_on_elsewhere(tmp_path):
    short, folder = replace(SOFTMAX.config, steps=20), tmp_path / "short"
    train(short, folder)
    assert read_result(folder)["scores"] is None
    other = json.loads(next(folder.glob(RECORD.format("*"))).read_text())
    other["machine"]["device"] = "Another"
    (folder / RECORD.format("0" * 12)).write_text(json.dumps(other))
    path, _ = adopt(folder, tmp_path / "results", figures=FIGURES)
    record = read_record(path)
    assert (record.config, path.parent.name, len(record.machine["several"])) == (short, "tiny", 2)
    assert "Another" in {each["device"] for each in record.machine["several"]}


def test_kept_records_are_written_as_they_are(tmp_path):
    assert KEPT
    for path in KEPT:
        copy = write_record(tmp_path, read_record(path))
        assert copy.relative_to(tmp_path) == path.relative_to(RESULTS)
        assert copy.read_bytes() == path.read_bytes()
