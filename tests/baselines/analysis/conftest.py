"""Finished runs, few instances at once and few fits, so that small parts are analysed quickly."""

import pytest

from baselines.analysis import analysed, classifiers, codes, decoding
from helpers.analysed_runs import finished_runs


@pytest.fixture(scope="module")
def few_at_once():
    """Let a program take eight instances a call, and probes have few fits and controls."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(codes, "pieces_on", lambda mesh: (4, 2))
        monkeypatch.setattr(analysed, "UNTRAINED_NETWORKS", 2)
        monkeypatch.setattr(classifiers, "STRENGTHS", (0.1, 1.0))
        monkeypatch.setattr(decoding, "RELABELLINGS", 2)
        yield


@pytest.fixture(scope="module")
def runs(compiled, few_at_once, tmp_path_factory):
    """A directory of finished runs; tests only read it."""
    return finished_runs(tmp_path_factory)
