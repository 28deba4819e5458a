"""The ceilings of boards, against the oracles."""

import pytest

from helpers import fuzzy_oracle, oracle
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board


def test_ceilings_of_sraven_are_the_oracles_posteriors():
    task, count = small_board(SRAVEN_BOARD).task, 10
    found = task.references.ceilings("ood", count, None)
    contexts = task.sample("ood", 0, count).context.tolist()
    known = {"knowing_split": task.combinations("ood").tolist(), "not_knowing": oracle.all_combinations(3)}
    for name, combinations in known.items():
        best = [float(max(oracle.posterior(c, 5, combinations, True).values())) for c in contexts]
        mean = sum(best) / count
        spread = sum((value - mean) ** 2 for value in best) / (count - 1)
        assert found[name]["accuracy"].value == pytest.approx(mean, abs=1e-12)
        assert found[name]["accuracy"].standard_error == pytest.approx((spread / count) ** 0.5, abs=1e-12)


def test_ceilings_of_fuzzy_logic_are_the_oracles_means():
    task, count = small_board(FUZZY_BOARD).task, 60
    found = task.references.ceilings("ood", count, None)
    config = {name: value for name, value in task.config.items() if name not in ("task", "version")}
    for name, choices in (("knowing_split", "ood"), ("not_knowing", "all")):
        errors, relative = [], []
        for index in range(count):
            points, targets, _ = fuzzy_oracle.sequence(config, "ood", index)
            values = fuzzy_oracle.agreeing(points, targets[:-1], fuzzy_oracle.places(config, choices))
            error = (sum(values) / len(values) - targets[-1]) ** 2
            middle = sum(targets) / len(targets)
            variance = sum((target - middle) ** 2 for target in targets) / len(targets)
            errors.append(float(error))
            relative += [1 - float(error / variance)] if variance else []
        assert found[name]["mse"].value == pytest.approx(sum(errors) / count, abs=1e-6)
        assert found[name]["r2_per_sequence"].value == pytest.approx(sum(relative) / len(relative), abs=1e-5)
    assert found["not_knowing"]["mse"].value > 0, "some of these short sequences have to be ambiguous"
