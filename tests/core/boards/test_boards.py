"""Boards: their files are frozen, and what they say of the instances is so."""

import hashlib
import json
import re
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml

from fuzzylogic import FuzzyLogic
from helpers import fuzzy_oracle, oracle
from helpers.submissions import (
    DEFINITIONS,
    FUZZY_BOARD,
    SRAVEN_BOARD,
    small_board,
    small_contents,
    truth,
    use_boards,
)
from sraven import SRAVEN, Board, BoardError, ConfigurationError, OutputError, load_board
from sraven.core.boards.board import board_ids, digest_split, read_board
from sraven.core.boards.freeze import make_board, read_definitions, write_board
from sraven.core.system.files import compact_json
from sraven.core.tasks.digests import block_size
from sraven.core.tasks.families import make_task
from sraven.core.untrusted.schemas import find_problem

REPOSITORY = Path(__file__).parents[3]
DEFINED = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"

DIGESTS = {
    "sraven-v1": "2072776eabb3ca5f",
    "sraven-m8-v1": "80303145cdf60cf4",
    "sraven-unique-v1": "6c078f71d6fe573d",
    "fuzzylogic-v1": "2b753700e1444f2c",
    "c4-v1": "ce3bf977db6db3fd",
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

RANKED = ("sraven-v1", "sraven-unique-v1", "sraven-m8-v1", "fuzzylogic-v1", "c4-v1")

GENERATED = [name for name in DIGESTS if name != "c4-v1"]
"""Those whose instances are generated; tests/baselines/lm/test_board.py is about the other one."""

FOLDERS = {"sraven": "sraven/boards", "fuzzylogic": "fuzzylogic/boards", "c4": "baselines/lm/boards"}
"""Where the boards of each task lie."""

SMALL = (SRAVEN_BOARD, FUZZY_BOARD)


@pytest.fixture
def small_boards(monkeypatch, tmp_path):
    use_boards(monkeypatch, tmp_path / "boards")


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def bytes_of(array):
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def regenerate(board, split, names):
    """Return the digests of a split as docs/format.md defines them, of arrays only those with these names."""
    total, size = board.content["splits"][split]["instances"], block_size(board.task.columns)
    order = list(board.content["splits"][split]["arrays"])
    blocks, arrays = [], {name: hashlib.sha256() for name in names}
    for start in range(0, total, size):
        batch = board.task.sample(split, start, min(size, total - start))._asdict()
        block = hashlib.sha256()
        for name in order:
            content = bytes_of(batch[name])
            shape = "x".join(str(length) for length in batch[name].shape)
            block.update(f"{name} {batch[name].dtype} {shape}\n".encode())
            block.update(content)
            if name in arrays:
                arrays[name].update(content)
        blocks.append(block.hexdigest())
    found = {name: checksum.hexdigest() for name, checksum in arrays.items()}
    return {"instances": total, "sha256": sha256("".join(blocks)), "blocks": blocks, "arrays": found}


# The released boards


def test_boards_are_those_that_are_defined_and_listed_here():
    defined = {board["id"] for board in yaml.safe_load(DEFINED.read_text())["boards"]}
    files = {path.stem for folder in FOLDERS.values() for path in (REPOSITORY / folder).glob("*.json")}
    assert defined == files == set(board_ids()) == set(DIGESTS)


def test_ranked_boards_come_first():
    assert set(board_ids()[: len(RANKED)]) == set(RANKED)
    assert (board_ids()[0], board_ids()[len(RANKED) - 1]) == ("sraven-v1", "c4-v1")
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


# Ceilings, against the oracles


def test_ceilings_of_sraven_are_the_oracles_posteriors():
    task, count = small_board(SRAVEN_BOARD).task, 10
    found = task.scoring.ceilings("ood", count, None)
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
    found = task.scoring.ceilings("ood", count, None)
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


# Loading


@pytest.mark.parametrize("name", [*SMALL, "sraven-v1", "fuzzylogic-points16-holdout30-v1"])
def test_board_that_is_right_loads(name, monkeypatch, tmp_path):
    if name in SMALL:
        use_boards(monkeypatch, tmp_path)
    board = load_board(name)
    assert board.id == name and board.task == make_task(board.content["config"])


def change_instance(monkeypatch, split, index, array="target"):
    """Make the generator change one byte of one instance."""
    kind = SRAVEN if array == "target" else FuzzyLogic
    sample = kind.sample

    def changed(self, name, start, count, **options):
        batch = sample(self, name, start, count, **options)
        if name == split and start <= index < start + count:
            getattr(batch, array)[index - start].reshape(-1).view(np.uint8)[-1] ^= 1
        return batch

    monkeypatch.setattr(kind, "sample", changed)


@pytest.mark.parametrize(
    ("name", "split", "index", "array", "where"),
    [
        (SRAVEN_BOARD, "test", 300, "target", "0 to 300"),
        (SRAVEN_BOARD, "ood", 0, "target", "0 to 198"),
        (SRAVEN_BOARD, "train", 4_095, "target", "0 to 4,095"),
        (FUZZY_BOARD, "test", 17, "targets", "0 to 210"),
        (FUZZY_BOARD, "ood", 156, "inputs", "0 to 156"),
        (FUZZY_BOARD, "train", 1, "terms", "0 to 4,095"),
        ("fuzzylogic-points96-holdout70-v1", "ood", 9_000, "targets", "8,192 to 16,383"),
    ],
)
def test_changed_label_is_found_on_loading(name, split, index, array, where, monkeypatch, tmp_path):
    if name in SMALL:
        use_boards(monkeypatch, tmp_path)
    change_instance(monkeypatch, split, index, array)
    with pytest.raises(BoardError) as error:
        load_board(name)
    message = str(error.value)
    assert message.startswith(f"board {name}, split {split}: instances {where} aren't those of the board")
    assert array in message or split == "train"
    assert "\n" not in message and "reinstall" in message


def test_loading_checks_the_first_block_of_train_and_check_the_rest(monkeypatch):
    change_instance(monkeypatch, "train", 70_000)
    board = load_board("sraven-features2-v1")
    board.check("train", instances=65_536)
    with pytest.raises(BoardError, match=r"split train: instances 65,536 to 131,071 .*\(target\)"):
        board.check("train")
    with pytest.raises(BoardError, match="split train: instances 65,536 to 131,071"):
        board.check("train", instances=65_537)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "fault", [lambda rows: rows.pop(), lambda rows: rows.reverse(), lambda rows: rows[0].reverse()]
)
def test_changed_list_of_combinations_is_found_on_loading(name, fault, monkeypatch, tmp_path):
    contents = {name: deepcopy(small_contents()[name])}
    fault(contents[name]["held_out"]["ood"])
    if contents[name] == small_contents()[name]:  # a combination of equal rules
        contents[name]["held_out"]["ood"][0][0] += 1
    use_boards(monkeypatch, tmp_path, contents)
    with pytest.raises(BoardError, match=f"board {name}: the combinations of ood aren't"):
        load_board(name)


@pytest.mark.parametrize("key", ["sha256", "arrays"])
def test_digests_that_contradict_each_other_are_found(key, monkeypatch, tmp_path):
    contents = deepcopy(small_contents())
    entry = contents[SRAVEN_BOARD]["splits"]["ood"]
    entry.update(
        {"sha256": "0" * 64} if key == "sha256" else {"arrays": {**entry["arrays"], "rules": "0" * 64}}
    )
    use_boards(monkeypatch, tmp_path, contents)
    with pytest.raises(BoardError, match="contradict each other"):
        load_board(SRAVEN_BOARD)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sraven-v2", "sraven-v1"),
        ("SRAVEN-V1", "sraven"),
        ("fuzzy-v1", "fuzzylogic-v1"),
        ("sraven", "sraven-v1"),
    ],
)
def test_unknown_board_names_the_nearest(name, meant):
    with pytest.raises(ConfigurationError, match=rf"no board '{name}'; did you mean .*{meant}") as error:
        load_board(name)
    assert "sraven boards" in str(error.value)


@pytest.mark.parametrize("name", ["", "../sraven-v1", "zzz", 3, None, "sraven-v1.json", "sraven-v1\n"])
def test_what_is_no_name_of_a_board_is_refused(name):
    with pytest.raises(ConfigurationError, match="there is no board") as error:
        read_board(name)
    assert "\n" not in str(error.value)


# Access


@pytest.mark.parametrize("name", SMALL)
def test_board_gives_the_tasks_instances(name):
    board = small_board(name)
    for split, size in board.splits.items():
        for here, there in zip(board.sample(split, 0, size), board.task.sample(split, 0, size), strict=True):
            assert np.array_equal(here, there)
    assert len(board.sample("train", 10**12, 5)[0]) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev", 0, 1), "split='dev': expected one of 'train', 'test', 'ood'"),
        (("all", 0, 1), "split='all'"),
        (("ood", 0, 200), "count=200: expected an integer from 0 to 199; ood of sraven-small-v1 has 199"),
        (("ood", 200, 0), "start=200"),
        (("ood", 199, 1), "count=1: expected an integer from 0 to 0"),
        (("test", -1, 1), "start=-1"),
    ],
)
def test_what_lies_beyond_a_split_is_refused(arguments, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        small_board(SRAVEN_BOARD).sample(*arguments)


def right(name):
    return truth(small_board(name), "ood")


@pytest.mark.parametrize(
    ("split", "change", "message"),
    [
        ("train", lambda array: array, "split='train': expected one of 'test', 'ood'"),
        ("ood", lambda array: array[:-1], "predictions of ood has shape [198, 3]; expected [199, 3]"),
        ("ood", lambda array: array.astype(float), "dtype float64; expected integers"),
        ("ood", lambda array: array > 1, "dtype bool; expected integers"),
        ("ood", lambda array: array.astype(int) - 9, "a value outside 0 to 255"),
        ("ood", lambda array: array.astype(int) + 256, "a value outside 0 to 255"),
        ("ood", lambda array: np.full((199, 3), 5), "row 0 has the symbol 5; symbols are 0 to 4"),
        ("ood", lambda array: [[1, 2, 3], [1, 2]], "predictions of ood is ragged"),
        ("ood", lambda array: array.astype(object), "dtype object"),
    ],
)
def test_predictions_of_sraven_that_do_not_fit_are_refused(split, change, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        small_board(SRAVEN_BOARD).score(split, change(right(SRAVEN_BOARD)))


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (np.zeros(157, int), "dtype int64; expected floats"),
        (np.zeros((157, 1)), "shape [157, 1]; expected [157]"),
        (np.where(np.arange(157) == 3, np.nan, 0.5), "row 3 is nan; expected a finite number"),
        (np.where(np.arange(157) == 9, -np.inf, 0.5), "row 9 is -inf"),
        (np.full(157, 1e300), "row 0 is inf"),
    ],
)
def test_predictions_of_fuzzy_logic_that_do_not_fit_are_refused(predictions, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        small_board(FUZZY_BOARD).score("ood", predictions)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.uint64, np.int8])
def test_any_integers_are_predictions(kind):
    scores = small_board(SRAVEN_BOARD).score("ood", right(SRAVEN_BOARD).astype(kind))
    assert scores.metrics["accuracy"].mean == 1


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_any_floats_are_predictions(kind):
    scores = small_board(FUZZY_BOARD).score("ood", right(FUZZY_BOARD).astype(kind))
    assert scores.metrics["mse"].mean == pytest.approx(0, abs=1e-6)


# Freezing


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
        ({**DEFINITIONS[0], "metric": "f1"}, "metric='f1': expected one of 'accuracy'"),
        (
            {**DEFINITIONS[0], "primary_split": "train"},
            "primary_split='train': expected one of 'test', 'ood'",
        ),
        ({**DEFINITIONS[0], "id": "Small"}, "the definition of board 'Small': id is 'Small'"),
        ({**DEFINITIONS[0], "series": "best"}, "series is 'best'; expected one of 'ranked'"),
        ({**DEFINITIONS[0], "train_budgets": [0]}, "train_budgets[0] is 0; expected 1 or more"),
        ({**DEFINITIONS[0], "config": {"task": "chess", "version": "1"}}, "task='chess'"),
    ],
)
def test_what_is_no_definition_is_refused(definition, message, monkeypatch):
    monkeypatch.setattr("sraven.core.boards.freeze.TRAIN_DIGESTED", 16)
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        make_board({**definition, **({"sizes": {"test": 9, "ood": 9}} if "sizes" in definition else {})})


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
    with pytest.raises(ConfigurationError, match="the board='sraven-v9': expected one of 'sraven-v1'"):
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


def test_title_of_a_board_is_part_of_its_digest():
    board = small_board(SRAVEN_BOARD)
    assert Board({**board.content, "title": "Better"}).digest != board.digest
