"""Records of runs that are there: what their files say of them, and scores that are computed here."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from baselines.config import LanguageConfig
from baselines.evaluate import evaluate_runs, keep_scores
from baselines.lm.corpus import Corpus
from baselines.lm.session import evaluate_language_runs
from baselines.paper.cells import Figures, homes_of
from baselines.paper.figures import FIGURES
from baselines.paper.records import Record, Scores, path_of, write_record
from baselines.train.directory import read_run
from baselines.train.provenance import commit_of
from baselines.train.result import RESULT, read_result, result_of
from sraven.core.errors import ConfigurationError, OutputError
from sraven.files.jsonable import as_json


def adopt(
    folder: Path, results: Path, *, documents: Sequence[Path] = (), figures: Figures = FIGURES
) -> tuple[Path, bool]:
    """Make a record of a finished run that is a cell of a figure, at full length or shorter.

    Args:
        folder: the run's directory.
        results: folder of results.
        documents: tokens of text to score a language model by.
        figures: all of them.

    Returns:
        where the record is, and whether it is new.

    Raises:
        ConfigurationError: if it is a run of the language model, and there is no text to score it by.
        OutputError: if it is no cell, or isn't finished.
    """
    config = read_run(folder)
    homes = homes_of(config, figures)
    if not homes:
        raise OutputError(f"{folder} is no cell of the paper's figures")
    path = path_of(results, homes[0], config)
    if path.is_file():
        return path, False
    return write_record(results, record_of(folder, documents), figures), True


def record_of(folder: Path, documents: Sequence[Path] = ()) -> Record:
    """Return the record of a run in its directory.

    Its last checkpoint is evaluated on the board, which takes about a minute: the scores in its result file
    may have been edited.

    Args:
        folder: the run's directory.
        documents: tokens of text to score a language model by.

    Raises:
        ConfigurationError: for a run of the language model without text to score it by.
        OutputError: if there is no finished run.
    """
    config = read_run(folder)
    diverged = read_result(folder)["diverged"] if (folder / RESULT).is_file() else None
    found = result_of(folder, config, diverged)
    of_text: str | None = None
    scores: Scores = {}
    if diverged is None and isinstance(config, LanguageConfig):
        of_text, scores = _scores_on_text(folder, documents)
    elif diverged is None:
        evaluated = evaluate_runs([folder])
        scores = as_json(evaluated.scores[config.seed])
        keep_scores(folder, config, evaluated.scores[config.seed], evaluated.instances)
    # A run may have gone on elsewhere; those of old versions recorded neither commit nor machine.
    machines = [each["machine"] for each in found["trained_by"]]
    several = any(machine != machines[0] for machine in machines)
    return Record(
        config,
        steps=found["steps"]["done"],
        scores=scores,
        training_loss=found["loss"] and found["loss"]["mean"],
        seconds=found["seconds"],
        command=found["command"],
        commit=commit_of([folder]),
        machine={"several": machines} if several else next(iter(machines), None),
        documents=of_text,
    )


def _scores_on_text(folder: Path, documents: Sequence[Path]) -> tuple[str, Scores]:
    """Return the digest of some text, and the scores of a language model's last checkpoint on it."""
    if not documents:
        raise ConfigurationError(
            f"{folder} is a run of the language model; name documents to score it by, --validation DIR"
        )
    evaluate_language_runs([folder], Corpus(*documents), bar=lambda *_: nullcontext(lambda _: None))
    evaluated = read_result(folder)["scores"]
    return evaluated["corpus"], dict(evaluated["splits"])
