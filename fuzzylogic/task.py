"""The fuzzy-logic task: configuration, split and range of indices in, sequences out."""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.identifiability import Identification, identify
from fuzzylogic.kernels import Tables, generate
from fuzzylogic.settings import QUERIES, UNSEEN, Settings
from fuzzylogic.splits import Partition, divide
from fuzzylogic.terms import binomials, check_total, combinations_of, rank_all, term_dtype
from sraven.core.arguments import check_choice, check_integer, check_share
from sraven.core.batch import Instances
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.parallel import for_each_chunk
from sraven.core.permutation import half_bits, permute_all
from sraven.core.rng import fill_uniform
from sraven.core.roles import References, Rows, Scoring
from sraven.core.spec import SEED_LIMIT
from sraven.core.versions import check_version
from sraven.scoring.mistakes import Diagnosis
from sraven.scoring.task import ScoredTask

if TYPE_CHECKING:
    from sraven.core.torch.sequences import SequenceTask

SPLITS = ("train", "test", "ood", "ood_terms")

L_LIMIT, K_LIMIT, N_LIMIT = 16, 8, 4096

_LIST_LIMIT = 1 << 24
_TABLE_LIMIT = 1 << 16


class Batch(Instances):
    """Sequences of the fuzzy-logic task, as C-contiguous NumPy arrays.

    Attributes:
        inputs: float32 ``[n, N, L]``, multiples of 2**-24 in [0, 1).
        targets: float32 ``[n, N]``, the value of the function at each point; the last one is the
            query's, to be predicted.
        terms: uint8 (uint16 beyond L = 8) ``[n, K]``, term ids, ascending; bit l of a term (value
            2**l) is set where x_l enters un-negated.
        combination: int32 ``[n]``, number of the combination among those of all 2**L terms, in
            colexicographic order.
    """

    __slots__ = ()

    inputs: NDArray[np.float32]
    targets: NDArray[np.float32]
    terms: NDArray[Any]
    combination: NDArray[np.int32]


@dataclass(frozen=True)
class FuzzyLogic(Settings, ScoredTask[Batch]):
    """Fuzzy-logic functions to be learnt in context (paper, section 3).

    A function is the disjunction (max) of K terms, each the conjunction (min) of all L variables,
    negated (1 - x) or not. Sequence ``i`` of a split is a pure function of this configuration, the
    split and ``i``.

    Attributes:
        L: variables, 1 to 16.
        K: terms of a function, 1 to 8; C(2**L, K) must be below 2**31.
        N: points of a sequence, 2 to 4096; the last one is the query.
        holdout: share of the combinations of seen terms held out for ``ood``; 0 for no ood split.
        unseen_terms: share of the terms kept for ``ood_terms``; 0 for no ood_terms split.
        unseen: by keyword, which terms these are: ``drawn`` by the seed, or the ``last`` in counting order,
            as in the paper's code: 1100 to 1111 at L = 4, so that no term of training has both of the last
            two variables un-negated.
        seed: an integer from 0; draws the divisions and the sequences.
        query: ``uniform``; ``fixed_context`` where all sequences share their first N - 1 inputs;
            ``fixed_query`` where they share the last one.
        version: of the benchmark, by keyword; the newest unless another one is given.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range, or shares that leave a split
            empty or a seen term out of train.

    Example:
        >>> task = FuzzyLogic(L=4, K=2, N=32, holdout=0.7, seed=0)
        >>> task.sample("ood", start=0, count=128).inputs.shape
        (128, 32, 4)
    """

    name: ClassVar[str] = "fuzzylogic"

    def __post_init__(self) -> None:
        ranges = {"L": (1, L_LIMIT), "K": (1, K_LIMIT), "N": (2, N_LIMIT), "seed": (0, SEED_LIMIT)}
        for name, ends in ranges.items():
            object.__setattr__(self, name, check_integer(name, getattr(self, name), *ends))
        for name, example in (("holdout", "such as 0.7"), ("unseen_terms", "such as 0.25")):
            object.__setattr__(self, name, check_share(name, getattr(self, name), example))
        check_choice("query", self.query, QUERIES)
        check_choice("unseen", self.unseen, UNSEEN)
        check_version(self.version)
        check_total(self.L, self.K)
        _ = self.partition  # refuses what can't be divided

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``L4-K2-N32``."""
        suffix = "" if self.query == "uniform" else f"-{self.query}"
        suffix += "" if self.unseen == "drawn" else f"-{self.unseen}"
        return f"L{self.L}-K{self.K}-N{self.N}{suffix}"

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits that have sequences."""
        empty = {"ood": not self.holdout, "ood_terms": not self.unseen_terms}
        return tuple(split for split in SPLITS if not empty.get(split))

    @cached_property
    def partition(self) -> Partition:
        """How terms and combinations are divided."""
        shares = self.holdout, self.unseen_terms
        return divide(self.L, self.K, *shares, self.unseen, self.seed, self.version)

    def _places(self, split: str) -> tuple[NDArray[np.int64], bool, int, int]:
        """Return the terms of a split, whether their combinations are shuffled, and its places."""
        parts = self.partition
        known = parts.n_combinations - parts.n_held_out
        every = np.arange(1 << self.L, dtype=np.int64)
        table = {
            "train": (parts.seen, True, parts.n_held_out, known),
            "test": (parts.seen, True, parts.n_held_out, known),
            "ood": (parts.seen, True, 0, parts.n_held_out),
            "ood_terms": (parts.unseen, False, 0, comb(len(parts.unseen), self.K)),
            "all": (every, False, 0, comb(len(every), self.K)),
        }
        if not isinstance(split, str) or split not in (*self.splits, "all"):
            raise ConfigurationError(
                f"split={split!r}: expected one of {', '.join((*self.splits, 'all'))} for this configuration"
            )
        return table[split]

    def n_combinations(self, split: str) -> int:
        """Return how many combinations a split draws from.

        Args:
            split: ``train``, ``test``, ``ood``, ``ood_terms``, or ``all`` for those of all terms.
        """
        return self._places(split)[3]

    def combinations(self, split: str) -> NDArray[Any]:
        """Return the combinations of a split: uint8 or uint16 ``[n_combinations, K]``.

        Rows ascend, and are in the order of their numbers. `combination_indices` has the numbers.

        Raises:
            CapacityError: if there are more than 16,777,216; sampling needs no list.
        """
        numbers = self.combination_indices(split).astype(np.int64)
        return combinations_of(numbers, 1 << self.L, self.K).astype(term_dtype(self.L))

    def combination_indices(self, split: str) -> NDArray[np.int32]:
        """Return the numbers of the combinations of a split, ascending: int32 ``[n]``."""
        count = self.n_combinations(split)
        if count > _LIST_LIMIT:
            raise CapacityError(
                f"split {split} has {count:,} combinations, too many to list (at most {_LIST_LIMIT:,}); "
                "sampling needs no list"
            )
        return np.sort(rank_all(self._terms_by_place(split), 1 << self.L)).astype(np.int32)

    def _terms_by_place(self, split: str) -> NDArray[np.int64]:
        """Return the term ids of each place of a split: int64 ``[n_places, K]``."""
        members, shuffled, first, count = self._places(split)
        numbers = np.arange(first, first + count, dtype=np.uint64)
        if shuffled:
            n = self.partition.n_combinations
            permute_all(numbers, np.uint64(n), np.uint64(half_bits(n)), self.partition.round_keys)
        return members[combinations_of(numbers.astype(np.int64), len(members), self.K)]

    def make_tables(self, split: str) -> Tables:
        """Return what the kernels read of a split."""
        members, shuffled, first, count = self._places(split)
        n = self.partition.n_combinations
        last = self.N - 1
        fixed_range = {"uniform": (0, 0), "fixed_context": (0, last), "fixed_query": (last, self.N)}
        listed = self._terms_by_place(split) if count <= _TABLE_LIMIT else np.zeros((0, self.K), np.int64)
        return Tables(
            members=members,
            listed=listed,
            of_members=binomials(len(members), self.K),
            of_all=binomials(1 << self.L, self.K),
            round_keys=self.partition.round_keys if shuffled else np.zeros(0, np.uint64),
            places=np.array([n, half_bits(n), first, count, (1 << 32) % count], np.uint64),
            fixed=self._fixed_points(),
            fixed_range=np.array(fixed_range[self.query], np.int64),
        )

    def _fixed_points(self) -> NDArray[np.float32]:
        """Return the points that sequences of all splits share: float32 ``[N, L]``."""
        blocks = -(-self.N * self.L // 4)
        numbers, draws = np.empty(4 * blocks, np.float32), np.empty((2, blocks), np.uint64)
        zero, one = np.uint64(0), np.uint64(1)
        fill_uniform(numbers, draws, self.key("all", "fixed"), zero, zero, one)
        return np.ascontiguousarray(numbers[: self.N * self.L].reshape(self.L, self.N).T)

    def empty_batch(self, count: int) -> Batch:
        """Return a batch for ``count`` sequences, its content undefined."""
        return Batch(
            inputs=np.empty((count, self.N, self.L), np.float32),
            targets=np.empty((count, self.N), np.float32),
            terms=np.empty((count, self.K), term_dtype(self.L)),
            combination=np.empty(count, np.int32),
        )

    def fill(self, split: str, indices: NDArray[np.uint64], batch: Batch, threads: int | None) -> None:
        """Write the sequences ``indices`` of a split into ``batch``."""
        key, tables = self.stream(split)

        def fill_part(part: slice) -> None:
            generate(key, indices[part], tables, tuple(batch[part]))

        for_each_chunk(fill_part, len(indices), threads)

    def identify(self, batch: Batch, prior: str = "all", *, threads: int | None = None) -> Identification:
        """Find the functions that agree with the points shown, and what the ideal observer predicts.

        It is `fuzzylogic.identify` with this task's terms and combinations.

        Args:
            batch: sequences of this task.
            prior: the split whose combinations are considered; ``all`` for those of all terms.
            threads: threads to use; None for all available ones.
        """
        combinations = None if prior == "all" else self.combinations(prior)
        return identify(batch.inputs, batch.targets, self.K, combinations, threads=threads)

    # Roles

    @property
    def rows(self) -> Rows:
        """The instances as rows of a dataset."""
        from fuzzylogic.record import FuzzyLogicRows

        return FuzzyLogicRows(self)

    @property
    def scoring(self) -> Scoring:
        """How predictions are scored."""
        from fuzzylogic.metrics import FuzzyLogicScoring

        return FuzzyLogicScoring(self)

    @property
    def references(self) -> References:
        """Reference predictors and the ideal observer, against which scores are read."""
        from fuzzylogic.references import FuzzyLogicReferences

        return FuzzyLogicReferences(self)

    @property
    def diagnosis(self) -> Diagnosis:
        """How wrong answers are sorted."""
        from fuzzylogic.mistakes import FuzzyLogicDiagnosis

        return FuzzyLogicDiagnosis(self)

    @property
    def sequences(self) -> "SequenceTask":
        """The task as PyTorch networks see it."""
        from fuzzylogic.torch import sequence_task

        return sequence_task(self)
