"""Promises about time: with another version published, all that was made before stays as it was."""

import json
import pickle
from dataclasses import dataclass, replace

import pytest

from baselines.config import RunConfig, read_config
from fuzzylogic import FuzzyLogic
from helpers.batches import same
from helpers.checkout import REPOSITORY
from helpers.example import SIZES, all_bytes
from helpers.refusals import assert_refused
from helpers.submissions import assert_filed_alike
from helpers.tiny_runs import tiny
from sraven import SRAVEN, ConfigurationError, score_submission
from sraven.board.board import board_ids, read_board
from sraven.core.digests import block_size, digest_split
from sraven.core.families import FAMILIES, find_family, make_board_task, make_task
from sraven.core.spec import added, digest, values_of
from sraven.core.versions import VERSIONS, check_version, current_version, latest
from sraven.data.verify import verify_dataset
from sraven.data.write import write_dataset

SUBMISSIONS = REPOSITORY / "docs" / "leaderboard" / "submissions"

SMALL = ("sraven", "fuzzylogic")
MAKES = make_task, make_board_task

FIELDS = {
    "sraven": "task version M K holdout seed answers permute",
    "fuzzylogic": "task version L K N holdout unseen_terms seed query",
}
"""Fields of the configurations of version 1. Later ones are declared with `added`."""


def small(family, **version):
    """Return the example of a family."""
    return find_family(family).task(**find_family(family).examples[family], **version)


# Boards


@pytest.mark.parametrize("name", board_ids())
def test_boards_of_the_first_version_are_what_they_were(name, second_version):
    board = read_board(name)
    assert board.task.version == "1" and dict(board.task.config) == board.content["config"]
    board.check_combinations()
    split, size = board.primary_split, block_size(board.task.columns)
    entry = board.content["splits"][split]
    found = digest_split(board.task, split, min(size, entry["instances"]))
    assert found["blocks"] == entry["blocks"][:1]


@pytest.mark.parametrize(
    "entry", ["fuzzylogic-v1/20261121-constant-mean", "sraven-v1/20261121-copy-last-panel"]
)
def test_filed_entries_score_as_they_were_filed(entry, second_version):
    folder = SUBMISSIONS / entry
    assert_filed_alike(score_submission(folder), folder)


# Tasks


@pytest.mark.parametrize("family", SMALL)
def test_first_version_is_the_same_with_and_without_a_second(family, request):
    before = small(family)
    config, drawn = dict(before.config), {split: before.sample(split, 0, 200) for split in before.splits}
    request.getfixturevalue("second_version")
    for after in (small(family, version="1"), make_task(config), replace(before)):
        assert after == before and hash(after) == hash(before) and repr(after) == repr(before)
        assert dict(after.config) == config and list(after.config) == list(config)
        assert all(same(after.sample(split, 0, 200), batch) for split, batch in drawn.items())
        assert pickle.loads(pickle.dumps(after)) == before


@pytest.mark.parametrize("family", SMALL)
def test_second_version_has_other_instances_and_digests(family, second_version):
    first, second = (small(family, version=version) for version in "12")
    assert first != second and "version='2'" in repr(second)
    assert {**first.config, "version": "2"} == second.config
    assert make_task(second.config) == second and digest(first.config) != digest(second.config)
    assert first.config_name == second.config_name
    for split in ("train", "test", "ood"):
        shown = first.rows.instance_columns[0]
        one, other = (getattr(task.sample(split, 0, 200), shown) for task in (first, second))
        assert (one != other).reshape(len(one), -1).any(axis=1).mean() > 0.9
    held_out = [task.combinations("ood").tolist() for task in (first, second)]
    assert len(held_out[0]) == len(held_out[1]) and held_out[0] != held_out[1]


def test_unknown_versions_are_refused_in_one_line():
    config = {**SRAVEN().config, "symmetry": True}
    by_config = [lambda version, make=make: make({**config, "version": version}) for make in MAKES]
    for make in [*(find_family(name).task for name in FAMILIES), *by_config]:
        for version in ("2", "0", "", 1, None, ["1"], "1\x1b[31m"):
            with pytest.raises(ConfigurationError, match="newer sraven") as caught:
                make(version=version)
            assert "\x1b" not in str(caught.value) and "\n" not in str(caught.value)
        with pytest.raises(TypeError):
            make(*[None] * 9)


def test_second_version_is_the_one_of_new_tasks_and_what_holds_is_the_last_change(second_version):
    assert (current_version(), list(VERSIONS)) == ("2", ["1", "2"])
    assert SRAVEN().version == FuzzyLogic().version == "2"
    assert latest({"1": "a"}, "2") == latest({"1": "a"}, "1") == "a"
    assert [latest({"1": "a", "2": "b"}, version) for version in "12"] == ["a", "b"]
    assert_refused("'1', '2'", check_version, "3")


# Datasets


def test_dataset_of_the_first_version_verifies_and_is_written_again(
    task, dataset_directory, tmp_path, second_version
):
    assert task.version == "1"
    assert verify_dataset(dataset_directory).faults == []
    before = all_bytes(dataset_directory)
    write_dataset(task, SIZES, dataset_directory)  # is there already
    write_dataset(make_task(task.config), SIZES, tmp_path / "again")
    assert all_bytes(dataset_directory) == all_bytes(tmp_path / "again") == before
    with pytest.raises(ConfigurationError, match="holds another dataset"):
        write_dataset(replace(task, version="2"), SIZES, dataset_directory)


def test_dataset_that_was_begun_goes_on_in_its_version(tmp_path, dataset_directory, request, done, refused):
    def stop(count):
        raise KeyboardInterrupt

    sizes = [f"--{split}={size}" for split, size in SIZES.items()]
    line = ["generate", "--M=3", "--K=7", "--holdout=0.3", "--seed=5", *sizes, "--out", tmp_path / "raven"]
    with pytest.raises(KeyboardInterrupt):
        write_dataset(small("sraven"), SIZES, tmp_path / "raven", progress=stop)
    request.getfixturevalue("second_version")
    assert "holds another dataset" in refused(*line)
    done(*line, "--benchmark-version", "1")
    assert all_bytes(tmp_path / "raven") == all_bytes(dataset_directory)
    done("verify", tmp_path / "raven")


@pytest.mark.parametrize("family", SMALL)
def test_dataset_says_its_version_and_the_versions_day(family, tmp_path, second_version):
    for version, day in (("1", "2026-11-20"), ("2", "2027-03-05")):
        folder = tmp_path / version
        write_dataset(small(family, version=version), {"train": 300, "ood": 100}, folder)
        croissant = json.loads((folder / "croissant.json").read_text())
        card = (folder / "README.md").read_text()
        assert (croissant["version"], croissant["datePublished"]) == (f"{version}.0.0", day)
        assert f"benchmark version {version}." in card and f"version: {version}.0.0\n" in card
        assert json.loads((folder / "manifest.json").read_text())["config"]["version"] == version
        assert verify_dataset(folder).faults == []


# Fields that a configuration gets later


@dataclass(frozen=True)
class WiderRun(RunConfig):
    """The configuration of a run of a later release."""

    schedule: str = added("cosine")


def test_configurations_of_version_1_hold_what_they_held():
    for name, task in (("sraven", SRAVEN()), ("fuzzylogic", FuzzyLogic())):
        assert list(task.config) == FIELDS[name].split(), "a later field is declared with `added`"


def test_older_run_is_read_with_the_default_of_a_later_field(monkeypatch):
    older = tiny()
    values = values_of(older)
    monkeypatch.setattr("baselines.config.RunConfig", WiderRun)
    newer = read_config(values)
    assert isinstance(newer, WiderRun) and newer.schedule == "cosine" and newer.digest == older.digest
    changed = read_config({**values, "schedule": "constant"})
    assert changed.digest != older.digest and values_of(changed)["schedule"] == "constant"


def test_newer_run_is_refused_by_name():
    values = values_of(tiny())
    lacking = {name: value for name, value in values.items() if name not in ("seed", "width")}
    for found, message in (
        ({**values, "schedule": "constant"}, "has schedule, which this sraven doesn't know"),
        (lacking, "lacks seed, width"),
        ([1], "expected names and values"),
    ):
        assert_refused(message, read_config, found)
