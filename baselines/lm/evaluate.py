"""The loss of a language model on each document of a corpus.

Rows are pieces of documents, in batches of one size, so that one program serves all. It sums the loss of each
row over its own targets on the devices; sums over the rows of a document are in float64, on the host.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, isfinite, log
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from numpy.typing import NDArray
from scipy.special import entr

from baselines.config import LanguageConfig, RunConfig
from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.experiment import DEFAULT_COMPUTE, HIGHEST, Compute, at_once, language_model
from baselines.lm.loss import token_losses
from baselines.lm.share import BatchShare
from baselines.lm.token_shards import TOKENIZER
from baselines.model.transformer import Transformer
from baselines.train.experiment import Evaluate
from baselines.train.grid import Judge
from baselines.train.log import Scores
from baselines.train.sharding import (
    BATCH_SPEC,
    CHUNK_SPEC,
    make_mesh,
    on_each_device,
    own_mesh,
    place_rows,
    state_shardings,
    whole,
)
from baselines.train.step import matmul_precision
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.files.files import sha256_of_file

ROWS = 32
"""Rows of an evaluation batch, unless another number is given."""

VALIDATION = "validation"
"""Name of the documents by which a grid chooses, and that are scored while a run trains."""

_BATCHES = 4
"""Batches that have as many windows as are scored while a run trains."""


class DocumentLosses(NamedTuple):
    """Of each document of a corpus, ``[n]``.

    Attributes:
        loss: float64, in nats, summed over its targets.
        targets: int64, tokens but for BOS.
        text_bytes: int64, of its text in UTF-8.
    """

    loss: NDArray[np.float64]
    targets: NDArray[np.int64]
    text_bytes: NDArray[np.int64]


def document_losses(
    config: LanguageConfig,
    params: Any,
    corpus: Corpus,
    *,
    rows: int = ROWS,
    mesh: Mesh | None = None,
    advance: Callable[[int], None] = lambda rows: None,
) -> DocumentLosses:
    """Return the loss of each document, every token but BOS being a target once.

    A document longer than the model's sequences is cut into pieces, each of which is all its context;
    see `baselines.lm.documents`.

    Args:
        config: of the run.
        params: its parameters.
        corpus: documents, of the tokenizer that the run was trained with.
        rows: of a batch; the mesh divides them.
        mesh: devices; None for one.
        advance: is called with how many more rows are done.

    Raises:
        ConfigurationError: if the corpus has another number of pieces, or the mesh doesn't divide a batch.
        OutputError: if files of the corpus are missing or cut.
    """
    _check_documents(config, corpus)
    mesh = mesh or make_mesh()
    check_integer("rows", rows, 1, 1 << 30)
    if rows % mesh.size:
        raise ConfigurationError(f"rows={rows}: expected a multiple of {mesh.size}, the devices of the mesh")
    params = jax.device_put(params, state_shardings(mesh, params))
    losses_of = _row_losses(language_model(config), mesh, config.precision)
    documents = Documents(corpus, config.length, BatchShare(rows))
    n = corpus.documents
    found = DocumentLosses(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64))
    for step in range(documents.steps):
        batch = documents.batch(step)
        losses, real = losses_of(params, batch.tokens, batch.mask)[0], batch.document >= 0
        values = np.asarray(losses, np.float64), batch.targets, batch.text_bytes
        for total, value in zip(found, values, strict=True):
            np.add.at(total, batch.document[real], value[real])
        advance(int(real.sum()))
    return found


def _check_documents(config: LanguageConfig, corpus: Corpus) -> None:
    if corpus.tokenizer["pieces"] != config.vocabulary:
        raise ConfigurationError(
            f"the documents have {corpus.tokenizer['pieces']:,} pieces and the run {config.vocabulary:,}; "
            "prepare them with the run's tokenizer"
        )
    corpus.check_files()


@lru_cache(maxsize=16)
def _row_losses(model: Transformer, mesh: Mesh, precision: str) -> Callable[..., tuple[jax.Array, jax.Array]]:
    """Return a function that sums losses and targets of each row, ``[rows]`` each, whole on every device.

    Runs that differ in their seed alone share a program.
    """

    def sums(params: Any, batch: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        tokens_BT, mask_BT = batch["tokens"][0], batch["mask"][0]
        with matmul_precision(precision):
            hidden_BTE: Any = model.apply({"params": params}, tokens_BT[:, :-1], return_hidden=True)
            losses = token_losses(hidden_BTE, params["embedding"], tokens_BT[:, 1:], at_once(mesh))
        return jnp.where(mask_BT, losses.loss, 0.0).sum(axis=-1), mask_BT.sum(axis=-1)

    compiled = jax.jit(on_each_device(mesh, sums, CHUNK_SPEC, BATCH_SPEC), out_shardings=whole(mesh))
    return lambda params, tokens, mask: compiled(
        params, place_rows(mesh, {"tokens": tokens[None], "mask": mask[None]})
    )


def validation_scores(
    config: RunConfig,
    mesh: Mesh,
    *,
    corpus: Corpus,
    rows: int | None = None,
    compute: Compute = DEFAULT_COMPUTE,
) -> Evaluate:
    """Return a function for `Experiment.evaluate`: the loss per token on the first documents.

    Args:
        config: of the run.
        mesh: devices that the parameters lie on.
        corpus: documents.
        rows: pieces of documents, of as many tokens as a window each; None for those of four batches.
        compute: how the model is computed.
    """
    assert isinstance(config, LanguageConfig)
    _check_documents(config, corpus)
    most = _BATCHES * config.batch_size if rows is None else rows
    share = BatchShare(-(-ROWS // mesh.size) * mesh.size, jax.process_index(), jax.process_count())
    documents = Documents(corpus, config.length, share)
    losses_of = _row_losses(language_model(config, compute), mesh, config.precision)

    def evaluate(params: Any) -> Scores:
        total, targets = 0.0, 0
        for number in range(min(documents.steps, -(-most // share.batch_size))):
            batch = documents.batch(number)
            mask = batch.mask & (np.array(share.rows(number)) < most)[:, None]
            losses, counts = losses_of(params, batch.tokens, mask)
            total += float(np.asarray(losses, np.float64).sum())
            targets += int(np.asarray(counts).sum())
        loss = total / targets
        return {VALIDATION: {"loss": loss, "perplexity": exp(min(loss, HIGHEST))}}

    return evaluate


def check_tokenizer(run: Path, corpus: Corpus) -> None:
    """Check that documents have the tokenizer that a run was trained with.

    Raises:
        ConfigurationError: if they have another.
    """
    wanted, found = sha256_of_file(run / TOKENIZER), corpus.tokenizer["sha256"]
    if found != wanted:
        raise ConfigurationError(
            f"the documents have the tokenizer {found[:12]}… and {run} has {wanted[:12]}…; prepare them with "
            "the run's tokenizer"
        )


def mean_losses(found: DocumentLosses) -> dict[str, float]:
    """Return the means over all tokens: ``loss`` in nats, ``perplexity``, ``bits_per_byte``."""
    total, targets = float(found.loss.sum()), int(found.targets.sum())
    loss = total / targets
    return {
        "documents": len(found.loss),
        "tokens": targets,
        "loss": loss,
        "perplexity": exp(min(loss, HIGHEST)),
        "bits_per_byte": total / log(2) / int(found.text_bytes.sum()),
    }


def language_judge(corpus: Corpus) -> Judge:
    """Return the judge that scores runs of a grid by their loss per token on documents, in one process."""

    def score(config: RunConfig, params: Any) -> float | None:
        assert isinstance(config, LanguageConfig)
        loss = mean_losses(document_losses(config, params, corpus, mesh=own_mesh()))["loss"]
        return loss if isfinite(loss) else None

    return Judge("loss", VALIDATION, higher_is_better=False, score=score)


def unigram_entropy(corpus: Corpus) -> float:
    """Return the entropy of a corpus's targets, in nats.

    A model that knows how frequent tokens are, and no more, has this loss at best.
    """
    counts = np.zeros(corpus.tokenizer["pieces"], np.int64)
    piece = 1 << 24
    for start in range(0, corpus.tokens, piece):
        tokens = corpus.read(start, min(piece, corpus.tokens - start))
        counts += np.bincount(tokens, minlength=len(counts))
    counts[corpus.tokenizer["bos"]] -= corpus.documents
    return float(entr(counts / counts.sum()).sum())
