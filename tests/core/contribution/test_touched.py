"""A pull request with an entry touches nothing else."""

import shutil

import pytest

from helpers.repositories import OURS, RIVAL, commit, git, refuse

pytestmark = pytest.mark.usefixtures("small_boards")


def _link(project):
    (project / OURS / "README.md").unlink()
    (project / OURS / "README.md").symlink_to("/etc/passwd")


def _link_for_all(project):
    shutil.rmtree(project / "docs")
    (project / "docs").symlink_to("/tmp")


def _write(path):
    return lambda project: (project / path).write_text("*.parquet diff=evil filter=evil\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda project: shutil.rmtree(project / RIVAL), rf"^{RIVAL}/README.md is removed; a submission"),
        (lambda project: (project / RIVAL).rename(project / "rival"), rf"^{RIVAL}/README.md is removed"),
        (_write(f"{RIVAL}/README.md"), rf"^{RIVAL}/README.md is changed"),
        (_write("docs/leaderboard/reproduced.yaml"), r"^docs/leaderboard/reproduced.yaml is changed"),
        (_write("program.py"), r"^program.py is changed"),
        (_write(".gitattributes"), r"^\.gitattributes isn't a file of a submission's folder"),
        (_link, rf"^{OURS}/README.md is a link"),
        (_link_for_all, r"^docs is a link|^docs/leaderboard/boards.yaml is removed"),
        (lambda project: (project / OURS / "README.md").chmod(0o755), rf"^{OURS}/README.md is executable"),
        (lambda project: shutil.copytree(project / OURS, project / f"{OURS}-2"), rf"^{OURS}-2 and {OURS} "),
    ],
)
def test_nothing_else_may_be_touched(project, entry, change, message):
    change(project)
    commit(project)
    refuse(project, message)


def test_submodule_is_refused_whatever_the_repository_says_of_it(project, entry):
    git(project, "add", "--all")
    head = git(project, "rev-parse", "HEAD")
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{head},{OURS}/predictions/more")
    git(project, "config", "diff.ignoreSubmodules", "all")
    git(project, "commit", "--quiet", "--message", "a submodule")
    refuse(project, rf"^{OURS}/predictions/more is a submodule")


@pytest.mark.parametrize(
    "path",
    ["Docs/Leaderboard/x", "docs/leader\u200dboard/x", "docs./leaderboard/x", "docs/leaderboard /x", "DOCS"],
)
def test_names_that_some_systems_take_for_the_leaderboard_are_its_own(project, path):
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text("junk")
    commit(project)
    refuse(project, "isn't a file of a submission's folder")


def test_change_of_a_merge_commit_itself_is_found(project, entry):
    """Neither parent has it: the merge took away the rival."""
    commit(project)
    git(project, "switch", "--quiet", "main")
    (project / "program.py").write_text("print('later')\n")
    commit(project)
    git(project, "switch", "--quiet", "proposal")
    git(project, "merge", "--quiet", "--no-commit", "main")
    shutil.rmtree(project / RIVAL)
    commit(project, "merged")
    refuse(project, rf"^{RIVAL}/README.md is removed")
