"""`sraven verify` finds what was changed, wherever it was changed."""

import numpy as np
import pytest

from helpers.example import SIZES
from helpers.resealing import reseal
from sraven import SRAVEN, ConfigurationError, OutputError
from sraven.core.dataset.write import write_dataset
from sraven.core.verification.leaks import fingerprints
from sraven.core.verification.verify import verify_dataset


def test_right_dataset_has_no_fault(dataset_directory):
    seen = []
    report = verify_dataset(dataset_directory, progress=seen.append)
    assert report.faults == []
    assert report.checked == SIZES and sum(seen) == sum(SIZES.values())
    assert set(report.shared) == {"train, test", "train, ood", "test, ood"}


@pytest.mark.parametrize(
    "name", ["README.md", "croissant.json", "manifest.json", "M3-K7/ood-00000-of-00001.parquet"]
)
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_flipped_bit_is_found(copy, name, place):
    path = copy / name
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)
    try:
        assert verify_dataset(copy).faults
    except (OutputError, ConfigurationError):
        assert name == "manifest.json"


def test_missing_and_truncated_files_are_found(copy):
    shard = copy / "M3-K7" / "test-00000-of-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-10])
    (copy / "M3-K7" / "ood-00000-of-00001.parquet").unlink()
    (copy / "croissant.json").unlink()
    found = "\n".join(verify_dataset(copy).faults)
    for fault in ("ood-00000-of-00001.parquet: the file is missing", "croissant.json: the file is missing"):
        assert fault in found
    assert "test-00000-of-00001.parquet: its bytes aren't those" in found


def test_equal_instances_of_two_splits_are_counted(tmp_path):
    write_dataset(SRAVEN(M=1, K=3, holdout=0), {"train": 5_000, "test": 700}, tmp_path / "tiny")
    report = verify_dataset(tmp_path / "tiny")
    assert report.faults == []
    assert report.shared["train, test"] > 100  # with K=3 there are only so many instances


def test_fingerprints_are_those_of_fnv_1a():
    text = np.frombuffer(b"foobar", np.uint8)[None]
    assert fingerprints([text[:, :2], text[:, 2:]]).tolist() == [0x85944171F73967E8]


# A manifest that lies, with card and Croissant file to match


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (["splits", "train", "tallies", "unique"], lambda counts: [*counts[:-1], 7]),
        (["splits", "train", "num_examples"], lambda count: 10**6),
        (["splits", "ood"], None),
        (["splits", "ood", "shards"], lambda shards: 2 * shards),
        (["splits", "ood", "shards", 0, "path"], lambda path: f"../elsewhere/{path}"),
        (["splits", "ood", "digest"], lambda digest: 64 * "0"),
        (["columns", 1, "meaning"], lambda meaning: "all the answers"),
    ],
)
def test_false_claims_of_a_manifest_are_found(copy, task, way, value):
    def change(manifest):
        for name in way[:-1]:
            manifest = manifest[name]
        old = manifest.pop(way[-1])
        if value:
            manifest[way[-1]] = value(old)

    reseal(copy, task, change)
    place = "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in way)[1:]
    found = verify_dataset(copy).faults
    assert any(place in fault for fault in found), found
