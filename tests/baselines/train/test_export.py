"""Finished runs as files that others load: exported, evaluated, refused where they were changed."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load, save

from baselines.encode import encoding_of
from baselines.load import load_run
from baselines.save import save_run
from baselines.train.experiment import board_of, program_of
from helpers.example import all_bytes
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards
from helpers.tiny_runs import STEPS, assert_same_bits, tiny_options
from sraven import OutputError

RUNS = {
    "fuzzy": (FUZZY_BOARD, "hyla"),
    "mixer": (SRAVEN_BOARD, "none", "--network=mixer"),
}
WEIGHTS, CONFIG = "model.safetensors", "config.json"


@pytest.fixture(scope="module", autouse=True)
def _boards(compiled, tmp_path_factory):
    with only_boards(tmp_path_factory.mktemp("boards")):
        yield


@pytest.fixture(scope="module")
def trained(_boards, tmp_path_factory, done):
    """A run of each task; tests only read them."""
    folder = tmp_path_factory.mktemp("trained")
    for name, (board, attention, *more) in RUNS.items():
        done("train", board, f"--attention={attention}", *tiny_options(), *more, f"--out={folder / name}")
    return folder


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory, done):
    """The files of each."""
    folder = tmp_path_factory.mktemp("exported")
    for name in RUNS:
        done("export", trained / name, folder / name)
    return folder


@pytest.mark.parametrize("name", RUNS)
def test_what_is_exported_is_loaded_bit_for_bit(trained, exported, name):
    config, params = load_run(trained / name)
    for step in (None, -1, STEPS):
        found, loaded = load_run(exported / name, step=step)
        assert found == config
        assert_same_bits(params, loaded)
    with pytest.raises(OutputError, match=f"is an exported model, of step {STEPS} alone"):
        load_run(exported / name, step=STEPS // 2)
    files, before = all_bytes(exported / name), all_bytes(trained / name)
    (record,) = (each for each in files if each.startswith("trained-by-"))
    assert set(files) == {CONFIG, "result.json", WEIGHTS, record}
    assert all(files[each] == before[each] for each in files if each != WEIGHTS)


def test_it_is_evaluated_as_the_run_itself_and_digests_name_the_parameters(
    trained, exported, tmp_path, done, refused
):
    for run, out in ((trained, "here"), (exported, "there")):
        done("evaluate", run / "fuzzy", "--author=A", "--out", tmp_path / out)
    assert all_bytes(tmp_path / "here") == all_bytes(tmp_path / "there")
    weights = hashlib.sha256((exported / "fuzzy" / WEIGHTS).read_bytes()).hexdigest()
    assert weights in (tmp_path / "here" / "README.md").read_text()
    runs = [trained / name for name in RUNS]
    said = json.loads(done("export", *runs, tmp_path / "networks", "--json"))["sha256"]
    networks = {f"{FUZZY_BOARD}-hyla-seed-0", f"{SRAVEN_BOARD}-mixer-seed-0"}
    assert {name.rsplit("-", 1)[0] for name in said} == networks and weights in said.values()
    assert "exists; choose another directory" in refused("export", runs[0], tmp_path / "networks")


def test_training_cant_go_on_from_it(exported, tmp_path, refused):
    folder = shutil.copytree(exported / "fuzzy", tmp_path / "model")
    board, attention = RUNS["fuzzy"]
    line = ["train", board, f"--attention={attention}", *tiny_options(), f"--out={folder}"]
    assert "is an exported model, without what its optimiser knew" in refused(*line)
    assert all_bytes(folder) == all_bytes(exported / "fuzzy")


def test_what_isnt_finished_is_refused(trained, tmp_path, refused):
    run = shutil.copytree(trained / "fuzzy", tmp_path / "run")
    config = json.loads((run / CONFIG).read_text())
    (run / CONFIG).write_text(json.dumps({**config, "steps": 2 * STEPS}))
    assert "no checkpoint is whole" in refused("export", run, tmp_path / "out")
    (run / "result.json").unlink()
    assert "has no result.json" in refused("export", run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _tensors(change):
    """Return what changes the tensors of a model, and no more."""

    def changed(files):
        tensors = load(files[WEIGHTS])
        change(tensors)
        header = json.loads(files[WEIGHTS][8 : 8 + int.from_bytes(files[WEIGHTS][:8], "little")])
        return {WEIGHTS: save(tensors, header["__metadata__"])}

    return changed


def _config(**changes):
    return lambda files: {CONFIG: json.dumps({**json.loads(files[CONFIG]), **changes}).encode()}


FAULTS = {
    "tensor out.bias is not there, and F32 [1] by": _tensors(lambda held: held.pop("out.bias")),
    "tensor out.bias is F32 [1, 1], and F32 [1] by": _tensors(
        lambda held: held.update({"out.bias": np.zeros((1, 1), np.float32)})
    ),
    "tensor out.bias is F16 [1], and F32 [1] by": _tensors(
        lambda held: held.update({"out.bias": np.zeros(1, np.float16)})
    ),
    "tensor more is F32 [2], and not there by": _tensors(
        lambda held: held.update(more=np.zeros(2, np.float32))
    ),
    "it is of another run, or config.json was changed": lambda files: {WEIGHTS: save(load(files[WEIGHTS]))},
    "model.safetensors can't be read: ": lambda files: {WEIGHTS: files[WEIGHTS][:-1]},
    "can't be read: ": lambda files: {WEIGHTS: files[WEIGHTS] + bytes(1 << 20)},
    "config.json can't be read": lambda files: {CONFIG: b"[" * 100_000},
    "it is of another run, or config.json was changed\n": _config(seed=1),
    "has nonsense, which this sraven doesn't know": _config(nonsense=1),
    "attention='evil'": _config(attention="evil"),
    "board_digest=": _config(board_digest="0" * 64),
}


@pytest.mark.parametrize("words", FAULTS)
def test_what_was_changed_is_one_line(exported, words, tmp_path, refused):
    folder = shutil.copytree(exported / "fuzzy", tmp_path / "model")
    for name, data in FAULTS[words](all_bytes(folder)).items():
        (folder / name).write_bytes(data)
    assert words in refused("evaluate", folder, "--author=A", "--out", tmp_path / "entry")
    assert not (tmp_path / "entry").exists()


def test_states_of_another_shape_or_without_numbers_are_no_run(trained, tmp_path):
    config, _ = load_run(trained / "fuzzy")
    state = program_of(config, encoding_of(board_of(config).task)).begin(np.uint32(0))
    params = state.params
    for bias, message in (([np.nan], "out.bias isn't finite"), ([0, 0], r"'bias'\] has shape \(2,\)")):
        changed = {**params, "out": {**params["out"], "bias": np.array(bias, np.float32)}}
        assert_refused(message, save_run, state._replace(params=changed), config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    save_run(state, config, tmp_path / "run")
    assert_same_bits(params, load_run(tmp_path / "run", step=-1)[1])
