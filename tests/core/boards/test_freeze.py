"""Boards are frozen from their definitions, once."""

import json
import re

import pytest

from helpers.checkout import REPOSITORY
from helpers.regenerated import regenerate
from helpers.submissions import DEFINITIONS, SRAVEN_BOARD, small_board, small_contents
from sraven import BoardError, ConfigurationError, OutputError
from sraven.core.boards.freeze import make_board, read_definitions, write_board
from sraven.core.system.files import compact_json
from sraven.core.tasks.digests import digest_split
from sraven.core.untrusted.schemas import find_problem

DEFINED = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"


def test_board_of_a_definition_is_made_again_the_same():
    for definition in DEFINITIONS:
        made = small_contents()[definition["id"]]
        assert find_problem(made, "board") is None
        assert json.loads(compact_json(made)) == made
        for split, entry in made["splits"].items():
            assert digest_split(small_board(made["id"]).task, split, entry["instances"]) == entry
            assert regenerate(small_board(made["id"]), split, entry["arrays"]) == entry


def without(name):
    return {key: value for key, value in DEFINITIONS[0].items() if key != name}


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (without("version"), "the definition of board 'sraven-small-v1' lacks 'version'"),
        (without("config"), "lacks 'config'"),
        (without("id"), "the definition of board None lacks 'id'"),
        ({**DEFINITIONS[0], "metric": "f1"}, "metric='f1': "),
        ({**DEFINITIONS[0], "primary_split": "train"}, "primary_split='train': "),
        ({**DEFINITIONS[0], "id": "Small"}, "the definition of board 'Small': id is 'Small'"),
        ({**DEFINITIONS[0], "series": "best"}, "series is 'best'; expected one of 'ranked'"),
        ({**DEFINITIONS[0], "train_budgets": [-1]}, "train_budgets[0] is -1; expected 0 or more"),
        ({**DEFINITIONS[0], "config": {"task": "chess", "version": "1"}}, "task='chess'"),
    ],
)
def test_what_is_no_definition_is_refused(definition, message):
    sizes = {"sizes": {"test": 9, "ood": 9}} if "sizes" in definition else {}
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        make_board({**definition, **sizes}, train_digested=16)


@pytest.mark.parametrize(
    "text", ["boards: [", "boards: 3", "- 1", "", "boards: [{title: x}]", "!!python/none"]
)
def test_what_is_no_list_of_definitions_is_refused(text, tmp_path):
    (tmp_path / "boards.yaml").write_text(text)
    with pytest.raises(
        ConfigurationError, match=r"boards\.yaml isn't a list of definitions of boards"
    ) as error:
        read_definitions(tmp_path / "boards.yaml")
    assert "\n" not in str(error.value)


def test_unknown_definition_is_refused():
    with pytest.raises(ConfigurationError, match=r"the board='sraven-v9': .*'sraven-v1'"):
        read_definitions(DEFINED, ["sraven-v9"])


def test_released_board_is_not_overwritten(tmp_path):
    content = small_contents()[SRAVEN_BOARD]
    path = tmp_path / "sraven-small-v1.json"
    assert write_board(path, content) is True
    written = path.read_bytes()
    assert json.loads(written) == content
    assert write_board(path, content) is False
    with pytest.raises(BoardError, match=r"released boards never change: choose a new id and version"):
        write_board(path, {**content, "title": "Better"})
    assert path.read_bytes() == written
    assert list(tmp_path.iterdir()) == [path]


def test_board_is_not_written_outside_a_checkout(tmp_path):
    with pytest.raises(OutputError, match="doesn't exist; run this in a checkout"):
        write_board(tmp_path / "sraven" / "boards" / "x.json", small_contents()[SRAVEN_BOARD])
    assert list(tmp_path.iterdir()) == []
