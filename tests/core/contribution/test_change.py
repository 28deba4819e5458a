"""What a pull request may do to the leaderboard, on real git repositories."""

import json
import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from helpers.submissions import (
    FUZZY_BOARD,
    SRAVEN_BOARD,
    edit,
    guesses,
    path_of,
    plant,
    predictions_file,
    small_board,
    snapshot,
    truth,
    use_boards,
    write,
)
from sraven.core.contribution.change import check_change
from sraven.core.contribution.git import Repository
from sraven.core.ground.errors import ChangeError
from sraven.core.submissions.submit import file_submission

TODAY = date(2026, 11, 25)
FILED = "docs/leaderboard/submissions"
RIVAL = f"{FILED}/{SRAVEN_BOARD}/20261121-rival"
OURS = f"{FILED}/{SRAVEN_BOARD}/20261124-a-method"

IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "A. Author"), ("EMAIL", "author@example.org"))
}


def git(repository, *arguments, **options):
    """Run git as anyone would; return what it prints."""
    environment = {**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(repository), *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, **options)
    return result.stdout.strip()


def commit(repository, message="a change"):
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", message)


@pytest.fixture(autouse=True)
def _small_boards(monkeypatch, tmp_path_factory):
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))


def _predictions(first):
    board = small_board(SRAVEN_BOARD)
    return {split: [guesses(board, split, first + seed) for seed in range(3)] for split in board.splits}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A project with a rival's entry on branch main, and a new entry; tests only read them."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, tmp_path_factory.mktemp("boards"))
        project, new = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("new")
        leaderboard = project / "docs" / "leaderboard"
        leaderboard.mkdir(parents=True)
        rival = write(new / "rival", SRAVEN_BOARD, method={"name": "Rival"}, predictions=_predictions(100))
        file_submission(rival, leaderboard, day=date(2026, 11, 21))
        (project / "program.py").write_text("print('ours')\n")
        (leaderboard / "boards.yaml").write_text("boards: []\n")
        (leaderboard / "reproduced.yaml").write_text("{}\n")
        git(project, "init", "--quiet", "--initial-branch", "main")
        commit(project, "the project")
        (new / "leaderboard").mkdir()
        entry = file_submission(
            write(new / "ours", SRAVEN_BOARD), new / "leaderboard", day=date(2026, 11, 24)
        )
        return project, entry


@pytest.fixture
def project(prepared, tmp_path):
    """A clone of the project, on a branch of its own."""
    clone = shutil.copytree(prepared[0], tmp_path / "project", symlinks=True)
    git(clone, "switch", "--quiet", "--create", "proposal")
    return clone


@pytest.fixture
def entry(prepared, project):
    """The new entry in that clone, not yet committed."""
    return shutil.copytree(prepared[1], project / OURS)


def refuse(project, message, base="main", **options):
    """Check a change; it must be refused with one line that says so."""
    with pytest.raises(ChangeError) as refused:
        check_change(base, project, today=TODAY, **options)
    text = str(refused.value)
    assert re.search(message, text), text
    assert text.isprintable() and not text.startswith("::") and "##[" not in text and len(text) < 1_100


def accept(project, folder=OURS):
    """Check a change; it must be right, and leave the checkout as it is."""
    before = snapshot(project)
    found = check_change("main", project, today=TODAY)
    assert found is not None and found["folder"] == folder
    assert found["scores"]["splits"]["ood"]["metrics"]["accuracy"]["mean"] > 0.3
    assert snapshot(project) == before


# What is allowed


def test_one_new_entry_is_right(project, entry):
    commit(project)
    accept(project)


def test_what_is_not_committed_has_no_say(project, entry):
    commit(project)
    shutil.rmtree(entry)
    (project / RIVAL / "scores.json").write_text("{}")
    (project / ".numba_config.yaml").write_text("{")
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


def test_main_may_have_moved_on(project, entry):
    commit(project)
    git(project, "switch", "--quiet", "main")
    shutil.rmtree(project / RIVAL)
    commit(project, "the rival withdraws")
    git(project, "switch", "--quiet", "proposal")
    accept(project)


def test_entry_of_another_board_may_be_bad(project, entry):
    board = small_board(FUZZY_BOARD)
    predictions = {split: [guesses(board, split, seed) for seed in range(3)] for split in board.splits}
    write(project / "new", FUZZY_BOARD, method={"name": "A method"}, predictions=predictions)
    shutil.rmtree(project / OURS)
    file_submission(project / "new", project / "docs" / "leaderboard", day=date(2026, 11, 24))
    shutil.rmtree(project / "new")
    commit(project)
    found = check_change("main", project, today=TODAY)
    assert found["folder"] == f"{FILED}/{FUZZY_BOARD}/20261124-a-method"


@pytest.mark.parametrize("path", ["program.py", "docs/leaderboard.md", "docs/leaderboards/x"])
def test_other_changes_are_not_its_concern(project, path):
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text("other\n")
    commit(project)
    assert check_change("main", project, today=TODAY) is None


def test_no_change_is_not_its_concern(project):
    commit(project)
    assert check_change("main", project, today=TODAY) is None


# What is touched besides


def _remove(project):
    shutil.rmtree(project / RIVAL)


def _rename(project):
    (project / RIVAL).rename(project / f"{RIVAL}-2")


def _rename_away(project):
    (project / RIVAL).rename(project / "rival")


def _edit(project):
    (project / RIVAL / "README.md").write_text("worse than I thought\n")


def _forge_rival(project):
    scores = json.loads((project / RIVAL / "scores.json").read_text())
    scores["splits"]["ood"]["metrics"]["accuracy"]["mean"] = 0.0
    (project / RIVAL / "scores.json").write_text(json.dumps(scores))


def _reproduce(project):
    (project / "docs/leaderboard/reproduced.yaml").write_text(f"{SRAVEN_BOARD}/20261124-a-method: by me\n")


def _mode(project):
    (project / RIVAL / "submission.yaml").chmod(0o755)


def _program(project):
    (project / "program.py").write_text("print('mine')\n")


def _new_elsewhere(project):
    (project / ".gitattributes").write_text("*.parquet diff=evil filter=evil\n")


def _attributes(project):
    (project / FILED / ".gitattributes").write_text("* -diff\n")


def _link(project):
    (project / OURS / "README.md").unlink()
    (project / OURS / "README.md").symlink_to("/etc/passwd")


def _link_for_all(project):
    shutil.rmtree(project / "docs")
    (project / "docs").symlink_to("/tmp")


def _executable(project):
    (project / OURS / "README.md").chmod(0o755)


def _submodule(project):
    head = git(project, "rev-parse", "HEAD")
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{head},{OURS}/predictions/more")


def _two(project):
    shutil.copytree(project / OURS, project / f"{OURS}-2")


def _fold(project):
    shutil.copytree(project / OURS, project / "docs/Leaderboard/submissions/x/20261124-a")


def _joined(project):
    shutil.copytree(project / OURS, project / "docs/leader\u200dboard/submissions/x/20261124-a")


def _beside(project):
    (project / FILED / SRAVEN_BOARD / "notes.txt").write_text("junk")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_remove, rf"^{RIVAL}/README.md is removed; a submission adds one folder"),
        (_rename, rf"^{RIVAL}-2/README.md|{RIVAL}/README.md is removed"),
        (_rename_away, rf"^{RIVAL}/README.md is removed"),
        (_edit, rf"^{RIVAL}/README.md is changed"),
        (_forge_rival, rf"^{RIVAL}/scores.json is changed"),
        (_reproduce, r"^docs/leaderboard/reproduced.yaml is changed"),
        (_mode, rf"^{RIVAL}/submission.yaml is changed"),
        (_program, r"^program.py is changed"),
        (_new_elsewhere, r"^\.gitattributes isn't a file of a submission's folder"),
        (_attributes, rf"^{FILED}/\.gitattributes isn't a file of a submission's folder"),
        (_link, rf"^{OURS}/README.md is a link"),
        (_link_for_all, r"^docs is a link|^docs/leaderboard/boards.yaml is removed"),
        (_executable, rf"^{OURS}/README.md is executable"),
        (_two, rf"^{OURS}-2 and {OURS} are two folders"),
        (_fold, r"^docs/Leaderboard/submissions/x/20261124-a/README.md isn't a file of"),
        (_joined, r"^docs/leader\\u200dboard/submissions/x/20261124-a/README.md isn't a file of"),
        (_beside, rf"^{FILED}/{SRAVEN_BOARD}/notes.txt isn't a file of"),
    ],
)
def test_nothing_else_may_be_touched(project, entry, change, message):
    change(project)
    commit(project)
    refuse(project, message)


def test_submodule_is_refused_whatever_the_repository_says_of_it(project, entry):
    git(project, "add", "--all")
    _submodule(project)
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


@pytest.mark.parametrize("change", [_remove, _edit, _reproduce])
def test_without_an_entry_of_its_own_neither(project, change):
    change(project)
    commit(project)
    refuse(project, "; a submission adds one folder")


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


# The folder


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("99991231-a-method", "expected a date from 2026-11-20 to 2026-11-25"),
        ("20261126-a-method", "expected a date from"),
        ("00010101-a-method", "expected a date from"),
        ("20261119-a-method", "expected a date from"),
        ("20261399-a-method", "20261399 is no date"),
        ("00000000-a-method", "00000000 is no date"),
        ("20261124-another", "the folder is called <date>-a-method"),
        ("20261124-A-Method", "expected <YYYYMMDD>-<name>"),
        ("20261124-a-method-", "expected <YYYYMMDD>-<name>"),
        ("20261124-", "expected <YYYYMMDD>-<name>"),
        ("٢٠٢٦١١٢٤-a-method", "expected <YYYYMMDD>-<name>"),
        ("a-method", "expected <YYYYMMDD>-<name>"),
        ("20261124-a\n::notice::hello", r"20261124-a\\n::notice::hello isn't the name of an entry"),
        ("20261124-a ##[warning]hello", r"20261124-a #\\x23\[warning\]hello isn't the name of an entry"),
        ("20261124-a\x1b[2K\u202e", r"20261124-a\\x1b\[2K\\u202e isn't the name of an entry"),
    ],
)
def test_name_of_the_folder(project, entry, name, message):
    entry.rename(entry.parent / name)
    commit(project)
    refuse(project, message)


def test_newline_before_a_command_of_the_runner_begins_no_line(project, entry):
    entry.rename(project / FILED / "\n::notice::hello")
    commit(project)
    refuse(project, r"\\n::notice::hello")


@pytest.mark.parametrize(
    ("board", "message"),
    [
        (FUZZY_BOARD, "isn't part of|has .* bytes|is for sraven-small-v1; file it below sraven-small-v1"),
        ("sraven-v9", "there is no board"),
        (".", "isn't a file of a submission's folder|there is no board"),
    ],
)
def test_entry_lies_below_its_board(project, entry, board, message):
    goal = project / FILED / board / entry.name
    goal.parent.mkdir(exist_ok=True)
    entry.rename(goal)
    commit(project)
    refuse(project, message)


def test_folder_that_main_has_meanwhile_is_taken(project, entry):
    commit(project)
    git(project, "switch", "--quiet", "main")
    (project / OURS).mkdir(parents=True)
    (project / OURS / "README.md").write_text("the first")
    commit(project)
    git(project, "switch", "--quiet", "proposal")
    refuse(project, rf"^{OURS} is taken by {OURS}/README.md")


# Sizes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("junk.bin", "isn't part of a submission"),
        ("predictions/ood/seed-9.npy", "isn't part of a submission"),
        ("predictions/train/seed-0.parquet", "isn't part of a submission"),
        ("training/seed-0.jsonl", "isn't part of a submission"),
        ("README.md", "has 10,485,760 bytes; expected 1,048,576 or fewer"),
        ("scores.json", "has 10,485,760 bytes; expected 4,194,304 or fewer"),
        ("submission.yaml", "has 10,485,760 bytes; expected 262,144 or fewer"),
        ("predictions/ood/seed-0.parquet", r"has 10,485,760 bytes; expected 1,0\d\d,\d{3} or fewer"),
        ("predictions/ood/seed-00.parquet", r"has 10,485,760 bytes; expected 1,0\d\d,\d{3} or fewer"),
    ],
)
def test_large_files_are_refused_before_they_are_read(project, entry, monkeypatch, name, message):
    (entry / name).parent.mkdir(exist_ok=True)
    (entry / name).write_bytes(bytes(10 << 20))
    commit(project)
    monkeypatch.setattr("sraven.core.contribution.git.Repository.blobs", None)
    refuse(project, message)


def test_what_an_earlier_commit_holds_counts(project, entry, monkeypatch):
    monkeypatch.setattr("sraven.core.contribution.change._MOST_BYTES", 1 << 20)
    (entry / "junk.bin").write_bytes(bytes(2 << 20))
    commit(project)
    (entry / "junk.bin").unlink()
    commit(project)
    refuse(project, r"the commits hold 2,\d{3},\d{3} bytes that are new; expected 1,048,576 or fewer")


# The entry itself


def test_scores_must_be_those_of_the_predictions(project, entry):
    scores = json.loads((entry / "scores.json").read_text())
    scores["splits"]["ood"]["metrics"]["accuracy"]["mean"] = 0.99
    (entry / "scores.json").write_text(json.dumps(scores))
    commit(project)
    refuse(project, r"scores.json: splits.ood.metrics.accuracy.mean isn't what the predictions score")


@pytest.mark.parametrize("name", ["scores.json", "submission.yaml", "predictions/ood/seed-1.parquet"])
def test_file_may_not_be_missing(project, entry, name):
    (entry / name).unlink()
    commit(project)
    refuse(project, name)


def _file(project, name, predictions):
    """Replace the new entry by one of these predictions."""
    shutil.rmtree(project / OURS, ignore_errors=True)
    write(project / "new", SRAVEN_BOARD, method={"name": name}, predictions=predictions)
    goal = file_submission(project / "new", project / "docs" / "leaderboard", day=date(2026, 11, 24))
    shutil.rmtree(project / "new")
    return goal


def test_copy_is_refused(project):
    _file(project, "A method", _predictions(100))
    commit(project)
    refuse(project, rf"predicts the same as {SRAVEN_BOARD}/20261121-rival, or nearly so")


def test_one_copied_seed_is_refused_however_it_is_written(project):
    predictions = _predictions(0)
    predictions["ood"][2] = _predictions(100)["ood"][1]
    _file(project, "A method", predictions)
    rival = project / RIVAL / path_of("ood", 1)
    copied = project / OURS / path_of("ood", 2)
    order = np.random.default_rng(0).permutation(len(predictions["ood"][2]))
    plant(project / OURS, predictions_file(predictions["ood"][2][order], order), "ood", 2)
    assert rival.read_bytes() != copied.read_bytes()
    (project / OURS / "scores.json").unlink()
    shutil.move(project / OURS, project / "new")
    file_submission(project / "new", project / "docs" / "leaderboard", day=date(2026, 11, 24))
    shutil.rmtree(project / "new")
    assert pq.read_table(copied).equals(pq.read_table(rival)) is False
    commit(project)
    refuse(project, rf"predicts the same as {SRAVEN_BOARD}/20261121-rival, or nearly so")


def test_entry_copied_whole_is_refused(project):
    shutil.copytree(project / RIVAL, project / FILED / SRAVEN_BOARD / "20261124-rival")
    commit(project)
    refuse(project, rf"predicts the same as {SRAVEN_BOARD}/20261121-rival, or nearly so")


def test_seeds_that_equal_each_other_are_refused(project):
    predictions = _predictions(0)
    predictions["test"][2] = predictions["test"][0]
    _file(project, "A method", predictions)
    commit(project)
    refuse(project, "seeds 0 and 2 predict the same on test; each seed is a run of its own")


def test_being_all_right_is_no_copy(project):
    board = small_board(SRAVEN_BOARD)
    right = {split: [truth(board, split)] * 3 for split in board.splits}
    first = _file(project, "First", right)
    git(project, "switch", "--quiet", "main")
    commit(project)
    git(project, "switch", "--quiet", "--create", "second")
    second = _file(project, "Second", right)
    commit(project)
    assert first.exists()
    accept(project, str(second.relative_to(project)))


def test_what_breaks_the_leaderboard_is_refused(project, entry):
    def change(content):
        content["method"]["paper"] = "javascript:alert(1)"

    edit(entry, change)
    commit(project)
    refuse(project, "submission.yaml")


# Git itself


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


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("HEAD^{tree}", "git .* failed"),
        (f"HEAD:{OURS}/README.md", "git .* failed|damaged"),
        (f"HEAD:{OURS}/scores.json", "git .* failed|damaged"),
    ],
)
@pytest.mark.parametrize("damage", ["lost", "flipped", "other"])
def test_damaged_repository_is_refused(project, entry, revision, message, damage):
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
    refuse(project, message)


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


# The workflow

WORKFLOW = Path(__file__).parents[3] / ".github" / "workflows" / "submissions.yml"


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
    assert check["working-directory"] == "${{ runner.temp }}", "never within what strangers sent"
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
