"""The command that a language model's run is trained again by."""

import shlex
from dataclasses import replace

import pytest

from baselines.train.command import train_command
from baselines.train.directory import read_run
from baselines.train.train import Outcome
from helpers.command import sraven
from helpers.tiny_language import TRAINING, TWICE

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"attention": "softmax", "dtype": "bfloat16", "learning_rate": 1e-5, "steps": 10**6},
        {"attention": "hyla_deep", "feedforward": "moe", "activation": "silu", "attention_dropout": 0.1},
        {"layers": 3, "width": 20, "heads": 2, "qkv_width": 8, "mlp_width": 7, "length": 9, "batch_size": 3},
        {"weight_decay": 0.0, "warmup": 0, "learning_rate": 0.1 + 0.2},
    ],
)
def test_command_of_a_run_trains_it_again(language, monkeypatch, tmp_path, changes):
    configs = [replace(read_run(language / TWICE[0]), seed=seed, **changes) for seed in (0, 7, 2)]
    found = []

    def train_nothing(configs, folders, **options):
        found.extend(configs)
        assert [folder.name for folder in folders] == ["seed-0", "seed-7", "seed-2"]
        return [Outcome(None, None, None)] * len(configs)

    monkeypatch.setattr("baselines.session.train_runs", train_nothing)
    command = train_command(configs).replace("TOKENS", shlex.quote(str(language / TRAINING)))
    first, *line = shlex.split(command)
    assert (first, *sraven(*line, f"--out={tmp_path / 'runs'}")[::2]) == ("sraven", 0, "")
    assert found == configs
