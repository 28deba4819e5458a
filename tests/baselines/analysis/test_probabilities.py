"""Probabilities of a run: one more reading of the program that predicts."""

import jax
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.recipes import make_config
from baselines.training.experiment import board_of, program_of
from baselines.training.predict import predict
from helpers.tiny_runs import TINY, tiny
from sraven.core.base.errors import ConfigurationError
from sraven.core.boards.board import read_board

pytestmark = pytest.mark.usefixtures("compiled")


def test_probabilities_of_a_model_are_one_more_reading_of_its_outputs():
    config = make_config(read_board("sraven-v1"), "hyla", **TINY)
    program = program_of(config, encoding_of(board_of(config).task))
    params = jax.eval_shape(program.initialise, np.uint32(0)).params
    rng = np.random.default_rng(0)
    params = jax.tree.map(lambda leaf: 0.3 * rng.normal(size=leaf.shape).astype(leaf.dtype), params)
    found = predict(config, params, "ood", 7, "probabilities")
    assert found.shape == (7, 4, 8) and found.dtype == np.float32
    np.testing.assert_allclose(found.sum(axis=2), 1, rtol=1e-5)
    assert len(np.unique(found[:, 0, 0])) == 7


def test_values_have_no_probabilities():
    with pytest.raises(ConfigurationError, match="outputs of fuzzylogic are values, not probabilities"):
        predict(tiny(), None, "ood", 7, "probabilities")
