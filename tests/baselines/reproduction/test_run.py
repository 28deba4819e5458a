"""Training cells for as long as there is time, and adopting runs."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from baselines.reproduction.cells import cells_of
from baselines.reproduction.records import (
    mean_loss,
    read_record,
    read_records,
    score,
    seconds_of,
    write_record,
)
from baselines.reproduction.run import Provenance, adopt, folder_of, in_order, run_cells
from baselines.reproduction.sets import FIGURES as ALL_FIGURES
from baselines.train import load_run, train
from helpers.reproduction import BATCH, STEPS, cell, figure
from helpers.tiny_runs import quickly, shared_directory
from sraven.core.boards.board import read_board
from sraven.core.ground.errors import ConfigurationError, OutputError
from sraven.core.system.lock import Lock

TINY = figure(seeds=(0, 1))
FIGURES = {"tiny": TINY}
SAVE_EVERY = 20
SOFTMAX, HYLA = cell(TINY, "softmax"), cell(TINY, "hyla")


@pytest.fixture(scope="module", autouse=True)
def _quickly(tmp_path_factory):
    with quickly(shared_directory(tmp_path_factory, "compiled")):
        yield


def run(cells, folder, **options):
    return run_cells(
        cells, folder / "runs", folder / "results", save_every=SAVE_EVERY, figures=FIGURES, **options
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with one run and its record."""
    folder = tmp_path_factory.mktemp("finished")
    provenance = Provenance("a commit", {"processors": 2})
    return folder, run([SOFTMAX], folder, provenance=provenance)


def test_a_record_has_what_it_takes_to_repeat_a_run_and_its_scores(finished):
    folder, came = finished
    assert (came.stopped, came.left) == (None, 0)
    (path,) = came.records
    assert path == folder / "results" / "reproduction" / "tiny" / f"{SOFTMAX.digest}.json"
    record = read_record(path)
    assert record.config == SOFTMAX.config
    assert (record.steps, record.diverged) == (STEPS, False)
    assert (record.commit, record.machine) == ("a commit", {"processors": 2})
    assert record.command.startswith("sraven train fuzzylogic-v1 --attention softmax")
    assert record.scores.keys() == {"test", "ood", "ood_terms"}
    assert all(metrics.keys() == {"r2_per_sequence", "r2", "mse"} for metrics in record.scores.values())
    assert 0 < record.training_loss < 1
    assert record.seconds > 0
    values = json.loads(path.read_text())
    assert values["digest"] == SOFTMAX.digest
    assert values["steps"] == {"done": STEPS, "planned": STEPS}


def test_the_scores_are_the_boards(finished):
    folder, came = finished
    from baselines.evaluate import predict

    config, params = load_run(folder_of(folder / "runs", SOFTMAX.config))
    board = read_board("fuzzylogic-v1")
    predictions = predict(config, params, board, "ood")
    of_board = {name: found.mean for name, found in board.score("ood", predictions).metrics.items()}
    assert read_record(came.records[0]).scores["ood"] == pytest.approx(of_board)
    assert score(board.task, "ood", predictions * np.nan, board.metrics) == dict.fromkeys(board.metrics)


def test_what_has_a_record_isnt_trained_again(finished):
    folder, _ = finished

    def tell(cell, steps, line):
        raise AssertionError("nothing is left to train")

    assert run([SOFTMAX], folder, tell=tell) == ((), None, 0)


def test_time_that_is_up_stops_a_run_at_a_checkpoint_and_the_same_call_goes_on(finished, tmp_path):
    _, came = finished
    ticks = iter(range(1000))
    stopped = run([SOFTMAX, HYLA], tmp_path, deadline=2, clock=lambda: next(ticks))
    assert stopped == ((), SOFTMAX, 2)
    run_folder = folder_of(tmp_path / "runs", SOFTMAX.config)
    checkpoints = {path.name for path in (run_folder / "checkpoints").iterdir()}
    lines = (run_folder / "log.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == max(map(int, checkpoints)) < STEPS
    assert run([SOFTMAX, HYLA], tmp_path, deadline=0, clock=lambda: 0) == ((), None, 2)

    went_on = run([SOFTMAX], tmp_path)
    assert went_on.left == 0
    again, unbroken = (read_record(each.records[0]) for each in (went_on, came))
    assert again.scores == unbroken.scores
    assert again.training_loss == unbroken.training_loss


def test_a_run_that_diverges_has_a_record_without_scores(tmp_path):
    wild = replace(SOFTMAX, config=replace(SOFTMAX.config, learning_rate=1e18, warmup=0))
    wild_figure = figure(seeds=(0,))
    with pytest.raises(ConfigurationError, match="no cell of a figure"):
        run([wild], tmp_path)
    point = {"learning_rate": 1e18, "weight_decay": 0.1, "warmup": 0}
    object.__setattr__(wild_figure, "points", (point,))
    came = run_cells(
        [wild], tmp_path / "runs", tmp_path / "results", save_every=SAVE_EVERY, figures={"wild": wild_figure}
    )
    record = read_record(came.records[0])
    assert record.diverged
    assert (record.scores, record.training_loss) == ({}, None) or record.steps < STEPS


def test_one_process_at_a_time_trains_in_a_folder(tmp_path):
    with Lock(tmp_path / "runs"), pytest.raises(OutputError, match="is being written by"):
        run([SOFTMAX], tmp_path)


def test_a_run_on_text_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(ConfigurationError, match="sraven c4 prepare"):
        run([SOFTMAX, *cells_of(ALL_FIGURES["figure-6"])], tmp_path)
    assert not (tmp_path / "runs").exists()


def test_one_seed_of_every_row_comes_before_second_seeds_and_the_cheapest_first():
    wide = figure("wide", attentions=("hyla", "softmax"), seeds=(0, 1))
    cells = in_order([*cells_of(wide), *cells_of(wide)])
    assert len(cells) == 2 * 2 * 2 * 4
    first = [(each.config.seed, each.row.labels["points"], each.config.attention) for each in cells[:8]]
    assert first == [
        (seed, points, attention)
        for seed in (0, 1)
        for points, attention in (("16", "softmax"), ("16", "hyla"), ("32", "softmax"), ("32", "hyla"))
    ]
    assert {tuple(each.point.values()) for each in cells[:8]} == {(0.001, 0.1, 100)}


# Adopting ---------------------------------------------------------------------------------------------


def test_a_finished_run_becomes_the_record_that_training_it_here_would_have_made(finished, tmp_path):
    folder, came = finished
    run_folder, results = folder_of(folder / "runs", SOFTMAX.config), tmp_path / "results"
    path, new = adopt(
        run_folder, results, figures=FIGURES, provenance=Provenance("a commit", {"processors": 2})
    )
    assert new
    assert path.read_bytes() == came.records[0].read_bytes()
    assert adopt(run_folder, results, figures=FIGURES) == (path, False)
    assert adopt(run_folder, results, figures=FIGURES, again=True) == (path, True)
    assert read_record(path).commit is None


def test_a_shorter_run_is_adopted_as_another_level(tmp_path):
    short = replace(SOFTMAX.config, steps=20)
    train(short, tmp_path / "short")
    path, _ = adopt(tmp_path / "short", tmp_path / "results", figures=FIGURES)
    assert read_record(path).config == short
    assert path.parent.name == "tiny"


def test_a_run_that_is_no_cell_is_refused_and_told_what_differs(finished, tmp_path):
    folder, _ = finished
    other = shutil.copytree(folder_of(folder / "runs", SOFTMAX.config), tmp_path / "other")
    values = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**values, "weight_decay": 0.2}))
    with pytest.raises(OutputError, match=r"other is no cell .* another weight_decay=0.2, not 0.1$"):
        adopt(other, tmp_path / "results", figures=FIGURES)
    assert not (tmp_path / "results").exists()


def test_an_unfinished_run_is_refused(finished, tmp_path):
    folder, _ = finished
    other = shutil.copytree(folder_of(folder / "runs", SOFTMAX.config), tmp_path / "other")
    shutil.rmtree(other / "checkpoints" / str(STEPS))
    with pytest.raises(OutputError, match=f"has {STEPS - SAVE_EVERY} of {STEPS} steps"):
        adopt(other, tmp_path / "results", figures=FIGURES)
    assert not (tmp_path / "results").exists()


def test_a_record_is_read_as_it_was_written(finished, tmp_path):
    record = read_record(finished[1].records[0])
    path = write_record(tmp_path, record, FIGURES)
    assert read_records(tmp_path) == {SOFTMAX.digest: record}
    assert read_record(path) == record


# Logs -------------------------------------------------------------------------------------------------


def test_the_training_loss_is_the_mean_of_the_last_thousand_steps():
    lines = [{"step": step, "loss": float(step > 2000)} for step in range(100, 3001, 100)]
    assert mean_loss(lines) == 1.0
    lines = [{"step": 900, "loss": 1.0}, {"step": 1100, "loss": 2.0}, {"step": 1600, "loss": 5.0}]
    assert mean_loss(lines) == pytest.approx((300 * 1.0 + 200 * 2.0 + 500 * 5.0) / 1000)
    assert mean_loss([]) is None


def test_seconds_are_those_of_the_speeds_in_the_log():
    lines = [{"step": 100, "instances_per_second": 200.0}, {"step": 150, "instances_per_second": 100.0}]
    assert seconds_of(lines, BATCH) == 100 * BATCH / 200 + 50 * BATCH / 100
    assert seconds_of([], BATCH) is None
