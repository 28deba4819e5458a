"""`sraven curves`: a terminal of 80 columns, pictures, JSON, and what is refused."""

import json
import math
from dataclasses import asdict
from itertools import product
from xml.etree import ElementTree as ET

import pytest

from baselines.recipes import make_config
from baselines.train.directory import CONFIG
from baselines.train.log import LOG
from helpers.analysed_runs import language_run
from sraven.board.board import read_board
from sraven.core.escape import one_line
from sraven.files.files import write_json

INFINITE = '{"step": 1100, "loss": Infinity, "scores": {"test": {"r2_per_sequence": -Infinity}}}\n'
BEGUN = '{"step": 1200, "lo'
"""A line in the middle of being written."""


def write_log(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def line_of(seed, step):
    """As of the log of a real run."""
    shares = {"test": 0.9, "ood": 0.7, "ood_terms": 0.4 + 0.1 * seed}
    scores = {split: {"r2_per_sequence": share - 40 / step} for split, share in shares.items()}
    return {"step": step, "loss": (2 + seed) / step, "score": 1 - 50 / step, "scores": scores}


@pytest.fixture
def runs(tmp_path):
    """Two configurations of two seeds each, half way."""
    board = read_board("fuzzylogic-v1")
    for attention, seed in product(("hyla", "softmax"), (0, 1)):
        folder = tmp_path / "runs" / attention / f"seed-{seed}"
        folder.mkdir(parents=True)
        write_json(folder / CONFIG, asdict(make_config(board, attention, seed=seed, steps=2000)))
        write_log(folder / LOG, *(line_of(seed, step) for step in range(100, 1001, 100)))
    return tmp_path / "runs"


def test_last_values_are_printed_below_ceiling_and_chance(runs, done):
    out = done("curves", runs)
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    rows = {(each[0], each[1]): each[2:] for each in cells if each}
    assert rows["loss in training", "hyla, 2 seeds"] == ["1,000", "0.0025 ± 0.0005", "", ""]
    assert rows["r2_per_sequence on test", "softmax, 2 seeds"] == ["1,000", "0.8600 ± 0.0000", "1", "0"]
    assert out.endswith("".join(f"{name}: 1,000 of 2,000 steps\n" for name in ("hyla", "softmax")))
    assert ("r2_per_sequence on ood_terms (unranked)", "hyla, 2 seeds") in rows


def test_pictures_are_written_whole_and_named(runs, done, refused, tmp_path):
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    for path in (png, svg):
        assert done("curves", runs, "--out", path) == f"{path}\n"
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ET.parse(svg).getroot().tag.endswith("svg")
    again = svg.read_bytes()
    done("curves", runs, "--out", svg)
    assert svg.read_bytes() == again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg", "runs"]
    log = runs / "hyla" / "seed-0" / LOG
    before = log.read_text()
    assert str(log) in refused("curves", runs, "--out", log) and log.read_text() == before


@pytest.mark.parametrize("name", [r"$\frac$", r"a $x$ $", "e\x1b[2Jsc 中文 line\nbreak \u202eabc <b>&"])
def test_any_name_of_a_file_and_of_a_metric_can_be_drawn_and_printed(done, tmp_path, name):
    lines = ({"step": step, "loss": 1 / step, "scores": {"ood": {name: 0.3}}} for step in (1, 2))
    log = write_log(tmp_path / f"{name}.jsonl", *lines)
    printed = done("curves", log)
    assert "\x1b" not in printed and "\u202e" not in printed
    for ending in ("png", "svg"):
        done("curves", log, "--out", tmp_path / f"a.{ending}")
    texts = list(ET.parse(tmp_path / "a.svg").getroot().itertext())
    assert one_line(name) in texts and one_line(f"{name} on ood") in texts


def test_what_has_no_number_or_is_half_written_hides_nothing(runs, done):
    before = done("curves", runs)
    log = runs / "hyla" / "seed-0" / LOG
    for more in (INFINITE, BEGUN):
        log.write_text(log.read_text() + more)
        assert done("curves", runs) == before
    log.unlink()
    assert "hyla, 1 seed" in done("curves", runs)  # the other's log has no line yet


def test_metrics_that_begin_alike_have_a_curve_each(runs, done, refused):
    for log in runs.glob("*/*/log.jsonl"):
        log.write_text(
            log.read_text().replace('"r2_per_sequence"', '"part.x": 0.5, "part.y": 1, "r2_per_sequence"')
        )
    found = json.loads(done("curves", runs, "--metric", "part.", "--json"))
    assert found["metric"] == "part."
    assert [group["name"] for group in found["groups"]] == ["hyla, x", "hyla, y", "softmax, x", "softmax, y"]
    assert set(found["groups"][1]["curves"]) == {"test", "ood"}
    assert found["groups"][1]["curves"]["ood"]["mean"] == [1] * 10
    assert found["bounds"]["test"] == {"ceiling": None, "chance": None, "lower": {}}
    [hyla, _] = json.loads(done("curves", runs, "--metric", "part.y", "--json"))["groups"]
    assert hyla["name"] == "hyla" and {"loss", "test"} < set(hyla["curves"])
    assert hyla["curves"]["loss"]["steps"] == list(range(100, 1001, 100))
    assert "part.x, part.y" in refused("curves", runs, "--metric", "other")


def test_chance_of_text_is_that_of_the_runs_own_vocabulary(tmp_path, done):
    lines = [
        {"step": step, "loss": 9 - step / 20, "scores": {"validation": {"loss": 9.5}}} for step in (20, 40)
    ]
    for pieces in (280, 32_101):
        language_run(tmp_path / str(pieces), pieces)
        write_log(tmp_path / str(pieces) / LOG, *lines)
        bounds = json.loads(done("curves", tmp_path / str(pieces), "--json"))["bounds"]
        assert bounds["validation"]["chance"] == bounds["loss"]["chance"] == pytest.approx(math.log(pieces))
    both = json.loads(done("curves", tmp_path / "280", tmp_path / "32101", "--json"))["bounds"]
    assert both["validation"]["chance"] is None  # a line of its own for each would be another picture


def test_a_log_of_other_code_is_a_curve_and_a_board_gives_it_bounds(tmp_path, done, refused):
    scores = {"test": {"accuracy": 0.4}, "ood": {"accuracy": 0.25}}
    log = write_log(tmp_path / "mine.jsonl", {"step": 10, "loss": 2.0}, {"step": 20, "scores": scores})
    pdf = tmp_path / "curves.pdf"
    [group] = json.loads(done("curves", log, "--json"))["groups"]
    means = {name: curve["mean"] for name, curve in group["curves"].items()}
    assert group["name"] == "mine" and means == {"loss": [2.0], "test": [0.4], "ood": [0.25]}
    assert "accuracy on ood" in done("curves", log, "--board", "sraven-v1")
    done("curves", log, "--out", pdf)
    assert pdf.read_bytes().startswith(b"%PDF")
    pdf.write_text("{}\n")
    assert "damaged in line 1" in refused("curves", pdf, "--out", tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()
