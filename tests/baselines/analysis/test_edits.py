"""Causal edits: they reach the codes that they name and no other, and planted structure is found."""

from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.analysis import edits
from baselines.analysis.codes import Collector, untrained_params
from baselines.analysis.edits import ALL, EDIT, FINAL, NONE, RANDOM, THIRD
from baselines.analysis.labels import subject_of
from baselines.encode import encoding_of
from baselines.training.experiment import model_of
from helpers.analysed_runs import tiny_sraven
from helpers.oracle import follows
from sraven.board.board import read_board
from sraven.rules import ADDITION, DISTRIBUTE_THREE, RULES, SUBTRACTION

pytestmark = pytest.mark.usefixtures("compiled")

M, K, R = 4, 8, len(RULES)


@pytest.fixture(scope="module")
def prepared(compiled, few_at_once):
    """A network of SRAVEN with its subject, and codes of both pairs on some of its instances."""
    config = tiny_sraven("linear")
    subject = subject_of(read_board(config.board).task)
    params = untrained_params(config, subject.task)
    codes = Collector(config, subject, subject.pairs).collect(params, subject.parts(400)[0])
    return config, subject, params, codes


def test_symbols_that_rules_make_of_two():
    symbols = edits.symbols_of_rules(RULES, K)
    for rule, x, y in np.ndindex(R, K, K):
        third = [z for z in range(K) if follows(rule, [(x, y, z)], K)]
        assert symbols[rule, x, y] == (third[0] if len(third) == 1 else -1)


@pytest.mark.parametrize("pair", ["self", "row3"])
def test_an_edit_moves_the_code_of_one_query_with_its_keys(prepared, pair):
    """As an edit in a loop over instances does, by the permutations themselves."""
    config, subject, params, codes = prepared
    rows, rng = np.array([3, 8, 14]), np.random.default_rng(0)
    codes = codes[pair]
    moves = rng.normal(size=(3, *codes.codes.shape[::2])).astype(np.float32) * 5
    batch = subject.task.take("test", codes.index[rows])
    encoding = encoding_of(subject.task)
    model = model_of(config, encoding)

    def edit(b, layer, given):
        p = codes.position[rows][b]
        query, feature = 8 * M + p - (36 - given.shape[2]), batch.permutations[b, 2, p]
        keys = [(6 + c) * M + list(batch.permutations[b, c]).index(feature) for c in (0, 1)]
        keys = keys if pair == "row3" else [8 * M + p]
        for number, key in enumerate(keys):
            given = given.at[0, :, query, key].add(moves[b, layer, 3 * number : 3 * number + 3])
        return given

    collector = Collector(config, subject, (pair,), edits.move_codes)
    outs = []
    collector.run = partial(spy, collector.run, outs)
    said = edits.predict_moved(collector, params, codes, "test", rows, moves)
    for b in range(3):
        one = {name: jnp.asarray(getattr(batch, name)[b : b + 1]) for name in encoding.fields}
        given = {"num_outputs": M, "edit_codes": partial(edit, b)}
        out = jax.jit(lambda x, more=given: model.apply({"params": params}, x, **more))(encoding.tokens(one))
        np.testing.assert_allclose(outs[0][b], out[0], rtol=1e-4, atol=1e-4)
        there = out[0, codes.position[rows][b]]
        assert np.abs(codes.output[rows[b]] - there).max() > 0.01  # it does something
        assert said[b] == there.argmax()


def spy(run, outs, *arguments, **more):
    found = run(*arguments, **more)
    outs.append(found[0])
    return found


def planted(codes):
    """Return codes whose layers are one-hot vectors of the rule."""
    one_hot = np.eye(R, dtype=np.float32)[codes.labels["rule"]]
    return codes.__class__(**{**vars(codes), "codes": np.stack([one_hot, one_hot])})


def test_a_network_that_follows_its_codes_is_found_and_its_controls_tell(prepared, monkeypatch):
    """The network reads the rule off the code of its last layer, and does what that rule does."""
    config, subject, params, codes = prepared
    codes = planted(codes["self"])
    symbols = edits.symbols_of_rules(RULES, K)

    def predict(collector, params, codes, split, rows, moves):
        moved = codes.codes[:, rows].swapaxes(0, 1) + moves
        rule = moved[:, -1].argmax(axis=1)
        first, second = (codes.labels[f"{name}_input"][rows] for name in ("first", "second"))
        return np.where(rule == codes.labels["rule"][rows], codes.target[rows], symbols[rule, first, second])

    monkeypatch.setattr(edits, "predict_moved", predict)
    every = edits.try_edits(config, params, subject, "self", codes, codes, "test")
    found = {(each.layers, each.kind): each for each in every}
    assert set(found) == {(ALL, NONE), *product((ALL, FINAL), (EDIT, RANDOM, THIRD))}
    for layers in (ALL, FINAL):
        assert found[layers, EDIT].over_pairs()["target_of_b"].value == 1
        assert found[layers, RANDOM].over_pairs()["target_of_b"].value < 0.5
        assert found[layers, THIRD].over_pairs()["target_of_b"].value < 0.2
    assert found[ALL, NONE].over_pairs()["target_of_a"].value == 1
    trials = found[ALL, EDIT].trials
    assert trials[ADDITION, SUBTRACTION] == 48 and not trials.diagonal().any()
    assert not trials[:, DISTRIBUTE_THREE].any()  # no two symbols tell which is the third
    assert not trials[0, 1:5].any()  # x, x is no row of a progression
    assert np.isnan(found[ALL, EDIT].rates[0, 1]).all()


def test_trials_are_what_they_say_and_moves_differences_of_means(prepared):
    """Or as long in a random direction."""
    codes = prepared[3]["row3"]
    trials = edits.plan_trials(codes, edits.symbols_of_rules(RULES, K), np.arange(R), 2)
    assert (codes.labels["rule"][trials.row] == trials.a).all()
    assert (trials.target_b != codes.target[trials.row]).all()
    for a, b, third in zip(trials.a, trials.b, trials.third, strict=True):
        instances = codes.index[trials.row[(trials.a == a) & (trials.b == b)]]
        assert len({a, b, third}) == 3 and len(instances) == len(set(instances)) <= 2
    means = [codes.codes[:, codes.labels["rule"] == rule].mean(axis=1, dtype=np.float64) for rule in range(R)]
    found = edits.codes_of_rules(codes, R)
    np.testing.assert_allclose(found, means, rtol=1e-6, atol=1e-9)
    edit, random = (edits.moves_of(kind, found, trials) for kind in (EDIT, RANDOM))
    np.testing.assert_allclose(edit, (found[trials.b] - found[trials.a]).astype(np.float32))
    np.testing.assert_allclose(*(np.linalg.norm(each, axis=2) for each in (random, edit)), rtol=1e-4)
    assert not np.allclose(random, edit)
