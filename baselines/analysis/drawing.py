"""The figures of a run's analysis: the results of each stage, as pictures by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.analysed import TRAINED, UNTRAINED, Analysed
from baselines.analysis.embedding import Neighbours
from baselines.analysis.intervals import Interval
from baselines.analysis.labels import FIT, RULE
from baselines.analysis.layouts import FUNCTION, INPUTS, Layout
from baselines.analysis.probes import ALWAYS_POSITIVE, BAYES, MAJORITY, RAW_TOKENS, ROW3_INPUTS, Decoding
from baselines.analysis.similarity import participation_ratios, sample_rows
from baselines.analysis.stages import names_of
from baselines.plots.clouds import Cloud, cloud_picture
from baselines.plots.frame import Picture
from baselines.plots.maps import codes_picture, similarity_picture
from baselines.plots.probes import LayerCurve, decoding_picture

Array = NDArray[Any]
Pictures = Iterator[tuple[str, Picture]]

_PARTS = {"test": "test, known combinations", "ood": "ood, held-out combinations"}


# Decoding ---------------------------------------------------------------------------------------------


def _decoding(found: Analysed, results: Mapping[str, Any]) -> Pictures:
    metrics = {"": ("accuracy", "accuracy")}
    if not found.has_rules:
        balanced = "balanced accuracy, mean over terms"
        metrics = {"": ("f1", "F1, mean over terms"), "-balanced": ("balanced_accuracy", balanced)}
    parts = [part for part in found.rows if part != FIT]
    for pair, layers in results.items():
        for end, (metric, quantity) in metrics.items():
            panels = {_PARTS[part]: _curves(found, layers, part, metric) for part in parts}
            yield f"decoding-{pair}{end}", decoding_picture(panels, list(layers), quantity)


def _curves(found: Analysed, layers: Mapping[str, Decoding], part: str, metric: str) -> list[LayerCurve]:
    """Return the curves of a probe and its controls over layers; what doesn't look at codes has one value."""
    own = [each.probe.scores.get(part) for each in layers.values()]
    points = [Interval(None) if score is None else score.metrics[metric] for score in own]
    low, high = ([getattr(each, end) for each in points] for end in ("low", "high"))
    curve = LayerCurve(found.config.architecture, [each.value for each in points])
    if len(points) > 1:
        curve = replace(curve, low=low, high=high)
    curves = [curve]
    for name in next(iter(layers.values())).controls:
        scores = [each.controls[name].scores.get(part) for each in layers.values()]
        values = [None if score is None else score.metrics[metric].value for score in scores]
        alike = name in (BAYES, RAW_TOKENS, ROW3_INPUTS, ALWAYS_POSITIVE, MAJORITY)
        shown = "ceiling" if name == BAYES else name.replace("_", " ")
        curves.append(LayerCurve(shown, values[:1] if alike else values, control=True))
    return [curve for curve in curves if any(value is not None for value in curve.values)]


# How codes of tasks lie -------------------------------------------------------------------------------


def _similarity(found: Analysed, results: Mapping[str, Any]) -> Pictures:
    layer = str(found.layers[-1] + 1)
    if not found.has_rules:
        return
    every = names_of(found)
    for pair in results[TRAINED]:
        here, control = (results[network][pair][layer] for network in (TRAINED, UNTRAINED))
        shown, beside = here["similarity"], control["similarity"]
        if not shown.constant:
            matrices = {"raw": shown.cosine, "centred": shown.centred}
            if not beside.constant:
                matrices |= {"untrained, raw": beside.cosine, "untrained, centred": beside.centred}
            names = [every[label] for label in shown.labels]
            title = f"Mean codes of rules, {pair}, layer {layer}, {found.judged}"
            yield f"similarity-{pair}", similarity_picture(matrices, names, title)
        judged, shares = found.trained[pair][found.judged], here["participation"]
        labels = judged.labels[RULE].astype(np.int64)
        rows = sample_rows(labels)
        codes = judged.codes[found.layers[-1]][rows].astype(np.float64)[:, : shares.heads]
        ratios = np.nan_to_num(participation_ratios(codes)).tolist()
        title = f"Codes of single positions, {pair}, layer {layer}"
        note = "" if shares.mean is None else f"participation ratio of all codes, mean: {shares.mean:.2f}"
        yield f"codes-{pair}", codes_picture(codes, ratios, [every[n] for n in labels[rows]], title, note)


# Codes in the plane -----------------------------------------------------------------------------------


def _layouts(found: Analysed, results: Mapping[str, Mapping[str, Layout]]) -> Pictures:
    """Yield codes of a pair: a row of each layer, below it the untrained network's, at last the inputs."""
    inputs = results[INPUTS]["alone"]
    for pair in found.trained:
        rows = [row for layer, each in results.get(pair, {}).items() for row in _networks(layer, each)]
        rows.append((INPUTS, inputs, inputs.positions, inputs.neighbours_among_codes))
        clouds = [_cloud(found, row, name) for row in rows for name in inputs.labels]
        title = f"{found.config.architecture}, {found.judged}, codes of {pair} by t-SNE"
        yield f"tsne-{pair}", cloud_picture(clouds, len(inputs.labels), title)


Row = tuple[str, Layout, Array, Mapping[str, Neighbours | None]]


def _networks(layer: str, layout: Layout) -> Iterator[Row]:
    yield f"layer {layer}", layout, layout.positions, layout.neighbours_among_codes
    if layout.untrained is not None:
        yield UNTRAINED, layout, layout.untrained, layout.neighbours_untrained


def _plain(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # and no -0.00


def _cloud(found: Analysed, row: Row, name: str) -> Cloud:
    where, layout, positions, alike = row
    labels, found_alike = layout.labels[name], alike[name]
    names: Sequence[str] = names_of(found) if name == RULE else ()
    if labels.dtype.kind != "f" and name not in (RULE, FUNCTION):
        labels = np.unique(labels, return_inverse=True)[1]
    note = ""
    if found_alike is not None:
        note = f"neighbours {_plain(found_alike.score)}, dealt {_plain(found_alike.permuted)}"
    return Cloud(f"{where}: {name}", positions, labels, names, note)


# The table ----------------------------------------------------------------------------------------------

FIGURES: Mapping[str, Callable[[Analysed, Any], Pictures]] = {
    "decoding": _decoding,
    "similarity": _similarity,
    "layouts": _layouts,
}
"""What draws the results of a stage, by the stage's name."""


def pictures_of(found: Analysed, results: Mapping[str, Any]) -> dict[str, Picture]:
    """Return the pictures of an analysis by name.

    Args:
        found: the run with its codes.
        results: of the stages, by name.
    """
    return {
        name: picture
        for stage, result in results.items()
        if stage in FIGURES
        for name, picture in FIGURES[stage](found, result)
    }
