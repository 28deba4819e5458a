"""Attention as in the paper's section 2 and its ablations (Table A1): one table, `ATTENTION`.

Scores are query · key / √D + bias. An attention is two small parts: a normalisation, which makes
latent codes of the scores, and a value network, which mixes values with the latent codes. Its entry says
what else there is to it: weights of its own, and the faster implementations that compute it as well.

`figure_a1` is HYLA as the paper writes it. `Attention` is the same for any, in four steps: scores,
normalisation, dropout, value network. Its sums (`dot_scores`, `mix_values`, `mix_hyla`) are einsums as those
of the figure, with gradients written out in `baselines.model.products`.

On a CPU, `baselines.model.fast.lanes` computes the three of the paper in its place, by the same formulas.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.names import look_up
from baselines.model.products import (
    Activation,
    add_bias,
    dot_scores,
    mix_hyla,
    mix_values as mix_values,  # value networks of one's own use it, too
    softmax_over_keys,
)
from sraven.core.errors import ConfigurationError

Array = jax.Array

EPSILON = 1e-6
"""What RMSHead adds to the mean square."""

ACTIVATIONS: Mapping[str, Activation] = {
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "gelu": jax.nn.gelu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
}
"""The nonlinearities φ of value networks, by name; ``gelu`` is the tanh form."""


def figure_a1(
    query_BQHD: Array, key_BKHD: Array, value_BKHV: Array, activation: Activation = jax.nn.relu
) -> Array:
    """Return HYLA as the paper's Figure A1 has it (Algorithm 2, lines 5 to 10): ``[B, Q, H, V]``.

    The scores are over √D besides, as in the text, and RMSHead has its epsilon.
    """
    a_BHQK = jnp.einsum("bqhd,bkhd->bhqk", query_BQHD, key_BKHD) / jnp.sqrt(query_BQHD.shape[-1])
    a_BHQK = a_BHQK / jnp.sqrt(jnp.square(a_BHQK).mean(axis=1, keepdims=True) + EPSILON)
    z_BQKV = activation(jnp.einsum("bhqk,bkhv->bqkv", a_BHQK, value_BKHV))
    return jnp.einsum("bhqk,bqkv->bqhv", a_BHQK, z_BQKV)


class Codes(NamedTuple):
    """Latent codes: scores, times a factor that the heads share.

    RMSHead is such a factor and so is dropout; a value network may apply it to what it sums.

    Attributes:
        scores: float32 or better ``[B, H, Q, K]``, 0 where masked.
        scale: ``[B, Q, K]`` of the same type.
    """

    scores: Array
    scale: Array

    def product(self) -> Array:
        """Return the latent codes themselves, ``[B, H, Q, K]``."""
        return self.scores * self.scale[:, None]


class ValueNetwork(NamedTuple):
    """What a value network has besides latent codes and values.

    Attributes:
        activation: φ.
        weights: those that the attention declares, by name.
    """

    activation: Activation
    weights: Mapping[str, Array] = MappingProxyType({})


RELU = ValueNetwork(jax.nn.relu)
"""φ unless another is given."""

Normalise = Callable[[Array, Array | None], Codes]
Mix = Callable[[Codes, Array, ValueNetwork], Array]


class Weights(NamedTuple):
    """Weights that an attention has besides its projections.

    Attributes:
        axes: a letter for each: H for heads, D for a query's width, V for a value's.
        initialise: one of `jax.nn.initializers`.
    """

    axes: str
    initialise: Callable[..., Array]

    def shape(self, H: int, D: int, V: int) -> tuple[int, ...]:
        """Return the shape for these sizes."""
        sizes = {"H": H, "D": D, "V": V}
        return tuple(sizes[letter] for letter in self.axes)


@dataclass(frozen=True, eq=False)
class Attention:
    """An entry of `ATTENTION`, and the pure function that it stands for.

    Attributes:
        normalise: makes latent codes of scores and a mask.
        mix: the value network: latent codes, values ``[B, K, H, V]`` and a `ValueNetwork`, to
            ``[B, Q, H, V]``.
        weights: of its own, by name: parameters of a model.
        mixes: how often it sums over heads or keys with the latent codes, to count operations.
        implementations: the names in `baselines.model.implementations.IMPLEMENTATIONS` that compute it as
            well, the best first.
    """

    normalise: Normalise
    mix: Mix
    weights: Mapping[str, Weights] = field(default_factory=dict)
    mixes: int = 1
    implementations: tuple[str, ...] = ()

    def __call__(
        self,
        query_BQHD: Array,
        key_BKHD: Array,
        value_BKHV: Array,
        bias_HQK: Array | None = None,
        mask: Array | None = None,
        network: ValueNetwork = RELU,
        gate_QK: Array | None = None,
    ) -> tuple[Array, Array]:
        """Mix values with the latent codes of queries and keys, before the output projection.

        Queries may come from another sequence than keys and values. Products are of the arrays' own
        type (those of ``hyla_deep``'s network of float32 or better) and added up in float32 or better, in
        which normalisation and φ are computed; gradients are by reverse mode only.

        Args:
            query_BQHD: floating.
            key_BKHD: of the same type.
            value_BKHV: of the same type.
            bias_HQK: added to the scores before normalisation, or None.
            mask: bool, broadcasts to ``[B, H, Q, K]``; False means that a query doesn't see a key. The
                output of a query that sees none is 0.
            network: φ, and the attention's own weights.
            gate_QK: what dropout multiplies the latent codes by, see `dropout_gate`, or None.

        Returns:
            ``[B, Q, H, V]``, and the latent codes ``[B, H, Q, K]``: the normalised scores, before dropout;
            both float32 or better.

        Raises:
            ConfigurationError: for a normalisation that returns no `Codes`.
        """
        scores_BHQK = dot_scores(query_BQHD * query_BQHD.shape[-1] ** -0.5, key_BKHD)
        if bias_HQK is not None:
            scores_BHQK = add_bias(scores_BHQK, bias_HQK.astype(scores_BHQK.dtype))
        codes = self.normalise(scores_BHQK, mask)
        if not isinstance(codes, Codes):
            name = getattr(self.normalise, "__name__", "the normalisation")
            raise ConfigurationError(f"{name} returned {type(codes).__name__}; expected Codes(scores, scale)")
        kept = codes if gate_QK is None else codes._replace(scale=codes.scale * gate_QK)
        return self.mix(kept, value_BKHV, network), codes.product()


def dropout_gate(rate: float, key: Array, queries: int, keys: int, dtype: jnp.dtype) -> Array:
    """Return what attention dropout multiplies latent codes by: ``[Q, K]``, shared by batch and heads.

    A row depends on how far its query is from the last one, not on how many there are: the last queries
    alone are dropped as they are among all.

    Args:
        rate: share of pairs that become 0, below 1; the others are multiplied by 1 / (1 - rate).
        key: a JAX random key.
        queries: Q.
        keys: K.
        dtype: type of the result.
    """

    def draw(from_end: Array) -> Array:
        return jax.random.bernoulli(jax.random.fold_in(key, from_end), 1 - rate, (keys,))

    return jax.vmap(draw)(jnp.arange(queries, 0, -1)).astype(dtype) / (1 - rate)


# Normalisations: scores [B, H, Q, K] and a mask to Codes ------------------------------------------------


def _mask_scores(scores_BHQK: Array, mask: Array | None) -> Array:
    return scores_BHQK if mask is None else jnp.where(mask, scores_BHQK, 0)


def identity(scores_BHQK: Array, mask: Array | None) -> Codes:
    """Scores as they are, 0 where masked."""
    B, _, Q, K = scores_BHQK.shape
    return Codes(_mask_scores(scores_BHQK, mask), jnp.ones((B, Q, K), scores_BHQK.dtype))


def rms_head(scores_BHQK: Array, mask: Array | None) -> Codes:
    """RMSHead: a / √(mean of a² over heads + 1e-6), without a learnt scale."""
    scores_BHQK = _mask_scores(scores_BHQK, mask)
    return Codes(scores_BHQK, jax.lax.rsqrt(jnp.square(scores_BHQK).mean(axis=1) + EPSILON))


def softmax(scores_BHQK: Array, mask: Array | None) -> Codes:
    """Softmax over keys. Masked keys get 0, and all keys of a query that may see none."""
    if mask is None:
        return identity(softmax_over_keys(scores_BHQK), None)
    sees_any = mask.any(axis=-1, keepdims=True)
    # A row of -inf alone would be NaN, in its gradient too: rows without keys become rows of 0 first.
    fill = jnp.where(sees_any, -jnp.inf, 0).astype(scores_BHQK.dtype)
    weights_BHQK = softmax_over_keys(jnp.where(mask, scores_BHQK, fill))
    return identity(weights_BHQK, sees_any)


def rms_head_softmax(scores_BHQK: Array, mask: Array | None) -> Codes:
    """RMSHead, then softmax: how we read "HYLA + softmax" of Table A1."""
    return softmax(rms_head(scores_BHQK, mask).product(), mask)


# Value networks: latent codes and values [B, K, H, V] to [B, Q, H, V] ---------------------------------


def weighted_sum(codes: Codes, value_BKHV: Array, network: ValueNetwork) -> Array:
    """Σ_k a·v."""
    return mix_values(codes.product(), value_BKHV)


def nonlinear_value(codes: Codes, value_BKHV: Array, network: ValueNetwork) -> Array:
    """Σ_k a·φ(v)."""
    return mix_values(codes.product(), network.activation(value_BKHV))


def hyla(codes: Codes, value_BKHV: Array, network: ValueNetwork) -> Array:
    """Eq. 6: z[q,k] = φ(Σ_h a·v), then Σ_k a·z, as in `figure_a1`."""
    return mix_hyla(network.activation, codes.scores, codes.scale, value_BKHV)


def linear_hyla(codes: Codes, value_BKHV: Array, network: ValueNetwork) -> Array:
    """Eq. 6 with the identity for φ."""
    return mix_hyla(jax.nn.identity, codes.scores, codes.scale, value_BKHV)


def deep_hyla(codes: Codes, value_BKHV: Array, network: ValueNetwork) -> Array:
    """Eq. 10: a second layer, whose weights W' are mixed by the latent code as well."""
    codes_BHQK = codes.product()
    value_BKHV, deep_HVW = (x.astype(codes_BHQK.dtype) for x in (value_BKHV, network.weights["deep"]))
    first_BVQK = network.activation(jnp.einsum("bhqk,bkhv->bvqk", codes_BHQK, value_BKHV))
    weights_BVWQK = jnp.einsum("bhqk,hvw->bvwqk", codes_BHQK, deep_HVW)
    second_BWQK = network.activation((weights_BVWQK * first_BVQK[:, :, None]).sum(axis=1))
    return jnp.einsum("bhqk,bwqk->bqhw", codes_BHQK, second_BWQK)


# The table --------------------------------------------------------------------------------------------

# Fan-in H · V: it is the sum over heads that this layer's inputs enter.
_DEEP = {"deep": Weights("HVV", jax.nn.initializers.lecun_normal(in_axis=(0, 1), out_axis=2))}

ATTENTION: dict[str, Attention] = {
    "softmax": Attention(softmax, weighted_sum, implementations=("lanes",)),
    "linear": Attention(identity, weighted_sum, implementations=("chunked", "tiled", "lanes")),
    "hyla": Attention(rms_head, hyla, mixes=2, implementations=("tiled", "lanes")),
    "linear_rmshead": Attention(rms_head, weighted_sum, implementations=("tiled",)),
    "linear_rmshead_nonlinear": Attention(rms_head, nonlinear_value, implementations=("tiled",)),
    "hyla_no_rmshead": Attention(identity, hyla, mixes=2, implementations=("tiled", "lanes")),
    "hyla_linear": Attention(rms_head, linear_hyla, mixes=2, implementations=("tiled", "lanes")),
    "hyla_linear_no_rmshead": Attention(identity, linear_hyla, mixes=2, implementations=("tiled", "lanes")),
    "hyla_softmax": Attention(softmax, hyla, mixes=2),
    "hyla_rmshead_softmax": Attention(rms_head_softmax, hyla, mixes=2),
    "hyla_deep": Attention(rms_head, deep_hyla, weights=_DEEP, mixes=2),
}
"""The attentions by name. An implementation besides the reference needs that it fits: tiles, that the
normalisation looks at one pair of positions at a time; chunks, that it is linear attention.

Rows of Table A1 that are named otherwise there: ``hyla_linear`` is HYLA - nonlinearity,
``hyla_softmax`` is HYLA - RMSHead + softmax, and ``hyla_rmshead_softmax`` is HYLA + softmax, which the
paper doesn't define: we read it as a softmax on top of RMSHead. MoE is a feed-forward layer, see
`baselines.model.feedforward`.
"""

MODULES: dict[str, str] = {
    "dual": "baselines.model.dual_attention:DualAttention",
    "gated_delta": "baselines.model.gated_delta:GatedDeltaAttention",
    "hypermlp": "baselines.model.hypermlp:HyperMLPAttention",
    "sparse_coding": "baselines.model.sparse_coding:SparseCodingAttention",
}
"""Attentions that aren't functions of queries, keys and values: where their Flax module is. It takes the
place and the arguments of `baselines.model.self_attention.SelfAttention`, but for tiles."""

NO_ATTENTION = "none"
"""The attention of a network that has none."""


def check_attention(name: str) -> None:
    """Check the name of an attention, or of none.

    Raises:
        ConfigurationError: (a ValueError) for an unknown name, with the nearest ones.
    """
    known: dict[str, Any] = {**ATTENTION, **MODULES, NO_ATTENTION: None}
    look_up("attention", name, known, "; --import FILE.py brings one of your own")


def find_module(name: str) -> Any:
    """Return the module of an attention of `MODULES`, or None for one of `ATTENTION`."""
    return resolve_name(MODULES[name]) if name in MODULES else None


def add_attention(name: str, attention: Attention) -> None:
    """Add an attention to `ATTENTION`, so that models, training and the command line know it.

    Args:
        name: a new one.
        attention: its normalisation and its value network, with its own weights if it has any.

    Raises:
        ConfigurationError: (a ValueError) for a name that is taken.
    """
    if name in ATTENTION or name in MODULES or name == NO_ATTENTION:
        raise ConfigurationError(f"attention {name!r} is there already; choose another name")
    ATTENTION[name] = attention


def find_attention(name: str) -> Attention:
    """Return the attention of a name.

    Raises:
        ConfigurationError: (a ValueError) for an unknown name, with the nearest ones.
    """
    return look_up("attention", name, ATTENTION, "; --import FILE.py brings one of your own")


def with_implementation(name: str) -> dict[str, Attention]:
    """Return the attentions that one of `baselines.model.implementations.IMPLEMENTATIONS` computes."""
    return {each: attention for each, attention in ATTENTION.items() if name in attention.implementations}
