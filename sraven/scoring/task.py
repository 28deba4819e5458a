"""Tasks whose predictions are scored and diagnosed off boards, by the functions that do so for boards."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sraven.core.access import INDEX_LIMIT, RandomAccess
from sraven.core.arguments import check_integer
from sraven.core.batch import Instances
from sraven.core.errors import ConfigurationError
from sraven.core.roles import Labels
from sraven.core.split import Split
from sraven.scoring.mistakes import SplitErrors, diagnose_runs, require_diagnosis
from sraven.scoring.predictions import check_predictions
from sraven.scoring.scores import Run, SplitScores, score_runs, whole_run

B = TypeVar("B", bound=Instances)


class ScoredTask(RandomAccess[B]):
    """The base of tasks: random access to their instances, and what predictions of them are worth."""

    def score(
        self, instances: str | Split | B, predictions: ArrayLike, *, threads: int | None = None
    ) -> SplitScores:
        """Score predictions of any instances, by the functions that score boards, with the newest metrics.

        Args:
            instances: the name of a split, of which the first ones are predicted, as many as there are
                predictions; or a view of one (`split`); or a batch.
            predictions: of one seed, in the order of the instances: integers ``[n, M]`` for SRAVEN, floats
                ``[n]`` for fuzzy logic.
            threads: threads to use; None for all available ones.

        Raises:
            ConfigurationError: for other instances, or a wrong shape, kind of number or value.
        """
        labels, run = self._labels_and_run(instances, predictions, threads)
        return score_runs(self.scoring, labels, [run], threads=threads)

    def diagnose(
        self, instances: str | Split | B, predictions: ArrayLike, *, threads: int | None = None
    ) -> SplitErrors:
        """Sort the wrong answers among predictions of any instances, as `sraven errors` does for boards.

        Arguments and errors are those of `score`; a ConfigurationError, too, if nothing sorts the wrong
        answers of such a task.
        """
        diagnosis = require_diagnosis(self)
        labels, run = self._labels_and_run(instances, predictions, threads)
        return diagnose_runs(diagnosis, labels, [run], threads=threads)

    def _labels_and_run(
        self, instances: str | Split | B, predictions: ArrayLike, threads: int | None
    ) -> tuple[Labels, Run]:
        """Return the truth about instances, and checked predictions of them."""
        batch: Any = instances
        if isinstance(instances, str):
            count = len(predictions) if np.ndim(predictions) else 0  # type: ignore[arg-type]
            batch = self.sample(instances, 0, count, threads=threads)
        elif isinstance(instances, Split):
            batch = instances.batch(threads=threads)
        if type(batch) is not type(self.empty_batch(0)):
            raise ConfigurationError(
                f"instances is a {type(instances).__name__}; expected the name of a split, a view of one or "
                "a batch of this task"
            )
        check_integer("the number of instances", len(batch), 1, INDEX_LIMIT)
        scoring = self.scoring
        array = check_predictions("predictions", predictions, len(batch), scoring.prediction, scoring)
        return scoring.labels(batch, threads), whole_run(array)
