"""Weights & Biases, with a module in its place; and packages that aren't installed."""

import inspect
import json
import shutil
import sys
from types import ModuleType, SimpleNamespace

import pytest

from baselines.runs.directory import CHECKPOINTS, CONFIG
from baselines.training.train import train
from helpers.command import sraven
from helpers.tiny_runs import CHUNK, STEPS, lines_of, tiny, tiny_options

pytestmark = pytest.mark.usefixtures("compiled")

LINE = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_options()]


class Account:
    """What a server would have: runs by their id, and the calls that were made."""

    def __init__(self):
        self.runs, self.begun, self.finished = {}, [], 0
        self.refusal = None

    def init(self, *, project, dir, id, name, config, reinit, resume, settings):  # noqa: A002  # as there
        if self.refusal:
            raise self.refusal
        begun = {"project": project, "dir": dir, "name": name, "config": config, "settings": settings}
        self.begun.append(begun)
        assert (reinit, resume) == ("create_new", "allow")
        return Run(self, self.runs.setdefault(id, {}))


class Run:
    """Takes steps that ascend, as the real one does; others are left out."""

    def __init__(self, account, history):
        self._account, self._history = account, history

    def log(self, data, step=None, commit=None):
        assert commit
        if step > max(self._history, default=0):
            self._history[step] = data

    def finish(self, exit_code=None):
        self._account.finished += 1


class ServerError(Exception):
    """The root of what Weights & Biases raises."""


@pytest.fixture
def account(monkeypatch):
    """Weights & Biases, without them."""
    account, module = Account(), ModuleType("wandb")
    module.init = account.init
    module.Settings = lambda *, console=None: {"console": console}
    module.errors = SimpleNamespace(Error=ServerError)
    monkeypatch.setitem(sys.modules, "wandb", module)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    return account


def test_the_module_that_remembers_has_the_shape_of_the_real_one():
    wandb = pytest.importorskip("wandb")
    real = {Account.init: wandb.init, Run.log: wandb.Run.log, Run.finish: wandb.Run.finish}
    for ours, theirs in real.items():
        assert set(inspect.signature(ours).parameters) <= {"self", *inspect.signature(theirs).parameters}
    assert wandb.Settings(console="off").console == "off"
    assert issubclass(wandb.errors.UsageError, wandb.errors.Error)


def test_a_run_goes_on_where_it_was_in_weights_and_biases(account, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    train(tiny(), folder, save_every=CHUNK, sinks=("wandb",))
    shutil.rmtree(folder / CHECKPOINTS / str(STEPS))
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    train(tiny(), folder, sinks=("wandb",))
    train(tiny(), folder, sinks=("wandb",))  # all is done, so there is nothing to tell
    first, second = account.begun
    assert account.finished == 2
    ((name, history),) = account.runs.items()
    assert name == tiny().digest[:32]
    logged = lines_of(folder)
    for line in (*logged, *history.values()):  # of steps that were trained twice, the log has the later speed
        del line["instances_per_second"]
    assert [{"step": step, **line} for step, line in history.items()] == logged
    assert first["config"] == json.loads((folder / CONFIG).read_text())
    assert (first["name"], first["dir"]) == ("fuzzylogic-v1, hyla, seed 0", str(folder))
    assert first["settings"] == {"console": "off"}
    assert {**first, "project": "mine"} == second and first["project"] == "sraven"


def test_what_weights_and_biases_refuses_is_one_line(account, tmp_path):
    account.refusal = ServerError("No API key configured.\nmore")
    code, out, err = sraven(*LINE, f"--out={tmp_path / 'run'}", "--wandb")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(
        "error: Weights & Biases: No API key configured; `wandb login` once, or WANDB_MODE="
    )


@pytest.mark.parametrize(("name", "package"), [("wandb", "wandb"), ("tensorboard", "tensorboardX")])
def test_what_isnt_installed_is_one_line_before_there_is_a_run(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    code, out, err = sraven(*LINE, f"--out={tmp_path / 'run'}", f"--{name}")
    assert (code, out) == (2, "") and not (tmp_path / "run").exists()
    advice = f"pip install '.[{name}]' in a checkout; see sraven train --help"
    assert err == f"error: --{name} needs {package}: {advice}\n"
