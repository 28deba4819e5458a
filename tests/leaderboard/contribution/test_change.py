"""Changes of the leaderboard by a pull request, on real git repositories."""

import re
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from helpers.repositories import FILED, OURS, RIVAL, TODAY, accept, commit, git, predictions_from, refuse
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, path_of, plant, predictions_file, write
from sraven.board.board import board_paths
from sraven.leaderboard.contribution.change import check_change
from sraven.leaderboard.snapshot import SNAPSHOT
from sraven.leaderboard.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")


def test_what_is_not_committed_has_no_say(project, entry):
    commit(project)
    shutil.rmtree(entry)
    (project / RIVAL / "scores.json").write_text("{}")
    accept(project)


def test_several_commits_and_merges_are_one_change(project, entry):
    scores = (entry / "scores.json").read_bytes()
    (entry / "scores.json").write_text("{}")
    commit(project, "first try")
    git(project, "switch", "--quiet", "main")
    (project / "program.py").write_text("print('later')\n")
    commit(project, "main moves on")
    git(project, "switch", "--quiet", "proposal")
    git(project, "merge", "--quiet", "--no-edit", "main")
    (entry / "scores.json").write_bytes(scores)
    commit(project, "second try")
    accept(project)
    git(project, "switch", "--quiet", "--create", "merged", "main")
    git(project, "merge", "--quiet", "--no-edit", "--no-ff", "proposal")
    assert check_change("HEAD^1", project, today=TODAY)["folder"] == OURS


def test_other_changes_are_not_its_concern(project):
    for path in ("program.py", "docs/leaderboard.md", "docs/leaderboards/x"):
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text("other\n")
    commit(project)
    assert check_change("main", project, today=TODAY) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("junk.bin", "isn't part of a submission; remove it"),
        ("README.md", "has 9 files of 10,[0-9,]* bytes; expected 200 of 1,048,576 at most"),
    ],
)
def test_other_files_and_large_ones_are_refused_before_they_are_read(
    project, entry, monkeypatch, name, message
):
    (entry / name).write_bytes(bytes(10 << 20))
    commit(project)
    monkeypatch.setattr("sraven.leaderboard.contribution.change._extract", None)
    refuse(project, message, most_bytes=1 << 20)


def test_what_an_earlier_commit_holds_counts(project, entry):
    (entry / "junk.bin").write_bytes(np.random.default_rng(0).bytes(2 << 20))  # of a size that stays
    commit(project)
    (entry / "junk.bin").unlink()
    commit(project)
    refuse(
        project,
        r"the commits hold 2,\d{3},\d{3} bytes that are new; expected 1,048,576 or fewer",
        most_bytes=1 << 20,
    )


def test_one_copied_seed_is_refused_however_it_is_written(project, tmp_path):
    predictions = predictions_from(0)
    copied = predictions["ood"][2] = predictions_from(100)["ood"][1]
    order = np.random.default_rng(0).permutation(len(copied))
    folder = write(tmp_path / "new", SRAVEN_BOARD, predictions=predictions)
    plant(folder, predictions_file(copied[order], order), "ood", 2)
    goal = file_submission(folder, project / "docs" / "leaderboard", day=date(2026, 11, 24))
    assert (goal / path_of("ood", 2)).read_bytes() != (project / RIVAL / path_of("ood", 1)).read_bytes()
    commit(project)
    refuse(project, rf"predicts the same as {SRAVEN_BOARD}/20261121-rival, or nearly so")


# Nothing else is touched


def _link(project):
    (project / OURS / "README.md").unlink()
    (project / OURS / "README.md").symlink_to("/etc/passwd")


def _link_for_all(project):
    shutil.rmtree(project / "docs")
    (project / "docs").symlink_to("/tmp")


def _write(path):
    return lambda project: (project / path).write_text("*.parquet diff=evil filter=evil\n")


def _move(place):
    def change(project):
        (project / FILED / place).parent.mkdir(exist_ok=True)
        (project / OURS).rename(project / FILED / place)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda project: shutil.rmtree(project / RIVAL), rf"^{RIVAL}/README.md is removed; a submission"),
        (_write(f"{RIVAL}/README.md"), rf"^{RIVAL}/README.md is changed"),
        (_write("program.py"), r"^program.py is changed"),
        (_write(".gitattributes"), r"^\.gitattributes isn't a file of a submission's folder"),
        (_link, rf"^{OURS}/README.md is a link"),
        (_link_for_all, r"^docs is a link|^docs/leaderboard/boards.yaml is removed"),
        (lambda project: (project / OURS / "README.md").chmod(0o755), rf"^{OURS}/README.md is executable"),
        (lambda project: shutil.copytree(project / OURS, project / f"{OURS}-2"), rf"^{OURS} and {OURS}-2 "),
        (_move(f"{SRAVEN_BOARD}/99991231-a-method"), "expected a date from 2026-11-20 to 2026-11-25"),
        (_move(f"{SRAVEN_BOARD}/20261124-another"), "the folder is called <date>-a-method"),
        (_move(f"{SRAVEN_BOARD}/20261124-a ##[warning]hello"), r"a #\\x23\[warning\]hello isn't the name"),
        (_move("\n::notice::hello"), r"\\n::notice::hello"),  # would be a command of the runner
        (_move(f"{FUZZY_BOARD}/20261124-a-method"), "a-method: is for sraven-small-v1; move it below"),
        (_move("sraven-v9/20261124-a-method"), "there is no board"),
        (_move("20261124-a-method"), "isn't a file of a submission's folder"),
    ],
)
def test_a_folder_has_its_name_below_its_board_and_nothing_else_is_touched(project, entry, change, message):
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


BY_MAINTAINERS = "has a say in who is ranked: only maintainers change it"


DISGUISED = (
    *("Docs/Leaderboard/x", "docs/leader\u200dboard/x", "docs./leaderboard/x", "docs/leaderboard /x", "DOCS"),
    *("docs\\leaderboard\\x", "docs/LEADER~1/x", "docs/le3f2a~1/x", "docs/leaderboard::$INDEX_ALLOCATION/x"),
    *(".GITHUB/x", "GITHUB~1/x", "SRAVEN/Boards/x", "fuzzylogic/boards:x"),
)


def test_names_that_some_systems_take_for_a_guarded_one_are_guarded(project):
    for path in DISGUISED:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("junk")
        commit(project)
        refuse(project, BY_MAINTAINERS)
        git(project, "reset", "--quiet", "--hard", "main")


DECIDING = (
    *(
        path.relative_to(REPOSITORY)
        for path in (*board_paths().values(), *REPOSITORY.glob("*/boards/levels.yaml"))
    ),
    Path("sraven", "leaderboard", SNAPSHOT),
    *(Path("docs", "leaderboard", name) for name in ("confirmed.yaml", "boards.yaml")),
    *(Path(".github", "workflows", "submissions.yml"), Path(".ci", "plain.txt")),
)


@pytest.mark.parametrize("beside", [False, True])
def test_nothing_that_decides_ranks_is_changed_unnoticed(project, prepared, beside):
    """Neither alone, as a change of code, nor beside a submission."""
    if beside:
        shutil.copytree(prepared[1], project / OURS)
    commit(project)
    for path in {path.parent: path for path in DECIDING}.values():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("other")
        commit(project)
        refuse(project, "touches nothing else" if beside else rf"^{re.escape(str(path))} {BY_MAINTAINERS}")
        git(project, "reset", "--quiet", "--hard", "HEAD~1")
