"""Rule combinations, and how a seed divides them into known and held-out ones."""

import re
from functools import partial
from math import comb

import numpy as np
import pytest

from helpers import oracle
from helpers.refusals import assert_refused
from helpers.uniformity import assert_uniform
from sraven import SRAVEN, ConfigurationError, splits
from sraven.splits import rule_combinations

partition = partial(splits.partition, version="1")


def test_combinations_can_not_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        rule_combinations(2)[0, 0] = 7


@pytest.mark.parametrize(
    ("M", "holdout", "count"),
    [
        (4, 0.25, 82),  # 82.5
        (4, 0.7, 231),  # 230.99999999999997 in binary floating point
        (3, 0.35, 42),
        (4, 0, 0),
        (6, 0.5, 858),
    ],
)
def test_holdout_is_read_as_a_decimal_and_rounded_down(M, holdout, count):
    known, held_out = partition(M, holdout, 0)
    assert (len(known), len(held_out)) == (comb(7 + M, M) - count, count)


@pytest.mark.parametrize(
    ("M", "holdout", "seed"),
    [
        *((M, 0.25 if M > 1 else 0, seed) for M in (1, 2, 3, 4, 6) for seed in (0, 1, 2**63 - 1)),
        *((M, holdout, 1) for M, holdout in ((2, 0.8889), (3, 0.975), (4, 0.994))),  # after many redraws
    ],
)
def test_partition_equals_the_oracles_and_trains_every_rule(M, holdout, seed):
    known, held_out = partition(M, holdout, seed)
    assert (known.tolist(), held_out.tolist()) == oracle.partition(M, holdout, seed)
    assert set(rule_combinations(M)[known].ravel()) == set(range(8))


def test_what_hardly_fits_is_found():
    """At M=8 only the combination of all eight rules is left."""
    [known] = partition(8, 0.9999, 2)[0]
    assert rule_combinations(8)[known].tolist() == list(range(8))


def test_each_combination_is_held_out_equally_often():
    held_out = [partition(2, 0.5, seed)[1] for seed in range(3_000)]
    counts = np.bincount(np.concatenate(held_out), minlength=36)
    # Train must have every rule, which favours the multisets of two rules alike.
    mixed = [a != b for a, b in oracle.all_combinations(2)]
    assert_uniform(counts[mixed])
    assert_uniform(counts[np.invert(mixed)])


def error(**fields):
    """Return the message of the error that a configuration raises."""
    with pytest.raises(ConfigurationError) as raised:
        SRAVEN(**fields)
    assert isinstance(raised.value, ValueError)
    return str(raised.value)


# What was given, what is allowed, what to do.
@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"holdout": 0.003}, ("holdout=0.003", "none of the 330", "use at least", "or 0")),
        ({"holdout": 0.999}, ("holdout=0.999", "leaves 1 of the 330", "takes 2", "at most 0.9939")),
        ({"M": 2, "holdout": 0.95}, ("holdout=0.95", "leaves 2 of the 36", "takes 4", "at most 0.8888")),
        ({"M": 3, "holdout": 0.99}, ("holdout=0.99", "leaves 2 of the 120", "takes 3", "at most 0.975")),
        ({"M": 1, "holdout": 0.25}, ("holdout=0.25", "leaves 6 of the 8", "takes 8", "use 0")),
        ({"holdout": 1}, ("holdout=1", "such as 0.25")),
        ({"holdout": float("nan")}, ("holdout=nan", "such as 0.25")),
    ],
)
def test_errors_name_the_value_what_is_allowed_and_what_to_do(fields, parts):
    assert re.search(".*".join(map(re.escape, parts)), error(**fields))


@pytest.mark.parametrize("M", range(2, 8))
def test_holdouts_that_errors_advise_are_possible(M):
    greatest = float(re.search(r"use at most ([0-9.]+)", error(M=M, holdout=0.99999))[1])
    assert len(partition(M, greatest, 0)[0]) < 10
    least = float(re.search(r"use at least ([0-9.]+)", error(M=M, holdout=1e-9))[1])
    assert len(partition(M, least, 0)[1]) == 1


def test_a_partition_that_is_not_found_is_an_error_with_advice(monkeypatch):
    monkeypatch.setattr(splits, "_ATTEMPTS", 7)
    assert_refused(r"holdout=0.9999.*7 draws.*M=8, seed=0.*use a smaller holdout", partition, 8, 0.9999, 0)


def test_a_split_that_a_holdout_of_zero_leaves_out_is_refused():
    message = "split='ood'.*train, test, all.*holdout=0 leaves no ood split"
    assert_refused(message, SRAVEN(holdout=0).combinations, "ood")
