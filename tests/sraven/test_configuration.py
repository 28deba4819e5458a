"""What a configuration of a task may be, and what may be asked of one."""

import dataclasses

import numpy as np
import pytest

from helpers.batches import config, same
from sraven import SRAVEN, ConfigurationError


def test_defaults_are_the_papers_task():
    assert config(SRAVEN()) == {
        "M": 4,
        "K": 8,
        "holdout": 0.25,
        "seed": 0,
        "answers": "any",
        "permute": True,
        "version": "1",
    }


def test_numpy_numbers_make_the_same_task():
    task = SRAVEN(
        M=np.int64(3), K=np.uint8(7), holdout=np.float64(0.25), seed=np.int32(5), permute=np.bool_(False)
    )
    plain = SRAVEN(M=3, K=7, holdout=0.25, seed=5, permute=False)
    assert task == plain
    assert task.config == plain.config
    assert {type(value) for value in config(task).values()} == {int, float, str, bool}
    assert same(task.sample("train", 0, 11), plain.sample("train", 0, 11))


def test_an_integer_holdout_is_the_same_as_a_float():
    assert SRAVEN(holdout=0).config == SRAVEN(holdout=0.0).config


def test_a_negative_zero_is_no_holdout_of_its_own():
    assert same(SRAVEN(holdout=-0.0).sample("train", 0, 5), SRAVEN(holdout=0).sample("train", 0, 5))


def test_a_task_can_not_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SRAVEN().M = 5


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


# What was given, what is allowed.
@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"M": 0}, ("M=0", "from 1 to 12")),
        ({"M": 13}, ("M=13", "from 1 to 12")),
        ({"M": 4.0}, ("M=4.0", "an integer")),
        ({"M": True}, ("M=True", "an integer")),
        ({"K": 2}, ("K=2", "from 3 to 256", "distribute three needs three symbols")),
        ({"K": 257}, ("K=257", "from 3 to 256")),
        ({"K": "8"}, ("K='8'", "an integer")),
        ({"seed": -1}, ("seed=-1", "from 0")),
        ({"seed": 2**63}, ("seed=9223372036854775808", "from 0")),
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


@pytest.mark.parametrize(
    ("split", "start", "count", "parts"),
    [
        ("valid", 0, 1, ("split='valid'", "train, test, ood, all")),
        ("train", -1, 1, ("start=-1", "from 0")),
        ("train", 0.0, 1, ("start=0.0", "an integer")),
        ("train", 2**62 + 1, 1, ("start=4611686018427387905",)),
        ("train", 0, -1, ("count=-1", "from 0")),
        ("train", 2**62 - 3, 5, ("count=5", "from 0 to 3")),
        ("train", 0, "1", ("count='1'", "an integer")),
    ],
)
def test_bad_ranges_are_refused(split, start, count, parts):
    with pytest.raises(ConfigurationError) as raised:
        SRAVEN().sample(split, start, count)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize("indices", [[[1, 2]], 3, [0.5], ["1"], [True], [-1], [0, 2**62 + 1]])
def test_bad_indices_are_refused(indices):
    with pytest.raises(ConfigurationError, match=r"ind(ices|ex)"):
        SRAVEN().take("train", indices)


def test_a_batch_of_another_task_is_not_written_into():
    with pytest.raises(ConfigurationError, match="out isn't a batch of 5 instances"):
        SRAVEN(M=4).sample("train", 0, 5, out=SRAVEN(M=3).empty_batch(5))
