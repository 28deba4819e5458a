"""Any Flax network by one call: `sraven.evaluate_network` for JAX."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from baselines.config import RunConfig
from baselines.encode import Batch, Encoding, encoding_of
from baselines.load import load_run
from baselines.model.attention import NO_ATTENTION
from baselines.model.networks import NETWORKS, OURS
from baselines.recipes import make_config
from baselines.session import OnBoard, make_session
from baselines.train.experiment import board_of, model_of, own_loss
from baselines.train.flops import operations_in_products
from baselines.train.optim import OPTIMISERS, Optimiser
from baselines.train.predict import answers_of, predict
from sraven.board.board import Board
from sraven.core.errors import ConfigurationError
from sraven.networks.cost import Cost
from sraven.networks.evaluation import Boards, Trained, Trainer, evaluate
from sraven.networks.identity import digest_of_classes
from sraven.networks.pytorch import print_now
from sraven.networks.recipe import Progress, make_recipe
from sraven.networks.results import Evaluation, Result

MakeNetwork = Callable[[int, int, int], nn.Module]


class OwnNetwork(nn.Module):
    """A network of tokens alone, as the baselines apply it.

    Attributes:
        network: of tokens ``[B, T, I]``; it returns ``[B, T, O]``.
    """

    network: nn.Module
    has_codes: ClassVar[bool] = False

    def __call__(
        self, tokens: jax.Array, dropout_key: jax.Array | None = None, *, num_outputs: int | None = None
    ) -> jax.Array:
        """Return the outputs of the last tokens, ``[B, A, O]``."""
        outputs: jax.Array = self.network(tokens)
        return outputs[:, -(num_outputs or tokens.shape[1]) :]

    def training_loss(
        self, tokens: jax.Array, target: jax.Array, loss: Callable[[jax.Array], jax.Array]
    ) -> jax.Array | None:
        """Return the network's own loss, given tokens, target and the loss of outputs; None without one."""
        own = getattr(self.network, "training_loss", None)
        return None if own is None else jnp.asarray(own(tokens, target, loss))

    def predict(self, tokens: jax.Array) -> jax.Array | None:
        """Return the network's own answers to tokens, of the target's shape; None without any."""
        own = getattr(self.network, "predict", None)
        return None if own is None else jnp.asarray(own(tokens))


def _cost(config: RunConfig, params: Any) -> Cost:
    encoding = encoding_of(board_of(config).task)
    model = model_of(config, encoding)

    def total(params: Any, tokens: jax.Array) -> jax.Array:
        outputs: Any = model.apply({"params": params}, tokens)
        return jnp.square(outputs).mean()

    shape = encoding.length, encoding.width_in
    one, batch = (jnp.zeros((count, *shape)) for count in (1, config.batch_size))
    operations = operations_in_products(total, params, one)
    memory: Any = jax.jit(jax.grad(total)).lower(params, batch).compile().memory_analysis()
    sizes = sum(leaf.nbytes for leaf in jax.tree.leaves(params))
    parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
    state = getattr(getattr(model, "network", None), "state_size", None)
    return Cost(parameters, operations, 4 * sizes + memory.temp_size_in_bytes, state)


@contextmanager
def _restored(*tables: dict[str, Any]) -> Iterator[None]:
    """Let entries of tables be added, and take them out again."""
    before = [dict(each) for each in tables]
    try:
        yield
    finally:
        for table, entries in zip(tables, before, strict=True):
            table.clear()
            table.update(entries)


def _clipped(most: float, *given: Any) -> optax.GradientTransformation:
    """Return the recipe's optimiser of gradients whose norm is no larger than ``most``."""
    return optax.chain(optax.clip_by_global_norm(most), OPTIMISERS["adamw"].make(*given))


def _make(make_network: MakeNetwork, *shape: int) -> nn.Module:
    network = make_network(*shape)
    if not isinstance(network, nn.Module):
        raise ConfigurationError(
            f"make_network returned a {type(network).__name__}; expected a flax.linen.Module (of NNX: "
            "flax.nnx.bridge.to_linen; of PyTorch: sraven.evaluate_network)"
        )
    return OwnNetwork(network)


def fingerprint(model: nn.Module, encoding: Encoding, batch: Batch, seed: int) -> dict[str, Any]:
    """Return the shapes of a new network's parameters, and its loss and some outputs, by which it is known.

    Noise moves its parameters, so that what is zero at the beginning counts, too.

    Raises:
        ConfigurationError: for outputs of another shape than ``[B, T, O]``.
    """
    key, noise = jax.random.split(jax.random.key(seed))
    tokens = encoding.tokens(batch)
    with jax.default_matmul_precision("highest"):
        params: Any = model.init(key, tokens)["params"]
        leaves, tree = jax.tree.flatten(params)
        keys = jax.random.split(noise, len(leaves))
        moved = [each + 0.02 * jax.random.normal(k, each.shape) for k, each in zip(keys, leaves, strict=True)]
        variables = {"params": jax.tree.unflatten(tree, moved)}
        outputs: Any = model.apply(variables, tokens)
        wanted = (*tokens.shape[:2], encoding.width_out)
        if outputs.ndim != 3 or outputs.shape[::2] != wanted[::2] or outputs.shape[1] > wanted[1]:
            raise ConfigurationError(
                f"the network made {list(outputs.shape)} of tokens {list(tokens.shape)}; expected "
                f"{list(wanted)}, or of the last tokens alone"
            )
        loss = own_loss(model, variables, encoding, batch)
        loss = encoding.loss(outputs, batch) if loss is None else loss
        answers = answers_of(model, variables, encoding, batch)
    if answers.shape != encoding.target(batch).shape:
        raise ConfigurationError(
            f"predict made {list(answers.shape)} of tokens {list(tokens.shape)}; expected "
            f"{list(encoding.target(batch).shape)}"
        )
    shapes = {
        jax.tree_util.keystr(path): list(each.shape) for path, each in jax.tree.leaves_with_path(params)
    }
    numbers = [float(loss), *np.asarray(outputs, np.float64).ravel()[-16:].tolist()]
    if model.apply(variables, tokens, method="predict") is not None:
        numbers += np.asarray(answers, np.float64).ravel()[-16:].tolist()
    return {"parameters": shapes, "outputs": numbers}


def evaluate_network(
    make_network: MakeNetwork,
    boards: Boards = "quick",
    *,
    name: str | None = None,
    authors: str | Sequence[str] = ("anonymous",),
    out: str | Path = "evaluation",
    seeds: Sequence[int] = (0,),
    on_progress: Callable[[Progress], None] | None = print_now,
    on_result: Callable[[Result], None] | None = print_now,
    **changes: Any,
) -> Evaluation:
    """Train a Flax network by the baselines' recipe, and say what it composes.

    Arguments, result and errors are those of `sraven.evaluate_network`; seeds train in one program.

    Args:
        make_network: returns a `flax.linen.Module`, given T, I and O; one of NNX by
            `flax.nnx.bridge.to_linen`. It takes float32 ``[B, T, I]`` and returns ``[B, T, O]``; one with a
            method ``training_loss(tokens, target, loss)`` says itself what is minimised, one with
            ``predict(tokens)`` what it answers.
        boards: what to train on.
        name: of the method; none of `baselines.model.networks.OURS`.
        authors: of the submissions.
        out: the folder for all that is written.
        seeds: of parameters.
        on_progress: is told how training goes now and then; None for silence.
        on_result: is told each board's result as soon as it is there; None for silence.
        changes: to the recipe, fields of `sraven.networks.recipe.Recipe`.
    """
    recipe, tell = make_recipe(**changes), on_progress or (lambda _: None)
    called = name or str(getattr(make_network, "__name__", type(make_network).__name__))
    if called in OURS:
        raise ConfigurationError(f"name={called!r} is a network of the baselines; choose another name")

    def model_on(encoding: Encoding) -> nn.Module:
        return _make(make_network, encoding.length, encoding.width_in, encoding.width_out)

    def config_of(board: Board, steps: int) -> dict[str, Any]:
        """Return the changes to a configuration, after an entry of the tables for each that is new."""
        own_classes = digest_of_classes([type(model_on(encoding_of(board.task)).network)])
        known_as, optimiser = f"{called} {own_classes[:8]}", "adamw"
        NETWORKS[known_as] = lambda shape: _make(make_network, shape.length, shape.inputs, shape.outputs)
        changed = recipe._asdict()
        if (most := changed.pop("clip_norm")) is not None:
            optimiser = f"adamw clipped to {most}"
            OPTIMISERS[optimiser] = Optimiser("AdamW", partial(_clipped, most))
        return {"steps": steps, "network": known_as, "optimiser": optimiser, **changed}

    def identify(board: Board, steps: int, seed: int) -> dict[str, Any]:
        encoding, drawn = encoding_of(board.task), board.task.sample("train", 0, 4)
        batch = {name: jnp.asarray(getattr(drawn, name)) for name in encoding.fields}
        made_of = make_config(board, NO_ATTENTION, seed=seed, **config_of(board, steps)).digest
        return {"configuration": made_of, **fingerprint(model_on(encoding), encoding, batch, seed)}

    def train(board: Board, steps: int, folder: Path, stop: Callable[[], bool]) -> Trained | None:
        done, began = [0], [time.monotonic()]

        def heard(more: int, line: Mapping[str, float] | None) -> None:
            done[0] += more
            if line is None:  # what an earlier call has done
                began[:] = time.monotonic(), done[0]
                return
            seconds, step = time.monotonic() - began[0], done[0] // len(seeds)
            left = seconds / (done[0] - began[1]) * (steps * len(seeds) - done[0])
            tell(Progress(board.id, None, step, steps, line["loss"], {}, seconds, left))

        where = folder if len(seeds) > 1 else folder / f"seed-{seeds[0]}"
        session = make_session(OnBoard(board), NO_ATTENTION, where, seeds=seeds, **config_of(board, steps))
        ended, _ = session.train(progress=heard, stop=stop)
        if any(each.stopped for each in ended):
            return None
        loaded = [load_run(each) for each in session.folders]
        predictions = {
            split: {config.seed: predict(config, params, split, size) for config, params in loaded}
            for split, size in board.splits.items()
        }
        return Trained(predictions, _cost(*loaded[0]))

    said = "A JAX network, trained by baselines.evaluate_network."
    with _restored(NETWORKS, OPTIMISERS):
        return evaluate(
            Trainer(identify, train),
            boards,
            recipe,
            name=called,
            authors=authors,
            description=said,
            seeds=seeds,
            out=out,
            on_result=on_result,
        )
