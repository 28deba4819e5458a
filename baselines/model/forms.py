"""The forms in which self-attention can be computed: the first of an attention's that suits a call."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import (
    ATTENTION,
    Attention,
    Edit,
    Network,
    attend,
    dropout_gate,
    identity,
    linear_hyla,
)
from baselines.model.devices import cudnn_applies, device_capability, pallas_applies
from baselines.model.hyla_tiled import tiled_attention
from baselines.model.linear_chunked import linear_chunked
from baselines.model.mixing import accumulator
from baselines.model.normalisation import rms_head
from baselines.model.softmax_cudnn import softmax_fused
from sraven.core.ground.errors import ConfigurationError

Array = jax.Array


class Call(NamedTuple):
    """What a self-attention is given and asked for; arrays fit, see `baselines.model.checks`.

    Attributes:
        attention: which.
        query: ``[B, A, H, D]``, of the last A of T tokens: those whose output is asked for.
        key: ``[B, T, H, D]``.
        value: ``[B, T, H, V]``.
        bias: ``[H, A, T]`` or None.
        mask: bool with four axes, broadcasts to ``[B, H, A, T]``, or None; besides causality.
        network: φ and the attention's own weights.
        causal: whether a token sees earlier ones and itself only.
        tile: positions of a tile, 0 for the whole.
        dropout_rate: share of pairs that are dropped, 0 for none.
        dropout_key: a JAX random key, if it isn't 0.
        return_scores: whether latent codes are asked for.
        fused: whether fused kernels may compute tiles.
        edit_codes: of latent codes, or None, see `baselines.model.attention.attend`; in the plain form alone.
    """

    attention: Attention
    query: Array
    key: Array
    value: Array
    bias: Array | None
    mask: Array | None
    network: Network
    causal: bool = False
    tile: int = 0
    dropout_rate: float = 0.0
    dropout_key: Array | None = None
    return_scores: bool = False
    fused: bool = False
    edit_codes: Edit | None = None

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Query, key and value."""
        return self.query, self.key, self.value

    @property
    def gate(self) -> Array | None:
        """What dropout multiplies latent codes by, ``[A, T]``, or None."""
        sizes = self.query.shape[1], self.key.shape[1]
        return dropout_gate(self.dropout_rate, self.dropout_key, *sizes, accumulator(self.query.dtype))

    @property
    def is_bare(self) -> bool:
        """Whether there is neither bias nor mask nor dropout."""
        return self.bias is None and self.mask is None and not self.dropout_rate

    @property
    def asks_all(self) -> bool:
        """Whether the output of every token is asked for: forms that are causal count queries from 0."""
        return self.query.shape[1] == self.key.shape[1]


Computed = tuple[Array, Array | None]
"""The output ``[B, A, H, V]`` of the type of the values, and the latent codes ``[B, H, A, T]`` or None."""


def plain(call: Call) -> Computed:
    """All pairs of positions at once: what suits every call."""
    mask, asked, tokens = call.mask, call.query.shape[1], call.key.shape[1]
    if call.causal:
        earlier_AT = jnp.tri(asked, tokens, tokens - asked, dtype=jnp.bool_)
        mask = earlier_AT[None, None] if mask is None else mask & earlier_AT
    out, codes = attend(
        call.attention, *call.arrays, call.bias, mask, call.network, call.gate, call.edit_codes
    )
    return out.astype(call.value.dtype), codes if call.return_scores else None


def tiled(call: Call) -> Computed:
    """Tile by tile."""
    found = tiled_attention(
        call.attention,
        *call.arrays,
        call.bias,
        call.mask,
        call.network,
        call.gate,
        causal=call.causal,
        query_tile=call.tile,
        key_tile=call.tile,
    )
    return found, None


def pallas(call: Call) -> Computed:
    """HYLA in fused kernels of a GPU."""
    from baselines.model.hyla_pallas import hyla_pallas  # takes a third of a second, which a CPU can spare

    attention = call.attention
    activation = identity if attention.mix is linear_hyla else call.network.activation
    out = hyla_pallas(
        *call.arrays,
        call.bias,
        call.gate,
        activation=activation,
        normalise=attention.normalise is rms_head,
        causal=call.causal,
    )
    return out, None


def chunked(call: Call) -> Computed:
    """Causal linear attention, chunk by chunk."""
    return linear_chunked(*call.arrays, chunk=call.tile)[0], None


def lanes(call: Call) -> Computed:
    """Instances side by side in a CPU's vectors, without arrays of pairs."""
    from baselines.model.fast.lanes import attend_in_lanes  # Numba, which only this form needs

    name = next(name for name, entry in ATTENTION.items() if entry is call.attention)
    sizes = call.query.shape[1], call.key.shape[1]
    bias = jnp.zeros((call.query.shape[2], *sizes)) if call.bias is None else call.bias
    gate = jnp.ones(sizes) if call.gate is None else call.gate
    return attend_in_lanes(name, *call.arrays, bias, gate), None


def cudnn(call: Call) -> Computed:
    """Softmax attention in cuDNN's kernels."""
    return softmax_fused(*call.arrays, causal=call.causal), None


def _suits_tiled(call: Call) -> bool:
    return call.tile > 0 and (call.asks_all or not call.causal)


def _suits_pallas(call: Call) -> bool:
    if not call.fused or call.mask is not None or not _suits_tiled(call):
        return False
    _, _, heads, width = call.query.shape
    return pallas_applies(
        backend=jax.default_backend(),
        capability=device_capability(),
        devices=jax.device_count(),
        dtype=call.query.dtype,
        heads=heads,
        width=width,
    )


def _suits_chunked(call: Call) -> bool:
    return call.tile > 0 and call.causal and call.is_bare and call.asks_all


def _suits_lanes(call: Call) -> bool:
    if jax.default_backend() != "cpu" or jax.device_count() > 1 or call.query.dtype != jnp.float32:
        return False
    if call.causal or call.tile or call.return_scores or call.mask is not None:
        return False
    if call.attention.mixes == 2 and call.network.activation is not jax.nn.relu:
        return False
    from baselines.model.fast.lanes import LANES, WIDEST, is_known

    instances, _, _, width = call.query.shape
    return instances >= LANES and width == call.value.shape[3] <= WIDEST and is_known()


def _suits_cudnn(call: Call) -> bool:
    if call.return_scores or not (call.is_bare and call.asks_all):
        return False
    _, tokens, _, width = call.query.shape
    return cudnn_applies(
        backend=jax.default_backend(),
        capability=device_capability(),
        dtype=call.query.dtype,
        tokens=tokens,
        width=width,
    )


class Form(NamedTuple):
    """A way to compute self-attention.

    Attributes:
        suits: whether it can compute a call of an attention that names it, and should.
        compute: does.
    """

    suits: Callable[[Call], bool]
    compute: Callable[[Call], Computed]


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "cudnn": Form(_suits_cudnn, cudnn),
        "pallas": Form(_suits_pallas, pallas),
        "chunked": Form(_suits_chunked, chunked),
        "tiled": Form(_suits_tiled, tiled),
        "lanes": Form(_suits_lanes, lanes),
    }
)
"""The forms besides the plain one, by the names that attentions call them."""


def find_form(call: Call) -> Callable[[Call], Computed]:
    """Return what computes a call: the first form that its attention names and that suits, else `plain`.

    Raises:
        ConfigurationError: (a ValueError) for latent codes to edit in tiles, where there are none.
    """
    if call.edit_codes is not None:
        if call.tile:
            raise ConfigurationError(
                f"tile={call.tile} with edit_codes; tiles keep no latent codes, so use tile=0"
            )
        return plain
    forms = (FORMS[name] for name in call.attention.forms)
    return next((form.compute for form in forms if form.suits(call)), plain)
