"""Drawings of instances say what the instance is, and hide what isn't to be seen."""

import runpy
import xml.etree.ElementTree as ET

import pytest

from helpers.checkout import REPOSITORY
from sraven import SRAVEN
from sraven.drawing import draw_puzzle
from sraven.show import make_puzzle

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def puzzle():
    return make_puzzle(SRAVEN(M=3, K=11), "ood", 5)


def texts(drawing):
    return [each.text for each in ET.fromstring(drawing).iter(f"{SVG}text")]


def test_a_question_shows_eight_panels(puzzle):
    shown = texts(draw_puzzle(puzzle))
    assert shown == [*map(str, puzzle.panels[:8].ravel()), "?", "?", "?"]
    assert draw_puzzle(puzzle).count("; ") == 8 and "; ?</title>" in draw_puzzle(puzzle)


def test_an_answer_shows_the_ninth_panel_and_the_rules(puzzle):
    shown = texts(draw_puzzle(puzzle, answer=True))
    assert shown[:27] == [*map(str, puzzle.panels.ravel())]
    assert [text.split(":")[0] for text in shown[27:]] == [
        puzzle.known_rules[rule].name for rule in puzzle.rules
    ]
    assert shown[27].split(": ")[1] == ", ".join(" ".join(map(str, row)) for row in puzzle.rows[0].tolist())


def test_a_feature_has_one_colour_in_an_answer(puzzle):
    tree = ET.fromstring(draw_puzzle(puzzle, answer=True))
    fills = [each.get("fill") for each in tree.iter(f"{SVG}rect") if each.get("fill")]
    by_feature = {}
    for panel in range(9):
        for position, feature in enumerate(puzzle.permutations[panel % 3]):
            by_feature.setdefault(int(feature), set()).add(fills[3 * panel + position])
    assert sorted(by_feature) == [0, 1, 2] and all(len(each) == 1 for each in by_feature.values())
    assert [{fill} for fill in fills[27:]] == [by_feature[feature] for feature in range(3)]


def test_a_question_has_no_colours_that_could_be_taken_for_those_of_features(puzzle):
    assert not any(each.get("fill") for each in ET.fromstring(draw_puzzle(puzzle)).iter())


def test_a_notebook_shows_a_drawing(puzzle):
    assert draw_puzzle(puzzle)._repr_svg_() == draw_puzzle(puzzle)


def test_the_pictures_of_the_documentation_are_what_is_drawn():
    drawn = runpy.run_path(str(REPOSITORY / "docs" / "pictures.py"))["puzzles"]()
    kept = {name: (REPOSITORY / "docs" / "images" / name).read_text() for name in drawn}
    assert kept == drawn, "run: python docs/pictures.py"
