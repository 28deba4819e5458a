"""Probes: what a linear classifier reads off latent codes, and off everything that it is to be compared with.

A probe is a logistic regression with an L2 penalty and balanced classes, fitted on one part of the instances
and judged on the others. Labels are one of several classes (the rule, Figure 5F), or several that are there
or not (the terms, Figure 2B); then each has a classifier of its own. Parts go by name: codes and labels are
mappings from the same names. No network is needed here, and nothing is collected.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.classifiers import ITERATIONS, choose_strength, fit_and_predict
from baselines.analysis.controls import (
    Labels,
    always_positive,
    columns_of,
    joined,
    majority,
    permute_labels,
)
from baselines.analysis.intervals import Interval, stream
from baselines.analysis.probe_scores import (
    Counts,
    Measure,
    Score,
    count_classes,
    count_presence,
    measure_classes,
    measure_presence,
    summarise,
)
from baselines.analysis.similarity import SPREAD, varying
from sraven.core.base.errors import ConfigurationError

Array = NDArray[Any]
Guess = Callable[[Array, int], Array]

FIT_ROWS = 16_384
"""Rows that a probe is fitted on, at most: drawn once, the same ones for all layers and controls."""

RELABELLINGS = 5
"""Permutations of labels behind the control ``permuted``."""

MAJORITY, ALWAYS_POSITIVE, PERMUTED = "majority", "always_positive", "permuted"
UNTRAINED, RAW_TOKENS, BAYES = "untrained", "raw_tokens", "bayes"
ROW3_INPUTS, WITH_INPUTS = "row3_inputs", "codes_with_inputs"


@dataclass(frozen=True)
class Probe:
    """A probe, or what stands beside it.

    Attributes:
        scores: by part; none if the codes are constant.
        kept: coordinates that the probe sees.
        dropped: those that spread too little.
        strengths: C of each of its classifiers; None for one whose labels in the fitting data are all alike.
        notes: what a reader has to know: constant codes, classes that the fitting data lack, classifiers that
            didn't converge.
    """

    scores: Mapping[str, Score]
    kept: int = 0
    dropped: int = 0
    strengths: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decoding:
    """A probe with its controls.

    Attributes:
        probe: of the codes.
        controls: by name: ``majority``, ``permuted``, ``always_positive`` where labels are there or not, and
            what was given.
    """

    probe: Probe
    controls: Mapping[str, Probe] = field(default_factory=dict)


class _Design(NamedTuple):
    """Standardised codes by part: what all classifiers of a layer see."""

    parts: Mapping[str, Array]
    rows: Array
    """Of the fitting part, drawn."""
    kept: int
    dropped: int


class _Kind(NamedTuple):
    """How labels of a kind are counted and measured, and guessed without a code."""

    tally: Callable[[Array, Array, Array, int], Counts]
    measure: Measure
    guesses: Mapping[str, Guess]


_CLASSES = _Kind(count_classes, measure_classes, {MAJORITY: majority})
_PRESENCE = _Kind(count_presence, measure_presence, {MAJORITY: majority, ALWAYS_POSITIVE: always_positive})


def decode(
    codes: Mapping[str, Array],
    labels: Mapping[str, Labels],
    names: Sequence[str],
    fit: str,
    *,
    beside: Mapping[str, Probe] | None = None,
    ceiling: Mapping[str, float] | None = None,
) -> Decoding:
    """Return what a probe reads off codes, with its controls.

    Args:
        codes: float ``[n, F]`` by part.
        labels: by part.
        names: of the classes, or of the labels, in their order.
        fit: the part to fit on; the probe is judged on the others.
        beside: probes of the same labels by the name of their control, ``untrained`` and ``raw_tokens``: what
            `fit_probe` found.
        ceiling: accuracy of the exact posterior by part; it stands among the controls as ``bayes``.

    Raises:
        ConfigurationError: if codes aren't finite, or don't belong to the labels.
    """
    design, kind = _prepare(codes, labels, fit), _kind_of(labels[fit])
    probe = _fit_probe(design, labels, names, fit)
    controls = {name: _guess(guess, labels, names, fit) for name, guess in kind.guesses.items()}
    controls[PERMUTED] = _permuted(design, labels, names, fit, probe)
    controls.update(beside or {})
    if ceiling:
        scores = {part: Score({"accuracy": Interval(value)}, {}, (), 0, 0) for part, value in ceiling.items()}
        controls[BAYES] = Probe(scores)
    return Decoding(probe, controls)


def fit_probe(
    codes: Mapping[str, Array], labels: Mapping[str, Labels], names: Sequence[str], fit: str
) -> Probe:
    """Return what a probe reads off codes, without controls: arguments and errors are those of `decode`.

    Coordinates that spread too little are dropped, the others standardised, by the fitting part alone. Its
    `FIT_ROWS` rows at most choose C, by cross-validation over combinations, and are fitted with it.
    """
    return _fit_probe(_prepare(codes, labels, fit), labels, names, fit)


def _prepare(codes: Mapping[str, Array], labels: Mapping[str, Labels], fit: str) -> _Design:
    for part, each in codes.items():
        if not len(each) == len(labels[part].values) == len(labels[part].combination):
            raise ConfigurationError(
                f"{part}: {len(each):,} codes, but {len(labels[part].values):,} labels of "
                f"{len(labels[part].combination):,} combinations; expected one of each a row"
            )
        if not np.isfinite(each).all():
            raise ConfigurationError(
                f"{part}: some latent codes are no finite numbers, so nothing can be read off them; "
                "did the run diverge?"
            )
    fitting = np.asarray(codes[fit], np.float64)
    keep = varying(fitting)
    mean, spread = fitting[:, keep].mean(axis=0), fitting[:, keep].std(axis=0)
    parts = {part: (np.asarray(each, np.float64)[:, keep] - mean) / spread for part, each in codes.items()}
    rows = np.sort(stream(stream="rows").permutation(len(fitting))[:FIT_ROWS])
    return _Design(parts, rows, int(keep.sum()), int((~keep).sum()))


def _kind_of(labels: Labels) -> _Kind:
    return _PRESENCE if labels.values.ndim == 2 else _CLASSES


def _fit_probe(design: _Design, labels: Mapping[str, Labels], names: Sequence[str], fit: str) -> Probe:
    if not design.kept:
        note = f"constant codes: none of {design.dropped} coordinates spreads by {SPREAD:g} of their RMS"
        return Probe({}, 0, design.dropped, notes=(note,))
    codes, combination = design.parts[fit][design.rows], labels[fit].combination[design.rows]
    strengths = [
        choose_strength(codes, column[design.rows], combination) for column in columns_of(labels[fit].values)
    ]
    predictions, failed = _predict(design, labels, fit, strengths)
    scores = {part: _score(labels[part], predicted, names) for part, predicted in predictions.items()}
    notes = _lacking(labels[fit].values[design.rows], names) + _failing(failed, len(strengths))
    return Probe(scores, design.kept, design.dropped, tuple(strengths), tuple(notes))


def _predict(
    design: _Design, labels: Mapping[str, Labels], fit: str, strengths: Sequence[float | None]
) -> tuple[dict[str, Array], int]:
    """Fit all classifiers; return what they predict for the other parts, and how many didn't converge."""
    others = [part for part in design.parts if part != fit]
    found, failed = [], 0
    for column, strength in zip(columns_of(labels[fit].values), strengths, strict=True):
        predicted, converged = fit_and_predict(
            design.parts[fit][design.rows],
            column[design.rows],
            strength,
            [design.parts[part] for part in others],
        )
        found.append(predicted)
        failed += not converged
    by_part = zip(others, zip(*found, strict=True), strict=True)
    return {part: joined(list(columns), labels[part].values) for part, columns in by_part}, failed


def _permuted(
    design: _Design, labels: Mapping[str, Labels], names: Sequence[str], fit: str, probe: Probe
) -> Probe:
    """Return the probe of labels permuted between combinations, over several permutations, with its C."""
    if not probe.kept:
        return probe
    counts, failed, kind = dict[str, list[Counts]](), 0, _kind_of(labels[fit])
    for number in range(RELABELLINGS):
        moved = permute_labels(labels, fit, number)
        predictions, failing = _predict(design, moved, fit, probe.strengths)
        failed += failing
        for part, predicted in predictions.items():
            each = kind.tally(moved[part].values, predicted, moved[part].combination, len(names))
            counts.setdefault(part, []).append(each)
    scores = {
        part: summarise(np.concatenate(each), kind.measure, names, len(design.parts[part]), len(each[0]))
        for part, each in counts.items()
    }
    notes = _failing(failed, RELABELLINGS * len(probe.strengths))
    return Probe(scores, probe.kept, probe.dropped, probe.strengths, tuple(notes))


def _guess(guess: Guess, labels: Mapping[str, Labels], names: Sequence[str], fit: str) -> Probe:
    fitting, others = labels[fit].values, {part: each for part, each in labels.items() if part != fit}
    return Probe(
        {part: _score(each, guess(fitting, len(each.values)), names) for part, each in others.items()}
    )


def _score(truth: Labels, predicted: Array, names: Sequence[str]) -> Score:
    kind = _kind_of(truth)
    counts = kind.tally(truth.values, predicted, truth.combination, len(names))
    return summarise(counts, kind.measure, names, len(predicted), len(counts))


def _lacking(fitting: Array, names: Sequence[str]) -> list[str]:
    """Name what no classifier can know, as it isn't in the fitting data."""
    columns = fitting if fitting.ndim == 2 else fitting[:, None] == np.arange(len(names))
    there = np.asarray(columns.any(axis=0))
    lacking = [name for name, found in zip(names, there, strict=True) if not found]
    return [f"not in the fitting data: {', '.join(lacking)}"] if lacking else []


def _failing(failed: int, classifiers: int) -> list[str]:
    note = f"{failed} of {classifiers} classifiers didn't converge in {ITERATIONS:,} iterations"
    return [note] if failed else []
