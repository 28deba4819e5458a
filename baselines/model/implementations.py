"""What computes a self-attention faster than `baselines.model.attention`, where it suits a call."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import Attention, ValueNetwork
from baselines.model.fast.chunks import linear_chunked
from baselines.model.fast.tiles import tiled_attention

Array = jax.Array


class AttentionCall(NamedTuple):
    """What a self-attention is given.

    Attributes:
        attention: which.
        query: ``[B, A, H, D]``, of the last A of T tokens: those that have an output.
        key: ``[B, T, H, D]``.
        value: ``[B, T, H, V]``.
        bias: ``[H, A, T]`` or None.
        network: φ and the attention's own weights.
        gate: what dropout multiplies latent codes by, ``[A, T]``, or None.
        causal: whether a token sees earlier ones and itself only.
        tile: positions of a tile, 0 for the whole.
        return_codes: whether latent codes are wanted, too: implementations return None for them.
    """

    attention: Attention
    query: Array
    key: Array
    value: Array
    bias: Array | None
    network: ValueNetwork
    gate: Array | None
    causal: bool = False
    tile: int = 0
    return_codes: bool = False

    @property
    def has_all_outputs(self) -> bool:
        """Whether every token has an output: what is causal and fast counts queries from 0."""
        return self.query.shape[1] == self.key.shape[1]


def _suits_tiled(call: AttentionCall) -> bool:
    return call.tile > 0 and (call.has_all_outputs or not call.causal)


def _tiled(call: AttentionCall) -> Array:
    given = call.attention, call.query, call.key, call.value, call.bias, call.network, call.gate
    return tiled_attention(*given, causal=call.causal, query_tile=call.tile, key_tile=call.tile)


def _suits_chunked(call: AttentionCall) -> bool:
    is_bare = call.bias is None and call.gate is None
    return call.tile > 0 and call.causal and is_bare and call.has_all_outputs


def _chunked(call: AttentionCall) -> Array:
    return linear_chunked(call.query, call.key, call.value, chunk=call.tile)


def _suits_lanes(call: AttentionCall) -> bool:
    if jax.default_backend() != "cpu" or call.query.dtype != jnp.float32:
        return False
    if call.causal or call.tile or call.return_codes:
        return False
    if call.attention.mixes == 2 and call.network.activation is not jax.nn.relu:
        return False
    from baselines.model.fast.foreign import is_known
    from baselines.model.fast.lanes import WIDEST
    from baselines.model.fast.vectors import LANES

    instances, _, _, width = call.query.shape
    return instances >= LANES and width == call.value.shape[3] <= WIDEST and is_known()


def _lanes(call: AttentionCall) -> Array:
    from baselines.model.fast.lanes import lane_attention  # Numba, which only this one needs

    bias = 0 if call.bias is None else call.bias
    gate = 1 if call.gate is None else call.gate
    return lane_attention(call.attention, call.query, call.key, call.value, bias, gate)


class Implementation(NamedTuple):
    """A way to compute self-attention.

    Attributes:
        suits: whether it can compute a call of an attention that names it, and should.
        compute: returns the output ``[B, A, H, V]`` of the type of the values.
    """

    suits: Callable[[AttentionCall], bool]
    compute: Callable[[AttentionCall], Array]


IMPLEMENTATIONS: Mapping[str, Implementation] = {
    "chunked": Implementation(_suits_chunked, _chunked),
    "tiled": Implementation(_suits_tiled, _tiled),
    "lanes": Implementation(_suits_lanes, _lanes),
}
"""By the names that attentions' entries have: causal linear attention chunk by chunk, any tile by tile, and
instances side by side in a CPU's vectors, without arrays of pairs."""


def find_implementation(call: AttentionCall) -> Implementation | None:
    """Return the first that a call's attention names and that suits it, None if none does."""
    named = (IMPLEMENTATIONS[name] for name in call.attention.implementations)
    return next((each for each in named if each.suits(call)), None)
