"""Fixtures that several test files share."""

import json
import os
import shutil
import sys
from itertools import count

# Before any test imports datasets: tests use no network.
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

# The workers of pytest share the processors: threads of PyTorch sleep while they wait, and NumPy has none.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Tests start hundreds of processes, each of which would compile all sources without bytecode on disk.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import pytest
from hypothesis import settings

from helpers.example import SIZES
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards, use_boards, write
from sraven import SRAVEN, score_submission
from sraven.core.versions import VERSIONS
from sraven.data.write import write_dataset

# Hypothesis draws the same examples in every run, few of them, as `tests/fuzz/drive.py` searches on. None is
# timed: kernels compile in some.
settings.register_profile("same-every-time", derandomize=True, deadline=None, database=None, max_examples=25)
settings.load_profile("same-every-time")

_numbers = count()


def pytest_collection_modifyitems(items):
    """Let files with tests that take long come first: no worker is left with one while the other is done."""
    long_files = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long_files)


@pytest.fixture(scope="session")
def task():
    """A small task whose axes have different sizes."""
    return SRAVEN(M=3, K=7, holdout=0.3, seed=5)


@pytest.fixture(scope="session")
def dataset_directory(task, tmp_path_factory):
    """A finished dataset; tests only read it."""
    out = tmp_path_factory.mktemp("data") / "raven"
    write_dataset(task, SIZES, out)
    return out


@pytest.fixture
def copy(dataset_directory, tmp_path):
    """A copy of the finished dataset, to be changed."""
    return shutil.copytree(dataset_directory, tmp_path / "copy")


@pytest.fixture
def small_boards(monkeypatch, tmp_path_factory):
    """The small boards, in place of the packaged ones."""
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))


@pytest.fixture(scope="session")
def originals(tmp_path_factory):
    """A submission to each small board; tests only read them."""
    folder = tmp_path_factory.mktemp("originals")
    with only_boards(folder / "boards"):
        return {board: write(folder / board, board) for board in (SRAVEN_BOARD, FUZZY_BOARD)}


@pytest.fixture(scope="session")
def scored(originals, tmp_path_factory):
    """What the submission to SRAVEN's small board scores; tests only read it."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        return score_submission(originals[SRAVEN_BOARD])


@pytest.fixture
def leaderboard(tmp_path):
    """The folder of a leaderboard without entries."""
    (tmp_path / "leaderboard").mkdir()
    return tmp_path / "leaderboard"


@pytest.fixture
def filed(originals, scored, leaderboard):
    """The submission to SRAVEN's small board, as it lies in that leaderboard."""
    goal = leaderboard / "submissions" / SRAVEN_BOARD / "20261121-a-method"
    shutil.copytree(originals[SRAVEN_BOARD], goal)
    (goal / "scores.json").write_text(json.dumps(scored))
    return goal


@pytest.fixture
def second_version(monkeypatch):
    """Publish version 2 of the benchmark, as a maintainer would: a line in the table."""
    monkeypatch.setitem(VERSIONS, "2", "2027-03-05")


@pytest.fixture(scope="session", autouse=True)
def _quick_disk():
    """Nothing waits for the disk: no test cuts the power, and what is written outlives a kill without."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _shared_cache(tmp_path_factory):
    """Where what imports datasets later than this finds a cache: other processes, and the first test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("datasets")))
        yield


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Give each test an empty cache of datasets, in a folder that is made once it is used."""
    folder = tmp_path_factory.getbasetemp() / f"cache{next(_numbers)}"
    if "datasets" in sys.modules:  # else it is imported with the shared one
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "datasets")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The directory of compiled programs; a module with it compiles in a fraction of the time."""
    from helpers.tiny_runs import quickly, shared_directory

    cache = shared_directory(tmp_path_factory, "compiled")
    with quickly(cache):
        yield cache


@pytest.fixture(scope="session")
def run():
    """Run a command line in this process; return exit code, standard output and error."""
    from helpers.command import sraven

    return sraven


@pytest.fixture(scope="session")
def done(run):
    """Run a command that has to succeed without a note; return what it prints."""

    def done(*arguments):
        code, out, err = run(*arguments)
        assert (code, err) == (0, ""), err
        return out

    return done


@pytest.fixture(scope="session")
def refused(run):
    """Run a command that has to be refused, in one line; return it."""

    def refused(*arguments):
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("error: "), (out, err)
        return err

    return refused
