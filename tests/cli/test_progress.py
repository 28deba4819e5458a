"""Bars: what they show on a terminal of 100 columns, without a word cut."""

import io
import logging
import re

import pytest
from numba.core.event import end_event, start_event
from rich.console import Console

import cli.main
from cli.shared import progress
from cli.shared.training import describe_line
from sraven.core import jit

LINE = {"loss": 0.3279, "score": 0.5625, "instances_per_second": 12_345.6}


def shards():
    with progress.parts_bar("part 12/64", 20_000_000) as (advance, shards):
        advance(12_345_678)
        shards(123, 400)


def training():
    with progress.progress_bar("hyla, 36 runs", 156_250 * 36) as advance:
        advance(156_250 * 30, describe_line(LINE))


@pytest.mark.parametrize(
    ("show", "words"), [(shards, ["123/400 shards", "instances/s"]), (training, ["loss 0.328", "12,346/s"])]
)
def test_a_bar_fits_100_columns(show, words, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console",
        lambda **_: Console(file=out, force_terminal=True, width=100, color_system=None),
    )
    monkeypatch.setattr("rich.progress.Task.elapsed", 2.0)
    show()
    shown = re.split(r"\n|\r|\x1b\[[0-9;?]*[A-Za-z]", out.getvalue())
    assert any(all(word in line for word in words) for line in shown)
    assert "…" not in out.getvalue() and all(len(line) <= 100 for line in shown)


def test_a_terminal_is_told_that_kernels_compile(monkeypatch, capsys):
    logger = logging.getLogger("sraven")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setattr(jit._compilations, "logged", False)
    cli.main._show_log()
    for _ in range(2):
        start_event("numba:compile")
        end_event("numba:compile")
    assert capsys.readouterr().err == "compiling kernels: once for this version, up to a minute\n"
