"""The standing as data: the rows of boards, their badges, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sraven.board.board import Board
from sraven.core.families import find_family
from sraven.core.spec import digest
from sraven.files.jsonable import as_json
from sraven.leaderboard.folder import Fault

SCORED, REPRODUCED_BADGE, REPORTED = "scored", "reproduced", "reported"
"""Badges: recomputed from predictions; run again by a maintainer besides; from a paper, no predictions."""

UNCHOSEN = "test chooses another point of its grid, "
"""What the remark of an entry says before the name of that point."""

REFERENCE = "reference"
"""Family of the predictors that are there for comparison."""

LEARNT_CEILING = "learnt ceiling"
"""Family of networks that are told what others have to find out, such as which symbols are a feature."""

_TITLES = {
    "hyla": "HYLA",
    "hyla_deep": "HYLA, deep values",
    "softmax": "softmax attention",
    "linear": "linear attention",
    "looped softmax": "softmax attention, looped",
    "sparse_coding": "sparse coding",
    "hypermlp": "HyperMLP",
    "mixer": "MLP mixer",
    "bottleneck softmax": "bottleneck",
    "composing": "composing network",
}
"""What the networks of the baselines are called; their entries are named ``hyla, rate 0.003, ...``."""

SCHEMA = 1
"""Of the standing as JSON. It rises when a name there goes or gets another meaning, not when one comes."""


@dataclass(frozen=True)
class Replies:
    """Which language model replied to what, in the submitter's words; the form is checked.

    Attributes:
        model: its name.
        revision: of the model.
        form: of the prompts, one of the board's; entries of each form are ranked apart.
        harness: what put the prompts to it.
        harness_version: of that.
        temperature: at which it was sampled; None if that isn't said.
        usage: sums of the tokens of prompts and replies and of what they cost, by the names of
            `sraven.text.completions.Usage`; None if that isn't said.
        settings: how else it was asked, such as ``max_tokens``; None if that isn't said.
        people: their ``number``, how they were ``found``, and the ``minutes`` of one; None for a model.
    """

    model: str
    revision: str
    form: str
    harness: str
    harness_version: str
    temperature: float | None = None
    usage: Mapping[str, float] | None = None
    settings: Mapping[str, Any] | None = None
    people: Mapping[str, Any] | None = None

    @property
    def input_tokens(self) -> float | None:
        """Tokens of a prompt, the mean of those that are said."""
        return self._mean("input_tokens", "with_tokens")

    @property
    def output_tokens(self) -> float | None:
        """Tokens of a reply."""
        return self._mean("output_tokens", "with_tokens")

    @property
    def cost_usd(self) -> float | None:
        """What a reply cost in US dollars."""
        return self._mean("cost_usd", "with_cost")

    def _mean(self, name: str, count: str) -> float | None:
        return self.usage[name] / self.usage[count] if self.usage and self.usage[count] else None


@dataclass(frozen=True)
class SplitScore:
    """The primary metric on a split.

    Attributes:
        value: mean over seeds; None where there is no score.
        standard_error: over seeds, None for one seed.
        interval: bootstrap interval over instances, None for a reported row.
        seeds: number of seeds.
    """

    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    seeds: int


@dataclass(frozen=True)
class Combinations:
    """The primary metric on the primary split, by combination; lists of equal length.

    Attributes:
        instances: how many instances each combination has.
        mean: over them, and over seeds.
    """

    instances: tuple[int, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of a board's table.

    Attributes:
        id: folder of the submission, such as ``sraven-v1/20261121-hyla``; empty for a reported row.
        method: its name.
        family: what it belongs to; ``reference`` for predictors that are there for comparison.
        description: in a sentence or two.
        badge: ``scored``, ``reproduced`` or ``reported``.
        rank: among the entries of its budget (and form of prompts), from 1; those whose values differ by no
            more than what machines may differ by share one. None if it isn't ranked.
        rank_range: between which ranks it may well be, by `comparison.rank_ranges`. None if it isn't
            ranked.
        remark: why it isn't ranked, or what to know of it.
        value: the primary metric on the primary split, mean over seeds.
        standard_error: over seeds, None for one seed.
        interval: bootstrap interval over instances, None for a reported row.
        combinations_interval: bootstrap interval over combinations; None where scores aren't given by
            combination, as on boards of text, and for a reported row.
        combinations: the scores of each, of which the range of its rank is made; None there too.
        seeds: number of seeds.
        grid_range: the least and the most that the points of its grid score, its own included; those of the
            others are in the submitter's words.
        tuning_trials: how many settings were tried, in the submitter's words; None if that isn't said.
        splits: all metrics (means over seeds) by split.
        beside: by split, the metrics that its task has got since the board.
        gap: to the ceiling: the ideal observer that knows the split; None where it is no ceiling.
        parameters: of the model.
        train_instances: seen in training, in the unit of the board's budget.
        budget: the least budget of the board that holds them; None beyond all, and for references.
        date: YYYY-MM-DD, as its folder says; it decides nothing.
        paper: address.
        code: address.
        fingerprint: None; its key stays in the files of standings.
        copies: ids of entries with the same predictions, or nearly the same.
        errors: by split, what it gets wrong, sorted; see `sraven.leaderboard.evidence.Evidence`. Nothing
            where nothing sorts it, or there are no predictions.
        replies: of a language model; None on other boards.
        rungs: on a board with rungs, the interval of each one's metric.
        by_split: the primary metric on each split.
        digest: SHA-256 of its ``submission.yaml``, which names the digests of all predictions; None for a
            reported row.
        code_commit: of the code.
        composing: what it keeps of its score on held-out combinations, a
            `sraven.scoring.composing.Composing` as JSON values; None where scores don't say.
        point_of: the entry of whose grid it is a point that ``test`` didn't choose, as maintainers confirm.
        own: whether it is the reader's, shown for comparison and not filed; its id is then the directory.
    """

    id: str = ""
    method: str
    family: str | None = None
    description: str
    badge: str
    rank: int | None = None
    rank_range: tuple[int, int] | None = None
    remark: str = ""
    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None = None
    combinations_interval: tuple[float, float] | None = None
    combinations: Combinations | None = None
    grid_range: tuple[float, float] | None = None
    tuning_trials: int | None = None
    seeds: int
    splits: Mapping[str, Mapping[str, float | None]]
    gap: float | None
    parameters: int | None
    train_instances: int
    budget: int | None
    date: str | None = None
    paper: str | None
    code: str | None = None
    fingerprint: None = None
    copies: tuple[str, ...] = ()
    errors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    replies: Replies | None = None
    beside: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    rungs: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    by_split: Mapping[str, SplitScore] = field(default_factory=dict)
    digest: str | None = None
    code_commit: str | None = None
    composing: Mapping[str, Any] | None = None
    point_of: str | None = None
    own: bool = False

    @property
    def title(self) -> str:
        """The method's name, for people: of one of the baselines that of its network."""
        head, _, details = self.method.partition(", ")
        return _TITLES.get(head, self.method) if details else self.method

    @property
    def details(self) -> str:
        """What its name says besides: settings of a baseline, but for its instances, which have a column."""
        head, *details = self.method.split(", ")
        shown = (each for each in details if not each.endswith(" instances"))
        return ", ".join(shown) if head in _TITLES else ""

    @property
    def spread(self) -> str:
        """The range of its rank, such as ``1–3``; empty if that is one rank, or it isn't ranked."""
        low, high = self.rank_range or (0, 0)
        return f"{low}–{high}" if low < high else ""

    @property
    def shown_interval(self) -> tuple[float, float] | None:
        """The interval to show: over combinations, if it is known over them."""
        return self.combinations_interval or self.interval

    def resampled(self, board: Board) -> str:
        """Return what the interval to show is over, such as combinations, or instances."""
        return "combinations" if self.combinations_interval else find_family(board.family).resampled

    @property
    def kept(self) -> float | None:
        """Held out / known; None where it isn't known."""
        return self.composing["kept"]["value"] if self.composing else None

    @property
    def kept_interval(self) -> tuple[float, float] | None:
        """Its interval over combinations."""
        return self.composing["kept"]["interval"] if self.composing else None

    @property
    def parts(self) -> Mapping[str, Any] | None:
        """What it keeps of features, at equal rules: `PartsKept` as JSON; None where it isn't known."""
        return (self.composing or {}).get("parts")

    def sibling_answers(self, split: str) -> float | None:
        """Return the share of features answered as their sibling, of those told apart; None if not known."""
        return {**self.splits.get(split, {}), **self.beside.get(split, {})}.get("sibling_answers")

    @property
    def is_filed(self) -> bool:
        """Whether it lies in the leaderboard's folder, being no figure of a paper, nor the reader's own."""
        return self.badge != REPORTED and not self.own


@dataclass(frozen=True)
class Standing:
    """A board with its entries, the best first.

    Attributes:
        board: the board.
        entries: its rows.
    """

    board: Board
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Leaderboard:
    """All that lies in the leaderboard's folder.

    Attributes:
        standings: of the boards.
        faults: what was left out, and why; pins of reproduced entries that fit none, too.
    """

    standings: tuple[Standing, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def content(self) -> dict[str, Any]:
        """The same as JSON values, with the names and digests of boards."""
        boards = [
            {"board": each.board.id, "digest": each.board.digest, "note": ""}
            | {"entries": as_json(each.entries)}
            for each in self.standings
        ]
        return {
            "schema": SCHEMA,
            "date": self.date,
            "digest": self.digest,
            "boards": boards,
            "left_out": as_json(self.faults),
        }

    @property
    def filed(self) -> tuple[Entry, ...]:
        """The filed entries of all its boards."""
        return tuple(entry for each in self.standings for entry in each.entries if entry.is_filed)

    @property
    def own(self) -> tuple[str, ...]:
        """The ids of the reader's own entries among them."""
        return tuple(entry.id for each in self.standings for entry in each.entries if entry.own)

    @property
    def date(self) -> str | None:
        """The day on which the latest of its entries was filed, YYYY-MM-DD; None if there is none."""
        return max((entry.date for entry in self.filed if entry.date), default=None)

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of the filed submissions by their folders, as canonical JSON."""
        return digest({entry.id: entry.digest for entry in self.filed})


_ROUNDING = 128
"""Fewer instances than these don't count: budgets are rounded to batches."""


def saw_as_many(entry: Entry, instances: int) -> bool:
    """Return whether an entry was trained on a number of instances, but for rounding."""
    return abs(entry.train_instances - instances) < _ROUNDING


def primary_ceiling(board: Board) -> float | None:
    """Return what the ideal observer scores that knows the split, by the primary metric."""
    found = board.ceiling(board.primary_split, board.metric)
    return None if found is None else found.value
