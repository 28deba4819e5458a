"""What perfect rules reach without new combinations of them: the nearest explanation by known combinations.

Where no known combination explains a context, one that explains all but a few symbols may. So each symbol of
the context is taken for an error with a small probability, any other symbol being as probable then. Three
positions (i, j, k) of the three columns, a *triple*, and a rule have a weight for each symbol of the ninth
panel at k: the probability of the symbols seen, given that they are one feature that follows the rule and
ends so. An explanation is a triple and a rule for each k, whose positions are permutations and whose rules
are a known combination. It weighs the product of the weights of its triples, and the panel of the
heaviest explanation is the answer.

The search takes the triples of a position from the heaviest on, and goes back where even the heaviest
of all later positions would give less than the best explanation so far (branch and bound), so it is exact.
"""

from functools import cache
from itertools import combinations as subsets, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_symbols
from sraven.core.errors import CapacityError, ConfigurationError
from sraven.core.jit import kernel
from sraven.core.parallel import for_each_chunk
from sraven.rules import DISTRIBUTE_THREE, RULES, Rules, row_table

ERROR_RATE = 0.01
"""Share of the symbols of a context that are taken for errors."""

K_LIMIT = 16
"""Most symbols: distribute three is summed over all sets of three of them."""

_TIE = 1e-9
"""Weights that differ relatively by less than this count as equal."""

_PANELS = 1 << 12
"""Panels of equally heavy explanations that there may be."""


class Nearest(NamedTuple):
    """What an observer answers, of each instance.

    Attributes:
        panels: uint8 ``[n, M]``, the answer; of equally probable ones the first in lexicographic order.
        right: float64 ``[n]``, how probably the target is answered if any of these is, alike.
        features_right: float64 ``[n]``, the expected share of features that are right then.
    """

    panels: NDArray[np.uint8]
    right: NDArray[np.float64]
    features_right: NDArray[np.float64]


class _Noisy(NamedTuple):
    """Probabilities of what is seen of rows of symbols of which some are errors.

    Distribute three is a mixture over sets of three symbols, within which rows are independent; so are the
    rows of the other rules, which are mixtures of one.
    """

    begin: NDArray[np.int64]
    """``[R + 1]``: where the parts of a rule begin."""
    row: NDArray[np.float64]
    """``[parts, K, K, K]``: of a row of three symbols seen."""
    last: NDArray[np.float64]
    """``[parts, K, K, K]``: of two symbols seen, the third being there."""


@cache
def _noisy(K: int, rules: Rules, rate: float) -> _Noisy:
    seen = np.full((K, K), rate / (K - 1))
    np.fill_diagonal(seen, 1 - rate)
    every = [
        np.unique(np.stack([table & 255, table >> 8 & 255, table >> 16]), axis=1).T
        for table in row_table(K, rules)
    ]
    parts = [[rows] for rows in every]
    parts[DISTRIBUTE_THREE] = [np.array(list(permutations(three))) for three in subsets(range(K), 3)]
    row, last = [], []
    for rows in (rows for each in parts for rows in each):
        x, y, z = seen[:, rows.T].transpose(1, 0, 2)  # each [K, rows], by what is seen
        row.append(np.einsum("an,bn,cn->abc", x, y, z) / len(rows))
        last.append(np.einsum("an,bn,nc->abc", x, y, np.eye(K)[rows[:, 2]]) / len(rows))
    return _Noisy(np.cumsum([0, *map(len, parts)]), np.array(row), np.array(last))


@kernel
def _weigh(context: Any, noisy: Any, weight: Any) -> None:
    """Weigh the symbols of all triples and rules: ``weight[k, i, j, rule, symbol]``."""
    begin, row, last = noisy
    M, K = context.shape[1], row.shape[1]
    weight[:] = 0
    for k in range(M):
        for i in range(M):
            for j in range(M):
                for rule in range(begin.shape[0] - 1):
                    at = weight[k, i, j, rule]
                    for part in range(begin[rule], begin[rule + 1]):
                        first = row[part, context[0, i], context[1, j], context[2, k]]
                        both = first * row[part, context[3, i], context[4, j], context[5, k]]
                        third = last[part, context[6, i], context[7, j]]
                        for symbol in range(K):
                            at[symbol] += both * third[symbol] / (begin[rule + 1] - begin[rule])


@kernel
def _sort_triples(weight: Any, permute: Any, triples: Any, heavy: Any) -> Any:
    """List triples and rules of each position with their weights, the heaviest first; return how many."""
    M, R = weight.shape[0], weight.shape[3]
    for k in range(M):
        count = 0
        for i in range(M):
            for j in range(M):
                if permute or i == j == k:
                    for rule in range(R):
                        triples[k, count] = (i * M + j) * R + rule
                        heavy[k, count] = weight[k, i, j, rule].max()
                        count += 1
        order = np.argsort(-heavy[k, :count])
        triples[k, :count], heavy[k, :count] = triples[k, :count][order], heavy[k, :count][order]
    return count


@kernel
def _note_panels(weight: Any, chosen: Any, panels: Any, count: Any) -> Any:
    """Add the panels of an explanation that aren't there; return how many there are, -1 if too many."""
    M, R, K = weight.shape[0], weight.shape[3], weight.shape[4]
    panel = np.zeros(M, np.uint8)
    best = np.zeros((M, K), np.bool_)
    for k in range(M):
        of = weight[k, chosen[k] // R // M, chosen[k] // R % M, chosen[k] % R]
        best[k] = of >= of.max() * (1 - _TIE)
        panel[k] = np.argmax(best[k])
    while True:
        known = False
        for n in range(count):
            known |= (panels[n] == panel).all()
        if not known:
            if count == panels.shape[0]:
                return -1
            panels[count] = panel
            count += 1
        k = M - 1  # the next choice of symbols, the last position running fastest
        while k >= 0:
            after = np.int64(panel[k]) + 1
            while after < K and not best[k, after]:
                after += 1
            if after < K:
                panel[k] = after
                break
            panel[k] = np.argmax(best[k])
            k -= 1
        if k < 0:
            return count


@kernel
def _search(weight: Any, permute: Any, known: Any, scratch: Any, panels: Any) -> Any:
    """Find the panels of the heaviest explanations; return how many there are, -1 if too many."""
    triples, heavy, at, chosen, counts, used, product, rest = scratch
    M, R = weight.shape[0], weight.shape[3]
    size = _sort_triples(weight, permute, triples, heavy)
    rest[M] = 1.0
    for k in range(M - 1, -1, -1):
        rest[k] = rest[k + 1] * heavy[k, 0]
    best, count, k = 0.0, 0, 0
    at[0], counts[0], used[0], product[0] = 0, 0, 0, 1.0
    while k >= 0:
        if k == M:
            if product[M] > best * (1 + _TIE):
                best, count = product[M], 0
            count = _note_panels(weight, chosen, panels, count)
            if count < 0:
                return -1
            k -= 1
            continue
        n = at[k]
        if n == size or product[k] * heavy[k, n] * rest[k + 1] < best * (1 - _TIE):
            k -= 1
            continue
        at[k] += 1
        i, j, rule = triples[k, n] // R // M, triples[k, n] // R % M, triples[k, n] % R
        taken = (1 << i) | (1 << (j + M))
        counted = counts[k] + (np.int64(1) << (4 * rule))
        if used[k] & taken or (not permute and counts[k] >> (4 * (rule + 1))):
            continue
        place = np.searchsorted(known, counted)
        if place == len(known) or known[place] != counted:
            continue
        chosen[k] = triples[k, n]
        product[k + 1], used[k + 1], counts[k + 1] = product[k] * heavy[k, n], used[k] | taken, counted
        k += 1
        at[k] = 0
    return count


@kernel
def _nearest(
    context: Any, target: Any, permute: Any, noisy: Any, known: Any, scratch: Any, found: Any
) -> Any:
    """Answer contexts; return the first that has too many panels, or their number."""
    answer, right, features_right = found
    M, K, R = context.shape[2], noisy[1].shape[1], noisy[0].shape[0] - 1
    weight, panels = np.zeros((M, M, M, R, K)), np.zeros((_PANELS, M), np.uint8)
    for n in range(len(context)):
        _weigh(context[n], noisy, weight)
        count = _search(weight, permute, known, scratch, panels)
        if count < 0:
            return n
        first = 0
        for at in range(count):
            hits = (panels[at] == target[n]).sum()
            right[n] += (hits == M) / count
            features_right[n] += hits / (count * M)
            k = 0
            while k < M and panels[at, k] == panels[first, k]:
                k += 1
            if k < M and panels[at, k] < panels[first, k]:
                first = at
        answer[n] = panels[first]
    return len(context)


@kernel
def _local(context: Any, target: Any, permute: Any, noisy: Any, found: Any) -> None:
    """Answer contexts, each position by itself, by its heaviest triple and rule."""
    answer, right, features_right = found
    M, K, R = context.shape[2], noisy[1].shape[1], noisy[0].shape[0] - 1
    weight = np.zeros((M, M, M, R, K))
    best = np.zeros(K)
    for n in range(len(context)):
        _weigh(context[n], noisy, weight)
        right[n] = 1.0
        for k in range(M):
            best[:] = 0
            for i in range(M):
                for j in range(M):
                    if permute or i == j == k:
                        for rule in range(R):
                            for symbol in range(K):
                                best[symbol] = max(best[symbol], weight[k, i, j, rule, symbol])
            likely = best >= best.max() * (1 - _TIE)
            answer[n, k] = np.argmax(likely)
            hit = likely[target[n, k]] / likely.sum()
            right[n] *= hit
            features_right[n] += hit / M


def _parts_of(combinations: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return all multisets within combinations, as counts of rules of four bits each, ascending."""
    counts = np.unique((np.int64(1) << 4 * combinations.astype(np.int64)).sum(axis=1))
    every = [counts]
    for _ in range(combinations.shape[1]):
        less = [
            counts[counts >> 4 * rule & 15 > 0] - (1 << 4 * rule) for rule in range(combinations.max() + 1)
        ]
        counts = np.unique(np.concatenate(less))
        every.append(counts)
    return np.unique(np.concatenate(every))


def _check(
    context: ArrayLike, target: ArrayLike, K: int, rules: Rules, error_rate: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], _Noisy, Nearest]:
    """Return contexts and targets of an observer, checked, what it knows, and where its answers go."""
    contexts, K = check_context(context, K)
    n, _, M = contexts.shape
    targets = check_symbols("target", target, (n, M), K)
    if K > K_LIMIT:
        raise ConfigurationError(f"K={K}: the nearest combination is found for up to {K_LIMIT} symbols")
    found = Nearest(np.zeros((n, M), np.uint8), np.zeros(n), np.zeros(n))
    return contexts, targets, _noisy(K, rules, error_rate), found


def nearest_combination(
    context: ArrayLike,
    target: ArrayLike,
    K: int,
    combinations: ArrayLike,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    error_rate: float = ERROR_RATE,
    threads: int | None = None,
) -> Nearest:
    """Answer by the most probable explanation whose rules are one of some combinations, allowing for errors.

    All explanations are equally probable before anything is seen.

    Args:
        context: integers ``[n, 8, M]``: the eight context panels, row-major.
        target: integers ``[n, M]``: the ninth panels, by which the answers are judged.
        K: number of symbols, 3 to 16.
        combinations: integers ``[n_combinations, M]``: those assumed, such as ``task.combinations("train")``.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are.
        error_rate: share of the symbols of a context that are taken for errors.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol or rule, or too many symbols.
        CapacityError: if too many panels are equally probable.
    """
    contexts, targets, noisy, found = _check(context, target, K, rules, error_rate)
    n, _, M = contexts.shape
    known = _parts_of(check_symbols("combinations", combinations, ("n_combinations", M), len(rules)))

    def answer(part: slice) -> None:
        triples = np.zeros((M, M * M * len(rules)), np.int64)
        at, chosen, counts, used = np.zeros((4, M + 1), np.int64)
        product, rest = np.zeros((2, M + 1))
        scratch = (triples, np.zeros(triples.shape), at, chosen, counts, used, product, rest)
        here = tuple(each[part] for each in found)
        if _nearest(contexts[part], targets[part], permute, noisy, known, scratch, here) < len(here[0]):
            raise CapacityError(
                f"an instance has more than {_PANELS:,} equally probable panels; use a smaller M"
            )

    for_each_chunk(answer, n, threads, least=256)
    return found


def each_by_itself(
    context: ArrayLike,
    target: ArrayLike,
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    error_rate: float = ERROR_RATE,
    threads: int | None = None,
) -> Nearest:
    """Answer each position by its own most probable triple and rule, whatever the others take.

    So it knows nothing of combinations, nor that a position belongs to one feature only. Arguments and
    ConfigurationError are those of `nearest_combination`.
    """
    contexts, targets, noisy, found = _check(context, target, K, rules, error_rate)

    def answer(part: slice) -> None:
        _local(contexts[part], targets[part], permute, noisy, tuple(each[part] for each in found))

    for_each_chunk(answer, len(contexts), threads, least=256)
    return found
