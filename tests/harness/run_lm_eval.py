"""Evaluates scripted models with lm-eval, without a network; prints what it reports, as JSON.

A program of its own: the harness takes long to import, and warns.
"""

import json
import sys

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from helpers.offline import forbid_network
from helpers.scripted_models import SCRIPTS


class Scripted(LM):
    """Replies as a script does."""

    def __init__(self, script):
        super().__init__()
        self.script = script

    def generate_until(self, requests, disable_tqdm=False):
        return [self.script(request.args[0]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def main(folder, task, metadata):
    """Evaluate each script, and list all tasks of the folder."""
    forbid_network()
    tasks = TaskManager(include_path=folder, include_defaults=False, metadata=metadata)
    found = {"tasks": tasks.all_tasks}
    for name, script in SCRIPTS.items():
        result = simple_evaluate(Scripted(script), tasks=[task], task_manager=tasks, num_fewshot=3)
        found[name] = {
            "metrics": {key.removesuffix(",none"): value for key, value in result["results"][task].items()},
            "ids": [each["doc"]["id"] for each in result["samples"][task]],
        }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
