"""Probes on codes whose structure was planted, so that the right score is known."""

import json
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from baselines.analysis.controls import Labels, permute_labels
from baselines.analysis.probes import decode, fit_probe
from helpers.refusals import assert_refused
from sraven.files.jsonable import as_json

R = 6
RULES = [f"rule {number}" for number in range(R)]
TRIPLES = np.array(list(combinations_with_replacement(range(R), 3)))
NUMBERS = np.random.default_rng(0).permutation(len(TRIPLES))
PARTS = {"fit": NUMBERS[:42], "test": NUMBERS[:42], "ood": NUMBERS[42:]}
"""Combinations of three rules by part; the last ones are held out."""


def draw(n=1200, seed=0):
    """Return labels by part: one of the three rules of a random combination."""
    random = np.random.default_rng(seed)
    found = {}
    for part, numbers in PARTS.items():
        combination = random.choice(numbers, n)
        found[part] = Labels(TRIPLES[combination, random.integers(3, size=n)], combination)
    return found


def noise(random, labels, width, size=1.0):
    return size * random.normal(size=(len(labels.values), width))


def by_part(labels, code, seed=1):
    """Return codes by part, each a function of its labels and of random numbers."""
    random = np.random.default_rng(seed)
    return {part: code(each, random) for part, each in labels.items()}


def accuracy(probe, part, metric="accuracy"):
    return probe.scores[part].metrics[metric].value


@pytest.fixture(scope="module")
def labels():
    return draw()


def test_codes_of_the_rule_reach_the_bayes_rate_and_the_permuted_labels_chance(labels):
    """All of it is JSON; what Bayes' rule reaches on tokens, as it is given, stands among the controls."""
    means = np.random.default_rng(2).normal(size=(R, 6))
    codes = by_part(labels, lambda each, random: means[each.values] + noise(random, each, 6, 0.8))
    found = decode(codes, labels, RULES, "fit", ceiling={"test": 0.974, "ood": 0.971})
    for part in ("test", "ood"):
        away = np.square(codes[part][:, None] - means).sum(axis=-1)
        shares = np.bincount(labels[part].values, minlength=R) / len(away)
        # With equal covariances and balanced classes, the most probable class is that of the nearest mean.
        recalls = [(away.argmin(axis=1) == rule)[labels[part].values == rule].mean() for rule in range(R)]
        defined = np.mean([recall for recall, share in zip(recalls, shares, strict=True) if share])
        assert accuracy(found.probe, part, "balanced_accuracy") == pytest.approx(defined, abs=0.02)
        assert 0.6 < defined < 0.95
        assert accuracy(found.controls["permuted"], part, "balanced_accuracy") < 0.4
    assert found.probe.notes == () and found.probe.dropped == 0
    assert list(found.controls) == ["majority", "permuted", "bayes"]
    assert accuracy(found.controls["bayes"], "ood") == 0.971
    ood = json.loads(json.dumps(as_json(found), allow_nan=False))["probe"]["scores"]["ood"]
    assert ood["combinations"] == len(PARTS["ood"]) and ood["rows"] == 1200
    accurate = ood["metrics"]["accuracy"]
    assert accurate["low"] <= accurate["value"] <= accurate["high"]


def test_codes_of_the_combination_are_caught_by_the_permuted_labels_and_score_chance_on_ood():
    drawn = draw(seed=3)
    labels = {part: Labels(each.combination % R, each.combination) for part, each in drawn.items()}
    places = np.random.default_rng(4).normal(size=(len(TRIPLES), 48))
    codes = by_part(labels, lambda each, random: places[each.combination] + noise(random, each, 48, 0.05))
    found = decode(codes, labels, RULES, "fit")
    assert accuracy(found.probe, "test") > 0.99
    assert accuracy(found.controls["permuted"], "test") > 0.99  # so the probe knows combinations by heart
    assert accuracy(found.probe, "ood") < 0.35


def test_presence_of_terms_has_a_classifier_each_and_its_controls():
    random, names = np.random.default_rng(5), [f"term {number}" for number in range(R)]
    labels = {
        part: Labels((TRIPLES[each.combination][:, :, None] == np.arange(R)).any(axis=1), each.combination)
        for part, each in draw(n=500, seed=5).items()
    }
    mix = random.normal(size=(R, 8))
    codes = by_part(labels, lambda each, random: each.values @ mix + noise(random, each, 8, 0.3))
    found = decode(codes, labels, names, "fit", beside={"untrained": fit_probe(codes, labels, names, "fit")})
    assert len(found.probe.strengths) == R
    assert accuracy(found.probe, "ood", "f1") > 0.95
    assert list(found.controls) == ["majority", "always_positive", "permuted", "untrained"]
    share = labels["ood"].values.mean(axis=0)
    expected = np.mean([2 * each / (1 + each) for each in share if each])
    assert accuracy(found.controls["always_positive"], "ood", "f1") == pytest.approx(expected)
    assert accuracy(found.controls["always_positive"], "ood", "balanced_accuracy") == pytest.approx(0.5)
    assert found.controls["untrained"] == found.probe
    assert accuracy(found.controls["permuted"], "ood", "f1") < 0.8


def test_coordinates_that_only_have_rounding_are_dropped_and_constant_codes_reported(labels):
    def code(each, random):
        leak = 5 + 1e-5 * each.values[:, None]  # would give the label away if it were scaled
        return np.concatenate([noise(random, each, R), leak], axis=1).astype(np.float32)

    probe = fit_probe(by_part(labels, code), labels, RULES, "fit")
    assert (probe.kept, probe.dropped) == (R, 1)
    for part in ("test", "ood"):  # what is left knows nothing of labels
        assert accuracy(probe, part, "balanced_accuracy") == pytest.approx(1 / R, abs=0.06)
    codes = by_part(labels, lambda each, random: 0.5 + noise(random, each, 3, 1e-6))
    found = decode(codes, labels, RULES, "fit")
    assert found.probe.scores == {} == found.controls["permuted"].scores
    assert found.probe.notes == ("constant codes: none of 3 coordinates spreads by 0.001 of their RMS",)
    assert accuracy(found.controls["majority"], "test") > 0


def of_rules(labels, size=1.0):
    """Return codes that are one-hot vectors of the rule, and noise."""
    return by_part(labels, lambda each, random: np.eye(R)[each.values] + noise(random, each, R, size))


def test_classes_that_a_part_lacks_are_reported_and_in_no_mean(labels):
    less = {**labels}
    for part, rule in (("ood", 2), ("fit", 3)):
        less[part] = Labels(*(each[labels[part].values != rule] for each in labels[part]))
    probe = fit_probe(of_rules(less, 0.01), less, RULES, "fit")
    assert probe.notes == ("not in the fitting data: rule 3",)
    assert probe.scores["test"].by_class["rule 3"].value == probe.scores["ood"].by_class["rule 3"].value == 0
    ood = probe.scores["ood"]
    assert ood.absent == ("rule 2",) and ood.by_class["rule 2"].value is None
    assert ood.metrics["macro_f1"].value == pytest.approx(
        np.mean([each.value for each in ood.by_class.values() if each.value is not None])
    )


def test_probes_that_do_not_converge_are_reported_and_are_fitted_by_one_thread(labels, monkeypatch):
    """Though what limits libraries to one looked for them once, at the first fit."""
    threads, fit = [], LogisticRegression.fit

    def look(*arguments):
        threads.append([library["num_threads"] for library in threadpool_info()])
        return fit(*arguments)

    monkeypatch.setattr(LogisticRegression, "fit", look)
    monkeypatch.setattr("baselines.analysis.classifiers.ITERATIONS", 1)
    (note,) = fit_probe(of_rules(labels), labels, RULES, "fit").notes
    assert note.startswith("1 of 1 classifiers didn't converge")
    assert len(threads) > 1 and {number for each in threads for number in each} == {1}


def test_permuted_labels_stay_with_their_combination(labels):
    moved = permute_labels(labels, "fit")
    known = {}
    for part, each in moved.items():
        assert (each.combination == labels[part].combination).all()
        columns = (column.tolist() for column in (each.combination, labels[part].values, each.values))
        for combination, before, after in zip(*columns, strict=True):
            assert known.setdefault((combination, before), after) == after  # in all parts alike
    for group in (PARTS["fit"], PARTS["ood"]):
        sets = [sorted({before for number, before in known if number == each}) for each in group]
        there = [sorted({after for (number, _), after in known.items() if number == each}) for each in group]
        assert sets != there
        for found in there:
            assert any(set(found) <= set(possible) for possible in sets)


def test_no_combination_keeps_its_own_labels():
    numbers = {part: np.repeat(each, 2) for part, each in PARTS.items()}
    labels = {part: Labels(each, each) for part, each in numbers.items()}
    for number in range(5):
        moved = permute_labels(labels, "fit", number)
        assert all((moved[part].values != labels[part].values).all() for part in labels)
        assert sorted(moved["ood"].values) == sorted(labels["ood"].values)


def test_codes_that_can_not_be_read_are_refused(labels):
    codes = of_rules(labels)
    for spoilt, said in (
        (codes["test"] * np.nan, "test: some latent codes are no finite numbers"),
        (codes["test"][1:], "test: 1,199 codes, but 1,200 labels"),
    ):
        assert_refused(said, fit_probe, {**codes, "test": spoilt}, labels, RULES, "fit")


def test_a_difference_has_a_narrower_interval_than_its_parts_where_both_fail_at_the_same(labels):
    """Codes tell the rule but in some combinations; the others do so a little less often, in the same."""

    def planted(size):
        def code(each, random):
            lost = each.combination % 3 == 0
            rule = np.where(lost, random.integers(R, size=len(lost)), each.values)
            return np.eye(R)[rule] + noise(random, each, R, size)

        return by_part(labels, code, seed=7)

    others = fit_probe(planted(0.45), labels, RULES, "fit")
    found = decode(planted(0.35), labels, RULES, "fit", beside={"untrained": others}, untrained=[others] * 2)
    apart = found.differences["codes − untrained"]["ood"]["accuracy"]
    values = [accuracy(each, "ood") for each in (found.probe, others)]
    assert apart.value == pytest.approx(values[0] - values[1]) and apart.low <= apart.value <= apart.high
    whole = found.probe.scores["ood"].metrics["accuracy"]
    assert apart.high - apart.low < (whole.high - whole.low) / 2
    assert found.untrained["ood"]["accuracy"] == [values[1]] * 2
    without = {part: score for part, score in others.scores.items() if part != "ood"}
    one = decode(planted(0.35), labels, RULES, "fit", untrained=[others, replace(others, scores=without)])
    assert one.untrained["ood"]["accuracy"] == [values[1], None]
    assert list(found.differences) == ["codes − untrained"]
