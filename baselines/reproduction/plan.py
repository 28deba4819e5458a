"""Cost of figures: operations of training, and hours, by records or at the rate of this machine.

Operations are floating-point ones of matrix products and attention, 2 for a multiplication and an addition.
Training takes three forward passes: one forward, two backward. That of a transformer is counted by its shape,
that of other networks in their traced programs, without running them. Hours are operations over a rate: of
records of runs whose steps take equally long, else of real steps that are timed here.
"""

import time
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from baselines.config import LanguageConfig, RunConfig
from baselines.model.attention import MODULES
from baselines.reproduction.cells import Cell, as_planned
from baselines.reproduction.records import Record
from baselines.reproduction.sets import Figure, read_board_once
from baselines.training.flops import TRAINING, flops_per_token, pair_operations

if TYPE_CHECKING:
    from baselines.encode import Encoding

_TIMED = 20
"""Steps that are timed, after as many that aren't."""


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of products and attention.

    Attributes:
        nominal: of a transformer that computes all tokens in all its blocks, and has one MLP a block.
        computed: of what is computed: the last block for tokens with outputs, every expert of a mixture.
    """

    nominal: float
    computed: float

    def __add__(self, other: "Operations") -> "Operations":
        return Operations(self.nominal + other.nominal, self.computed + other.computed)

    def times(self, count: float) -> "Operations":
        """Return them that often."""
        return Operations(self.nominal * count, self.computed * count)


def operations_of(config: RunConfig) -> Operations:
    """Return the operations of a run: steps × batch × three times a forward pass."""
    from baselines.encode import encoding_of
    from baselines.model.feedforward import EXPERTS

    if isinstance(config, LanguageConfig):
        each = _of_token(replace(config, seed=0, steps=1, learning_rate=0, weight_decay=0, warmup=0))
        each *= config.length
        return Operations(each, each).times(config.steps * config.batch_size)
    if config.network != "transformer" or config.attention in MODULES:
        each = _of_sequence(replace(config, seed=0, steps=1, learning_rate=0, weight_decay=0, warmup=0))
        return Operations(each, each).times(TRAINING * config.steps * config.batch_size)
    encoding = encoding_of(read_board_once(config.board).task)
    experts = {"moe": EXPERTS, "none": 0}.get(config.feedforward, 1)
    nominal = _forward(config, encoding, encoding.length, min(1, experts))
    forward = Operations(nominal, _forward(config, encoding, encoding.num_outputs, experts))
    return forward.times(TRAINING * config.steps * config.batch_size)


@cache
def _of_token(config: LanguageConfig) -> float:
    """Return the operations of training on a token of text."""
    from baselines.lm.experiment import count_parameters, language_program

    return flops_per_token(config, count_parameters(language_program(config)))


@cache
def _of_sequence(config: RunConfig) -> float:
    """Return the operations of a forward pass of one sequence, of any network: those in its products."""
    from baselines.training.flops import operations_in_products

    # Of one sequence: what is fused for processors, where products can't be seen, is for more.
    model, encoding, tokens_BTI = _traced(config)
    forward = partial(model.apply, num_outputs=encoding.num_outputs)
    return operations_in_products(forward, _shapes(model, tokens_BTI), tokens_BTI)


def parameters_of(config: RunConfig) -> int:
    """Return how many parameters the network of a run has."""
    from jax import tree

    model, _, tokens_BTI = _traced(config)
    return sum(leaf.size for leaf in tree.leaves(_shapes(model, tokens_BTI)))


def _traced(config: RunConfig) -> tuple[Any, "Encoding", Any]:
    """Return a run's model, its encoding, and the shape of a sequence."""
    import jax
    import jax.numpy as jnp

    from baselines.encode import encoding_of
    from baselines.training.experiment import model_of

    encoding = encoding_of(read_board_once(config.board).task)
    tokens_BTI = jax.ShapeDtypeStruct((1, encoding.length, encoding.width_in), jnp.float32)
    return model_of(config, encoding), encoding, tokens_BTI


def _shapes(model: Any, tokens_BTI: Any) -> Any:
    """Return the shapes of a model's parameters."""
    import jax

    return jax.eval_shape(model.init, jax.random.key(0), tokens_BTI)


def _forward(config: RunConfig, encoding: "Encoding", num_outputs: int, experts: int) -> float:
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


@dataclass(frozen=True)
class Workload:
    """What cells take.

    Attributes:
        runs: how many they are.
        steps: of all.
        operations: of all.
    """

    runs: int
    steps: int
    operations: Operations

    def hours(self, rate: float) -> float:
        """Return the hours that they take, one after the other, at a rate of computed operations a second."""
        return self.operations.computed / rate / 3600


def workload_of(cells: Sequence[Cell]) -> Workload:
    """Return what cells take."""
    total = Operations(0.0, 0.0)
    for cell in cells:
        total += operations_of(cell.config)
    return Workload(len(cells), sum(cell.config.steps for cell in cells), total)


def typical(cells: Sequence[Cell]) -> Cell:
    """Return the cell in the middle, by the operations of a step."""
    ordered = sorted(cells, key=lambda cell: operations_of(cell.config).computed / cell.config.steps)
    return ordered[len(ordered) // 2]


class Throughput:
    """Computed operations a second of runs: those of records of the same kind, or else measured here.

    Args:
        given: instead, in thousand millions.
        records: of runs, on whatever machines.

    Attributes:
        notes: what a reader must know of each, by family.
    """

    def __init__(self, given: float | None = None, records: Iterable[Record] = ()) -> None:
        self._given = given
        self._measured: dict[str, float] = {}
        self._recorded: dict[Hashable, tuple[float, float]] = {}
        self.notes: dict[str, str] = {}
        for record in records:
            if record.seconds:
                kind, each = _kind_of(as_planned(record.config))
                operations, seconds = self._recorded.get(kind, (0.0, 0.0))
                self._recorded[kind] = operations + each * record.steps, seconds + record.seconds

    def hours(self, figure: Figure, cells: Sequence[Cell]) -> float | None:
        """Return the hours that cells of a figure take, one after the other; None where nobody knows."""
        if self._given is not None:
            self.notes["given"] = f"at {self._given:g} GFLOP/s, as given"
            return workload_of(cells).hours(self._given * 1e9)
        kinds = [_kind_of(cell.config) for cell in cells]
        known = [kind in self._recorded for kind, _ in kinds]
        if any(known):
            self.notes["records"] = "runs of which records tell a time: at their rate, on their machines"
        if figure.family == "c4" and not all(known):
            self.notes["c4"] = f"{figure.name} trains on text that has to be prepared: no rate is measured"
            return None
        seconds = 0.0
        for cell, (kind, each) in zip(cells, kinds, strict=True):
            operations, taken = self._recorded.get(kind) or (self._measure(figure, cells), 1.0)
            seconds += each * cell.config.steps * taken / operations
        return seconds / 3600

    def _measure(self, figure: Figure, cells: Sequence[Cell]) -> float:
        """Return the rate of a family's cells, measured when it is first needed."""
        if figure.family not in self._measured:
            config = typical(cells).config
            rate = self._measured[figure.family] = measure_rate(config)
            self.notes[figure.family] = (
                f"{figure.family}: {rate / 1e9:,.0f} GFLOP/s, measured on steps of {config.architecture} on "
                f"{config.board}; other work on this machine slows it"
            )
        return self._measured[figure.family]


def _kind_of(config: RunConfig) -> tuple[Hashable, float]:
    """Return what runs share that take equally long a step, and the computed operations of one."""
    each = operations_of(config).computed / config.steps
    return (config.architecture, config.feedforward, config.batch_size, config.precision, each), each


def measure_rate(config: RunConfig) -> float:
    """Return the computed operations a second of real steps of a run on this machine; takes seconds."""
    import jax
    import jax.numpy as jnp

    from baselines.training.compiled import Compiled
    from baselines.training.experiment import board_experiment
    from baselines.training.sharding import make_mesh
    from baselines.training.train import hyper_of

    mesh = make_mesh()
    experiment = board_experiment(config, mesh)
    compiled = Compiled(experiment, mesh)
    states = compiled.stack([compiled.initialise(jnp.uint32(config.seed))])
    chunk = experiment.place(mesh, next(iter(experiment.chunks([(0, _TIMED)]))))
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
    whole, rest = workload_of(cells), workload_of(left)
    hours = rates.hours(figure, left)
    return {
        "figure": figure.name,
        "runs": whole.runs,
        "left": rest.runs,
        "steps": rest.steps,
        "operations": rest.operations.nominal,
        "operations_computed": rest.operations.computed,
        "operations_of_all": whole.operations.nominal,
        "rate": rest.operations.computed / hours / 3600 if hours else None,
        "hours": hours,
    }
