"""Two processes that go on with a run: as good as the one that began it.

They train in float64, where nothing is left of the order in which numbers are added up; `test_sharding` has
first gradients in float32, and `test_language_processes` two that begin and are killed.
"""

import shutil

import jax
import pytest

from baselines.load import load_run
from baselines.session import OnBoard, ScoringOptions
from baselines.train import processes
from baselines.train.directory import CHECKPOINTS, CONFIG
from baselines.train.log import LOG, SCORES
from baselines.train.provenance import RECORD, read_provenance
from baselines.train.result import RESULT
from baselines.train.sharding import make_mesh
from baselines.train.train import train, train_runs
from helpers.refusals import assert_refused
from helpers.tiny_runs import (
    CHUNK,
    STEPS,
    assert_runs_agree,
    in_float64,
    leaves,
    lines_of,
    logged,
    once,
    tiny,
    tiny_options,
)
from helpers.two_processes import start_two
from sraven.board.board import read_board

SCORING = {"score_every": STEPS // 2, "score_instances": 70}

LINE = [
    *("train", "fuzzylogic-v1", "--attention=hyla"),
    *tiny_options(**SCORING),
    f"--save-every={STEPS // 2}",
]

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def went_on(tmp_path_factory, compiled):
    """A directory with a run ``alone``, and ``run``, whose second half two processes trained."""

    def make(folder):
        scored = OnBoard(read_board("fuzzylogic-v1")).experiment(ScoringOptions(*SCORING.values()))
        with in_float64():
            train(tiny(), folder / "alone", make_experiment=scored, save_every=STEPS // 2)
        out = shutil.copytree(folder / "alone", folder / "run")
        shutil.rmtree(out / CHECKPOINTS / str(STEPS))
        (out / RESULT).unlink()
        both = start_two(compiled, "go", *LINE, f"--out={out}", out=out)
        assert [one.wait(timeout=300) for one in both] == [0, 0]

    return once(tmp_path_factory, "processes", make)


@pytest.mark.long
def test_both_finish_and_leave_one_run(went_on):
    """The first process alone says what was trained."""
    out = went_on / "run"
    first, second = ((went_on / f"run-{place}.txt").read_text() for place in range(2))
    assert f"{out}: {STEPS} steps, r2_per_sequence " in first and str(went_on) not in second
    records = [path.name for path in out.glob(RECORD.format("*"))]
    assert {path.name for path in out.iterdir()} == {CONFIG, LOG, CHECKPOINTS, RESULT, *records}
    assert [each["machine"]["processes"] for each in read_provenance(out)] == [1, 2]
    assert sorted(path.name for path in (out / CHECKPOINTS).iterdir()) == [str(STEPS // 2), str(STEPS)]
    assert [line["step"] for line in lines_of(out)] == list(range(CHUNK, STEPS + 1, CHUNK))


@pytest.mark.long
def test_two_processes_end_as_one_does(went_on):
    with in_float64():
        (config, params), (_, wanted) = (load_run(went_on / name) for name in ("run", "alone"))
    assert config == tiny()
    assert_runs_agree(leaves(params), leaves(wanted))
    assert_runs_agree(logged(went_on / "run"), logged(went_on / "alone"))
    assert SCORES in lines_of(went_on / "run")[-1]


def test_no_process_makes_a_directory_that_another_has_yet_to_check(tmp_path, monkeypatch):
    """What one of them is writing isn't empty and holds no run, to another that comes later."""
    calls = []
    for call, name in {
        "check": "train.train.check_run_folder",
        "wait": "train.train.sync_global_devices",
        "check again": "train.directory.check_run_folder",
        "make": "train.directory.make_folder",
    }.items():
        monkeypatch.setattr(f"baselines.{name}", lambda *_, call=call: calls.append(call))
    monkeypatch.setattr("baselines.train.train.open_checkpoints", lambda *_: calls.append("open") or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train_runs([tiny(), tiny(seed=1)], [tmp_path / "a", tmp_path / "b"])
    made = ["check again", "make"]
    assert calls == ["check", "check", "wait", *made, *made, "wait", "open"]


# Arguments


@pytest.mark.parametrize(
    ("coordinator", "count", "place"),
    [
        *((None, *each) for each in ((2, None), (None, 0), (2, 0))),
        *(("host0:1234", count, None) for count in (None, 2)),
        *(("host0:1234", *each) for each in ((None, 0), (2, 2), (2, -1), (0, 0))),
    ],
)
def test_bad_processes_are_refused(monkeypatch, coordinator, count, place):
    monkeypatch.setattr("jax.distributed.initialize", lambda *_: pytest.fail("joined"))
    message = "several processes need a coordinator, such as host0:1234, or auto"
    if coordinator:
        message = f"coordinator 'host0:1234' with processes={count}, process_id={place}: expected"
    assert_refused(message, processes.join, coordinator, count, place)


def test_auto_where_there_is_no_cluster_is_refused(monkeypatch):
    def initialise():
        raise ValueError("coordinator_address should be defined.")

    monkeypatch.setattr("jax.distributed.initialize", initialise)
    assert_refused(r"coordinator 'auto'.*such as host0:1234", processes.join, "auto", None, None)


def test_mesh_of_several_processes_has_all_devices(monkeypatch):
    """Otherwise a process could be left without a part of the batch."""
    devices = jax.devices() * 4
    monkeypatch.setattr("jax.devices", lambda: devices)
    monkeypatch.setattr("jax.process_count", lambda: 2)
    message = r"mesh 'data=2' has 2 devices; here: 4 devices \(cpu\); all devices of all processes are needed"
    assert_refused(message, make_mesh, "data=2")
