"""The name of a leaderboard entry, by the configuration of its runs."""

import jax.numpy as jnp
import pytest

from baselines.evaluate import describe_runs
from baselines.recipes import make_config
from sraven.core.boards.board import read_board


def name_of(config):
    return describe_runs([config], {"kernel": jnp.zeros(3)})["method"]["name"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"learning_rate": 0.0003}, "rate 0.0003, "),
        ({"feedforward": "moe"}, "moe, "),
        ({"feedforward": "none"}, "no feed-forward layers, "),
        ({"attention_dropout": 0.1}, "attention dropout 0.1, "),
        ({"recipe": "paper-code"}, "recipe paper-code, "),
        ({"position": "relative_both_ways"}, "both-ways buckets, "),
        ({"recipe": "paper-code", "attention_dropout": 0.0}, "recipe paper-code, attention dropout 0, "),
        ({"activation": "silu"}, "activation silu, "),
        ({"layers": 8, "heads": 1}, "layers 8, heads 1, "),
        ({"weight_decay": 0.3, "warmup": 10_000}, "decay 0.3, warm-up 10000, "),
        ({"batch_size": 64}, "batch size 64, "),
        ({"precision": "high"}, "precision high, "),
        ({"seed": 3, "steps": 2_000}, ""),
    ],
)
def test_its_name_says_in_what_it_differs_from_the_recipe(changes, words):
    config = make_config(read_board("sraven-v1"), "hyla", **changes)
    assert name_of(config) == f"hyla, {words}{config.steps * config.batch_size:,} instances"
