"""Fixtures that several test files share."""

import os

# Before any test imports datasets: nothing here may ask the network.
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest

from helpers.example import SIZES
from sraven import SRAVEN
from sraven.core.dataset.write import write_dataset
from sraven.core.tasks.versions import VERSIONS, Version


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
def second_version(monkeypatch):
    """Publish version 2 of the benchmark, as a maintainer would: a line in the table."""
    monkeypatch.setitem(VERSIONS, "2", Version(published="2027-03-05"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Give each test an empty cache of datasets, and of scores."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"), raising=False)
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr("sraven.core.leaderboard.kept.cache_home", lambda: home)
