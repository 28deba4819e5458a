"""The forms in which self-attention can be computed: the first that suits a call computes it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import find_attention
from baselines.model.config import TransformerConfig
from baselines.model.hyla_tiled import hyla_tiled
from baselines.model.linear_chunked import linear_chunked
from baselines.model.softmax_cudnn import cudnn_applies, device_capability, softmax_fused

Array = jax.Array


class Call(NamedTuple):
    """What a self-attention is given and asked for.

    Attributes:
        config: the transformer's.
        query: ``[B, A, H, D]``, of the last A of T tokens: those whose output is asked for.
        key: ``[B, T, H, D]``.
        value: ``[B, T, H, V]``.
        bias: ``[H, A, T]`` or None.
        mask: bool, broadcasts to ``[B, H, A, T]``, or None; besides causality.
        dropout_key: a JAX random key, or None to drop nothing.
        network: what else the value network needs, as arguments of `find_attention`'s functions.
        return_scores: whether latent codes are asked for.
    """

    config: TransformerConfig
    query: Array
    key: Array
    value: Array
    bias: Array | None
    mask: Array | None
    dropout_key: Array | None
    network: dict[str, Any]
    return_scores: bool

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Query, key and value."""
        return self.query, self.key, self.value

    @property
    def options(self) -> dict[str, Any]:
        """The value network's and dropout's."""
        if self.dropout_key is None:
            return self.network
        dropout = {"dropout_rate": self.config.attention_dropout, "dropout_key": self.dropout_key}
        return self.network | dropout

    @property
    def is_bare(self) -> bool:
        """Whether there is neither bias nor mask nor dropout."""
        drops = self.dropout_key is not None and self.config.attention_dropout > 0
        return self.bias is None and self.mask is None and not drops

    @property
    def asks_all(self) -> bool:
        """Whether the output of every token is asked for: forms that are causal count queries from 0."""
        return self.query.shape[1] == self.key.shape[1]


class Form(NamedTuple):
    """A way to compute self-attention.

    Attributes:
        name: what it is called.
        suits: whether it can compute a call, and should.
        attend: returns ``[B, A, H, V]``, and the latent codes ``[B, H, A, T]`` or None.
    """

    name: str
    suits: Callable[[Call], bool]
    attend: Callable[[Call], tuple[Array, Array | None]]


def _suits_chunked(call: Call) -> bool:
    config = call.config
    fits = config.attention == "linear" and config.causal and call.is_bare and call.asks_all
    return config.tile > 0 and fits


def _chunked(call: Call) -> tuple[Array, None]:
    return linear_chunked(*call.arrays, chunk=call.config.tile)[0], None


def _suits_tiled(call: Call) -> bool:
    return call.config.tile > 0 and (call.asks_all or not call.config.causal)


def _tiled(call: Call) -> tuple[Array, None]:
    config = call.config
    tiles = {"query_tile": config.tile, "key_tile": config.tile, "causal": config.causal}
    options = tiles | call.options
    return hyla_tiled(*call.arrays, call.bias, call.mask, variant=config.attention, **options), None


def _suits_cudnn(call: Call) -> bool:
    if call.config.attention != "softmax" or call.return_scores or not (call.is_bare and call.asks_all):
        return False
    _, tokens, _, width = call.query.shape
    return cudnn_applies(
        backend=jax.default_backend(),
        capability=device_capability(),
        dtype=call.query.dtype,
        tokens=tokens,
        width=width,
    )


def _cudnn(call: Call) -> tuple[Array, None]:
    return softmax_fused(*call.arrays, causal=call.config.causal), None


def _suits_plain(call: Call) -> bool:
    return True


def _plain(call: Call) -> tuple[Array, Array | None]:
    mask = call.mask
    if call.config.causal:
        asked, tokens = call.query.shape[1], call.key.shape[1]
        earlier_AT = jnp.tri(asked, tokens, tokens - asked, dtype=jnp.bool_)
        mask = earlier_AT if mask is None else mask & earlier_AT
    attention = find_attention(call.config.attention)
    found = attention(*call.arrays, call.bias, mask, return_scores=call.return_scores, **call.options)
    return found if call.return_scores else (found, None)


FORMS = (
    Form("chunked", _suits_chunked, _chunked),
    Form("tiled", _suits_tiled, _tiled),
    Form("cudnn", _suits_cudnn, _cudnn),
    Form("plain", _suits_plain, _plain),
)
"""All forms; the last suits every call."""


def find_form(call: Call) -> Form:
    """Return the first form that suits a call."""
    return next(form for form in FORMS if form.suits(call))
