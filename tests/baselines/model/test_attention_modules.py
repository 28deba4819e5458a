"""What attentions that are modules share: the last outputs alone, and their size."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import MODULES, find_module
from helpers.small_models import FUZZY_LOGIC, SRAVEN, T, count, initialised, parameters, small, tokens_of


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("changes", [{"attention_dropout": 0.3}, {"position": "rotary", "dtype": "bfloat16"}])
def test_outputs_of_the_last_tokens_are_what_they_give_among_all(name, changes):
    model, params = initialised(small(attention=name, length=T, layers=2, **changes))
    tokens, key, has_codes = tokens_of(model.config), jax.random.key(5), find_module(name).has_codes
    last, among_all = jax.jit(
        lambda tokens: [
            model.apply(params, tokens, key, num_outputs=each, return_codes=has_codes) for each in (3, None)
        ]
    )(tokens)
    if has_codes:
        (last, (_, codes)), (among_all, (_, all_codes)) = last, among_all
        assert codes.dtype == jnp.float32
        np.testing.assert_allclose(codes, all_codes[:, :, -3:], rtol=1e-5, atol=1e-5)
    assert last.dtype == jnp.float32
    np.testing.assert_allclose(last, among_all[:, -3:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "totals"),
    [
        ("hyla", (402_824, 151_265)),
        ("dual", (408_456, 151_841)),
        ("gated_delta", (417_112, 154_901)),
        ("hypermlp", (422_504, 150_505)),
        ("sparse_coding", (402_856, 151_327)),
    ],
)
def test_parameters_are_as_many_as_in_the_published_code_or_nearly(name, totals):
    """Within 5 % of those of attentions that are functions; sparse coding has a λ for each context panel.

    HyperMLP has half of the heads, as each has gates and weights along the sequence, and a narrower MLP.
    """
    for config, panel_tokens, total in zip((SRAVEN, FUZZY_LOGIC), (4, 1), totals, strict=True):
        changes = {"heads": config.heads // 2, "mlp_width": 232} if name == "hypermlp" else {}
        found = parameters(replace(config, attention=name, panel_tokens=panel_tokens, **changes))
        assert count(found) == total
