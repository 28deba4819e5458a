"""Untrusted files: plain ones, up to a limit."""

import json
import os
import socket

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fuzz.targets import DESCRIPTION
from helpers.submissions import predictions_file
from helpers.untrusted import PANEL, PANELS, RIGHT, refusal
from sraven import SubmissionError
from sraven.core.errors import BusyError
from sraven.files.schemas import find_problem
from sraven.files.untrusted import decode_predictions, list_files, parse_yaml, read_file


def test_files_are_listed_below_all_directories(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    for name in ("z", "a/y", "a/b/x", ".hidden"):
        (tmp_path / name).write_text("")
    assert list_files(tmp_path, 9) == [".hidden", "a/b/x", "a/y", "z"]
    assert "has more than 3 files" in refusal(list_files, tmp_path, 3)


def make_socket(path):
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket has to be short
    try:
        server.bind(path.name)
    finally:
        os.chdir(here)
        server.close()


SPECIAL = {
    "link to a file": lambda path: path.symlink_to("plain"),
    "link to a directory": lambda path: path.symlink_to("directory"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "fifo": os.mkfifo,
    "socket": make_socket,
}


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_special_files_are_refused(make, tmp_path):
    (tmp_path / "directory").mkdir()
    (tmp_path / "plain").write_text("secret")
    make(tmp_path / "special")
    assert refusal(list_files, tmp_path, 9).startswith("special: is a link or no plain file")
    found = refusal(read_file, tmp_path, "special", 100)
    assert found.startswith("special: ") and "secret" not in found


def test_directory_is_no_file_and_no_descriptor_is_left(tmp_path):
    (tmp_path / "x").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert refusal(read_file, tmp_path, "x", 100) == "x: is no plain file"
    assert len(os.listdir("/proc/self/fd")) == before


def test_directory_of_a_submission_may_not_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert "links aren't followed" in refusal(list_files, tmp_path / "link", 9)
    assert "links aren't followed" in refusal(list_files, tmp_path / "nowhere", 9)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_strange_names_are_printed_as_ascii(tmp_path):
    os.mkfifo(os.fsencode(tmp_path) + b"/\xff\n\x1b")
    assert refusal(list_files, tmp_path, 9).startswith(r"\udcff\n\x1b: is a link")


# The process that decodes


def test_files_are_told_apart():
    files = {
        "a": (predictions_file(PANELS[:5], [9, 8, 7, 6, 5]), 20),
        "b": (predictions_file(PANELS[:0]), 7),
        "c": (predictions_file(PANELS[3:]), 17),
    }
    found = decode_predictions(files, PANEL)
    assert list(found) == ["a", "b", "c"]
    assert found["a"][0].tolist() == [9, 8, 7, 6, 5] and np.array_equal(found["a"][1], PANELS[:5])
    assert found["b"][0].shape == (0,) and found["b"][1].shape == (0, 3)
    assert found["c"][0].tolist() == list(range(17)) and np.array_equal(found["c"][1], PANELS[3:])
    bad = {**files, "d": (predictions_file(PANELS), 19), "e": (b"", 5)}
    assert refusal(decode_predictions, bad, PANEL) == "d: declares 20 rows; the split has 19"


@pytest.fixture
def program(tmp_path):
    """A program in place of the one that decodes."""
    return tmp_path / "program.py"


@pytest.mark.parametrize(
    ("code", "size"),
    [
        ("import os; os.abort()", 9),
        ("raise SystemExit(3)", 9),
        ("", 9),
        ("import sys; sys.stdin.buffer.read(70_000)", 1 << 22),
        *((f"print('{{\"rows\": {rows}}}')", 9) for rows in (21, -1, 10**30, 5)),
    ],
)
def test_decoder_that_dies_or_was_taken_over_is_a_refusal(code, size, program):
    program.write_text(code)
    found = refusal(decode_predictions, {"x": (bytes(size), 20)}, PANEL, program=program)
    assert "x: makes the Parquet decoder fail" in found


@pytest.mark.parametrize("code", ["signal.pause()", "signal.raise_signal(signal.SIGKILL)"])
def test_decoder_that_the_machine_does_not_let_end_says_nothing_of_the_file(program, code):
    program.write_text(f"import signal; {code}")
    with pytest.raises(BusyError, match="the machine is too busy to tell"):
        decode_predictions({"x": (RIGHT, 20)}, PANEL, program=program, seconds=0.1)
    program.write_text("import signal; signal.raise_signal(signal.SIGXCPU)")  # too much processor time
    assert "x: makes the Parquet decoder fail" in refusal(
        decode_predictions, {"x": (RIGHT, 20)}, PANEL, program=program
    )


def test_decoder_that_does_not_start_says_nothing_of_the_file(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(BusyError, match="no process to decode Parquet files starts: No such file"):
        decode_predictions({"x": (RIGHT, 20)}, PANEL)


def test_decoder_imports_nothing_from_where_it_runs(monkeypatch, tmp_path):
    for name in ("numpy", "pyarrow", "json", "resource"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert len(decode_predictions({"x": (RIGHT, 20)}, PANEL)["x"][0]) == 20
    assert not (tmp_path / "taken").exists()


# YAML: read as JSON would be, or refused in one line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 'y', \"z\"]\nc: {d: null}\n", {"a": 1, "b": ["x", "y", "z"], "c": {"d": None}}),
        ("- true\n- false\n- ~\n-\n- -3\n- 0.5\n", [True, False, None, None, -3, 0.5]),
        ("a: 2026-11-21\nb: 2026-11-21T10:00:00Z\n", {"a": "2026-11-21", "b": "2026-11-21T10:00:00Z"}),
        ("a: é ∞ 中 😀\n", {"a": "é ∞ 中 😀"}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("a: 9223372036854775807\n", {"a": 2**63 - 1}),
        *((text, None) for text in ("", "\ufeff")),
    ],
)
def test_plain_yaml_is_read(text, value):
    assert parse_yaml(text.encode(), "x.yaml") == value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: !!python/object/apply:os.system ['true']", "line 1: has the tag 'tag:yaml.org,2002:python/obj"),
        (b"a: 1\nb: !!python/name:os.system x", "line 2: has the tag"),
        (b"! x", "has the tag '!'"),
        (b"%TAG ! tag:x,2000:\n---\n!a b", "has the tag 'tag:x,2000:a'"),
        (b"a: &a [1]\nb: *a\n", "line 1: has an anchor or alias; write the value out"),
        (b"a: 1\nb: 2\na: 3\n", "line 3: has 'a' twice"),
        (b"x: {a: 1, 'a': 2}\n", "line 1: has 'a' twice"),
        (b"a: 1\n---\nb: 2\n", "line 2: begins a second document; expected one"),
        (b"[" * 21 + b"]" * 21, "line 1: is nested deeper than 20"),
        *((data, "is nested deeper than 20") for data in (b"- " * 100_000, b"{a: " * 50_000)),
        (b"- a\n" * 30_000, "has more than 20,000 names and values"),
        (b"1: x\n", "line 1: has a name that is no text; put it in quotes"),
        *(
            (data, "isn't YAML in UTF-8")
            for data in (
                *(b"a: [1\n", b"\ta: 1\n", b"a: \xff\n", "a: 1\n".encode("utf-16"), b"a: \x00\n"),
                *(b"a: \x1b[31m\n", b'a: "\\UFFFFFFFF"\n', b'a: "\\U00110000"\n'),
                *(b"%YAML 3.0\n--- x", b"'\n---\n'"),
            )
        ),
        (b"a: b: c\n", "line 1: isn't YAML in UTF-8 (mapping values are not allowed"),
    ],
)
def test_yaml_beyond_json_is_refused(data, message):
    found = refusal(parse_yaml, data, "x.yaml")
    assert found.startswith("x.yaml: ") and message in found


PLACES = ("schema: 1", "parameters: 1000", "seconds: 1.5", "seed: 0", "accuracy: 0.5")


STRANGE = [
    *("1" + ":00" * 200 + ".5", "1" + ":59" * 2_000, "9" * 6_000, "0x" + "F" * 6_000, "0" + "7" * 6_000),
    *("0b" + "1" * 20_000, "1" * 6_000 + ".5", "1e999", "-1e999", ".inf", "-.inf", ".nan", "0b_", "="),
]


@pytest.mark.parametrize("number", STRANGE)
@pytest.mark.parametrize("place", PLACES)
def test_strange_numbers_are_refused_in_one_line(number, place):
    text = DESCRIPTION.decode().replace(place, f"{place.split()[0]} {number}")
    try:
        problem = find_problem(parse_yaml(text.encode(), "x.yaml"), "submission")
    except SubmissionError as error:
        problem = str(error)
    if problem is None:  # an infinite claim is a number, and differs from what is scored
        assert (place, number.strip("-")) == ("accuracy: 0.5", "1e999")
    else:
        assert problem.isprintable() and len(problem) < 300
        assert "lacks" not in problem


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc-.:#", max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_json_means_the_same_as_yaml(value):
    assert parse_yaml(json.dumps(value, ensure_ascii=False).encode(), "x.yaml") == value
