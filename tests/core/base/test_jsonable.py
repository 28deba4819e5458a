"""Values as JSON, and numbers with their errors: each in one way, wherever they are shown."""

import json
from dataclasses import dataclass

from sraven.core.base.escape import with_error
from sraven.core.base.estimate import Mean
from sraven.core.base.jsonable import as_json


@dataclass(frozen=True)
class Inner:
    value: float


@dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    by_name: dict[str, object]


def test_what_json_lacks_becomes_what_it_has():
    value = Outer((Inner(0.5), Inner(float("nan"))), {"a": (1, [float("-inf")]), "b": {"c": Inner(2)}})
    found = as_json(value)
    assert found == {
        "parts": [{"value": 0.5}, {"value": None}],
        "by_name": {"a": [1, [None]], "b": {"c": {"value": 2}}},
    }
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_json_has_stays():
    values = [None, True, 0, -1.5, "nan", [], {}]
    assert as_json(values) == values


def test_an_error_of_nothing_is_never_claimed():
    assert with_error(0.5, 0.01) == "0.5000 ± 0.0100" == str(Mean(0.5, 0.01, 9))
    assert with_error(0.5, 0.00001234) == "0.50000 ± 0.00001" == str(Mean(0.5, 0.00001234, 9))
    assert with_error(0.5, None) == "0.5000" and with_error(0.5, 0.0) == "0.5000 ± 0.0000"
    assert with_error(2e6, 3.0) == "2e+06 ± 3.0000"
