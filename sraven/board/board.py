"""Boards: frozen tasks. A board's file names its instances to the byte, and loading it checks them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.board.ceilings import KNOWS, Ceiling
from sraven.board.check import check_digests, check_texts
from sraven.board.content import RANKED, BoardFile, series_of
from sraven.board.paths import board_paths
from sraven.board.reference_levels import ReferenceLevel, find_reference_levels
from sraven.core.arguments import check_choice, check_integer
from sraven.core.digests import digest_prompts
from sraven.core.errors import BoardError, ConfigurationError
from sraven.core.families import FAMILIES, make_board_task
from sraven.core.roles import Labels, Task
from sraven.scoring.combinations import Divergences, divergences, revealed_parts
from sraven.scoring.composing import Composing, measure_composing
from sraven.scoring.mistakes import SplitErrors, diagnose_runs, require_diagnosis
from sraven.scoring.predictions import check_predictions
from sraven.scoring.scores import DIGITS, SplitScores, score_runs, whole_run


class Board(BoardFile):
    """A frozen task with its splits, sizes, budget and metrics: what its file says, and its instances.

    `load_board` returns one; its attributes are those of `BoardFile`.
    """

    @cached_property
    def task(self) -> Task:
        """The task that gives its instances."""
        return make_board_task(self.config)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that score it, in the order of its scores; its file lists them, for ever.

        Raises:
            BoardError: if this installation lacks one.
        """
        known = self.task.scoring.metrics
        if lacking := [name for name in self.metric_names if name not in known]:
            raise BoardError(
                f"board {self.id} is scored by {', '.join(lacking)}, which this sraven can't compute; "
                "install a newer sraven, or reinstall it"
            )
        return self.metric_names

    @property
    def metrics_beside(self) -> tuple[str, ...]:
        """The metrics that its task has got since: shown beside its scores, but no part of them."""
        return tuple(name for name in self.task.scoring.metrics if name not in self.metric_names)

    def ceiling(self, split: str, metric: str, prior: str = "split") -> Ceiling | None:
        """Return what the ideal observer scores, and what it knows and answers; None where nobody knows.

        Args:
            split: a scored split.
            metric: one of the board's.
            prior: what it knows, a name of `sraven.board.ceilings.KNOWS`.

        Raises:
            ConfigurationError: for another split or kind of knowledge.
            BoardError: if this installation lacks the definition of the board's ceilings.
        """
        check_choice("split", split, tuple(self.splits))
        check_choice("prior", prior, tuple(KNOWS))
        found = self.file["ceiling"].get(split, {}).get(KNOWS[prior], {}).get(metric)
        if found is None:
            return None
        answer = self.task.references.answers.get(self.ceiling_definition, {}).get(metric)
        if answer is None:
            raise BoardError(
                f"board {self.id} has a ceiling of {metric} by definition {self.ceiling_definition}, "
                "which this sraven doesn't know; install a newer sraven"
            )
        return Ceiling(**found, knows=prior, answers=answer)

    @property
    def chance(self) -> float | None:
        """What guessing scores by its primary metric; None where nobody said."""
        return self.task.scoring.chance.get(self.metric)

    def reference_levels(self, split: str, metric: str | None = None) -> tuple[ReferenceLevel, ...]:
        """Return what else scores are read against, baselines among them; none where nobody knows.

        Args:
            split: a scored split.
            metric: one of the board's; None for its primary one.

        Raises:
            ConfigurationError: for another split.
        """
        check_choice("split", split, tuple(self.splits))
        return find_reference_levels(self, split, metric or self.metric)

    @property
    def sign(self) -> int:
        """1 where a higher score is better, −1 where a lower one is."""
        return 1 if self.higher_is_better else -1

    @property
    def best_baseline(self) -> ReferenceLevel | None:
        """The best that composes nothing by what ranks; None where none is known."""
        levels = [each for each in self.reference_levels(self.primary_split) if each.is_baseline]
        return max(levels, key=lambda level: self.sign * level.value, default=None)

    @cached_property
    def divergences(self) -> Divergences | None:
        """How far held-out combinations are from those of training; None where nothing is held out."""
        task: Any = self.task
        held_out = self.primary_split in self.held_out and "train" in task.splits
        if not held_out:
            return None
        return divergences(task.combinations("train"), task.combinations(self.primary_split))

    def leaks(self, task: Task) -> list[tuple[int, ...]]:
        """Return what training on another task shows of this board's held-out combinations.

        A curriculum of smaller tasks keeps them held out only if this is empty.

        Args:
            task: one of the same family, trained on before or beside the board's own training split.

        Returns:
            parts of held-out combinations, pairs first, that the board's training never has and the task's
            has: numbers of rules of SRAVEN, of terms of fuzzy logic.

        Raises:
            ConfigurationError: if its parts aren't the board's, or one of them has no combinations.

        Example:
            >>> load_board("sraven-camps3-v1").leaks(SRAVEN(M=2, holdout="camps"))
            []
        """
        own: Any = self.task
        other: Any = task
        if "train" not in own.splits or self.primary_split not in self.held_out:
            raise ConfigurationError(f"{self.id} holds nothing out of training")
        names_parts = "L" if hasattr(own, "L") else "rule_set"
        expected = getattr(own, names_parts)
        if own.name != other.name or getattr(other, names_parts) != expected:
            raise ConfigurationError(
                f"{self.id} holds out combinations of {own.name} with {names_parts}={expected!r}; "
                f"expected such a task"
            )
        return revealed_parts(
            own.combinations(self.primary_split), own.combinations("train"), other.combinations("train")
        )

    def composing(self, scores: Mapping[str, SplitScores | Mapping[str, Any]]) -> Composing | None:
        """Return what a method keeps of its score on held-out combinations, by the primary metric.

        Args:
            scores: by split, what `score` returns, or ``scores.json`` has.

        Returns:
            None where a split is missing, or scores aren't known by combination.
        """
        as_json = {
            split: asdict(found) if isinstance(found, SplitScores) else found
            for split, found in scores.items()
        }
        return measure_composing(self.task, as_json, self.metric, self.primary_split)

    def gap(self, split: str, metric: str, value: float | None) -> float | None:
        """Return by how much a score is worse than that of the ideal observer that knows the split.

        Where less is better, it is the score less the ceiling. None if there is no score or ceiling.
        """
        best = self.ceiling(split, metric)
        if best is None or value is None:
            return None
        sign = 1 if self.task.scoring.metrics[metric].higher_is_better else -1
        return round(sign * (best.value - value), DIGITS)

    def sample(self, split: str, start: int, count: int, *, threads: int | None = None) -> Any:
        """Return instances of a split, as the task's ``sample`` does.

        Args:
            split: ``train``, of any length, or a scored split.
            start: first index, from 0.
            count: number of instances; a scored split ends at its size.
            threads: threads to use; None for all available ones.

        Raises:
            ConfigurationError: for another split, or a range beyond its end.
        """
        check_choice("split", split, tuple(self.covered))
        if split != "train":
            size = self.splits[split]
            advice = f"{split} of {self.id} has {size:,} instances"
            start = check_integer("start", start, 0, size, advice)
            count = check_integer("count", count, 0, size - start, advice)
        return self.task.sample(split, start, count, threads=threads)

    def labels(self, split: str, *, threads: int | None = None) -> Labels:
        """Return the truth about a scored split, which is made once.

        Args:
            split: a scored split.
            threads: threads to use; None for all available ones.
        """
        scoring = self.task.scoring
        if split not in self._labels:  # two threads at once may both make them, and they are the same
            self._labels[split] = scoring.labels(self._whole(split), threads)
        return self._labels[split]

    @cached_property
    def _labels(self) -> dict[str, Labels]:
        return {}

    @cached_property
    def _batches(self) -> dict[str, Any]:
        return {}

    def _whole(self, split: str) -> Any:
        """Return all instances of a scored split, generated once."""
        if split not in self._batches:
            self._batches[split] = self.task.sample(split, 0, self.splits[split])
        return self._batches[split]

    def score(self, split: str, predictions: ArrayLike, *, threads: int | None = None) -> SplitScores:
        """Score predictions on a whole split, by the function that scores submissions.

        Args:
            split: a scored split.
            predictions: of one seed, in the order of the indices: integers ``[n, M]`` for SRAVEN,
                floats ``[n]`` for fuzzy logic; n texts where they are replies.
            threads: threads to use; None for all available ones.

        Raises:
            ConfigurationError: for a wrong split, shape, kind of number or value.
            BoardError: if this installation lacks one of the board's metrics.
        """
        run = whole_run(self.read(split, self.checked_predictions(split, predictions)))
        labels = self.labels(split, threads=threads)
        return score_runs(self.task.scoring, labels, [run], metrics=self.metrics, threads=threads)

    def diagnose(self, split: str, predictions: ArrayLike, *, threads: int | None = None) -> SplitErrors:
        """Sort the wrong answers among predictions of a whole split by the kind of mistake.

        Arguments and errors are those of `score`; a ConfigurationError, too, if nothing sorts the wrong
        answers of its task.
        """
        diagnosis = require_diagnosis(self.task)
        run = whole_run(self.checked_predictions(split, predictions))
        return diagnose_runs(diagnosis, self.labels(split, threads=threads), [run], threads=threads)

    def checked_predictions(self, split: str, predictions: ArrayLike) -> Any:
        """Return predictions of a whole split as an array of the board's type, or as a list of texts.

        Raises:
            ConfigurationError: for a wrong split, shape, kind of number or value.
        """
        size = self.splits[check_choice("split", split, tuple(self.splits))]
        if self.is_text:
            return check_texts(f"predictions of {split}", predictions, size)
        return check_predictions(
            f"predictions of {split}", predictions, size, self.prediction, self.task.scoring
        )

    def read(self, split: str, submitted: Any, indices: NDArray[np.int64] | None = None) -> Any:
        """Return what is scored of predictions: what replies say; numbers as they are.

        Args:
            split: a scored split.
            submitted: predictions of instances of it, checked.
            indices: which instances these are; None for all, in their order.
        """
        if not self.is_text:
            return submitted
        every = np.arange(len(submitted)) if indices is None else indices
        return self.task.wording.read(split, every, submitted)

    def check(self, split: str, instances: int | None = None) -> None:
        """Generate a split again and compare it with the digests of the board.

        Args:
            split: a split of the board.
            instances: how many to check, rounded up to whole blocks; None for all that the board
                covers, which for ``train`` are the first 1,048,576.

        Raises:
            BoardError: if they differ; the message says where.
        """
        check_choice("split", split, tuple(self.covered))
        batch = None if split == "train" else self._whole(split)
        check_digests(self, self.task, split, instances, batch)

    def check_scored(self) -> None:
        """Check all that scores depend on: the held-out combinations and the scored splits. Once is enough.

        Raises:
            BoardError: if they aren't the board's.
        """
        _ = self._is_right

    @cached_property
    def _is_right(self) -> bool:
        self.check_combinations()
        for split in self.splits:
            self.check(split)
        return True

    def check_all(self) -> None:
        """Check all that its file covers, the digested part of ``train`` and prompts, too.

        Raises:
            BoardError: if it isn't what this installation gives.
        """
        self.check_combinations()
        for split in self.covered:
            self.check(split)
        for form, pinned in self.prompts.items():
            split = self.primary_split
            if digest_prompts(self.task.wording.prompts(split, self.splits[split], form)) != pinned:
                raise BoardError(
                    f"board {self.id}: the prompts of form {form} aren't those of the board; reinstall sraven"
                )

    def check_combinations(self) -> None:
        """Compare the combinations of the held-out splits with those that the board lists.

        Raises:
            BoardError: if they differ.
        """
        for split, listed in self.held_out.items():
            if tuple(map(tuple, self.task.combinations(split).tolist())) != listed:
                raise BoardError(
                    f"board {self.id}: the combinations of {split} aren't those that the board lists; "
                    "reinstall sraven"
                )


def board_ids() -> tuple[str, ...]:
    """Return the names of all boards: those that are ranked first, then the diagnostic series.

    Those of a series are in the order of their settings, the first one that differs counting, then of the
    split that ranks.
    """
    families = list(FAMILIES)

    def place(content: Mapping[str, Any]) -> tuple[Any, ...]:
        settings = [(type(value).__name__, value) for value in content["config"].values()]
        family, split = families.index(content["task"]), content["primary_split"]
        series = series_of(content)
        return series != RANKED, family, series, settings, split

    return tuple(str(content["id"]) for content in sorted(map(_read, board_paths().values()), key=place))


def _read(path: Any) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8")))


def read_board(board_id: str) -> Board:
    """Return a board without checking its instances; see `load_board`."""
    paths = board_paths()
    if not isinstance(board_id, str) or board_id not in paths:
        near = get_close_matches(str(board_id), paths, n=3, cutoff=0.3)
        meant: Iterable[str] = near or list(paths)[:3]
        raise ConfigurationError(
            f"there is no board {board_id!r}; did you mean {', '.join(meant)}? `sraven boards` lists all"
        )
    return Board.from_content(_read(paths[board_id]))


def load_board(board_id: str) -> Board:
    """Return a board, its instances checked against its digests.

    Checked are the held-out combinations, every instance of the scored splits, and the first block
    of ``train``; `Board.check` checks the rest of what the board covers.

    Args:
        board_id: such as ``sraven-v1``; ``sraven boards`` lists all.

    Raises:
        ConfigurationError: if there is no such board.
        BoardError: if this installation gives other instances.
    """
    board = read_board(board_id)
    board.check_scored()
    if "train" in board.covered:
        board.check("train", instances=1)
    return board
