"""The language model's experiment: windows of text in, the loss of the next token out."""

from collections.abc import Callable
from functools import partial
from math import exp, log
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from baselines.config import C4, LanguageConfig, RunConfig
from baselines.encode import Batch
from baselines.lm.corpus import Corpus
from baselines.lm.loss import AT_ONCE, AT_ONCE_ON_CPU, mean_loss
from baselines.lm.share import BatchShare
from baselines.lm.token_shards import TOKENIZER
from baselines.lm.windows import Windows
from baselines.model.attention import find_attention
from baselines.model.config import TransformerConfig
from baselines.model.transformer import Transformer
from baselines.train.experiment import Chunk, Experiment, make_program, network_shape
from baselines.train.flops import flops_per_token
from baselines.train.sharding import check_batch, make_mesh, on_cpu, place_rows
from baselines.train.step import Program, StepReport
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError

CHUNK = 20
"""Steps of one call of the compiled program, and of a line of the log."""

HIGHEST = 690.0
"""Loss in nats beyond which a perplexity is that of this one: a submission's log has none above 1e300."""

TILE = 64
"""Positions of a tile, for attentions that can be tiled."""


class Compute(NamedTuple):
    """How a model is computed: memory against time. Results are the same but for rounding.

    Attributes:
        num_microbatches: how many equal ones a batch is cut into, one after the other: gradient
            accumulation (``--parts``).
        tile: positions of a tile of attention, 0 for none, None for `TILE` where there can be tiles.
        rematerialise: whether blocks are computed again for their gradients.
    """

    num_microbatches: int = 1
    tile: int | None = None
    rematerialise: bool = False


DEFAULT_COMPUTE = Compute()


def language_model(config: LanguageConfig, compute: Compute = DEFAULT_COMPUTE) -> Transformer:
    """Return the model of a configuration: causal, rotary, with one table for embedding and output."""
    tile = compute.tile
    if tile is None:
        tile = TILE if "tiled" in find_attention(config.attention).implementations else 0
    return Transformer(
        TransformerConfig(
            inputs=0,
            outputs=0,
            vocabulary=config.vocabulary,
            length=config.length,
            **network_shape(config),
            causal=True,
            tile=tile,
            rematerialise=compute.rematerialise,
            dtype=config.dtype,
        )
    )


def check_recipe(config: LanguageConfig) -> None:
    """Refuse a run whose recipe isn't this version's.

    Raises:
        ConfigurationError: if it has another.
    """
    if (config.board, config.board_digest) != (C4.id, C4.digest):
        raise ConfigurationError(
            f"board={config.board!r} with board_digest={config.board_digest!r}: {C4.id} has {C4.digest!r}"
        )


def at_once(mesh: Mesh) -> int:
    """Return for how many tokens logits exist at a time, on each device of a mesh."""
    return AT_ONCE_ON_CPU if on_cpu(mesh) else AT_ONCE


def language_program(
    config: LanguageConfig, mesh: Mesh | None = None, compute: Compute = DEFAULT_COMPUTE
) -> Program:
    """Return the training program of a configuration.

    Args:
        config: of the run.
        mesh: devices; None for one.
        compute: how it is computed.
    """
    mesh = mesh or make_mesh()
    model, tokens_at_once = language_model(config, compute), at_once(mesh)

    def loss(params: Any, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        tokens_BT, targets_BT = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
        hidden_BTE = model.apply({"params": params}, tokens_BT, key, return_hidden=True)
        return mean_loss(hidden_BTE, params["embedding"], targets_BT, tokens_at_once)

    tokens_BT = jax.ShapeDtypeStruct((1, config.length), jnp.int32)
    return make_program(config, model, tokens_BT, loss, compute.num_microbatches, mesh, vmap_runs=False)


def language_experiment(
    config: RunConfig, mesh: Mesh, *, corpus: Corpus, compute: Compute = DEFAULT_COMPUTE
) -> Experiment:
    """Return the experiment of a run on a corpus.

    Args:
        config: of the run.
        mesh: devices.
        corpus: what is trained on.
        compute: how it is computed.

    Raises:
        ConfigurationError: if the run is of another corpus or recipe, or the mesh or the parts don't divide
            a batch.
        OutputError: if files of the corpus are missing or cut.
    """
    assert isinstance(config, LanguageConfig)
    check_recipe(config)
    if config.corpus != corpus.digest:
        raise ConfigurationError("the run is trained on other tokens; name those that it began with")
    corpus.check_files()
    check_integer("parts", compute.num_microbatches, 1, config.batch_size)
    check_batch(mesh, config.batch_size, compute.num_microbatches)
    program = language_program(config, mesh, compute)
    share = BatchShare(config.batch_size, jax.process_index(), jax.process_count())
    windows = Windows(corpus, config.length, share)  # all seeds see the same batches

    def make_chunk(first: int, steps: int) -> Chunk:
        return {"tokens": np.stack([windows.batch(step) for step in range(first, first + steps)])}

    return Experiment(
        program,
        make_chunk,
        partial(place_rows, mesh),
        _describe(config, corpus, program.num_parameters),
        CHUNK,
        files={TOKENIZER: corpus.read_tokenizer().model},
    )


def _describe(
    config: LanguageConfig, corpus: Corpus, parameters: int
) -> Callable[[StepReport, float], dict[str, float]]:
    """Return what makes a line of the log: bits per byte by the corpus's bytes of text a token."""
    tokens = config.batch_size * config.length
    flops = tokens * flops_per_token(config, parameters)
    bits = corpus.tokens / corpus.text_bytes / log(2)

    def describe(report: StepReport, steps_per_second: float) -> dict[str, float]:
        return {
            "loss": report.loss,
            "perplexity": exp(min(report.loss, HIGHEST)),
            "bits_per_byte": report.loss * bits,
            "accuracy": report.score,
            "gradient_norm": report.gradient_norm,
            "tokens_per_second": round(steps_per_second * tokens, 1),
            "flops_per_second": round(steps_per_second * flops),
        }

    return describe
