"""Publishing and verifying on a Hub on loopback, by the commands."""

import json
import os
import shutil

import pytest

from helpers.example import all_bytes
from helpers.hub import TOKEN, Repository
from helpers.python import python
from sraven import SRAVEN, write_dataset
from sraven.core.system.files import json_text
from sraven.data.manifest import MANIFEST_LIMIT

# huggingface_hub uploads in a way that its library for HTTP would have otherwise.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=")

SIZES = {"train": 300, "test": 20, "ood": 20}
NAME = "user/raven"
URI = f"hf://datasets/{NAME}"

LOAD = """
import sys
from datasets import load_dataset
whole = load_dataset("user/raven", revision="v1")
assert {name: split.num_rows for name, split in whole.items()} == {"train": 300, "test": 20, "ood": 20}
stream = load_dataset("user/raven", split="ood", revision="v1", streaming=True)
assert [row["index"] for row in stream] == list(range(20))
from sraven import SRAVEN, to_numpy
task = SRAVEN(M=2, K=5, holdout=0.3)
assert (to_numpy(whole["train"])["context"] == task.sample("train", 0, 300).context).all()
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub") / "raven"
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3), SIZES, folder)
    return folder


def load(hub, home):
    """Load the dataset as users do, in a process that knows no other Hub."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    new = {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": TOKEN}
    return python("-c", LOAD, env={**kept, **new}, cwd=home.parent)


def published(hub, dataset):
    """Return whether all commits hold either nothing or the whole dataset, and the newest one it."""
    whole, commits = all_bytes(dataset), list(hub.repositories[NAME].commits.values())
    held = [{name: data for name, data in files.items() if name != ".gitattributes"} for files in commits]
    return all(files in ({}, whole) for files in held) and held[-1] == whole


def test_published_verified_and_loaded(hub, dataset, tmp_path):
    assert 'load_dataset("user/raven", revision="v1")' in hub.done("publish", dataset, NAME, "--tag=v1")
    assert published(hub, dataset) and len(hub.repositories[NAME].commits) == 2
    assert hub.repositories[NAME].tags == {"v1": hub.repositories[NAME].head}

    before = len(hub.requests)
    assert "all is right" in hub.done("verify", f"{URI}@v1")
    assert not [path for _, path in hub.requests[before:] if path.endswith(".parquet")]
    assert "byte for byte" in hub.done("verify", f"{URI}@v1", "--full")

    loaded = load(hub, tmp_path / "home")
    assert loaded.returncode == 0, loaded.stderr

    assert "there already" in hub.done("publish", dataset, NAME, "--tag=v1")
    assert len(hub.repositories[NAME].commits) == 2


def test_a_dry_run_verifies_and_asks_nothing(hub, dataset, tmp_path):
    code, out, err = hub.call("publish", dataset, NAME, "--dry-run")
    files = all_bytes(dataset)
    assert (code, err) == (0, "") and all(f"{len(data):,}  {name}\n" in out for name, data in files.items())
    assert out.endswith(f"{sum(map(len, files.values())):,} bytes; nothing was sent\n")
    _, out, _ = hub.call("publish", dataset, NAME, "--dry-run", "--json")
    assert json.loads(out)["files"] == {name: len(data) for name, data in files.items()}
    (shutil.copytree(dataset, tmp_path / "copy") / "README.md").write_text("hello")
    code, _, err = hub.call("publish", tmp_path / "copy", NAME, "--dry-run")
    assert code == 2 and "isn't right" in err and not hub.requests
    code, _, err = hub.call("publish", tmp_path / "copy", NAME)
    assert code == 2 and "isn't right" in err and not hub.repositories


def test_what_passes_is_tried_again_and_what_was_uploaded_isnt_sent_twice(hub, dataset):
    failures = {"/preupload/": [503], "/commit/": [502, "drop"], "/tag/": [500], "/objects/": ["drop"]}

    def fail(method, path):
        for part, left in failures.items():
            if part in path and left and "batch" not in path:
                return left.pop()
        return None

    hub.fail = fail
    hub.done("publish", dataset, NAME, "--tag=v1")
    assert not any(failures.values()) and published(hub, dataset)
    sent = [path for method, path in hub.requests if method == "PUT"]
    assert len(sent) == len(set(sent)) + 1  # the one that was dropped


def test_a_server_that_stays_down_leaves_nothing_visible(hub, dataset):
    hub.fail = lambda method, path: 503 if "/commit/" in path else None
    assert "answered HTTP 503" in hub.refused("publish", dataset, NAME)
    assert len(hub.repositories[NAME].commits) == 1
    hub.fail = lambda method, path: None
    hub.done("publish", dataset, NAME)
    assert published(hub, dataset)


def test_a_redirect_to_a_dead_host_is_one_line(hub, dataset, caplog):
    hub.done("publish", dataset, NAME)
    for at in ("/api/datasets/", "/resolve/", "/paths-info/"):
        hub.fail = lambda method, path, at=at: "http://127.0.0.1:1/nobody" if at in path else None
        for full in ((), ("--full",)):
            assert "the line to the Hub failed" in hub.refused("verify", URI, *full)
            assert not caplog.messages


def test_what_the_caller_has_to_change(hub, dataset, tmp_path):
    assert "HF_TOKEN" in hub.refused("publish", dataset, NAME, HF_TOKEN="hf_wrong")
    assert "needs a token" in hub.refused("publish", dataset, NAME, HF_TOKEN="")
    assert not hub.repositories
    hub.fail = lambda method, path: 403 if "/repos/create" in path else None
    assert "the right to write" in hub.refused("publish", dataset, NAME)
    hub.fail = lambda method, path: 422 if "/objects/" in path and "batch" not in path else None
    assert "another checksum" in hub.refused("publish", dataset, NAME)
    assert [len(each.commits) for each in hub.repositories.values()] in ([], [1])
    hub.fail = lambda method, path: None
    hub.meanwhile = lambda: hub.repositories[NAME].commit({"theirs.txt": b"!"})
    assert "somebody else changed it meanwhile" in hub.refused("publish", dataset, NAME)
    hub.meanwhile = lambda: None
    for name in ("raven", "user/raven@v1"):
        code, _, err = hub.call("publish", dataset, name)
        assert code == 2 and ("user/name" in err)
    assert "no such revision" in hub.refused("verify", f"{URI}@nowhere")
    assert "knows no such dataset" in hub.refused("verify", "hf://datasets/user/absent")


def test_files_that_are_no_part_are_named_whatever_their_name(hub, dataset):
    hub.done("publish", dataset, NAME)
    repository = hub.repositories[NAME]
    whole = repository.commits[repository.head]
    for name in (".cache/huggingface/x", ".gitattributes/x", "../x", "a\x1b[2K\nb"):
        repository.commit({**whole, name: b"!"})
        for full in ((), ("--full",)):
            code, _, err = hub.call("verify", URI, *full)
            assert code == 1 and "fault: not part of the dataset: " in err
            assert err.count("\n") == 1 and "\x1b" not in err


def refused_manifest(hub, manifest):
    """Return what is said of a repository that has a manifest alone."""
    hub.repositories[NAME] = Repository()
    hub.repositories[NAME].commit({"manifest.json": manifest})
    return hub.refused("verify", URI, "--full")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["splits", "train", "shards"], 5),
        (["splits", "train", "shards", 0, "sha256"], "\x1b[2K"),
        (["splits", "train", "tallies"], {"\n::error::": [1]}),
        (["config", "M"], "\x1b[2K\n"),
    ],
)
def test_a_strange_manifest_is_refused_in_one_line(hub, dataset, path, value):
    changed = manifest = json.loads((dataset / "manifest.json").read_text())
    for name in path[:-1]:
        changed = changed[name]
    changed[path[-1]] = value
    assert refused_manifest(hub, json_text(manifest).encode())[:-1].isprintable()


def test_what_is_no_manifest_is_refused_in_one_line(hub):
    for data in (b"<html>no</html>", b"\xff", b"[" * 9999, b"5", b" " * (MANIFEST_LIMIT + 1)):
        assert refused_manifest(hub, data)


def test_what_was_changed_on_the_hub_is_found(hub, dataset):
    hub.done("publish", dataset, NAME, "--tag=v1")
    repository = hub.repositories[NAME]
    files = dict(repository.commits[repository.head])
    shard = next(name for name in files if name.endswith(".parquet"))
    cases = {
        "not part of the dataset: loader.py": {**files, "loader.py": b"evil"},
        f"{shard} is missing": {name: data for name, data in files.items() if name != shard},
        f"{shard} has another checksum": {**files, shard: files[shard][:-1] + b"?"},
        "README.md has": {**files, "README.md": b"hello"},
    }
    for words, content in cases.items():
        repository.commit(content)
        code, _, err = hub.call("verify", URI)
        assert code == 1 and words in err, (words, err)
        hub.done("verify", f"{URI}@v1")
    repository.commit({"a.txt": b"?"})
    assert "no dataset of this benchmark" in hub.refused("verify", URI)
    assert "a tag never moves" in hub.refused("publish", dataset, NAME, "--tag=v1")


def test_another_dataset_takes_its_place_whole(hub, dataset, tmp_path):
    hub.done("publish", dataset, NAME)
    other = tmp_path / "other"
    write_dataset(SRAVEN(M=3, K=5, holdout=0.3), {"ood": 10}, other)
    hub.done("publish", other, NAME, "--tag=v2")
    repository = hub.repositories[NAME]
    held = {name: data for name, data in repository.commits[repository.head].items() if name[0] != "."}
    assert held == all_bytes(other)
