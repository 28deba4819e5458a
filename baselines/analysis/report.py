"""The analysis of a run, from its codes to `analysis.json` and pictures."""

from pathlib import Path
from typing import Any

from baselines.analysis.analysed import ANALYSIS, Analysed, OnStage, analysed, claimed
from baselines.analysis.codes import load_analysed
from baselines.analysis.labels import BOARD, subject_of
from baselines.analysis.stages import STAGES
from baselines.train.code import imported_by
from baselines.train.command import train_command
from baselines.train.experiment import board_of
from baselines.train.provenance import code_commit, read_provenance
from sraven.files.files import write_json
from sraven.files.jsonable import as_json

FIGURES, SCHEMA = "figures", 1

_OF_RUN = ("board", "board_digest", "attention", "heads", "layers", "steps", "seed")


def _describe(found: Analysed, command: str) -> dict[str, Any]:
    """Return what `analysis.json` says before any result: what was analysed, by which code, and how."""
    config = found.config
    return {
        "schema": SCHEMA,
        "command": command,
        "commit": code_commit(),
        "run": {
            "digest": config.digest,
            "command": train_command([config], imported_by(found.folder, config)),
            "trained_by": read_provenance(found.folder),
            **{name: getattr(config, name) for name in _OF_RUN},
        },
        "protocol": found.subject.name,
        "pairs": list(found.trained),
        "layers": [layer + 1 for layer in found.layers],
        "parts": [vars(part) for part in found.parts],
        "judged": found.judged,
        "codes": list(found.files),
        "notes": list(found.notes),
    }


def analyse_run(
    folder: Path,
    out: Path,
    command: str,
    on_progress: OnStage,
    *,
    protocol: str = BOARD,
    n: int | None = None,
    figures: bool = True,
) -> dict[str, Any]:
    """Analyse a run, and write all of it into a directory; return what `analysis.json` says.

    Args:
        folder: of the run.
        out: directory to write: `codes/` first, then `analysis.json` after each stage, pictures last.
        command: that was typed.
        on_progress: is called with the name of the next step.
        protocol: a name of `baselines.analysis.labels.PROTOCOLS`.
        n: instances of a part; None for the default of the task.
        figures: whether pictures are made.

    Raises:
        OutputError: if the run isn't finished, or the directory holds something else.
        ConfigurationError: (a ValueError) for what can't be analysed.
    """
    config, params = load_analysed(folder)
    subject = subject_of(board_of(config).task, protocol)
    parts = subject.parts(n)
    with claimed(out, config.digest):
        found = analysed(folder, config, params, subject, parts, out, on_progress)
        content, results = _describe(found, command), dict[str, Any]()
        for name, stage in STAGES.items():
            if figures or not stage.for_figures:
                on_progress(stage.title)
                results[name] = stage.compute(found)
                content[name] = as_json(results[name])
                write_json(out / ANALYSIS, content)
        if figures:
            from baselines.analysis.drawing import pictures_of  # matplotlib takes its time
            from baselines.plots.frame import save_picture

            on_progress("figures")
            (out / FIGURES).mkdir(exist_ok=True)
            pictures = pictures_of(found, results).items()
            files = [path for name, each in pictures for path in save_picture(each, out / FIGURES / name)]
            content[FIGURES] = [str(path.relative_to(out)) for path in files]
            write_json(out / ANALYSIS, content)
    return content
