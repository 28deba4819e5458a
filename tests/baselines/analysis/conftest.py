"""Finished runs, few instances at once and few fits, so that small parts are analysed quickly."""

import pytest

from helpers import analysed_runs


@pytest.fixture(scope="module")
def few_at_once():
    with analysed_runs.few_at_once():
        yield


@pytest.fixture(scope="module")
def runs(compiled, few_at_once, tmp_path_factory):
    """A directory of finished runs; tests only read it."""
    return analysed_runs.finished_runs(tmp_path_factory)
