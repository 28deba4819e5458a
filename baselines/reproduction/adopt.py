"""Records of runs that are there: what `result.json` says of one, and its scores on whole splits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import LanguageConfig, RunConfig
from baselines.evaluate import evaluate_runs, keep_scores
from baselines.log import with_nulls
from baselines.provenance import commit_of, machine_of
from baselines.reproduction.cells import Figures, ReadBoard, cells_of, homes_of, read_board_once
from baselines.reproduction.records import Record, Scores, path_of, write_record
from baselines.reproduction.sets import FIGURES
from baselines.result import EVALUATION, RESULT, read_result, result_of
from baselines.run_directory import read_run
from baselines.sharding import own_mesh
from sraven.core.ground.errors import ConfigurationError, OutputError


class Provenance(NamedTuple):
    """What trained runs, as far as it is known.

    Attributes:
        commit: of the code.
        machine: that they were trained on.
    """

    commit: str | None = None
    machine: Mapping[str, Any] | None = None


UNKNOWN = Provenance()
"""Of runs of which nobody wrote it down."""


def this_machine() -> Mapping[str, Any]:
    """Return the kind of this machine, as training records it."""
    return machine_of(own_mesh())


def adopt(
    folder: Path,
    results: Path,
    *,
    otherwise: Provenance = UNKNOWN,
    again: bool = False,
    figures: Figures = FIGURES,
    read: ReadBoard = read_board_once,
) -> tuple[Path, bool]:
    """Make a record of a finished run whose configuration is a cell's, or a shorter one's.

    Args:
        folder: the run's directory.
        results: folder of results.
        otherwise: what trained it, if it is of a version that didn't record that.
        again: whether a record that is there is made anew.
        figures: all of them.
        read: returns a board, given its id.

    Returns:
        where the record is, and whether it is new.

    Raises:
        ConfigurationError: if it is a run of the language model.
        OutputError: if it is no cell, or isn't finished.
    """
    config = read_run(folder)
    homes = homes_of(config, figures, read)
    if not homes and not isinstance(config, LanguageConfig):
        raise OutputError(f"{folder} is no cell of the paper's figures: {_why_not(config, figures, read)}")
    path = path_of(results, homes[0], config) if homes else results
    if homes and path.is_file() and not again:
        return path, False
    return write_record(results, record_of(folder, otherwise), figures), True


def record_of(folder: Path, otherwise: Provenance = UNKNOWN) -> Record:
    """Return the record of a run in its directory.

    It is evaluated, which takes about a minute, unless its result has the scores of an evaluation; there
    they are kept.

    Args:
        folder: the run's directory.
        otherwise: what trained it, if it is of a version that didn't record that.

    Raises:
        ConfigurationError: for a run of the language model.
        OutputError: if there is no finished run.
    """
    config = read_run(folder)
    if isinstance(config, LanguageConfig):
        raise ConfigurationError(
            f"{folder} is a run of the language model, whose cells aren't recorded yet; "
            "`sraven evaluate` tells its loss"
        )
    diverged = read_result(folder)["diverged"] if (folder / RESULT).is_file() else None
    found = result_of(folder, config, diverged)
    scores = _scores_of(folder, config, found["scores"]) if diverged is None else {}
    commit, machine = _trained_by(folder, found["trained_by"]) if found["trained_by"] else otherwise
    return Record(
        config,
        found["steps"]["done"],
        scores,
        found["loss"] and found["loss"]["mean"],
        found["seconds"],
        found["command"],
        commit,
        machine,
    )


def _scores_of(folder: Path, config: RunConfig, known: Mapping[str, Any] | None) -> Scores:
    """Return the scores of a run on whole splits: those of its result, or else they go there."""
    if known and known["from"] == EVALUATION:
        return dict(known["splits"])
    found = evaluate_runs([folder])
    scores = found.scores[config.seed]
    keep_scores(folder, config, scores, found.instances)
    return with_nulls(scores)


def _trained_by(folder: Path, records: list[dict[str, Any]]) -> Provenance:
    """Return what trained a run, by its own records; a run may have gone on elsewhere."""
    machines = [record["machine"] for record in records]
    several = any(machine != machines[0] for machine in machines)
    return Provenance(commit_of([folder]), {"several": machines} if several else machines[0])


def _why_not(config: RunConfig, figures: Figures, read: ReadBoard) -> str:
    """Say in which fields a configuration differs from the cell that is nearest to it."""
    nearest: list[str] | None = None
    for figure in figures.values():
        if config.board not in {row.board for row in figure.rows}:
            continue
        for cell in cells_of(figure, read=read):
            differing = [
                f"{name}={getattr(config, name)!r}, not {value!r}"
                for name, value in vars(cell.config).items()
                if getattr(config, name) != value
            ]
            if nearest is None or len(differing) < len(nearest):
                nearest = differing
    return (
        f"none is on {config.board}" if nearest is None else f"the nearest has another {'; '.join(nearest)}"
    )
