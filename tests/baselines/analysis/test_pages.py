"""The page of what analyses found, written from its records; `--render` tests that of the committed ones."""

import json
from pathlib import Path

import pytest

from baselines.analysis.pages import RECORDS, read_records, render_page
from helpers.refusals import assert_refused
from sraven import OutputError

COMMITTED = Path(__file__).parents[3] / "docs" / "results"


@pytest.fixture
def record():
    """The record of an analysis on SRAVEN's board."""
    return json.loads((COMMITTED / RECORDS / "sraven-hyla-seed-0.json").read_text())


@pytest.fixture
def page_of(tmp_path):
    """A function that returns the page of one record."""

    def render(record):
        (tmp_path / RECORDS).mkdir(exist_ok=True)
        (tmp_path / RECORDS / "one.json").write_text(json.dumps(record))
        return render_page(tmp_path)

    return render


def test_every_number_is_on_the_page_beside_its_controls(record, page_of):
    metrics = {"accuracy": {"value": 0.48, "low": 0.38, "high": 0.58}}
    known = {"accuracy": {"value": 0.625, "low": 0.5, "high": 0.75}}
    probe = {"scores": {"ood": {"metrics": metrics}, "test": {"metrics": known}}}
    apart = {"value": -0.1, "low": -0.2, "high": 0.0}
    found = {"probe": probe, "controls": {"permuted": probe}, "untrained": {"ood": {"accuracy": [0.1, 0.3]}}}
    found["differences"] = {"codes − untrained": {"ood": {"accuracy": apart}}}
    record["decoding"] = {"row3": {"2": found}}
    record["run"]["seed"] = 7
    share = {"value": 0.25, "standard_error": 0.02}
    for each in record["edits"]["row3"]:
        each["over_pairs"]["target_of_b"] = share
    (row,) = record["errors"]["ood"]["tables"]["overall"]["rows"]
    row["wrong"]["mean"] = 0.75
    row["of_wrong"] = {kind: {"mean": 0.25} for kind in row["of_wrong"]}
    page, run = page_of(record), "`one`"
    for row in (
        f"| {run} | HYLA, sraven-v1, 156,250 steps, seed 7 | ",
        f"| {run} | `row3` | 2 | 0.625 [0.500, 0.750] (0.625) | 0.480 [0.380, 0.580] "
        "| 0.200 (0.100 to 0.300) | −0.100 [−0.200, 0.000] | – "
        "| 0.480 | – | – | – | – |",
        f"| {run} | `row3` | final {'| 0.250 ± 0.020 ' * 4}|",
        f"| {run} | 0.2500 {'| 0.250 ' * 4}|",
    ):
        assert row in page


def test_pictures_are_shown_where_files_of_their_names_lie(record, page_of, tmp_path):
    assert "## Pictures" not in page_of(record)
    for name in ("one-codes-row3.svg", "one-codes-row3.txt", "codes.txt", "two-codes-self.svg"):
        (tmp_path / RECORDS / name).write_text(f"Of {name}.\n")
    pictures = page_of(record).partition("## Pictures of codes\n\nOf codes.txt.\n")[2].partition("\n## ")[0]
    assert pictures.count("![") == 1 and "](analysis/one-codes-row3.svg)" in pictures
    assert "seed 0, `row3`.* Of one-codes-row3.txt. The probe of layer 4: 0.807 on known" in pictures
    assert (
        "0.812 on held-out ones, where the untrained network has 0.156, and inputs alone 0.678." in pictures
    )


def test_terms_have_balanced_accuracy_and_f1(page_of):
    record = json.loads((COMMITTED / RECORDS / "fuzzy-hyla-query-seed-0.json").read_text())
    page = page_of(record)
    balanced = "0.772 [0.736, 0.804] (0.698) | 0.617 [0.592, 0.643] | 0.595 | – | 0.502 | 0.488"
    f1 = "0.516 [0.468, 0.578] (0.418) | 0.362 [0.336, 0.389] | 0.329 | – | 0.285"
    assert f"| `self` | 2 | {balanced} | {f1} |" in page
    assert "Rules that a probe" not in page


def test_a_section_without_rows_is_left_out(record, page_of):
    for name in ("edits", "errors"):
        del record[name]
    record["decoding"] = {"self": {"1": {"probe": {"scores": {}}, "controls": {}}}}
    page = page_of(record | {"protocol": "fixed_query"})
    assert "| `self` | 1 | – | constant |" in page and "fixed_query" in page
    assert "## What codes do" not in page and "## Wrong answers" not in page


def test_a_file_of_something_else_is_named(tmp_path):
    (tmp_path / "two.json").write_text("[]")
    assert_refused(r"two\.json isn't an analysis\.json", read_records, tmp_path, error=OutputError)
