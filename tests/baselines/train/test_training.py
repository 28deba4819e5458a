"""The pure parts of training: encodings, feed, optimiser, and steps, with a model of one layer."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.train.ahead import prefetch
from baselines.train.experiment import chunk_of_steps
from baselines.train.optim import (
    Hyperparams,
    make_optimiser,
    no_biases,
    no_vectors,
    warmup_cosine,
    warmup_cosine_paper_code,
)
from baselines.train.sharding import make_mesh
from baselines.train.step import Program, train_chunk, train_step
from fuzzylogic import FuzzyLogic
from fuzzylogic.metrics import overall
from helpers.tiny_runs import EXACTLY, assert_runs_agree, leaves
from sraven import SRAVEN

RAVEN, FUZZY = SRAVEN(M=3, K=7, holdout=0.3, seed=5), FuzzyLogic(L=3, K=2, N=5, holdout=0.5, seed=5)
STEPS, BATCH = 11, 13

pytestmark = pytest.mark.usefixtures("compiled")


def batch_of(task, split="train", count=17):
    return task.sample(split, 0, count)._asdict()


def compute(function, *arrays):
    """Return what a function makes of arrays, on the host; each operation alone would be compiled alone."""
    return jax.tree.map(np.asarray, jax.jit(function)(*arrays))


def program_of(task, steps=STEPS, num_microbatches=1):
    """A model that multiplies all tokens of a sequence by one matrix, and drops none."""
    encoding = encoding_of(task)
    size = encoding.length * encoding.width_in, encoding.length * encoding.width_out

    def initialise(key):
        return {"kernel": 0.1 * jax.random.normal(key, size), "bias": jnp.zeros(size[1])}

    def loss(params, batch, key):
        tokens_BTD = encoding.tokens(batch)
        flat = tokens_BTD.reshape(len(tokens_BTD), -1) @ params["kernel"] + params["bias"]
        noise = 1.0 + 0.01 * jax.random.normal(key, ())
        out = noise * flat.reshape(len(tokens_BTD), encoding.length, encoding.width_out)
        return encoding.loss(out, batch), encoding.score(out, batch)

    return Program(initialise, loss, partial(make_optimiser, steps=steps), make_mesh(), num_microbatches)


def hypers(*rates):
    return Hyperparams(jnp.array(rates), jnp.full(len(rates), 0.1), jnp.full(len(rates), 2.0))


@cache
def trainer(program):
    return jax.jit(partial(train_chunk, program))


def first_states(program, *seeds):
    return jax.jit(jax.vmap(program.initialise))(np.array(seeds, np.uint32))


# Encodings


def test_raven_tokens_are_symbols_one_by_one_then_empty_queries():
    batch, encoding = batch_of(RAVEN), encoding_of(RAVEN)
    tokens = compute(encoding.tokens, batch)
    assert tokens.shape == (17, 27, 7) == (17, encoding.length, encoding.width_in)
    assert tokens.dtype == np.float32
    assert (tokens[:, :24].argmax(axis=-1).reshape(17, 8, 3) == batch["context"]).all()
    assert (tokens[:, :24].sum(axis=-1) == 1).all() and not tokens[:, 24:].any()


def test_raven_loss_and_accuracy_of_outputs_made_by_hand():
    batch, encoding = batch_of(RAVEN), encoding_of(RAVEN)
    right = 30 * np.eye(7, dtype=np.float32)[batch["target"]]
    out = np.concatenate([np.zeros((17, 24, 7), np.float32), right], axis=1)
    one_wrong = out.copy()
    one_wrong[0, 24] = np.roll(out[0, 24], 1)
    found = compute(lambda out: (encoding.predict(out), encoding.score(out, batch)), out)
    assert (found[0] == batch["target"]).all() and found[1] == 1
    losses = compute(lambda *outs: [encoding.loss(each, batch) for each in outs], out, np.zeros_like(out))
    assert losses[0] < 1e-6 and losses[1] == pytest.approx(np.log(7), rel=1e-6)
    assert compute(encoding.score, one_wrong, batch) == pytest.approx(16 / 17)


def test_fuzzy_query_is_hidden_and_score_is_the_boards():
    batch, encoding = batch_of(FUZZY), encoding_of(FUZZY)
    tokens = compute(encoding.tokens, batch)
    assert tokens.shape == (17, 5, 4)
    assert (tokens[..., :3] == batch["inputs"]).all()
    assert (tokens[:, :-1, 3] == batch["targets"][:, :-1]).all() and not tokens[:, -1, 3].any()
    out = np.random.default_rng(0).random((17, 5, 1), np.float32)
    scores = overall(out[:, -1, 0].astype(float), batch["targets"].astype(float))
    found = compute(lambda out: (encoding.score(out, batch), encoding.loss(out, batch)), out)
    assert found == pytest.approx((scores["r2_per_sequence"], scores["mse"]), rel=1e-5)


# Feed


@pytest.mark.parametrize("task", [RAVEN, FUZZY], ids=lambda task: task.name)
def test_step_has_the_same_batch_however_steps_are_chunked(task):
    fields = encoding_of(task).fields
    make = partial(chunk_of_steps, task, fields, BATCH)
    whole = make(0, 7)
    parts = list(prefetch(make, [(0, 3), (3, 1), (4, 3)]))
    for name in fields:
        assert whole[name].shape[:2] == (7, BATCH)
        assert (np.concatenate([part[name] for part in parts]) == whole[name]).all()
        assert (whole[name][5] == getattr(task.sample("train", 5 * BATCH, BATCH), name)).all()
    assert list(prefetch(make, [])) == []


# Optimiser


def test_rate_rises_to_its_peak_and_falls_to_a_tenth():
    shares = compute(lambda steps: warmup_cosine(steps, 100, 10), np.arange(100))
    assert shares[0] == pytest.approx(0.1) and shares[9] == pytest.approx(1)
    assert (np.diff(shares[:10]) > 0).all() and (np.diff(shares[9:]) <= 0).all()
    assert shares[99] == pytest.approx(0.1)
    assert shares[54] == pytest.approx(0.55, abs=1e-6)  # halfway down


def test_rate_of_the_papers_code_starts_at_0_and_ends_early():
    shares = compute(lambda steps: warmup_cosine_paper_code(steps, 100, 10), np.arange(100))
    assert shares[0] == 0 and shares[10] == pytest.approx(1)
    assert shares[90:] == pytest.approx(0.1) and shares[89] > 0.1


def test_biases_scales_and_position_tables_do_not_decay():
    params = {
        "attention": {"query": {"kernel": jnp.ones((2, 3)), "bias": jnp.ones((4, 3))}},
        "norm": {"scale": jnp.ones(2), "bias": jnp.ones(2)},
        "position": jnp.ones((5, 2)),
    }
    assert jax.tree.leaves(no_biases(params)) == [False, True, False, False, False]
    # The published code exempts vectors alone.
    assert jax.tree.leaves(no_vectors(params)) == [True, True, False, False, True]


def test_decay_is_decoupled_from_the_gradient():
    program = program_of(FUZZY)
    batch = {name: array[:BATCH] for name, array in batch_of(FUZZY).items()}

    def look(seed, batch):
        state = program.initialise(seed)
        rates = Hyperparams(1e-3, 0.5, 2), Hyperparams(1e-3, 0.0, 2)
        return state, *(train_step(program, state, rate, batch)[0] for rate in rates)

    state, with_decay, without = compute(look, np.uint32(0), batch)
    rate = 1e-3 * float(warmup_cosine(0, STEPS, 2))
    difference = without.params["kernel"] - with_decay.params["kernel"]
    np.testing.assert_allclose(difference, rate * 0.5 * state.params["kernel"], rtol=1e-3, atol=1e-8)
    assert (with_decay.params["bias"] == without.params["bias"]).all()


# Steps


@pytest.mark.parametrize("task", [RAVEN, FUZZY], ids=lambda task: task.name)
def test_training_on_one_batch_lowers_its_loss(task):
    program, steps = program_of(task, steps=60), 60
    batch = chunk_of_steps(task, encoding_of(task).fields, BATCH, 0, 1)
    chunk = {name: np.repeat(array, steps, axis=0) for name, array in batch.items()}
    _, reports = trainer(program)(first_states(program, 0), hypers(1e-2), chunk)
    assert np.isfinite(jax.tree.leaves(reports)).all()
    assert reports.loss[0, -1] < 0.5 * reports.loss[0, 0]


@pytest.mark.parametrize("task", [RAVEN, FUZZY], ids=lambda task: task.name)
def test_parts_of_a_batch_make_the_steps_of_the_whole(task, float64):
    """With the same random numbers, as of dropout, for all parts; each instance is in one of them."""
    chunk = chunk_of_steps(task, encoding_of(task).fields, 12, 0, 3)
    (whole, reports), (cut, cut_reports) = (
        trainer(program)(first_states(program, 3), hypers(1e-2), chunk)
        for program in (program_of(task, num_microbatches=parts) for parts in (1, 4))
    )
    for one, other in zip(cut_reports, reports, strict=True):
        np.testing.assert_allclose(one, other, rtol=EXACTLY)
    assert_runs_agree(leaves(cut), leaves(whole))
    assert len(set(reports.loss[0].tolist())) == 3
