"""Many runs: whether those with more structure in their latent codes generalise better.

Of each run, topographic similarity and scores are found; what else there is to a run, its own analysis says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.analysis.across_runs import across_runs
from baselines.analysis.analysed import ANALYSIS, CODES, TRAINED, AnalysisOptions, OnStage, analysed, claimed
from baselines.analysis.labels import PAPER_CODE
from baselines.analysis.pages import Structure, by_structure, with_interval
from baselines.analysis.report import FIGURES, SCHEMA, check_run, run_stages, save_pictures
from baselines.config import RunConfig
from baselines.runs.provenance import code_commit
from baselines.training.experiment import board_of
from sraven.core.errors import ConfigurationError
from sraven.core.jsonable import as_json
from sraven.core.system.files import write_json

if TYPE_CHECKING:
    from baselines.analysis.plots.frame import Picture

Similarities = Mapping[Structure, float | None]
"""The topographic similarities of a run by what each is of."""

_STAGES = ("scores", "topography")


def analyse_runs(
    folders: Sequence[Path], out: Path, options: AnalysisOptions, command: str, on_progress: OnStage
) -> dict[str, Any]:
    """Compare runs on one board, and write it into a directory; return what `analysis.json` says.

    Args:
        folders: of the runs.
        out: directory to write; codes and numbers of each run go into one of their own there.
        options: of the analysis. Without layers, it is the last one of each run.
        command: that was typed.
        on_progress: is called with the name of the next step.

    Raises:
        OutputError: if a run isn't finished, or a directory holds something else.
        ConfigurationError: (a ValueError) for runs that can't be compared.
    """
    configs = [check_run(folder, options) for folder in folders]
    _check_runs(folders, configs, options)
    contents = []
    with claimed(out, None):
        for number, (folder, config) in enumerate(zip(folders, configs, strict=True), start=1):
            name = f"{config.architecture.replace(' ', '-')}-seed-{config.seed}-{config.digest[:12]}"
            at = options if options.layers else replace(options, layers=(config.layers,))

            def on_stage(what: str, where: str = f"run {number} of {len(folders)}") -> None:
                on_progress(f"{where}: {what}")

            with claimed(out / name, config.digest):
                found = analysed(folder, out / name, at, on_stage, (TRAINED,))
                contents.append(run_stages(found, _STAGES, out / name, command, on_stage)[0])
        similarities = [_structures(content, options) for content in contents]
        content = _compare(folders, configs, contents, similarities)
        content = {"schema": SCHEMA, "command": command, "commit": code_commit(), **content}
        if options.figures:
            content[FIGURES] = save_pictures(_pictures(content, similarities), out)
        write_json(out / ANALYSIS, content)
        (out / CODES).rmdir()  # they are in the runs' directories
    return content


def _check_runs(folders: Sequence[Path], configs: Sequence[RunConfig], options: AnalysisOptions) -> None:
    boards = list(dict.fromkeys(config.board for config in configs))
    if len(boards) > 1:
        raise ConfigurationError(f"the runs are on {' and '.join(boards)}; runs of one board are compared")
    if options.protocol == PAPER_CODE:
        raise ConfigurationError(
            f"protocol={PAPER_CODE!r} with several runs, which are compared by scores on whole instances; "
            "use protocol board, or name one run"
        )
    seen: dict[str, Path] = {}
    for folder, config in zip(folders, configs, strict=True):
        if config.digest in seen:
            raise ConfigurationError(f"{folder} and {seen[config.digest]} are the same run; name one of them")
        seen[config.digest] = folder


def _structures(content: Mapping[str, Any], options: AnalysisOptions) -> Similarities:
    """Return each topographic similarity of a run by what it is of."""
    return {
        where if options.layers else where._replace(layer="last"): found["correlation"]
        for where, found in by_structure(content["topography"][TRAINED]).items()
    }


def _compare(
    folders: Sequence[Path],
    configs: Sequence[RunConfig],
    contents: Sequence[Mapping[str, Any]],
    similarities: Sequence[Similarities],
) -> dict[str, Any]:
    metric = board_of(configs[0]).metric
    runs = [
        {
            "folder": str(folder),
            "digest": config.digest,
            "configuration": replace(config, seed=0).digest,
            "attention": config.attention,
            "seed": config.seed,
            "test": content["scores"]["test"][metric]["mean"],
            "ood": content["scores"][content["judged"]][metric]["mean"],
            "notes": content["notes"],
            "topography": [{**each._asdict(), "correlation": value} for each, value in found.items()],
        }
        for folder, config, content, found in zip(folders, configs, contents, similarities, strict=True)
    ]
    across = []
    for structure in dict.fromkeys(chain(*similarities)):
        all_runs = enumerate(each.get(structure) for each in similarities)
        known = {number: value for number, value in all_runs if value is not None}
        if len(known) > 1:
            names = "ood", "test", "configuration"
            columns = (np.array([runs[number][name] for number in known]) for name in names)
            found = as_json(across_runs(np.array(list(known.values())), *columns))
            across.append({**structure._asdict(), **found, "of": list(known)})
    return {"board": configs[0].board, "metric": metric, "runs": runs, "across": across}


def _pictures(content: Mapping[str, Any], similarities: Sequence[Similarities]) -> "dict[str, Picture]":
    """Return a picture of each comparison."""
    from baselines.analysis.plots.clouds import runs_picture

    pictures = {}
    for each in content["across"]:
        structure = Structure(*(each[name] for name in Structure._fields))
        of = [content["runs"][number] for number in each["of"]]
        values = np.array([similarities[number][structure] for number in each["of"]])
        rho, partial = (with_interval(each[name], 2, "not defined") for name in ("correlation", "partial"))
        lines = [f"Spearman {rho}", f"partial on test {partial}", each["statement"]]
        groups, ood = [run["attention"] for run in of], np.array([run["ood"] for run in of])
        of_codes = f"{structure.tasks}: {structure.task_distance}, {structure.code_distance}"
        names = f"topographic similarity, {of_codes}", f"{content['metric']} on ood"
        pictures[f"across-{'-'.join(structure)}"] = runs_picture(groups, values, ood, lines, names)
    return pictures
