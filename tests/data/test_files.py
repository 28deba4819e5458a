"""`sraven verify` allows the files of a dataset and no others, opens nothing else, and ends soon."""

import json
import os
import socket

import pytest

from helpers.example import SIZES
from helpers.refusals import assert_refused
from helpers.resealing import faults, flipped, reseal
from sraven.data.verify import verify_dataset
from sraven.data.write import write_dataset
from sraven.files.files import json_text

FOLDER, SHARD = "M3-K7", "M3-K7/ood-00000-of-00001.parquet"


@pytest.mark.parametrize(
    "name",
    [
        *("README.md.tmp", "dataset_infos.json", ".huggingface.yaml", ".git/config"),
        *(".sraven-partial/journal.jsonl", "M3-K8/train-00000-of-00001.parquet", "M3-K7/.hidden"),
        *("M3-K7/more/ood.parquet", "M3-K7/ood-00000-of-00001.parquet.tmp"),
    ],
)
def test_what_is_no_part_of_the_dataset_is_refused(copy, name):
    path = copy / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    (fault,) = faults(copy)
    first = name if name.startswith(FOLDER + "/") and name.count("/") == 1 else name.rsplit("/", 1)[0]
    assert fault.startswith(f"{first}: ") and ("remove it" in fault or "--downloaded" in fault)


def test_hostile_names_cannot_play_with_the_terminal(copy):
    (copy / "a\x1b[2J\u202e\nb").touch()
    (fault,) = faults(copy)
    assert fault.startswith(r"a\x1b[2J\u202e\nb: is no part")


@pytest.mark.parametrize("name", ["README.md", "croissant.json", "manifest.json", FOLDER, SHARD])
def test_links_are_refused(copy, name):
    (copy / name).rename(copy.parent / "elsewhere")
    (copy / name).symlink_to(copy.parent / "elsewhere")
    found = faults(copy)
    assert any(name in fault and "is a link, which may lead anywhere" in fault for fault in found), found


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
@pytest.mark.parametrize("name", ["README.md", "manifest.json", SHARD, "other"])
def test_what_is_no_plain_file_is_never_opened(copy, monkeypatch, kind, name):
    (copy / name).unlink(missing_ok=True)
    monkeypatch.chdir(copy)  # paths of sockets are short
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "folder":
        os.mkdir(name)
    else:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(name)
    messages = ("is no part of the dataset",) if name == "other" else ("no plain file", "can't be read")
    assert any(name in fault and any(each in fault for each in messages) for fault in faults(copy))


def test_many_entries_and_many_missing_files_are_counted(copy):
    for number in range(70):
        (copy / f"extra-{number:02}").touch()
    found = faults(copy)
    assert [fault[:8] for fault in found[:20]] == [f"extra-{number:02}" for number in range(20)]
    assert found[20:] == ["50 more entries of the directory are no part of the dataset"]
    plan = json.loads((copy / "manifest.json").read_text())
    plan["sizes"] |= {"train": 1 << 30}
    (copy / "manifest.json").write_text(json_text(plan))
    found = faults(copy)
    assert len(found) < 70 and any("more files are missing or aren't plain" in fault for fault in found)


# Manifests


def change_text(old, new):
    return lambda text: text.replace(old, new, 1)


def change_value(name, value, *inside):
    """Return what changes an entry of a manifest, or one of its configuration."""

    def change(text):
        manifest = json.loads(text)
        (manifest["config"] if inside else manifest)[name] = value
        return json.dumps(manifest)

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: "[" * 100_000,
        lambda text: '{"layout": 1}',
        lambda text: json.dumps([[name, value] for name, value in json.loads(text).items()]),
        lambda text: text + " " * (1 << 26),
        lambda text: "\ufeff" + text,
        lambda text: text.encode("utf-16"),
        change_text('"layout": 2,', '"layout": 3, "layout": 2,'),
        change_text('"train": 3001', '"train": ' + 5000 * "3"),
        change_text('"holdout": 0.3', '"holdout": 1e999'),
        change_text('"seed": 5', f'"seed": {10**24}'),
        change_text('"seed": 5', '"seed": ' + 900 * "[" + 900 * "]"),
        *(change_value("sizes", {"train": size}) for size in (1 << 45, 3001.0, True, -1, "x")),
        *(change_value("sizes", value) for value in ([1], {}, {"dev": 5})),
        *(change_value(name, value) for name, value in (("layout", 3), ("config_name", 7), ("config", None))),
        *(change_value("pyarrow", value) for value in ("\x1b[2J", "1.2\n")),
        *(change_value("file_format", value) for value in ("zip", ["\u202e"])),
        change_value("task", "chess", "config"),
        change_value("version", "0", "config"),
        change_value("M", 99, "config"),
        change_value("depth", 1, "config"),
    ],
)
def test_manifest_beyond_what_is_allowed_is_one_clear_line(copy, change):
    path = copy / "manifest.json"
    changed = change(path.read_text())
    path.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    assert_refused("^.{,599}$", verify_dataset, copy)


@pytest.mark.parametrize(
    "change",
    [
        change_text("\n", "\n "),
        lambda text: text[:-1],
        lambda text: json.dumps(dict([*json.loads(text).items()][::-1]), indent=1) + "\n",
        change_text('"holdout": 0.3', '"holdout": 3e-1'),
        change_text("sraven", "\\u0073raven"),
    ],
)
def test_manifest_in_other_bytes_is_a_fault(copy, change):
    path = copy / "manifest.json"
    path.write_bytes(change(path.read_text()).encode())
    assert faults(copy) == [
        "manifest.json: its bytes aren't those that are written: spaces, order, or numbers"
    ]


def test_more_files_than_a_dataset_may_have_are_refused_before_anything_is_written(task, tmp_path):
    sizes = {"train": 1 << 34, "test": 1 << 34, "ood": 1 << 19}
    assert_refused("make 131,074 files; at most 65,536", write_dataset, task, sizes, tmp_path / "vast")
    assert not (tmp_path / "vast").exists()


@pytest.mark.parametrize("size", [0, 9, 1 << 30])
def test_file_of_a_size_that_cannot_be_is_not_read(copy, size):
    os.truncate(copy / SHARD, size)
    assert f"{SHARD}: it has {size:,} bytes, which 503 rows can't take" in faults(copy)


def test_changed_arrow_streams_are_found(task, tmp_path):
    write_dataset(task, SIZES, tmp_path / "raven", file_format="arrow")
    path = tmp_path / "raven" / FOLDER / "train-00000-of-00001.arrow"
    assert faults(tmp_path / "raven") == []
    data = path.read_bytes()
    for changed in (data + b"more", data[:-8], flipped(data, 500), flipped(data, -9_000)):
        path.write_bytes(changed)
        reseal(tmp_path / "raven", task)
        assert faults(tmp_path / "raven")


def test_second_opinion_is_heard(copy, monkeypatch):
    monkeypatch.setattr("sraven.record.SRAVENRows.find_faults", lambda task, split, arrays: ["nonsense"])
    assert f"{SHARD}: nonsense" in faults(copy)
