"""Attention as in the paper's section 2 and its ablations (Table A1): one table of pure functions.

Scores are query · key / √D + bias. An attention is two small parts: a normalisation, which makes
latent codes of the scores, and a value network, which mixes values with the latent codes.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from baselines.model.checks import check_arrays, check_deep_weights
from baselines.model.mixing import accumulator, add_bias, dot_scores, mix_hyla, mix_values
from baselines.model.names import look_up
from baselines.model.normalisation import Codes, as_they_are, rms_head, rms_head_softmax, softmax
from sraven.core.ground.errors import ConfigurationError

Array = jax.Array
Activation = Callable[[Array], Array]

ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "relu": jax.nn.relu,
        "silu": jax.nn.silu,
        "gelu": jax.nn.gelu,
        "sigmoid": jax.nn.sigmoid,
        "tanh": jnp.tanh,
    }
)
"""The nonlinearities φ of value networks, by name; ``gelu`` is the tanh form."""


class Network(NamedTuple):
    """What a value network has besides latent codes and values.

    Attributes:
        activation: φ.
        deep_weights: ``[H, V, V]``, the second layer's in Eq. 10, or None.
    """

    activation: Activation
    deep_weights: Array | None


Normalise = Callable[[Array, Array | None], Codes]
Mix = Callable[[Codes, Array, Network], Array]


# Value networks: latent codes and values [B, K, H, V] to [B, Q, H, V] ---------------------------------


def _weighted_sum(codes: Codes, value_BKHV: Array, network: Network) -> Array:
    """Σ_k a·v."""
    return mix_values(codes.product(), value_BKHV)


def _nonlinear_value(codes: Codes, value_BKHV: Array, network: Network) -> Array:
    """Σ_k a·φ(v)."""
    return mix_values(codes.product(), network.activation(value_BKHV))


def _hyla(codes: Codes, value_BKHV: Array, network: Network) -> Array:
    """Eq. 6."""
    return mix_hyla(network.activation, codes.scores, codes.scale, value_BKHV)


def _linear_hyla(codes: Codes, value_BKHV: Array, network: Network) -> Array:
    """Eq. 6 with the identity for φ."""
    return mix_hyla(_identity, codes.scores, codes.scale, value_BKHV)


def _identity(x: Array) -> Array:
    return x


def _deep_hyla(codes: Codes, value_BKHV: Array, network: Network) -> Array:
    """Eq. 10: a second layer, whose weights W' are mixed by the latent code as well."""
    assert network.deep_weights is not None
    codes_BHQK = codes.product()
    value_BKHV, deep_HVW = (x.astype(codes_BHQK.dtype) for x in (value_BKHV, network.deep_weights))
    first_BVQK = network.activation(jnp.einsum("bhqk,bkhv->bvqk", codes_BHQK, value_BKHV))
    weights_BVWQK = jnp.einsum("bhqk,hvw->bvwqk", codes_BHQK, deep_HVW)
    second_BWQK = network.activation((weights_BVWQK * first_BVQK[:, :, None]).sum(axis=1))
    return jnp.einsum("bhqk,bwqk->bqhw", codes_BHQK, second_BWQK)


# The table --------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """What an attention is made of."""

    normalise: Normalise
    mix: Mix


PARTS: Mapping[str, Parts] = MappingProxyType(
    {
        "softmax": Parts(softmax, _weighted_sum),
        "linear": Parts(as_they_are, _weighted_sum),
        "hyla": Parts(rms_head, _hyla),
        "linear_rmshead": Parts(rms_head, _weighted_sum),
        "linear_rmshead_nonlinear": Parts(rms_head, _nonlinear_value),
        "hyla_no_rmshead": Parts(as_they_are, _hyla),
        "hyla_linear": Parts(rms_head, _linear_hyla),
        "hyla_linear_no_rmshead": Parts(as_they_are, _linear_hyla),
        "hyla_softmax": Parts(softmax, _hyla),
        "hyla_rmshead_softmax": Parts(rms_head_softmax, _hyla),
        "hyla_deep": Parts(rms_head, _deep_hyla),
    }
)
"""Normalisation and value network of each of the paper's attentions, by name."""


def attend(
    parts: Parts,
    query_BQHD: Array,
    key_BKHD: Array,
    value_BKHV: Array,
    bias_HQK: Array | None,
    mask: Array | None,
    network: Network,
    gate_QK: Array | None,
) -> tuple[Array, Array]:
    """Return an attention's output and its latent codes, for arguments that have been checked.

    Args:
        parts: of the attention.
        query_BQHD: queries.
        key_BKHD: keys.
        value_BKHV: values.
        bias_HQK: added to the scores, or None.
        mask: bool with four axes, broadcasts to ``[B, H, Q, K]``, or None.
        network: φ, and the weights that Eq. 10 has besides.
        gate_QK: what dropout multiplies the latent codes by, or None.

    Returns:
        ``[B, Q, H, V]``, and ``[B, H, Q, K]`` before dropout; both float32 or better.
    """
    scores_BHQK = dot_scores(query_BQHD * query_BQHD.shape[-1] ** -0.5, key_BKHD)
    if bias_HQK is not None:
        scores_BHQK = add_bias(scores_BHQK, bias_HQK.astype(scores_BHQK.dtype))
    codes = parts.normalise(scores_BHQK, mask)
    kept = codes if gate_QK is None else codes._replace(scale=codes.scale * gate_QK)
    return parts.mix(kept, value_BKHV, network), codes.product()


def dropout_gate(rate: float, key: Array | None, queries: int, keys: int, dtype: jnp.dtype) -> Array | None:
    """Return what attention dropout multiplies latent codes by: ``[Q, K]``, shared by batch and heads.

    A row depends on how far its query is from the last one, not on how many there are: the last queries
    alone are dropped as they are among all.

    Args:
        rate: share of pairs that become 0, from 0 to below 1; the others are multiplied by
            1 / (1 - rate). None is returned for 0.
        key: a JAX random key.
        queries: Q.
        keys: K.
        dtype: type of the result.

    Raises:
        ConfigurationError: for another rate, or a rate without a key.
    """
    if not 0 <= rate < 1:
        raise ConfigurationError(f"dropout_rate={rate!r}: expected a share from 0 to below 1")
    if rate == 0:
        return None
    if key is None:
        raise ConfigurationError(f"dropout_rate={rate!r} needs dropout_key, a key of jax.random")

    def draw(from_end: Array) -> Array:
        return jax.random.bernoulli(jax.random.fold_in(key, from_end), 1 - rate, (keys,))

    return jax.vmap(draw)(jnp.arange(queries, 0, -1)).astype(dtype) / (1 - rate)


def find_network(activation: str, deep_weights: Array | None) -> Network:
    """Return a value network's φ by its name, with its weights.

    Raises:
        ConfigurationError: for an unknown name.
    """
    return Network(look_up("activation", activation, ACTIVATIONS), deep_weights)


class AttentionFunction(Protocol):
    """An entry of `ATTENTION`."""

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        bias: Array | None = None,
        mask: Array | None = None,
        *,
        activation: str = "relu",
        deep_weights: Array | None = None,
        dropout_rate: float = 0.0,
        dropout_key: Array | None = None,
        return_scores: bool = False,
    ) -> Any:
        """Mix values with the latent codes of queries and keys, before the output projection.

        Queries may come from another sequence than keys and values. Computed and accumulated in
        float32 or better; gradients are by reverse mode only.

        Args:
            query: floating ``[B, Q, H, D]``.
            key: ``[B, K, H, D]`` of the same type.
            value: ``[B, K, H, V]`` of the same type.
            bias: ``[H, Q, K]``, added to the scores before normalisation.
            mask: bool, broadcasts to ``[B, H, Q, K]``; False means that a query doesn't see a key. The
                output of a query that sees none is 0.
            activation: φ, a name of `ACTIVATIONS`; plays no part where the table has none.
            deep_weights: ``[H, V, V]``, for ``hyla_deep`` alone: W' of Eq. 10.
            dropout_rate: share of pairs whose latent codes become 0, the same ones for all heads and
                instances, as in the paper's published code. In HYLA it enters both mixes.
            dropout_key: a JAX random key, if ``dropout_rate`` isn't 0.
            return_scores: whether to return the latent codes as well.

        Returns:
            ``[B, Q, H, V]`` of the type of the values; with ``return_scores`` a pair of it and the
            latent codes, the normalised scores ``[B, H, Q, K]``, before dropout.

        Raises:
            ConfigurationError: (a ValueError) for shapes or types that don't fit, or an unknown φ.
        """


def _make_attention(name: str, parts: Parts) -> AttentionFunction:
    def attention(
        query: Array,
        key: Array,
        value: Array,
        bias: Array | None = None,
        mask: Array | None = None,
        *,
        activation: str = "relu",
        deep_weights: Array | None = None,
        dropout_rate: float = 0.0,
        dropout_key: Array | None = None,
        return_scores: bool = False,
    ) -> Any:
        mask = check_arrays(query, key, value, bias, mask)
        check_deep_weights(name, deep_weights, value)
        sizes = query.shape[1], key.shape[1]
        gate_QK = dropout_gate(dropout_rate, dropout_key, *sizes, accumulator(query.dtype))
        network = find_network(activation, deep_weights)
        out, codes = attend(parts, query, key, value, bias, mask, network, gate_QK)
        out = out.astype(value.dtype)
        return (out, codes) if return_scores else out

    attention.__name__ = attention.__qualname__ = name
    attention.__doc__ = AttentionFunction.__call__.__doc__
    return attention


ATTENTION: dict[str, AttentionFunction] = {}
"""The attentions by name; `AttentionFunction` has their arguments.

Rows of Table A1 that are named otherwise there: ``hyla_linear`` is HYLA - nonlinearity,
``hyla_softmax`` is HYLA - RMSHead + softmax, and ``hyla_rmshead_softmax`` is HYLA + softmax, which the
paper doesn't define: we read it as a softmax on top of RMSHead. MoE is a feed-forward layer, see
`baselines.model.feedforward`.
"""


def add_attention(name: str, parts: Parts) -> None:
    """Add an attention to `ATTENTION`, so that models, training and the command line know it.

    Args:
        name: a new one.
        parts: its normalisation and its value network.

    Raises:
        ConfigurationError: (a ValueError) for a name that is taken.
    """
    if name in ATTENTION:
        raise ConfigurationError(f"attention {name!r} is there already; choose another name")
    ATTENTION[name] = _make_attention(name, parts)


for _name, _parts in PARTS.items():
    add_attention(_name, _parts)


def find_attention(name: str) -> AttentionFunction:
    """Return the attention of a name.

    Raises:
        ConfigurationError: (a ValueError) for an unknown name, with the nearest ones.
    """
    return look_up("attention", name, ATTENTION)
