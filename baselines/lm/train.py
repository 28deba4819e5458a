"""Text as what language models are trained on: a `baselines.session.Source`, as boards are."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from baselines.config import C4, RunConfig
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import language_judge, validation_scores
from baselines.lm.experiment import DEFAULT_COMPUTE, Compute, language_experiment
from baselines.lm.recipes import make_language_config
from baselines.session import ScoringOptions
from baselines.train.experiment import MakeExperiment
from baselines.train.grid import Judge
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

    def config(self, attention: str, **changes: Any) -> RunConfig:
        """Return the configuration of a run of the size, with changes.

        Raises:
            ConfigurationError: for an unknown name or a value out of range.
            OutputError: if tokens can't be read.
        """
        return make_language_config(Corpus(*self.data), attention, size=self.size, **changes)

    def experiment(self, scoring: ScoringOptions) -> MakeExperiment:
        """Return a function that makes the experiment of a run, with its scores.

        Raises:
            ConfigurationError: for documents of another tokenizer.
            OutputError: if tokens or documents can't be read.
        """
        make_experiment = partial(language_experiment, corpus=Corpus(*self.data), compute=self.compute)
        if not self.validation:
            return make_experiment
        Corpus(*self.data, *self.validation)  # refuses another tokenizer now, before hours of work
        documents = Corpus(*self.validation)
        make_scores = partial(
            validation_scores, corpus=documents, rows=scoring.instances, compute=self.compute
        )
        return with_scores(make_experiment, make_scores, scoring.every)

    def judge(self) -> Judge:
        """Return what chooses by the loss on the documents.

        Raises:
            ConfigurationError: without documents.
        """
        if not self.validation:
            raise ConfigurationError(f"a grid on {C4.id} needs --validation DIR, documents to choose by")
        return language_judge(Corpus(*self.validation))
