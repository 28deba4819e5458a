"""The layers of a transformer as they are fast on a CPU: the values of Flax's, and its names of parameters.

The compiler makes the gradient of a product of matrices without a copy, that of a product with two leading
axes with two, by which an MLP takes nearly twice the time: so tokens are rows of one matrix here. The
gradients of LayerNorm and GELU are written out, as the compiler's own take more passes over memory.
"""

import math

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.products import accumulator

Array = jax.Array

EPSILON = 1e-6
"""Added to the variance of a LayerNorm."""

_GELU_SCALE, _GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


class Dense(nn.DenseGeneral):
    """Flax's ``DenseGeneral`` on tokens ``[B, T, ...]``, of which it sums over all axes but the first two."""

    def __call__(self, tokens: Array) -> Array:
        """Apply the layer."""
        out: Array = super().__call__(tokens.reshape(-1, *tokens.shape[2:]))
        return out.reshape(*tokens.shape[:2], *out.shape[1:])


def bfloat16_dot_general(tokens: Array, kernel: Array, dimensions: object, precision: object = None) -> Array:
    """Return the product of inputs rounded to bfloat16, added up in float32; its gradients are such products.

    So it is on every device; those with instructions for it are faster by it.

    Args:
        tokens: float32 ``[N, ...]``, summed over all axes but the first.
        kernel: float32, summed over as many of its first axes.
        dimensions: which says just that, as `flax.linen.DenseGeneral` gives it.
        precision: of no use here; it gives one, too.
    """
    # As matrices: XLA has no such product of more axes on a CPU.
    rows = tokens.reshape(len(tokens), -1)
    out = _bfloat16_product(rows, kernel.reshape(rows.shape[1], -1))
    return out.reshape(len(tokens), *kernel.shape[tokens.ndim - 1 :])


@jax.custom_vjp
def _bfloat16_product(left_NI: Array, right_IO: Array) -> Array:
    return _bfloat16_product_forward(left_NI, right_IO)[0]


def _contract(left: Array, right: Array, left_axis: int, right_axis: int) -> Array:
    axes = ((left_axis,), (right_axis,)), ((), ())
    return jax.lax.dot_general(left, right, axes, preferred_element_type=jnp.float32)


def _bfloat16_product_forward(left_NI: Array, right_IO: Array) -> tuple[Array, tuple[Array, Array]]:
    rounded = left_NI.astype(jnp.bfloat16), right_IO.astype(jnp.bfloat16)
    return _contract(*rounded, 1, 0), rounded


def _bfloat16_product_backward(rounded: tuple[Array, Array], grad_NO: Array) -> tuple[Array, Array]:
    (left_NI, right_IO), grad_NO = rounded, grad_NO.astype(jnp.bfloat16)
    return _contract(grad_NO, right_IO, 1, 1), _contract(left_NI, grad_NO, 0, 0)


_bfloat16_product.defvjp(_bfloat16_product_forward, _bfloat16_product_backward)


@jax.custom_vjp
def gelu(x: Array) -> Array:
    """Return GELU in its tanh form, x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2."""
    return _gelu_forward(x)[0]


def _gelu_forward(x: Array) -> tuple[Array, Array]:
    # The derivative is made here, of the same tanh: then it is all that is kept.
    square = x * x
    tanh = jnp.tanh(_GELU_SCALE * x * (1 + _GELU_CUBE * square))
    inner = _GELU_SCALE * (1 + 3 * _GELU_CUBE * square)
    return x * (1 + tanh) / 2, (1 + tanh + x * (1 - tanh * tanh) * inner) / 2


gelu.defvjp(_gelu_forward, lambda derivative, grad: (derivative * grad,))


@jax.custom_vjp
def layer_norm(x: Array, scale_E: Array, bias_E: Array) -> Array:
    """Return (x - mean) / √(variance + 1e-6) · scale + bias, mean and variance of the last axis.

    Args:
        x: ``[..., E]``, float32 or better.
        scale_E: learnt.
        bias_E: learnt.
    """
    return _layer_norm_forward(x, scale_E, bias_E)[0]


def _layer_norm_forward(x: Array, scale_E: Array, bias_E: Array) -> tuple[Array, tuple[Array, ...]]:
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    # The difference of two near ones may come out below 0.
    inverse = jax.lax.rsqrt(jnp.maximum(variance, 0) + EPSILON)
    normal = (x - mean) * inverse
    return normal * scale_E + bias_E, (normal, inverse, scale_E)


def _layer_norm_backward(saved: tuple[Array, ...], grad: Array) -> tuple[Array, Array, Array]:
    normal, inverse, scale_E = saved
    tokens = tuple(range(grad.ndim - 1))
    inner = grad * scale_E
    along = (inner * normal).mean(axis=-1, keepdims=True)
    grad_x = (inner - inner.mean(axis=-1, keepdims=True) - normal * along) * inverse
    return grad_x, (grad * normal).sum(axis=tokens), grad.sum(axis=tokens)


layer_norm.defvjp(_layer_norm_forward, _layer_norm_backward)


class LayerNorm(nn.Module):
    """LayerNorm (Ba et al. 2016) in float32 or better; returns the type that it is given."""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Apply the layer to ``[..., E]``."""
        width = x.shape[-1:]
        scale_E = self.param("scale", nn.initializers.ones_init(), width)
        bias_E = self.param("bias", nn.initializers.zeros_init(), width)
        return layer_norm(x.astype(accumulator(x.dtype)), scale_E, bias_E).astype(x.dtype)
