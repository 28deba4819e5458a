"""Terms, and their combinations by number (paper, section 3).

Term ``t`` is a conjunction of all L variables: bit l of t, value 2**l, is set where x_l enters
un-negated. A task is a disjunction of K distinct terms. Combinations are numbered by the
combinatorial number system, in colexicographic order: terms t_1 < ... < t_K have number
C(t_1, 1) + ... + C(t_K, K). So none has to be listed.
"""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.jit import kernel

RANK_LIMIT = (1 << 31) - 1
"""Most combinations there may be: a number has to fit into int32."""


def check_total(L: int, K: int) -> None:
    """Refuse numbers of variables and terms that leave no combination, or more than int32 can number."""
    total = comb(1 << L, K)
    if not 0 < total <= RANK_LIMIT:
        raise ConfigurationError(
            f"L={L}, K={K}: {total:.4g} combinations of {1 << L:,} terms, but there must "
            f"be from 1 to {RANK_LIMIT:,} so that int32 can number them; use another L or K"
        )


def term_dtype(L: int) -> str:
    """Return the NumPy name of the type of term ids: ``uint8`` up to L = 8, else ``uint16``."""
    return "uint8" if L <= 8 else "uint16"


def binomials(n: int, K: int) -> NDArray[np.int64]:
    """Return C(m, k) for m up to n and k up to K: int64 ``[K + 1, n + 1]``, cut off at 2**62."""
    table = np.zeros((K + 1, n + 1), np.int64)
    table[0] = 1
    for k in range(1, K + 1):
        row = np.cumsum(table[k - 1, :-1].astype(np.float64))
        exact = row < 2.0**52  # cumulative sums of integers are exact below
        table[k, 1:] = np.where(exact, row, float(1 << 62))
    return table


@kernel
def rank(terms: Any, table: Any) -> Any:
    """Return the number of a combination of ascending ids."""
    number = np.int64(0)
    for k in range(terms.shape[0]):
        number += table[k + 1, terms[k]]
    return number


@kernel
def unrank(number: Any, table: Any, terms: Any) -> None:
    """Write the ascending ids of combination ``number``."""
    high = table.shape[1] - 1
    for k in range(terms.shape[0], 0, -1):
        low = np.int64(k - 1)  # the greatest id with C(id, k) <= number lies from here to high
        while low < high:
            middle = (low + high + 1) // 2
            if table[k, middle] <= number:
                low = middle
            else:
                high = middle - 1
        terms[k - 1] = low
        number -= table[k, low]
        high = low - 1


def combinations_of(numbers: NDArray[np.int64], n_terms: int, K: int) -> NDArray[np.int64]:
    """Return the combinations with the given numbers: int64 ``[len(numbers), K]``, ascending."""
    table, left, terms = binomials(n_terms, K), numbers, np.empty((len(numbers), K), np.int64)
    for k in range(K, 0, -1):
        terms[:, k - 1] = np.searchsorted(table[k], left, side="right") - 1
        left = left - table[k, terms[:, k - 1]]
    return terms


def rank_all(terms: NDArray[np.int64], n_terms: int) -> NDArray[np.int64]:
    """Return the numbers of combinations ``[n, K]`` of ascending ids: int64 ``[n]``."""
    table, numbers = binomials(n_terms, terms.shape[1]), np.zeros(len(terms), np.int64)
    for k, ids in enumerate(terms.T, 1):
        numbers += table[k, ids]
    return numbers


def formula(terms: NDArray[Any], L: int) -> str:
    """Return a task as a formula, such as ``(x1 ∧ ¬x2) ∨ (¬x1 ∧ ¬x2)``."""
    subscripts = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

    def literal(term: int, variable: int) -> str:
        name = "x" + str(variable + 1).translate(subscripts)
        return name if term >> variable & 1 else f"¬{name}"

    def conjunction(term: int) -> str:
        return "(" + " ∧ ".join(literal(term, variable) for variable in range(L)) + ")"

    return " ∨ ".join(conjunction(int(term)) for term in terms)
