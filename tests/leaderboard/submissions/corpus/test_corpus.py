"""Submissions to a board of a corpus: written with the log of each run, scored, or refused in one line."""

import hashlib
import shutil

import numpy as np
import pytest

from helpers.corpus_faults import path_of, plant, refused
from helpers.corpus_submissions import (
    CORPUS_BOARD,
    SIZE,
    corpus_board,
    corpus_contents,
    log_text,
    losses,
    write_corpus,
)
from helpers.example import all_bytes
from helpers.submissions import (
    METHOD,
    MODEL,
    SRAVEN_BOARD,
    TRAINING,
    description,
    edit,
    replace_file,
    small_contents,
    snapshot,
    write,
)
from sraven import ConfigurationError, score_submission, write_submission
from sraven.core.task import Labels
from sraven.core.untrusted.schemas import find_problem
from sraven.leaderboard.submissions.corpus import fingerprint
from sraven.leaderboard.submissions.submit import write_reference

pytestmark = pytest.mark.usefixtures("corpus_boards")


@pytest.fixture
def folder(corpus_original, tmp_path):
    """A submission, to be damaged."""
    return shutil.copytree(corpus_original, tmp_path / "submission")


def changed(board, **changes):
    return {**corpus_contents()[board], **changes}


def other(name):
    return {name: small_contents()[SRAVEN_BOARD][name]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lambda: changed(SRAVEN_BOARD, splits={"test": {"instances": 301}}), "splits.test lacks 'sha256'"),
        (lambda: changed(CORPUS_BOARD, **other("splits")), "expected only instances"),
        (lambda: changed(CORPUS_BOARD, held_out={"ood": [[0]]}), "held_out"),
        (lambda: changed(CORPUS_BOARD, **other("ceiling")), "ceiling has 2 entries; expected 0 or fewer"),
        (lambda: changed(SRAVEN_BOARD, labels="corpus"), "expected 0 or fewer"),
    ],
)
def test_board_that_mixes_both_kinds_breaks_the_schema(content, problem):
    assert problem in find_problem(content(), "board")


def test_what_is_written_scores_what_the_board_scores(corpus_original):
    scores = score_submission(corpus_original)
    assert find_problem(scores, "scores") is None
    assert scores["board"] == CORPUS_BOARD and list(scores["splits"]) == ["validation"]
    found = scores["splits"]["validation"]
    assert (found["instances"], found["seeds"], found["missing"]) == (SIZE, [0, 1, 2], [0, 0, 0])
    assert (found["by_combination"], found["gap_to_ceiling"]) == ({}, {})
    assert list(found["metrics"]) == ["loss", "perplexity", "bits_per_byte"] and "fingerprint" in found
    for seed in range(3):
        alone = corpus_board().score("validation", losses(seed))
        for metric, score in alone.metrics.items():
            assert found["metrics"][metric]["by_seed"][seed] == score.mean


def test_fingerprint_is_that_of_targets_and_then_bytes(corpus_original):
    array = losses()
    wanted = hashlib.sha256()
    for column in (array[:, 1], array[:, 2]):
        for number in column.tolist():
            wanted.update(int(number).to_bytes(8, "little"))
    assert score_submission(corpus_original)["splits"]["validation"]["fingerprint"] == wanted.hexdigest()


def test_fingerprint_does_not_depend_on_losses_or_on_the_kind_of_integers():
    labels = [corpus_board().labels("validation", losses(seed)) for seed in (0, 1)]
    narrow = {name: column.astype(">i4") for name, column in labels[0].summands.items()}
    assert len({fingerprint(each) for each in (*labels, Labels({}, narrow))}) == 1


def test_directory_has_the_logs(corpus_original):
    content = description(corpus_original)
    assert [(run["seed"], run["file"], run["log"]) for run in content["runs"]] == [
        (seed, path_of(seed), f"training/seed-{seed}.jsonl") for seed in range(3)
    ]
    for run in content["runs"]:
        data = (corpus_original / run["log"]).read_bytes()
        assert data.decode() == log_text()
        assert run["log_sha256"] == hashlib.sha256(data).hexdigest()
    assert set(all_bytes(corpus_original)) == {
        "submission.yaml",
        "README.md",
        *(run[key] for run in content["runs"] for key in ("file", "log")),
    }


def test_there_are_no_references(tmp_path):
    with pytest.raises(ConfigurationError) as error:
        write_reference(tmp_path / "s", CORPUS_BOARD, "uniform-random")
    assert str(error.value) == "c4-small-v1 has no reference predictors: each would need its text"


# Refusals in one line


def test_missing_document_is_refused(folder):
    plant(folder, losses(1)[:7], np.arange(7))
    assert refused(folder) == (f"{path_of(1)}: document 7 is missing; expected all {SIZE} of validation")


@pytest.mark.parametrize(("place", "name"), [(1, "targets"), (2, "bytes")])
def test_seeds_that_say_other_things_of_a_document_are_refused(place, name, folder):
    other = losses(2)
    other[[4, 9], place] += 1_000
    plant(folder, other, seed=2)
    assert refused(folder) == (
        f"{path_of(2)}: document 4 has {int(other[4, place]):,} {name}, but seed 0 says "
        f"{int(losses()[4, place]):,}; expected the same text for all seeds"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((np.nan, 5, 20), "row 6 has a loss of nan nats; expected a number from 0 to 1,099,511,627,776"),
        ((1, 0, 20), "row 6 has 0 targets; expected a whole number from 1 to 1,099,511,627,776"),
        ((1, 5, 1.5), "row 6 has 1.5 bytes; expected a whole number from 1 to 1,099,511,627,776"),
    ],
)
def test_numbers_that_no_document_has_are_refused(row, message, folder):
    array = losses(1)
    array[6] = row
    plant(folder, array)
    assert refused(folder) == f"{path_of(1)}: {message}"


LOG = "training/seed-1.jsonl"


def drop_log(run):
    del run["log"], run["log_sha256"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run.pop("log_sha256"), "submission.yaml: runs[1] has 'log' but lacks 'log_sha256'"),
        (lambda run: run.pop("log"), "submission.yaml: runs[1] has 'log_sha256' but lacks 'log'"),
        (lambda run: run.update(log="training/seed-0.jsonl"), f"; expected '{LOG}'"),
        (lambda run: run.update(log_sha256="0" * 64), "but submission.yaml says 000000000000…: the file"),
    ],
)
def test_wrong_word_on_a_log_is_refused(change, message, folder):
    edit(folder, lambda content: change(content["runs"][1]))
    assert message in refused(folder)


def test_run_without_a_log_is_refused(folder):
    edit(folder, lambda content: drop_log(content["runs"][1]))
    assert refused(folder) == f"{LOG}: isn't part of a submission; remove it"
    (folder / LOG).unlink()
    assert refused(folder) == (
        "submission.yaml: runs[1] lacks 'log'; c4-small-v1 takes the training log of each run"
    )


def test_log_that_is_none_is_refused_with_its_line(folder):
    replace_file(folder, LOG, log_text([{"step": 1, "loss": 2}, {"step": 1, "loss": 2}]).encode())
    assert refused(folder) == f"{LOG}: line 2 has step 1; expected an integer of 2 or more, as steps ascend"


def test_other_boards_take_no_logs(tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, seeds=1)
    (folder / "training").mkdir()
    (folder / "training" / "seed-0.jsonl").write_text(log_text())
    digest = hashlib.sha256(log_text().encode()).hexdigest()
    named = {"log": "training/seed-0.jsonl", "log_sha256": digest}
    edit(folder, lambda content: [run.update(named) for run in content["runs"]])
    assert refused(folder) == "submission.yaml: runs[0] has 'log'; sraven-small-v1 takes no training logs"


# Writing, with the log of each run


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(log_text())
    return path


def other_text():
    array = losses(1)
    array[2, 1] += 1
    return array


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"logs": {0: "{log}"}}, "logs lacks seed 1; expected the training log of each run"),
        ({"logs": {}}, "logs lacks seed 0; expected the training log of each run"),
        ({"logs": "{log}"}, "logs is '{log}'; c4-small-v1 takes the training log of each run: {seed: file}"),
        ({"logs": dict.fromkeys((0, 1, 2, 9), "{log}")}, "logs has seed 9, but predictions hasn't; leave it"),
        ({"logs": {"0": "{log}"}}, "a seed of logs='0': "),
        ({"logs": dict.fromkeys(range(3), "{folder}/nowhere")}, "nowhere: can't be read: No such file"),
        ({"logs": dict.fromkeys(range(3), "{folder}")}, "is no plain file"),
        ({"logs": dict.fromkeys(range(3), "{folder}/bad")}, "{folder}/bad: line 1 is 'x'; expected a JSON"),
        ({"predictions": [losses(), losses()[:-1]]}, "[12, 3]"),
        ({"predictions": [losses(), other_text()]}, f"{path_of(1)}: document 2 has "),
        ({"predictions": [-losses()]}, "predictions of validation: row 0 has a loss of -"),
    ],
)
def test_what_can_not_be_submitted_is_not_written(options, message, tmp_path, log):
    (tmp_path / "bad").write_text("x\n")
    names = {"{log}": str(log), "{folder}": str(tmp_path)}

    def placed(value):
        if isinstance(value, dict):
            return {key: placed(each) for key, each in value.items()}
        for name, path in names.items():
            value = value.replace(name, path) if isinstance(value, str) else value
        return value

    logs = placed(options.get("logs", dict.fromkeys(range(len(options.get("predictions", "abc"))), str(log))))
    before = snapshot(tmp_path)
    with pytest.raises(ConfigurationError) as error:
        write_corpus(tmp_path / "s", predictions=options.get("predictions"), logs=logs)
    assert placed(message) in str(error.value) and str(error.value).isprintable()
    assert snapshot(tmp_path) == before


def test_logs_are_wanted_and_elsewhere_not_taken(tmp_path, log):
    described = {"method": METHOD, "model": MODEL, "training": TRAINING}
    with pytest.raises(ConfigurationError) as error:
        write_submission(tmp_path / "s", CORPUS_BOARD, {"validation": [losses()]}, **described)
    assert str(error.value) == ("logs is None; c4-small-v1 takes the training log of each run: {seed: file}")
    with pytest.raises(ConfigurationError) as error:
        write(tmp_path / "s", SRAVEN_BOARD, logs={0: log})
    assert str(error.value) == "logs is given, but sraven-small-v1 takes no training logs; leave it out"
    assert snapshot(tmp_path).keys() == {"log.jsonl"}


def test_log_may_be_a_link_of_the_submitters_own(tmp_path, log):
    (tmp_path / "link").symlink_to(log)
    folder = write_corpus(tmp_path / "s", predictions=[losses()], logs={0: tmp_path / "link"})
    assert not (folder / "training/seed-0.jsonl").is_symlink()
    assert (folder / "training/seed-0.jsonl").read_text() == log_text()
