"""Git is asked in a way that no repository and no surroundings can turn."""

import shutil

import pytest

from helpers.repositories import OURS, RIVAL, TODAY, accept, commit, git, refuse
from sraven.core.base.errors import ChangeError
from sraven.core.contribution.change import check_change
from sraven.core.contribution.git import Repository

pytestmark = pytest.mark.usefixtures("small_boards")


@pytest.mark.parametrize("base", ["nowhere", "--help", "", "main:program.py", "0" * 40, "main\n::notice::x"])
def test_base_must_be_a_commit(project, entry, base):
    commit(project)
    refuse(project, "^git rev-parse failed: ", base)


def test_directory_must_be_a_repository(tmp_path):
    refuse(tmp_path, "^git rev-parse failed: fatal: not a git repository")


def test_histories_must_meet(project, entry, tmp_path):
    commit(project)
    git(project, "switch", "--quiet", "--orphan", "strange")
    (project / "x").write_text("x")
    commit(project)
    refuse(project, "no ancestor in common here; a shallow clone lacks it")
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-single-branch", f"file://{project}", "shallow")
    git(tmp_path / "shallow", "switch", "--quiet", "proposal")
    refuse(tmp_path / "shallow", "a shallow clone lacks it", "origin/main")


@pytest.mark.parametrize("revision", ["HEAD^{tree}", f"HEAD:{OURS}/scores.json"])
@pytest.mark.parametrize("damage", ["lost", "flipped", "other"])
def test_damaged_repository_is_refused(project, entry, revision, damage):
    commit(project)
    oid = git(project, "rev-parse", revision)
    path = project / ".git" / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    if damage == "lost":
        path.unlink()
    elif damage == "flipped":
        middle = len(data) // 2  # of a single bit, the same text may come out
        data[middle : middle + 8] = bytes(255 - value for value in data[middle : middle + 8])
        path.write_bytes(data)
    else:
        other = git(project, "hash-object", "-w", "program.py")
        shutil.copyfile(project / ".git" / "objects" / other[:2] / other[2:], path)
    refuse(project, "git .* failed" if revision == "HEAD^{tree}" else "git .* failed|damaged")


def test_tree_that_names_a_path_twice_is_refused(project, entry):
    """A checkout writes one of them, and which one is up to git."""
    commit(project)
    listing, blob = git(project, "ls-tree", "HEAD"), git(project, "rev-parse", f"HEAD:{OURS}/README.md")
    tree = git(project, "mktree", input=f"{listing}\n100644 blob {blob}\tprogram.py\n")
    git(project, "reset", "--quiet", "--soft", git(project, "commit-tree", "-p", "main", "-m", "twice", tree))
    refuse(project, "program.py: the tree names this path twice")


def test_what_the_repository_is_told_to_run_is_not_run(project, entry, tmp_path):
    """Drivers, filters, hooks and monitors of the repository, and replaced objects."""
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    (project / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager"):
        git(project, "config", key, str(evil))
    for key in ("filter.evil.clean", "filter.evil.smudge"):
        git(project, "config", key, "cat")
    git(project, "config", "core.fsmonitor", "false")
    commit(project)
    for key in ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "core.sshCommand"):
        git(project, "config", key, str(evil))
    git(project, "config", "core.hooksPath", str(tmp_path))
    rival = git(project, "rev-parse", f"main:{RIVAL}/README.md")
    git(project, "replace", rival, git(project, "hash-object", "-w", "--no-filters", str(evil)))
    assert not (tmp_path / "ran").exists()
    accept(project)
    assert not (tmp_path / "ran").exists()


def test_what_surrounds_the_command_has_no_say(project, entry, tmp_path, monkeypatch):
    commit(project)
    (tmp_path / "config").write_text("[core]\n\tbare = nonsense\n")
    for name, value in {
        "GIT_DIR": str(tmp_path),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_CONFIG_GLOBAL": str(tmp_path / "config"),
        "GIT_EXTERNAL_DIFF": str(tmp_path / "evil"),
        "GIT_TRACE": "1",
    }.items():
        monkeypatch.setenv(name, value)
    assert check_change("main", project, today=TODAY)["folder"] == OURS


def test_repository_within_a_tree_is_not_taken_for_the_project(project, entry, tmp_path):
    """A tree can hold what looks like a bare repository, configuration included."""
    inner = project / "docs" / "leaderboard" / "inner"
    git(tmp_path, "clone", "--quiet", "--bare", f"file://{project}", str(inner))
    commit(project)
    refuse(inner, "git rev-parse failed")
    refuse(project, "docs/leaderboard/inner/HEAD isn't a file of")


def test_large_answers_of_git_are_cut(project, entry):
    commit(project)
    with pytest.raises(ChangeError, match="git ls-tree says more than 100 bytes"):
        Repository(project)._ask("ls-tree", "-r", "HEAD", most=100)


def test_git_must_be_there(project, monkeypatch):
    monkeypatch.setenv("PATH", ".")
    refuse(project, "git isn't installed")
