"""What strangers send is read without running it, and refused in one line."""

import json
import os
import pickle
import re
import socket
import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.parquet_forgery import (
    change_metadata,
    levels,
    page,
    put_together,
    replace_pages,
    run,
    take_apart,
)
from helpers.submissions import SAME_EVERY_TIME, lists, parquet, predictions_file
from sraven import SubmissionError
from sraven.core.tasks.task import Column
from sraven.core.untrusted import decode
from sraven.core.untrusted.read import decode_apart, list_files, most_bytes, parse_yaml, read_file
from sraven.core.untrusted.schemas import find_problem

PANEL, NUMBER = (
    Column("prediction", "uint8", (3,), "a panel"),
    Column("prediction", "float32", (), "a number"),
)

BILLION = 10**9


def refusal(function, *arguments):
    """Return the message with which something is refused; it has to be one line."""
    with pytest.raises(SubmissionError) as error:
        function(*arguments)
    message = str(error.value)
    assert message.isprintable() and len(message) < 500
    return message


# YAML


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 'y', \"z\"]\nc: {d: null}\n", {"a": 1, "b": ["x", "y", "z"], "c": {"d": None}}),
        ("- true\n- false\n- ~\n-\n- -3\n- 0.5\n", [True, False, None, None, -3, 0.5]),
        ("a: 2026-11-21\nb: 2026-11-21T10:00:00Z\n", {"a": "2026-11-21", "b": "2026-11-21T10:00:00Z"}),
        ("'<<': x\n", {"<<": "x"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("a: é ∞ 中 😀\n", {"a": "é ∞ 中 😀"}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("a: 900719925474099300\n", {"a": 900_719_925_474_099_300}),
        ("a: 9223372036854775807\n", {"a": 2**63 - 1}),
        ("", None),
    ],
)
def test_plain_yaml_is_read(text, value):
    assert parse_yaml(text.encode(), "x.yaml") == value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: !!python/object/apply:os.system ['true']", "line 1: has the tag 'tag:yaml.org,2002:python/obj"),
        (b"a: 1\nb: !!python/name:os.system x", "line 2: has the tag"),
        (b"!!str x", "line 1: has the tag 'tag:yaml.org,2002:str'; tags aren't allowed"),
        (b"! x", "has the tag '!'"),
        (b"%TAG ! tag:x,2000:\n---\n!a b", "has the tag 'tag:x,2000:a'"),
        (b"a: &a [1]\nb: *a\n", "line 1: has an anchor or alias; write the value out"),
        (b"a: *b\n", "has an anchor or alias"),
        (b"a: &a\nb: [*a, *a]\n", "has an anchor or alias"),
        (b"a: 1\nb: 2\na: 3\n", "line 3: has 'a' twice"),
        (b"x: {a: 1, 'a': 2}\n", "line 1: has 'a' twice"),
        (b"a: 1\n---\nb: 2\n", "line 2: begins a second document; expected one"),
        (b"[" * 21 + b"]" * 21, "line 1: is nested deeper than 20"),
        (b"- " * 100_000, "is nested deeper than 20"),
        (b"{a: " * 50_000, "is nested deeper than 20"),
        (b"- a\n" * 30_000, "has more than 20,000 names and values"),
        (b"[" + b"1," * 30_000 + b"]", "has more than 20,000 names and values"),
        (b"1: x\n", "line 1: has a name that is no text; put it in quotes"),
        (b"? [a]\n: x\n", "has a name that is no text"),
        (b"null: x\n", "has a name that is no text"),
        (b"a: [1\n", "isn't YAML in UTF-8"),
        (b"a: b: c\n", "line 1: isn't YAML in UTF-8 (mapping values are not allowed here)"),
        (b"\ta: 1\n", "isn't YAML in UTF-8"),
        (b"a: \xff\n", "isn't YAML in UTF-8"),
        ("a: 1\n".encode("utf-16"), "isn't YAML in UTF-8"),
        (b"a: \x00\n", "isn't YAML in UTF-8"),
        (b"a: \x1b[31m\n", "isn't YAML in UTF-8"),
        (b'a: "\\UFFFFFFFF"\n', "isn't YAML in UTF-8"),
        (b'a: "\\U00110000"\n', "isn't YAML in UTF-8"),
    ],
)
def test_yaml_beyond_json_is_refused(data, message):
    found = refusal(parse_yaml, data, "x.yaml")
    assert found.startswith("x.yaml: ") and message in found


def test_laughs_stay_few():
    text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for here, before in zip("bcdefghi", "abcdefgh", strict=True):
        text += f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n"
    assert "line 1: has an anchor or alias" in refusal(parse_yaml, text.encode(), "x.yaml")


@pytest.mark.parametrize(
    "number",
    [
        "1" + ":00" * 200 + ".5",
        "1" + ":59" * 2_000,
        "9" * 6_000,
        "0x" + "F" * 6_000,
        "0" + "7" * 6_000,
        "0b" + "1" * 20_000,
        "1e999",
        "-1e999",
        "1" * 6_000 + ".5",
        ".inf",
        "-.inf",
        ".nan",
        "0b_",
        "=",
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        "schema: {}",
        "model: {{parameters: {}}}",
        "training: {{instances: 1, extra_data: null, used_ood: false, selection_split: null, seconds: {}}}",
        "runs: [{{seed: {}, split: test, file: x, sha256: " + "0" * 64 + "}}]",
        "claimed: {{test: {{accuracy: {}}}}}",
    ],
)
def test_strange_numbers_are_refused_in_one_line(number, place):
    lines = {
        "schema": "1",
        "board": "x",
        "board_digest": '"' + "0" * 64 + '"',
        "method": "{name: a, description: b, authors: [c]}",
        "model": "{parameters: 1}",
        "training": "{instances: 1, extra_data: null, used_ood: false, selection_split: null}",
        "runs": '[{seed: 0, split: test, file: x, sha256: "' + "0" * 64 + '"}]',
    }
    name, value = place.format(number).split(": ", 1)
    text = "".join(f"{key}: {line}\n" for key, line in {**lines, name: value}.items())
    try:
        problem = find_problem(parse_yaml(text.encode(), "x.yaml"), "submission")
    except SubmissionError as error:
        problem = str(error)
    if problem is None:  # an infinite claim is a number, and differs from what is scored
        assert (name, number.strip("-")) == ("claimed", "1e999")
    else:
        assert problem.isprintable() and len(problem) < 300
        assert "lacks" not in problem


MARKS = [
    "- ",
    "\n",
    "  ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "'",
    '"',
    "|\n",
    "#",
    "---\n",
    "...\n",
    "\t",
    "\ufeff",
]
PIECES = ["a", "b: ", "&a ", "*a", "!!int ", "! ", "%YAML 1.1\n", "<<: ", "=", "é", "~", "\\U0011FFFF"]
NUMBERS = ["0x1F", "1:20:30.5", "1e5", ".nan", "0" * 30]
LINES = ["schema: 1\n", "board: x\n", "runs: [{seed: 0.0}]\n", "claimed: {a: {b: 1}}\n"]
TOKENS = st.sampled_from([*MARKS, *PIECES, *NUMBERS, *LINES])


@SAME_EVERY_TIME
@given(st.one_of(st.lists(TOKENS, max_size=40).map("".join).map(str.encode), st.binary(max_size=60)))
@example(b"\xef\xbb\xbf")
@example(b"%YAML 3.0\n--- x")
@example(b"'\n---\n'")
def test_only_refusals_leave_the_reader_of_descriptions(data):
    try:
        problem = find_problem(parse_yaml(data, "x.yaml"), "submission")
    except SubmissionError as error:
        problem = str(error)
    assert problem is not None and problem.isprintable() and len(problem) < 500


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


@SAME_EVERY_TIME
@given(JSON)
def test_json_means_the_same_as_yaml(value):
    assert parse_yaml(json.dumps(value, ensure_ascii=False).encode(), "x.yaml") == value


# Files


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


def test_file_is_read_up_to_its_limit(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert read_file(tmp_path, "x", 5) == b"12345"
    assert refusal(read_file, tmp_path, "x", 4) == "x: has 5 bytes; expected 4 or fewer"
    assert refusal(read_file, tmp_path, "y", 4) == "y: can't be read: No such file or directory"


def test_directory_of_a_submission_may_not_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert "links aren't followed" in refusal(list_files, tmp_path / "link", 9)
    assert "links aren't followed" in refusal(list_files, tmp_path / "nowhere", 9)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_strange_names_are_printed_as_ascii(tmp_path):
    os.mkfifo(os.fsencode(tmp_path) + b"/\xff\n\x1b")
    assert refusal(list_files, tmp_path, 9).startswith(r"\udcff\n\x1b: is a link")


# Parquet


PANELS = np.arange(60, dtype=np.uint8).reshape(20, 3) % 5
RIGHT = predictions_file(PANELS)


def decoded(data, column=PANEL, rows=20):
    width = column.shape[0] if column.shape else 0
    return decode.decode(data, rows, column.dtype, width)


@SAME_EVERY_TIME
@given(
    st.permutations(range(20)).flatmap(lambda order: st.integers(0, 20).map(lambda count: order[:count])),
    st.sampled_from(["none", "snappy", "gzip", "brotli", "lz4", "zstd"]),
    st.integers(1, 25),
    st.sampled_from(["1.0", "2.0"]),
    st.booleans(),
)
def test_any_way_of_writing_them_gives_the_same_predictions(order, compression, group, version, dictionary):
    options = {
        "compression": compression,
        "row_group_size": group,
        "data_page_version": version,
        "use_dictionary": dictionary,
    }
    index, panels = decoded(predictions_file(PANELS[order], order, **options))
    assert index.dtype == np.int64 and index.tolist() == list(order)
    assert panels.dtype == np.uint8 and np.array_equal(panels.reshape(-1, 3), PANELS[order])
    numbers = PANELS[:, 0].astype(np.float32) / 3
    index, found = decoded(predictions_file(numbers[order], order, **options), NUMBER)
    assert index.tolist() == list(order) and found.dtype == np.float32
    assert np.array_equal(found, numbers[order])


def table(index, prediction, **rest):
    return parquet({"index": index, "prediction": prediction, **rest})


COUNT = np.arange(20)
WIDE = np.zeros((20, 3), np.uint8)
FAULTS = {
    "index of 32 bits": (
        table(COUNT.astype(np.int32), lists(WIDE)),
        "has index of type int32; expected int64",
    ),
    "unsigned index": (table(COUNT.astype(np.uint64), lists(WIDE)), "has index of type uint64"),
    "float index": (table(COUNT.astype(float), lists(WIDE)), "has index of type double"),
    "text index": (table(pa.array(["a"] * 20), lists(WIDE)), "has index of type string"),
    "symbols of 16 bits": (
        table(COUNT, lists(WIDE.astype(np.uint16))),
        "has prediction of type fixed_size_list<element: uint16>[3]; expected fixed-size list of 3 uint8",
    ),
    "signed symbols": (table(COUNT, lists(WIDE.astype(np.int8))), "expected fixed-size list of 3 uint8"),
    "float symbols": (table(COUNT, lists(WIDE.astype(np.float32))), "expected fixed-size list of 3 uint8"),
    "true or false": (table(COUNT, lists(WIDE.astype(bool))), "expected fixed-size list of 3 uint8"),
    "longer lists": (table(COUNT, lists(np.zeros((20, 4), np.uint8))), "[4]; expected fixed-size list of 3"),
    "lists of any length": (
        table(COUNT, pa.array(WIDE.tolist(), pa.list_(pa.uint8()))),
        "has prediction of type list<element: uint8>",
    ),
    "large lists": (table(COUNT, pa.array(WIDE.tolist(), pa.large_list(pa.uint8()))), "of type large_list<"),
    "lists of lists": (table(COUNT, pa.array([[[1]]] * 20)), "has prediction of type list<"),
    "structs": (table(COUNT, pa.array([{"a": 1}] * 20)), "has prediction of type struct<"),
    "numbers": (table(COUNT, COUNT.astype(np.uint8)), "has prediction of type uint8; expected fixed-size"),
    "text": (table(COUNT, pa.array(["[1, 2, 3]"] * 20)), "has prediction of type string"),
    "a dictionary": (table(COUNT, pa.array(["a"] * 20).dictionary_encode()), "of type dictionary<"),
    "other names": (
        parquet({"i": COUNT, "p": lists(WIDE)}),
        "has the columns 'i', 'p'; expected index, pred",
    ),
    "other order": (
        parquet({"prediction": lists(WIDE), "index": COUNT}),
        "has the columns 'prediction', 'in",
    ),
    "one column": (parquet({"index": COUNT}), "has the columns 'index'; expected index, prediction"),
    "no column": (parquet({}), "has the columns ; expected index, prediction"),
    "extra column": (table(COUNT, lists(WIDE), label=lists(WIDE)), "columns 'index', 'prediction', 'label'"),
    "hundred columns": (parquet({f"\x1b{n}": COUNT for n in range(100)}), "'\\x1b0', '\\x1b1'"),
    "a row more": (predictions_file(np.zeros((21, 3), np.uint8)), "declares 21 rows; the split has 20"),
    "no index": (table(pa.array([1, 2, None]), lists(WIDE[:3])), "row 2: index is missing"),
    "no prediction": (
        table(COUNT[:2], pa.array([[1, 2, 3], None], pa.list_(pa.uint8(), 3))),
        "row 1: prediction is missing",
    ),
    "a symbol missing": (
        table(COUNT[:2], pa.array([[1, 2, 3], [1, None, 3]], pa.list_(pa.uint8(), 3))),
        "has a prediction with missing entries",
    ),
    "many row groups": (
        predictions_file(np.zeros((257, 3), np.uint8), row_group_size=1),
        "has 257 row groups; expected 256 or fewer",
    ),
}


@pytest.mark.parametrize(("data", "message"), FAULTS.values(), ids=FAULTS)
def test_other_tables_are_refused(data, message):
    rows = 300 if "row groups" in message else 20
    with pytest.raises(ValueError, match=re.escape(message)):
        decoded(data, rows=rows)


@pytest.mark.parametrize("numbers", [np.float64, np.float16, np.int32])
def test_other_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match=r"has prediction of type .*; expected float32"):
        decoded(predictions_file(COUNT.astype(numbers)), NUMBER)


def with_nested_schema(depth):
    """Return a file whose schema has groups in groups."""
    body, metadata = take_apart(RIGHT)
    root, index, *_ = metadata[2][1][1]
    groups = [{3: (5, 1), 4: (8, b"g"), 5: (5, 1)} for _ in range(depth)]
    metadata[2] = (9, (12, [root, index, *groups, {1: (5, 1), 3: (5, 1), 4: (8, b"leaf")}]))
    metadata.pop(7)
    return put_together(body, metadata)


def long_run(count):
    """Return a file whose index column has a dictionary and says one of its values many times."""
    return replace_pages(
        RIGHT,
        0,
        page(2, struct.pack("<q", 0), 1),
        page(0, levels(run(count, 1)) + b"\1" + run(count, 0), count, encoding=8),
        count,
    )


def long_list(count):
    """Return a file whose first prediction has many symbols."""
    repeated = levels(run(1, 0), run(count - 1, 1))
    return replace_pages(
        RIGHT,
        1,
        page(2, struct.pack("<i", 0), 1),
        page(0, repeated + levels(run(count, 3)) + b"\1" + run(count, 0), count, encoding=8),
        count,
    )


def large_page(size, codec):
    """Return a file with a page that says to become so many bytes."""
    return replace_pages(RIGHT, 0, b"", page(0, bytes(100), 20, uncompressed=size), 20, codec)


MEMORY = "needs more memory to decode than any submission should"
BOMBS = {
    "rows in the metadata": (change_metadata(RIGHT, ([3], BILLION)), "declares 1,000,000,000 rows"),
    "rows of the group": (
        change_metadata(RIGHT, ([4, 0, 3], BILLION)),
        "declares 20 rows, and 1,000,000,000 in its row groups",
    ),
    "a run of values": (change_metadata(long_run(BILLION), ([4, 0, 3], BILLION)), "in its row groups"),
    "a list of many symbols": (long_list(10**7), ""),
    "a page of 2 GB, Zstandard": (large_page(2**31 - 1, 6), MEMORY),
    "a page of 2 GB, gzip": (large_page(2**31 - 1, 2), MEMORY),
    "a page of less than nothing": (large_page(-1, 6), ""),
    "values of the dictionary": (replace_pages(RIGHT, 0, page(2, bytes(8), 2**31 - 1), b"", 20), ""),
    "bytes of a column": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 6], BILLION)), "bytes of data; expected"),
    "less than no rows": (change_metadata(RIGHT, ([3], -5)), "declares -5 rows, and 20 in its row groups"),
    "fewer rows than there are": (change_metadata(RIGHT, ([3], 3)), "declares 3 rows, and 20 in its row "),
    "pages beyond the file": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 11], BILLION)), ""),
    "a column of 2 GB": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 7], 2**31 - 1)), ""),
    "pages before the file": (change_metadata(RIGHT, ([4, 0, 1, 0, 3, 11], -1)), ""),
    "groups in groups": (with_nested_schema(50_000), ""),
    "metadata beyond the file": (RIGHT[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1", ""),
    "no metadata": (b"PAR1" + bytes(4) + b"PAR1", ""),
    "an encrypted file": (RIGHT[:-4] + b"PARE", ""),
    "cut": (RIGHT[:-20], ""),
    "nothing": (b"", ""),
    "magic alone": (b"PAR1", ""),
    "a pickle": (pickle.dumps([1, 2, 3]), ""),
    "an Arrow file": (b"ARROW1\0\0" + bytes(50) + b"ARROW1", ""),
}


def stored(numbers, lengths):
    """Return a file that says it holds symbols, as which these numbers of 32 bits are stored, in lists."""
    repeated = levels(*(run(1, 0) + (run(length - 1, 1) if length > 1 else b"") for length in lengths))
    values = np.asarray(numbers, "<i4").ravel()
    plain = page(0, repeated + levels(run(len(values), 3)) + values.tobytes(), len(values))
    return replace_pages(RIGHT, 1, b"", plain, len(values))


@pytest.mark.parametrize("number", [256, 257, -1, -256, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("place", [0, 31, 59])
def test_number_that_wraps_to_a_symbol_is_refused(number, place):
    numbers = PANELS.astype(np.int32).ravel()
    assert np.array_equal(decoded(stored(numbers, [3] * 20))[1].reshape(-1, 3), PANELS)
    numbers[place] = number
    message = f"row {place // 3}: prediction holds {number}, which is no uint8"
    with pytest.raises(ValueError, match=re.escape(message)):
        decoded(stored(numbers, [3] * 20))
    said = refusal(decode_apart, {"x": (stored(numbers, [3] * 20), 20)}, PANEL)
    assert said == f"x: {message}"


def test_number_that_wraps_in_a_dictionary_is_refused():
    chosen = page(
        0, levels(*[run(1, 0), run(2, 1)] * 20) + levels(run(60, 3)) + b"\1" + run(60, 0), 60, encoding=8
    )
    for number in (4, 4 + 256):
        data = replace_pages(RIGHT, 1, page(2, struct.pack("<i", number), 1), chosen, 60)
        if number == 4:
            assert set(decoded(data)[1].ravel()) == {4}
        else:
            with pytest.raises(ValueError, match="row 0: prediction holds 260, which is no uint8"):
                decoded(data)


@pytest.mark.parametrize("narrow", [np.uint8, np.uint16, np.int8, np.int16])
def test_any_narrow_type_keeps_its_numbers_and_refuses_others(narrow):
    ends = np.array([np.iinfo(narrow).min, 0, np.iinfo(narrow).max], narrow)
    column = Column("prediction", np.dtype(narrow).name, (), "a number")
    data = predictions_file(ends, compression="none", use_dictionary=False)
    assert decoded(data, column)[1].tolist() == ends.tolist()
    place = data.rindex(struct.pack("<3i", *ends)) + 8
    wrapped = data[:place] + struct.pack("<i", int(ends[-1]) + 1) + data[place + 4 :]
    with pytest.raises(ValueError, match=f"row 2: prediction holds {int(ends[-1]) + 1}, which is no "):
        decoded(wrapped, column)


def test_lists_of_other_lengths_are_refused_though_their_sum_is_right():
    with pytest.raises(ValueError, match="row 4: prediction has 2 numbers; expected 3"):
        decoded(stored(PANELS, [3, 3, 3, 3, 2, 4, *[3] * 14]))


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_metadata_that_can_not_be_rewritten_is_refused(cut):
    (length,) = struct.unpack("<I", RIGHT[-8:-4])
    start = len(RIGHT) - 8 - length
    short = RIGHT[: start + cut] + struct.pack("<I", cut) + b"PAR1"
    with pytest.raises(ValueError, match="has metadata"):
        decode.without_types(short)


def test_rewritten_metadata_says_the_same_but_for_types():
    body, before = take_apart(RIGHT)
    same, after = take_apart(decode.without_types(RIGHT))
    assert same == body and 5 in before
    before.pop(5)
    leaf = before[2][1][1][-1]
    assert leaf.pop(6) and leaf.pop(10)
    assert after == before


@pytest.mark.parametrize(("data", "message"), BOMBS.values(), ids=BOMBS)
def test_files_that_lie_are_refused(data, message):
    assert len(data) < most_bytes(20, PANEL)
    found = refusal(decode_apart, {"p/x.parquet": (data, 20)}, PANEL)
    assert found.startswith("p/x.parquet: ") and message in found


DECODING = """
import resource, sys
from pathlib import Path
from sraven.core.ground.errors import SubmissionError
from sraven.core.tasks.task import Column
from sraven.core.untrusted.read import decode_apart

for path in Path(sys.argv[1]).iterdir():
    try:
        decode_apart({path.name: (path.read_bytes(), 20)}, Column("prediction", "uint8", (3,), "a panel"))
    except SubmissionError:
        pass
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def test_files_that_lie_are_refused_with_bounded_memory(tmp_path):
    """In a process that has no other children."""
    for number, (data, _) in enumerate(BOMBS.values()):
        (tmp_path / f"{number}.parquet").write_bytes(data)
    command = [sys.executable, "-c", DECODING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) <= decode.MEMORY


def test_values_beyond_the_declared_rows_change_nothing():
    """The group says that it has twenty rows; what its page has besides isn't read, or is refused."""
    try:
        index, panels = decode_apart({"x": (long_run(BILLION), 20)}, PANEL)["x"]
    except SubmissionError:
        return
    assert index.tolist() == [0] * 20 and np.array_equal(panels, PANELS)


def test_files_are_told_apart():
    files = {
        "a": (predictions_file(PANELS[:5], [9, 8, 7, 6, 5]), 20),
        "b": (predictions_file(PANELS[:0]), 7),
        "c": (predictions_file(PANELS[3:]), 17),
    }
    found = decode_apart(files, PANEL)
    assert list(found) == ["a", "b", "c"]
    assert found["a"][0].tolist() == [9, 8, 7, 6, 5] and np.array_equal(found["a"][1], PANELS[:5])
    assert found["b"][0].shape == (0,) and found["b"][1].shape == (0, 3)
    assert found["c"][0].tolist() == list(range(17)) and np.array_equal(found["c"][1], PANELS[3:])
    bad = {**files, "d": (predictions_file(PANELS), 19), "e": (b"", 5)}
    assert refusal(decode_apart, bad, PANEL) == "d: declares 20 rows; the split has 19"


@pytest.mark.parametrize("code", ["import os; os.abort()", "raise SystemExit(3)", "", "print()"])
def test_decoder_that_dies_is_a_refusal(code, monkeypatch, tmp_path):
    (tmp_path / "dies.py").write_text(code)
    monkeypatch.setattr(decode, "__file__", str(tmp_path / "dies.py"))
    if code == "print()":
        code = "print('{\"rows\": 0}')"
        (tmp_path / "dies.py").write_text(code)
        assert len(decode_apart({"x": (RIGHT, 20)}, PANEL)["x"][0]) == 0
        assert "y: makes the Parquet decoder fail" in refusal(
            decode_apart, {"x": (RIGHT, 20), "y": (RIGHT, 20)}, PANEL
        )
        return
    assert "x: makes the Parquet decoder fail" in refusal(decode_apart, {"x": (RIGHT, 20)}, PANEL)


def test_decoder_that_dies_in_the_middle_of_a_large_file_is_a_refusal(monkeypatch, tmp_path):
    (tmp_path / "dies.py").write_text("import sys; sys.stdin.buffer.read(70_000)")
    monkeypatch.setattr(decode, "__file__", str(tmp_path / "dies.py"))
    assert "x: makes the Parquet decoder fail" in refusal(decode_apart, {"x": (bytes(1 << 22), 20)}, PANEL)


@pytest.mark.parametrize("rows", [21, -1, 10**30])
def test_decoder_that_was_taken_over_cannot_say_more_rows_than_there_are(rows, monkeypatch, tmp_path):
    (tmp_path / "lies.py").write_text(f"print('{{\"rows\": {rows}}}')")
    monkeypatch.setattr(decode, "__file__", str(tmp_path / "lies.py"))
    assert "x: makes the Parquet decoder fail" in refusal(decode_apart, {"x": (RIGHT, 20)}, PANEL)


def test_decoder_that_does_not_end_is_a_refusal(monkeypatch, tmp_path):
    (tmp_path / "waits.py").write_text("import signal; signal.pause()")
    monkeypatch.setattr(decode, "__file__", str(tmp_path / "waits.py"))
    monkeypatch.setattr(decode, "SECONDS", 0.05)
    assert "take too long to decode" in refusal(decode_apart, {"x": (RIGHT, 20)}, PANEL)


def test_decoder_imports_nothing_from_where_it_runs(monkeypatch, tmp_path):
    for name in ("numpy", "pyarrow", "json", "resource"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert len(decode_apart({"x": (RIGHT, 20)}, PANEL)["x"][0]) == 20
    assert not (tmp_path / "taken").exists()


def test_file_on_which_the_decoder_aborts_is_a_refusal():
    """A level histogram that doesn't fit the schema is a C++ exception that pyarrow 26 doesn't catch."""
    data = change_metadata(RIGHT, ([2, 1, 3], 0))
    try:
        index, _ = decode_apart({"x": (data, 20)}, PANEL)["x"]
    except SubmissionError as error:
        index = np.zeros(len(str(error).splitlines()))
    assert len(index) in (1, 20)


@SAME_EVERY_TIME
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_decoded_or_refused(data, framed):
    """In this process: only an exception comes out, of one kind or another."""
    whole = b"PAR1" + data + struct.pack("<I", len(data)) + b"PAR1"
    with pytest.raises((ValueError, OSError)):
        decoded(whole if framed else data)
