"""The analysis of a run, from its codes to `analysis.json` and pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baselines.analysis.analysed import (
    ANALYSIS,
    Analysed,
    AnalysisOptions,
    OnStage,
    analysed,
    claimed,
    read_options,
)
from baselines.analysis.codes import load_analysed
from baselines.analysis.stages import STAGES
from baselines.config import RunConfig
from baselines.runs.code import imported_by
from baselines.runs.command import train_command
from baselines.runs.provenance import code_commit, read_provenance
from sraven.core.jsonable import as_json
from sraven.core.system.files import write_json

if TYPE_CHECKING:
    from baselines.analysis.plots.frame import Picture

FIGURES, SCHEMA = "figures", 1

_OF_RUN = ("board", "board_digest", "attention", "heads", "layers", "steps", "seed")


def check_run(folder: Path, options: AnalysisOptions) -> RunConfig:
    """Return the configuration of a run, if it can be analysed with these options.

    Raises:
        OutputError: if it is no run, or isn't finished.
        ConfigurationError: (a ValueError) for a language model's run, or options that don't suit it.
    """
    config, _ = load_analysed(folder)
    read_options(config, options)
    return config


def describe(found: Analysed, command: str) -> dict[str, Any]:
    """Return what `analysis.json` says before any result: what was analysed, by which code, and how."""
    config = found.config
    return {
        "schema": SCHEMA,
        "command": command,
        "commit": code_commit(),
        "run": {
            "digest": config.digest,
            "command": train_command([config], imported_by(found.folder)),
            "trained_by": read_provenance(found.folder),
            **{name: getattr(config, name) for name in _OF_RUN},
        },
        "protocol": found.subject.name,
        "pairs": list(found.trained),
        "layers": [layer + 1 for layer in found.layers],
        "parts": [vars(part) for part in found.parts],
        "judged": found.judged,
        "codes": found.digests,
        "notes": list(found.notes),
    }


def analyse_run(
    folder: Path, out: Path, options: AnalysisOptions, command: str, on_progress: OnStage
) -> dict[str, Any]:
    """Analyse a run, and write all of it into a directory; return what `analysis.json` says.

    Args:
        folder: of the run.
        out: directory to write: `codes/` first, then `analysis.json`, pictures last.
        options: of the analysis.
        command: that was typed.
        on_progress: is called with the name of the next step.

    Raises:
        OutputError: if the run isn't finished, or the directory holds something else.
        ConfigurationError: (a ValueError) for what can't be analysed.
    """
    config = check_run(folder, options)
    with claimed(out, config.digest):
        found = analysed(folder, out, options, on_progress)
        names = [name for name, stage in STAGES.items() if options.figures or not stage.for_figures]
        content, results = run_stages(found, names, out, command, on_progress)
        if options.figures:
            from baselines.analysis.drawing import pictures_of  # matplotlib takes its time

            on_progress("figures")
            content[FIGURES] = save_pictures(pictures_of(found, results), out)
            write_json(out / ANALYSIS, content)
    return content


def run_stages(
    found: Analysed, names: Sequence[str], out: Path, command: str, on_progress: OnStage
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute stages, and write `analysis.json` after each; return what it says, and the results.

    Args:
        found: the run with its codes.
        names: of `baselines.analysis.stages.STAGES`; what doesn't suit the run is left out.
        out: directory of the analysis.
        command: that was typed.
        on_progress: is called with the name of the next step.
    """
    content, results = describe(found, command), dict[str, Any]()
    for name in names:
        stage = STAGES[name]
        if stage.suits(found):
            on_progress(stage.title)
            results[name] = stage.compute(found)
            content[name] = as_json(stage.said(results[name]))
            write_json(out / ANALYSIS, content)
    return content, results


def save_pictures(pictures: "Mapping[str, Picture]", out: Path) -> list[str]:
    """Write pictures; return their files, as they are called from ``out``."""
    from baselines.analysis.plots.frame import save_picture

    (out / FIGURES).mkdir(exist_ok=True)
    files = [path for name, each in pictures.items() for path in save_picture(each, out / FIGURES / name)]
    return [str(path.relative_to(out)) for path in files]
