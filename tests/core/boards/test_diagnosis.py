"""Tallies over seeds: counts, shares and standard errors, against arithmetic by hand."""

import numpy as np

from sraven.core.base.jsonable import as_json
from sraven.core.boards.diagnosis import Share, diagnose_runs
from sraven.core.boards.scoring import Run
from sraven.core.tasks.task import Labels, Tally

COUNTS = {0: [[2, 1, 1], [0, 0, 0]], 5: [[1, 1, 0], [0, 3, 0]]}


class Fixed:
    """A diagnosis that gives each seed its tally: the seed is what is predicted."""

    kinds = {"a": "first", "b": "second"}  # noqa: RUF012 -- read only

    def tally(self, labels, predictions, answered, threads):
        counts = np.array(COUNTS[int(predictions[0])])
        return {
            "overall": Tally("part", "things", ("x", "y"), ("a", "b", "missing"), np.array([8, 4]), counts)
        }


def runs(*seeds):
    return [Run(seed, np.full(12, seed), np.ones(12, bool)) for seed in seeds]


def test_shares_are_means_over_seeds_with_their_standard_errors():
    found = diagnose_runs(Fixed(), Labels({}, {}), runs(0, 5))
    assert (found.instances, found.seeds) == (12, (0, 5))
    table = found.tables["overall"]
    assert (table.heading, table.unit, [row.name for row in table.rows]) == ("part", "things", ["x", "y"])
    x, y = table.rows
    assert found.overall == x and (x.total, y.total) == (8, 4)
    # 4 of 8 and 2 of 8; of them 2 of 4 and 1 of 2, 1 of 4 and 1 of 2, 1 of 4 and 0 of 2
    assert x.wrong == Share((4, 2), 0.375, 0.125)
    assert x.of_wrong == {
        "a": Share((2, 1), 0.5, 0.0),
        "b": Share((1, 1), 0.375, 0.125),
        "missing": Share((1, 0), 0.125, 0.125),
    }
    assert y.wrong == Share((0, 3), 0.375, 0.375)
    assert y.of_wrong["b"] == Share((0, 3), None, None)  # the first seed has nothing to share


def test_single_seed_has_no_standard_error():
    overall = diagnose_runs(Fixed(), Labels({}, {}), runs(0)).overall
    assert overall.wrong == Share((4,), 0.5, None) and overall.of_wrong["a"] == Share((2,), 0.5, None)


def test_json_has_names_and_numbers_alone():
    row = as_json(diagnose_runs(Fixed(), Labels({}, {}), runs(0, 5)))["tables"]["overall"]["rows"][0]
    assert row["name"] == "x" and row["total"] == 8
    assert row["wrong"] == {"counts": [4, 2], "mean": 0.375, "standard_error": 0.125}
    assert list(row["of_wrong"]) == ["a", "b", "missing"]
