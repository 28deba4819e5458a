"""LayerNorm (Ba et al. 2016), with its gradient written out: the compiler's own takes more passes."""

import jax
import jax.numpy as jnp
from flax import linen as nn

Array = jax.Array

EPSILON = 1e-6
"""Added to the variance."""


@jax.custom_vjp
def normalise(x: Array, scale_E: Array, bias_E: Array) -> Array:
    """Return (x - mean) / √(variance + 1e-6) · scale + bias, mean and variance of the last axis.

    Args:
        x: ``[..., E]``, float32 or better.
        scale_E: learnt.
        bias_E: learnt.
    """
    return _forward(x, scale_E, bias_E)[0]


def _forward(x: Array, scale_E: Array, bias_E: Array) -> tuple[Array, tuple[Array, ...]]:
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    # The difference of two near ones may come out below 0.
    inverse = jax.lax.rsqrt(jnp.maximum(variance, 0) + EPSILON)
    normal = (x - mean) * inverse
    return normal * scale_E + bias_E, (normal, inverse, scale_E)


def _backward(saved: tuple[Array, ...], grad: Array) -> tuple[Array, Array, Array]:
    normal, inverse, scale_E = saved
    tokens = tuple(range(grad.ndim - 1))
    inner = grad * scale_E
    along = (inner * normal).mean(axis=-1, keepdims=True)
    grad_x = (inner - inner.mean(axis=-1, keepdims=True) - normal * along) * inverse
    return grad_x, (grad * normal).sum(axis=tokens), grad.sum(axis=tokens)


normalise.defvjp(_forward, _backward)


class LayerNorm(nn.Module):
    """`normalise` with its parameters, named as Flax's."""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Apply the layer to ``[..., E]``, float32 or better."""
        width = x.shape[-1:]
        scale_E = self.param("scale", nn.initializers.ones_init(), width)
        bias_E = self.param("bias", nn.initializers.zeros_init(), width)
        return normalise(x, scale_E, bias_E)
