"""The released boards: their files are frozen, and what they say of the instances is so."""

import json
from fractions import Fraction

import pytest
import yaml

from helpers import fuzzy_oracle, oracle
from helpers.checkout import REPOSITORY
from helpers.regenerated import regenerate, sha256
from sraven.core.boards.board import board_ids, read_board
from sraven.core.boards.freeze import make_board, read_definitions
from sraven.core.system.files import compact_json
from sraven.core.untrusted.schemas import find_problem

DEFINED = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"

DIGESTS = {
    "sraven-v1": "2072776eabb3ca5f",
    "sraven-m8-v1": "80303145cdf60cf4",
    "sraven-unique-v1": "6c078f71d6fe573d",
    "fuzzylogic-v1": "2b753700e1444f2c",
    "c4-v1": "ce3bf977db6db3fd",
    "sraven-text-v1": "f68c8578c2dcc4af",
    "sraven-features2-v1": "a4bb2c72c212d899",
    "sraven-features3-v1": "76c9be49414d932f",
    "sraven-features4-v1": "28cf2c82aee03d9d",
    "sraven-features5-v1": "7e8f728edd27739d",
    "sraven-features6-v1": "7862bf5958d89b34",
    "sraven-features7-v1": "3873c8bde69aaa52",
    "sraven-features8-v1": "6ac8a107db07a223",
    "sraven-holdout10-v1": "89e05222d921181d",
    "sraven-holdout20-v1": "b24c9cfb420edf00",
    "sraven-holdout30-v1": "96d34ed66aed97aa",
    "sraven-holdout40-v1": "840aa0074fe8db8f",
    "sraven-holdout50-v1": "0332eb7d2d4ffde3",
    "sraven-holdout60-v1": "bf6c2933369521e1",
    "sraven-holdout70-v1": "c1a46d1ec0ca390e",
    "sraven-holdout80-v1": "44a86a6911582eac",
    "sraven-holdout90-v1": "1a93140833292dd6",
    "fuzzylogic-points16-holdout30-v1": "d3a95735f2374e41",
    "fuzzylogic-points16-holdout50-v1": "0dc71345199cf990",
    "fuzzylogic-points16-holdout70-v1": "ac8acb72eedd9dfb",
    "fuzzylogic-points32-holdout30-v1": "a228163d2fce213c",
    "fuzzylogic-points32-holdout50-v1": "73e700db5fec7fd9",
    "fuzzylogic-points32-holdout70-v1": "ab79450b3c8b04ff",
    "fuzzylogic-points64-holdout30-v1": "b9d15551d4ca8d4c",
    "fuzzylogic-points64-holdout50-v1": "a84fc6aece3f80fe",
    "fuzzylogic-points64-holdout70-v1": "dd16f3b9c5a51aeb",
    "fuzzylogic-points96-holdout30-v1": "5599559c6da9234a",
    "fuzzylogic-points96-holdout50-v1": "a2dd9ac93f3c175e",
    "fuzzylogic-points96-holdout70-v1": "4d6681fd47c253e7",
}
"""How the digests of the released boards begin. They never change; a new board gets a new line."""

TWINS = {"sraven-features4-v1": "sraven-v1", "fuzzylogic-points32-holdout70-v1": "fuzzylogic-v1"}
"""Boards of a diagnostic series with the configuration of a ranked one."""

RANKED = ("sraven-v1", "sraven-unique-v1", "sraven-m8-v1", "fuzzylogic-v1", "c4-v1", "sraven-text-v1")

GENERATED = [name for name in DIGESTS if name not in ("c4-v1", "sraven-text-v1")]
"""Those with a training split of their own; tests/baselines/lm/test_board.py and
tests/sraven/text/test_board.py are about the others."""

FOLDERS = {
    "sraven": "sraven/boards",
    "fuzzylogic": "fuzzylogic/boards",
    "c4": "baselines/lm/boards",
    "sraven-text": "sraven/text/boards",
}
"""Where the boards of each task lie."""


def test_boards_are_those_that_are_defined_and_listed_here():
    defined = {board["id"] for board in yaml.safe_load(DEFINED.read_text())["boards"]}
    files = {path.stem for folder in FOLDERS.values() for path in (REPOSITORY / folder).glob("*.json")}
    assert defined == files == set(board_ids()) == set(DIGESTS)


def test_ranked_boards_come_first():
    assert set(board_ids()[: len(RANKED)]) == set(RANKED)
    assert (board_ids()[0], board_ids()[len(RANKED) - 1]) == ("sraven-v1", "sraven-text-v1")
    assert [name for name in board_ids() if read_board(name).content["series"] == "ranked"] == list(
        board_ids()[: len(RANKED)]
    )


@pytest.mark.parametrize("name", DIGESTS)
def test_file_satisfies_the_schema_and_has_its_digest(name):
    [path] = [path for folder in FOLDERS.values() for path in (REPOSITORY / folder).glob(f"{name}.json")]
    content = json.loads(path.read_text())
    assert find_problem(content, "board") is None
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert sha256(canonical) == read_board(name).digest
    assert sha256(canonical).startswith(DIGESTS[name]), "a released board never changes: make a new version"
    assert path.read_text() == compact_json(content)
    assert content["id"] == name and path.parent == REPOSITORY / FOLDERS[content["config"]["task"]]


@pytest.mark.parametrize("name", GENERATED)
def test_budgets_metrics_and_sizes_belong_together(name):
    content = read_board(name).content
    assert content["train_budget"] in content["train_budgets"] == sorted(content["train_budgets"])
    assert content["metric"] in content["metrics"] and content["primary_split"] == "ood"
    size = {"sraven": 51_200, "fuzzylogic": 16_384}[content["task"]]
    assert read_board(name).splits == {"test": size, "ood": size}
    assert content["splits"]["train"]["instances"] == 2**20
    for split, known in content["ceiling"].items():
        assert split in read_board(name).splits and set(known) == {"knowing_split", "not_knowing"}


def known_and_held_out(config):
    """Return the combinations of train and ood, by the oracles."""
    if config["task"] == "sraven":
        rows = oracle.all_combinations(config["M"])
        known, held_out = oracle.partition(config["M"], config["holdout"], config["seed"])
        return [rows[n] for n in known], [rows[n] for n in held_out], rows
    seen, _ = fuzzy_oracle.divided_terms(config["L"], config["unseen_terms"], config["seed"])
    known, held_out = (fuzzy_oracle.places(config, split) for split in ("train", "ood"))
    return known, held_out, fuzzy_oracle.colex_order(seen, config["K"])


@pytest.mark.parametrize("name", GENERATED)
def test_listed_combinations_are_all_that_are_held_out(name):
    board = read_board(name)
    known, held_out, every = known_and_held_out(board.content["config"])
    listed = [tuple(row) for row in board.content["held_out"]["ood"]]
    assert set(board.content["held_out"]) == {"ood"}
    assert len(set(listed)) == len(listed) and set(listed) == set(held_out)
    assert not set(listed) & set(known)
    assert set(listed) | set(known) == set(every)
    assert len(listed) == Fraction(str(board.content["config"]["holdout"])) * len(every) // 1
    for split in ("train", "test"):
        assert {tuple(row) for row in board.task.combinations(split).tolist()} == set(known)
    assert {number for row in known for number in row} == {number for row in every for number in row}


@pytest.fixture(scope="module")
def definitions():
    return {definition["id"]: definition for definition in read_definitions(DEFINED)}


@pytest.mark.parametrize("name", DIGESTS)
def test_definition_gives_the_file(name, definitions, monkeypatch):
    """All of it but the digests and ceilings, which other tests recompute."""
    content = read_board(name).content
    monkeypatch.setattr(
        "sraven.core.boards.freeze.digest_split", lambda task, split, size: content["splits"][split]
    )
    monkeypatch.setattr("sraven.core.boards.freeze._ceilings", lambda task, sizes: content["ceiling"])
    assert compact_json(make_board(definitions[name])) == compact_json(content)
    assert list(definitions[name]["sizes"].values()) == list(read_board(name).splits.values())


def test_definition_gives_the_whole_file_of_a_small_board(definitions):
    assert compact_json(make_board(definitions["sraven-features2-v1"])) == compact_json(
        read_board("sraven-features2-v1").content
    )


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_boards_of_equal_configuration_have_equal_instances(name, twin):
    here, there = read_board(name).content, read_board(twin).content
    assert here["config"] == there["config"]
    for key in ("splits", "held_out", "ceiling", "metric", "train_budgets"):
        assert here[key] == there[key]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GENERATED if name not in TWINS])
def test_every_digest_is_that_of_the_instances(name):
    """All of train's first 2**20 instances, too.

    The inputs of longer sequences are covered by the blocks alone: a second checksum of the same bytes
    would take as long again.
    """
    board = read_board(name)
    for split, entry in board.content["splits"].items():
        long = split == "train" and board.content["config"].get("N", 0) > 16
        names = [array for array in entry["arrays"] if not (long and array == "inputs")]
        found = regenerate(board, split, names)
        assert found["blocks"] == entry["blocks"]
        assert found["arrays"] == {array: entry["arrays"][array] for array in names}
        assert (found["instances"], found["sha256"]) == (entry["instances"], entry["sha256"])


@pytest.mark.parametrize("name", [name for name in RANKED if name in GENERATED])
def test_ceilings_agree_with_what_was_measured_elsewhere(name):
    """With figures of independent code, where the specification has them: ± 0.005 each."""
    ceiling = read_board(name).content["ceiling"]
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
