"""Wrong answers sorted by kind: by hand, against plain Python, and what must hold for any predictions."""

from collections import Counter, defaultdict
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers import error_oracle, oracle
from helpers.refusals import assert_refused
from helpers.submissions import SRAVEN_BOARD, guesses, small_board
from helpers.tallies import assert_tallied
from sraven import SRAVEN, count_answers, sort_errors
from sraven.mistakes import KINDS
from sraven.rules import rules_of
from sraven.splits import exchanges
from sraven.task import Batch

CONSTANT, PLUS_TWO, ADDITION, SUBTRACTION, DISTRIBUTE_THREE, MINIMUM, MAXIMUM = 0, 2, 5, 6, 7, 8, 9
NAMES = ("right", *KINDS)


def by_hand(features, rules, orders=None):
    """Return an instance as a batch: the three rows of each feature, and where each column shows it."""
    M = len(features)
    shown = np.array(orders or [range(M)] * 3)
    panels = np.array(features)[shown[[0, 1, 2] * 3], np.repeat([0, 1, 2], 3)[:, None], [[0], [1], [2]] * 3]
    arrays = panels[:8], panels[8], np.array(rules), shown
    return Batch(*(array[None].astype(np.uint8) for array in arrays), np.zeros(1, np.int32))


def sorted_one(batch, prediction, K):
    """Return the kind of a prediction, and the rules that each of its symbols follows."""
    found = sort_errors(batch, [prediction], K)
    return NAMES[found.kind[0]], [np.flatnonzero(rules).tolist() for rules in found.follows[0]]


# By hand: M=2, K=8. The third row of the first feature begins 1, 1 and that of the second 1, 3.

FEATURES = [[(3, 3, 3), (5, 5, 5), (1, 1, 1)], [(1, 2, 3), (4, 6, 2), (1, 3, 4)]]
EXAMPLE = by_hand(FEATURES, [CONSTANT, ADDITION])


@pytest.mark.parametrize(
    ("prediction", "kind", "follows"),
    [
        ((1, 4), "right", [[], []]),
        ((4, 1), "correspondence", [[], []]),
        ((1, 6), "another rule", [[], [SUBTRACTION]]),  # 1 - 3 = -2
        ((1, 2), "another rule", [[], [DISTRIBUTE_THREE]]),  # 1, 3, 2, as the first row shows 1, 2, 3
        ((2, 4), "another rule", [[ADDITION], []]),  # 1 + 1
        ((2, 6), "another rule", [[ADDITION], [SUBTRACTION]]),
        ((2, 7), "none of these", [[ADDITION], []]),
        ((1, 7), "none of these", [[], []]),
    ],
)
def test_kinds_by_hand(prediction, kind, follows):
    assert EXAMPLE.target.tolist() == [[1, 4]] and count_answers(EXAMPLE.context, 8).tolist() == [1]
    assert sorted_one(EXAMPLE, prediction, 8) == (kind, follows)


def test_rows_are_read_where_the_columns_show_them():
    batch = by_hand(FEATURES, [CONSTANT, ADDITION], [(1, 0), (0, 1), (1, 0)])
    assert batch.context[0].tolist()[:3] == [[1, 3], [3, 2], [3, 3]] and batch.target.tolist() == [[4, 1]]
    assert sorted_one(batch, (6, 1), 8) == ("another rule", [[SUBTRACTION], []])
    assert sort_errors(batch, [[6, 1]], 8).rules.tolist() == [[ADDITION, CONSTANT]]


@pytest.mark.parametrize(
    ("features", "rules", "K", "prediction", "kind", "follows"),
    [
        # Rows (0, 0, 0), (0, 0, 0), (1, 1, ?): constant says 1, addition 2, subtraction 0.
        ([[(0, 0, 0), (0, 0, 0), (1, 1, 1)]], [CONSTANT], 5, (2,), "valid alternative", [[ADDITION]]),
        ([[(0, 0, 0), (0, 0, 0), (1, 1, 1)]], [CONSTANT], 5, (0,), "valid alternative", [[SUBTRACTION]]),
        ([[(0, 0, 0), (0, 0, 0), (1, 1, 1)]], [CONSTANT], 5, (3,), "none of these", [[]]),
        (
            [[(1, 2, 3), (5, 6, 3), (4, 2, 6)], [(7, 4, 3), (2, 5, 5), (4, 2, 2)]],
            *([ADDITION, SUBTRACTION], 8, (2, 6), "correspondence", [[SUBTRACTION], [ADDITION]]),
        ),
        # 4 + 7 = 3 and 5 + 2 = 7 take an operand of the other feature; a constant has none to give.
        (
            [[(1, 2, 3), (5, 6, 3), (4, 2, 6)], [(7, 4, 3), (2, 5, 5), (5, 7, 6)]],
            *([ADDITION, SUBTRACTION], 8, (3, 6), "operand of another feature", [[], []]),
        ),
        (
            [[(1, 2, 3), (5, 6, 3), (4, 2, 6)], [(7, 7, 7), (2, 2, 2), (5, 5, 5)]],
            *([ADDITION, CONSTANT], 8, (1, 5), "none of these", [[], []]),
        ),
        # 4 + 4 = 4 - 4 = 0
        ([[(1, 1, 1), (3, 3, 3), (4, 4, 4)]], [CONSTANT], 8, (0,), "another rule", [[ADDITION, SUBTRACTION]]),
    ],
)
def test_kinds_have_an_order_and_one_symbol_may_follow_several_rules(
    features, rules, K, prediction, kind, follows
):
    assert sorted_one(by_hand(features, rules), prediction, K) == (kind, follows)


def test_rules_of_another_set_are_followed_too():
    batch = by_hand([[(1, 5, 6), (3, 2, 5), (2, 4, 6)]], [ADDITION])
    for symbol, rule in ((2, MINIMUM), (4, MAXIMUM)):
        found = sort_errors(batch, [[symbol]], 11, rules=rules_of("ten"))
        assert found.follows.shape == (1, 1, 10) and found.follows[0, 0, rule]


# Against plain Python


def candidates(instance, K, random):
    """Yield predictions of every kind: the answers, the target's symbols, other rules' symbols, any."""
    context, target = instance.context, list(instance.target)
    yield target
    yield random.permutation(target).tolist()
    shown = error_oracle.features(context, instance.rules, instance.permutations)
    for _ in range(3):
        by_rule = [
            [s for s in range(K) if any(error_oracle.completes(r, feature, s, K) for r in oracle.RULES)]
            for feature in shown
        ]
        yield [int(random.choice(symbols)) for symbols in by_rule]
    mixed = [int(random.choice([symbol, random.integers(K)])) for symbol in target]
    yield mixed
    yield random.integers(K, size=len(target)).tolist()


@given(
    M=st.integers(1, 3),
    K=st.sampled_from([3, 4, 5, 8]),
    permute=st.booleans(),
    start=st.integers(0, 2**30),
    seed=st.integers(0, 99),
)
@settings(max_examples=20)
def test_kinds_and_rules_equal_the_oracle(M, K, permute, start, seed):
    task, random = SRAVEN(M=M, K=K, holdout=0, seed=3, permute=permute), np.random.default_rng(seed)
    batch = task.sample("all", start, 3)
    for n in range(3):
        one = Batch(*(array[n : n + 1] for array in batch))
        context = batch.context[n].tolist()
        rules, permutations = batch.rules[n].tolist(), batch.permutations[n].tolist()
        instance = oracle.Instance(context, batch.target[n].tolist(), rules, permutations, 0, 0, 0)
        predictions = [*candidates(instance, K, random), *map(list, oracle.answers(context, K, permute))]
        many = Batch(*(np.repeat(array, len(predictions), axis=0) for array in one))
        found = sort_errors(many, predictions, K, permute=permute)
        for k, prediction in enumerate(predictions):
            arguments = context, rules, permutations, prediction, K
            assert NAMES[found.kind[k]] == error_oracle.kind(*arguments, permute)
            followed = [set(np.flatnonzero(rules).tolist()) for rules in found.follows[k]]
            assert followed == error_oracle.followed(*arguments)
            assert found.operand[k].tolist() == error_oracle.exchanged(*arguments)


# What must hold for any predictions


@pytest.mark.parametrize(("M", "K", "permute"), [(4, 8, True), (3, 3, True), (3, 5, False)])
@pytest.mark.parametrize("prior", ["all", "train", "ood"])
def test_errors_of_the_ideal_observer_are_all_valid_alternatives(M, K, permute, prior):
    task = SRAVEN(M=M, K=K, holdout=0.25, seed=1, permute=permute)
    batch = task.sample("train" if prior == "all" else prior, 0, 3_000)
    panels = task.ideal_observer(batch, prior)[0]
    found = sort_errors(batch, panels, K, permute=permute)
    wrong = (panels != batch.target).any(axis=1)
    assert wrong.any() and (found.kind[wrong] == 1).all() and not found.kind[~wrong].any()


@st.composite
def predicted_batches(draw):
    """Draw a task, a batch of it, and predictions that are near the targets."""
    M, K = draw(st.integers(1, 6)), draw(st.sampled_from([3, 5, 8, 256]))
    task = SRAVEN(M=M, K=K, holdout=0, seed=draw(st.integers(0, 9)), permute=draw(st.booleans()))
    batch = task.sample("all", draw(st.integers(0, 10**6)), 200)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    kept = random.random(batch.target.shape) < draw(st.sampled_from([0.1, 0.7]))
    others = (
        random.permuted(batch.target, axis=1) if draw(st.booleans()) else random.integers(0, K, kept.shape)
    )
    return task, batch, np.where(kept, batch.target, others).astype(np.uint8)


@given(case=predicted_batches())
@settings(max_examples=15)
def test_each_wrong_answer_is_of_one_kind_and_known_answers_change_nothing(case):
    task, batch, predictions = case
    options = {"permute": task.permute}
    found = sort_errors(batch, predictions, task.K, **options)
    wrong = predictions != batch.target
    assert np.array_equal(found.wrong, wrong)
    assert np.array_equal(found.kind > 0, wrong.any(axis=1)) and found.kind.max() <= len(KINDS)
    assert not (found.follows & ~wrong[..., None]).any()
    own = np.take_along_axis(found.follows, found.rules[..., None].astype(np.int64), axis=2)
    assert not own.any()  # a wrong symbol never follows its feature's own rule
    answers = task.count_answers(batch)
    again = sort_errors(batch, predictions, task.K, answers=answers, **options)
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))
    assert (answers[found.kind == 1] > 1).all()
    # Where one answer is said to be the only one, no other is looked for.
    assert not (sort_errors(batch, predictions, task.K, answers=np.ones(200, int), **options).kind == 1).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predictions": np.full((3, 4), 8)}, "predictions contains 8; expected values from 0 to 7"),
        ({"predictions": np.zeros((3, 5), int)}, r"predictions .*\[3, 5\].*\[3, 4\]"),
        ({"answers": np.ones(2, int)}, r"answers .*\[2\].*\[3\]"),
        ({"permutations": np.zeros((3, 3, 4), int)}, "permutations has a row that doesn't name each feature"),
        ({"rules": np.full((3, 4), 8)}, "rules contains 8; expected values from 0 to 7"),
    ],
)
def test_bad_input_is_told_in_one_line(change, message):
    given = {"K": 8, "predictions": np.zeros((3, 4), int), "answers": None, **change}
    of_batch = {name: given.pop(name) for name in ("permutations", "rules") if name in given}
    batch = Batch(**{**SRAVEN().sample("test", 0, 3)._asdict(), **of_batch})
    assert_refused(message, sort_errors, batch, **given)


# The distance to the combinations of training


@given(M=st.integers(1, 5), seed=st.integers(0, 999), share=st.sampled_from([0.0, 0.02, 0.3, 0.9]))
@settings(max_examples=15)
def test_exchanges_equal_the_definition(M, seed, share):
    combinations = list(combinations_with_replacement(range(8), M))
    random = np.random.default_rng(seed)
    known = np.flatnonzero(random.random(len(combinations)) < share).astype(np.int32)
    known = known if len(known) else random.integers(len(combinations), size=1).astype(np.int32)
    asked = random.integers(len(combinations), size=30)
    found = exchanges(M, known)
    expected = [error_oracle.distance(combinations[n], [combinations[k] for k in known]) for n in asked]
    assert found[asked].tolist() == expected and not found[known].any()
    assert found.shape == (len(combinations),) and found.min() == 0


# The tallies of sorted errors


def slow_tallies(task, batch, panels, answered):
    """Return the tallies as Counters of (row, column), by loops; a column None stands for what is right."""
    found, known = defaultdict(Counter), task.combinations("train").tolist()
    names = [rule.name for rule in task.rules]
    columns = zip(*(array.tolist() for array in tuple(batch)), strict=True)
    for n, (context, target, rules, permutations, _) in enumerate(columns):
        panel, answers = panels[n].tolist(), len(oracle.answers(context, task.K, True))
        kind = error_oracle.kind(context, rules, permutations, panel, task.K, True)
        kind = (None if kind == "right" else kind) if answered[n] else "missing"
        found["overall"]["all", kind] += 1
        bounds = {1: "1", 2: "2", 4: "3 to 4", 8: "5 to 8", 16: "9 to 16"}
        row = next((name for most, name in bounds.items() if answers <= most), "17 and more")
        found["answers"][row, kind] += 1
        found["distance"][str(error_oracle.distance(rules, known)), kind] += 1
        followed = error_oracle.followed(context, rules, permutations, panel, task.K)
        exchanged = error_oracle.exchanged(context, rules, permutations, panel, task.K)
        load = sum(rule in (ADDITION, SUBTRACTION) for rule in rules)
        for p, feature in enumerate(error_oracle.features(context, rules, permutations)):
            column = {0: "no rule", 1: names[min(followed[p], default=0)]}.get(
                len(followed[p]), "several rules"
            )
            if column == "no rule" and exchanged[p]:
                column = "operand of another feature"
            other = "operand of another feature" if exchanged[p] else "anything else"
            if {ADDITION, SUBTRACTION} & followed[p]:
                other = "the other of the two"
            if kind == "missing":
                other = kind
            if kind in ("missing", "valid alternative", "correspondence"):
                column = kind
            right = panel[p] == target[p] and answered[n]
            found["rules"][names[feature.rule], None if right else column] += 1
            if feature.rule in (ADDITION, SUBTRACTION):
                found["arithmetic"][str(load), None if right else other] += 1
                if load == 1 and (row := sibling_row(feature, target[p], rules, known, task.K)):
                    name, symbol = row
                    wrong = "the sibling's answer" if panel[p] == symbol else "anything else"
                    wrong = wrong if answered[n] else "missing"
                    found["siblings"][name, None if right else wrong] += 1
    return found


def sibling_row(feature, target, rules, known, K):
    """Return the row of the only feature that adds or subtracts, and its sibling's symbol; None if equal."""
    symbol, telling = error_oracle.by_sibling(feature, target, K)
    if symbol < 0:
        return None
    other = sorted(error_oracle.SIBLING[rule] if rule == feature.rule else rule for rule in rules)
    says = {(1, 0): "tell", (1, 1): "fit both", (0, 0): "fit neither", (0, 1): "mislead"}
    rows = ("no row tells", "one row tells", "both rows tell")[telling]
    return f"partners {says[rules in known, other in known]}, {rows}", symbol


def test_tallies_equal_a_loop_over_the_instances():
    task, random, count = SRAVEN(M=3, K=4, holdout=0.9, seed=1), np.random.default_rng(2), 200
    batch = task.sample("ood", 0, count)
    panels = np.where(random.random((count, 3)) < 0.7, batch.target, random.integers(0, 4, (count, 3)))
    panels[:50] = task.ideal_observer(batch)[0][:50]
    panels[50:100] = random.permuted(batch.target[50:100], axis=1)
    panels, answered = panels.astype(np.uint8), random.random(count) < 0.9
    tallies = task.diagnosis.tally(task.scoring.labels(batch, None), panels, answered, None)
    assert_tallied(tallies, slow_tallies(task, batch, panels, answered))
    assert len(tallies["distance"].rows) > 1 and len(tallies["answers"].rows) > 3


def test_board_and_task_give_the_same_for_the_same_predictions():
    board = small_board(SRAVEN_BOARD)
    predictions = guesses(board, "ood", 0)
    found = board.diagnose("ood", predictions)
    assert found == board.task.diagnose("ood", predictions)
    assert found == board.task.diagnose(board.task.split("ood", len(predictions)), predictions)
    score = board.score("ood", predictions).metrics
    assert found.overall.wrong.mean == pytest.approx(1 - score["accuracy"].mean)
    assert found.overall.of_wrong["valid alternative"].mean == score["valid_alternatives"].mean
    assert sum(share.mean for share in found.overall.of_wrong.values()) == pytest.approx(1)
