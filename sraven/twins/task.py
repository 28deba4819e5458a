"""Sets of twins: configuration, split and range of indices in, variants of puzzles out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.certificates.ambiguity import is_unique
from sraven.core.arguments import check_integer
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.parallel import for_each_chunk
from sraven.core.rng import derive_key
from sraven.core.roles import References, Rows, Scoring
from sraven.core.spec import setting
from sraven.kernels import Tables, generate, make_tables
from sraven.splits import rule_combinations
from sraven.task import SRAVEN, Batch
from sraven.twins.settings import TwinSettings
from sraven.twins.variants import KINDS, Tools, negated_combinations

_MOST = {"by_columns": 64, "by_rows": 2, "by_values": 64, "by_negation": 1}
"""How many twins of a kind there may be, by field."""

_ATTEMPT_LIMIT = 1 << 12


class TwinBatch(Batch):
    """Variants of puzzles: a batch of SRAVEN, and where each is in its set.

    Attributes:
        set: int64 ``[n]``, the number of its set in the split.
        variant: uint8 ``[n]``, its number there; ``task.kinds[variant]`` is its kind.
    """

    __slots__ = ()

    set: NDArray[np.int64]
    variant: NDArray[np.uint8]


@dataclass(frozen=True)
class Twins(TwinSettings, SRAVEN):
    """Sets of a puzzle and its twins: variants that take the same understanding, each with one answer.

    Instance ``i`` of a split is variant ``i % size`` of set ``i // size``, a pure function of this
    configuration, the split and ``i``. The first variant is the puzzle, as SRAVEN draws it; the others are
    of the kinds of `sraven.twins.variants.KINDS`, in their order. All variants have exactly one answer,
    and no two of a set show the same context. Combinations are divided as those of SRAVEN with the same M,
    holdout and seed. A negated puzzle follows another combination: puzzles are drawn only from combinations
    whose negation is on the same side.

    Attributes:
        M: features of a panel, 1 to 12.
        K: symbols, 3 to 256.
        holdout: share of the rule combinations held out for ``ood``, or the name of a division, as in SRAVEN.
        seed: an integer from 0; draws the partition and the instances.
        by_columns: twins whose features are in other orders, drawn for each column; 0 at M=1.
        by_rows: twins whose rows are moved around, so that another one is asked for.
        by_values: twins with all values drawn again under the same rules, in the same orders.
        by_negation: twins with -x modulo K in place of every symbol x.
        version: of the benchmark, by keyword; the newest unless another one is given.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range, or if a split would have no puzzle.
    """

    name: ClassVar[str] = "sraven-twins"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in _MOST.items():
            one_order = name == "by_columns" and self.M == 1
            why = "a single feature has one order" if one_order else ""
            checked = check_integer(name, getattr(self, name), 0, 0 if one_order else most, why)
            object.__setattr__(self, name, checked)
        for split in self.splits:
            if not len(self.drawn_combinations(split)):
                raise ConfigurationError(
                    f"by_negation=1: no combination of {split} has its negation there at M={self.M}, "
                    f"holdout={self.holdout!r}, seed={self.seed}; use by_negation=0"
                )

    @property
    def counts(self) -> Mapping[str, int]:
        """How many variants there are of each kind."""
        counts = 1, self.by_columns, self.by_rows, self.by_values, self.by_negation
        return dict(zip(KINDS, counts, strict=True))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each variant of a set, in their order."""
        return tuple(kind for kind, count in self.counts.items() for _ in range(count))

    @property
    def size(self) -> int:
        """Variants of a set."""
        return len(self.kinds)

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``M4-K8-twins4-2-4-1``."""
        _, *twins = self.counts.values()
        return f"{super().config_name.replace('-unique', '')}-twins{'-'.join(map(str, twins))}"

    @cached_property
    def _negated(self) -> NDArray[np.int64]:
        return negated_combinations(self.M)

    def drawn_combinations(self, split: str) -> NDArray[np.int32]:
        """Return which combinations of a split puzzles are drawn from, ascending: int32 ``[n]``.

        With negated twins, these are the ones whose negation is of the split, too.
        """
        known = self.combination_indices(split)
        return known[np.isin(self._negated[known], known)] if self.by_negation else known

    def make_tables(self, split: str) -> Tables:
        """Return what the kernels read of a split."""
        combinations = rule_combinations(self.M, self.rules)
        return make_tables(self.K, combinations, self.drawn_combinations(split), True, self.rules)

    @cached_property
    def _by_rule(self) -> tuple[Tables, ...]:
        alone = [np.full((1, self.M), rule, np.uint8) for rule in range(len(self.rules))]
        only = np.zeros(1, np.int32)
        return tuple(make_tables(self.K, rules, only, False, self.rules) for rules in alone)

    def empty_batch(self, count: int) -> TwinBatch:
        """Return a batch for ``count`` instances, its content undefined."""
        place = np.empty(count, np.int64), np.empty(count, np.uint8)
        return TwinBatch._make((*super().empty_batch(count), *place))

    def fill(
        self, split: str, indices: NDArray[np.uint64], batch: Batch, threads: int | None
    ) -> NDArray[np.int64]:
        """Write the instances ``indices`` of a split into ``batch``; sets are made whole.

        Returns:
            int64 ``[n_combinations]``, zeros: what was turned down belongs to sets, not to instances.
        """
        sets, variants = np.divmod(indices, np.uint64(self.size))
        numbers, place = np.unique(sets, return_inverse=True)
        made = self._empty_sets(len(numbers))
        key, tables = self.stream(split)
        tools = Tools(self.K, tables, self._by_rule, self._negated, threads)

        def make(part: slice) -> None:
            self._make_sets(key, numbers[part], tools, made[part])

        for_each_chunk(make, len(numbers), threads=1)  # several threads certify
        *puzzle, numbers_of_sets, numbers_of_variants = batch
        for array, new in zip(puzzle, made, strict=True):
            array[:] = new[place, variants]
        numbers_of_sets[:], numbers_of_variants[:] = sets, variants
        return np.zeros(len(tables.combinations), np.int64)

    def _empty_sets(self, count: int) -> Batch:
        """Return a batch whose arrays are ``[count, size, ...]``, its content undefined."""
        arrays = super().empty_batch(count * self.size)
        return arrays._make([each.reshape(count, self.size, *each.shape[1:]) for each in arrays])

    def _make_sets(
        self, key: NDArray[np.uint64], numbers: NDArray[np.uint64], tools: Tools, made: Batch
    ) -> None:
        """Draw the sets of these numbers into ``made``, each until it is whole."""
        keys = [derive_key(low=int(key[0]), high=int(key[1]), variant=v) for v in range(self.size)]
        pending = np.arange(len(numbers))
        for attempt in range(_ATTEMPT_LIMIT):
            if not len(pending):
                return
            drawn, whole = self._draw_sets(keys, numbers[pending], attempt, tools)
            for array, new in zip(made, drawn, strict=True):
                array[pending[whole]] = new[whole]
            pending = np.delete(pending, whole)
        raise CapacityError(
            f"{_ATTEMPT_LIMIT:,} puzzles in a row lacked a twin with one answer at M={self.M}, K={self.K}: "
            "use a larger K, or fewer twins"
        )

    def _draw_sets(
        self, keys: Sequence[NDArray[np.uint64]], numbers: NDArray[np.uint64], attempt: int, tools: Tools
    ) -> tuple[Batch, NDArray[np.int64]]:
        """Return sets as an attempt gives them, and which of them are whole; others lack a variant.

        A variant is drawn again, as often as its kind allows, until it has one answer and a context that no
        earlier variant of its set shows.
        """
        drawn, whole = self._empty_sets(len(numbers)), np.arange(len(numbers))
        for variant, kind in enumerate(self.kinds):
            lacking, number = whole, self.kinds[:variant].count(kind)
            for tried in range(KINDS[kind].tries):
                if not len(lacking):
                    break
                draws = attempt * KINDS[kind].tries + tried
                draw = partial(self._draw, keys[variant], numbers[lacking], draws)
                found = KINDS[kind].make(
                    drawn._make([each[lacking, 0] for each in drawn]), number, draw, tools
                )
                fine = is_unique(found.context, self.K, threads=tools.threads)
                others = drawn.context[lacking, :variant] != found.context[:, None]
                fine &= others.any(axis=(2, 3)).all(axis=1)
                for array, new in zip(drawn, found, strict=True):
                    array[lacking[fine], variant] = new[fine]
                lacking = lacking[~fine]
            whole = np.setdiff1d(whole, lacking)
        return drawn, whole

    def _draw(
        self, key: NDArray[np.uint64], numbers: NDArray[np.uint64], attempt: int, tables: Tables
    ) -> Batch:
        """Return the puzzles of a stream for these sets at an attempt, drawn by some tables."""
        drawn = super().empty_batch(len(numbers))
        generate(key, numbers, np.uint64(attempt), tables, tuple(drawn))
        return drawn

    # Roles

    @property
    def rows(self) -> Rows:
        """The instances as rows of a dataset."""
        from sraven.twins.record import TwinsRows

        return TwinsRows(self)

    @property
    def scoring(self) -> Scoring:
        """How predictions are scored."""
        from sraven.twins.metrics import TwinsScoring

        return TwinsScoring(self)

    @property
    def references(self) -> References:
        """What scores are read against: reference predictors and the ideal observer."""
        from sraven.twins.references import TwinsReferences

        return TwinsReferences(self)


@dataclass(frozen=True)
class Variant(Twins):
    """One variant of each set of twins: instance i is that of set i.

    Attributes:
        variant: its number, below ``size``.
    """

    variant: int = setting(0, "Number of the variant.")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variant", check_integer("variant", self.variant, 0, self.size - 1))

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``M4-K8-twins4-2-4-1-0``."""
        return f"{super().config_name}-{self.variant}"

    @cached_property
    def _whole(self) -> Twins:
        return Twins(**{each.name: getattr(self, each.name) for each in fields(Twins)})

    def fill(
        self, split: str, indices: NDArray[np.uint64], batch: Batch, threads: int | None
    ) -> NDArray[np.int64]:
        """Write this variant of the sets ``indices`` of a split into ``batch``."""
        places = indices * np.uint64(self.size) + np.uint64(self.variant)
        return self._whole.fill(split, places, batch, threads)
