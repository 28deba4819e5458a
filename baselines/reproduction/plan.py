"""Cost of figures: operations of training, and hours, by records or at the rate of this machine.

Operations are floating-point ones of matrix products and attention, 2 for a multiplication and an addition.
Training takes three forward passes: one forward, two backward. That of a transformer is counted by its shape,
that of other networks in their traced programs, without running them. Hours are operations over a rate: of
records of runs whose steps take equally long, else of real steps that are timed here.
"""

import time
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.config import LanguageConfig, RunConfig
from baselines.encode import Encoding, encoding_of
from baselines.lm.experiment import language_program
from baselines.model.attention import MODULES
from baselines.model.feedforward import EXPERTS
from baselines.reproduction.cells import Cell, as_planned
from baselines.reproduction.devices import PROGRAMS_ON_A_GPU
from baselines.reproduction.records import Record
from baselines.reproduction.sets import Figure
from baselines.training.compiled import Compiled, count_parameters
from baselines.training.experiment import board_experiment, board_of, model_of, program_of
from baselines.training.flops import TRAINING, flops_per_token, operations_in_products, pair_operations
from baselines.training.sharding import make_mesh
from baselines.training.train import hyper_of

_TIMED = 20
"""Steps that are timed, after as many that aren't."""

_OF_ANY: dict[str, Any] = {"seed": 0, "steps": 1, "learning_rate": 0, "weight_decay": 0, "warmup": 0}
"""Fields on which the operations of a step don't depend."""


class Operations(NamedTuple):
    """Floating-point operations of products and attention.

    Attributes:
        nominal: of a transformer that computes all tokens in all its blocks, and has one MLP a block.
        computed: of what is computed: the last block for tokens with outputs, every expert of a mixture.
    """

    nominal: float
    computed: float


def operations_of(config: RunConfig) -> Operations:
    """Return the operations of a run: steps × batch × three times a forward pass."""
    times = config.steps * config.batch_size
    if isinstance(config, LanguageConfig):
        nominal = computed = _of_token(replace(config, **_OF_ANY)) * config.length
        return Operations(nominal * times, computed * times)
    if config.network != "transformer" or config.attention in MODULES:
        nominal = computed = _of_sequence(replace(config, **_OF_ANY))
    else:
        encoding = encoding_of(board_of(config).task)
        experts = {"moe": EXPERTS, "none": 0}.get(config.feedforward, 1)
        nominal = _forward(config, encoding, encoding.length, min(1, experts))
        computed = _forward(config, encoding, encoding.num_outputs, experts)
    return Operations(nominal * TRAINING * times, computed * TRAINING * times)


def operations_in(cells: Sequence[Cell]) -> Operations:
    """Return the operations of some cells together."""
    found = [operations_of(cell.config) for cell in cells]
    return Operations(sum(each.nominal for each in found), sum(each.computed for each in found))


@cache
def _of_token(config: LanguageConfig) -> float:
    """Return the operations of training on a token of text."""
    return flops_per_token(config, count_parameters(language_program(config)))


@cache
def _of_sequence(config: RunConfig) -> float:
    """Return the operations of a forward pass of one sequence, of any network: those in its products."""
    encoding = encoding_of(board_of(config).task)
    model = model_of(config, encoding)
    # Of one sequence: what is fused for processors, where products can't be seen, is for more.
    tokens_BTI = jax.ShapeDtypeStruct((1, encoding.length, encoding.width_in), jnp.float32)
    params = jax.eval_shape(model.init, jax.random.key(0), tokens_BTI)
    forward = partial(model.apply, num_outputs=encoding.num_outputs)
    return operations_in_products(forward, params, tokens_BTI)


def parameters_of(config: RunConfig) -> int:
    """Return how many parameters the network of a run has."""
    return count_parameters(program_of(config, encoding_of(board_of(config).task)))


def _forward(config: RunConfig, encoding: Encoding, num_outputs: int, experts: int) -> float:
    """Return the operations of a forward pass of one sequence.

    Args:
        config: of the run.
        encoding: of its task.
        num_outputs: tokens that the last block computes.
        experts: MLPs of a block.
    """
    T, E = encoding.length, config.width
    blocks = (config.layers - 1) * _block(config, T, T, experts) + _block(config, T, num_outputs, experts)
    return 2.0 * (T * encoding.width_in * E + num_outputs * E * encoding.width_out) + blocks


def _block(config: RunConfig, T: int, A: int, experts: int) -> float:
    """Return the operations of a block that computes A of T tokens."""
    E, P, F = config.width, config.qkv_width, config.mlp_width
    gate = 4 * E * experts if experts > 1 else 0  # the router's logits, and the share of each expert's bias
    projections, mlps = 2.0 * (2 * A + 2 * T) * E * P, A * (4 * E * F * experts + gate)
    return projections + A * T * pair_operations(config) + mlps


def median_cell(cells: Sequence[Cell]) -> Cell:
    """Return the cell in the middle, by the operations of a step."""
    ordered = sorted(cells, key=lambda cell: operations_of(cell.config).computed / cell.config.steps)
    return ordered[len(ordered) // 2]


class Throughput:
    """Computed operations a second of runs: those of records of the same kind, or else measured here.

    Args:
        given: instead, in thousand millions.
        records: of runs; those of other kinds of devices tell nothing.
        device: GPU that runs are for, a part of what records call it, such as ``H200``; None for processors.
        is_here: whether this machine has it, so that a rate may be measured.

    Attributes:
        notes: what a reader must know of each, by family.
    """

    def __init__(
        self,
        given: float | None = None,
        records: Iterable[Record] = (),
        device: str | None = None,
        *,
        is_here: bool = True,
    ) -> None:
        self._given, self._measured, self.notes = given, dict[str, float](), dict[str, str]()
        self._device, self._is_here = device, is_here
        self._recorded = dict[Hashable, tuple[float, float]]()
        at_once = PROGRAMS_ON_A_GPU if device else 1
        for record in records:
            if record.seconds and _is_on(record, device):
                kind, each = _kind_of(as_planned(record.config))
                operations, seconds = self._recorded.get(kind, (0.0, 0.0))
                self._recorded[kind] = operations + each * record.steps, seconds + record.seconds / at_once

    def hours(self, figure: Figure, cells: Sequence[Cell]) -> float | None:
        """Return the hours that cells of a figure take, one after the other; None where nobody knows."""
        if self._given is not None:
            self.notes["given"] = f"at {self._given:g} GFLOP/s, as given"
            return operations_in(cells).computed / (self._given * 1e9) / 3600
        kinds = [_kind_of(cell.config) for cell in cells]
        known = [kind in self._recorded for kind, _ in kinds]
        if any(known):
            self.notes["records"] = "runs of which records tell a time: at their rate, on their machines"
            if self._device:
                self.notes["records"] += f"; {PROGRAMS_ON_A_GPU} programs at once, as those were trained"
        if figure.family == "c4" and not all(known):
            self.notes["c4"] = f"{figure.name} trains on text that has to be prepared: no rate is measured"
            return None
        if self._device and cells and not all(known) and not self._is_here:
            if not self._recorded:
                self.notes["device"] = f"no record is of a run on {self._device}: no rate is known"
                return None
            self.notes["device"] = f"other runs: at the mean rate of records of {self._device}"
            mean = tuple(map(sum, zip(*self._recorded.values(), strict=True)))
            pairs = zip(cells, kinds, strict=True)
            rates = [
                (each * cell.config.steps, self._recorded.get(kind, mean)) for cell, (kind, each) in pairs
            ]
            return sum(left * taken / operations for left, (operations, taken) in rates) / 3600
        seconds = 0.0
        for cell, (kind, each) in zip(cells, kinds, strict=True):
            operations, taken = self._recorded.get(kind) or (self._measure(figure, cells), 1.0)
            seconds += each * cell.config.steps * taken / operations
        return seconds / 3600

    def _measure(self, figure: Figure, cells: Sequence[Cell]) -> float:
        """Return the rate of a family's cells, measured when it is first needed."""
        if figure.family not in self._measured:
            config = median_cell(cells).config
            rate = self._measured[figure.family] = measure_rate(config)
            self.notes[figure.family] = (
                f"{figure.family}: {rate / 1e9:,.0f} GFLOP/s, measured on steps of {config.architecture} on "
                f"{config.board}; other work on this machine slows it"
            )
        return self._measured[figure.family]


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
    """Return what runs share that take equally long a step, and the computed operations of one."""
    each = operations_of(config).computed / config.steps
    return (config.architecture, config.feedforward, config.batch_size, config.precision, each), each


def measure_rate(config: RunConfig) -> float:
    """Return the computed operations a second of real steps of a run on this machine; takes seconds."""
    mesh = make_mesh()
    experiment = board_experiment(config, mesh)
    compiled = Compiled(experiment, mesh)
    states = compiled.stack([compiled.initialise(jnp.uint32(config.seed))])
    chunk = experiment.place(mesh, experiment.make_chunk(0, _TIMED))
    states, _ = jax.block_until_ready(compiled.train(states, hyper_of([config]), chunk))  # compiles
    began = time.perf_counter()
    jax.block_until_ready(compiled.train(states, hyper_of([config]), chunk))
    seconds = time.perf_counter() - began
    return operations_of(config).computed / config.steps * _TIMED / seconds


def outlook(
    figure: Figure, cells: Sequence[Cell], known: Container[str], rates: Throughput
) -> dict[str, Any]:
    """Return what of a figure is left, and how long it takes.

    Args:
        figure: of the paper.
        cells: of it, those that are meant.
        known: digests of runs that have records.
        rates: of runs.
    """
    left = [cell for cell in cells if cell.digest not in known]
    rest, hours = operations_in(left), rates.hours(figure, left)
    return {
        "figure": figure.name,
        "runs": len(cells),
        "left": len(left),
        "steps": sum(cell.config.steps for cell in left),
        "operations": rest.nominal,
        "operations_computed": rest.computed,
        "operations_of_all": operations_in(cells).nominal,
        "rate": rest.computed / hours / 3600 if hours else None,
        "hours": hours,
    }
