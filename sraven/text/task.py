"""The ladder: questions of several settings of SRAVEN, as one task for language models."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_choice, check_indices, check_integer
from sraven.core.batch import Instances
from sraven.core.errors import ConfigurationError
from sraven.core.roles import References, Rows, Scoring, Task, Wording
from sraven.core.spec import added, task_config
from sraven.core.versions import check_version, version_setting
from sraven.task import SRAVEN, Batch as Puzzles
from sraven.text.forms import FORMS
from sraven.text.questions import COUNT, HOLDOUT, LADDER, PADDING, SEED, asked_split

T = TypeVar("T")

SPLIT = "ladder"
"""The one split of a ladder: the questions of all rungs, in the order of its edition."""


class Edition(NamedTuple):
    """How the questions of a ladder are put.

    Attributes:
        interleaved: whether question i is of rung i modulo their number, so that the first questions are of
            all rungs alike; else one rung comes after the other.
        forms: of `sraven.text.FORMS`, by what a board calls them.
    """

    interleaved: bool
    forms: Mapping[str, str]

    @property
    def lenient(self) -> bool:
        """Whether replies are scored by the lenient reading."""
        return FORMS[self.forms["told"]].lenient


EDITIONS = {
    1: Edition(False, {"told": "told", "untold": "untold"}),
    2: Edition(True, {"told": "told2", "untold": "untold2"}),
    3: Edition(False, {"told": "told2", "untold": "untold2"}),
}
"""The editions of the text boards: versions 1 and 2, and that for people, from easy to hard. None changes."""

_RUNG = re.compile(r"M([1-9][0-9]?)-K([1-9][0-9]{0,2})", re.ASCII)
_MOST_SIZE, _MOST_SHOTS, _MOST_K = 1 << 20, 64, 255


def take_turns(parts: Iterable[Iterable[T]]) -> Iterator[T]:
    """Yield one of each part in turn, until there are no more of any."""
    return (each for row in zip_longest(*parts) for each in row if each is not None)


class Batch(Instances):
    """Questions of a ladder, as C-contiguous NumPy arrays. W is the most features that a rung has.

    Attributes:
        rung: uint8 ``[n]``, which rung each is of.
        context: uint8 ``[n, 8, W]``, the eight context panels, `PADDING` beyond the rung's M.
        target: uint8 ``[n, W]``, the ninth panel, in the same way.
    """

    __slots__ = ()

    rung: NDArray[np.uint8]
    context: NDArray[np.uint8]
    target: NDArray[np.uint8]


@dataclass(frozen=True)
class Ladder(Task):
    """Certified instances of several settings, to be asked in words.

    A rung is a level of difficulty. Rung number r is the task ``tasks[r]``, and its questions are the first
    instances of that task's ``ood``: every answer takes a combination of rules that no solved example shows.
    At M = 1 a combination is a rule, none of which can be held out, so there the questions are those of
    ``test``.

    Attributes:
        rungs: settings of SRAVEN by name, such as ``M4-K8``.
        size: questions of each.
        shots: solved examples, of ``train``, in the prompts that have some.
        holdout: of the settings with several features.
        seed: of all settings.
        version: of the benchmark, by keyword; the newest unless another one is given.
        edition: how the questions are put, a number of `EDITIONS`.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range.
    """

    name: ClassVar[str] = "sraven-text"
    splits: ClassVar[tuple[str, ...]] = (SPLIT,)
    fewest_shots: ClassVar[int] = 1

    rungs: tuple[str, ...] = tuple(f"M{rung.M}-K{rung.K}" for rung in LADDER)
    size: int = COUNT
    shots: int = 4
    holdout: float = HOLDOUT
    seed: int = SEED
    version: str = version_setting()
    edition: int = added(1)

    def __post_init__(self) -> None:
        check_version(self.version)
        if isinstance(self.rungs, str) or not self.rungs or len(set(self.rungs)) != len(self.rungs):
            raise ConfigurationError(
                f"rungs={self.rungs!r}: expected names of settings, such as M4-K8, each once"
            )
        object.__setattr__(self, "rungs", tuple(self.rungs))
        counts = {
            "size": check_integer("size", self.size, 1, _MOST_SIZE),
            "shots": check_integer("shots", self.shots, self.fewest_shots, _MOST_SHOTS),
            "edition": check_integer("edition", self.edition, 1, max(EDITIONS), "others take a newer sraven"),
        }
        for name, value in counts.items():
            object.__setattr__(self, name, value)
        _ = self.tasks  # refuses settings that there aren't

    @property
    def config(self) -> dict[str, Any]:
        """Everything that determines the questions, as JSON values."""
        return task_config(self.name, self) | {"rungs": list(self.rungs)}

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``ladder-8x2000``."""
        return f"{SPLIT}-{len(self.rungs)}x{self.size}"

    @cached_property
    def tasks(self) -> tuple[SRAVEN, ...]:
        """The task of each rung."""
        return tuple(map(self._make_task, self.rungs))

    def _make_task(self, rung: str) -> SRAVEN:
        found = _RUNG.fullmatch(rung) if isinstance(rung, str) else None
        if not found:
            raise ConfigurationError(f"rungs has {rung!r}; expected the name of a setting, such as M4-K8")
        M, K = map(int, found.groups())
        check_integer(f"K of {rung}", K, 3, _MOST_K, f"{PADDING} stands for no symbol")
        holdout = self.holdout if M > 1 else 0
        return SRAVEN(M=M, K=K, holdout=holdout, seed=self.seed, answers="unique", version=self.version)

    @property
    def part_names(self) -> tuple[str, ...]:
        """What each of the tasks is called."""
        return self.rungs

    @property
    def width(self) -> int:
        """The most features that a rung has."""
        return max(task.M for task in self.tasks)

    @property
    def count(self) -> int:
        """Number of all questions."""
        return self.size * len(self.tasks)

    def combinations(self, split: str) -> NDArray[Any]:
        """Return the combinations of rules that are asked for and never shown solved, by number of features.

        Returns:
            objects ``[n]``: lists of rules, of as many as there are features.
        """
        check_choice("split", split, self.splits)
        by_features = {task.M: task for task in self.tasks if task.holdout}
        rows = [row for M in sorted(by_features) for row in by_features[M].combinations("ood").tolist()]
        found = np.empty(len(rows), object)
        found[:] = rows
        return found

    def empty_batch(self, count: int) -> Batch:
        """Return a batch for ``count`` questions, without any symbols."""
        return Batch(
            rung=np.zeros(count, np.uint8),
            context=np.full((count, 8, self.width), PADDING, np.uint8),
            target=np.full((count, self.width), PADDING, np.uint8),
        )

    @property
    def variants(self) -> int:
        """Questions of a set of twins; 1 where there are no sets."""
        return 1

    @property
    def presentation(self) -> Edition:
        """How the questions are put."""
        return EDITIONS[self.edition]

    def forms_of(self, form: str) -> tuple[str, ...]:
        """Return in which of `FORMS` each of the tasks is asked, given a board's name of it.

        Raises:
            ConfigurationError: for another form.
        """
        forms = self.presentation.forms
        return (forms[check_choice("form", form, tuple(forms))],) * len(self.tasks)

    def rungs_of(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the rungs that questions are of, and the index of each on its rung."""
        if self.presentation.interleaved:
            own, rungs = np.divmod(indices, len(self.tasks))
        else:
            rungs, own = np.divmod(indices, self.size)
        return rungs, own

    def counts(self, count: int) -> list[tuple[int, int]]:
        """Return the rungs of the first ``count`` questions: the number of each, and how many are its own."""
        found = np.bincount(self.rungs_of(np.arange(count))[0])
        return [(rung, many) for rung, many in enumerate(found.tolist()) if many]

    def in_order(self, rungs: Iterable[Iterable[T]]) -> Iterator[T]:
        """Merge what belongs to the questions, given rung by rung, into the order of all questions."""
        return take_turns(rungs) if self.presentation.interleaved else chain.from_iterable(rungs)

    def sample(self, split: str, start: int, count: int, *, threads: int | None = None) -> Batch:
        """Return the questions ``start`` to ``start + count - 1``.

        Args:
            split: ``ladder``.
            start: first index, from 0.
            count: number of questions.
            threads: threads to use; None for all available ones.

        Raises:
            ConfigurationError: for another split, or questions that there aren't.
        """
        advice = f"the ladder has {self.count:,} questions"
        start = check_integer("start", start, 0, self.count, advice)
        count = check_integer("count", count, 0, self.count - start, advice)
        return self.take(split, np.arange(start, start + count), threads=threads)

    def take(self, split: str, indices: ArrayLike, *, threads: int | None = None) -> Batch:
        """Return the questions with the given indices, in their order.

        Raises:
            ConfigurationError: for another split, or a question that there isn't.
        """
        check_choice("split", split, self.splits)
        array = check_indices(indices, self.count).astype(np.int64)
        rungs, own = self.rungs_of(array)
        batch = self.empty_batch(len(array))
        for rung in np.unique(rungs).tolist():
            rows, task = np.flatnonzero(rungs == rung), self.tasks[rung]
            self.write_rung(task.take(asked_split(task), own[rows], threads=threads), rung, batch, rows)
        return batch

    def write_rung(self, found: Puzzles, rung: int, batch: Batch, rows: NDArray[np.int64]) -> None:
        """Write instances of a rung's task into rows of a batch of questions."""
        M = found.target.shape[1]
        batch.rung[rows] = rung
        batch.context[rows, :, :M] = found.context
        batch.target[rows, :M] = found.target

    # Roles

    @property
    def rows(self) -> Rows:
        """Nothing: the datasets are those of its settings.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(
            f"{self.name} has no datasets: `sraven text generate` writes its prompts, and `sraven generate "
            "--answers unique` (or `sraven twins generate`) the puzzles of one setting"
        )

    @property
    def scoring(self) -> Scoring:
        """How predictions are scored."""
        from sraven.text.metrics import LadderScoring

        return LadderScoring(self)

    @property
    def references(self) -> References:
        """What scores are read against: reference predictors and the ideal observer."""
        from sraven.text.references import LadderReferences

        return LadderReferences(self)

    @property
    def wording(self) -> Wording:
        """The questions in words, and replies read."""
        from sraven.text.wording import LadderWording

        return LadderWording(self)
