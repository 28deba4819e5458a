"""A network that composes: it reads each feature by itself, whatever the features beside it are.

A feature of SRAVEN is at another position in each column. So for position p of the third column, i of the
first and j of the second, networks that all triples share read three columns as those of one feature,

    code[p,i,j] = row(x₁[i], y₁[j], z₁[p]) + row(x₂[i], y₂[j], z₂[p])
    rule[p,i,j], score[p,i,j] = infer(code[p,i,j])
    logits[p,i,j] = answer(rule[p,i,j], x₃[i], y₃[j])

with x, y, z for the columns' symbols in rows 1 to 3. ``row``, ``infer`` and ``answer`` are MLPs of two
hidden layers of E with GELU; codes and rules have E / 2 numbers. Two permutations σ and τ give each p an i
and a j of its own, and the answer is a mixture over all (M!)² pairs of them,

    P(σ,τ) = softmax of Σ_p score[p,σ(p),τ(p)]
    P(z₃[p]) = Σ_στ P(σ,τ) softmax(logits[p,σ(p),τ(p)])

whose logarithm is the output; the loss is its cross-entropy, as of other networks. That features share
networks is the idea of the Scattering Compositional Learner (Wu, Dong, Grosse and Ba 2020, arXiv 2007.04212).
This one is told that features are separate, which others have to find out: it is a ceiling that is learnt,
not a rival. `COMPOSING` has it without each of its parts.

Letters in array names: P, I, J the M positions of columns 3, 1, 2; A the I · J pairs of one position; N pairs
of permutations; K symbols; C numbers of a code; 3 and 2 rows.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from numpy.typing import NDArray

from baselines.model.attention import NO_ATTENTION
from baselines.model.config import TransformerConfig
from baselines.model.fast.layers import gelu
from baselines.model.products import accumulator
from sraven.core.errors import ConfigurationError

Array = jax.Array

LARGEST_M = 4
"""Positions for which all pairs of permutations are summed over: 576 of them; for five there are 14,400."""

_LEAST = 1e-30
"""Probability below which that of a triple isn't told from it: 0 has no logarithm."""


def permutation_pairs(M: int) -> NDArray[np.bool_]:
    """Return the (M!)² pairs of permutations ``[N, P, I, J]``: whether i = σ(p) and j = τ(p)."""
    one_hot = np.eye(M, dtype=bool)
    pairs = product(permutations(range(M)), repeat=2)
    return np.array([one_hot[list(s), :, None] & one_hot[list(t), None] for s, t in pairs])


def mix_pairs(score_BPA: Array) -> Array:
    """Return the logarithm of the probability that a, the pair of i and j, is p's: sums over permutations.

    Args:
        score_BPA: float32 or better, A = M · M.
    """
    B, M, A = score_BPA.shape
    pairs_NT = jnp.asarray(permutation_pairs(M).reshape(-1, M * A), score_BPA.dtype)
    exact = partial(jnp.matmul, precision="highest")  # a product of 0 and 1: it only adds up
    share_BN = jax.nn.softmax(exact(score_BPA.reshape(B, M * A), pairs_NT.T))
    return jnp.log(jnp.maximum(exact(share_BN, pairs_NT), _LEAST)).reshape(B, M, A)


class Symbols(nn.Module):
    """The first layer of an MLP of some symbols, for whatever these are.

    Attributes:
        config: the network's.
        count: of the symbols.
    """

    config: TransformerConfig
    count: int

    @nn.compact
    def __call__(self) -> Array:
        """Return ``[1, K^count, E]``, by the number that the symbols are as digits."""
        K, E = self.config.outputs, self.config.width
        kernel_SKE = self.param("kernel", nn.initializers.normal(1.0), (self.count, K, E))
        total: Array = self.param("bias", nn.initializers.zeros_init(), (E,))
        for kernel_KE in kernel_SKE:
            total = total[..., None, :] + kernel_KE
        return total.reshape(1, -1, E).astype(jnp.dtype(self.config.dtype))


class Layers(nn.Module):
    """GELU and a dense layer, for each width.

    Attributes:
        config: the network's.
        widths: of the layers.
    """

    config: TransformerConfig
    widths: tuple[int, ...]

    @nn.compact
    def __call__(self, x_BTE: Array) -> Array:
        """Return ``[B, T, widths[-1]]``."""
        for at, width in enumerate(self.widths):
            x_BTE = self.config.dense(width, name=f"layer_{at}")(gelu(x_BTE))
        return x_BTE


def code_of_each(config: TransformerConfig, row_B2A: Array) -> Array:
    """Return the sum of codes of two rows ``[B, A, C]``, both by one MLP, given x, y, z as one number each.

    There are K³ rows, fewer than instances have triples: the MLP is applied to these, once.
    """
    code_1RC = Layers(config, _widths(config), name="row")(Symbols(config, 3, name="row_symbols")())
    return code_1RC[0, row_B2A].sum(axis=1)


def code_of_both(config: TransformerConfig, row_B2A: Array) -> Array:
    """Return the same by an MLP of equal layers that sees both rows together, six symbols."""
    first_RE, second_RE = (Symbols(config, 3, name=f"row_{row}_symbols")()[0] for row in (1, 2))
    hidden_BAE = first_RE[row_B2A[:, 0]] + second_RE[row_B2A[:, 1]]
    code: Array = Layers(config, _widths(config), name="rows")(hidden_BAE)
    return code


def _widths(config: TransformerConfig) -> tuple[int, int]:
    return config.width, max(1, config.width // 2)


class Position(nn.Module):
    """What is read for one p.

    Attributes:
        config: the network's.
        code: of two rows.
    """

    config: TransformerConfig
    code: Callable[[TransformerConfig, Array], Array]

    @nn.compact
    def __call__(self, pair_B3A: Array, z_B2: Array) -> tuple[Array, Array]:
        """Return scores ``[B, A]`` and logarithms of symbols' probabilities ``[B, A, K]``.

        Args:
            pair_B3A: x and y of each i and j as one number, K · x + y, by row.
            z_B2: by row.
        """
        config = self.config
        dense, (E, C), K = config.dense, _widths(config), config.outputs
        code_BAC = self.code(config, pair_B3A[:, :2] * K + z_B2[..., None])
        inferred = Layers(config, (E, C + 1), name="infer")(dense(E, name="infer_code")(code_BAC))
        hidden_BAE = dense(E, name="answer_rule")(inferred[..., :C])
        hidden_BAE += Symbols(config, 2, name="answer_symbols")()[0, pair_B3A[:, 2]]
        logits_BAK = Layers(config, (E, K), name="answer")(hidden_BAE)
        wide = accumulator(hidden_BAE.dtype)
        return inferred[..., C].astype(wide), jax.nn.log_softmax(logits_BAK.astype(wide))


class Composing(nn.Module):
    """The whole: one-hot symbols in, the logarithms of the answer's probabilities out.

    Attributes:
        config: its shape, of which it has ``width``, E.
        mix: returns the logarithms of the probabilities of triples ``[B, P, A]``, given scores.
        code: of two rows.
        shared: whether all p share their networks.
    """

    config: TransformerConfig
    mix: Callable[[Array], Array] = mix_pairs
    code: Callable[[TransformerConfig, Array], Array] = code_of_each
    shared: bool = True

    def __post_init__(self) -> None:
        config, M = self.config, self.config.panel_tokens
        if config.attention != NO_ATTENTION:
            raise ConfigurationError(f"attention={config.attention!r}: Composing has none; leave it out")
        sizes = config.length, config.query_tokens, config.inputs
        if sizes != (9 * M, 3 * M, config.outputs) or config.outputs < 2 or config.causal:
            raise ConfigurationError(
                f"{config.length} tokens of {config.inputs} numbers for {config.outputs}, {M} a panel, "
                f"causal={config.causal}: Composing reads SRAVEN's nine panels of one-hot symbols"
            )
        if M > LARGEST_M and self.mix is mix_pairs:
            raise ConfigurationError(
                f"M={M}: Composing sums over all permutations of up to {LARGEST_M} features; "
                "composing_each_alone takes more"
            )
        super().__post_init__()

    @nn.compact
    def __call__(
        self, tokens: Array, dropout_key: Array | None = None, *, num_outputs: int | None = None
    ) -> Array:
        """Apply the network.

        Args:
            tokens: one-hot symbols of eight panels, and a panel that isn't read, ``[B, 9 · M, K]``.
            dropout_key: of no use here: nothing is dropped.
            num_outputs: how many of the last positions have outputs, M at most; None for M.

        Returns:
            float32 or better ``[B, M, K]``.

        Raises:
            ConfigurationError: (a ValueError) for tokens of another shape.
        """
        M, K = self.config.panel_tokens, self.config.outputs
        if tokens.shape[1:] != (9 * M, K):
            raise ConfigurationError(f"tokens have shape {list(tokens.shape)}; expected [B, {9 * M}, {K}]")
        symbol_BRCM = tokens.argmax(axis=-1).reshape(-1, 3, 3, M)
        x_B3M, y_B3M, z_B2M = symbol_BRCM[:, :, 0], symbol_BRCM[:, :, 1], symbol_BRCM[:, :2, 2]
        pair_B3A = (x_B3M[..., None] * K + y_B3M[..., None, :]).reshape(-1, 3, M * M)
        read: Any = nn.vmap(
            Position,
            in_axes=(None, 2),
            out_axes=1,
            variable_axes={"params": None if self.shared else 0},
            split_rngs={"params": not self.shared},
        )
        score_BPA, symbols_BPAK = read(self.config, self.code, name="position")(pair_B3A, z_B2M)
        answer_BPK = jax.nn.logsumexp(self.mix(score_BPA)[..., None] + symbols_BPAK, axis=2)
        return answer_BPK[:, -(num_outputs or M) :]


COMPOSING: Mapping[str, Callable[[TransformerConfig], Composing]] = {
    "composing": Composing,
    "composing_each_alone": partial(Composing, mix=jax.nn.log_softmax),
    "composing_one_mlp": partial(Composing, code=code_of_both),
    "composing_rules_apart": partial(Composing, shared=False),
}
"""The network by name, and without one part each. Without permutations, each position takes i and j by
itself; the others lack a code of each row, and networks that all positions of the third column share."""
