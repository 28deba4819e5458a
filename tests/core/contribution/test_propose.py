"""A pull request for a filed entry: by a client that only notes what it is asked, to a bare repository."""

import os
import subprocess

import pytest

from helpers.example import all_bytes
from helpers.repositories import IDENTITY, OURS, TODAY, git
from sraven.core.base.errors import ChangeError
from sraven.core.contribution.change import check_change
from sraven.core.contribution.propose import make_proposer

BRANCH = f"submission/{OURS.split('/')[-2]}/{OURS.split('/')[-1]}"
CLIENT = """#!/bin/sh
printf '%s\\n' "$*" >> "$ASKED"
case "$1" in
  auth) exit "${AUTH:-0}" ;;
  pr) [ -z "$REFUSE" ] || { echo "$REFUSE" >&2; exit 1; }
      echo "Creating a pull request"; echo https://example.org/pull/7 ;;
esac
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Put a client into a folder of its own, in front of all others; return what it was asked."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(CLIENT)
    (programs / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    for name, value in {**IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "asked"


@pytest.fixture
def remote(project, tmp_path):
    """A bare repository with the project's branch main, one commit ahead of the clone."""
    bare = tmp_path / "remote.git"
    git(project, "clone", "--quiet", "--bare", str(project), str(bare))
    git(bare, "symbolic-ref", "HEAD", "refs/heads/main")
    tree = git(bare, "rev-parse", "main^{tree}")
    ahead = git(bare, "commit-tree", tree, "-p", "main", "-m", "ahead")
    git(bare, "update-ref", "refs/heads/main", ahead)
    git(project, "remote", "add", "origin", str(bare))
    return bare


def state(project):
    """Return what a user would miss if it were changed: branches, index, status and files."""
    index = (project / ".git" / "index").read_bytes()
    files = {path: data for path, data in all_bytes(project).items() if not str(path).startswith(".git")}
    return (
        git(project, "for-each-ref", "refs/heads", "refs/tags"),
        git(project, "symbolic-ref", "HEAD"),
        index,
        files,
    )


def refused(project, match):
    with pytest.raises(ChangeError, match=match) as error:
        make_proposer(project / "docs" / "leaderboard")
    assert "\n" not in str(error.value)


@pytest.fixture
def hooks(project, tmp_path):
    """Hooks that leave a trace if they run."""
    for name in ("pre-push", "post-index-change", "reference-transaction", "commit-msg", "pre-commit"):
        path = project / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        path.chmod(0o755)
    return tmp_path / "ran"


def test_pull_request_has_one_commit_with_the_one_folder(project, entry, remote, asked, hooks):
    (project / "program.py").write_text("print('mine, unfinished')\n")
    before = state(project)
    address = make_proposer(project / "docs" / "leaderboard").propose(entry, "a title", "-a text")
    assert address == "https://example.org/pull/7"
    assert state(project) == before and not hooks.exists()
    assert git(remote, "log", "--format=%s|%an", f"main..{BRANCH}") == "a title|A. Author"
    assert git(remote, "rev-parse", f"{BRANCH}^") == git(remote, "rev-parse", "main")
    named = git(remote, "diff", "--name-only", "main", BRANCH).splitlines()
    assert named == sorted(f"{OURS}/{path}" for path in all_bytes(entry))
    auth, create = asked.read_text().splitlines()
    assert auth == "auth status"
    assert create == f"pr create --title=a title --body=-a text --base=main --head={BRANCH}"


def test_what_is_proposed_may_be_merged(small_boards, project, entry, remote, asked, tmp_path):
    make_proposer(project / "docs" / "leaderboard").propose(entry, "a title", "a text")
    git(tmp_path, "clone", "--quiet", "--branch", BRANCH, str(remote), "merged")
    found = check_change("origin/main", tmp_path / "merged", today=TODAY)
    assert found is not None and found["folder"] == OURS


def test_failures_leave_the_folder_and_say_how_to_go_on(project, entry, remote, asked, monkeypatch):
    proposer, before = make_proposer(project / "docs" / "leaderboard"), all_bytes(entry)
    monkeypatch.setenv("REFUSE", "no such repository\nsecond line")
    with pytest.raises(
        ChangeError, match=r"gh pr create failed: no such repository; the branch submission/.* is pushed"
    ):
        proposer.propose(entry, "a title", "a text")
    with pytest.raises(
        ChangeError, match=r"git push failed: .*is filed: commit it and open a pull request by hand"
    ):
        proposer.propose(entry, "another title", "a text")  # the branch is there, with another commit
    git(remote, "update-ref", "refs/heads/main", BRANCH)
    with pytest.raises(ChangeError, match=rf"the remote has {OURS} as it is; .* is filed"):
        proposer.propose(entry, "a title", "a text")
    remote.rename(remote.with_name("gone"))
    with pytest.raises(ChangeError, match=r"git ls-remote failed: .* is filed"):
        proposer.propose(entry, "a title", "a text")
    assert all_bytes(entry) == before


def test_without_a_client_nothing_is_proposed(project, remote, asked, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTH", "1")
    refused(project, "gh isn't logged in: run gh auth login, or leave out --pr")
    asked.parent.joinpath("programs", "gh").unlink()
    (tmp_path / "git only").mkdir()
    (tmp_path / "git only" / "git").symlink_to(subprocess.check_output(["which", "git"], text=True).strip())
    monkeypatch.setenv("PATH", str(tmp_path / "git only"))
    refused(project, "needs GitHub's command-line client, gh, which isn't installed")


def test_checkout_must_be_one_with_nothing_staged(project, entry, remote, asked, tmp_path):
    git(project, "add", str(entry))
    refused(project, "has staged changes")
    git(project, "reset", "--quiet")
    git(project, "remote", "remove", "origin")
    refused(project, "has no remote origin")
    (tmp_path / "elsewhere" / "docs" / "leaderboard").mkdir(parents=True)
    refused(tmp_path / "elsewhere", "isn't in a checkout of the project")
    (project / "other" / "docs" / "leaderboard").mkdir(parents=True)
    refused(project / "other", "isn't docs/leaderboard of its checkout")
