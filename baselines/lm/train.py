"""Training of language models: the entry of its own, as `baselines.session` is that of boards."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.config import C4
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import language_judge, validation_scores
from baselines.lm.experiment import DEFAULT_COMPUTE, Compute, language_experiment
from baselines.lm.recipes import make_language_config
from baselines.session import DEFAULT_SCORING, ScoringOptions, TrainingPlan, make_plan
from baselines.train.experiment import MakeExperiment
from baselines.train.grid import Grid
from baselines.train.predict import with_scores
from sraven.core.errors import ConfigurationError


@dataclass(frozen=True)
class Text:
    """What a language model is trained on, and how.

    Attributes:
        data: directories of tokens.
        validation: directories of documents: a grid chooses by them, and they are scored while it trains.
        size: of the model, a name of `baselines.lm.recipes.SIZES`.
        compute: how it is computed.
    """

    data: tuple[Path, ...]
    validation: tuple[Path, ...] = ()
    size: str = "paper"
    compute: Compute = DEFAULT_COMPUTE

    def experiment(self, scoring: ScoringOptions = DEFAULT_SCORING) -> MakeExperiment:
        """Return a function that makes the experiment of a run, with its scores.

        Raises:
            ConfigurationError: for documents of another tokenizer.
            OutputError: if tokens or documents can't be read.
        """
        make_experiment = language_experiment(Corpus(*self.data), self.compute)
        if not self.validation:
            return make_experiment
        Corpus(*self.data, *self.validation)  # refuses another tokenizer now, before hours of work
        make_scores = validation_scores(Corpus(*self.validation), scoring.instances, self.compute)
        return with_scores(make_experiment, make_scores, scoring.every)


def plan_language_runs(
    text: Text,
    attention: str,
    out: Path,
    *,
    seeds: Sequence[int] = (0,),
    grid: Grid | None = None,
    scoring: ScoringOptions = DEFAULT_SCORING,
    **changes: Any,
) -> TrainingPlan:
    """Return the plan of runs on a text; for arguments and errors see `baselines.session.plan_runs`.

    Raises:
        ConfigurationError: for documents of another tokenizer as well, and for a grid without documents.
        OutputError: if tokens or documents can't be read.
    """
    scoring.check()
    config = make_language_config(Corpus(*text.data), attention, size=text.size, **changes)
    if grid and not text.validation:
        raise ConfigurationError(f"a grid on {C4.id} needs --validation DIR, documents to choose by")
    judge = language_judge(Corpus(*text.validation)) if grid else None
    return make_plan(config, text.experiment(scoring), out, seeds=seeds, grid=grid, judge=judge)
