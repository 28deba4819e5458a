"""An attention of a user's own, with weights that no other file knows: trained, kept, sampled from."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.lm.experiment import language_model, language_program
from baselines.lm.recipes import make_language_config
from baselines.lm.sample import continue_tokens
from baselines.model.attention import (
    ATTENTION,
    Attention,
    Weights,
    add_attention,
    mix_values,
    rms_head,
    weighted_sum,
)
from baselines.training.experiment import board_of, program_of
from baselines.training.train import train
from helpers.tiny_language import TINY
from helpers.tiny_runs import leaves, tiny
from sraven import ConfigurationError

B, T, H, D = 2, 5, 3, 4


def mixed_heads(codes, value_BKHV, network):
    """Σ_k a·φ(v·W), W between the heads."""
    mixed_BKHV = jnp.einsum("bkhv,hg->bkgv", value_BKHV, network.weights["between"].astype(value_BKHV.dtype))
    return mix_values(codes.product(), network.activation(mixed_BKHV))


@pytest.fixture(autouse=True)
def _registered():
    between = Weights("HH", jax.nn.initializers.orthogonal())
    add_attention("mixed_heads", Attention(rms_head, mixed_heads, weights={"between": between}))
    yield
    del ATTENTION["mixed_heads"]


def test_it_trains_and_comes_back(compiled, tmp_path):
    """Its weights begin orthogonal, move, lie in the checkpoint and are read from it."""
    config = tiny("mixed_heads", steps=5, warmup=1)
    with jax.numpy_dtype_promotion("standard"):
        state = train(config, tmp_path / "run")
        program = program_of(config, encoding_of(board_of(config).task))
        restored = train(config, tmp_path / "run")  # of its last checkpoint
    [path] = [path for path in leaves(state.params) if "between" in path]
    trained, first = (
        leaves(state.params)[path],
        leaves(jax.jit(program.initialise)(np.uint32(config.seed)).params)[path],
    )
    np.testing.assert_allclose(first @ first.T, np.eye(config.heads), atol=1e-5)
    assert (trained != first).any()
    np.testing.assert_array_equal(leaves(restored.params)[path], trained)


def test_a_normalisation_that_returns_no_codes_is_told_in_one_line():
    def plain_softmax(scores_BHQK, mask):
        return jax.nn.softmax(scores_BHQK)

    arrays = [jnp.zeros((B, T, H, D))] * 3
    with pytest.raises(
        ConfigurationError, match=r"^plain_softmax returned .*; expected Codes\(scores, scale\)$"
    ):
        Attention(plain_softmax, weighted_sum)(*arrays)


def test_text_is_sampled_from_it():
    """With a cache, piece by piece, what the whole sequence finds likeliest."""
    config = _language_config()
    shapes = jax.eval_shape(language_program(config).initialise, np.uint32(0)).params
    rng = np.random.default_rng(0)
    params = jax.tree.map(lambda leaf: (0.5 * rng.normal(size=leaf.shape)).astype(np.float32), shapes)
    prompt = np.asarray([3, 4, 5])
    pieces = continue_tokens(config, params, prompt, 4, temperature=0)
    model = language_model(config)
    text = np.concatenate([prompt, pieces[0]])[None].astype(np.int32)
    logits = jax.jit(model.apply)({"params": params}, text)
    np.testing.assert_array_equal(logits[0, len(prompt) - 1 : -1].argmax(axis=-1), pieces[0])


def _language_config():
    corpus = SimpleNamespace(digest="0" * 64, tokenizer={"pieces": 23})
    changes = {**TINY, "dtype": "float32"}
    return make_language_config(corpus, "mixed_heads", size="tiny", **changes)


@pytest.mark.parametrize("name", ["mixed_heads", "sparse_coding", "none"])
def test_names_that_are_taken(name):
    with pytest.raises(ConfigurationError, match=f"attention '{name}' is there already"):
        add_attention(name, Attention(rms_head, mixed_heads))
