"""The generator: a case worked by hand, the oracle bit for bit, and distributions."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import sraven
from helpers import oracle
from helpers.batches import assert_equal_to_instances
from helpers.python import python
from helpers.uniformity import assert_uniform
from sraven import SRAVEN
from sraven.kernels import generate, generate_plainly, make_tables
from sraven.splits import rule_combinations

WORDS = st.integers(0, 2**32 - 1)


def generated(key, indices, M, K, *, choices=None, permute=True, attempt=0):
    """Return the arrays that the kernel fills for these indices."""
    combinations = rule_combinations(M)
    chosen = np.array(range(len(combinations)) if choices is None else choices, np.int32)
    tables = make_tables(K, combinations, chosen, permute)
    arrays = SRAVEN(M=M, holdout=0).empty_batch(len(indices))
    generate(
        np.array(key, np.uint64), np.array(indices, np.uint64), np.uint64(attempt), tables, tuple(arrays)
    )
    return arrays


@pytest.mark.parametrize("split", ["train", "ood"])
@pytest.mark.parametrize(
    "options",
    [
        {"M": 4},
        {"M": 3, "holdout": "blocks"},
        {"M": 2, "permute": False},
        {"M": 12},
        {"M": 3, "rule_set": "ten"},
    ],
)
def test_the_plain_generator_gives_the_same(options, split):
    task = SRAVEN(K=7, seed=3, **options)
    key, combinations = task.key(split, "instances"), task.combinations(split)
    batch = task.sample(split, 1000, 40)
    for index, instance in enumerate(map(batch.__getitem__, range(40)), 1000):
        panels, rules = generate_plainly(
            key, index, combinations, task.K, permute=task.permute, rules=task.rules
        )
        assert (panels == [*instance["context"], instance["target"]]).all()
        assert (rules == instance["rules"]).all()


def test_an_instance_worked_by_hand():
    # M=2, K=5, all 36 combinations, key (0, 0), index 80, attempt 0. Philox of the counters
    # (80, 0, block, 0), blocks 0 and 1, gives the words
    #   9a71ca06 edb0e81a 993b89cd 4aa228aa   0f6939e3 ... : two words a draw, the low one first.
    # Of each draw the low 48 bits count. Multiplied by the range, the number is what overflows
    # them, and what stays below is multiplied on.
    #
    # Draw 0, e81a9a71ca06:  * 36 = 20 a3bdb80068d8 -> combination 0x20 = 32: rules 5 and 7
    #                                                  (00-07, 11-17, 22-27, 33-37, 44-47, 55, 56, 57)
    #         a3bdb80068d8:  * 2  =  1 477b7000d1b0 -> column 1, rank 1 of (0,1), (1,0):
    #                                                  feature 0 at position 1, feature 1 at 0
    # Draw 1, 28aa993b89cd:  * 2  =  0 51553277139a -> column 2, rank 0: as they are
    #         51553277139a:  * 2  =  0 a2aa64ee2734 -> column 3, rank 0
    # Draw 2, 2947f6939e32, feature 0, addition: three numbers below 25, x * 5 + y:
    #                        * 25 =  4 0807146a72e2 -> x, y = 0, 4; z = 4
    #                        * 25 =  0 c8b0fe653812 -> x, y = 0, 0; z = 0
    #                        * 25 = 13 9948d7e279c2 -> 19: x, y = 3, 4; z = 7 - 5 = 2
    # Draw 3, 84fd39ce83f1, feature 1, distribute three: symbols, then orders
    #                        * 5  =  2 98f2210893b5 -> a = 2
    #                        * 4  =  2 63c884224ed4 -> b is the third of 0 1 3 4: 3
    #                        * 3  =  1 2b598c66ec7c -> c is the second of 0 1 4: 1
    #                        * 6  =  1 04194a698ae8 -> order 1, (0, 2, 1): 2 1 3
    #                        * 6  =  0 1897be794170 -> order 0, (0, 1, 2): 2 3 1
    #                        * 6  =  0 938e76d788a0 -> order 0, (0, 1, 2): 2 3 1
    # What is left exceeds 2**48 mod (36 * 2), 2**48 mod 4, ...: no draw is rejected.
    arrays = generated((0, 0), [80], M=2, K=5)
    assert arrays.combination.tolist() == [32]
    assert arrays.rules.tolist() == [[5, 7]]
    assert arrays.permutations.tolist() == [[[1, 0], [0, 1], [0, 1]]]
    assert arrays.context.tolist() == [
        [*([2, 0], [4, 1], [4, 3]), *([2, 0], [0, 3], [0, 1]), *([2, 3], [4, 3])]
    ]
    assert arrays.target.tolist() == [[2, 1]]


@st.composite
def streams(draw):
    """Draw the arguments of the generator, but for the indices."""
    M = draw(st.integers(1, 12))
    K = draw(st.integers(3, 256) | st.sampled_from([3, 4, 5, 8, 199, 200, 230, 255, 256]))
    last = len(rule_combinations(M)) - 1
    return {
        "key": draw(st.tuples(WORDS, WORDS)),
        "attempt": draw(st.integers(0, 2**14)),
        "choices": sorted(draw(st.sets(st.integers(0, last), min_size=1, max_size=50))),
        "M": M,
        "K": K,
        "permute": draw(st.booleans()),
    }


@given(stream=streams(), start=st.integers(0, 2**41), count=st.sampled_from([1, 5, 67]))
@settings(max_examples=50)
def test_kernel_equals_the_oracle_bit_for_bit(stream, start, count):
    indices = range(start, start + count)
    expected = [oracle.candidate(index=index, **stream) for index in indices]
    assert_equal_to_instances(generated(indices=indices, **stream), expected)


# Of 2**48 inputs, the linear rules reject a share of 0.023 at K=255, 0.47 at K=230; a pair of
# permutations 0.018 at M=10; the combination with the permutation of column 1 0.057 at M=12. There, features
# are redrawn by the rules of the combination that is accepted; at K=230 they are several times in a row.
@pytest.mark.parametrize(
    ("M", "K", "most"),
    [(1, 255, 1), (2, 230, 2), (3, 199, 1), (5, 200, 1), (10, 8, 1), (12, 8, 1), (12, 230, 5), (1, 230, 3)],
)
def test_kernel_equals_the_oracle_where_draws_are_rejected(M, K, most):
    choices = range(len(rule_combinations(M)))
    expected = [oracle.candidate((23, 29), index, 0, choices, M, K, True) for index in range(300)]
    redraws = [instance.redraws for instance in expected]
    assert sum(map(bool, redraws)) >= 3 and max(redraws) >= most, "too little was rejected to show anything"
    assert_equal_to_instances(generated((23, 29), range(300), M, K), expected)


@pytest.mark.parametrize("permute", [True, False])
def test_each_symbol_of_each_position_is_equally_probable(permute):
    arrays = generated((2, 3), range(30_011), M=3, K=7, permute=permute)
    for panels in (*arrays.context.swapaxes(0, 1), arrays.target):
        for symbols in panels.T:
            assert_uniform(np.bincount(symbols, minlength=7))


@pytest.mark.parametrize("choices", [None, [2, 3, 5, 7, 11, 13, 119]])
def test_each_combination_of_a_split_is_equally_probable(choices):
    arrays = generated((5, 7), range(30_011), M=3, K=5, choices=choices)
    assert_uniform(np.bincount(arrays.combination, minlength=120)[choices or slice(None)])


@pytest.mark.parametrize(("K", "sets"), [(3, 1), (5, 10)])
def test_distribute_three_draws_each_set_and_each_order_equally_often(K, sets):
    context, target, *_ = generated((19, 23), range(30_011), M=1, K=K, choices=[7])
    panels = np.concatenate([context[..., 0], target], axis=1).astype(int)
    _, counts = np.unique(panels @ K ** np.arange(9), return_counts=True)
    assert len(counts) == sets * 6**3
    assert_uniform(counts)


# The kernels once more, with every access to an array checked; Numba leaves that out otherwise


PROGRAM = Path(__file__).with_name("use_every_kernel.py")


@pytest.mark.long
def test_no_kernel_leaves_its_arrays(pytestconfig, tmp_path):
    """Compiling takes nearly all of the time, so the code is kept from run to run, in a place apart."""
    cache = getattr(pytestconfig, "cache", None)
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",
        "NUMBA_CACHE_DIR": str(cache.mkdir("checked-kernels") if cache else tmp_path),
        "PYTHONPATH": str(Path(sraven.__file__).parents[1]),
    }
    finished = python(PROGRAM, "checked", env=environment)
    assert finished.returncode == 0, finished.stderr
