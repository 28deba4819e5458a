"""A Hub in memory, in place of huggingface_hub: commits, tags, downloads.

Calls are checked against the signatures of the library. Commits are kept whole, so that tests can ask what
anybody could ever have seen.
"""

import hashlib
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
from huggingface_hub import CommitOperationAdd, errors

TOKEN = "hf_of_the_tests"


class Repository:
    """Commits, each a dictionary of contents by name, and tags."""

    def __init__(self):
        self.commits, self.tags = {}, {}
        self.head = self.commit({".gitattributes": b"*.parquet filter=lfs\n"})

    def commit(self, files):
        names = "".join(f"{name}{hashlib.sha1(data).hexdigest()}" for name, data in sorted(files.items()))
        self.head = hashlib.sha1(f"{names}{len(self.commits)}".encode()).hexdigest()
        self.commits[self.head] = dict(files)
        return self.head


def failure(status, kind=errors.HfHubHTTPError, said=None):
    response = SimpleNamespace(status_code=status, headers={}, request=None)
    return kind("as the test wants it", response=response, server_message=said)


class Hub:
    """The state of the service, and what it was asked.

    Attributes:
        repositories: by name.
        requests: the method of each, and which file it was about, if any.
        fail: returns a status to fail with, given a method and a file; None for none.
        meanwhile: is called before a commit is looked at.
        cached: contents by name that the library has from earlier: what asks its usual cache gets these.
    """

    def __init__(self):
        self.repositories, self.requests = {}, []
        self.fail = lambda method, file: None
        self.meanwhile = lambda: None
        self.cached = {}

    def install(self, monkeypatch):
        """Take the place of the library's client."""
        api = SimpleNamespace(
            **{
                name: self._checked(name, method, getattr(huggingface_hub.HfApi, name), (None,))
                for name, method in _METHODS.items()
            }
        )
        monkeypatch.setattr("huggingface_hub.HfApi", lambda: api)
        real = huggingface_hub.snapshot_download
        download = self._checked("snapshot_download", Hub.snapshot_download, real, ())
        monkeypatch.setattr("huggingface_hub.snapshot_download", download)

    def _checked(self, name, method, real, owner):
        def call(*arguments, **named):
            asked = signature(real).bind(*owner, *arguments, **named)
            asked.apply_defaults()
            asked = SimpleNamespace(**asked.arguments)
            file = getattr(asked, "filename", None)
            self.requests.append((name, file))
            if status := self.fail(name, file):
                raise failure(status)
            return method(self, asked)

        return call

    def _files(self, asked):
        if asked.repo_id not in self.repositories:
            raise failure(404, errors.RepositoryNotFoundError)
        repository = self.repositories[asked.repo_id]
        revision = getattr(asked, "revision", None) or repository.head
        commit = repository.tags.get(revision, revision)
        if commit not in repository.commits:
            raise failure(404, errors.RevisionNotFoundError)
        return repository, commit, repository.commits[commit]

    def create_repo(self, asked):
        assert asked.exist_ok
        self.repositories.setdefault(asked.repo_id, Repository())

    def info(self, asked):
        _, commit, files = self._files(asked)
        siblings = [SimpleNamespace(rfilename=name, size=len(data)) for name, data in files.items()]
        return SimpleNamespace(sha=commit, siblings=siblings)

    def list_repo_refs(self, asked):
        tags = self._files(asked)[0].tags.items()
        return SimpleNamespace(
            tags=[SimpleNamespace(name=name, target_commit=commit) for name, commit in tags]
        )

    def create_commit(self, asked):
        self.meanwhile()
        repository, head, before = self._files(asked)
        if asked.parent_commit != head:
            raise failure(412)
        files = dict(before)
        for each in asked.operations:
            if isinstance(each, CommitOperationAdd):
                with each.as_file() as file:
                    files[each.path_in_repo] = file.read()
            else:
                del files[each.path_in_repo]
        return SimpleNamespace(oid=head if files == before else repository.commit(files))

    def create_tag(self, asked):
        self._files(asked)[0].tags[asked.tag] = asked.revision

    def hf_hub_download(self, asked):
        _, _, files = self._files(asked)
        return self._write(Path(asked.local_dir), asked.filename, self._with_cached(files, asked))

    def _with_cached(self, files, asked):
        return files if asked.cache_dir else files | self.cached

    def snapshot_download(self, asked):
        for name in self._files(asked)[2].keys() - set(asked.ignore_patterns):
            self._write(Path(asked.local_dir), name, self._with_cached(self._files(asked)[2], asked))

    def _write(self, folder, name, files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(files[name])
        return str(folder / name)


_METHODS = {
    **dict.fromkeys(("repo_info", "dataset_info"), Hub.info),
    **{name: getattr(Hub, name) for name in ("create_repo", "list_repo_refs", "create_commit", "create_tag")},
    "hf_hub_download": Hub.hf_hub_download,
}
