"""The released boards: their files are frozen, and what they say of the instances is so."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from helpers import fuzzy_oracle, oracle
from helpers.checkout import REPOSITORY
from helpers.regenerated import regenerate, sha256
from sraven.board.board import Board, board_ids, read_board
from sraven.board.freeze import board_path, make_board, read_definitions
from sraven.core.families import FAMILIES
from sraven.files.files import compact_json
from sraven.files.schemas import find_problem

DEFINED = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"

DIGESTS = dict(map(str.split, Path(__file__).with_name("released.txt").read_text().splitlines()))
"""How the digests of the released boards begin. They never change; whoever releases a board adds its line."""

BOARDS = {name: read_board(name) for name in board_ids()}

TWINS = {"sraven-features4-v1": "sraven-v1", "fuzzylogic-points32-holdout70-v1": "fuzzylogic-v1"}
"""Boards of a diagnostic series with the configuration of a ranked one."""

GENERATED = [name for name, board in BOARDS.items() if "train" in board.covered]
"""Those with a training split of their own; tests/baselines/lm/test_board.py and
tests/sraven/text/test_board.py are about the others."""


def test_boards_are_those_that_are_defined_and_none_that_was_released_is_gone():
    defined = {board["id"] for board in yaml.safe_load(DEFINED.read_text())["boards"]}
    assert defined == set(BOARDS) >= set(DIGESTS)
    filed = {folder.name for folder in (DEFINED.parent / "submissions").iterdir()}
    assert filed <= set(DIGESTS), "a board that has entries is released: add it to released.txt"


def test_ranked_boards_come_first_and_each_family_apart():
    series = [board.is_ranked for board in BOARDS.values()]
    assert series == sorted(series, reverse=True)
    ranked = [board.family for board in BOARDS.values() if board.is_ranked]
    assert ranked == sorted(ranked, key=list(FAMILIES).index)


@pytest.mark.parametrize("name", BOARDS)
def test_file_satisfies_the_schema_and_has_its_digest(name):
    board = BOARDS[name]
    path = board_path(REPOSITORY, board.content)
    content = json.loads(path.read_text())
    assert find_problem(content, "board") is None and content == board.content
    digest = sha256(json.dumps(content, sort_keys=True, separators=(",", ":")))
    assert digest == board.digest and board == Board.from_content(content)
    assert digest.startswith(DIGESTS.get(name, "")), "a released board never changes: make a new version"
    assert path.read_text() == compact_json(content)


@pytest.mark.parametrize("name", GENERATED)
def test_budgets_metrics_and_sizes_belong_together(name):
    board, content = BOARDS[name], BOARDS[name].content
    assert content["train_budget"] in content["train_budgets"] == sorted(content["train_budgets"])
    splits, primary = set(board.splits), content["primary_split"]
    assert content["metric"] in content["metrics"] and {"test", "ood", primary} <= splits
    assert primary == "ood" or (primary == "ood_terms" and content["task"] == "fuzzylogic")
    assert content["splits"]["train"]["instances"] == 2**20
    for split, known in content["ceiling"].items():
        assert split in board.splits and set(known) == {"knowing_split", "not_knowing"}


def known_and_held_out(config):
    """Return the combinations of train and ood, by the oracles."""
    if config["task"] in ("sraven", "sraven-twins"):
        rules = oracle.rules_of(config)
        rows = oracle.all_combinations(config["M"], rules)
        known, held_out = oracle.partition(config["M"], config["holdout"], config["seed"], rules)
        return [rows[n] for n in known], [rows[n] for n in held_out], rows
    drawn = config.get("unseen", "drawn")
    seen, _ = fuzzy_oracle.divided_terms(config["L"], config["unseen_terms"], drawn, config["seed"])
    known, held_out = (fuzzy_oracle.places(config, split) for split in ("train", "ood"))
    return known, held_out, fuzzy_oracle.colex_order(seen, config["K"])


@pytest.mark.parametrize("name", GENERATED)
def test_listed_combinations_are_all_that_are_held_out(name):
    board = BOARDS[name]
    known, held_out, every = known_and_held_out(board.content["config"])
    listed = [tuple(row) for row in board.content["held_out"]["ood"]]
    assert set(board.content["held_out"]) == set(board.splits) - {"test"}
    assert len(set(listed)) == len(listed) and set(listed) == set(held_out)
    assert not set(listed) & set(known)
    assert set(listed) | set(known) == set(every)
    if board.content["config"]["holdout"] not in oracle.DIVIDE:
        assert len(listed) == Fraction(str(board.content["config"]["holdout"])) * len(every) // 1
    for split in ("train", "test"):
        assert {tuple(row) for row in board.task.combinations(split).tolist()} == set(known)
    assert {number for row in known for number in row} == {number for row in every for number in row}


@pytest.fixture(scope="module")
def definitions():
    return {definition["id"]: definition for definition in read_definitions(DEFINED)}


@pytest.mark.parametrize("name", BOARDS)
def test_definition_gives_the_file(name, definitions, monkeypatch):
    """All of it but the digests and ceilings, which other tests recompute, and metrics that are younger."""
    content = BOARDS[name].content
    if "prompts" in content:  # they are pinned in tests/sraven/text
        pinned = iter(content["prompts"].values())
        monkeypatch.setattr("sraven.board.freeze.digest_prompts", lambda prompts: next(pinned))
    monkeypatch.setattr(
        "sraven.board.freeze.digest_split", lambda task, split, size: content["splits"][split]
    )
    monkeypatch.setattr("sraven.board.freeze.measure_splits", lambda measure, sizes: content["ceiling"])
    made = make_board(definitions[name])
    made["metrics"] = [metric for metric in made["metrics"] if metric in content["metrics"]]
    assert compact_json(made) == compact_json(content)
    assert list(definitions[name]["sizes"].values()) == list(BOARDS[name].splits.values())


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_boards_of_equal_configuration_have_equal_instances(name, twin):
    here, there = BOARDS[name].content, BOARDS[twin].content
    assert here["config"] == there["config"]
    for key in ("splits", "held_out", "ceiling", "metric", "train_budgets"):
        assert here[key] == there[key]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in GENERATED if name not in TWINS])
def test_every_digest_is_that_of_the_instances(name):
    """All of train's first 2**20 instances, too.

    The inputs of longer sequences are covered by the blocks alone: a second checksum of the same bytes
    would take as long again.
    """
    board = BOARDS[name]
    for split, entry in board.content["splits"].items():
        long = split == "train" and board.content["config"].get("N", 0) > 16
        names = [array for array in entry["arrays"] if not (long and array == "inputs")]
        found = regenerate(board, split, names)
        assert found["blocks"] == entry["blocks"]
        assert found["arrays"] == {array: entry["arrays"][array] for array in names}
        assert (found["instances"], found["sha256"]) == (entry["instances"], entry["sha256"])


@pytest.mark.parametrize("name", [name for name in GENERATED if BOARDS[name].is_ranked])
def test_ceilings_agree_with_what_was_measured_elsewhere(name):
    """With figures of independent code, where the specification has them: ± 0.005 each."""
    ceiling = BOARDS[name].content["ceiling"]
    if name == "sraven-v1":
        measured = {
            ("test", "knowing_split"): 0.933,
            ("ood", "knowing_split"): 0.941,
            ("test", "not_knowing"): 0.930,
            ("ood", "not_knowing"): 0.926,
        }
        for (split, known), value in measured.items():
            assert abs(ceiling[split][known]["accuracy"]["value"] - value) < 3 * 0.005
    for known in ceiling.values():
        for metric, mean in known["knowing_split"].items():
            better = mean["value"] - known["not_knowing"][metric]["value"]
            assert (-better if metric == "mse" else better) >= -4 * mean["standard_error"]
