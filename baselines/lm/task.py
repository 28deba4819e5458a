"""Language modelling on C4 as a task of the benchmark: which text it is, and how losses are scored.

Nothing here reads text. Submissions carry the losses of documents, and scoring adds them up.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.access import INDEX_LIMIT
from sraven.core.arguments import check_integer
from sraven.core.comparison import Comparison
from sraven.core.errors import ConfigurationError
from sraven.core.families import scoring_of
from sraven.core.spec import task_config
from sraven.core.task import Arrays, Column, Labels, Metric, Scoring
from sraven.core.versions import check_version, version_setting

MOST = 1 << 40
"""Nats, targets and bytes that a document may have: the sums of whatever is submitted stay finite."""

_MOST_PIECES = 1 << 16

LOSS, TARGETS, BYTES = range(3)
"""Places in what is submitted for a document."""


def _perplexity(loss: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        perplexity = np.exp(loss / targets)
    return np.where(np.isfinite(perplexity), perplexity, np.nan)


def _bits_per_byte(loss: NDArray[np.float64], text_bytes: NDArray[np.float64]) -> NDArray[np.float64]:
    return loss / math.log(2) / text_bytes


METRICS = {
    "loss": Metric(("loss", "targets"), np.divide, higher_is_better=False, title="loss per token"),
    "perplexity": Metric(("loss", "targets"), _perplexity, higher_is_better=False),
    "bits_per_byte": Metric(("loss", "bytes"), _bits_per_byte, higher_is_better=False),
}


def _losses_apart(first: NDArray[Any], second: NDArray[Any]) -> float:
    return float(np.abs(first[:, LOSS] - second[:, LOSS]).sum() / first[:, TARGETS].sum())


# The losses of good models are alike: those of two seeds differ by a hundredth or so.
COMPARISON = Comparison(lambda scores: scores["loss"], _losses_apart, share=1e-4)


@dataclass(frozen=True)
class C4:
    """The loss of a language model on documents of C4, each by itself, as tokens of one tokenizer.

    Attributes:
        dataset: name on the Hub.
        configuration: of the dataset.
        split: of the configuration; an instance is a document of it, by its place from 0, the
            files in their order.
        documents: how many it has.
        tokenizer_sha256: of the file of the SentencePiece model.
        pieces: of the tokenizer.
        version: of the benchmark, by keyword; the newest unless another one is given.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range.
    """

    name: ClassVar[str] = "c4"

    dataset: str = "allenai/c4"
    configuration: str = "en"
    split: str = "validation"
    documents: int = 364_608
    tokenizer_sha256: str = "15d8dfa11996e0d1e8645897ec4d70b1dec6a7cb6d87df0daf560a3cde479006"
    pieces: int = 32_101
    version: str = version_setting()

    def __post_init__(self) -> None:
        for name in ("dataset", "configuration", "split"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ConfigurationError(f"{name}={getattr(self, name)!r}: expected a name")
        check_version(self.version)
        check_integer("documents", self.documents, 1, INDEX_LIMIT)
        check_integer("pieces", self.pieces, 1, _MOST_PIECES, "tokens are stored in 16 bits")
        checksum = self.tokenizer_sha256
        if not isinstance(checksum, str) or not re.fullmatch(r"[0-9a-f]{64}", checksum):
            raise ConfigurationError(f"tokenizer_sha256={checksum!r}: expected 64 hexadecimal digits")

    @property
    def config(self) -> dict[str, Any]:
        """The text and its tokens, as JSON values."""
        return task_config(self.name, self)

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``en-validation``."""
        return f"{self.configuration}-{self.split}"

    @property
    def splits(self) -> tuple[str, ...]:
        """Name of the one split that is scored."""
        return (self.split,)

    @property
    def scoring(self) -> Scoring:
        """How losses are scored."""
        return scoring_of(self)


@dataclass(frozen=True)
class C4Scoring:
    """Scores the losses of documents. All metrics are ratios of sums over documents.

    =================  =============================================================
    metric             meaning
    =================  =============================================================
    ``loss``           nats per token: the sum of losses over the number of targets
    ``perplexity``     its exponential
    ``bits_per_byte``  the sum of losses in bits over the bytes of the text in UTF-8
    =================  =============================================================

    Attributes:
        task: the task.
    """

    task: C4

    @property
    def prediction(self) -> Column:
        """float64 ``[3]``: loss, targets and bytes of a document.

        The loss is the sum over all targets, in nats. A target is every token but BOS, once,
        given earlier tokens of the same document alone.
        """
        return Column("prediction", "float64", (3,), "loss in nats, targets and bytes of a document")

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""
        return METRICS

    @property
    def by_combination(self) -> tuple[str, ...]:
        """Nothing: text has no combinations."""
        return ()

    @property
    def chance(self) -> dict[str, float]:
        """What it costs that all pieces of the tokenizer are equally likely."""
        return {"loss": math.log(self.task.pieces)}

    @property
    def comparison(self) -> Comparison:
        """By how much the losses of documents differ, per target."""
        return COMPARISON

    def find_fault(self, predictions: NDArray[Any]) -> tuple[int, str] | None:
        """Return the first row that can't be the loss, targets and bytes of a document, and why; or None."""
        loss, counts = predictions[:, LOSS], predictions[:, TARGETS:]
        possible = (loss >= 0) & (loss <= MOST)  # false for NaN
        whole = (counts >= 1) & (counts <= MOST) & (counts == np.floor(counts))
        rows = np.flatnonzero(~(possible & whole.all(axis=1)))
        if not len(rows):
            return None
        row = int(rows[0])
        loss, targets, text_bytes = predictions[row]
        if not possible[row]:
            return row, f"has a loss of {loss:g} nats; expected a number from 0 to {MOST:,}"
        wrong = f"{text_bytes:g} bytes" if whole[row, 0] else f"{targets:g} targets"
        return row, f"has {wrong}; expected a whole number from 1 to {MOST:,}"

    def labels(self, batch: NDArray[np.float64], threads: int | None) -> Labels:
        """Return what is known of documents: targets and bytes (int64 ``[n]``).

        Args:
            batch: what is submitted for them, float64 ``[n, 3]``: the benchmark doesn't hold them.
            threads: not used.
        """
        targets, text_bytes = (batch[:, place].astype(np.int64) for place in (TARGETS, BYTES))
        combination = np.zeros(len(batch), np.int64)
        return Labels({"combination": combination}, {"targets": targets, "bytes": text_bytes})

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return the losses in nats, as a column ``[n]`` to be summed; every document has one."""
        return {"loss": predictions[:, LOSS]}
