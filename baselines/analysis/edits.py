"""Causal edits of codes: does the code of another rule make the network do what that rule does?

Where a position follows rule A, its symbols x and y in row 3 may be those of a row of rule B as well, as any
two are of addition and subtraction. Then its code is moved by the mean code of B less that of A, and the
output is sorted: the symbol of B, still the one of A, or another. Beside it, always, stand three controls:
nothing is edited; the code is moved as far in a random direction; it is moved to a third rule's mean code.

Letters in array names: R rules, L layers, n rows, N trials, C numbers of a code, K keys of a pair, H heads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.analysis.codes import Codes, Collector
from baselines.analysis.labels import FIRST, RULE, SECOND, Subject
from baselines.config import RunConfig
from sraven.core.estimate import Mean, mean
from sraven.rules import Rule, fits_alone

Array = NDArray[Any]

ALL, FINAL = "all", "final"
"""Layers whose codes are edited."""

EDIT, NONE, RANDOM, THIRD = "edit", "none", "random_direction", "random_rule"
"""What is done to codes: the edit, and its controls."""

DONE = ((ALL, NONE), *((layers, kind) for layers in (ALL, FINAL) for kind in (EDIT, RANDOM, THIRD)))
"""What is tried: without an edit, layers are all the same."""

OUTCOMES = ("target_of_b", "target_of_a", "other")

TRIALS = 48
"""Positions that an edit from one rule to another is tried on, each of another instance."""


@dataclass(frozen=True)
class Rates:
    """What came of edits of one kind, by the rule A that a position follows and the rule B of the edit.

    Attributes:
        kind: `EDIT` or a control.
        layers: `ALL` or `FINAL`.
        trials: int64 ``[R, R]``, A before B; 0 where no two symbols are in rows of both.
        rates: float64 ``[R, R, 3]``: shares of `OUTCOMES`, NaN without trials.
    """

    kind: str
    layers: str
    trials: NDArray[np.int64]
    rates: NDArray[np.float64]

    def over_pairs(self) -> dict[str, Mean]:
        """Return the mean of each outcome over pairs of rules, and its standard error: 0 of a single pair."""
        rates = self.rates[self.trials > 0]
        means = map(mean, rates.T) if len(rates) > 1 else (Mean(float(each), 0.0, 1) for each in rates[0])
        return dict(zip(OUTCOMES, means, strict=True))


def symbols_of_rules(rules: Sequence[Rule], K: int) -> NDArray[np.int64]:
    """Return the z with which x, y, z is a row of each rule: ``[R, K, K]``, -1 if there is none or several.

    Args:
        rules: of the task.
        K: symbols.
    """
    fits = np.stack([fits_alone(rule, np.indices((K, K, K)), K) for rule in rules])
    return np.where(fits.sum(axis=3) == 1, fits.argmax(axis=3), -1)


def codes_of_rules(codes: Codes, rules: int) -> NDArray[np.float64]:
    """Return the mean code of each rule: ``[R, L, C]``; NaN for a rule that no row follows."""
    follows_nR = codes.labels[RULE][:, None] == np.arange(rules)
    with np.errstate(invalid="ignore"):
        shares_nR = follows_nR / follows_nR.sum(axis=0)
    return np.asarray(np.einsum("nr,lnc->rlc", shares_nR, codes.codes.astype(np.float64)))


@dataclass(frozen=True)
class Trials:
    """Edits to try.

    Attributes:
        row: int64 ``[N]``, of the codes.
        a: int64 ``[N]``, the rule that it follows.
        b: int64 ``[N]``, the rule of the edit.
        target_b: int64 ``[N]``, the symbol that B makes of the row's x and y; not that of A.
        third: int64 ``[N]``, a rule that is neither.
    """

    row: Array
    a: Array
    b: Array
    target_b: Array
    third: Array


def plan_trials(codes: Codes, symbols: Array, known: Array, per_pair: int, seed: int = 0) -> Trials:
    """Return which rows are edited to which rules: of each pair of rules so many, or as many as there are.

    Args:
        codes: with the labels of SRAVEN; the first rows that will do are taken, one of an instance.
        symbols: of the rules, as `symbols_of_rules` returns them.
        known: rules that have a mean code; there is no edit from or to another.
        per_pair: trials of a pair of rules.
        seed: draws the third rules.
    """
    rng = np.random.default_rng(seed)
    rule, first, second = (codes.labels[name].astype(np.int64) for name in (RULE, FIRST, SECOND))
    found = []
    for a in known:
        for b in np.setdiff1d(known, a):
            target = symbols[b, first, second]
            rows = np.flatnonzero((rule == a) & (target >= 0) & (target != codes.target))
            rows = rows[np.sort(np.unique(codes.index[rows], return_index=True)[1])][:per_pair]
            others = np.setdiff1d(known, (a, b))
            found += [(row, a, b, target[row], rng.choice(others)) for row in rows if len(others)]
    return Trials(*np.array(found, np.int64).reshape(-1, 5).T)


def moves_of(kind: str, means_RLC: Array, trials: Trials, seed: int = 1) -> NDArray[np.float32]:
    """Return by what codes are moved: float32 ``[N, L, C]``.

    Args:
        kind: `EDIT` or a control; `RANDOM` moves each layer as far as `EDIT` does.
        means_RLC: mean codes of the rules.
        trials: that are made.
        seed: draws the random directions.
    """
    edit_NLC = means_RLC[trials.b] - means_RLC[trials.a]
    if kind == RANDOM:
        drawn = np.random.default_rng(seed).normal(size=edit_NLC.shape)
        lengths = (np.linalg.norm(each, axis=2, keepdims=True) for each in (edit_NLC, drawn))
        moved = drawn * np.divide(*lengths)
    else:
        to = {EDIT: trials.b, NONE: trials.a, THIRD: trials.third}[kind]
        moved = means_RLC[to] - means_RLC[trials.a]
    return np.asarray(moved, np.float32)


def move_codes(layer: int, codes_BHQT: jax.Array, piece: Mapping[str, jax.Array]) -> jax.Array:
    """Return a layer's codes, those of one query in each instance moved: an edit as `Collector` takes it."""
    moves_BKH, query_B, keys_BK = piece["moves"][:, layer], piece["query"], piece["edited"]
    # The last layer has the rows of queries with outputs alone, and they are the last ones of the others.
    row_B = codes_BHQT.shape[2] + query_B
    at_B = jnp.arange(len(row_B))
    return codes_BHQT.at[at_B[:, None], :, row_B[:, None], keys_BK].add(moves_BKH)


def predict_moved(
    collector: Collector, params: Any, codes: Codes, split: str, rows: Array, moves: Array
) -> Array:
    """Return the symbols ``[N]`` that are predicted where codes are moved.

    Args:
        collector: of one pair, with `move_codes` as its edit.
        params: of the network.
        codes: of this pair.
        split: that they are of.
        rows: ``[N]``, which of them are moved.
        moves: float32 ``[N, L, C]``.
    """
    subject, (pair,) = collector.subject, collector.pairs
    batch = subject.task.take(split, codes.index[rows])
    keys_NPK = subject.truth(batch).keys[pair]
    N, place = np.arange(len(rows)), np.searchsorted(subject.positions, codes.position[rows])
    keys_NK = keys_NPK[N, place]
    moved = moves.reshape(*moves.shape[:2], keys_NK.shape[1], -1)
    query = (codes.position[rows] - collector.num_outputs).astype(np.int32)
    more = {"moves": moved, "query": query, "edited": keys_NK.astype(np.int32)}
    out_NPO, _ = collector.run(params, batch, keys_NPK, **more)
    return np.asarray(out_NPO[N, place].argmax(axis=-1))


def try_edits(
    config: RunConfig,
    params: Any,
    subject: Subject,
    pair: str,
    fitted: Codes,
    edited: Codes,
    split: str,
    per_pair: int = TRIALS,
) -> list[Rates]:
    """Return what comes of edits between all rules that share rows, with their controls; [] if none do.

    Args:
        config: of the run.
        params: of the network.
        subject: SRAVEN, as it is analysed.
        pair: whose codes are moved.
        fitted: codes by which mean codes are found.
        edited: codes of the instances that edits are tried on.
        split: that these are of.
        per_pair: trials of a pair of rules.
    """
    rules = subject.task.rules
    means_RLC = codes_of_rules(fitted, len(rules))
    known = np.flatnonzero(np.isfinite(means_RLC).all(axis=(1, 2)))
    trials = plan_trials(edited, symbols_of_rules(rules, subject.task.K), known, per_pair)
    if not len(trials.row):
        return []
    collector, found = Collector(config, subject, (pair,), move_codes), []
    for layers, kind in DONE:
        moves = moves_of(kind, means_RLC, trials)
        if layers == FINAL:
            moves[:, :-1] = 0
        said = predict_moved(collector, params, edited, split, trials.row, moves)
        counted = sort_outcomes(said, edited.target[trials.row], trials, len(rules))
        found.append(Rates(kind, layers, *counted))
    return found


def sort_outcomes(said: Array, target_a: Array, trials: Trials, rules: int) -> tuple[Array, Array]:
    """Return how many trials there are of each pair of rules ``[R, R]``, and the shares of outcomes."""
    outcome = np.where(said == trials.target_b, 0, np.where(said == target_a, 1, 2))
    counts = np.zeros((rules, rules, len(OUTCOMES)), np.int64)
    np.add.at(counts, (trials.a, trials.b, outcome), 1)
    tried = counts.sum(axis=2)
    with np.errstate(invalid="ignore"):
        return tried, counts / tried[..., None]
