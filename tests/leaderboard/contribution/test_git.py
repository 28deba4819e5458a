"""Git is asked in a way that no repository and no surroundings can turn."""

import re
import shutil

import pytest
import yaml

from helpers.checkout import REPOSITORY
from helpers.repositories import FILED, OURS, RIVAL, TODAY, accept, commit, git, refuse
from sraven.leaderboard.contribution.change import check_change
from sraven.leaderboard.history import filing_order

pytestmark = pytest.mark.usefixtures("small_boards")


def test_base_must_be_a_commit_of_a_repository(project, entry, tmp_path):
    commit(project)
    for base in ("nowhere", "--help", "", "main:program.py", "0" * 40, "main\n::notice::x"):
        refuse(project, "^git rev-parse failed: ", base)
    refuse(tmp_path, "^git rev-parse failed: fatal: not a git repository")


def test_base_must_be_part_of_what_is_checked(project, entry, tmp_path):
    commit(project)
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-single-branch", f"file://{project}", "shallow")
    git(tmp_path / "shallow", "switch", "--quiet", "proposal")
    refuse(tmp_path / "shallow", r"isn't part of what is checked; .* --unshallow", "origin/main")
    git(project, "switch", "--quiet", "--orphan", "strange")
    (project / "x").write_text("x")
    commit(project)
    refuse(project, "main isn't part of what is checked; merge it first")


def test_tree_that_names_a_path_twice_is_refused(project, entry):
    """A checkout writes one of them, and which one is up to git."""
    commit(project)
    listing, blob = git(project, "ls-tree", "HEAD"), git(project, "rev-parse", f"HEAD:{OURS}/README.md")
    tree = git(project, "mktree", input=f"{listing}\n100644 blob {blob}\tprogram.py\n")
    git(project, "reset", "--quiet", "--soft", git(project, "commit-tree", "-p", "main", "-m", "twice", tree))
    refuse(project, "^program.py: the tree names")


def test_objects_are_read_as_they_are(project, entry, tmp_path):
    """No filter is run, and no replaced object counts."""
    commit(project)
    (project / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    for key in ("diff.evil.textconv", "diff.external", "filter.evil.smudge", "core.fsmonitor"):
        git(project, "config", key, f"touch {tmp_path}/ran; cat")
    rival = git(project, "rev-parse", f"main:{RIVAL}/README.md")
    git(project, "replace", rival, git(project, "rev-parse", "main:program.py"))
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


def test_the_main_line_says_what_was_there_first(project, entry, tmp_path):
    """Two requests were open at once, and the copy has the older commits and folder; it was merged later."""

    def file(name, since):
        git(project, "switch", "--quiet", "--create", name, "main")
        path = project / FILED / "board-v1" / name / "submission.yaml"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "--message", name, "--date", since)

    shutil.rmtree(entry)
    first = filing_order(project, FILED, "main")
    file("20261121-copy", "2026-11-21T00:00:00")
    file("20261123-honest", "2026-11-23T00:00:00")
    git(project, "switch", "--quiet", "main")
    for name in ("20261123-honest", "20261121-copy"):
        git(project, "merge", "--quiet", "--no-ff", "--no-edit", name)
    order = filing_order(project / "docs", "leaderboard/submissions")
    assert sorted(order, key=order.__getitem__)[-2:] == ["board-v1/20261123-honest", "board-v1/20261121-copy"]
    assert len(set(order.values())) == 3 and [f"{FILED}/{name}" for name in first] == [RIVAL]
    assert filing_order(tmp_path, FILED) == {}  # no repository


# The workflows, of which one checks pull requests


FOLDER = REPOSITORY / ".github" / "workflows"
TEXTS = {path.name: path.read_text() for path in FOLDER.iterdir()}
# To other loaders, "on" is a truth value.
WORKFLOWS = {name: yaml.load(text, yaml.BaseLoader) for name, text in TEXTS.items()}


def test_workflow_runs_the_command_and_no_more():
    workflow, text = WORKFLOWS["submissions.yml"], TEXTS["submissions.yml"]
    assert workflow["on"] == {"pull_request": ""}, "a filter of paths looks at 300 files and no more"
    [job] = workflow["jobs"].values()
    assert "permissions" not in job and "if" not in job and int(job["timeout-minutes"]) <= 15
    assert [step["run"] for step in job["steps"] if "run" in step] == [
        "python -m pip install --require-hashes --requirement project/.ci/plain.txt\n"
        "python -m pip install --no-deps --no-build-isolation ./project\n",
        'sraven leaderboard --check-change HEAD^1 --checkout "$GITHUB_WORKSPACE/proposed"',
    ]
    [check] = [step for step in job["steps"] if "sraven" in step.get("run", "")]
    assert check["working-directory"] == "${{ runner.temp }}", "never within untrusted input"
    assert "secrets." not in text and "pull_request_target" not in text


def test_actions_are_pinned_by_commit_everywhere():
    for name, text in TEXTS.items():
        for action in re.findall(r"uses: *(.*)", text):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), (name, action)


def test_what_may_write_runs_nothing_that_was_installed():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        for job in workflow["jobs"].values():
            runs = "\n".join(step.get("run", "") for step in job["steps"])
            writes = "write" in job.get("permissions", {}).values()
            assert not writes or not re.search(r"python|pip|make|sraven ", runs), name
            for step in job["steps"]:
                if step.get("uses", "").startswith("actions/checkout@") and not writes:
                    assert step["with"]["persist-credentials"] == "false", name


def test_what_follows_another_workflow_asks_whether_that_succeeded():
    for name, workflow in WORKFLOWS.items():
        for job in workflow["jobs"].values() if "workflow_run" in workflow["on"] else ():
            assert "needs" in job or "workflow_run.conclusion == 'success'" in job["if"], name


def test_the_snapshot_is_computed_with_the_whole_history():
    checkout, *_ = WORKFLOWS["snapshot.yml"]["jobs"]["compute"]["steps"]
    assert checkout["with"]["fetch-depth"] == "0"
