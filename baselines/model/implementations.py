"""Implementations of self-attention: the first that suits a call computes it, else `reference`."""

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
        return_codes: whether to return latent codes.
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
    def arrays(self) -> tuple[Array, Array, Array]:
        """Query, key and value."""
        return self.query, self.key, self.value

    @property
    def is_bare(self) -> bool:
        """Whether there is neither bias nor dropout."""
        return self.bias is None and self.gate is None

    @property
    def has_all_outputs(self) -> bool:
        """Whether every token has an output: what is causal and fast counts queries from 0."""
        return self.query.shape[1] == self.key.shape[1]


Computed = tuple[Array, Array | None]
"""The output ``[B, A, H, V]`` of the type of the values, and the latent codes ``[B, H, A, T]`` or None."""


def reference(call: AttentionCall) -> Computed:
    """All pairs of positions at once: what suits every call."""
    A, T = call.query.shape[1], call.key.shape[1]
    mask = jnp.tri(A, T, T - A, dtype=jnp.bool_)[None, None] if call.causal else None
    out, codes = call.attention(*call.arrays, call.bias, mask, call.network, call.gate)
    return out.astype(call.value.dtype), codes if call.return_codes else None


def tiled(call: AttentionCall) -> Computed:
    """Tile by tile."""
    return tiled_attention(*call[:7], causal=call.causal, query_tile=call.tile, key_tile=call.tile), None


def _suits_tiled(call: AttentionCall) -> bool:
    return call.tile > 0 and (call.has_all_outputs or not call.causal)


def chunked(call: AttentionCall) -> Computed:
    """Causal linear attention, chunk by chunk."""
    return linear_chunked(*call.arrays, chunk=call.tile), None


def _suits_chunked(call: AttentionCall) -> bool:
    return call.tile > 0 and call.causal and call.is_bare and call.has_all_outputs


def lanes(call: AttentionCall) -> Computed:
    """Instances side by side in a CPU's vectors, without arrays of pairs."""
    from baselines.model.fast.lanes import lane_attention  # Numba, which only this one needs

    shape = call.query.shape[1], call.key.shape[1]
    bias = jnp.zeros((call.query.shape[2], *shape)) if call.bias is None else call.bias
    gate = jnp.ones(shape) if call.gate is None else call.gate
    return lane_attention(call.attention, *call.arrays, bias, gate), None


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


class Implementation(NamedTuple):
    """A way to compute self-attention.

    Attributes:
        suits: whether it can compute a call of an attention that names it, and should.
        compute: does.
    """

    suits: Callable[[AttentionCall], bool]
    compute: Callable[[AttentionCall], Computed]


IMPLEMENTATIONS: Mapping[str, Implementation] = {
    "chunked": Implementation(_suits_chunked, chunked),
    "tiled": Implementation(_suits_tiled, tiled),
    "lanes": Implementation(_suits_lanes, lanes),
}
"""What computes attentions besides `reference`, by the names that their entries have."""


def find_implementation(call: AttentionCall) -> Callable[[AttentionCall], Computed]:
    """Return what computes a call: the first that its attention names and that suits, else `reference`."""
    named = (IMPLEMENTATIONS[name] for name in call.attention.implementations)
    return next((each.compute for each in named if each.suits(call)), reference)
