"""Checkpoints while it trains: when they are due, written by a thread, and never of what diverged."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.load import load_run
from baselines.train.checkpoint import Checkpoints
from baselines.train.directory import CHECKPOINTS
from baselines.train.experiment import board_experiment
from baselines.train.log import LOG, Log
from baselines.train.result import RESULT
from baselines.train.saving import Saver, Schedule
from baselines.train.step import State, StepReport
from baselines.train.train import DivergenceError, _diverged, train, train_runs
from helpers.tiny_runs import CHUNK, STEPS, assert_same_bits, leaves, tiny, tiny_options
from sraven.networks.stopping import stoppable

pytestmark = pytest.mark.usefixtures("compiled")

RUN = "0123456789abcdef" * 4


def steps_of(folder):
    return sorted(int(path.name) for path in (folder / CHECKPOINTS).iterdir())


# When

SHARES = [0, 29, 30, 30, 59, 60, 60, 999, 999, 1109, 1111, 1111, 9999, 9999, 10298, 10299, 10299]
"""Of the time so far a tenth is lost at most by default, but half a minute or five."""


@pytest.mark.parametrize(
    ("begin", "every", "minutes", "seconds", "steps", "due"),
    [
        (0, 20, 5, [0] * 12, range(10, 51, 10), [20, 40, 50]),  # and at the end
        (30, None, 5, [0, 100, 301, 301, 400, 600, 602, 602], range(40, 90, 10), [50, 80]),
        (0, 20, 5, [0, 200, 400, 650], (10, 20, 30), [20]),  # steps and minutes begin again with either
        (0, None, None, SHARES, range(1, 11), [2, 4, 5, 7, 8, 10]),
    ],
)
def test_due_after_so_many_steps_or_minutes_since_the_last(begin, every, minutes, seconds, steps, due):
    """Each save reads the clock once more."""
    last = 50 if steps[-1] == 50 else 1000
    schedule = Schedule(begin, last, steps=every, minutes=minutes, clock=iter(seconds).__next__)
    assert [step for step in steps if schedule.is_due(step)] == due


def test_told_to_stop_after_every_chunk_it_ends_the_same(tiny_run, tmp_path):
    folder, outcomes = tmp_path / "run", []
    while not outcomes or outcomes[-1].stopped:
        assert not (folder / RESULT).exists()
        outcomes += train_runs([tiny()], [folder], stop=lambda: True)
    assert [int(each.state.step) for each in outcomes] == list(range(CHUNK, STEPS + 1, CHUNK))
    assert_same_bits(outcomes[-1].state, tiny_run[1])
    assert (folder / RESULT).is_file()


# How


def states_of(step):
    """Two runs, stacked."""
    fill = jnp.full((2, 3), step, jnp.float32) + jnp.arange(2.0)[:, None]
    return State({"kernel": fill}, (), jnp.full(2, step), jnp.arange(2))


def unstack(states, place):
    return jax.tree.map(lambda leaf: leaf[place], states)


def test_training_goes_on_while_a_thread_writes(tmp_path, monkeypatch):
    may_write, saved = threading.Event(), []

    def wait(self, step, state):
        assert threading.current_thread() is not threading.main_thread()
        assert may_write.wait(60)
        saved.append((self, step, state.params["kernel"].tolist(), int(state.seed)))

    monkeypatch.setattr(Checkpoints, "save", wait)
    runs = {place: Checkpoints(tmp_path / str(place), RUN) for place in range(2)}
    with Saver(unstack) as saver:
        saver.save(7, states_of(7), runs)
        saver.check()
        assert saved == []
        may_write.set()
    assert saved == [(runs[place], 7, [7.0 + place] * 3, place) for place in range(2)]


def test_what_goes_wrong_is_raised_in_training_once(tmp_path, monkeypatch):
    def fail(self, step, state):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Checkpoints, "save", fail)
    with Saver(unstack) as saver:
        saver.save(7, states_of(7), {0: Checkpoints(tmp_path, RUN)})
        with pytest.raises(OSError, match="No space left"):
            saver.check(wait=True)
        saver.save(8, states_of(8), {0: Checkpoints(tmp_path, RUN)})
        with pytest.raises(OSError, match="No space left"):
            saver.save(9, states_of(9), {0: Checkpoints(tmp_path, RUN)})
    with pytest.raises(OSError, match="No space left"), Saver(unstack) as saver:
        saver.save(7, states_of(7), {0: Checkpoints(tmp_path, RUN)})


def test_an_interrupted_run_waits_for_what_is_being_written(tmp_path):
    with pytest.raises(KeyboardInterrupt), Saver(unstack) as saver:  # noqa: PT012
        saver.save(7, states_of(7), {1: Checkpoints(tmp_path, RUN)})
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["7"]


# Whole runs


def test_a_chunk_is_placed_before_the_report_of_the_last_is_read(tiny_run, tmp_path):
    """And its batches are on the device: the next chunk's, when a line is logged. It is saved by minutes."""
    events, folder = [], tmp_path / "run"

    def watched(config, mesh):
        experiment = board_experiment(config, mesh)

        def place(chunk):
            events.append("placed")
            return experiment.place(chunk)

        return experiment._replace(place=place)

    options = {"make_experiment": watched, "progress": lambda *_: events.append("read")}
    assert_same_bits(train(tiny(), folder, save_minutes=0, **options), tiny_run[1])
    assert events == ["read", "placed", "placed", "read", "placed", "read", "placed", "read", "read"]
    assert steps_of(folder) == [STEPS - CHUNK, STEPS]


def test_a_gradient_that_is_no_number_ends_a_run_whose_loss_still_is_one():
    loss, norm = np.ones((2, 4)), np.array([[1.0, 1, np.nan, np.nan], [1, 1, 1, 1]])
    assert list(_diverged(StepReport(loss, loss, norm), first=10)) == [(0, 12)]


def test_what_diverged_is_not_saved_though_the_next_chunk_was_dispatched(tmp_path):
    """The first of two runs, whose loss is no number from a chunk on; the other is trained to its end."""
    folders = [tmp_path / "lost", tmp_path / "other"]
    configs = [tiny(seed=0, learning_rate=1e30), tiny(seed=1)]
    lost, other = train_runs(configs, folders, save_minutes=0)
    assert 0 < lost.diverged < CHUNK and other.diverged is None
    assert [steps_of(folder) for folder in folders] == [[], [STEPS - CHUNK, STEPS]]
    assert int(lost.state.step) == 0
    assert all(np.isfinite(array).all() for array in leaves(lost.state).values())


def test_a_run_that_diverges_later_has_the_last_checkpoint_before(tmp_path):
    """The chunk after 10 has numbers that are none; the next one was dispatched already."""

    def spoilt(config, mesh):
        experiment = board_experiment(config, mesh)

        def make_chunk(first, steps):
            chunk = experiment.make_chunk(first, steps)
            return chunk if first < 10 else {**chunk, "targets": chunk["targets"] * np.float32(np.nan)}

        return experiment._replace(make_chunk=make_chunk)

    with pytest.raises(DivergenceError, match="after step 10; the last checkpoint is of 10"):
        train(tiny(), tmp_path / "run", make_experiment=spoilt, save_minutes=0)
    assert steps_of(tmp_path / "run") == [CHUNK, 10]
    assert (tmp_path / "run" / LOG).read_text().count("\n") == 2


def test_a_signal_ends_the_command_with_a_checkpoint_and_the_same_line_goes_on(
    tiny_run, tmp_path, run, monkeypatch
):
    """It comes when the second line is logged: the chunk at hand is the third, and is saved."""
    stops, lines, add = [], [], Log.add

    @contextmanager
    def listened(note):
        with stoppable(note) as stop:
            stops.append(stop)
            yield stop

    def log(*arguments):
        add(*arguments)
        lines.append(1)
        if len(lines) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            while not stops[-1]():
                time.sleep(0.01)

    monkeypatch.setattr("cli.commands.train.stoppable", listened)
    monkeypatch.setattr(Log, "add", log)
    folder = tmp_path / "run"
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_options(), f"--out={folder}"]
    code, out, err = run(*line)
    said = (
        f"{folder}: SIGTERM: there is a checkpoint of step {3 * CHUNK} of {STEPS}; the same command goes on"
    )
    assert (code, out) == (143, "") and said in err
    assert steps_of(folder) == [3 * CHUNK]
    assert run(*line)[0] == 0 and len(lines) == STEPS // CHUNK
    assert_same_bits(load_run(folder)[1], load_run(tiny_run[0])[1])
