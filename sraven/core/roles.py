"""The roles of a task: the one interface between tasks and everything built on them.

====================  ==================================================================================
role                  what it is about
====================  ==================================================================================
`Task`                its configuration: which instances there are
`Rows`                its instances as rows of a dataset: columns, encoding, checks, texts
`Scoring`             how predictions are scored
`References`          what scores are read against: reference predictors, and what the ideal observer scores
`Diagnosis`           how wrong answers are sorted; a task may have none (`sraven.scoring.mistakes`)
`Wording`             its instances in words, and replies read: of tasks whose predictions are texts
====================  ==================================================================================

A task itself has the first; the others are its properties.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.means import Mean

Arrays = Mapping[str, NDArray[Any]]
"""Arrays by name, with the instances along the first axis."""

Answers = tuple[NDArray[Any], NDArray[Any]]
"""Of a run, its predictions ``[n, ...]`` and the error of each ``[n]``."""

TEXT = "text"
"""The dtype of a prediction that is submitted as a text; what is scored is what a `Wording` reads in it."""


@dataclass(frozen=True)
class Column:
    """A column of a dataset.

    Attributes:
        name: its name, also that of the batch's array.
        dtype: NumPy name of the element type.
        shape: shape of one instance's value; () for a single number.
        meaning: what it holds, in a sentence without a full stop.
        derived: whether it follows from the other columns; digests leave derived columns out.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    meaning: str
    derived: bool = False


@dataclass(frozen=True)
class Encoded:
    """A run of instances as they are written to a dataset.

    Attributes:
        columns: an array per column of the task.
        tallies: counts (int64) that add up over runs, for the dataset card.
    """

    columns: Arrays
    tallies: Arrays


def row_fault(arrays: Arrays, wrong: NDArray[np.bool_], text: str) -> str:
    """Return a fault with the number of rows that have it and the first one's index."""
    return f"{text} (rows: {int(wrong.sum()):,}; first index: {int(arrays['index'][wrong][0])})"


def row_faults(arrays: Arrays, right: Mapping[str, Any]) -> list[str]:
    """Return the faults that some rows have, given by fault which rows don't have it."""
    return [row_fault(arrays, ~fine, text) for text, fine in right.items() if not fine.all()]


class Metric(NamedTuple):
    """A score that is a function of sums over instances.

    So one set of columns gives the score of a split, of each of its combinations and of every
    bootstrap sample. A median is no such function: it takes the columns themselves, and has no interval.

    Attributes:
        summands: names of the columns whose sums enter.
        function: returns the score, given an array of sums for each of them; NaN where there is none.
        higher_is_better: whether more is better, as it is for accuracy but not for an error.
        title: what people call it; "" for its name.
        is_share: whether it is the accuracy on a part of the instances (the second summand counts them)
            that has every instance on which the ideal observer can err: only then does the ceiling of the
            split bound it, see `sraven.leaderboard.eligibility`.
        of_instances: whether the function takes columns ``[n, runs]``, and those of the labels ``[n, 1]``, in
            place of their sums.
    """

    summands: tuple[str, ...]
    function: Callable[..., NDArray[np.float64]]
    higher_is_better: bool = True
    title: str = ""
    is_share: bool = False
    of_instances: bool = False


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a sum as a share of another, or a mean, as most metrics are; NaN where there is none."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Labels:
    """The truth about the instances of a split, as scoring needs it; equal to itself alone.

    Attributes:
        arrays: the task's own arrays, and ``combination``.
        summands: columns that don't depend on a prediction, ``[n]`` each.
    """

    arrays: Arrays
    summands: Arrays


class Comparison(NamedTuple):
    """How predictions of a task are compared with others, to find copies, votes and seeds of one network.

    Attributes:
        error: returns the error of a run, given its scores by metric.
        distance: returns how far the predictions of two runs are apart, in the same unit.
        share: of the error by which copies differ at most.
        errors: returns the error on each instance, ``[n]``, given the arrays of the labels and predictions:
            whether it is wrong, or by how much (float64); None where seeds aren't networks trained apart.
        agreement: returns how far the errors of two runs agree, 1 if they are the same.
        most_agreement: of networks that were trained apart; those of the filed entries agree less.
        borrowed: returns which share of a run's error others have together, 1 for a vote or mean of theirs.
        most_borrowed: of networks that were trained apart, and of ensembles of them.
    """

    error: Callable[[Mapping[str, float]], float]
    distance: Callable[[NDArray[Any], NDArray[Any]], float]
    share: float = 0.01
    errors: Callable[[Mapping[str, NDArray[Any]], NDArray[Any]], NDArray[Any]] | None = None
    agreement: Callable[[NDArray[Any], NDArray[Any]], float] = lambda first, second: 0.0
    most_agreement: float = 1.0
    borrowed: Callable[[Answers, Sequence[Answers]], float] = lambda run, others: 0.0
    most_borrowed: float = 1.0


class Reference(NamedTuple):
    """A predictor that is there for comparison, not for rank.

    Attributes:
        description: what it does, in a sentence.
        predict: returns predictions (an array, or a list of texts), given the split, the number of
            instances and a seed.
        instances: training instances that it looks at.
        random: whether it predicts otherwise with another seed.
    """

    description: str
    predict: Callable[[str, int, int], Any]
    instances: int = 0
    random: bool = False


@dataclass(frozen=True)
class Description:
    """Texts about a dataset, in Markdown.

    Attributes:
        title: of the card.
        summary: one sentence.
        body: the card's sections after the counts.
        limitations: what the data doesn't show, in a sentence or two.
        biases: how the sampling shapes the data, in a sentence or two.
        uses: what the data is for, in a sentence or two.
        keywords: for search.
    """

    title: str
    summary: str
    body: str
    limitations: str
    biases: str
    uses: str
    keywords: tuple[str, ...]


class Task(ABC):
    """A benchmark task: a configuration, the instances that it determines, and what plays its roles.

    `sraven.core.access.RandomAccess` is the base class of tasks that generate their instances. A task
    imports what plays its roles where it says so: it costs no more than what is asked of it.
    """

    name: ClassVar[str]
    """Name of the task family, such as ``sraven``."""

    version: str
    """Version of the benchmark whose instances these are."""

    @property
    @abstractmethod
    def config(self) -> Mapping[str, Any]:
        """Everything that determines the instances, as JSON values."""

    @property
    @abstractmethod
    def config_name(self) -> str:
        """Short name of the configuration, used as a folder's name."""

    @property
    @abstractmethod
    def splits(self) -> Sequence[str]:
        """Names of the splits that have instances."""

    @property
    def columns(self) -> Sequence[Column]:
        """The arrays that digests cover, and those of a dataset that they don't, first ``index``."""
        return (self.wording or self.rows).columns

    @property
    def rows(self) -> "Rows":
        """The instances as rows of a dataset.

        Raises:
            ConfigurationError: for a task without datasets.
        """
        raise ConfigurationError(f"the task {self.name} has no datasets of its own")

    @property
    @abstractmethod
    def scoring(self) -> "Scoring":
        """How predictions are scored."""

    @property
    @abstractmethod
    def references(self) -> "References":
        """The reference predictors and the ideal observer's scores, which others are read against."""

    @property
    def diagnosis(self) -> Any:
        """How wrong answers are sorted, a `sraven.scoring.mistakes.Diagnosis`; None if nothing sorts them."""
        return None

    @property
    def wording(self) -> Any:
        """The instances in words, a `Wording`, of a task whose predictions are texts; None for others."""
        return None

    @property
    def sequences(self) -> Any:
        """The task as PyTorch networks see it, a `SequenceTask`; None where none is trained."""
        return None

    @abstractmethod
    def sample(self, split: str, start: int, count: int, *, threads: int | None = None) -> Any:
        """Return a batch, see `sraven.core.batch.Instances`."""

    @abstractmethod
    def take(self, split: str, indices: ArrayLike, *, threads: int | None = None) -> Any:
        """Return the instances with the given indices, in their order."""

    @abstractmethod
    def empty_batch(self, count: int) -> Any:
        """Return a batch for ``count`` instances, its content undefined."""

    @abstractmethod
    def combinations(self, split: str) -> NDArray[Any]:
        """Return the combinations of a split, a row each."""


class Rows(Protocol):
    """The instances of a task as rows of a dataset."""

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of a dataset, first ``index``."""

    @property
    def instance_columns(self) -> Sequence[str]:
        """The columns by which two instances are the same puzzle."""

    def encode(self, split: str, start: int, count: int, threads: int) -> Encoded:
        """Return a run of instances as written to a dataset."""

    def find_faults(self, split: str, arrays: Arrays) -> list[str]:
        """Return what is wrong with instances read from a dataset, a line for each kind.

        This is a second opinion, which doesn't ask the generator.
        """

    def remark(self, tallies: Mapping[str, Any]) -> str:
        """Return what to print behind a split's size, given its tallies; starts with a comma."""

    def describe(self, tallies: Mapping[str, Arrays]) -> Description:
        """Return the texts of the dataset card, given the tallies of each split."""


class Scoring(Protocol):
    """How predictions of a task are scored."""

    @property
    def prediction(self) -> Column:
        """Type and shape of the prediction of one instance."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""

    @property
    def by_combination(self) -> Sequence[str]:
        """Names of those that are also given for each combination, in this version of the benchmark."""

    @property
    def chance(self) -> Mapping[str, float]:
        """What guessing scores, by metric; those without a known value are absent."""

    @property
    def comparison(self) -> Comparison:
        """How predictions are compared with those of other runs."""

    def find_fault(self, predictions: NDArray[Any]) -> tuple[int, str] | None:
        """Return the first row of predictions that can't be scored and why, or None."""

    def labels(self, batch: Any, threads: int | None) -> Labels:
        """Return the truth about the instances of a batch."""

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return the columns that depend on predictions; one that isn't answered counts as wrong."""


class References(Protocol):
    """What scores of a task are read against."""

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name."""

    @property
    def answers(self) -> Mapping[int, Mapping[str, str]]:
        """How the ideal observer answers, by version of the ceilings' definition and by metric.

        The ways to answer are those of `sraven.board.ceilings.ANSWERS`.
        """

    def ceilings(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return what the ideal observer scores, by what it knows and by metric.

        It assumes the split's combinations (``knowing_split``) or all (``not_knowing``), and answers as the
        newest definition of `answers` says.
        """

    def levels(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return what scores on a split are read against besides, by level and metric.

        The levels are those of its family (`Family.reference_levels`).
        """


class ScoredLevel(NamedTuple):
    """A part of a scored split that has a difficulty of its own and is scored apart, too.

    Attributes:
        metric: its share right, a name of `Scoring.metrics`.
        settings: what sets it apart from other levels, such as ``{"M": 4, "K": 8}``.
        instances: how many of the split are its own.
        chance: what guessing scores on it.
        floors: scores of baselines that learn nothing, by name.
        ceilings: what the ideal observer scores on it and with what standard error, by which instances:
            ``board`` for those of the board, else the name of other instances of the same settings.
    """

    metric: str
    settings: Mapping[str, int]
    instances: int
    chance: float
    floors: Mapping[str, float]
    ceilings: Mapping[str, Mean]


class Wording(Protocol):
    """A task in words: the prompts for language models, and the reading of their replies."""

    @property
    def columns(self) -> Sequence[Column]:
        """The arrays of a batch that the digests of a board cover."""

    @property
    def forms(self) -> Sequence[str]:
        """Names of the forms of a prompt; entries of different forms are ranked separately."""

    def is_bounded(self, form: str) -> bool:
        """Return whether the ideal observer's scores bound those of models prompted in a form."""

    def prompts(self, split: str, count: int, form: str) -> Iterator[str]:
        """Yield the prompts of the first instances of a split."""

    def read(self, split: str, indices: NDArray[np.int64], replies: Sequence[str]) -> NDArray[Any]:
        """Return what is said in replies to the instances with these indices, as `Scoring.prediction` has it.

        Any text is a reply: one that says nothing is read as a prediction that is wrong.
        """

    def levels(self, split: str, count: int, threads: int | None) -> Sequence[ScoredLevel]:
        """Return the parts of the first instances of a split that are scored apart."""
