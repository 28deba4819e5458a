"""A slow oracle of SRAVEN in plain Python, to be checked by eye against the specification.

It shares no code with the package and knows nothing of its kernels: every function says one
sentence of the specification as directly as Python can. Only the standard library is used. A
configuration is a dict with the fields of `sraven.SRAVEN`; a context is a sequence of eight panels.
"""

import hashlib
import json
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, count, permutations, product
from math import factorial, prod
from typing import NamedTuple

Panel = tuple[int, ...]

VERSION = "1"
RULES = range(8)
RULE_SETS = {"paper": RULES, "ten": range(10)}
STEPS = {0: 0, 1: 1, 2: 2, 3: -1, 4: -2}
ADDITION, SUBTRACTION, DISTRIBUTE_THREE, MINIMUM, MAXIMUM = 5, 6, 7, 8, 9
ORDERS_OF_THREE = list(permutations(range(3)))
MASK_32 = 2**32 - 1


# Randomness ------------------------------------------------------------------------------------


def philox4x32_10(counter, key):
    """Return the block of Philox4x32-10: four words of 32 bits (Salmon et al. 2011)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * c0, 2**32)
        high_1, low_1 = divmod(0xCD9E8D57 * c2, 2**32)
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0, k1 = (k0 + 0x9E3779B9) & MASK_32, (k1 + 0xBB67AE85) & MASK_32
    return c0, c1, c2, c3


def sha256_of_json(value):
    """Return the digest of a JSON object written with sorted keys and without spaces."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def derive_key(**name):
    """Return the key of the stream with this name: the first eight bytes of its digest."""
    start = bytes.fromhex(sha256_of_json(name))
    return int.from_bytes(start[0:4], "little"), int.from_bytes(start[4:8], "little")


def draw(key, index, attempt, number, redraw=0):
    """Return 64 bits: draw ``number`` of an instance, or what stands in for it when rejected."""
    block, half = divmod(number, 2)
    words = philox4x32_10((index & MASK_32, index >> 32, block + (redraw << 16), attempt), key)
    return words[2 * half] + (words[2 * half + 1] << 32)


def cut(bits, ranges, width=48):
    """Cut one number below each range from ``width`` bits; tell whether they are acceptable.

    The numbers are the digits of ``bits * product / 2**width`` in the mixed radix ``ranges``, and
    the remainder of that division decides: rejecting the least ``2**width mod product`` of them
    leaves each outcome the same number of inputs.
    """
    numbers = []
    for limit in ranges:
        number, bits = divmod(bits * limit, 2**width)
        numbers.append(number)
    return numbers, bits >= 2**width % prod(ranges)


class Draws:
    """The draws of one candidate: bounded numbers, drawn again until acceptable."""

    def __init__(self, key, index, attempt):
        self.key, self.index, self.attempt = key, index, attempt
        self.redraws = 0

    def numbers(self, number, ranges):
        """Return one number below each of the ranges, all from draw ``number``."""
        for redraw in count():
            bits = draw(self.key, self.index, self.attempt, number, redraw) % 2**48
            numbers, acceptable = cut(bits, ranges)
            if acceptable:
                return numbers
            self.redraws += 1
        raise AssertionError("the loop has no other end")


def shuffled(length, key, attempt):
    """Return 0 to length - 1 in the order that the shuffle of this key and attempt gives."""
    values = list(range(length))
    for last in range(length - 1, 0, -1):
        [other] = Draws(key, last, attempt).numbers(0, [last + 1])
        values[last], values[other] = values[other], values[last]
    return values


# Tasks and splits ------------------------------------------------------------------------------


@cache
def all_combinations(M, rules=RULES):
    """Return all multisets of M rules, each sorted, in lexicographic order."""
    return list(combinations_with_replacement(rules, M))


@cache
def shuffled_combinations(M, seed, attempt, rules):
    """Return the indices of all combinations in the order of one attempt at a partition."""
    key = derive_key(version=VERSION, task="sraven", stream="partition", M=M, seed=seed)
    return shuffled(len(all_combinations(M, rules)), key, attempt)


def partition(M, holdout, seed, rules=RULES):
    """Return the indices of the known and of the held-out combinations.

    ``holdout`` means the decimal number that it is written as. The first partition in which every
    rule occurs in a known combination is taken. A word is the name of a division.
    """
    every = all_combinations(M, rules)
    if isinstance(holdout, str):
        is_known = DIVIDE[holdout](seed, rules, M)
        known = [at for at, combination in enumerate(every) if is_known(combination)]
        return known, sorted(set(range(len(every))) - set(known))
    held_out = Fraction(str(holdout)) * len(every) // 1
    for attempt in count():
        order = shuffled_combinations(M, seed, attempt, rules)
        known = sorted(order[held_out:])
        if {rule for c in known for rule in every[c]} == set(rules):
            return known, sorted(order[:held_out])
    raise AssertionError("the loop has no other end")


KINDS = (0, 7), (1, 2, 3, 4), (5, 6), (8, 9)
"""Rules of which blocks have equally many each."""


def in_drawn_order(name, seed, kinds):
    """Return the rules of some kinds, those of each in the order that a division draws."""
    key = derive_key(version=VERSION, task="sraven", stream="division", division=name, seed=seed)
    return [kind[at] for draw, kind in enumerate(kinds) for at in shuffled(len(kind), key, draw)]


def within_blocks(seed, rules, M):
    order = in_drawn_order("blocks", seed, [kind for kind in KINDS if kind[0] in rules])
    block = set(order[::2])
    return lambda combination: len({rule in block for rule in combination}) == 1


def without_forbidden_pairs(seed, rules, M):
    order = in_drawn_order("pairs", seed, [sorted(rules)])
    pairs = [{order[at], order[at + 1]} for at in range(0, len(order), 2)]
    return lambda combination: not any(pair <= set(combination) for pair in pairs)


def of_different_rules(seed, rules, M):
    return lambda combination: len(set(combination)) == len(combination)


FAMILIES = (0, 7), (1, 3), (2, 4), (5, 6), (8, 9)
"""Siblings."""


def families_of(combination):
    """Return the multiset of the families of a combination."""
    return tuple(sorted(n for rule in combination for n, family in enumerate(FAMILIES) if rule in family))


def within_camps(seed, rules, M):
    # In the order of the rules' kinds: constant's family; those of the progressions; addition's.
    order = in_drawn_order("camps", seed, [(0,), (1, 2), (3,)])
    camp = set(order[::2])
    return lambda combination: len({family in camp for family in families_of(combination)}) == 1


def in_ring(seed, rules, M):
    ring = in_drawn_order("ring", seed, [[n for n, family in enumerate(FAMILIES) if family[0] in rules]])
    neighbours = [{one, other} for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)]
    return lambda combination: any(set(families_of(combination)) <= pair for pair in neighbours)


def scattered(name, like):
    """Return a division into whole classes of families that knows as many combinations as another one."""

    def divide(seed, rules, M):
        key = derive_key(version=VERSION, task="sraven", stream="division", division=name, seed=seed)
        classes = {}
        for combination in all_combinations(M, rules):
            classes.setdefault(families_of(combination), []).append(combination)
        listed = sorted(classes)
        known = sum(map(like(0, rules, M), all_combinations(M, rules)))
        share = known * M // (len(rules) // 2)
        for attempt in count():
            taken, used = [], Counter()
            for number in shuffled(len(listed), key, attempt):
                more = Counter(n for n in listed[number] for _ in classes[listed[number]])
                if all(used[n] + more[n] <= share for n in more):
                    used += more
                    taken += classes[listed[number]]
            pairs = {pair for combination in taken for pair in combinations(combination, 2)}
            if len(taken) == known and len(pairs) == len(all_combinations(2, rules)):
                return set(taken).__contains__
        raise AssertionError("the loop has no other end")

    return divide


DIVIDE = {
    "blocks": within_blocks,
    "pairs": without_forbidden_pairs,
    "repeats": of_different_rules,
    "camps": within_camps,
    "ring": in_ring,
    "scattered": scattered("scattered", within_camps),
    "scattered-ring": scattered("scattered-ring", in_ring),
}


def rules_of(config):
    """Return the rules of a configuration: the paper's where it names no other set."""
    return RULE_SETS[config.get("rule_set", "paper")]


def choices(config, split):
    """Return which combinations a split draws from, ascending."""
    rules = rules_of(config)
    if split == "all":
        return list(range(len(all_combinations(config["M"], rules))))
    known, held_out = partition(config["M"], config["holdout"], config["seed"], rules)
    return held_out if split == "ood" else known


# Instances -------------------------------------------------------------------------------------


class Instance(NamedTuple):
    """An instance, and how it came about."""

    context: tuple[Panel, ...]
    target: Panel
    rules: Panel
    permutations: tuple[Panel, ...]
    """For each column, the feature that each position shows."""
    combination: int
    attempt: int
    """How many candidates were rejected before."""
    redraws: int
    """How many draws of this candidate were rejected as they would have been biased."""


def permutation_ranges(M, permute):
    """Return the ranges of the numbers that make a permutation: a rank, then one swap an entry."""
    return [factorial(min(M, 6)), *range(7, M + 1)] if permute else []


def make_permutation(numbers, M):
    """Return a permutation from its numbers: at ``f``, the position that shows feature f."""
    positions = list(range(M))
    if numbers:
        rank, *swaps = numbers
        positions[:6] = list(permutations(range(min(M, 6))))[rank]
        for last, other in enumerate(swaps, start=6):
            positions[last], positions[other] = positions[other], positions[last]
    return tuple(positions)


def draw_rows(draws, number, rule, K):
    """Return the three rows of a feature: (x, y, z) each."""
    if rule == DISTRIBUTE_THREE:
        a, b, c, *orders = draws.numbers(number, [K, K - 1, K - 2, 6, 6, 6])
        symbols = [a]
        for free in (b, c):
            symbols.append([symbol for symbol in range(K) if symbol not in symbols][free])
        return [tuple(symbols[n] for n in ORDERS_OF_THREE[order]) for order in orders]
    rows: list[Panel] = []
    for code in draws.numbers(number, [K * K] * 3):
        x, y = divmod(code, K)
        if rule == ADDITION:
            rows.append((x, y, (x + y) % K))
        elif rule == SUBTRACTION:
            rows.append((x, y, (x - y) % K))
        elif rule in (MINIMUM, MAXIMUM):
            rows.append((x, y, sorted([x, y])[rule - MINIMUM]))
        else:
            rows.append((x, (x + STEPS[rule]) % K, (x + 2 * STEPS[rule]) % K))
    return rows


def candidate(key, index, attempt, choices, M, K, permute, rule_set=RULES):
    """Return the candidate of an index and attempt in the stream ``key``.

    Draw 0 makes the combination and column 1's permutation, draw 1 those of columns 2 and 3; for
    M > 10 column 3 has draw 2. Each feature has one of the draws that follow.
    """
    draws = Draws(key, index, attempt)
    ranges = permutation_ranges(M, permute)
    choice, *column_1 = draws.numbers(0, [len(choices), *ranges])
    if M <= 10:
        both = draws.numbers(1, ranges * 2)
        column_2, column_3 = both[: len(ranges)], both[len(ranges) :]
        first_feature = 2
    else:
        column_2, column_3 = draws.numbers(1, ranges), draws.numbers(2, ranges)
        first_feature = 3
    positions = [make_permutation(numbers, M) for numbers in (column_1, column_2, column_3)]
    rules = all_combinations(M, rule_set)[choices[choice]]
    grid = [[[0] * M for _column in range(3)] for _row in range(3)]
    for feature, rule in enumerate(rules):
        for row, symbols in enumerate(draw_rows(draws, first_feature + feature, rule, K)):
            for column, symbol in enumerate(symbols):
                grid[row][column][positions[column][feature]] = symbol
    *context, target = [tuple(panel) for row in grid for panel in row]
    shown = [tuple(p.index(position) for position in range(M)) for p in positions]
    return Instance(tuple(context), target, rules, tuple(shown), choices[choice], attempt, draws.redraws)


def instance_key(config, split):
    """Return the key of a split's instances."""
    held = config["holdout"]
    full = {
        "task": "sraven",
        "version": VERSION,
        **config,
        "holdout": held if held in DIVIDE else float(held),
    }
    if full.get("rule_set") == "paper":
        del full["rule_set"]
    return derive_key(
        version=VERSION, config=sha256_of_json(full), seed=config["seed"], split=split, stream="instances"
    )


def instance(config, split, index):
    """Return instance ``index`` of a split: the first candidate that the policy accepts."""
    key, allowed = instance_key(config, split), choices(config, split)
    M, K, permute, rules = config["M"], config["K"], config["permute"], rules_of(config)
    for attempt in count():
        drawn = candidate(key, index, attempt, allowed, M, K, permute, rules)
        if config["answers"] == "any" or len(answers(drawn.context, K, permute, rules)) == 1:
            return drawn
    raise AssertionError("the loop has no other end")


# Explanations ----------------------------------------------------------------------------------


def follows(rule, rows, K):
    """Tell whether rows (x, y, z) are rows of one feature with this rule."""
    if rule == DISTRIBUTE_THREE:
        return all(len(set(row)) == 3 and set(row) == set(rows[0]) for row in rows)
    if rule == ADDITION:
        return all((x + y - z) % K == 0 for x, y, z in rows)
    if rule == SUBTRACTION:
        return all((x - y - z) % K == 0 for x, y, z in rows)
    if rule in (MINIMUM, MAXIMUM):
        return all(z == (min(x, y) if rule == MINIMUM else max(x, y)) for x, y, z in rows)
    step = STEPS[rule]
    return all((y - x - step) % K == 0 and (z - y - step) % K == 0 for x, y, z in rows)


def predictions(context, i, j, k, K, rules=RULES):
    """Return each rule that fits a triple of positions, with each symbol that would complete it."""
    row_1 = context[0][i], context[1][j], context[2][k]
    row_2 = context[3][i], context[4][j], context[5][k]
    return [
        (rule, symbol)
        for rule in rules
        if follows(rule, [row_1, row_2], K)
        for symbol in range(K)
        if follows(rule, [row_1, row_2, (context[6][i], context[7][j], symbol)], K)
    ]


class Explanation(NamedTuple):
    """The rule of each position of column 3, and the panel that the rules predict."""

    rules: Panel
    answer: Panel


def explanations(context, K, permute, rules=RULES):
    """Yield every explanation of a context, one for each alignment and choice of rules.

    Position k of column 3 goes with positions ``first[k]`` and ``second[k]`` of columns 1 and 2.
    """
    M = len(context[0])
    triples = product(range(M), repeat=3)
    fitting = {(i, j, k): predictions(context, i, j, k, K, rules) for i, j, k in triples}
    orders = list(permutations(range(M))) if permute else [tuple(range(M))]
    for first, second in product(orders, repeat=2):
        for chosen in product(*(fitting[first[k], second[k], k] for k in range(M))):
            yield Explanation(tuple(rule for rule, _ in chosen), tuple(symbol for _, symbol in chosen))


def answers(context, K, permute, rules=RULES):
    """Return the distinct answers of all explanations."""
    return {explanation.answer for explanation in explanations(context, K, permute, rules)}


def likelihood(rule, K):
    """Return the probability of the three rows of a feature with this rule."""
    if rule == DISTRIBUTE_THREE:
        return Fraction(6, K * (K - 1) * (K - 2)) * Fraction(1, 6**3)
    return Fraction(1, K**3 if rule in STEPS else K**6)


def weighed(context, K, combinations, permute, rules=RULES):
    """Yield every explanation of a context with its prior times its likelihood, up to a common factor.

    With permutations, an assignment of rules to triples stands for the product of n_r! labelled
    features; without, the features carry the rules of a combination in sorted order.
    """
    possible = {tuple(sorted(combination)) for combination in combinations}

    @cache
    def weight(rules):
        if (tuple(sorted(rules)) if permute else rules) not in possible:
            return Fraction(0)
        labelled = prod(factorial(n) for n in Counter(rules).values()) if permute else 1
        return prod((likelihood(rule, K) for rule in rules), start=Fraction(labelled))

    for explanation in explanations(context, K, permute, rules):
        yield explanation, weight(explanation.rules)


def posterior(context, K, combinations, permute, rules=RULES):
    """Return the probability of each ninth panel that is possible, given the context."""
    weights: dict[Panel, Fraction] = defaultdict(Fraction)
    for explanation, weight in weighed(context, K, combinations, permute, rules):
        weights[explanation.answer] += weight
    total = sum(weights.values())
    return {panel: w / total for panel, w in weights.items() if w}


def marginals(context, K, combinations, permute, rules=RULES):
    """Return the probability of each rule, and of each symbol, that is possible at each position."""
    by_rules: dict[Explanation, Fraction] = defaultdict(Fraction)
    for explanation, weight in weighed(context, K, combinations, permute, rules):
        by_rules[explanation] += weight
    total = sum(by_rules.values())

    def at(position, part):
        shares: dict[int, Fraction] = defaultdict(Fraction)
        for explanation, weight in by_rules.items():
            shares[explanation[part][position]] += weight / total if total else 0
        return {value: share for value, share in shares.items() if share}

    positions = range(len(context[0]))
    return [at(p, 0) for p in positions], [at(p, 1) for p in positions]
