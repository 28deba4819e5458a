"""A slow oracle of the fuzzy-logic task in plain Python, to be checked by eye.

It shares no code with the package; randomness comes from `oracle`. Numbers are exact: inputs are
fractions of 2**24. A configuration is a dict with the fields of `fuzzylogic.FuzzyLogic`.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, count
from math import comb

from helpers import oracle

Terms = tuple[int, ...]


# Functions -------------------------------------------------------------------------------------


def literal(x, plain):
    """Return x or not x."""
    return x if plain else 1 - x


def conjunction(term, point):
    """Return the value of a term: the and of all variables, un-negated where their bit is set."""
    return min(literal(x, bool(term >> variable & 1)) for variable, x in enumerate(point))


def function(terms, point):
    """Return the or of the terms."""
    return max(conjunction(term, point) for term in terms)


def colex_number(terms):
    """Return the number of a combination in the combinatorial number system."""
    return sum(comb(term, place) for place, term in enumerate(sorted(terms), start=1))


def colex_order(ids, K):
    """Return all combinations in the order of their numbers: by the greatest, then the next."""
    return sorted(combinations(sorted(ids), K), key=lambda terms: terms[::-1])


# Splits ----------------------------------------------------------------------------------------


def permuted(number, size, key, attempt):
    """Return the image of a number below ``size`` under the keyed permutation."""
    words = [word for pair in range(4) for word in two_words(oracle.draw(key, pair, attempt, 0))]
    half = max(1, -(-(size - 1).bit_length() // 2))
    while True:
        left, right = divmod(number, 2**half)
        for word in words:
            left, right = right, left ^ (mix(right ^ word) % 2**half)
        number = left * 2**half + right
        if number < size:
            return number


def two_words(bits):
    """Split 64 bits into the low and the high word."""
    return bits % 2**32, bits >> 32


def mix(value):
    """Return MurmurHash3's 32-bit finaliser."""
    value ^= value >> 16
    value = value * 0x85EBCA6B % 2**32
    value ^= value >> 13
    value = value * 0xC2B2AE35 % 2**32
    return value ^ value >> 16


@cache
def divided_terms(L, unseen_terms, unseen, seed):
    """Return the seen and the unseen terms."""
    if unseen == "last":
        n_seen = 2**L - int(Fraction(str(unseen_terms)) * 2**L)
        return list(range(n_seen)), list(range(n_seen, 2**L))
    key = oracle.derive_key(version="1", task="fuzzylogic", stream="terms", L=L, seed=seed)
    order = oracle.shuffled(2**L, key, 0)
    n_unseen = int(Fraction(str(unseen_terms)) * 2**L)
    return sorted(order[n_unseen:]), sorted(order[:n_unseen])


@cache
def divided_combinations(L, K, holdout, seen, seed):
    """Return the known and the held-out combinations of seen terms, in the order in which draws choose."""
    listed = colex_order(seen, K)
    held_out = int(Fraction(str(holdout)) * len(listed))
    key = oracle.derive_key(version="1", task="fuzzylogic", stream="partition", L=L, K=K, seed=seed)
    for attempt in count():
        order = [listed[permuted(place, len(listed), key, attempt)] for place in range(len(listed))]
        if {term for terms in order[held_out:] for term in terms} == set(seen):
            return order[held_out:], order[:held_out]
    raise AssertionError


def places(config, split):
    """Return the combinations of a split, in the order in which a draw chooses among them."""
    L, K, seed = config["L"], config["K"], config["seed"]
    seen, unseen = divided_terms(L, config["unseen_terms"], config.get("unseen", "drawn"), seed)
    if split == "ood_terms":
        return colex_order(unseen, K)
    if split == "all":
        return colex_order(range(2**L), K)
    known, held_out = divided_combinations(L, K, config["holdout"], tuple(seen), seed)
    return held_out if split == "ood" else known


# Sequences -------------------------------------------------------------------------------------


def uniform_points(key, index, N, L):
    """Return the points of a sequence: from block 1 on, variable by variable."""
    blocks = -(-N * L // 4)
    words = [
        oracle.philox4x32_10((index % 2**32, index >> 32, 1 + block, 0), key)[word]
        for word in range(4)
        for block in range(blocks)
    ]
    numbers = [Fraction(word >> 8, 2**24) for word in words]
    return [tuple(numbers[variable * N + n] for variable in range(L)) for n in range(N)]


def stream_key(config, split, stream):
    """Return the key of a split's stream."""
    content = {"task": "fuzzylogic", "version": "1", **config}
    config_digest = oracle.sha256_of_json(content)
    return oracle.derive_key(
        version="1", config=config_digest, seed=config["seed"], split=split, stream=stream
    )


def sequence(config, split, index):
    """Return inputs, targets and terms of a sequence."""
    N, L = config["N"], config["L"]
    key = stream_key(config, split, "instances")
    choices = places(config, split)
    for redraw in count():
        product = oracle.draw(key, index, 0, 0, redraw) % 2**32 * len(choices)
        if product % 2**32 >= 2**32 % len(choices):
            break
    terms = choices[product >> 32]
    points = uniform_points(key, index, N, L)
    fixed = uniform_points(stream_key(config, "all", "fixed"), 0, N, L)
    if config["query"] == "fixed_context":
        points = fixed[:-1] + points[-1:]
    if config["query"] == "fixed_query":
        points = points[:-1] + fixed[-1:]
    return points, [function(terms, point) for point in points], terms


# Identifiability -------------------------------------------------------------------------------


def agreeing(points, targets, choices):
    """Return what each combination that agrees with all points but the last predicts for that."""
    *shown, query = points
    return [
        function(terms, query)
        for terms in choices
        if all(function(terms, point) == target for point, target in zip(shown, targets, strict=False))
    ]
