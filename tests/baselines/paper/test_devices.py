"""Runs on GPUs, pretended ones: what shares a program, what a device takes, and the service, by stand-ins."""

import os
from contextlib import suppress
from importlib.metadata import EntryPoint

import pytest

from baselines.paper.devices import find_gpus, shared
from baselines.paper.run import Training, _train_cells, programs_of
from helpers.refusals import assert_refused
from helpers.reproduction import H200, cell, figure
from sraven.core.errors import CapacityError

TINY = figure(seeds=(0, 1, 2))
CELLS = [cell(TINY, attention, seed) for attention in ("softmax", "hyla") for seed in (0, 1, 2)]
TWO = (H200, H200._replace(key="1"))


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, ["0", "1"]),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ["1"]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-b,GPU-a"}, ["GPU-b", "GPU-a"]),
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"JAX_PLATFORMS": "cpu"}, []),
    ],
)
def test_gpus_are_those_that_this_process_may_use(stand_in, monkeypatch, variables, found):
    for name in ("CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS"):
        monkeypatch.delenv(name, raising=False)
    assert find_gpus() == ()
    plugins = [EntryPoint("xla_cuda12", "jax_cuda12_plugin", "jax_plugins")]
    monkeypatch.setattr("baselines.paper.devices.entry_points", lambda group: plugins)
    stand_in("nvidia-smi", "echo '0, GPU-a, NVIDIA H200, 143771'; echo '1, GPU-b, NVIDIA H200, 143771'")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert [gpu.key for gpu in find_gpus()] == found
    assert {gpu.name for gpu in find_gpus()} <= {"NVIDIA H200"}
    plugins.clear()
    assert find_gpus() == ()


def test_the_service_is_started_for_programs_that_share_a_gpu_and_stopped_whatever_happens(stand_in):
    calls = stand_in("nvidia-cuda-mps-control", "exit 0")
    with suppress(RuntimeError), shared((H200,), 3) as programs:
        folder = os.environ["CUDA_MPS_PIPE_DIRECTORY"]
        assert (programs, calls()) == (3, [f"-d||{folder}"])
        raise RuntimeError
    assert calls()[1:] == [f"|quit -t 10|{folder}"] and "CUDA_MPS_PIPE_DIRECTORY" not in os.environ
    assert not os.path.exists(folder)


@pytest.mark.parametrize(
    ("gpus", "needed", "programs"),
    [
        ((H200,), 9, 4),
        (TWO, 3, 2),
        (TWO, 2, 1),
        ((H200._replace(gigabytes=10.0),), 9, 2),
        ((H200._replace(gigabytes=4.0),), 9, 1),
        ((), 9, 1),
    ],
)
def test_a_gpu_takes_programs_by_its_memory_and_no_more_than_there_are(stand_in, gpus, needed, programs):
    calls = stand_in("nvidia-cuda-mps-control", "exit 0")
    with shared(gpus, needed) as found:
        assert found == programs
    assert len(calls()) == 2 * (programs > 1)


def test_without_the_service_programs_take_turns_and_one_that_runs_is_somebodys(
    stand_in, monkeypatch, capsys
):
    with shared((H200,), 4) as programs:
        assert programs == 1 and "there is no nvidia-cuda-mps-control" in capsys.readouterr().err
    calls = stand_in("nvidia-cuda-mps-control", "echo 'no permission' >&2; exit 1")
    with shared((H200,), 4) as programs:
        assert programs == 1 and "(no permission): one program at a time" in capsys.readouterr().err
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "theirs")
    with shared((H200,), 4) as programs:
        assert (programs, capsys.readouterr().err) == (4, "")
    assert len(calls()) == 1


def test_seeds_and_points_of_a_grid_share_a_program_and_devices_have_one_each():
    point = cell(TINY, "softmax", 1, learning_rate=0.003)
    order = [CELLS[0], CELLS[3], point, *CELLS[1:3], *CELLS[4:]]
    softmax, hyla = [CELLS[0], point, *CELLS[1:3]], CELLS[3:]
    assert programs_of(order) == [softmax, hyla]
    assert programs_of(order, most=3) == [softmax[:3], hyla, softmax[3:]]
    assert programs_of(order, devices=4) == [softmax[:2], softmax[2:], hyla[:2], hyla[2:]]
    assert [len(each) for each in programs_of(order, devices=100)] == [1] * 7
    assert programs_of([], devices=2) == []


def test_a_program_that_has_no_memory_is_halved_and_a_single_run_says_what_takes_less(tmp_path, monkeypatch):
    sizes = []

    def too_large(configs, folders, **options):
        sizes.append(len(configs))
        raise CapacityError("too large")

    monkeypatch.setattr("baselines.paper.run.train_runs", too_large)
    training = Training(tmp_path / "runs", tmp_path / "results")
    assert_refused("too large", _train_cells, training, CELLS[:3], print, error=CapacityError)
    assert sizes == [3, 1]
