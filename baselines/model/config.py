"""The shape of a transformer: a frozen configuration, checked on construction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax.numpy as jnp

from baselines.model.attention import ACTIVATIONS, MODULES, check_attention, with_implementation
from baselines.model.fast.layers import Dense, bfloat16_dot_general
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.names import look_up
from sraven.core.arguments import check_choice, check_integer, check_share
from sraven.core.errors import ConfigurationError

_POSITIVE = ("length", "layers", "width", "heads", "qkv_width", "mlp_width", "panel_tokens", "query_tokens")
_LIMIT = 1 << 24

POSITIONS = ("relative_one_way", "relative_both_ways", "rotary")
"""How positions enter: T5's relative bias, a table for each layer and head, with all buckets for earlier keys
(later ones share bucket 0 with the query's own), or with half of them for later keys; or rotary encoding."""


DENSE_PRECISIONS: Mapping[str, Any] = {"default": None, "bfloat16": bfloat16_dot_general}
"""Products of dense layers by name: JAX's, in whatever precision is set, or of inputs rounded to bfloat16."""


@dataclass(frozen=True)
class TransformerConfig:
    """The shape of a transformer.

    Attributes:
        inputs: I, numbers of a token that comes in; 0 with ``vocabulary``.
        outputs: O, numbers of a token that goes out; 0 with ``vocabulary``.
        length: T of the longest sequence, and as many buckets of relative positions.
        layers: blocks.
        width: E, of the embedding.
        heads: H.
        qkv_width: of queries, keys and values, summed over heads: H · D.
        mlp_width: F, of the feed-forward layer's hidden layer, or of each expert's.
        attention: a name of `baselines.model.attention.ATTENTION` or `MODULES`; ``none`` for a network
            that has none.
        activation: φ of its value network, a name of `baselines.model.attention.ACTIVATIONS`.
        feedforward: a name of `baselines.model.feedforward.FEEDFORWARD`.
        position: one of `POSITIONS`.
        causal: whether a token sees earlier ones and itself only.
        attention_dropout: share of pairs of positions dropped in training; the published code's is 0.1.
        vocabulary: 0 if tokens are vectors; else they are integers below it, and one table embeds
            them and, transposed, makes the outputs.
        tile: 0, or positions of a tile for long sequences, see `baselines.model.fast.tiles` and
            `baselines.model.fast.chunks`.
        dtype: ``float32`` or ``bfloat16``, what is computed in; or ``float64``, where JAX has it
            (``jax_enable_x64``): it distinguishes rounding from a wrong sum.
        dense_precision: a name of `DENSE_PRECISIONS`.
        panel_tokens: tokens of a panel, or of whatever else the sequence consists of; they follow each other.
        query_tokens: the last tokens, which ask: those of a third row, or the query point.
        rematerialise: whether the backward pass recomputes each block, so that no more than its
            input is kept until then: less memory on a GPU or TPU (on a CPU the compiler undoes that),
            about a third more to compute.

    Raises:
        ConfigurationError: (a ValueError) for values that don't fit.
    """

    inputs: int
    outputs: int
    length: int
    layers: int = 4
    width: int = 128
    heads: int = 16
    qkv_width: int = 64
    mlp_width: int = 256
    attention: str = "hyla"
    activation: str = "relu"
    feedforward: str = "mlp"
    position: str = "relative_one_way"
    causal: bool = False
    attention_dropout: float = 0.0
    vocabulary: int = 0
    tile: int = 0
    dtype: str = "float32"
    rematerialise: bool = False
    panel_tokens: int = 1
    query_tokens: int = 1
    dense_precision: str = "default"

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            check_integer(name, getattr(self, name), 1, _LIMIT)
        for name in ("vocabulary", "tile"):
            check_integer(name, getattr(self, name), 0, _LIMIT)
        for name in ("inputs", "outputs"):
            low, high = (0, 0) if self.vocabulary else (1, _LIMIT)
            check_integer(name, getattr(self, name), low, high, f"with vocabulary={self.vocabulary}")
        if self.qkv_width % self.heads:
            raise ConfigurationError(f"qkv_width={self.qkv_width}: expected a multiple of heads={self.heads}")
        check_attention(self.attention)
        if self.tile:
            hint = f"; tile={self.tile} needs one of these"
            look_up("attention", self.attention, with_implementation("tiled"), hint)
        if self.causal and self.attention in MODULES:
            raise ConfigurationError(
                f"attention={self.attention!r} with causal=True: its tokens all see each other"
            )
        look_up("activation", self.activation, ACTIVATIONS)
        look_up("feedforward", self.feedforward, FEEDFORWARD)
        exact = ("float64",) if jnp.result_type(float) == jnp.float64 else ()
        check_choice("dtype", self.dtype, ("float32", "bfloat16", *exact))
        check_choice("dense_precision", self.dense_precision, tuple(DENSE_PRECISIONS))
        if self.dense_precision != "default" and (self.dtype != "float32" or self.feedforward == "moe"):
            raise ConfigurationError(
                f"precision={self.dense_precision!r} with dtype={self.dtype!r} and "
                f"feedforward={self.feedforward!r}: expected float32 and no mixture of experts"
            )
        check_share("attention_dropout", self.attention_dropout, "such as 0.1")
        if check_choice("position", self.position, POSITIONS) != "rotary":
            fewest = 4 if self.position == "relative_both_ways" else 2
            check_integer("buckets", self.length, fewest, 1 << 20, "two for each direction at least")
        elif self.head_width % 2:
            raise ConfigurationError(
                f"head width {self.head_width}: rotary encoding turns pairs, so it must be even"
            )

    @property
    def dense(self) -> Callable[..., Dense]:
        """Makes a dense layer of this type and precision, given its width."""
        return partial(Dense, dtype=jnp.dtype(self.dtype), dot_general=DENSE_PRECISIONS[self.dense_precision])

    @property
    def head_width(self) -> int:
        """Width of one head's query, key and value: D."""
        return self.qkv_width // self.heads
