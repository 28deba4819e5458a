"""Networks beside the transformer: loops over a block, a bottleneck, MLPs over tokens; their table.

Axes have different sizes: B=2 instances, T=12 tokens, E=7 channels, H=3 heads of D=2; 5 numbers in, 3 out.
"""

import json
from dataclasses import replace
from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.config import read_config
from baselines.encode import encoding_of
from baselines.model.attention import find_attention
from baselines.model.bottleneck import Bottleneck
from baselines.model.config import TransformerConfig
from baselines.model.cross_attention import CrossTransformer
from baselines.model.fast.layers import LayerNorm
from baselines.model.looped import LoopedTransformer
from baselines.model.mixer import Mixer
from baselines.model.networks import OURS, add_network, make_network
from baselines.model.position import relative_buckets
from baselines.model.self_attention import SelfAttention
from baselines.model.transformer import Block, Transformer
from baselines.recipes import make_config
from baselines.train.command import train_command
from baselines.train.experiment import model_of
from helpers.derivatives import assert_same_values, draw, drawn, gelu
from helpers.refusals import assert_refused
from sraven import ConfigurationError
from sraven.board.board import read_board
from sraven.core.spec import values_of

B, IN, OUT, E, H, T, F = 2, 5, 3, 7, 3, 12, 11
LOOPS = 3


def shape(layers=LOOPS, **changes):
    sizes = {"inputs": IN, "outputs": OUT, "length": T, "width": E, "heads": H, "mlp_width": F}
    return TransformerConfig(**{**sizes, "layers": layers, "qkv_width": 2 * H, **changes})


def mixer_shape(**changes):
    return shape(layers=2, attention="none", **changes)


def tokens():
    return jnp.asarray(draw(B, T, IN))


def parameters(model):
    """Return parameters, biases too."""
    return jax.tree.map(jnp.asarray, drawn(model, tokens()))


def apply(params, module, name, *arguments):
    """Apply a module to its part of a network's parameters."""
    return module.apply({"params": params["params"][name]}, *arguments)


def assert_answers(model, params, wanted):
    """Check the outputs of all tokens that have some, and of the last two alone."""
    for outputs in (None, 2):
        found = jax.jit(partial(model.apply, num_outputs=outputs))(params, tokens())
        assert_same_values([found], [wanted[:, -(outputs or T) :]], 1e-12)


def affine(vector, params):
    return vector @ params["kernel"] + params["bias"]


def read_off(params, hidden):
    """Return the outputs of what the last layer makes."""
    return affine(apply(params, LayerNorm(), "norm", hidden), params["params"]["out"])


# Looped ----------------------------------------------------------------------------------------------


def by_hand(config, params, key):
    """Apply a block of its own to h + x, again and again."""
    x_BTE = affine(tokens(), params["params"]["embedding"])
    hidden_BTE, all_codes = jnp.zeros((B, T, E), jnp.float64), []
    for loop in range(config.layers):
        own = jax.random.fold_in(key, loop)
        hidden_BTE, codes = apply(params, Block(config, True), "block_0", hidden_BTE + x_BTE, own)
        all_codes.append(codes)
    return read_off(params, hidden_BTE), tuple(all_codes)


@pytest.mark.parametrize("attention", ["hyla", "sparse_coding"])
def test_looped_is_a_loop_over_the_block(attention, float64):
    config = shape(attention=attention, dtype="float64", attention_dropout=0.3)
    model, one_layer = LoopedTransformer(config), Transformer(replace(config, layers=1))
    params, key = parameters(model), jax.random.key(5)
    assert jax.tree.map(jnp.shape, params) == jax.tree.map(jnp.shape, parameters(one_layer))
    run = jax.jit(partial(model.apply, return_codes=True), static_argnames="num_outputs")
    wanted = jax.jit(partial(by_hand, config))(params, key)
    assert_same_values(*map(jax.tree.leaves, (run(params, tokens(), key), wanted)), 1e-12)
    out, codes = run(params, tokens(), key, num_outputs=2)
    assert_same_values([out, codes[-1]], [wanted[0][:, -2:], wanted[1][-1][:, :, -2:]], 1e-12)
    assert [each.shape for each in codes] == [(B, H, T, T)] * (LOOPS - 1) + [(B, H, 2, T)]


# Bottleneck ------------------------------------------------------------------------------------------

QUERY = 5


def in_two_halves(config, params):
    """Read the context with block 0, and answer from its latent and the query with blocks 1 and 2."""
    own = params["params"]
    x_BTE = affine(tokens(), own["embedding"])
    context_BCE, _ = apply(params, Block(config), "block_0", x_BTE[:, :-QUERY], None)
    latent_BZ = affine(apply(params, LayerNorm(), "norm_latent", context_BCE).mean(axis=1), own["latent"])
    assert latent_BZ.shape == (B, E // 2)
    hidden = jnp.concatenate([affine(latent_BZ, own["task"])[:, None], x_BTE[:, -QUERY:]], axis=1)
    for name in ("block_1", "block_2"):
        hidden, _ = apply(params, Block(config), name, hidden, None)
    return read_off(params, hidden)[:, 1:]


def test_a_bottleneck_answers_from_the_context_s_latent_alone(float64):
    config = shape(3, dtype="float64", query_tokens=QUERY)
    model = Bottleneck(config)
    params = parameters(model)
    assert_answers(model, params, jax.jit(partial(in_two_halves, config))(params))


# Cross-attention -------------------------------------------------------------------------------------


def to_the_context(config, params):
    """Read the context with block 0; then the query's tokens attend to it, by the function of the table."""
    attend = find_attention(config.attention)
    x_BTE = affine(tokens(), params["params"]["embedding"])
    context, query = x_BTE[:, :-QUERY], x_BTE[:, -QUERY:]
    context, _ = apply(params, Block(config), "block_0", context, None)
    for block in (params["params"]["block_1"], params["params"]["block_2"]):
        own = block["attention"]
        queries, seen = (apply({"params": block}, LayerNorm(), "norm_attention", x) for x in (query, context))
        heads = [
            jnp.einsum("bte,ehd->bthd", each, own[name]["kernel"]) + own[name]["bias"]
            for name, each in (("query", queries), ("key", seen), ("value", seen))
        ]
        distance = np.arange(T)[:, None] - np.arange(T)[None]
        bias_HTT = own["position"][:, relative_buckets(T, T, bidirectional=False)]
        assert (distance[-QUERY:, :-QUERY] > 0).all()
        mixed, _ = attend(*heads, bias_HTT[:, -QUERY:, :-QUERY])
        query += jnp.einsum("bthd,hde->bte", mixed, own["out"]["kernel"]) + own["out"]["bias"]
        normed = apply({"params": block}, LayerNorm(), "norm_feedforward", query)
        up, down = block["feedforward"]["up"], block["feedforward"]["down"]
        query += affine(jax.nn.gelu(affine(normed, up)), down)
    return read_off(params, query)


def test_the_query_s_tokens_attend_to_the_context_alone(float64):
    config = shape(3, dtype="float64", panel_tokens=QUERY)
    model = CrossTransformer(config)
    params = parameters(model)
    assert jax.tree.map(jnp.shape, params) == jax.tree.map(jnp.shape, parameters(Transformer(config)))
    assert_answers(model, params, jax.jit(partial(to_the_context, config))(params))


@pytest.mark.parametrize("position", ["relative_both_ways", "rotary"])
def test_across_sequences_positions_are_those_of_the_whole(position, float64):
    """Linear attention's latent codes are scores, so those of cross-attention are among those of all."""
    config = shape(attention="linear", dtype="float64", position=position)
    x_BTE = jnp.asarray(draw(B, T, E), jnp.float64)
    whole, across = (SelfAttention(config, True, QUERY, crosses) for crosses in (False, True))
    params = drawn(whole, x_BTE, None)
    wanted, found = (jax.jit(each.apply)(params, x_BTE, None)[1] for each in (whole, across))
    assert found.shape == (B, H, QUERY, T - QUERY)
    assert_same_values([found], [wanted[..., :-QUERY]], 1e-12)


ODD = ({"layers": 1}, {"query_tokens": T, "panel_tokens": T}, {"causal": True})


@pytest.mark.parametrize(
    ("network", "changes"),
    [*product((Bottleneck, CrossTransformer), ODD), (CrossTransformer, {"attention": "sparse_coding"})],
)
def test_what_reads_the_context_first_needs_two_halves_and_a_context(network, changes):
    with pytest.raises(ConfigurationError, match="needs two layers that see all"):
        parameters(network(shape(**changes)))


@pytest.mark.parametrize("network", sorted(OURS))
def test_answers_depend_on_each_panel_of_a_puzzle(network):
    """What a network can't see of the context, it can't answer by."""
    board = read_board("sraven-easy-v1")
    small = {"layers": 2, "width": 32, "heads": 4, "qkv_width": 32, "mlp_width": 32}
    attention = "softmax" if network in ("transformer", "looped", "bottleneck", "cross") else "none"
    config = make_config(board, attention, network=network, **small)
    encoding, batch = encoding_of(board.task), board.task.sample("train", 0, 1)
    context = np.repeat(batch.context, 9, axis=0)
    for panel in range(8):  # row `panel` of the batch differs from the last one there alone
        context[panel, panel] = (context[panel, panel] + 1) % board.task.K
    seen = encoding.tokens({"context": jnp.asarray(context)})
    model = model_of(config, encoding)
    out = jax.jit(partial(model.apply, num_outputs=board.task.M))(drawn(model, seen), seen)
    assert (np.abs(out[:8] - out[8]).max(axis=(1, 2)) > 1e-4).all()


# Mixer -----------------------------------------------------------------------------------------------


def normed(vector, params):
    return (vector - vector.mean()) / np.sqrt(vector.var() + 1e-6) * params["scale"] + params["bias"]


def mlp(vector, params):
    return affine(gelu(affine(vector, params["up"])), params["down"])


def mixer_by_hand(config, params, instance):
    """The output of an instance ``[T, O]``, a token and a channel at a time."""
    x_TE = np.array([affine(token, params["embedding"]) for token in instance])
    for layer in range(config.layers):
        block = params[f"block_{layer}"]
        normed_TE = np.array([normed(token, block["norm_tokens"]) for token in x_TE])
        x_TE += np.array([mlp(channel, block["tokens"]) for channel in normed_TE.T]).T
        x_TE += np.array([mlp(normed(token, block["norm_channels"]), block["channels"]) for token in x_TE])
    return [affine(normed(token, params["norm"]), params["out"]) for token in x_TE]


def test_mixer_is_plain_loops(float64):
    config = mixer_shape(dtype="float64")
    model = Mixer(config)
    params = parameters(model)
    plain = jax.tree.map(np.asarray, params["params"])
    wanted = np.array([mixer_by_hand(config, plain, instance) for instance in np.asarray(tokens())])
    assert_answers(model, params, wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"return_codes": True}, "no latent codes"),
        ({"tokens": jnp.zeros((1, T - 1, IN))}, "11 tokens: a mixer of 12 takes no fewer"),
    ],
)
def test_what_a_mixer_hasnt_got_is_refused(options, message):
    given = {"tokens": tokens(), **options}
    assert_refused(message, jax.eval_shape, lambda: Mixer(mixer_shape()).init(jax.random.key(0), **given))


# The table -------------------------------------------------------------------------------------------


def test_names_that_are_taken_or_unknown():
    assert_refused("network 'mixer' is there already; choose another name", add_network, "mixer", Mixer)
    message = r"network='mixr': did you mean 'mixer'\? expected one of transformer, looped, mixer"
    assert_refused(f"{message}.*--import FILE.py brings one of your own", make_network, "mixr", mixer_shape())


@pytest.mark.parametrize(
    ("name", "attention", "message"),
    [
        ("transformer", "none", "attention='none': Transformer needs one, such as 'hyla'"),
        ("looped", "none", "attention='none': LoopedTransformer needs one, such as 'hyla'"),
        ("mixer", "hyla", "attention='hyla': Mixer has none; leave it out"),
    ],
)
def test_attention_where_there_is_one(name, attention, message):
    assert_refused(f"^{message}$", make_network, name, shape(attention=attention))


# Configurations --------------------------------------------------------------------------------------


GOLDEN = {
    "sraven-v1": "3137de23c9f625e6fa7557ed9a6792c8cdbd9118b872df3c95318790c18c7d4f",
    "fuzzylogic-v1": "89794ca36743d1979445621308ceb2b9242ebc6d2ded58e2519cd0c38efe5bc0",
}
"""Digests of configurations as they were before there was a field ``network``."""


def test_configurations_of_before_are_transformers_and_keep_their_digests():
    plain = make_config(read_board("sraven-v1"), "hyla")
    other = {"recipe": "paper-code", "seed": 3, "layers": 4, "optimiser": "adamw"}
    other = make_config(read_board("fuzzylogic-v1"), "softmax", **other)
    assert {each.board: each.digest for each in (plain, other)} == GOLDEN
    values = json.loads(json.dumps(values_of(plain)))
    later = {"network": "transformer", "optimiser": "adamw", "precision": "default"}
    assert not later.keys() & set(values) and read_config(values) == plain
    assert not any(f"--{name}" in train_command([plain]) for name in later)
    assert read_config({**values, **later}).digest == plain.digest
    others = {"optimiser": "other"}, {"precision": "high"}, {"network": "looped"}
    assert plain.digest not in {replace(plain, **each).digest for each in others}
    looped = replace(plain, network="looped")
    assert read_config(values_of(looped)) == looped
