"""Two processes that train one run: killed on the way, started again, and as good as one.

They train in float64, where nothing is left of the order in which numbers are added up; `test_sharding` has
first gradients in float32.
"""

import json
import signal

import jax
import numpy as np
import pytest

from baselines.config import read_config
from baselines.load import load_run
from baselines.session import OnBoard, ScoringOptions
from baselines.train import processes
from baselines.train.directory import CHECKPOINTS, CONFIG
from baselines.train.log import LOG, SCORES
from baselines.train.provenance import RECORD
from baselines.train.result import RESULT
from baselines.train.sharding import make_mesh
from baselines.train.train import train, train_runs
from helpers.refusals import assert_refused
from helpers.tiny_runs import (
    CHUNK,
    EXACTLY,
    STEPS,
    assert_runs_agree,
    in_float64,
    leaves,
    lines_of,
    once,
    tiny,
    tiny_options,
)
from helpers.two_processes import kill_at_first_checkpoint, start_two
from sraven.board.board import read_board

SCORING = {"score_every": STEPS // 2, "score_instances": 70}

LINE = [
    *("train", "fuzzylogic-v1", "--attention=hyla"),
    *tiny_options(**SCORING),
    f"--save-every={STEPS // 2}",
]

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def resumed(tmp_path_factory, compiled):
    """A directory with a run that was killed half-way, and resumed; and how all processes ended."""

    def make(folder):
        out = folder / "run"
        line = [*LINE, f"--out={out}"]
        codes, left = kill_at_first_checkpoint(start_two(compiled, "stall", *line), out, STEPS // 2)
        both = start_two(compiled, "go", *line, out=out)
        codes += [one.wait(timeout=300) for one in both]
        (folder / "ends.json").write_text(json.dumps({"codes": codes, "left": left}))

    return once(tmp_path_factory, "processes", make)


@pytest.mark.long
def test_both_were_killed_half_way_and_finished_and_leave_one_run(resumed):
    """The first process alone says what was trained."""
    ends, out = json.loads((resumed / "ends.json").read_text()), resumed / "run"
    assert ends == {"codes": [-signal.SIGKILL] * 2 + [0] * 2, "left": [str(STEPS // 2)]}
    first, second = ((resumed / f"run-{place}.txt").read_text() for place in range(2))
    assert f"{out}: {STEPS} steps, r2_per_sequence " in first and str(resumed) not in second
    (record,) = out.glob(RECORD.format("*"))
    assert {path.name for path in out.iterdir()} == {CONFIG, LOG, CHECKPOINTS, RESULT, record.name}
    assert json.loads(record.read_text())["machine"]["processes"] == 2
    assert sorted(path.name for path in (out / CHECKPOINTS).iterdir()) == [str(STEPS // 2), str(STEPS)]
    assert read_config(json.loads((out / CONFIG).read_text())) == tiny()
    assert [line["step"] for line in lines_of(out)] == list(range(CHUNK, STEPS + 1, CHUNK))


@pytest.mark.long
def test_two_processes_end_as_one_does(resumed, tmp_path):
    with in_float64():
        scored = OnBoard(read_board("fuzzylogic-v1")).experiment(ScoringOptions(*SCORING.values()))
        state = train(tiny(), tmp_path / "alone", make_experiment=scored, save_every=STEPS)
        config, params = load_run(resumed / "run")
    assert config == tiny()
    assert_runs_agree(leaves(params), leaves(state.params))
    both, one = lines_of(resumed / "run"), lines_of(tmp_path / "alone")
    for name in ("loss", "score", "gradient_norm"):
        np.testing.assert_allclose([x[name] for x in both], [x[name] for x in one], rtol=EXACTLY)
    here, alone = ({x["step"]: x[SCORES] for x in lines if SCORES in x} for lines in (both, one))
    assert list(here) == list(alone) == [STEPS // 2, STEPS]
    for step, splits in here.items():
        for split, scores in splits.items():
            assert scores == pytest.approx(alone[step][split], abs=EXACTLY)


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


@pytest.fixture
def never(monkeypatch):
    """Fail if a process would join others."""
    monkeypatch.setattr("jax.distributed.initialize", lambda *_: pytest.fail("joined"))


@pytest.mark.parametrize(
    ("coordinator", "count", "place"),
    [
        *((None, *each) for each in ((2, None), (None, 0), (2, 0))),
        *(("host0:1234", count, None) for count in (None, 2)),
        *(("host0:1234", *each) for each in ((None, 0), (2, 2), (2, -1), (0, 0))),
    ],
)
def test_bad_processes_are_refused_in_one_line(never, tmp_path, run, coordinator, count, place):
    given = {"coordinator": coordinator, "processes": count, "process-id": place}
    options = [f"--{name}={value}" for name, value in given.items() if value is not None]
    message = "several processes need a coordinator, such as host0:1234, or auto"
    if coordinator:
        message = f"coordinator 'host0:1234' with processes={count}, process_id={place}: expected"
    code, out, err = run(*LINE, f"--out={tmp_path / 'run'}", *options)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith(f"error: {message}")
    assert not (tmp_path / "run").exists()


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
