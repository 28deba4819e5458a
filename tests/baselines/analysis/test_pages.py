"""The page of what analyses found, written from its records."""

import json

import pytest

from baselines.analysis.pages import RECORDS, read_records, render_page
from sraven import OutputError


def probe(value, metric="accuracy"):
    interval = {"value": value, "low": value - 0.1, "high": value + 0.1}
    return {"scores": {"ood": {"metrics": {metric: interval}}}}


def record(**changes):
    """Return what an analysis of a run on SRAVEN's board has, as much of it as the page shows."""
    controls = {
        "untrained": 0.2,
        "permuted": 0.125,
        "row3_inputs": 0.678,
        "codes_with_inputs": 0.7,
        "bayes": 0.973,
    }
    share = {"target_of_b": {"value": 0.25, "standard_error": 0.02}}
    edits = [("all", kind) for kind in ("none", "edit", "random_direction", "random_rule")]
    edits += [("final", kind) for kind in ("edit", "random_direction", "random_rule")]
    codes = {"row3": {"2": {"rules": {"zero_one": {"cosine": {"correlation": -0.5, "p": 0.01}}}}}}
    believed = {name: {"value": 1.5} for name in ("cross_entropy", "floor", "excess")}
    still_open = {"exponent": 0.2, "accuracy": {"value": 0.3}, "best_accuracy": {"value": 0.6}}
    kinds = ("valid alternative", "correspondence", "another rule", "none of these")
    row = {"wrong": {"mean": 0.75}, "of_wrong": {kind: {"mean": 0.25} for kind in kinds}}
    run = {
        "attention": "hyla",
        "board": "sraven-v1",
        "steps": 23437,
        "seed": 0,
        "trained_by": [{"commit": "a" * 40}],
    }
    return {
        "run": run,
        "commit": "b" * 40,
        "protocol": "board",
        "judged": "ood",
        "scores": {part: {"accuracy": {"mean": 0.25}} for part in ("test", "ood")},
        "decoding": {
            "row3": {"2": {"probe": probe(0.48), "controls": {k: probe(v) for k, v in controls.items()}}}
        },
        "topography": {"trained": codes, "untrained": codes},
        "edits": {"row3": [{"layers": layers, "kind": kind, "over_pairs": share} for layers, kind in edits]},
        "calibration": {"ood": {**believed, "open": still_open}},
        "errors": {"ood": {"tables": {"overall": {"rows": [row]}}}},
        **changes,
    }


@pytest.fixture
def results(tmp_path):
    (tmp_path / RECORDS).mkdir()
    (tmp_path / RECORDS / "one.json").write_text(json.dumps(record()))
    return tmp_path


def test_every_number_is_on_the_page_beside_its_controls(results):
    page = render_page(results)
    run = "HYLA, sraven-v1, 23,437 steps, seed 0"
    for row in (
        f"| `one` | {run} | accuracy | 0.2500 | 0.2500 | aaaaaaa | bbbbbbb |",
        f"| {run} | `row3` | 2 | 0.480 [0.380, 0.580] | 0.200 | 0.125 | – | 0.678 | 0.700 | 0.973 |",
        f"| {run} | `row3` | rules | zero one | −0.500 | 0.0100 | −0.500 |",
        f"| {run} | `row3` | final | 0.250 ± 0.020 | 0.250 ± 0.020 | 0.250 ± 0.020 | 0.250 ± 0.020 |",
        f"| {run} | 1.5000 | 1.5000 | 1.5000 | 0.200 | 0.300 | 0.600 |",
        f"| {run} | 0.2500 | 0.250 | 0.250 | 0.250 | 0.250 |",
    ):
        assert row in page


def test_a_section_without_rows_is_left_out(results):
    fuzzy = record(protocol="fixed_query")
    for name in ("edits", "calibration", "errors"):
        del fuzzy[name]
    constant = {"probe": {"scores": {}}, "controls": {"untrained": probe(0.5, "balanced_accuracy")}}
    fuzzy["decoding"] = {"self": {"1": constant}}
    (results / RECORDS / "one.json").write_text(json.dumps(fuzzy))
    page = render_page(results)
    assert "| `self` | 1 | constant |" in page and "fixed_query" in page
    assert "## What codes do" not in page and "## Wrong answers" not in page


def test_a_file_of_something_else_is_named(results):
    (results / RECORDS / "two.json").write_text("[]")
    with pytest.raises(OutputError, match=r"two\.json isn't an analysis\.json"):
        read_records(results / RECORDS)
