"""The configuration of a task: allowed values, identity, and refusals."""

import dataclasses

import numpy as np
import pytest

from helpers.batches import config, same
from sraven import SRAVEN, ConfigurationError


def test_config_has_all_that_determines_the_instances():
    assert SRAVEN(M=3, K=7, seed=5).config == {
        "task": "sraven",
        "version": "1",
        "M": 3,
        "K": 7,
        "holdout": 0.25,
        "seed": 5,
        "answers": "any",
        "permute": True,
    }
    assert SRAVEN() == SRAVEN(4, 8, 0.25, 0, "any", True, rule_set="paper", version="1")


def test_numpy_numbers_make_the_same_task():
    task = SRAVEN(
        M=np.int64(3), K=np.uint8(7), holdout=np.float64(0.25), seed=np.int32(5), permute=np.bool_(False)
    )
    plain = SRAVEN(M=3, K=7, holdout=0.25, seed=5, permute=False)
    assert task == plain
    assert task.config == plain.config
    assert {type(value) for value in config(task).values()} == {int, float, str, bool}
    assert same(task.sample("train", 0, 11), plain.sample("train", 0, 11))


def test_zero_is_one_holdout_however_it_is_written():
    assert {str(SRAVEN(holdout=zero).config) for zero in (0, 0.0, -0.0)} == {str(SRAVEN(holdout=0).config)}


def test_a_task_can_not_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SRAVEN().M = 5


# What was given, what is allowed.
@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"M": 0}, ("M=0", " 1 ", " 12")),
        ({"M": 13}, ("M=13", " 1 ", " 12")),
        ({"M": 4.0}, ("M=4.0", "an integer")),
        ({"M": True}, ("M=True", "an integer")),
        ({"K": 2}, ("K=2", " 3 ", " 256", "distribute three needs three symbols")),
        ({"K": 257}, ("K=257", " 3 ", " 256")),
        ({"K": "8"}, ("K='8'", "an integer")),
        ({"seed": -1}, ("seed=-1", " 0 ")),
        ({"seed": 2**63}, ("seed=9223372036854775808", " 0 ")),
        ({"seed": None}, ("seed=None", "an integer")),
        ({"answers": "one"}, ("answers='one'", "'any', 'unique'")),
        ({"permute": 1}, ("permute=1", "True or False")),
    ],
)
def test_bad_configurations_are_refused(fields, parts):
    with pytest.raises(ConfigurationError) as raised:
        SRAVEN(**fields)
    for part in parts:
        assert part in str(raised.value)
