"""Cost of figures: operations of training, and hours, by the records of runs that were trained.

Operations are floating-point ones of matrix products and attention, 2 for a multiplication and an addition.
Training takes three forward passes: one forward, two backward. Those of a transformer are counted by its
shape, those of other networks in their traced programs, without running them.
"""

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from baselines.config import LanguageConfig, RunConfig
from baselines.encode import Encoding, encoding_of
from baselines.lm.experiment import language_program
from baselines.model.attention import MODULES
from baselines.model.feedforward import EXPERTS
from baselines.reproduction.cells import Cell, Chosen, as_planned
from baselines.reproduction.devices import PROGRAMS_ON_A_GPU
from baselines.reproduction.records import Record
from baselines.training.compiled import count_parameters
from baselines.training.experiment import board_of, model_of, program_of
from baselines.training.flops import TRAINING, flops_per_token, operations_in_products, pair_operations

_OF_ANY: dict[str, Any] = {"seed": 0, "steps": 1, "learning_rate": 0, "weight_decay": 0, "warmup": 0}
"""Fields on which the operations of a step don't depend."""


def operations_of(config: RunConfig) -> float:
    """Return the operations that a run computes: steps × batch × three times a forward pass.

    The last block computes tokens with outputs alone, a mixture of experts all of them.
    """
    times = config.steps * config.batch_size
    if isinstance(config, LanguageConfig):
        return _of_token(replace(config, **_OF_ANY)) * config.length * times
    one = replace(config, **_OF_ANY)
    is_shaped = config.network == "transformer" and config.attention not in MODULES
    return (_by_shape(one) if is_shaped else _by_program(one)) * TRAINING * times


def parameters_of(config: RunConfig) -> int:
    """Return how many parameters the network of a run has."""
    return count_parameters(program_of(config, _encoding_of(config)))


def _encoding_of(config: RunConfig) -> Encoding:
    return encoding_of(board_of(config).task)


@cache
def _of_token(config: LanguageConfig) -> float:
    """Return the operations of training on a token of text."""
    return flops_per_token(config, count_parameters(language_program(config)))


@cache
def _by_program(config: RunConfig) -> float:
    """Return the operations of a forward pass of one sequence, of any network: those in its products."""
    encoding = _encoding_of(config)
    model = model_of(config, encoding)
    # Of one sequence: what is fused for processors, where products can't be seen, is for more.
    tokens_BTI = jax.ShapeDtypeStruct((1, encoding.length, encoding.width_in), jnp.float32)
    params = jax.eval_shape(model.init, jax.random.key(0), tokens_BTI)
    forward = partial(model.apply, num_outputs=encoding.num_outputs)
    return operations_in_products(forward, params, tokens_BTI)


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


class Throughput:
    """Seconds that runs take, by the records of runs on a kind of device; or at a rate that is given.

    Runs of which no record is of the same kind take what an operation takes on average.

    Args:
        given: operations a second, in thousand millions.
        records: of runs; those of other kinds of devices tell nothing.
        device: GPU that runs are for, a part of what records call it, such as ``H200``; None for processors.

    Attributes:
        notes: what a reader must know, in lines.
    """

    def __init__(
        self, given: float | None = None, records: Iterable[Record] = (), device: str | None = None
    ) -> None:
        self._given, self._known = given, dict[Hashable, tuple[float, float]]()
        place = device or "processors"
        for record in records if given is None else ():
            if record.seconds and _is_on(record, device):
                kind, each = _kind_of(as_planned(record.config))
                operations, seconds = self._known.get(kind, (0.0, 0.0))
                taken = record.seconds / (PROGRAMS_ON_A_GPU if device else 1)
                self._known[kind] = operations + each * record.steps, seconds + taken
        if given is not None:
            self.notes = [f"at {given:g} GFLOP/s, as given"]
        elif not self._known:
            self.notes = [f"no record is of a run on {place}: name a rate with --rate GFLOPS"]
        else:
            several = f"; {PROGRAMS_ON_A_GPU} programs at once, as those were trained" if device else ""
            self.notes = [
                f"runs of which records tell a time: at their rate, on their machines{several}",
                f"other runs: at the mean rate of all records of {place}",
            ]

    def seconds(self, config: RunConfig) -> float | None:
        """Return how long a run takes; None where nobody knows."""
        if self._given is not None:
            return operations_of(config) / (self._given * 1e9)
        kind, each = _kind_of(config)
        if not self._known or (isinstance(config, LanguageConfig) and kind not in self._known):
            return None
        mean = [sum(column) for column in zip(*self._known.values(), strict=True)]
        operations, taken = self._known.get(kind, mean)
        return each * config.steps * taken / operations


def _is_on(record: Record, device: str | None) -> bool:
    """Return whether a run was trained on a kind of GPU, or on processors for None."""
    machine = record.machine or {"platform": "cpu"}
    machines = machine.get("several", [machine])
    if device is None:
        return all(each["platform"] == "cpu" for each in machines)
    return all(
        each["platform"] != "cpu" and device.casefold() in each["device"].casefold() for each in machines
    )


def _kind_of(config: RunConfig) -> tuple[Hashable, float]:
    """Return what runs share that take equally long a step, and the operations of one."""
    each = operations_of(config) / config.steps
    return (config.architecture, config.feedforward, config.batch_size, config.precision, each), each


def outlook(chosen: Chosen, known: Container[str], rates: Throughput) -> dict[str, Any]:
    """Return what of some cells is left, and how long it takes.

    Args:
        chosen: the cells that are meant.
        known: digests of runs that have records.
        rates: of runs.
    """
    left: Sequence[Cell] = [cell for cell in chosen.cells if cell.digest not in known]
    seconds = [rates.seconds(cell.config) for cell in left]
    return {
        "figure": chosen.name,
        "runs": len(chosen.cells),
        "left": len(left),
        "steps": sum(cell.config.steps for cell in left),
        "operations": sum(operations_of(cell.config) for cell in left),
        "hours": None if None in seconds else sum(filter(None, seconds)) / 3600,
    }
