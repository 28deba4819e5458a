"""Git is asked in a way that no repository and no surroundings can turn."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from helpers.checkout import REPOSITORY
from helpers.example import all_bytes
from helpers.repositories import IDENTITY, OURS, RIVAL, TODAY, accept, commit, git, refuse
from sraven.core.base.errors import ChangeError
from sraven.core.contribution.change import check_change
from sraven.core.contribution.git import Repository
from sraven.core.contribution.propose import make_proposer

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


# A pull request for a filed entry: by a client that only notes what it is asked


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


def test_pull_request_has_one_commit_with_the_one_folder_and_may_be_merged(
    project, entry, remote, asked, hooks, tmp_path
):
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


# The workflow that checks pull requests


WORKFLOW = REPOSITORY / ".github" / "workflows" / "submissions.yml"


def test_workflow_runs_the_command_and_no_more():
    workflow = yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)  # else "on" is a truth value
    assert workflow["on"] == {"pull_request": ""}, "a filter of paths looks at 300 files and no more"
    assert workflow["permissions"] == {"contents": "read"}
    [job] = workflow["jobs"].values()
    assert "permissions" not in job and "if" not in job and int(job["timeout-minutes"]) <= 15
    assert [step["run"] for step in job["steps"] if "run" in step] == [
        "python -m pip install ./project",
        'sraven leaderboard --check-change HEAD^1 --checkout "$GITHUB_WORKSPACE/proposed"',
    ]
    [check] = [step for step in job["steps"] if "sraven" in step.get("run", "")]
    assert check["working-directory"] == "${{ runner.temp }}", "never within untrusted input"
    assert "secrets." not in WORKFLOW.read_text() and "pull_request_target" not in WORKFLOW.read_text()


def test_actions_are_pinned_by_commit_everywhere():
    for path in WORKFLOW.parent.iterdir():
        uses = re.findall(r"uses: *(.*)", path.read_text())
        for action in uses:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), (path.name, action)
        text = yaml.safe_load(path.read_text())
        for job in text["jobs"].values():
            for step in job["steps"]:
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False
