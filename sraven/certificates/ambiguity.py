"""Exact ambiguity certificates: how many ninth panels fit a context (paper, appendix B.2).

An answer is a word of symbols along a complete path of the lattice of explanations. Several paths may
spell one word, so paths aren't counted: the lattice is a nondeterministic automaton, and is made
deterministic level by level (the subset construction). The words so far are grouped by the *set* of
states that they lead to, and each set is kept with the number of its words, so no word is counted twice
and none is listed. Most contexts have a single path and need none of this. Whether one given panel is an
answer is a walk with the triples that predict it.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_symbols
from sraven.certificates.explanations import (
    FIRST_EDGE,
    FIRST_STATE,
    KEPT,
    ORDER,
    Lattice,
    build_lattice,
    edge_goal,
    edge_source,
    edge_symbol,
    explore,
    explore_towards,
    for_each_part,
    prune,
)
from sraven.core.arguments import check_array
from sraven.core.jit import kernel
from sraven.rules import RULES, Rules

_NO_LIMIT = np.iinfo(np.int64).max
_ONE, _63 = np.uint64(1), np.uint64(63)


@kernel
def _fill_buckets(members: Any, edges: Any, buckets: Any, symbols: Any, width: Any) -> Any:
    """Sort by symbol what a set of states leads to; return the number of symbols."""
    bucket_of, symbol_of = symbols[0], symbols[1]
    n_buckets = 0
    for e in range(edges.shape[0]):
        edge = edges[e]
        source, goal = edge_source(edge), edge_goal(edge)
        if not (members[source // 64] >> (np.uint64(source) & _63)) & _ONE:
            continue
        symbol = edge_symbol(edge)
        bucket = bucket_of[symbol]
        if bucket < 0:
            bucket = n_buckets
            n_buckets += 1
            if n_buckets * width > buckets.shape[0]:
                n_buckets = -1
                break
            bucket_of[symbol], symbol_of[bucket] = bucket, symbol
            buckets[bucket * width : n_buckets * width] = 0
        buckets[bucket * width + goal // 64] |= _ONE << (np.uint64(goal) & _63)
    for bucket in range(n_buckets):
        bucket_of[symbol_of[bucket]] = -1
    return n_buckets


@kernel
def _equal(a: Any, b: Any) -> Any:
    for w in range(a.shape[0]):
        if a[w] != b[w]:
            return False
    return True


@kernel
def _count_words(M: Any, limit: Any, levels: Any, edges: Any, frontier: Any) -> Any:
    """Count the distinct words of predicted symbols along complete paths; -1 if out of memory.

    A state that a word leads to lies on a complete path, since the lattice was pruned: each word so far goes
    on, so their number never falls, and counting may stop at ``limit``.

    The frontier is scratch memory for sets of states, each a row of 64-bit words: ``sets`` uint64 and
    ``words`` int64 ``[2, capacity]``, those of this level and of the next, and how many words of symbols lead
    to each; ``buckets`` uint64 ``[capacity]``, what one set leads to, by symbol; ``symbols`` int64
    ``[2, 256]``, the bucket of a symbol, or -1, and the symbol of a bucket.
    """
    if levels[KEPT, M] == 0:
        return 0
    sets, words, buckets, symbols = frontier
    here, n_sets = 0, 1
    sets[0, 0], words[0, 0] = _ONE, 1
    for level in range(M):
        there, n_next, total = 1 - here, 0, 0
        width, next_width = (levels[KEPT, level] + 63) // 64, (levels[KEPT, level + 1] + 63) // 64
        leaving = edges[levels[FIRST_EDGE, level] : levels[FIRST_EDGE, level + 1]]
        for s in range(n_sets):
            members = sets[here, s * width : (s + 1) * width]
            n_buckets = _fill_buckets(members, leaving, buckets, symbols, next_width)
            if n_buckets < 0 or (n_next + n_buckets) * next_width > sets.shape[1]:
                return -1
            total += n_buckets * words[here, s]
            for b in range(n_buckets):
                reached = buckets[b * next_width : (b + 1) * next_width]
                match = 0
                while match < n_next and not _equal(
                    reached, sets[there, match * next_width : (match + 1) * next_width]
                ):
                    match += 1
                if match == n_next:
                    sets[there, match * next_width : (match + 1) * next_width] = reached
                    words[there, match] = 0
                    n_next += 1
                words[there, match] += words[here, s]
        if total >= limit:
            return limit
        here, n_sets = there, n_next
    return words[here, 0]


@kernel
def _count_answers(
    context: Any, K: Any, permute: Any, limit: Any, begin: Any, lattice: Any, frontier: Any, counts: Any
) -> Any:
    """Count the answers of the contexts from ``begin`` on; return the first that didn't fit."""
    M = context.shape[2]
    for n in range(begin, context.shape[0]):
        if not explore(context[n], K, permute, n - begin + 1, lattice):
            return n
        levels = lattice.levels
        if levels[FIRST_EDGE, M] == M:  # one edge a level, if the last one is reached: one path
            counts[n] = levels[FIRST_STATE, M + 1] - levels[FIRST_STATE, M]
            continue
        prune(M, lattice)
        counts[n] = _count_words(M, limit, levels, lattice.edges, frontier)
        if counts[n] < 0:
            return n
    return context.shape[0]


@kernel
def _find_paths(
    context: Any, panel: Any, K: Any, permute: Any, equal: Any, begin: Any, lattice: Any, found: Any
) -> Any:
    """Return, for the contexts from ``begin`` on, whether an explanation predicts ``panel``.

    Or, if not ``equal``, whether one differs from it at every position. Returns the first context that
    didn't fit.
    """
    M = context.shape[2]
    for n in range(begin, context.shape[0]):
        if not explore_towards(context[n], panel[n], equal, K, permute, n - begin + 1, lattice):
            return n
        first_state = lattice.levels[FIRST_STATE]
        found[n] = first_state[M + 1] > first_state[M]
    return context.shape[0]


def _count(
    context: ArrayLike, K: int, permute: bool, rules: Rules, limit: int, threads: int | None
) -> NDArray[np.int64]:
    contexts, K = check_context(context, K)
    counts = np.zeros(len(contexts), np.int64)

    def count(part: slice, begin: int, capacity: int, lattice: Lattice) -> Any:
        sets, words = np.zeros((2, capacity), np.uint64), np.zeros((2, capacity), np.int64)
        frontier = sets, words, np.zeros(capacity, np.uint64), np.full((2, 256), -1, np.int64)
        return _count_answers(contexts[part], K, permute, limit, begin, lattice, frontier, counts[part])

    for_each_part(count, contexts.shape[2], K, rules, len(contexts), threads)
    return counts


def _paths(
    context: ArrayLike,
    panel: ArrayLike,
    name: str,
    K: int,
    permute: bool,
    rules: Rules,
    equal: bool,
    threads: int | None,
) -> NDArray[np.bool_]:
    contexts, K = check_context(context, K)
    panels = check_symbols(name, panel, (len(contexts), contexts.shape[2]), K)
    found = np.zeros(len(contexts), np.bool_)

    def find(part: slice, begin: int, capacity: int, lattice: Lattice) -> Any:
        return _find_paths(contexts[part], panels[part], K, permute, equal, begin, lattice, found[part])

    for_each_part(find, contexts.shape[2], K, rules, len(contexts), threads)
    return found


def count_answers(
    context: ArrayLike, K: int, *, permute: bool = True, rules: Rules = RULES, threads: int | None = None
) -> NDArray[np.int64]:
    """Count the ninth panels that fit each context, exactly (paper, appendix B.2).

    An explanation assigns the features of the three columns to each other and a rule to each of
    them, such that all that is visible fits. Its answer is the panel that the rules predict.

    Args:
        context: integers ``[n, 8, M]``: the eight context panels, row-major.
        K: number of symbols, 3 to 256.
        permute: whether columns may show the features in different orders. Rules may come in any
            order either way.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        int64 ``[n]``: number of distinct answers. 1: the instance is unique; more: it is
        ambiguous; 0: nothing explains the context (no instance of the task is like that).

    Raises:
        ConfigurationError: for a wrong shape, dtype or symbol.
        CapacityError: if an instance has too many explanations for an exact count.
    """
    return _count(context, K, permute, rules, _NO_LIMIT, threads)


def is_unique(
    context: ArrayLike, K: int, *, permute: bool = True, rules: Rules = RULES, threads: int | None = None
) -> NDArray[np.bool_]:
    """Return which contexts have exactly one answer: ``count_answers(...) == 1``, sooner.

    Arguments and errors are those of `count_answers`. Returns bool ``[n]``.
    """
    unique: NDArray[np.bool_] = _count(context, K, permute, rules, 2, threads) == 1
    return unique


def is_answer(
    context: ArrayLike,
    panel: ArrayLike,
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    threads: int | None = None,
) -> NDArray[np.bool_]:
    """Return which panels are among the answers that `count_answers` counts.

    Args:
        context: integers ``[n, 8, M]``.
        panel: integers ``[n, M]``: one candidate for each context.
        K: number of symbols.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        bool ``[n]``.
    """
    return _paths(context, panel, "panel", K, permute, rules, True, threads)


def differs_everywhere(
    context: ArrayLike,
    target: ArrayLike,
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    threads: int | None = None,
) -> NDArray[np.bool_]:
    """Return which contexts have an answer that differs from the target in every feature.

    This is the narrow criterion that the paper's published code counts; `count_answers` above 1 is
    the wide one that the paper's words define.

    Args:
        context: integers ``[n, 8, M]``.
        target: integers ``[n, M]``.
        K: number of symbols.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        threads: threads to use; None for all available ones.

    Returns:
        bool ``[n]``.
    """
    return _paths(context, target, "target", K, permute, rules, False, threads)


def list_answers(
    context: ArrayLike, K: int, *, permute: bool = True, rules: Rules = RULES
) -> NDArray[np.uint8]:
    """List all answers of one context.

    Args:
        context: integers ``[8, M]``.
        K: number of symbols.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.

    Returns:
        uint8 ``[n_answers, M]``, in lexicographic order.

    Raises:
        ConfigurationError: for a wrong context, a value out of range, or a K that isn't from 3 to 256.
    """
    contexts, K = check_context(check_array("context", context, (8, "M"), "iu", "integers")[None], K)
    M = contexts.shape[2]
    answers: set[tuple[int, ...]] = set()

    def find(part: slice, begin: int, capacity: int, lattice: Lattice) -> int:
        if not build_lattice(contexts[0], K, permute, 1, lattice):
            return 0
        levels, edges = lattice.levels, lattice.edges
        words: dict[tuple[int, ...], set[int]] = {(): {0}} if levels[KEPT, M] else {}
        for level in range(M):
            longer: dict[tuple[int, ...], set[int]] = {}
            for edge in edges[levels[FIRST_EDGE, level] : levels[FIRST_EDGE, level + 1]].tolist():
                for word, states in words.items():
                    if edge_source(edge) in states:
                        longer.setdefault((*word, edge_symbol(edge)), set()).add(edge_goal(edge))
            words = longer
        order = levels[ORDER, :M].argsort()
        answers.update(tuple(word[level] for level in order) for word in words)
        return 1

    for_each_part(find, M, K, rules, 1, threads=1)
    return np.array(sorted(answers), dtype=np.uint8).reshape(-1, M)
