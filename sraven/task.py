"""The SRAVEN task: configuration, split and range of indices in, instances out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.arguments import check_K, check_M
from sraven.certificates.ambiguity import count_answers, is_unique
from sraven.certificates.observer import ideal_observer
from sraven.certificates.posterior import rule_posterior, symbol_marginals
from sraven.core.arguments import check_choice, check_integer, check_share
from sraven.core.batch import Instances
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.parallel import for_each_chunk
from sraven.core.roles import References, Rows, Scoring
from sraven.core.spec import SEED_LIMIT
from sraven.core.versions import check_version
from sraven.divisions import DIVISIONS
from sraven.kernels import Tables, generate, make_tables
from sraven.rules import PAPER, Rules, rules_of
from sraven.scoring.mistakes import Diagnosis
from sraven.scoring.task import ScoredTask
from sraven.settings import POLICIES, Settings
from sraven.splits import partition, rule_combinations

if TYPE_CHECKING:
    from sraven.core.torch.sequences import SequenceTask

SPLITS = ("train", "test", "ood")
"""Splits of a dataset: known combinations twice, held-out ones."""

_ATTEMPT_LIMIT = 1 << 12


class Batch(Instances):
    """Instances of SRAVEN, as C-contiguous NumPy arrays.

    Attributes:
        context: uint8 ``[n, 8, M]``, the eight context panels, row-major.
        target: uint8 ``[n, M]``, the ninth panel.
        rules: uint8 ``[n, M]``, the rule of each feature before permutation, ascending.
        permutations: uint8 ``[n, 3, M]``; ``[:, c, p]`` is the feature that position p of column
            c shows.
        combination: int32 ``[n]``, index into ``task.combinations("all")``.
    """

    __slots__ = ()

    context: NDArray[np.uint8]
    target: NDArray[np.uint8]
    rules: NDArray[np.uint8]
    permutations: NDArray[np.uint8]
    combination: NDArray[np.int32]


def _check_holdout(holdout: Any) -> float | str:
    """Return a share as a float, or the name of a division."""
    if isinstance(holdout, str) and holdout in DIVISIONS:
        return str(holdout)
    return check_share("holdout", holdout, f"such as 0.25, or one of {', '.join(DIVISIONS)}")


@dataclass(frozen=True)
class SRAVEN(Settings, ScoredTask[Batch]):
    """Symbolic Raven's matrices (paper, section 4 and appendix B).

    Instance ``i`` of a split is a pure function of this configuration, the split and ``i``:
    byte-identical however it is requested.

    Attributes:
        M: features of a panel, 1 to 12.
        K: symbols, 3 to 256.
        holdout: share of the rule combinations held out for ``ood``, as 0.25; 0 for no ood split. Or the
            name of a division, one of `sraven.divisions.DIVISIONS`: ``camps`` holds out combinations with
            rules of two camps of families, ``ring`` those of families that aren't neighbours, ``scattered``
            and ``scattered-ring`` as many, but no pair of rules; ``pairs`` those with one of R/2 pairs of
            rules, ``blocks`` those with rules of both halves of the rules, ``repeats`` those with a rule
            twice.
        seed: an integer from 0; draws the partition and the instances.
        answers: ``any``, or ``unique`` for instances with exactly one answer.
        permute: whether each column shows the features in an order of its own.
        rule_set: by keyword, the name of a set of rules, one of `sraven.rules.RULE_SETS`; ``paper`` has the
            paper's eight.
        version: of the benchmark, by keyword; the newest unless another one is given.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range, or a holdout that leaves a
            split empty or a rule out of train.

    Example:
        >>> task = SRAVEN(M=4, K=8, holdout=0.25, seed=0)
        >>> task.sample("train", start=0, count=2).context.shape
        (2, 8, 4)
    """

    name: ClassVar[str] = "sraven"

    def __post_init__(self) -> None:
        if not isinstance(self.permute, bool | np.bool_):
            raise ConfigurationError(f"permute={self.permute!r}: expected True or False")
        check_version(self.version)
        checked = {
            "M": check_M(self.M),
            "K": check_K(self.K),
            "holdout": _check_holdout(self.holdout),
            "seed": check_integer("seed", self.seed, 0, SEED_LIMIT),
            "answers": check_choice("answers", self.answers, POLICIES),
            "permute": bool(self.permute),
        }
        _ = self.rules  # refuses a set that there isn't
        for name, value in checked.items():  # NumPy's numbers become Python's
            object.__setattr__(self, name, value)
        _ = self._partition  # refuses what can't be divided

    @property
    def rules(self) -> Rules:
        """The rules of its set; rule ``r`` of a feature is ``rules[r]``."""
        return rules_of(self.rule_set)

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``M4-K8``, ``M4-K8-unique`` or ``M4-K8-blocks``."""
        parts = [f"M{self.M}", f"K{self.K}", *([self.holdout] if isinstance(self.holdout, str) else [])]
        parts += ["unique"] * (self.answers == "unique") + ["unpermuted"] * (not self.permute)
        return "-".join(parts + [self.rule_set] * (self.rule_set != PAPER))

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits that have instances."""
        return SPLITS if self.holdout else SPLITS[:2]

    @cached_property
    def _partition(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return partition(self.M, self.holdout, self.seed, self.version, self.rules)

    def combination_indices(self, split: str) -> NDArray[np.int32]:
        """Return which combinations a split draws from, ascending: int32 ``[n_combinations]``.

        Args:
            split: ``train``, ``test``, ``ood`` or ``all``.
        """
        if not isinstance(split, str) or split not in (*self.splits, "all"):
            allowed = ", ".join((*self.splits, "all"))
            why = "; holdout=0 leaves no ood split" if split == "ood" else ""
            raise ConfigurationError(f"split={split!r}: expected one of {allowed}{why}")
        if split == "all":
            return np.arange(len(rule_combinations(self.M, self.rules)), dtype=np.int32)
        known, held_out = self._partition
        return (held_out if split == "ood" else known).copy()

    def combinations(self, split: str) -> NDArray[np.uint8]:
        """Return the rule combinations of a split: uint8 ``[n_combinations, M]``, rows sorted.

        Args:
            split: ``train``, ``test``, ``ood`` or ``all``.
        """
        return rule_combinations(self.M, self.rules)[self.combination_indices(split)]

    def empty_batch(self, count: int) -> Batch:
        """Return a batch for ``count`` instances, its content undefined."""
        return Batch(
            context=np.empty((count, 8, self.M), np.uint8),
            target=np.empty((count, self.M), np.uint8),
            rules=np.empty((count, self.M), np.uint8),
            permutations=np.empty((count, 3, self.M), np.uint8),
            combination=np.empty(count, np.int32),
        )

    def fill(
        self, split: str, indices: NDArray[np.uint64], batch: Batch, threads: int | None
    ) -> NDArray[np.int64]:
        """Write the instances ``indices`` of a split into ``batch``.

        Returns:
            int64 ``[n_combinations]``: how many instances of each combination the policy turned
            down on the way; with it the acceptance rates are known.
        """
        key, tables = self.stream(split)
        rejected = [np.zeros(len(tables.combinations), np.int64)]

        def fill_part(part: slice) -> None:
            here = batch[part]
            generate(key, indices[part], np.uint64(0), tables, tuple(here))
            if self.answers == "unique":
                rejected.extend(self._replace_ambiguous(key, indices[part], tables, here))

        for_each_chunk(fill_part, len(indices), threads)
        return np.asarray(np.sum(rejected, axis=0, dtype=np.int64))

    def _replace_ambiguous(
        self, key: NDArray[np.uint64], indices: NDArray[np.uint64], tables: Tables, batch: Batch
    ) -> Iterable[NDArray[np.int64]]:
        """Draw ambiguous instances again until each has one answer; yield counts of those rejected."""

        def ambiguous(context: NDArray[np.uint8]) -> NDArray[np.bool_]:
            return ~is_unique(context, self.K, threads=1, **self.context_options)

        n_combinations = len(tables.combinations)
        pending = np.flatnonzero(ambiguous(batch.context))
        attempt = 0
        while len(pending):
            yield np.bincount(batch.combination[pending], minlength=n_combinations)
            attempt += 1
            if attempt == _ATTEMPT_LIMIT:
                raise CapacityError(
                    f"{_ATTEMPT_LIMIT:,} draws in a row had more than one answer at M={self.M}, "
                    f"K={self.K}: use a larger K or answers='any'"
                )
            drawn = self.empty_batch(len(pending))
            generate(key, indices[pending], np.uint64(attempt), tables, tuple(drawn))
            for array, new in zip(batch, drawn, strict=True):
                array[pending] = new
            pending = pending[ambiguous(drawn.context)]

    def count_answers(self, batch: Batch, *, threads: int | None = None) -> NDArray[np.int64]:
        """Count the ninth panels that fit each context, exactly: int64 ``[n]``; 1 means unique.

        It is `sraven.count_answers` with this task's symbols, permutations and rules.

        Args:
            batch: instances of this task.
            threads: threads to use; None for all available ones.
        """
        return count_answers(batch.context, self.K, threads=threads, **self.context_options)

    def ideal_observer(
        self, batch: Batch, prior: str = "all", *, threads: int | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Return the most probable ninth panel of each instance, and its probability.

        It is `sraven.ideal_observer` with this task's symbols, permutations, rules and combinations.

        Args:
            batch: instances of this task.
            prior: the split whose combinations the observer assumes; ``all`` for all of them.
            threads: threads to use; None for all available ones.

        Returns:
            uint8 ``[n, M]`` and float64 ``[n]``, as `sraven.ideal_observer` does.
        """
        return ideal_observer(
            batch.context, self.K, self.combinations(prior), threads=threads, **self.context_options
        )

    def rule_posterior(
        self, batch: Batch, prior: str = "all", *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return how probable each rule is at each position of the ninth panel: float64 ``[n, M, R]``.

        It is `sraven.rule_posterior` with this task's symbols, permutations, rules and combinations; the
        true rule of position p is ``batch.rules[n, batch.permutations[n, 2, p]]``.

        Args:
            batch: instances of this task.
            prior: the split whose combinations are assumed; ``all`` for all of them.
            threads: threads to use; None for all available ones.
        """
        return rule_posterior(
            batch.context, self.K, self.combinations(prior), threads=threads, **self.context_options
        )

    def symbol_marginals(
        self, batch: Batch, prior: str = "all", *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return how probable each symbol is at each position of the ninth panel: float64 ``[n, M, K]``.

        It is `sraven.symbol_marginals` with this task's symbols, permutations, rules and combinations.

        Args:
            batch: instances of this task.
            prior: the split whose combinations are assumed; ``all`` for all of them.
            threads: threads to use; None for all available ones.
        """
        known = self.combinations(prior)
        return symbol_marginals(batch.context, self.K, known, threads=threads, **self.context_options)

    @property
    def context_options(self) -> dict[str, Any]:
        """What functions of contexts, such as `sraven.is_answer`, have to know of this task."""
        return {"permute": self.permute, "rules": self.rules}

    def make_tables(self, split: str) -> Tables:
        """Return what the kernels read of a split."""
        choices = self.combination_indices(split)
        combinations = rule_combinations(self.M, self.rules)
        return make_tables(self.K, combinations, choices, self.permute, self.rules)

    # Roles

    @property
    def rows(self) -> Rows:
        """The instances as rows of a dataset."""
        from sraven.record import SRAVENRows

        return SRAVENRows(self)

    @property
    def scoring(self) -> Scoring:
        """How predictions are scored."""
        from sraven.metrics import SRAVENScoring

        return SRAVENScoring(self)

    @property
    def references(self) -> References:
        """Reference predictors and the ideal observer, against which scores are read."""
        from sraven.references import SRAVENReferences

        return SRAVENReferences(self)

    @property
    def diagnosis(self) -> Diagnosis:
        """How wrong answers are sorted."""
        from sraven.mistakes import SRAVENDiagnosis

        return SRAVENDiagnosis(self)

    @property
    def sequences(self) -> "SequenceTask":
        """The task as PyTorch networks see it."""
        from sraven.torch import sequence_task

        return sequence_task(self)
