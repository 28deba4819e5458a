"""The training loop: chunks of steps, checkpoints, a log; an interrupted run goes on where it was."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from baselines.checkpoint import Checkpoints
from baselines.config import RunConfig, read_config
from baselines.encode import Encoding, encoding_of
from baselines.feed import chunks
from baselines.model.config import TransformerConfig
from baselines.model.transformer import Transformer
from baselines.optim import Hyper
from baselines.step import Program, Report, State, make_program, train_chunk
from sraven.core.boards import Board, read_board
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.files import write_json

CONFIG, LOG, CHECKPOINTS = "config.json", "log.jsonl", "checkpoints"

CHUNK = 100
"""Steps of one call of the compiled program."""

Progress = Callable[[int, Report], None]


class DivergenceError(RuntimeError):
    """A loss is no longer a number; the last checkpoint is from before."""


def transformer_of(config: RunConfig, encoding: Encoding) -> Transformer:
    """Return the model of a configuration."""
    return Transformer(
        TransformerConfig(
            inputs=encoding.width_in,
            outputs=encoding.width_out,
            length=encoding.length,
            layers=config.layers,
            width=config.width,
            heads=config.heads,
            qkv_width=config.qkv_width,
            mlp_width=config.mlp_width,
            attention=config.attention,
            activation=config.activation,
            feedforward=config.feedforward,
            unidirectional_buckets=config.recipe == "paper-code",
            attention_dropout=config.attention_dropout,
        )
    )


def program_of(config: RunConfig, encoding: Encoding) -> Program:
    """Return the training program of a configuration."""
    model = transformer_of(config, encoding)

    def initialise_params(key: jax.Array) -> Any:
        tokens_BTD = jnp.zeros((1, encoding.length, encoding.width_in), jnp.float32)
        return model.init(key, tokens_BTD)["params"]

    def apply(params: Any, tokens_BTD: jax.Array, key: jax.Array) -> jax.Array:
        out: Any = model.apply({"params": params}, tokens_BTD, key)
        return jnp.asarray(out)

    return make_program(
        initialise_params, apply, encoding, recipe=config.recipe, steps=config.steps, warmup=config.warmup
    )


def _prepare(out: Path, config: RunConfig) -> None:
    """Make the run directory, or check that it is this run's.

    Raises:
        OutputError: if it holds something else.
    """
    path = out / CONFIG
    if path.is_file():
        try:
            found = read_config(json.loads(path.read_text()))
        except ValueError as error:
            raise OutputError(f"{path} can't be read: {error}") from None
        if found != config:
            names = [name for name, value in asdict(config).items() if value != getattr(found, name)]
            raise OutputError(
                f"{out} holds another run ({', '.join(names)} differ); choose another directory"
            )
    elif out.exists() and any(out.iterdir()):
        raise OutputError(f"{out} isn't empty and holds no run; choose another directory")
    else:
        out.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(config))


def _cut_log(path: Path, step: int) -> None:
    """Leave out what was logged after a step: it is going to be trained again."""
    lines = path.read_text().splitlines() if path.is_file() else []
    kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step]
    path.write_text("".join(line + "\n" for line in kept))


def stack_states(program: Program, seeds: Sequence[int]) -> State:
    """Return the first states of runs, side by side."""
    return jax.vmap(program.initialise)(jnp.asarray(seeds, jnp.uint32))


def train(
    config: RunConfig,
    out: Path,
    *,
    save_every: int = 1000,
    progress: Progress = lambda steps, report: None,
) -> State:
    """Train a run, or go on with it, to its last step.

    Batches depend on the step alone, and dropout on seed and step: a run that was interrupted ends
    in the same parameters, bit for bit on the same machine, as one that wasn't.

    Args:
        config: of the run.
        out: its directory: configuration, log and checkpoints.
        save_every: steps between checkpoints.
        progress: is told of steps done and what they reported.

    Returns:
        the last state.

    Raises:
        OutputError: if the directory holds something else.
        DivergenceError: if a loss is no longer a number.
    """
    board: Board = read_board(config.board)
    if board.digest != config.board_digest:
        raise ConfigurationError(f"board_digest={config.board_digest!r}: {board.id} has {board.digest!r}")
    encoding = encoding_of(board.task)
    program = program_of(config, encoding)  # refuses what no model can be, before anything is written
    _prepare(out, config)
    states = stack_states(program, [config.seed])
    hypers = Hyper(jnp.asarray([config.learning_rate]), jnp.asarray([config.weight_decay]))
    checkpoints = Checkpoints(out / CHECKPOINTS)
    try:
        if restored := checkpoints.restore(states):
            states = restored[1]
        done = int(states.step[0])
        _cut_log(out / LOG, done)
        run_chunk = jax.jit(lambda states, hypers, chunk: train_chunk(program, states, hypers, chunk))
        bounds = [(first, min(CHUNK, config.steps - first)) for first in range(done, config.steps, CHUNK)]
        saved = done
        for chunk in chunks(board.task, encoding.fields, bounds, config.batch_size):
            start = time.perf_counter()
            states, reports = run_chunk(states, hypers, chunk)
            report = jax.tree.map(lambda values: np.asarray(values).mean(), reports)
            steps = len(next(iter(chunk.values())))
            if not np.isfinite(report.loss):
                raise DivergenceError(
                    f"the loss is {report.loss} after step {done}; the last checkpoint is of {saved}"
                )
            done += steps
            _log(out / LOG, done, report, steps * config.batch_size / (time.perf_counter() - start))
            progress(steps, report)
            if done - saved >= save_every or done == config.steps:
                checkpoints.save(done, states)
                saved = done
    finally:
        checkpoints.close()
    return State(*jax.tree.map(lambda leaf: leaf[0], tuple(states)))


def _log(path: Path, step: int, report: Report, speed: float) -> None:
    """Add a line to the log: means over the chunk that ends with a step."""
    line = {name: float(value) for name, value in report._asdict().items()}
    with open(path, "a") as file:
        file.write(json.dumps({"step": step, **line, "instances_per_second": round(speed, 1)}) + "\n")


def load_run(out: Path) -> tuple[RunConfig, Any]:
    """Return the configuration and the parameters of a finished run.

    Raises:
        OutputError: if there is none, or it isn't finished.
    """
    path = out / CONFIG
    if not path.is_file():
        raise OutputError(f"{out} holds no run; `sraven train` makes one")
    try:
        config = read_config(json.loads(path.read_text()))
    except ValueError as error:
        raise OutputError(f"{path} can't be read: {error}") from None
    encoding = encoding_of(read_board(config.board).task)
    states = stack_states(program_of(config, encoding), [config.seed])
    checkpoints = Checkpoints(out / CHECKPOINTS)
    try:
        restored = checkpoints.restore(states)
    finally:
        checkpoints.close()
    done = restored[0] if restored else 0
    if restored is None or done < config.steps:
        raise OutputError(f"{out} has {done:,} of {config.steps:,} steps; train it to the end first")
    return config, jax.tree.map(lambda leaf: leaf[0], restored[1].params)
