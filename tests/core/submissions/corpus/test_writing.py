"""Submissions to a board of a corpus are written with the log of each run, or not at all."""

import pytest

from helpers.corpus_faults import path_of
from helpers.corpus_submissions import CORPUS_BOARD, log_text, losses, write_corpus
from helpers.submissions import METHOD, MODEL, SRAVEN_BOARD, TRAINING, snapshot, write
from sraven import ConfigurationError, write_submission

pytestmark = pytest.mark.usefixtures("corpus_boards")


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
        (
            {"logs": {0: "{log}", 1: "{log}", 2: "{log}", 9: "{log}"}},
            "logs has seed 9, but predictions hasn't; leave it out",
        ),
        ({"logs": {"0": "{log}"}}, "a seed of logs='0': "),
        ({"logs": dict.fromkeys(range(3), "{folder}/nowhere")}, "nowhere: can't be read: No such file"),
        ({"logs": dict.fromkeys(range(3), "{folder}")}, "is no plain file"),
        (
            {"logs": dict.fromkeys(range(3), "{folder}/bad")},
            "{folder}/bad: line 1 is 'x'; expected a JSON object",
        ),
        ({"predictions": [losses(), losses()[:-1]]}, "[12, 3]"),
        (
            {"predictions": [losses(), other_text()]},
            f"{path_of(1)}: document 2 has {int(other_text()[2, 1]):,} targets, but seed 0 says",
        ),
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
