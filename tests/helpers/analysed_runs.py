"""Finished runs that are analysed in a second or two: a few steps of a few parameters."""

from contextlib import contextmanager

import pytest

from baselines.config import C4, LanguageConfig
from baselines.recipes import make_config
from baselines.train.directory import CONFIG
from baselines.train.train import train
from helpers.tiny_runs import TINY, once
from sraven.board.board import read_board
from sraven.core.spec import values_of
from sraven.files.files import write_json


def tiny_sraven(attention="hyla"):
    """Return the configuration of a tiny run of two layers on SRAVEN's board."""
    return make_config(read_board("sraven-v1"), attention, **{**TINY, "layers": 2, "steps": 5})


@contextmanager
def few_at_once():
    """Let a program take eight instances a call, and probes have few fits and controls."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("baselines.analysis.codes.pieces_on", lambda mesh: (4, 2))
        monkeypatch.setattr("baselines.analysis.analysed.UNTRAINED_NETWORKS", 2)
        monkeypatch.setattr("baselines.analysis.classifiers.STRENGTHS", (0.1, 1.0))
        monkeypatch.setattr("baselines.analysis.probes.RELABELLINGS", 2)
        yield


def finished_run(tmp_path_factory, name, config):
    """Return the directory of a finished run, which workers share; tests only read it."""
    folder = once(tmp_path_factory, f"finished-{name}", lambda folder: train(config, folder / name))
    return folder / name


def language_run(folder, vocabulary=32101):
    """Write the configuration of a language model's run, of 40 steps."""
    folder.mkdir()
    shape = values_of(make_config(read_board("fuzzylogic-v1"), "hyla", steps=40, warmup=1))
    words = {"board": C4.id, "board_digest": C4.digest, "corpus": "0" * 64, "vocabulary": vocabulary}
    config = LanguageConfig(**{**shape, **words, "length": 16, "dtype": "float32"})
    write_json(folder / CONFIG, values_of(config))
    return folder
