"""Cost of figures: operations of training, and hours at the rate of recorded runs.

Operations are floating-point ones of matrix products and attention, 2 for a multiplication and an addition.
Training takes three forward passes: one forward, two backward. Those of a transformer are counted by its
shape, those of other networks in their traced programs, without running them.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.config import LanguageConfig, RunConfig
from baselines.encode import Encoding, encoding_of
from baselines.lm.experiment import language_program
from baselines.model.attention import MODULES
from baselines.model.feedforward import EXPERTS
from baselines.paper.cells import Chosen, as_planned
from baselines.paper.devices import PROGRAMS_ON_A_GPU
from baselines.paper.records import Record
from baselines.train.experiment import board_of, model_of
from baselines.train.flops import TRAINING, flops_per_token, operations_in_products, pair_operations
from baselines.train.optim import shape_of


def operations_of(config: RunConfig) -> float:
    """Return the operations that a run computes: steps × batch × three times a forward pass.

    The last block computes tokens with outputs alone, a mixture of experts all of them.
    """
    times = config.steps * config.batch_size
    one = replace(shape_of(config), steps=1)  # all runs of a shape share the count of a step
    if isinstance(one, LanguageConfig):
        return _of_token(one) * one.length * times
    is_shaped = config.network == "transformer" and config.attention not in MODULES
    return (_by_shape(one) if is_shaped else _by_program(one)) * TRAINING * times


def parameters_of(config: RunConfig) -> int:
    """Return how many parameters the network of a run has."""
    encoding = _encoding_of(config)
    params = _variables(model_of(config, encoding), encoding.length, encoding.width_in)["params"]
    return sum(leaf.size for leaf in jax.tree.leaves(params))


def _encoding_of(config: RunConfig) -> Encoding:
    return encoding_of(board_of(config).task)


@cache
def _variables(model: nn.Module, length: int, width: int) -> Any:
    """Return the shapes of a network's variables; rows of figures often have the same network."""
    return jax.eval_shape(
        model.init, jax.random.key(0), jax.ShapeDtypeStruct((1, length, width), jnp.float32)
    )


@cache
def _of_token(config: LanguageConfig) -> float:
    """Return the operations of training on a token of text."""
    return flops_per_token(config, language_program(config).num_parameters)


@cache
def _by_program(config: RunConfig) -> float:
    """Return the operations of a forward pass of one sequence, of any network: those in its products."""
    encoding = _encoding_of(config)
    model = model_of(config, encoding)
    # Of one sequence: what is fused for processors, where products can't be seen, is for more.
    tokens_BTI = jax.ShapeDtypeStruct((1, encoding.length, encoding.width_in), jnp.float32)
    forward = partial(model.apply, num_outputs=encoding.num_outputs)
    variables = _variables(model, encoding.length, encoding.width_in)
    return operations_in_products(forward, variables, tokens_BTI)


def _by_shape(config: RunConfig) -> float:
    """Return the operations of a forward pass of one sequence, of a transformer."""
    encoding, E = _encoding_of(config), config.width
    T, A = encoding.length, encoding.num_outputs
    blocks = (config.layers - 1) * _block(config, T, T) + _block(config, T, A)
    return 2.0 * (T * encoding.width_in * E + A * E * encoding.width_out) + blocks


def _block(config: RunConfig, T: int, A: int) -> float:
    """Return the operations of a block that computes A of T tokens."""
    E, P, F = config.width, config.qkv_width, config.mlp_width
    experts = {"moe": EXPERTS, "none": 0}.get(config.feedforward, 1)
    gate = 4 * E * experts if experts > 1 else 0  # the router's logits, and the share of each expert's bias
    projections, mlps = 2.0 * (2 * A + 2 * T) * E * P, A * (4 * E * F * experts + gate)
    return projections + A * T * pair_operations(config) + mlps


def rate_of(records: Iterable[Record], device: str | None) -> float | None:
    """Return how many operations a second recorded runs took on average; None where no record tells.

    Args:
        records: of runs; those on other kinds of devices tell nothing.
        device: GPU that runs are for, a part of what records call it, such as ``H200``; None for processors.
    """
    operations = seconds = 0.0
    for record in filter(lambda each: each.seconds, records):
        machine = record.machine or {"platform": "cpu"}
        names = {
            "" if each["platform"] == "cpu" else each["device"].casefold()
            for each in machine.get("several", [machine])
        }
        if all((device.casefold() in name) if device else not name for name in names):
            operations += operations_of(as_planned(record.config)) * record.steps / record.config.steps
            seconds += (record.seconds or 0.0) / (PROGRAMS_ON_A_GPU if device else 1)
    return operations / seconds if seconds else None


def outlook(chosen: Chosen, known: Container[str], rate: float | None) -> dict[str, Any]:
    """Return what of some cells is left.

    Args:
        chosen: the cells that are meant.
        known: digests of runs that have records.
        rate: operations a second; None where nobody knows.
    """
    left = [cell for cell in chosen.cells if cell.digest not in known]
    operations = sum(operations_of(cell.config) for cell in left)
    return {
        "figure": chosen.name,
        "runs": len(chosen.cells),
        "left": len(left),
        "steps": sum(cell.config.steps for cell in left),
        "operations": operations,
        "hours": operations / rate / 3600 if rate else None,
    }
