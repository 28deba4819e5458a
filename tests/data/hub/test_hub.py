"""Publishing datasets and verifying them on a Hub in memory, by the commands."""

import shutil

import pytest
from huggingface_hub import errors

from helpers.example import all_bytes
from helpers.hub import failure
from helpers.refusals import assert_refused
from sraven import SRAVEN, OutputError, write_dataset
from sraven.core.errors import HubError
from sraven.data.hub import Place, in_one_line, read_place

SIZES = {"train": 300, "test": 20, "ood": 20}
NAME = "user/raven"
URI = f"hf://datasets/{NAME}"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub") / "raven"
    write_dataset(SRAVEN(M=2, K=5, holdout=0.3), SIZES, folder)
    return folder


def published(hub, dataset):
    """Return whether all commits hold either nothing or the whole dataset, and the newest one it."""
    whole, commits = all_bytes(dataset), list(hub.repositories[NAME].commits.values())
    held = [{name: data for name, data in files.items() if name != ".gitattributes"} for files in commits]
    return all(files in ({}, whole) for files in held) and held[-1] == whole


def test_published_and_verified(hub, dataset):
    assert 'load_dataset("user/raven", revision="v1")' in hub.done("publish", dataset, NAME, "--tag=v1")
    assert published(hub, dataset) and len(hub.repositories[NAME].commits) == 2
    assert hub.repositories[NAME].tags == {"v1": hub.repositories[NAME].head}
    assert "byte for byte" in hub.done("verify", f"{URI}@v1")
    assert "there already" in hub.done("publish", dataset, NAME, "--tag=v1")
    assert len(hub.repositories[NAME].commits) == 2


def test_what_is_not_right_is_not_published(hub, dataset, tmp_path):
    (shutil.copytree(dataset, tmp_path / "copy") / "README.md").write_text("hello")
    assert "isn't right" in hub.refused("publish", tmp_path / "copy", NAME)
    assert not hub.requests


def test_a_server_that_stays_down_leaves_nothing_visible(hub, dataset):
    hub.fail = lambda method, file: 503 if method == "create_commit" else None
    code, _, err = hub.call("publish", dataset, NAME)
    assert code == 2 and "answered HTTP 503" in err
    assert len(hub.repositories[NAME].commits) == 1
    hub.fail = lambda method, file: None
    hub.done("publish", dataset, NAME)
    assert published(hub, dataset)


def test_what_the_caller_has_to_change(hub, dataset, monkeypatch):
    for name in ("raven", "user/raven@v1"):
        assert "user/name" in hub.refused("publish", dataset, name)
    assert "no such revision" in (hub.done("publish", dataset, NAME) and hub.refused("verify", f"{URI}@v9"))
    hub.meanwhile = lambda: hub.repositories[NAME].commit({"theirs.txt": b"!"})
    assert "somebody else changed it meanwhile" in hub.refused("publish", dataset, NAME)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    assert "needs a token" in hub.refused("publish", dataset, NAME)


def test_what_is_on_the_hub_is_found(hub, dataset):
    hub.done("publish", dataset, NAME, "--tag=v1")
    repository = hub.repositories[NAME]
    files = dict(repository.commits[repository.head])
    shard = next(name for name in files if name.endswith(".parquet"))
    cases = {
        "loader.py": {**files, "loader.py": b"evil"},
        shard: {**files, shard: files[shard][:-1] + b"?"},
        "README.md": {**files, "README.md": b"hello"},
    }
    for name, content in cases.items():
        repository.commit(content)
        code, _, err = hub.call("verify", URI)
        assert code == 1 and name in err
    repository.commit({"a.txt": b"?"})
    assert "has no manifest.json" in hub.refused("verify", URI)
    assert "a tag never moves" in hub.refused("publish", dataset, NAME, "--tag=v1")


def test_what_an_earlier_download_left_is_not_what_the_hub_has(hub, dataset):
    hub.done("publish", dataset, NAME, "--tag=v1")
    repository = hub.repositories[NAME]
    hub.cached = dict(repository.commits[repository.head])
    repository.commit({**hub.cached, "README.md": b"broken"})
    code, _, err = hub.call("verify", URI)
    assert code == 1 and "README.md" in err
    hub.cached |= {"README.md": b"of yesterday", "manifest.json": b"{}"}
    assert "all is right" in hub.done("verify", f"{URI}@v1")


def test_where_files_would_be_left_out_nothing_is_published(hub, dataset):
    hub.done("publish", dataset, NAME)
    repository = hub.repositories[NAME]
    ignoring = repository.commit({".gitignore": b"*.parquet", "theirs.txt": b"!"})
    assert "has .gitignore, by which the Hub leaves files out" in hub.refused("publish", dataset, NAME)
    assert repository.head == ignoring


def test_certificates_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    with pytest.raises(OutputError, match="SSL_CERT_FILE='/nowhere': No such file"), in_one_line(*VERIFYING):
        raise FileNotFoundError(2, "No such file or directory")


def test_what_has_no_room_isnt_downloaded(hub, dataset, monkeypatch):
    hub.done("publish", dataset, NAME)
    before = shutil.disk_usage("/")
    monkeypatch.setattr("sraven.data.hub.shutil.disk_usage", lambda folder: before._replace(free=1000))
    assert "has room for 1,000" in hub.refused("verify", URI)
    assert hub.requests[-1][0] == "dataset_info"


def test_another_dataset_takes_its_place_whole(hub, dataset, tmp_path):
    hub.done("publish", dataset, NAME)
    other = tmp_path / "other"
    write_dataset(SRAVEN(M=3, K=5, holdout=0.3), {"ood": 10}, other)
    hub.done("publish", other, NAME, "--tag=v2")
    repository = hub.repositories[NAME]
    held = {name: data for name, data in repository.commits[repository.head].items() if name[0] != "."}
    assert held == all_bytes(other)
    assert "a tag never moves" in hub.refused("publish", dataset, NAME, "--tag=v2")
    assert repository.tags == {"v2": repository.head}


def test_places():
    assert read_place("user/name") == read_place("hf://datasets/user/name") == Place("user/name")
    assert str(read_place("user/name@v1")) == "hf://datasets/user/name@v1"
    texts = "name a/b/c hf://datasets/a a/b@ ../b a/b@../c a/b@c% hf://models/a/b"
    for text in (*texts.split(), "a/b\n", "a/b@c d"):
        assert_refused("names no dataset on the Hub", read_place, text, error=OutputError)


VERIFYING = Place(NAME), "verifying"
LINE = errors.HfHubHTTPError.__bases__[0]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (failure(401), OutputError, "HF_TOKEN"),
        (failure(403), OutputError, "the right to write"),
        (failure(422), OutputError, "another checksum"),
        (failure(404, errors.RepositoryNotFoundError), OutputError, "knows no such dataset"),
        (failure(500), HubError, "HTTP 500"),
        (LINE("gone\nwith the wind"), HubError, r"failed \(gone\)"),
        (RuntimeError("upload"), HubError, "HTTP 502"),
        (OSError(28, "No space left on device"), OSError, "No space"),
        (failure(403, said="You have exceeded your storage limit"), OutputError, "no room .* storage limit"),
        (failure(403, said="Forbidden: no rights"), OutputError, r"isn't allowed .*Forbidden: no rights"),
        (failure(413, said="Private quota reached"), OutputError, "no room for it"),
        (failure(429, said="rate limit"), HubError, "HTTP 429: rate limit"),
        (failure(400, said="odd\nrequest"), HubError, "HTTP 400: odd"),
        (ValueError("Expecting value: line 1"), HubError, "isn't the Hub .*HF_ENDPOINT"),
        (KeyError("id"), HubError, r"isn't the Hub \(KeyError: 'id'\)"),
        (errors.FileMetadataError("no ETag"), HubError, "isn't the Hub .*no ETag"),
        (RuntimeError("CAS service error"), HubError, "HF_HUB_DISABLE_XET=1"),
        (errors.HFValidationError("Cannot have -- in it"), OutputError, "takes no such name"),
        (errors.LocalEntryNotFoundError("metadata"), HubError, "isn't the Hub"),
    ],
)
def test_what_goes_wrong_is_one_line(error, kind, words):
    causes = {"upload": failure(502), "metadata": errors.FileMetadataError("no ETag")}
    error.__cause__ = causes.get(str(error))
    with pytest.raises(kind, match=words) as found, in_one_line(*VERIFYING):
        raise error
    assert "\n" not in str(found.value)
