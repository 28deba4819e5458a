"""The stages of an analysis: the table of functions behind `sraven analyse`.

A stage takes a run with its codes, and returns results by name, as dataclasses and arrays.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.analysis.analysed import Analysed, batch_of, untrained_codes
from baselines.analysis.codes import Codes
from baselines.analysis.controls import Labels
from baselines.analysis.labels import FIRST, FIT, RULE, SECOND
from baselines.analysis.layouts import Layout, layouts
from baselines.analysis.probes import (
    RAW_TOKENS,
    ROW3_INPUTS,
    UNTRAINED,
    WITH_INPUTS,
    Decoding,
    Probe,
    decode,
    fit_probe,
)
from baselines.analysis.similarity import participation, similarity
from baselines.encode import encoding_of

Array = NDArray[Any]

RAW_ROWS = 16_384
"""Rows of a part on whose raw tokens a probe is fitted, or judged."""


# What is decoded --------------------------------------------------------------------------------------


def labels_of(found: Analysed, codes: Codes) -> Labels:
    """Return what probes decode: the rule, or which terms are there."""
    columns = [codes.labels[name] for name in found.subject.decoded]
    values = columns[0].astype(np.int64) if found.has_rules else np.stack(columns, axis=1)
    return Labels(values, codes.combination)


def names_of(found: Analysed) -> tuple[str, ...]:
    """Return the names of what is decoded: of the rules, or of the terms."""
    if found.has_rules:
        return tuple(rule.name for rule in found.subject.task.rules)
    return tuple(name.replace("_", " ") for name in found.subject.decoded)


def raw_tokens(found: Analysed, part: str) -> Array:
    """Return what the network is given, a row for each of the first rows of a part: float32 ``[n, F]``.

    All tokens of the instance, and which of its positions the row is of.
    """
    encoding, positions = encoding_of(found.subject.task), len(found.subject.positions)
    batch = batch_of(found, part)[: -(-RAW_ROWS // positions)]
    tokens = encoding.tokens({name: jnp.asarray(getattr(batch, name)) for name in encoding.fields})
    flat = np.asarray(tokens, np.float32).reshape(len(tokens), -1)
    rows = np.repeat(flat, positions, axis=0)
    where = np.tile(np.eye(positions, dtype=np.float32), (len(flat), 1))
    return np.concatenate([rows, where], axis=1)


def decoding(found: Analysed) -> dict[str, dict[str, Decoding]]:
    """Return what probes read off the codes of each pair and layer, with every control (Figures 2B, 5F)."""
    names, rows = names_of(found), found.rows
    labels = {part: labels_of(found, codes) for part, codes in rows.items()}
    tokens = {part: raw_tokens(found, part)[:RAW_ROWS] for part in labels}
    first = {part: Labels(*(each[:RAW_ROWS] for each in truth)) for part, truth in labels.items()}
    beside = {RAW_TOKENS: fit_probe(tokens, first, names, FIT)}
    inputs = {part: row3_inputs(found, codes) for part, codes in rows.items()} if found.has_rules else {}
    if inputs:
        beside[ROW3_INPUTS] = fit_probe(inputs, labels, names, FIT)
    ceiling = _bayes(found) if found.has_rules else None
    places = [(pair, layer) for pair in found.trained for layer in found.layers]
    untrained: dict[tuple[str, int], list[Probe]] = {place: [] for place in places}
    for network in untrained_codes(found):
        for pair, layer in places:
            probe = fit_probe(_layer(network[pair], layer), labels, names, FIT)
            untrained[pair, layer].append(probe)
    results: dict[str, dict[str, Decoding]] = {}
    for pair, layer in places:
        codes = _layer(found.trained[pair], layer)
        own = {UNTRAINED: untrained[pair, layer][0]}
        if inputs:
            together = {part: np.hstack([each, inputs[part]]) for part, each in codes.items()}
            own[WITH_INPUTS] = fit_probe(together, labels, names, FIT)
        controls: dict[str, Any] = {"beside": {**own, **beside}, "untrained": untrained[pair, layer]}
        decoded = decode(codes, labels, names, FIT, ceiling=ceiling, **controls)
        results.setdefault(pair, {})[str(layer + 1)] = decoded
    return results


def row3_inputs(found: Analysed, codes: Codes) -> Array:
    """Return which two symbols a position has in row 3, one-hot over all pairs: float32 ``[n, K²]``.

    They say much of the rule without any network: of x, x only a constant is likely, of x, x + 1 only a
    progression. A code that says no more than where it looks, and at what, is decodable to this degree.
    """
    K = found.subject.task.K
    pairs = codes.labels[FIRST].astype(np.int64) * K + codes.labels[SECOND]
    return np.asarray(np.eye(K * K, dtype=np.float32)[pairs])


def _layer(codes: Mapping[str, Codes], layer: int) -> dict[str, Array]:
    return {part: each.codes[layer] for part, each in codes.items()}


def _bayes(found: Analysed) -> dict[str, float]:
    """Return the accuracy of the likeliest rule by the exact posterior, of all combinations, by part."""
    ceiling = {}
    for part, codes in found.rows.items():
        if part != FIT:
            posterior = found.subject.task.rule_posterior(batch_of(found, part))
            likeliest = posterior[:, found.subject.positions].argmax(axis=2).ravel()
            ceiling[part] = float((likeliest == codes.labels[RULE]).mean())
    return ceiling


# How codes of tasks lie ---------------------------------------------------------------------------------


def similarities(found: Analysed) -> dict[str, Any]:
    """Return cosines of rules' mean codes, and how many heads share a code (Figures 5E, A8).

    By network, pair and layer, of the judged part. In fuzzy logic there is the latter alone, by function.
    What the untrained network has is no structure that was learnt: the control of all that follows.
    """

    def compute(codes: Codes, layer: int) -> dict[str, Any]:
        label, codes_nC = codes.labels.get(RULE, codes.combination).astype(np.int64), codes.codes[layer]
        heads = codes_nC.reshape(-1, found.config.heads)  # of each key, if the pair has several
        each = np.repeat(label, len(heads) // len(label))
        shares: dict[str, Any] = {"participation": participation(heads, each)}
        if RULE in codes.labels:
            shares["similarity"] = similarity(codes_nC, label, codes.combination)
        return shares

    return {
        network: {
            pair: {str(layer + 1): compute(by_part[found.judged], layer) for layer in found.layers}
            for pair, by_part in by_pair.items()
        }
        for network, by_pair in found.codes.items()
    }


# Codes in the plane --------------------------------------------------------------------------------------


def in_the_plane(found: Analysed) -> dict[str, dict[str, Layout]]:
    """Return codes in the plane beside what is to be known without any network: a position's symbols in row 3
    of SRAVEN, the tokens of fuzzy logic.
    """
    if not found.has_rules:
        return layouts(found, raw_tokens(found, found.judged))
    codes = found.rows[found.judged]
    symbols = np.stack([codes.labels[name].astype(np.int64) for name in (FIRST, SECOND)], axis=1)
    return layouts(found, np.eye(found.subject.task.K)[symbols].reshape(len(symbols), -1))


# The table ----------------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """A part of the analysis.

    Attributes:
        title: shown while it runs.
        compute: does.
        for_figures: whether it is left out where no figures are wanted.
    """

    title: str
    compute: Callable[[Analysed], Any]
    for_figures: bool = False


STAGES: Mapping[str, Stage] = {
    "decoding": Stage("probes", decoding),
    "similarity": Stage("similarity of codes", similarities),
    "layouts": Stage("t-SNE", in_the_plane, for_figures=True),
}
"""The stages by the names that their results have in `analysis.json`, in the order in which they are done."""
