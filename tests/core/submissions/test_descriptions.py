"""The description of a submission: every fault in it is refused in one line."""

import hashlib
import shutil

import pytest

from helpers.faults import DESCRIPTION, drop, rewrite, say
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, edit, write
from sraven import ConfigurationError, SubmissionError
from sraven.core.submissions.submission import read_submission

pytestmark = pytest.mark.usefixtures("small_boards")


def description_as_link(folder):
    shutil.move(folder / "submission.yaml", folder.parent / "elsewhere.yaml")
    (folder / "submission.yaml").symlink_to(folder.parent / "elsewhere.yaml")


def digest_of_another_version(folder):
    digest = hashlib.sha256(b"another").hexdigest()
    edit(folder, lambda content: content.update(board_digest=digest))


FAULTS = {
    # The description
    "no description": (
        lambda folder: (folder / "submission.yaml").unlink(),
        DESCRIPTION + "can't be read: No su",
    ),
    "description is a link": (description_as_link, DESCRIPTION + "can't be read: Too many levels of symb"),
    "empty description": (rewrite(lambda text: b""), DESCRIPTION + "is None; expected names and values"),
    "huge": (rewrite(lambda text: text + b"#" * 300_000), "bytes; expected 262,144 or fewer"),
    "a tag": (
        rewrite(lambda text: b"x: !!python/object/apply:os.system ['touch run']\n" + text),
        "line 1: has the tag 'tag:yaml.org,2002:python/object/apply:os.system'; tags aren't allowed",
    ),
    "huge number": (rewrite(lambda text: text.replace(b"1000", b"0x" + b"F" * 6_000)), "model.parameters is"),
    # Its content
    "other schema": (say("schema", value=2), DESCRIPTION + "schema is 2; expected 1"),
    "no board": (drop("board"), DESCRIPTION + "lacks 'board'"),
    "no runs": (say("runs", value=[]), DESCRIPTION + "runs has 0 entries; expected 1 or more"),
    "a strange name": (say("evil", value=1), DESCRIPTION + "has 'evil'; expected only schema, board"),
    "used ood": (say("training", "used_ood", value=True), "training.used_ood is True; expected False"),
    "no word on ood": (drop("training", "used_ood"), "training lacks 'used_ood'"),
    "a whole float": (say("model", "parameters", value=1.0), "model.parameters is 1.0; expected a"),
    "infinite time": (say("training", "seconds", value=float("inf")), "training.seconds is"),
    "code that is a script": (
        say("method", "code", value="javascript:alert(1)"),
        "method.code is 'javascript:alert(1)'; expected an address that begins with https:// or http://",
    ),
    "no name": (say("method", "name", value=""), "method.name is empty"),
    "long name": (say("method", "name", value="x" * 201), "has 201 characters; expected 200 or fewer"),
    "name of no width": (say("method", "name", value="a\u200b"), "has U+200B (ZERO WIDTH SPACE)"),
    "family with hidden text": (say("method", "family", value="a\U000e0041"), "has U+E0041 (TAG LATIN"),
    "many packages": (
        say("environment", "packages", value={f"p{n}": "1" for n in range(501)}),
        "environment.packages has 501 entries; expected 500 or fewer",
    ),
    "a long name of a claim": (
        say("claimed", "x" * 10_000, value=1),
        DESCRIPTION + "claimed has a name that has 10,000 characters",
    ),
    # The board
    "unknown board": (say("board", value="sraven-smal-v1"), "there is no board 'sraven-smal-v1'; did you"),
    "another version": (digest_of_another_version, "the predictions are for another version of the board"),
    "other board's digest": (say("board", value=FUZZY_BOARD), f"but {FUZZY_BOARD} has"),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_refused_in_one_line(fault, message, refuse_fault):
    refuse_fault(fault, message)


@pytest.mark.parametrize("split", ["train", "test", "ood", None])
def test_hyperparameters_are_chosen_by_a_split_of_the_board(split, tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert read_submission(folder).content["training"]["selection_split"] == split


@pytest.mark.parametrize("split", ["validation", "test and OOD", "OOD", "o o d", "ood ", "none", "\u043eod"])
def test_other_splits_to_choose_by_are_refused(split, tmp_path):
    message = (
        "training.selection_split is .*; expected a split of sraven-small-v1 \\(train, test, ood\\), or null"
    )
    with pytest.raises(ConfigurationError, match=message):
        write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert not (tmp_path / "s").exists()
    folder = write(tmp_path / "s", SRAVEN_BOARD)
    edit(folder, lambda content: content["training"].update(selection_split=split))
    with pytest.raises(SubmissionError, match=message):
        read_submission(folder)
