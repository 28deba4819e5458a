"""The workflow that checks pull requests runs the command and no more."""

import re

import yaml

from helpers.checkout import REPOSITORY

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
