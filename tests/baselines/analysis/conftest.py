"""Finished runs, and few instances at once, so that small parts are collected quickly."""

import pytest

from baselines.analysis import analysed, codes
from helpers.analysed_runs import finished_runs


@pytest.fixture(scope="module")
def few_at_once():
    """Let a program take eight instances a call."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(codes, "_AT_ONCE_ON_CPU", 4)
        monkeypatch.setattr(codes, "_PIECES_ON_CPU", 2)
        monkeypatch.setattr(analysed, "UNTRAINED_NETWORKS", 2)
        yield


@pytest.fixture(scope="module")
def runs(compiled, few_at_once, tmp_path_factory):
    """A directory of finished runs; tests only read it."""
    return finished_runs(tmp_path_factory)
