"""Probes: linear classifiers of latent codes, and of everything that they are to be compared with.

A probe is a logistic regression with an L2 penalty and balanced classes, fitted on one part of the instances
and judged on the others. Labels are one of several classes (the rule, Figure 5F), or several that are there
or not (the terms, Figure 2B); then each has a classifier of its own. Parts go by name: codes and labels are
mappings from the same names. No network is needed here, and nothing is collected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.classifiers import ITERATIONS, choose_strength, fit_and_predict
from baselines.analysis.controls import Labels, columns_of, joined, majority, permute_labels
from baselines.analysis.intervals import Interval, stream
from baselines.analysis.probe_scores import KINDS, Counts, ProbeScore, subtract, summarise
from baselines.analysis.similarity import SPREAD, varying
from sraven.core.errors import ConfigurationError

Array = NDArray[Any]

FIT_ROWS = 16_384
"""Rows that a probe is fitted on, at most: drawn once, the same ones for all layers and controls."""

RELABELLINGS = 5
"""Permutations of labels behind the control ``permuted``."""

MAJORITY, ALWAYS_POSITIVE, PERMUTED = "majority", "always_positive", "permuted"
UNTRAINED, RAW_TOKENS, BAYES = "untrained", "raw_tokens", "bayes"
ROW3_INPUTS, WITH_INPUTS = "row3_inputs", "codes_with_inputs"
CODES = "codes"

COMPARED = (CODES, UNTRAINED), (CODES, ROW3_INPUTS), (WITH_INPUTS, ROW3_INPUTS)
"""Probes of the same rows whose difference says something, the greater one first."""


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
        counts: of the predictions by part and combination, as they were scored.
    """

    scores: Mapping[str, ProbeScore]
    kept: int = 0
    dropped: int = 0
    strengths: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()
    counts: Mapping[str, Counts] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Decoding:
    """A probe with its controls.

    Attributes:
        probe: of the codes.
        controls: by name: ``majority``, ``permuted``, ``always_positive`` where labels are there or not, and
            what was given.
        differences: by both names, such as ``codes − untrained``, part and metric: by how much the one scores
            more than the other, with intervals that resample combinations of both alike.
        untrained: by part and metric, what networks of several seeds score before their first step.
    """

    probe: Probe
    controls: Mapping[str, Probe] = field(default_factory=dict)
    differences: Mapping[str, Mapping[str, Mapping[str, Interval]]] = field(default_factory=dict)
    untrained: Mapping[str, Mapping[str, Sequence[float | None]]] = field(default_factory=dict)


class _Question(NamedTuple):
    """What is to be read off what: codes and labels by part, names of the labels, and the part to fit on.

    Codes are standardised, without the dropped coordinates: of the fitting part those of the rows that were
    drawn, and all of the others.
    """

    fitting: Array
    rows: Array
    codes: Mapping[str, Array]
    dropped: int
    labels: Mapping[str, Labels]
    names: Sequence[str]
    fit: str

    @property
    def axes(self) -> int:
        """Of labels: 1 for classes, 2 for several labels that are there or not."""
        return int(self.labels[self.fit].values.ndim)

    def counts_of(self, part: str, predicted: Array) -> Counts:
        """Count predictions of a part by combination."""
        truth = self.labels[part]
        return KINDS[self.axes].tally(truth.values, predicted, truth.combination, len(self.names))

    def score(self, part: str, counts: Counts, combinations: int) -> ProbeScore:
        """Return the score of what was counted."""
        rows, measure = len(self.labels[part].values), KINDS[self.axes].measure
        return summarise(counts, measure, self.names, rows, combinations)

    def probe(self, predictions: Mapping[str, Array], **more: Any) -> Probe:
        """Return the probe that made predictions, with their scores by part; and what more is known of it."""
        counts = {part: self.counts_of(part, predicted) for part, predicted in predictions.items()}
        scores = {part: self.score(part, each, len(each)) for part, each in counts.items()}
        return Probe(scores, counts=counts, **more)

    def differences(self, probes: Mapping[str, Probe]) -> dict[str, dict[str, dict[str, Interval]]]:
        """Return the differences of `COMPARED`, where there are both."""
        return {
            f"{one} − {other}": {
                part: subtract(counts, probes[other].counts[part], KINDS[self.axes].measure)
                for part, counts in probes[one].counts.items()
            }
            for one, other in COMPARED
            if one in probes and other in probes and probes[one].counts and probes[other].counts
        }


def decode(
    codes: Mapping[str, Array],
    labels: Mapping[str, Labels],
    names: Sequence[str],
    fit: str,
    *,
    beside: Mapping[str, Probe] | None = None,
    untrained: Sequence[Probe] = (),
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
        untrained: probes of the codes of untrained networks.
        ceiling: accuracy of the exact posterior by part; it stands among the controls as ``bayes``.

    Raises:
        ConfigurationError: if codes aren't finite, or don't belong to the labels.
    """
    question, fitting = _prepare(codes, labels, names, fit), labels[fit].values
    probe = _fit_probe(question)
    guesses = {MAJORITY: majority(fitting)}
    if question.axes == 2:
        guesses[ALWAYS_POSITIVE] = np.ones_like(guesses[MAJORITY])
    rows = {part: len(labels[part].values) for part in question.codes}
    controls = {
        name: question.probe({part: np.repeat(guess, n, axis=0) for part, n in rows.items()})
        for name, guess in guesses.items()
    }
    controls[PERMUTED] = _permuted(question, probe)
    controls.update(beside or {})
    if ceiling:
        scores = {
            part: ProbeScore({"accuracy": Interval(value)}, {}, (), 0, 0) for part, value in ceiling.items()
        }
        controls[BAYES] = Probe(scores)
    differences = question.differences({CODES: probe, **controls})
    return Decoding(probe, controls, differences, _values([each.scores for each in untrained]))


def _values(scores: Sequence[Mapping[str, ProbeScore]]) -> dict[str, dict[str, list[float | None]]]:
    """Return the values of several probes' scores by part and metric."""
    if not scores:
        return {}
    return {
        part: {
            name: [each[part].metrics[name].value if part in each else None for each in scores]
            for name in score.metrics
        }
        for part, score in scores[0].items()
    }


def fit_probe(
    codes: Mapping[str, Array], labels: Mapping[str, Labels], names: Sequence[str], fit: str
) -> Probe:
    """Return what a probe reads off codes, without controls: arguments and errors are those of `decode`.

    Coordinates that spread too little are dropped, the others standardised, by the fitting part alone. Its
    `FIT_ROWS` rows at most choose C, by cross-validation over combinations, and are fitted with it.
    """
    return _fit_probe(_prepare(codes, labels, names, fit))


def _prepare(
    codes: Mapping[str, Array], labels: Mapping[str, Labels], names: Sequence[str], fit: str
) -> _Question:
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
    return _Question(parts.pop(fit)[rows], rows, parts, int((~keep).sum()), labels, names, fit)


def _fit_probe(question: _Question) -> Probe:
    codes, dropped = question.fitting, question.dropped
    if not codes.size:
        note = f"constant codes: none of {dropped} coordinates spreads by {SPREAD:g} of their RMS"
        return Probe({}, 0, dropped, notes=(note,))
    values, combination = (each[question.rows] for each in question.labels[question.fit])
    strengths = [choose_strength(codes, column, combination) for column in columns_of(values)]
    predictions, failed = _predict(question, strengths)
    notes = _lacking(values, question.names) + _failing(failed, len(strengths))
    known = {"kept": codes.shape[1], "dropped": dropped, "strengths": tuple(strengths)}
    return question.probe(predictions, **known, notes=tuple(notes))


def _predict(question: _Question, strengths: Sequence[float | None]) -> tuple[dict[str, Array], int]:
    """Fit all classifiers; return what they predict for the other parts, and how many didn't converge."""
    codes, others = question.fitting, list(question.codes.values())
    columns = columns_of(question.labels[question.fit].values[question.rows])
    found = [fit_and_predict(codes, *each, others) for each in zip(columns, strengths, strict=True)]
    by_part = zip(question.codes, zip(*(predicted for predicted, _ in found), strict=True), strict=True)
    predictions = {part: joined(list(said), question.labels[part].values) for part, said in by_part}
    return predictions, sum(not converged for _, converged in found)


def _permuted(question: _Question, probe: Probe) -> Probe:
    """Return the probe of labels permuted between combinations, over several permutations, with its C."""
    if not probe.kept:
        return probe
    counts, failed = dict[str, list[Counts]](), 0
    for number in range(RELABELLINGS):
        moved = question._replace(labels=permute_labels(question.labels, question.fit, number))
        predictions, failing = _predict(moved, probe.strengths)
        failed += failing
        for part, predicted in predictions.items():
            counts.setdefault(part, []).append(moved.counts_of(part, predicted))
    scores = {part: question.score(part, np.concatenate(each), len(each[0])) for part, each in counts.items()}
    notes = _failing(failed, RELABELLINGS * len(probe.strengths))
    return Probe(scores, probe.kept, probe.dropped, probe.strengths, tuple(notes))


def _lacking(fitting: Array, names: Sequence[str]) -> list[str]:
    """Name what no classifier can know, as it isn't in the fitting data."""
    columns = fitting if fitting.ndim == 2 else fitting[:, None] == np.arange(len(names))
    there = np.asarray(columns.any(axis=0))
    lacking = [name for name, found in zip(names, there, strict=True) if not found]
    return [f"not in the fitting data: {', '.join(lacking)}"] if lacking else []


def _failing(failed: int, classifiers: int) -> list[str]:
    note = f"{failed} of {classifiers} classifiers didn't converge in {ITERATIONS:,} iterations"
    return [note] if failed else []
