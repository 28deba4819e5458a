"""Numbers of tasks and instances (paper, appendix B.1 and Figure A9)."""

from dataclasses import dataclass
from math import comb, factorial

from sraven.arguments import check_K, check_M
from sraven.rules import RULES, Rules

COLUMNS = 3


@dataclass(frozen=True)
class Counts:
    """Numbers of tasks and instances, exact.

    Attributes:
        multisets: rule combinations, C(R + M - 1, M).
        alignments: ways to match the positions of the columns, (M!)^(G - 1) for G columns.
        tasks: alignments with a rule for each matched triple, (M!)^(G - 1) R^M.
        instances: tasks with the symbols of their nine panels.
        paper_tasks: the paper's product, C(R + M - 1, M) ((M!)^(G - 1) - M).
    """

    multisets: int
    alignments: int
    tasks: int
    instances: int
    paper_tasks: int


def count(M: int, K: int, rules: Rules = RULES) -> Counts:
    """Count the tasks and instances of SRAVEN.

    The generator draws a permutation for each of the G = 3 columns, but renaming the features
    changes nothing, so (M!)^G permutations make (M!)^(G - 1) alignments. In an alignment each of
    the M triples of positions has one of the R rules, in any order: R^M ways, which the
    C(R + M - 1, M) multisets divide among them.

    A triple with rule r shows one of o_r outcomes: K^3 for constant and the progressions, K^6 for
    addition and subtraction, C(K, 3) (3!)^3 for distribute three. Summed over rules and
    multiplied over triples, an alignment has (o_0 + ... + o_(R-1))^M instances. Grids that several
    tasks explain count once for each of them.

    The paper prints (M!)^(G - 1) - M and multiplies it with the multisets: it takes M off without
    a derivation, and counts a multiset once however its rules are dealt to the triples.

    Args:
        M: features, 1 to 12.
        K: symbols, 3 to 256.
        rules: the rules that there are; the paper's unless others are given.
    """
    M, K = check_M(M), check_K(K)
    R, multisets, alignments = len(rules), comb(len(rules) + M - 1, M), factorial(M) ** (COLUMNS - 1)
    outcomes = sum(rule.outcomes(K) for rule in rules)
    return Counts(
        multisets=multisets,
        alignments=alignments,
        tasks=alignments * R**M,
        instances=alignments * outcomes**M,
        paper_tasks=multisets * (alignments - M),
    )
