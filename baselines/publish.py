"""A finished run as the files of a model, for the Hub or not: parameters, configuration, result, a card."""

import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.stats import binomtest

from baselines.config import LanguageConfig, RunConfig
from baselines.evaluate import UNKNOWN, describe_runs, is_of_a_grid
from baselines.load import load_run
from baselines.runs.code import FOLDER, imported_by
from baselines.runs.command import train_command
from baselines.runs.directory import CONFIG, WEIGHTS, read_run
from baselines.runs.provenance import RECORD
from baselines.runs.result import EVALUATION, RESULT, WHILE_TRAINING, read_result
from baselines.runs.weights import weights_bytes
from baselines.training.grid import SELECTION_SPLIT
from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.system.files import sha256_of_file, write_bytes, write_text
from sraven.data.card import LICENSE, PAPER_URL
from sraven.data.hub import Place
from sraven.data.manifest import CARD

if TYPE_CHECKING:
    from huggingface_hub import ModelCardData

_SOURCES = {
    EVALUATION: "Scores are on whole splits, by `sraven evaluate`.",
    WHILE_TRAINING: "Scores are of training's end, on the first instances of each split: no submission's.",
}
"""Where scores are from, in words, by what a result calls it."""

_NOT_KNOWN = "–"

_SHARE = "accuracy"
"""The metric that is a share of instances: its interval follows from it and their number."""


def write_files(run: Path, folder: Path, place: Place | str) -> None:
    """Write the files of a published model.

    Args:
        run: directory of a finished run, with its result. It is read only.
        folder: an empty directory.
        place: where they will be, as the card says: on the Hub, or the name of a directory.

    Raises:
        OutputError: if it isn't finished, or its result is missing, has no scores, or is of another run.
        ConfigurationError: for a run on a board of text, or parameters that aren't finite.
    """
    config = read_run(run)
    if isinstance(config, LanguageConfig):
        raise ConfigurationError(f"{run} is a language model's run; only those on other boards are published")
    result = read_result(run)
    _, params = load_run(run)
    if result.get("digest") != config.digest or not result.get("scores"):
        raise OutputError(
            f"{run / RESULT} has no scores of this run; `sraven evaluate {run} --out entry` writes them"
        )
    for name in (CONFIG, RESULT, *(path.name for path in run.glob(RECORD.format("*")))):
        shutil.copyfile(run / name, folder / name)
    if imported := imported_by(run):
        (folder / FOLDER).mkdir()
        for name in imported:
            shutil.copyfile(run / FOLDER / name, folder / FOLDER / name)
    write_bytes(folder / WEIGHTS, weights_bytes(params, config.digest))
    card = _render_card(run, place, result, params, sha256_of_file(folder / WEIGHTS))
    write_text(folder / CARD, card)


def _render_card(
    run: Path, place: Place | str, result: Mapping[str, Any], params: Any, weights_digest: str
) -> str:
    """Return the card: front matter for the Hub, then prose."""
    config, name, download, loaded = read_run(run), str(place), "", json.dumps(str(place))
    if isinstance(place, Place):
        name = place.repository.partition("/")[2]
        revision = f', revision="{place.revision}"' if place.revision else ""
        download = "from huggingface_hub import snapshot_download\n"
        loaded = f'snapshot_download("{place.repository}"{revision})'
    metric, scores, loss = read_board(config.board).metric, result["scores"], result["loss"]
    values = {split: each[metric] for split, each in scores["splits"].items()}
    description = describe_runs([config], params, [run])
    return (
        (files("baselines") / "templates" / "model-card.md")
        .read_text("utf-8")
        .format(
            front=_front_matter(name, config, metric, values),
            name=name,
            place=place,
            download=download,
            loaded=loaded,
            config=config,
            seen=description["training"]["instances"],
            method=description["method"]["name"],
            parameters=description["model"]["parameters"],
            metric=metric,
            scores="\n".join(_row(split, metric, value, scores) for split, value in values.items()),
            source=_SOURCES[scores["from"]],
            loss=f"{loss['mean']:.4g}, the mean of the last {loss['steps']:,} steps" if loss else UNKNOWN,
            hardware=description["training"]["hardware"],
            commits=", ".join(dict.fromkeys(each["commit"] or UNKNOWN for each in result["trained_by"]))
            or UNKNOWN,
            chosen=f"one of a grid, compared by `{SELECTION_SPLIT}`"
            if is_of_a_grid(run)
            else "of one run alone",
            command=train_command([config], imported_by(run)),
            weights_digest=weights_digest,
            paper=PAPER_URL,
            license=LICENSE,
        )
    )


def _row(split: str, metric: str, value: float | None, scores: Mapping[str, Any]) -> str:
    """Return the row of a split in the table of scores."""
    n = scores["instances"].get(split)
    cells = [
        split + " (unranked)" * (split in scores["unranked"]),
        _NOT_KNOWN if n is None else f"{n:,}",
        _NOT_KNOWN if value is None else f"{value:.4f}",
        _NOT_KNOWN if value is None or n is None or metric != _SHARE else _interval(value, n),
    ]
    return f"| {' | '.join(cells)} |"


def _interval(share: float, n: int) -> str:
    """Return Wilson's 95 % interval of a share of n instances."""
    found = binomtest(round(share * n), n).proportion_ci(method="wilson")
    return f"{found.low:.4f} to {found.high:.4f}"


def _front_matter(
    name: str, config: RunConfig, metric: str, values: Mapping[str, float | None]
) -> "ModelCardData":
    """Return what the Hub reads of a card."""
    from huggingface_hub import EvalResult, ModelCardData

    of_board: dict[str, Any] = {"task_type": "other", "metric_type": metric}
    of_board |= {f"dataset_{name}": config.board for name in ("type", "name")}
    of_board["dataset_revision"] = config.board_digest
    return ModelCardData(
        library_name="sraven",
        license=LICENSE,
        tags=["sraven", config.board, *config.architecture.split(), "compositional-generalization"],
        model_name=name,
        eval_results=[
            EvalResult(dataset_split=split, metric_value=value, **of_board)
            for split, value in values.items()
            if value is not None
        ],
    )
