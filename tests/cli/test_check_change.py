"""`sraven leaderboard --check-change`: exit codes and what is printed."""

import json
import subprocess

import pytest

from helpers.submissions import SRAVEN_BOARD, use_boards, write


@pytest.fixture
def project(run, monkeypatch, tmp_path):
    """A repository with a filed submission that isn't committed yet."""
    use_boards(monkeypatch, tmp_path / "boards")
    root = tmp_path / "project"
    (root / "docs" / "leaderboard").mkdir(parents=True)
    (root / "docs" / "leaderboard" / "boards.yaml").write_text("boards: []\n")
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root)
    write(tmp_path / "new", SRAVEN_BOARD)
    assert run("submit", tmp_path / "new", "--leaderboard", root / "docs" / "leaderboard")[0] == 0
    return root


def git(root, *arguments):
    identity = ("-c", "user.name=A. Author", "-c", "user.email=author@example.org")
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True)


def commit(root):
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a change")


def test_what_submit_files_may_be_merged(run, done, project):
    commit(project)
    out = done("leaderboard", "--check-change", "HEAD^", "--checkout", project)
    [line] = out.splitlines()
    assert line.startswith(f"docs/leaderboard/submissions/{SRAVEN_BOARD}/")
    assert line.endswith("-a-method: one new entry, and nothing else is touched")
    _, out, _ = run("leaderboard", "--check-change", "HEAD^", "--checkout", project, "--json")
    found = json.loads(out)
    assert line.startswith(found["folder"]) and set(found["scores"]["splits"]) == {"test", "ood"}


def test_other_changes_are_not_looked_at(run, project):
    code, out, err = run("leaderboard", "--check-change", "HEAD", "--checkout", project)
    assert (code, out, err) == (0, "nothing below docs/leaderboard is changed\n", "")


def test_refused_changes_are_one_line(refused, project):
    (project / "docs" / "leaderboard" / "boards.yaml").unlink()
    (project / "\n::notice::hello").write_text("")
    commit(project)
    err = refused("leaderboard", "--check-change", "HEAD^", "--checkout", project)
    assert err.startswith(r"error: \n::notice::hello isn't a file of") and err.count("\n") == 1


def test_failing_git_is_no_success_and_the_option_stands_alone(refused, project):
    for base in ("nowhere", "", "HEAD^^^^"):
        assert "git rev-parse" in refused("leaderboard", "--checkout", project, "--check-change", base)
    for more in (["sraven-v1"], ["--html", str(project)]):
        line = ("leaderboard", "--check-change", "HEAD", "--checkout", project, *more)
        assert "--check-change" in refused(*line)
