"""Any Flax network by one call: `sraven.evaluate_network` for JAX."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.load import load_run
from baselines.model.attention import NO_ATTENTION
from baselines.model.config import TransformerConfig
from baselines.model.networks import NETWORKS, OURS
from baselines.session import plan_runs, train_plan
from baselines.train.experiment import board_of, model_of
from baselines.train.flops import operations_in_products
from baselines.train.predict import predict
from sraven.board.board import Board
from sraven.core.cost import Cost
from sraven.core.errors import ConfigurationError
from sraven.core.system.sources import digest_of_network
from sraven.leaderboard.evaluation import BATCH, Boards, Evaluation, Trained, evaluate

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


class OwnLossNetwork(OwnNetwork):
    """One that says itself what is minimised."""

    def training_loss(self, tokens: jax.Array, loss: Callable[[jax.Array], jax.Array]) -> jax.Array:
        """Return the network's own loss of tokens ``[B, T, I]``, given that of outputs."""
        own: Any = self.network
        return jnp.asarray(own.training_loss(tokens, loss))


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


def evaluate_network(
    make_network: MakeNetwork,
    boards: Boards = "quick",
    *,
    name: str | None = None,
    authors: Sequence[str] = ("anonymous",),
    out: str | Path = "evaluation",
    seeds: Sequence[int] = (0,),
    learning_rate: float = 1e-3,
    on_progress: Callable[[str], None] | None = print,
) -> Evaluation:
    """Train a Flax network by the baselines' recipe, and say what it composes.

    Arguments, result and errors are those of `sraven.evaluate_network`; seeds train in one program.

    Args:
        make_network: returns a `flax.linen.Module`, given T, I and O. It takes float32 ``[B, T, I]`` and
            returns ``[B, T, O]``; one with a method ``training_loss(tokens, loss)`` says itself what is
            minimised, ``loss`` being that of outputs.
        boards: what to train on.
        name: of the method; none of `baselines.model.networks.OURS`.
        authors: of the submissions.
        out: the folder for all that is written.
        seeds: of parameters.
        learning_rate: its peak.
        on_progress: is told a line now and then; None for silence.
    """
    called = name or str(getattr(make_network, "__name__", type(make_network).__name__))
    if called in OURS:
        raise ConfigurationError(f"name={called!r} is a network of the baselines; choose another name")

    def own(config: TransformerConfig) -> nn.Module:
        network = make_network(config.length, config.inputs, config.outputs)
        return (OwnLossNetwork if hasattr(network, "training_loss") else OwnNetwork)(network)

    def train(board: Board, steps: int, folder: Path) -> Trained:
        def say(_: int, line: Mapping[str, float] | None) -> None:
            if on_progress and line:
                on_progress(f"{board.id}, {steps:,} steps: loss {line['loss']:.4f}")

        changes: dict[str, Any] = {"steps": steps, "batch_size": BATCH, "learning_rate": learning_rate}
        encoding = encoding_of(board.task)
        network = make_network(encoding.length, encoding.width_in, encoding.width_out)
        # Part of the configuration, so that a run of another network isn't gone on with.
        known_as = f"{called} {digest_of_network(network, [type(network)])[:8]}"
        NETWORKS[known_as] = own
        changes["network"] = known_as
        where = folder if len(seeds) > 1 else folder / f"seed-{seeds[0]}"
        plan = plan_runs(board, NO_ATTENTION, where, seeds=seeds, **changes)
        train_plan(plan, progress=say)
        loaded = [load_run(each) for each in plan.folders]
        predictions = {
            split: {config.seed: predict(config, params, split, size) for config, params in loaded}
            for split, size in board.splits.items()
        }
        return Trained(predictions, _cost(*loaded[0]))

    before = dict(NETWORKS)
    try:
        said = "A JAX network, trained by baselines.evaluate_network."
        return evaluate(train, boards, name=called, authors=authors, description=said, seeds=seeds, out=out)
    finally:
        NETWORKS.clear()
        NETWORKS.update(before)
