"""Compute outputs and gradients of attentions and of whole models, and keep them: run as a program.

python tests/baselines/model/every_program.py OUT.npz
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

from baselines.model.transformer import Transformer, TransformerConfig

B, H, D, T, VOCABULARY = 8, 4, 4, 12, 32
NAMES = ("softmax", "linear_rmshead_nonlinear", "hyla_linear_no_rmshead", "hyla_rmshead_softmax", "hyla_deep")
"""Attentions that have each normalisation and each value network; models below have HYLA itself."""


def draw(*shape):
    return jnp.asarray(np.random.default_rng(shape).normal(size=shape), jnp.float32)


def of_model(name, **changes):
    """Return gradients, logits and latent codes of a model of text, or of one that sees all tokens."""
    shape = {"inputs": 0, "outputs": 0, "vocabulary": VOCABULARY, "length": T, "layers": 1, "width": 16}
    rest = {"heads": H, "qkv_width": H * D, "mlp_width": 24, "attention": name, **changes}
    model = Transformer(TransformerConfig(**shape, **rest))
    tokens = jnp.asarray(np.random.default_rng(0).integers(VOCABULARY, size=(B, T)), jnp.int32)
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens)
    params = jax.tree.map(lambda leaf: 0.3 * draw(*leaf.shape), shapes)

    @jax.jit
    def differentiate(params):
        def total(params):
            found = model.apply(params, tokens, return_codes=not changes.get("tile"))
            return jnp.sin(jax.tree.leaves(found)[0]).sum(), found

        return jax.grad(total, has_aux=True)(params)

    return jax.tree.leaves(differentiate(params))


def main(goal):
    found = {name: of_model(name, position="relative_one_way") for name in NAMES}
    found["linear on text"] = of_model("linear", causal=True, position="rotary")
    found["hyla on all"] = of_model("hyla", position="relative_one_way")
    found["tiles"] = of_model("hyla", causal=True, position="rotary", tile=4)
    np.savez(goal, **{f"{name}/{at}": each for name, some in found.items() for at, each in enumerate(some)})


if __name__ == "__main__":
    main(sys.argv[1])
