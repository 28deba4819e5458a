"""Checkpoints: any damage is seen, and the one before restored; a full disk loses none."""

import json
import os
import resource
import shutil
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from orbax.checkpoint import v1 as ocp

from baselines.load import load_run
from baselines.train import checkpoint
from baselines.train.checkpoint import CHECKSUMS, Checkpoints
from baselines.train.directory import CHECKPOINTS, CONFIG, read_run
from baselines.train.log import LOG
from baselines.train.step import State
from baselines.train.train import train, train_runs
from helpers.refusals import assert_refused
from helpers.tiny_runs import STEPS, assert_same_bits, tiny
from sraven import OutputError
from sraven.files.lock import LOCK, Lock

pytestmark = pytest.mark.usefixtures("compiled")

HALF = STEPS // 2
RUN = "0123456789abcdef" * 4


def state_of(step):
    return {"weights": jnp.arange(60.0).reshape(5, 12) / step, "step": jnp.uint32(step)}


TARGET = jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding), state_of(1)
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Checkpoints of the steps 1 and 2; tests only read them."""
    folder = tmp_path_factory.mktemp("run") / CHECKPOINTS
    for step in (1, 2):
        Checkpoints(folder, RUN).save(step, state_of(step))
    return folder


@pytest.fixture
def copy(saved, tmp_path):
    """The same, to be damaged."""
    return shutil.copytree(saved, tmp_path / CHECKPOINTS)


def test_optimisers_state_keeps_its_name_of_earlier_versions(tmp_path):
    state = jax.tree.map(jnp.asarray, State({"weights": np.ones(3)}, {"mu": np.ones(3)}, 1, 0))
    Checkpoints(tmp_path, RUN).save(1, state)
    names = {".params['weights']", ".moments['mu']", ".step", ".seed"}
    assert ocp.metadata(tmp_path / "1").metadata.keys() == names


def restore(folder):
    return Checkpoints(folder, RUN).restore(lambda: TARGET)


def assert_restored(folder, step):
    found = restore(folder)
    assert found.step == step == found.state["step"]
    assert np.array_equal(found.state["weights"], state_of(step)["weights"])
    return found.remarks


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def flip(path, place, bit):
    data = bytearray(path.read_bytes() or b"\0")
    data[place] ^= 1 << bit
    path.write_bytes(data)


def test_the_newest_is_restored_and_none_is_none(saved, tmp_path):
    assert assert_restored(saved, 2) == ""
    assert set(os.listdir(saved)) == {"1", "2"}
    assert restore(tmp_path / "nothing") is None
    assert not (tmp_path / "nothing").exists()


def test_a_flipped_bit_anywhere_in_any_file_is_seen(copy):
    newest = copy / "2"
    for path in files_of(newest):
        data = path.read_bytes()
        for place in range(0, len(data), 31):
            flip(path, place, place % 8)
            assert checkpoint._find_fault(newest, RUN), (path, place)
            path.write_bytes(data)
    assert checkpoint._find_fault(newest, RUN) is None


def replaced(path, make):
    """Put something else in the place of a file."""
    path.rename(path.parents[2] / "elsewhere")
    make(path)


def copied_by_hand(state, sums):
    """Put the checkpoint before under the name of another."""
    shutil.rmtree(sums.parent)
    shutil.copytree(sums.parent.with_name("1"), sums.parent)


DAMAGE = {
    "flipped": lambda state, sums: flip(state, 0, 0),
    "removed": lambda state, sums: state.unlink(),
    "added": lambda state, sums: state.with_name("more").write_text("more"),
    "link": lambda state, sums: replaced(state, lambda path: path.symlink_to(path.parents[2] / "elsewhere")),
    "pipe": lambda state, sums: replaced(state, os.mkfifo),
    "no checksums": lambda state, sums: sums.unlink(),
    "nested checksums": lambda state, sums: sums.write_text("[" * 100_000),
    "directory for checksums": lambda state, sums: replaced(sums, os.mkdir),
    # As in versions before 0.2: anybody may have put it there.
    "no run": lambda state, sums: sums.write_text(json.dumps(json.loads(sums.read_text())["files"])),
    "another step": copied_by_hand,
}


def damage(folder, kind):
    DAMAGE[kind](files_of(folder / "state")[0], folder / CHECKSUMS)


@pytest.mark.parametrize("kind", DAMAGE)
def test_other_damage_is_passed_over_too(copy, kind):
    damage(copy / "2", kind)
    assert "2 is damaged (" in assert_restored(copy, 1)
    Checkpoints(copy, RUN).save(2, state_of(2))  # it is replaced
    assert assert_restored(copy, 2) == ""


def test_what_is_not_there_or_cannot_be_read_is_one_line(copy):
    """Of a whole one that can't be read, an older doesn't take the place."""
    for run, target, message in (
        (RUN[::-1], TARGET, "it is of another run, or the run's configuration was changed"),
        (RUN, {"other": TARGET["weights"]}, "2 is whole, but can't be read: "),
    ):
        assert_refused(
            message, Checkpoints(copy, run).restore, lambda target=target: target, error=OutputError
        )
    for step in "12":
        damage(copy / step, "no checksums")
    message = r"no checkpoint is whole: .*2 is damaged \(it has no .*; delete the run"
    assert_refused(message, restore, copy, error=OutputError)


def test_one_that_cannot_be_read_now_is_no_damage(copy, monkeypatch):
    """It may be whole: what is older doesn't take its place, and nothing says to delete it all."""

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checkpoint, "sha256_of_file", refuse)
    wanted = r"2 can't be read \(.*Permission denied\); mend that, or remove it to go on from the check"
    assert_refused(wanted, restore, copy, error=OutputError)
    monkeypatch.undo()
    assert_restored(copy, 2)


@pytest.mark.parametrize("name", ["write_json", "os.replace"])
def test_a_kill_before_its_checksums_or_its_place_costs_that_checkpoint_alone(copy, monkeypatch, name):
    def die(path, *rest, call=os.replace):
        if name == "write_json" or str(path).endswith(checkpoint._UNCHECKED):
            raise KeyboardInterrupt
        return call(path, *rest)

    first = copy.parent / "first"
    with monkeypatch.context() as patch:
        patch.setattr(f"baselines.train.checkpoint.{name}", die)
        for folder, step in ((copy, 3), (first, 1)):
            with pytest.raises(KeyboardInterrupt):
                Checkpoints(folder, RUN).save(step, state_of(step))
    assert restore(first) is None
    assert assert_restored(copy, 2) == ""
    Checkpoints(copy, RUN).save(3, state_of(3))
    assert assert_restored(copy, 3) == ""
    assert set(os.listdir(copy)) == {"2", "3"}


# Whole runs


def test_a_run_with_a_damaged_checkpoint_ends_as_if_nothing_were(tiny_run, tiny_copy, capsys):
    """But the checkpoint before isn't evaluated in place of it."""
    arrays = max(files_of(tiny_copy / CHECKPOINTS / str(STEPS)), key=lambda path: path.stat().st_size)
    flip(arrays, 1000, 3)
    with pytest.raises(OutputError, match=rf"has {HALF} of {STEPS} steps \(.* is damaged \(.*train it"):
        load_run(tiny_copy)
    for words in ([f"{STEPS} is damaged (", f"going on from step {HALF}"], []):
        assert_same_bits(tiny_run[1], train(tiny(), tiny_copy))
        said = capsys.readouterr().err
        assert all(each in said for each in words) and bool(said) == bool(words)


def test_a_lock_is_held_while_it_trains_and_keeps_others_out(tiny_copy, tmp_path):
    before = {path: path.read_bytes() for path in files_of(tiny_copy)}
    with Lock(tiny_copy), pytest.raises(OutputError, match=f"is being written by process {os.getpid()} "):
        train(tiny(), tiny_copy)
    assert {path: path.read_bytes() for path in files_of(tiny_copy)} == before
    folders, held = [tmp_path / "a", tmp_path / "b"], []

    def look(steps, line):
        held.extend((folder / LOCK).exists() for folder in folders)

    train_runs([tiny(seed=0), tiny(seed=1)], folders, progress=look)
    assert held and all(held)
    assert not any((folder / LOCK).exists() for folder in folders)


def test_a_run_that_was_killed_at_once_begins_anew(tiny_run, tmp_path):
    (tmp_path / "run").mkdir()
    for left in (LOCK, f"{CONFIG}.7-abc.tmp"):
        (tmp_path / "run" / left).touch()
    assert_same_bits(tiny_run[1], train(tiny(), tmp_path / "run"))


# Full disks


@contextmanager
def files_of_at_most(size):
    """Let no file grow beyond a size: the system then refuses to write, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_at_any_write_of_a_run_loses_nothing(tiny_run, tmp_path):
    """A run that is stopped by a disk with ever more room ends as one that never was."""
    folder, stopped, size = tmp_path / "run", 0, 1
    options = {"save_every": HALF}
    largest = max(path.stat().st_size for path in files_of(tiny_run[0]))
    while size < 2 * largest:
        with files_of_at_most(size):
            try:
                train(tiny(), folder, **options)
            except OSError:
                stopped += 1
        size *= 5
    assert stopped > 3
    assert_same_bits(tiny_run[1], train(tiny(), folder, **options))
    assert [path.name for path in (folder / CHECKPOINTS).iterdir() if not path.name.isdecimal()] == []
    assert (folder / LOG).read_text().count("\n") == 4
    assert read_run(folder) == tiny()
