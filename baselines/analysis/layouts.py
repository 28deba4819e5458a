"""Codes of a run in the plane by layer, and how far to believe it (Figures 2D, 5A, 5B, A2, A6, A7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.analysis.analysed import UNTRAINED, Analysed
from baselines.analysis.codes import Codes
from baselines.analysis.embedding import Neighbours, embed, neighbours
from baselines.analysis.labels import FIRST, RULE, SECOND
from baselines.analysis.similarity import varying

Array = NDArray[Any]

TARGET, FUNCTION, INPUTS = "target", "function", "inputs"


@dataclass(frozen=True)
class Layout:
    """Codes of one layer in the plane.

    Attributes:
        positions: ``[points, 2]``, of the codes in the plane; in pictures alone, as labels are.
        labels: ``[points]`` by name: what colours them; floats are values.
        untrained: positions of the same rows' codes before the first step, laid out by themselves.
        points: how many codes are shown.
        trustworthiness: of the embedding.
        perplexity: of t-SNE.
        seed: of the embedding.
        neighbours_among_codes: by label, how alike those of neighbouring codes are.
        neighbours_in_the_plane: the same of neighbours in the plane.
        neighbours_untrained: the same of neighbours among the codes of the network before its first step:
            what random weights keep of the tokens. None if these are constant.
    """

    positions: Array = field(repr=False)
    labels: Mapping[str, Array] = field(repr=False)
    untrained: Array | None = field(repr=False)
    points: int
    trustworthiness: float
    perplexity: float
    seed: int
    neighbours_among_codes: Mapping[str, Neighbours | None]
    neighbours_in_the_plane: Mapping[str, Neighbours | None]
    neighbours_untrained: Mapping[str, Neighbours | None]


def shown_labels(found: Analysed, codes: Codes) -> dict[str, Array]:
    """Return what colours codes: rule and symbols of SRAVEN; target, function and terms of fuzzy logic."""
    target = codes.target.astype(np.float64)
    if RULE in codes.labels:
        first, second = (codes.labels[name].astype(np.float64) for name in (FIRST, SECOND))
        rule = codes.labels[RULE].astype(np.int64)
        return {RULE: rule, TARGET: target, "input 1": first, "input 2": second}
    function = np.unique(codes.combination, return_inverse=True)[1]
    of_terms = {f"term {place + 1}": column for place, column in enumerate(terms_of(found, codes).T)}
    return {TARGET: target, FUNCTION: function, **of_terms}


def terms_of(found: Analysed, codes: Codes) -> Array:
    """Return the terms of each row's function, in the order of their numbers: ``[n, K]``."""
    seen = np.array([int(name.rpartition("_")[2]) for name in found.subject.decoded])
    there = np.stack([codes.labels[name] for name in found.subject.decoded], axis=1)
    return seen[np.nonzero(there)[1]].reshape(len(there), -1)


def layouts(found: Analysed, inputs: Array) -> dict[str, dict[str, Layout]]:
    """Return the layouts of each pair and layer, and under `INPUTS` of what the network is given.

    Layers whose codes are constant have none.

    Args:
        found: the run with its codes.
        inputs: float ``[n, F]``: of the first rows of the judged part.
    """
    results: dict[str, dict[str, Layout]] = {}
    rows = found.rows[found.judged]
    labels = shown_labels(found, rows)
    for pair, by_part in found.trained.items():
        codes = by_part[found.judged]
        for layer in found.layers:
            if varying(codes.codes[layer]).any():
                before = found.codes[UNTRAINED][pair][found.judged].codes[layer]
                each = _layout(codes.codes[layer], before, labels, codes.combination)
                results.setdefault(pair, {})[str(layer + 1)] = each
    return {**results, INPUTS: {"alone": _layout(inputs, None, labels, rows.combination)}}


def _layout(codes: Array, before: Array | None, labels: Mapping[str, Array], combination: Array) -> Layout:
    embedding = embed(codes)
    chosen = embedding.chosen
    mine = {name: values[chosen] for name, values in labels.items()}

    def alike(points: Array) -> dict[str, Neighbours | None]:
        # Neighbours are of other combinations; where the combination itself is the label, of any.
        groups = {name: None if name == FUNCTION else combination[chosen] for name in mine}
        return {name: neighbours(points, values, groups[name]) for name, values in mine.items()}

    there, untrained = None, dict[str, Neighbours | None](dict.fromkeys(mine))
    if before is not None and varying(before).any():
        there, untrained = embed(before).positions, alike(before[chosen])
    place = embedding.positions
    settings = embedding.trustworthiness, embedding.perplexity, embedding.seed
    return Layout(place, mine, there, len(chosen), *settings, alike(codes[chosen]), alike(place), untrained)
