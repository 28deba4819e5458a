"""The hypernetwork itself: the value networks that latent codes stand for (paper, Eqs. 4 to 7).

Letters in array names: H heads, V width of a head's value, E width of the model.
"""

from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from baselines.model.products import accumulator
from sraven.core.errors import ConfigurationError


def value_networks(params: Any, layer: int, codes: ArrayLike) -> tuple[Array, Array]:
    """Return the linear value networks of softmax and linear attention, Eqs. 4 and 5.

    W[q,k] = Σ_h a[h,q,k] W_out[h] W_value[h], and what the biases of the values add to it: a layer's output
    of query q is Σ_k (W[q,k] x[k] + b[q,k]) plus the bias of the output projection, x being its input after
    the LayerNorm.

    Args:
        params: of a transformer.
        layer: which, from 0.
        codes: floating ``[..., H]``: a of any number of pairs of tokens.

    Returns:
        W ``[..., E, E]``, outputs before inputs, and b ``[..., E]``, float32 or better.

    Raises:
        ConfigurationError: (a ValueError) for a layer that there isn't, or codes of another number of heads.
    """
    value_EHV, bias_HV, out_HVE = _projections(params, layer)
    codes = _checked(codes, len(out_HVE))
    network = jnp.einsum("...h,hvo,ihv->...oi", codes, out_HVE, value_EHV, precision="highest")
    bias = jnp.einsum("...h,hvo,hv->...o", codes, out_HVE, bias_HV, precision="highest")
    return network, bias


def hyla_networks(params: Any, layer: int, codes: ArrayLike) -> tuple[Array, Array, Array]:
    """Return the two layers of HYLA's value networks, Eqs. 6 and 7.

    W[q,k] = Σ_h a[h,q,k] W_value[h] comes before φ, W'[q,k] = Σ_h a[h,q,k] W_out[h] after it: a layer's
    output of query q is Σ_k W'[q,k] φ(W[q,k] x[k] + b[q,k]) plus the bias of the output projection.

    Args:
        params: of a transformer.
        layer: which, from 0.
        codes: floating ``[..., H]``.

    Returns:
        W ``[..., V, E]``, b ``[..., V]`` of the biases of the values, and W' ``[..., E, V]``.

    Raises:
        ConfigurationError: (a ValueError) as `value_networks`.
    """
    value_EHV, bias_HV, out_HVE = _projections(params, layer)
    codes = _checked(codes, len(out_HVE))
    before = jnp.einsum("...h,ihv->...vi", codes, value_EHV, precision="highest")
    bias = jnp.einsum("...h,hv->...v", codes, bias_HV, precision="highest")
    after = jnp.einsum("...h,hvo->...ov", codes, out_HVE, precision="highest")
    return before, bias, after


def _projections(params: Any, layer: int) -> tuple[Array, Array, Array]:
    """Return a layer's weights and biases of values, and its weights of outputs."""
    layers = sum(name.startswith("block_") for name in params)
    if not 0 <= layer < layers:
        raise ConfigurationError(f"layer={layer}: expected 0 to {layers - 1}")
    attention = params[f"block_{layer}"]["attention"]
    return attention["value"]["kernel"], attention["value"]["bias"], attention["out"]["kernel"]


def _checked(codes: ArrayLike, heads: int) -> Array:
    array = jnp.asarray(codes)
    if array.ndim < 1 or array.shape[-1] != heads or not jnp.issubdtype(array.dtype, jnp.floating):
        raise ConfigurationError(
            f"codes have shape {list(array.shape)} and dtype {array.dtype}; expected [..., {heads}], floating"
        )
    return array.astype(accumulator(array.dtype))
