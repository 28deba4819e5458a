"""What a submission says of itself: every fault in it is refused in one line."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from helpers.faults import DESCRIPTION, drop, rewrite, say
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, edit, write
from sraven import ConfigurationError, SubmissionError
from sraven.core.submissions.submission import read_submission

pytestmark = pytest.mark.usefixtures("small_boards")


def description_as_link(folder):
    shutil.move(folder / "submission.yaml", folder.parent / "elsewhere.yaml")
    (folder / "submission.yaml").symlink_to(folder.parent / "elsewhere.yaml")


def description_as_fifo(folder):
    (folder / "submission.yaml").unlink()
    os.mkfifo(folder / "submission.yaml")


def description_as_directory(folder):
    (folder / "submission.yaml").unlink()
    (folder / "submission.yaml").mkdir()


def digest_of_another_version(folder):
    digest = hashlib.sha256(b"another").hexdigest()
    edit(folder, lambda content: content.update(board_digest=digest))


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n"
    for here, before in zip("bcdefghi", "abcdefgh", strict=True)
)


FAULTS = {
    # The description
    "no description": (
        lambda folder: (folder / "submission.yaml").unlink(),
        DESCRIPTION + "can't be read: No su",
    ),
    "description is a link": (description_as_link, DESCRIPTION + "can't be read: Too many levels of symb"),
    "description is a fifo": (description_as_fifo, DESCRIPTION + "is no plain file"),
    "description is a directory": (description_as_directory, DESCRIPTION + "is no plain file"),
    "empty description": (rewrite(lambda text: b""), DESCRIPTION + "is None; expected names and values"),
    "a list": (rewrite(lambda text: b"- 1\n- 2\n"), DESCRIPTION + "is [1, 2]; expected names and values"),
    "a text": (rewrite(lambda text: b"hello"), DESCRIPTION + "is 'hello'; expected names and values"),
    "not UTF-8": (rewrite(lambda text: text + b"# \xff\n"), "isn't YAML in UTF-8"),
    "not YAML": (rewrite(lambda text: b"a: [" + text), "isn't YAML in UTF-8"),
    "binary": (rewrite(lambda text: os.urandom(0) + bytes(range(256))), "isn't YAML in UTF-8"),
    "huge": (rewrite(lambda text: text + b"#" * 300_000), "bytes; expected 262,144 or fewer"),
    "a tag": (
        rewrite(lambda text: b"x: !!python/object/apply:os.system ['touch run']\n" + text),
        "line 1: has the tag 'tag:yaml.org,2002:python/object/apply:os.system'; tags aren't allowed",
    ),
    "laughs": (
        rewrite(lambda text: LAUGHS.encode() + text),
        "line 1: has an anchor or alias; write the value",
    ),
    "an alias": (rewrite(lambda text: text + b"claimed: *x\n"), "has an anchor or alias"),
    "a merge": (rewrite(lambda text: text + b"<<: {schema: 1}\n"), "has '<<'; expected only schema, board"),
    "a name twice": (rewrite(lambda text: text + b"board: other\n"), "has 'board' twice"),
    "two documents": (
        rewrite(lambda text: text + b"---\nschema: 1\n"),
        "begins a second document; expected one",
    ),
    "deep nesting": (rewrite(lambda text: b"x: " + b"[" * 5_000 + b"]" * 5_000), "is nested deeper than 20"),
    "base 60": (rewrite(lambda text: text.replace(b"1000", b"1" + b":00" * 200 + b".5")), DESCRIPTION),
    "huge number": (rewrite(lambda text: text.replace(b"1000", b"0x" + b"F" * 6_000)), "model.parameters is"),
    "no character": (rewrite(lambda text: text + b'x: "\\UFFFFFFFF"\n'), "isn't YAML in UTF-8"),
    # Its content
    "other schema": (say("schema", value=2), DESCRIPTION + "schema is 2; expected 1"),
    "no board": (drop("board"), DESCRIPTION + "lacks 'board'"),
    "no runs": (say("runs", value=[]), DESCRIPTION + "runs has 0 entries; expected 1 or more"),
    "a strange name": (say("evil", value=1), DESCRIPTION + "has 'evil'; expected only schema, board"),
    "used ood": (say("training", "used_ood", value=True), "training.used_ood is True; expected False"),
    "no word on ood": (drop("training", "used_ood"), "training lacks 'used_ood'"),
    "negative parameters": (
        say("model", "parameters", value=-1),
        "model.parameters is -1; expected 0 or more",
    ),
    "too many parameters": (
        say("model", "parameters", value=10**16),
        "model.parameters is 10000000000000000; expected 1,000,000,000,000,000 or less",
    ),
    "parameters that are true": (
        say("model", "parameters", value=True),
        "model.parameters is True; expected a",
    ),
    "half a parameter": (say("model", "parameters", value=0.5), "model.parameters is 0.5; expected a"),
    "a whole float": (say("model", "parameters", value=1.0), "model.parameters is 1.0; expected a"),
    "infinite time": (say("training", "seconds", value=float("inf")), "training.seconds is"),
    "time that is no number": (say("training", "seconds", value=float("nan")), "training.seconds is"),
    "code that is a script": (
        say("method", "code", value="javascript:alert(1)"),
        "method.code is 'javascript:alert(1)'; expected an address that begins with https:// or http://",
    ),
    "paper in a file": (
        say("method", "paper", value="file:///etc/passwd"),
        "method.paper is 'file:///etc/pa",
    ),
    "address in quotes": (say("method", "code", value="https://x.org/'onclick="), "method.code is"),
    "address with line end": (
        say("method", "code", value="https://x.org\n"),
        "method.code is 'https://x.org\\n'",
    ),
    "address with space": (say("method", "code", value="https://x.org/a b"), "method.code is"),
    "no authors": (say("method", "authors", value=[]), "method.authors has 0 entries; expected 1 or more"),
    "author that is a list": (
        say("method", "authors", value=[["A"]]),
        "method.authors[0] is ['A']; expected a",
    ),
    "no name": (say("method", "name", value=""), "method.name is empty"),
    "long name": (
        say("method", "name", value="x" * 201),
        "method.name has 201 characters; expected 200 or fewer",
    ),
    "name with escape": (say("method", "name", value="\x1b[31mred"), "method.name is '\\x1b[31mred'"),
    "name that runs backwards": (say("method", "name", value="a\u202eb"), "method.name is 'a\\u202eb'"),
    "name with line end": (say("method", "name", value="a\nb"), "method.name is 'a\\nb'"),
    "name that is blank": (
        say("method", "name", value=" "),
        "method.name is ' ', which is blank; expected",
    ),
    "name of no width": (
        say("method", "name", value="a\u200b"),
        "method.name is 'a\\u200b', which has U+200B (ZERO WIDTH SPACE), which can't be seen",
    ),
    "name that shows as nothing": (say("method", "name", value="\u3164"), "has U+3164 (HANGUL FILLER)"),
    "name with marks that pile up": (
        say("method", "name", value="a" + "\u0301" * 50),
        "has more than 3 combining marks in a row",
    ),
    "family with hidden text": (say("method", "family", value="a\U000e0041"), "has U+E0041 (TAG LATIN"),
    "author who hides": (say("method", "authors", value=["A", "B\u2060"]), "method.authors[1] is 'B\\u2060'"),
    "description with another end": (
        say("method", "description", value="a\x85b"),
        "method.description is 'a\\x85b', which has U+0085, which",
    ),
    "address with a user": (
        say("method", "code", value="https://github.com@evil.example"),
        "method.code is 'https://github.com@evil.example'; expected an address that begins with https://",
    ),
    "address with a port": (say("method", "code", value="https://github.com:443/x"), "without user name,"),
    "address with other letters": (
        say("method", "paper", value="https://g\u0456thub.com"),
        "method.paper is",
    ),
    "address of a machine": (say("method", "code", value="http://127.0.0.1/"), "a plain host"),
    "name that is no character": (rewrite(lambda text: text.replace(b"A method", b'"\\ud800"')), "name"),
    "many packages": (
        say("environment", "packages", value={f"p{n}": "1" for n in range(501)}),
        "environment.packages has 501 entries; expected 500 or fewer",
    ),
    "a long strange name": (say("x" * 10_000, value=1), DESCRIPTION + "has 'xxx"),
    "a long name of a claim": (
        say("claimed", "x" * 10_000, value=1),
        DESCRIPTION + "claimed has a name that has 10,000 characters",
    ),
    # The board
    "unknown board": (
        say("board", value="sraven-smal-v1"),
        "there is no board 'sraven-smal-v1'; did you mean srav",
    ),
    "board by path": (say("board", value="../sraven-small-v1"), "there is no board '../sraven-small-v1'"),
    "another version": (digest_of_another_version, "the predictions are for another version of the board"),
    "digest in capitals": (
        lambda folder: edit(folder, lambda content: content.update(board_digest="A" * 64)),
        "board_digest is 'AAA",
    ),
    "other board's digest": (
        say("board", value=FUZZY_BOARD),
        f"but {FUZZY_BOARD} has",
    ),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_refused_in_one_line(fault, message, folder, refuse):
    other = fault(folder)
    found = refuse(other if isinstance(other, Path) else folder)
    assert message in found
    assert (
        found.startswith((DESCRIPTION, "predictions/", str(folder), "there is no board")) or ": is" in found
    )
    assert not Path("run").exists()


@pytest.mark.parametrize("split", ["train", "test", "ood", None])
def test_hyperparameters_are_chosen_by_a_split_of_the_board(split, tmp_path):
    folder = write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert read_submission(folder).content["training"]["selection_split"] == split


@pytest.mark.parametrize("split", ["validation", "test and OOD", "OOD", "o o d", "ood ", "none", "\u043eod"])
def test_other_splits_to_choose_by_are_refused(split, tmp_path):
    told = (
        "training.selection_split is .*; expected a split of sraven-small-v1 \\(train, test, ood\\), or null"
    )
    with pytest.raises(ConfigurationError, match=told):
        write(tmp_path / "s", SRAVEN_BOARD, training={"selection_split": split})
    assert not (tmp_path / "s").exists()
    folder = write(tmp_path / "s", SRAVEN_BOARD)
    edit(folder, lambda content: content["training"].update(selection_split=split))
    with pytest.raises(SubmissionError, match=told):
        read_submission(folder)
