"""Submissions to a board of a corpus: what is written is scored, and what refuses them, in one line."""

import hashlib
import json
import shutil
from datetime import date

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

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
    SAME_EVERY_TIME,
    SRAVEN_BOARD,
    TRAINING,
    description,
    edit,
    predictions_file,
    small_contents,
    snapshot,
    use_boards,
    write,
)
from sraven import ConfigurationError, SubmissionError, score_submission, write_submission
from sraven.core.boards.scoring import Run
from sraven.core.ground.errors import BoardError
from sraven.core.leaderboard.fingerprints import parse_pins, pin_text, read_pins
from sraven.core.leaderboard.ranking import read_leaderboard
from sraven.core.page.page import make_page
from sraven.core.submissions.corpus import check_runs, fingerprint
from sraven.core.submissions.submission import read_submission
from sraven.core.submissions.submit import file_submission, write_reference
from sraven.core.tasks.task import Column, Labels
from sraven.core.untrusted.read import decode_apart, most_bytes
from sraven.core.untrusted.schemas import find_problem


def path_of(seed):
    return f"predictions/validation/seed-{seed}.parquet"


@pytest.fixture(autouse=True)
def _boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"), corpus_contents())


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A submission of three seeds; tests only read it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"), corpus_contents())
        return write_corpus(tmp_path_factory.mktemp("original") / "s")


@pytest.fixture
def folder(original, tmp_path):
    """A submission, to be damaged."""
    return shutil.copytree(original, tmp_path / "submission")


def replace_file(folder, name, data):
    """Replace a file that runs name, and make its checksums fit."""
    (folder / name).write_bytes(data)

    def correct(content):
        for run in content["runs"]:
            for key in ("file", "log"):
                if run[key] == name:
                    run["sha256" if key == "file" else "log_sha256"] = hashlib.sha256(data).hexdigest()

    edit(folder, correct)


def plant(folder, predictions, index=None, seed=1):
    replace_file(folder, path_of(seed), predictions_file(predictions, index))


def refused(folder):
    with pytest.raises(SubmissionError) as error:
        read_submission(folder)
    message = str(error.value)
    assert message.replace("…", "").isprintable() and len(message) < 500
    return message


# The schema of boards


def changed(board, **changes):
    return {**corpus_contents()[board], **changes}


@pytest.mark.parametrize("board", [CORPUS_BOARD, SRAVEN_BOARD])
def test_boards_satisfy_the_schema(board):
    assert find_problem(changed(board), "board") is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            lambda: changed(SRAVEN_BOARD, splits={"test": {"instances": 301}}),
            "splits.test lacks 'sha256'",
        ),
        (
            lambda: changed(CORPUS_BOARD, splits=small_contents()[SRAVEN_BOARD]["splits"]),
            "expected only instances",
        ),
        (lambda: changed(CORPUS_BOARD, splits={"validation": {}}), "splits.validation lacks 'instances'"),
        (lambda: changed(CORPUS_BOARD, budget_unit="epochs"), "budget_unit is 'epochs'; expected one of"),
        (lambda: changed(CORPUS_BOARD, labels="none"), "labels is 'none'; expected one of"),
        (lambda: changed(CORPUS_BOARD, held_out={"ood": [[0]]}), "held_out"),
        (
            lambda: changed(CORPUS_BOARD, ceiling=small_contents()[SRAVEN_BOARD]["ceiling"]),
            "ceiling has 2 entries; expected 0 or fewer",
        ),
        (lambda: changed(SRAVEN_BOARD, labels="corpus"), "expected 0 or fewer"),
    ],
)
def test_board_that_mixes_both_kinds_breaks_the_schema(content, problem):
    assert problem in find_problem(content(), "board")


def test_budgets_count_instances_where_nothing_is_said():
    assert "budget_unit" not in corpus_contents()[SRAVEN_BOARD]
    assert corpus_board().budget_unit == "tokens"


# What is right


def test_what_is_written_scores_what_the_board_scores(original):
    scores = score_submission(original)
    assert find_problem(scores, "scores") is None
    assert scores["board"] == CORPUS_BOARD and list(scores["splits"]) == ["validation"]
    found = scores["splits"]["validation"]
    assert (found["instances"], found["seeds"], found["missing"]) == (SIZE, [0, 1, 2], [0, 0, 0])
    assert (found["by_combination"], found["gap_to_ceiling"]) == ({}, {})
    assert list(found["metrics"]) == ["loss", "perplexity", "bits_per_byte"]
    for seed in range(3):
        alone = corpus_board().score("validation", losses(seed))
        for metric, score in alone.metrics.items():
            assert found["metrics"][metric]["by_seed"][seed] == score.mean


def test_fingerprint_is_that_of_targets_and_then_bytes(original):
    array = losses()
    wanted = hashlib.sha256()
    for column in (array[:, 1], array[:, 2]):
        for number in column.tolist():
            wanted.update(int(number).to_bytes(8, "little"))
    assert score_submission(original)["splits"]["validation"]["fingerprint"] == wanted.hexdigest()


def test_fingerprint_of_one_document_by_hand():
    one = Labels({}, {"targets": np.array([5]), "bytes": np.array([258])})
    data = b"\5" + bytes(7) + b"\2\1" + bytes(6)
    assert fingerprint(one) == hashlib.sha256(data).hexdigest()


def test_fingerprint_does_not_depend_on_losses_or_on_the_kind_of_integers():
    labels = [corpus_board().labels("validation", losses(seed)) for seed in (0, 1)]
    narrow = {name: column.astype(">i4") for name, column in labels[0].summands.items()}
    assert len({fingerprint(each) for each in (*labels, Labels({}, narrow))}) == 1


@SAME_EVERY_TIME
@given(st.integers(0, SIZE - 1), st.sampled_from([1, 2]), st.integers(1, 1_000))
def test_fingerprint_changes_with_any_number(document, place, more):
    other = losses()
    other[document, place] += more
    board = corpus_board()
    assert fingerprint(board.labels("validation", other)) != fingerprint(board.labels("validation", losses()))


def test_other_boards_have_no_fingerprint(tmp_path):
    scores = score_submission(write(tmp_path / "s", SRAVEN_BOARD, seeds=1))
    assert all("fingerprint" not in found for found in scores["splits"].values())


def test_directory_has_the_logs(original):
    content = description(original)
    assert [(run["seed"], run["file"], run["log"]) for run in content["runs"]] == [
        (seed, path_of(seed), f"training/seed-{seed}.jsonl") for seed in range(3)
    ]
    for run in content["runs"]:
        data = (original / run["log"]).read_bytes()
        assert data.decode() == log_text()
        assert run["log_sha256"] == hashlib.sha256(data).hexdigest()
    assert set(all_bytes(original)) == {
        "submission.yaml",
        "README.md",
        *(run[key] for run in content["runs"] for key in ("file", "log")),
    }


def test_order_of_rows_changes_nothing(original, folder):
    order = np.random.default_rng(0).permutation(SIZE)
    plant(folder, losses(1)[order], order)
    assert score_submission(folder)["splits"] == score_submission(original)["splits"]


def test_right_claims_are_accepted_and_wrong_ones_refused(tmp_path):
    array = losses()
    loss = float(array[:, 0].sum() / array[:, 1].sum())
    write_corpus(tmp_path / "s", predictions=[array], claimed={"validation": {"loss": loss}})
    assert score_submission(tmp_path / "s")["splits"]["validation"]["metrics"]["loss"][
        "mean"
    ] == pytest.approx(loss, abs=1e-9)
    edit(tmp_path / "s", lambda content: content["claimed"]["validation"].update(loss=loss - 0.01))
    with pytest.raises(SubmissionError, match=r"claimed\.validation\.loss is .* correct the claim"):
        score_submission(tmp_path / "s")


def test_seeds_may_have_any_numbers(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(log_text())
    write_corpus(
        tmp_path / "s",
        predictions={7: losses(), np.int64(3): losses(1)},
        logs={np.int64(3): str(log), 7: log},
    )
    assert score_submission(tmp_path / "s")["splits"]["validation"]["seeds"] == [3, 7]


def test_floats_in_lists_are_decoded():
    column = Column("prediction", "float64", (3,), "three numbers")
    index, found = decode_apart({"x": (predictions_file(losses()), SIZE)}, column)["x"]
    assert found.dtype == np.float64 and np.array_equal(found, losses())
    assert index.tolist() == list(range(SIZE))
    assert most_bytes(364_608, column) == (1 << 20) + 2 * 364_608 * 32


# What is refused


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


def test_first_document_that_differs_is_named(folder):
    other = losses(2)
    other[3, 2] += 1
    other[5, 1] += 1
    plant(folder, other, seed=2)
    assert refused(folder).startswith(f"{path_of(2)}: document 3 has {int(other[3, 2]):,} bytes")


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


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (losses().astype(np.float32), "fixed_size_list<element: float>[3]"),
        (losses().astype(np.int64), "fixed_size_list<element: int64>[3]"),
        (losses()[:, :2], "fixed_size_list<element: double>[2]"),
        (losses()[:, 0], "double"),
    ],
)
def test_other_types_are_refused(array, found, folder):
    plant(folder, array)
    assert refused(folder) == (
        f"{path_of(1)}: has prediction of type {found}; expected fixed-size list of 3 float64"
    )


def test_document_beyond_the_split_is_refused(folder):
    plant(folder, losses(1)[:1], [SIZE])
    assert refused(folder) == f"{path_of(1)}: row 0 has index 13; validation has the indices 0 to 12"


LOG = "training/seed-1.jsonl"


def drop_log(run):
    del run["log"], run["log_sha256"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda run: run.pop("log_sha256"),
            "submission.yaml: runs[1] has 'log' but lacks 'log_sha256'",
        ),
        (lambda run: run.pop("log"), "submission.yaml: runs[1] has 'log_sha256' but lacks 'log'"),
        (
            lambda run: run.update(log="training/../log"),
            f"submission.yaml: runs[1].log is 'training/../log'; expected '{LOG}'",
        ),
        (
            lambda run: run.update(log="training/seed-0.jsonl"),
            f"submission.yaml: runs[1].log is 'training/seed-0.jsonl'; expected '{LOG}'",
        ),
        (lambda run: run.update(log=3), "submission.yaml: runs[1].log is 3; expected a text"),
        (
            lambda run: run.update(log_sha256="0" * 64),
            f"{LOG}: its SHA-256 is 49ad9c9cf59c…, but submission.yaml says 000000000000…: the file was "
            "changed or cut",
        ),
    ],
)
def test_wrong_word_on_a_log_is_refused(change, message, folder):
    edit(folder, lambda content: change(content["runs"][1]))
    found = refused(folder)
    digest = hashlib.sha256(log_text().encode()).hexdigest()
    assert found == message.replace("49ad9c9cf59c", digest[:12])


def test_run_without_a_log_is_refused(folder):
    edit(folder, lambda content: drop_log(content["runs"][1]))
    (folder / LOG).unlink()
    assert refused(folder) == (
        "submission.yaml: runs[1] lacks 'log'; c4-small-v1 takes the training log of each run"
    )


def test_log_that_no_run_names_is_refused(folder):
    edit(folder, lambda content: drop_log(content["runs"][1]))
    assert refused(folder) == f"{LOG}: isn't part of a submission; remove it"


def test_log_that_is_not_there_is_refused(folder):
    (folder / LOG).unlink()
    assert refused(folder) == f"{LOG}: the file is missing"


def test_log_that_is_a_link_is_refused(folder, tmp_path):
    shutil.move(folder / LOG, tmp_path / "elsewhere")
    (folder / LOG).symlink_to(tmp_path / "elsewhere")
    assert refused(folder) == f"{LOG}: is a link or no plain file; a submission has plain files"


def test_log_that_is_none_is_refused_with_its_line(folder):
    replace_file(folder, LOG, log_text([{"step": 1, "loss": 2}, {"step": 1, "loss": 2}]).encode())
    assert refused(folder) == f"{LOG}: line 2 has step 1; expected an integer of 2 or more, as steps ascend"


def test_large_log_is_refused(folder):
    replace_file(folder, LOG, b" " * ((1 << 22) + 1))
    assert refused(folder) == f"{LOG}: has 4,194,305 bytes; expected 4,194,304 or fewer"


def test_other_boards_take_no_logs(tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, seeds=1)
    (folder / "training").mkdir()
    (folder / "training" / "seed-0.jsonl").write_text(log_text())
    digest = hashlib.sha256(log_text().encode()).hexdigest()
    named = {"log": "training/seed-0.jsonl", "log_sha256": digest}
    edit(folder, lambda content: [run.update(named) for run in content["runs"]])
    assert refused(folder) == "submission.yaml: runs[0] has 'log'; sraven-small-v1 takes no training logs"


def test_no_seed_is_compared_with_itself():
    every = np.ones(SIZE, bool)
    check_runs(corpus_board(), "validation", [Run(5, losses(), every)])


# Writing


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
        ({"logs": {"0": "{log}"}}, "a seed of logs='0': expected an integer from 0 to"),
        ({"logs": dict.fromkeys(range(3), "{folder}/nowhere")}, "nowhere: can't be read: No such file"),
        ({"logs": dict.fromkeys(range(3), "{folder}")}, "is no plain file"),
        (
            {"logs": dict.fromkeys(range(3), "{folder}/bad")},
            "{folder}/bad: line 1 is 'x'; expected a JSON object",
        ),
        ({"predictions": [losses(), losses()[:-1]]}, "has shape [12, 3]; expected [13, 3]"),
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

    before = None
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


def test_there_are_no_references(tmp_path):
    with pytest.raises(ConfigurationError) as error:
        write_reference(tmp_path / "s", CORPUS_BOARD, "uniform-random")
    assert str(error.value) == "c4-small-v1 has no reference predictors: each would need its text"


# The standing


@pytest.fixture
def leaderboard(tmp_path):
    (tmp_path / "leaderboard").mkdir()
    return tmp_path / "leaderboard"


@pytest.fixture
def enter(leaderboard, tmp_path):
    """File an entry."""

    def enter(name, day, **options):
        folder = write_corpus(tmp_path / name, **{"method": {"name": name}, **options})
        return file_submission(folder, leaderboard, day=date(2026, 11, day))

    return enter


LAST = date(2026, 11, 30)

FINGERPRINT = fingerprint(corpus_board().labels("validation", losses()))

PINS = {corpus_board().digest: {"validation": FINGERPRINT}}


def standing_of(leaderboard, pins=PINS):
    found = read_leaderboard(leaderboard, CORPUS_BOARD, last=LAST, pins=pins)
    assert found.faults == ()
    return found.standings[0]


def entries_of(leaderboard, pins=PINS):
    return {entry.method: entry for entry in standing_of(leaderboard, pins).entries}


def bit_more(array, loss=0.97):
    """Return losses as another model has them: each other by a bit."""
    changed = array.copy()
    changed[:, 0] *= np.linspace(loss, 1.0, len(array))
    return changed


def test_filed_entry_has_its_logs(original, leaderboard):
    goal = file_submission(original, leaderboard, day=date(2026, 11, 22))
    filed = all_bytes(goal)
    assert json.loads(filed.pop("scores.json")) == score_submission(goal)
    assert filed == all_bytes(original)


def test_lowest_loss_is_first_and_self_reported(enter, leaderboard):
    enter("low", 23, predictions=[losses(seed, 0.5) for seed in range(3)])
    folder = enter("high", 22, method={"name": "high", "code_commit": "0" * 40})
    digest = hashlib.sha256((folder / "submission.yaml").read_bytes()).hexdigest()
    pin = {"submission_digest": digest, "code_commit": "0" * 40, "by": "a maintainer", "date": "2026-11-24"}
    (leaderboard / "reproduced.yaml").write_text(yaml.safe_dump({f"{CORPUS_BOARD}/20261122-high": pin}))
    found = entries_of(leaderboard)
    assert [(name, entry.rank, entry.badge) for name, entry in found.items()] == [
        ("low", 1, "self-reported"),
        ("high", 2, "reproduced"),
    ]
    low = found["low"]
    assert (low.gap, low.train_instances, low.budget, low.remark) == (None, 4_000, 5_000, "")
    assert low.fingerprint == found["high"].fingerprint == FINGERPRINT
    assert list(low.splits) == ["validation"] and low.value == low.splits["validation"]["loss"]


def test_nothing_is_ranked_before_a_fingerprint_is_pinned(enter, leaderboard):
    enter("a", 22)
    for pins in ({}, {"0" * 64: {"validation": FINGERPRINT}}):
        standing = standing_of(leaderboard, pins)
        told = f"no fingerprint of the documents of {CORPUS_BOARD} is pinned yet"
        assert standing.note.startswith(told)
        assert [(entry.rank, entry.remark) for entry in standing.entries] == [(None, standing.note)]
        assert told.removeprefix("no ") in make_page([standing])
    assert standing_of(leaderboard).note == ""


def test_entry_on_other_documents_has_no_rank_whatever_its_date(enter, leaderboard):
    other = [bit_more(losses(seed, 0.5)) for seed in range(3)]
    for array in other:
        array[0, 2] += 1
    enter("backdated", 20, predictions=other)
    enter("too long", 26, predictions=[bit_more(array) for array in other], training={"instances": 9_000})
    enter("honest", 27)
    found = entries_of(leaderboard)
    told = "its documents aren't those of the board"
    assert (found["honest"].rank, found["honest"].remark) == (1, "")
    assert (found["backdated"].rank, found["backdated"].remark) == (None, told)
    assert found["too long"].remark == f"trained on more than 5,000 tokens; {told}"


def test_loss_of_nothing_has_no_rank(enter, leaderboard):
    enter("oracle", 20, predictions=[losses(seed, 1e-9) for seed in range(3)])
    enter("honest", 27)
    found = entries_of(leaderboard)
    assert found["oracle"].rank is None and "no text is so predictable" in found["oracle"].remark
    assert found["honest"].rank == 1


def test_scores_without_a_fingerprint_are_refused(enter, leaderboard):
    folder = enter("a", 22)
    scores = json.loads((folder / "scores.json").read_text())
    del scores["splits"]["validation"]["fingerprint"]
    (folder / "scores.json").write_text(json.dumps(scores))
    [fault] = read_leaderboard(leaderboard, CORPUS_BOARD, last=LAST).faults
    assert fault.reason.startswith("scores.json: splits.validation.fingerprint isn't what the predictions")


# Pinned fingerprints


def test_fingerprints_that_this_installation_pins_are_of_its_boards():
    """None is pinned yet; one that is, is of a board that there is."""
    assert read_pins() == {}


def test_what_is_printed_to_be_pinned_is_read_back():
    text = pin_text(corpus_board(), {"validation": FINGERPRINT})
    assert parse_pins(b"# a comment\n" + text.encode()) == PINS
    assert parse_pins(b"# nothing yet\n") == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]x", "isn't YAML"),
        ("- a", "expected names and values"),
        ("c4-v1: {}", "has a name that"),
        (f"{'0' * 64}: {'1' * 64}", "expected names and values"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{}}}}", "fingerprints"),
        (f"{'0' * 64}: {{board: c4-v1, fingerprints: {{validation: abc}}}}", "64 hexadecimal digits"),
    ],
)
def test_damaged_file_of_fingerprints_is_refused(text, told):
    with pytest.raises(BoardError, match=told) as error:
        parse_pins(text.encode())
    assert str(error.value).endswith("; reinstall sraven")


def test_ranked_board_without_entries_is_shown(leaderboard):
    standings = read_leaderboard(leaderboard).standings
    assert {standing.board.id: standing.entries for standing in standings}[CORPUS_BOARD] == ()
    assert "No entries yet." in make_page(standings)
