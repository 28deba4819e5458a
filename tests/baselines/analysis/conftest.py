"""Finished runs, few instances at once and few fits, so that small parts are analysed quickly."""

import pytest

from helpers import analysed_runs
from helpers.tiny_runs import tiny


@pytest.fixture(scope="module")
def few_at_once():
    with analysed_runs.few_at_once():
        yield


@pytest.fixture(scope="module")
def fuzzy_run(compiled, few_at_once, tmp_path_factory):
    return analysed_runs.finished_run(tmp_path_factory, "fuzzy", tiny())


@pytest.fixture(scope="module")
def sraven_run(compiled, few_at_once, tmp_path_factory):
    return analysed_runs.finished_run(tmp_path_factory, "sraven", analysed_runs.tiny_sraven("linear"))
