"""Trained runs onto their board: predictions of its splits, as a submission."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from baselines.config import RunConfig
from baselines.encode import encoding_of
from baselines.load import load_run
from baselines.model.composing import COMPOSING
from baselines.model.networks import LOOPED
from baselines.recipes import RECIPES, defaults_of, warmup_of
from baselines.train.code import imported_by
from baselines.train.command import train_command
from baselines.train.directory import is_exported
from baselines.train.experiment import board_of
from baselines.train.grid import SELECTION_SPLIT, SUMMARY
from baselines.train.log import Scores
from baselines.train.optim import OPTIMISERS
from baselines.train.predict import predict, unranked_splits
from baselines.train.processes import note
from baselines.train.provenance import code_address, commit_of, hardware_of
from baselines.train.result import RESULT, add_evaluation
from baselines.train.weights import weights_bytes
from sraven.board.board import Board, load_board, read_board
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.means import standard_error
from sraven.files.files import read_bounded
from sraven.leaderboard.standing import LEARNT_CEILING
from sraven.leaderboard.submissions.submission import METHOD_FAMILIES
from sraven.leaderboard.submissions.submit import check_new, write_submission
from sraven.scoring.scores import score_plainly

UNKNOWN = "unknown"
"""The hardware of runs of versions that didn't record it."""


class Evaluation(NamedTuple):
    """Runs that differ in their seed alone, on whole splits.

    Attributes:
        board: whose splits these are.
        configs: of the runs, as they were trained.
        params: of one of them.
        weights: SHA-256 of the file of parameters that `sraven export` writes, by seed.
        predictions: by split and seed, of the board's splits.
        scores: by seed, then by split and metric; unranked splits are among them.
        instances: of each of these splits.
    """

    board: Board
    configs: Sequence[RunConfig]
    params: Any
    weights: Mapping[int, str]
    predictions: Mapping[str, Mapping[int, NDArray[Any]]]
    scores: Mapping[int, Scores]
    instances: Mapping[str, int]

    def unranked(self) -> tuple[str, ...]:
        """The splits that are no part of the submission."""
        return tuple(split for split in self.instances if split not in self.board.splits)

    def means(self, metric: str) -> dict[str, tuple[float, float | None]]:
        """Return mean and standard error over seeds of a metric, by split."""
        found = {}
        for split in self.instances:
            values = [scores[split][metric] for scores in self.scores.values()]
            found[split] = float(np.mean(values)), standard_error(values)
        return found


def config_on(config: RunConfig, board: Board) -> RunConfig:
    """Return the configuration with which a run predicts a board's splits, even if it was trained on another.

    That may be another board if a network sees the instances of both in the same way, and the training split
    of the run's own has none of the combinations that this one holds out.

    Raises:
        ConfigurationError: if it isn't so.
    """
    if config.board == board.id:
        return config
    own = board_of(config).task
    shapes = {
        (each.length, each.num_outputs, each.width_in, each.width_out)
        for each in map(encoding_of, (own, board.task))
    }
    if len(shapes) > 1:
        raise ConfigurationError(
            f"a network trained on {config.board} doesn't fit the instances of {board.id}"
        )
    trained = set(map(tuple, own.combinations("train").tolist()))
    for split, held_out in board.held_out.items():
        if shared := trained.intersection(held_out):
            raise ConfigurationError(
                f"training on {config.board} showed {len(shared)} of the {len(held_out)} combinations that "
                f"{board.id} holds out for {split}; choose a board that holds out no others"
            )
    return replace(config, board=board.id, board_digest=board.digest)


def evaluate_runs(runs: Sequence[Path], board_id: str | None = None, loops: int | None = None) -> Evaluation:
    """Predict the splits of a board with runs that differ in their seed alone, and score them.

    Splits that the task has beside the board's are predicted too, as many instances as are ranked.

    Args:
        runs: their directories, finished.
        board_id: the board, see `config_on`; None for that on which they were trained.
        loops: how often looped transformers apply their block; None for as often as in training.

    Raises:
        ConfigurationError: if the runs differ in more than their seed, another board isn't for them, or
            there are loops for a network without.
        OutputError: if one isn't finished.
    """
    loaded = [load_run(path) for path in runs]
    configs = [config for config, _ in loaded]
    check_alike(runs, configs)
    board = load_board(board_id or configs[0].board)
    if loops is not None and configs[0].network != LOOPED:
        raise ConfigurationError(
            f"loops={loops} for runs of network={configs[0].network!r}; expected {LOOPED!r}"
        )
    evaluated = [
        (replace(config_on(config, board), layers=config.layers if loops is None else loops), params)
        for config, params in loaded
    ]
    task, scoring = board.task, board.task.scoring
    beside = dict.fromkeys(unranked_splits(board), board.splits[board.primary_split])
    instances = {**board.splits, **beside}
    predictions: dict[str, dict[int, NDArray[Any]]] = {}
    scores: dict[int, dict[str, dict[str, float]]] = {config.seed: {} for config in configs}
    for split, size in instances.items():
        labels = scoring.labels(task.sample(split, 0, size), None)
        predictions[split] = {each.seed: predict(each, params, split, size) for each, params in evaluated}
        for seed, each in predictions[split].items():
            scores[seed][split] = score_plainly(scoring, labels, each, metrics=board.metrics)
    ranked = {split: predictions[split] for split in board.splits}
    weights = {
        config.seed: sha256(weights_bytes(params, config.digest)).hexdigest() for config, params in loaded
    }
    return Evaluation(board, configs, loaded[0][1], weights, ranked, scores, instances)


def write_entry(
    runs: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    authors: Sequence[str],
    board_id: str | None = None,
    tuning_trials: int | None = None,
) -> Evaluation:
    """Predict a board's splits with runs that differ in their seed alone, and write the submission.

    What they score on whole splits of their own board goes into the result of each run
    (`baselines.train.result`), and what isn't ranked into the submission's README as well.

    Args:
        runs: their directories, finished.
        out: a directory that doesn't exist yet.
        authors: who submits.
        board_id: the board, see `evaluate_runs`; None for that on which they were trained.
        tuning_trials: how many settings were tried; None for the points of their grid, if there is one.

    Returns:
        their scores.

    Raises:
        ConfigurationError: if the runs differ in more than their seed, or another board isn't for them.
        OutputError: if one isn't finished, or ``out`` exists.
    """
    check_new(Path(out))
    found = evaluate_runs(runs, board_id)
    description = describe_runs(found.configs, found.params, runs, authors, tuning_trials)
    description["readme"] += describe_unranked(found)
    for seed, digest in found.weights.items():
        description["readme"] += (
            f"\nSeed {seed}: the parameters (`sraven export`) have the SHA-256 {digest}.\n"
        )
    if (own := found.configs[0].board) != found.board.id:
        description["readme"] += f"\nTrained on {own}, which shows nothing that {found.board.id} holds out.\n"
    write_submission(out, found.board.id, found.predictions, **description)
    for run, config in zip(runs, found.configs, strict=True):
        if config.board == found.board.id:
            keep_scores(run, config, found.scores[config.seed], found.instances)
    return found


def other_points(runs: Sequence[Path]) -> tuple[list[dict[str, Any]], int | None]:
    """Return the other points of the grid that runs are of, and how many it has in all.

    Raises:
        OutputError: if the grid's summary can't be read.
    """
    own = runs[0].resolve().parent
    path = own.parent / SUMMARY
    if not path.is_file():
        return [], None
    try:
        points = json.loads(read_bounded(path))["points"]
        others = [
            {
                "name": ", ".join(_in_words(name, value) for name, value in point["values"].items()),
                "scores": {SELECTION_SPLIT: point["mean"]},
            }
            for point in points
            if point["folder"] != own.name and point["mean"] is not None
        ]
        return others, len(points)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} can't be read ({error}); choose by `sraven train --grid` again") from None


def keep_scores(
    run: Path, config: RunConfig, scores: Scores, instances: Mapping[str, int], corpus: str | None = None
) -> None:
    """Write scores into the result of a run, as `add_evaluation` does; note it if that fails.

    What was published stays as it is.
    """
    if is_exported(run):
        return
    try:
        add_evaluation(run, config, scores, instances, corpus)
    except (OSError, OutputError) as error:
        note(f"{run / RESULT} isn't written: {getattr(error, 'strerror', None) or error}")


def describe_unranked(found: Evaluation) -> str:
    """Return the lines of a README on scores that are no part of a submission; nothing if there are none."""
    metric, lines = found.board.metric, []
    for split in found.unranked():
        mean, error = found.means(metric)[split]
        spread = "" if error is None else f" ± {error:.4f}"
        lines.append(
            f"\nUnranked, as the runs were evaluated: {metric} on {found.instances[split]:,} instances of "
            f"{split}: {mean:.4f}{spread}.\n"
        )
    return "".join(lines)


def check_alike(runs: Sequence[Path], configs: Sequence[RunConfig]) -> None:
    """Check that runs differ in their seeds, and in nothing else.

    Raises:
        ConfigurationError: if they don't.
    """
    for path, config in zip(runs, configs, strict=True):
        if replace(config, seed=configs[0].seed) != configs[0]:
            raise ConfigurationError(f"{path} differs from {runs[0]} in more than its seed")
    if len({config.seed for config in configs}) < len(configs):
        raise ConfigurationError("two of the runs have the same seed")


SHORT = {"learning_rate": "rate", "weight_decay": "decay", "warmup": "warm-up"}
"""Names of fields, as short as entries and tables want them."""

_PHRASES = {
    ("feedforward", "none"): "no feed-forward layers",
    ("feedforward", "moe"): "moe",
    ("position", "relative_both_ways"): "both-ways buckets",
}


def _differences(config: RunConfig) -> list[str]:
    """Return in words how a configuration differs from the defaults of its board."""
    later = {each.name: each.default for each in fields(RunConfig) if each.default not in (MISSING, "")}
    board = read_board(config.board)
    usual = defaults_of(board) | {"warmup": warmup_of(board.family, config.steps)}
    later.pop("network")  # the name begins with it
    expected = {**later, **usual, **RECIPES[config.recipe], "position": usual["position"], "recipe": "paper"}
    found = {name: getattr(config, name) for name in expected}
    return [_in_words(name, found[name]) for name, value in expected.items() if found[name] != value]


def _in_words(name: str, value: Any) -> str:
    if (name, value) in _PHRASES:
        return _PHRASES[name, value]
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{SHORT.get(name, name.replace('_', ' '))} {shown}"


def _family(network: str) -> str:
    """Return the family of a network, as submissions have it."""
    if network in COMPOSING:
        return LEARNT_CEILING
    return network if network in METHOD_FAMILIES else "other"


def describe_runs(
    configs: Sequence[RunConfig],
    params: Any,
    runs: Sequence[Path],
    authors: Sequence[str],
    tuning_trials: int | None,
) -> dict[str, Any]:
    """Return the description of runs in a submission, as arguments of `write_submission`.

    Args:
        configs: of the runs, which differ in their seed alone.
        params: of one of them.
        runs: their directories, which have recorded what trained them.
        authors: who submits.
        tuning_trials: how many settings were tried; None for the points of their grid, if there is one.
    """
    imported = imported_by(runs[0], configs[0])
    first, command = configs[0], train_command(configs, imported)
    code = "".join(f"\n{name} has the SHA-256 {sha256}.\n" for name, sha256 in imported.items())
    seen = first.steps * first.batch_size
    points, tried = other_points(runs)
    trials = tuning_trials or tried
    commit, address = commit_of(runs), code_address()
    return {
        **({"points": points} if points else {}),
        "method": {
            "name": ", ".join([first.architecture, *_differences(first), f"{seen:,} instances"]),
            "family": _family(first.network),
            "description": f"The baseline {first.in_words}: {command}",
            "authors": list(authors),
            **({"code": address} if commit and address else {}),
            "code_commit": commit,
            "license": "Apache-2.0",
        },
        "model": {
            "parameters": sum(leaf.size for leaf in jax.tree.leaves(params)),
            "layers": first.layers,
            "heads": first.heads,
            "width": first.width,
        },
        "training": {
            "instances": seen,
            "selection_split": SELECTION_SPLIT if (trials or 1) > 1 else None,
            "optimiser": OPTIMISERS[first.optimiser].title,
            "hardware": hardware_of(runs) or UNKNOWN,
            "tuning_trials": trials,
        },
        "readme": f"Trained by\n\n    {command} --out runs\n{code}",
    }
