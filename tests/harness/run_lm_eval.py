"""Evaluates scripted models with lm-eval; prints what it reports, as JSON.

A program of its own: the harness takes long to import, and warns.
"""

import json
import sys

from lm_eval import evaluator, simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from helpers.scripted_models import LITE, SCRIPTS, TWINS, knowing, shorten_boards


class Scripted(LM):
    """Replies as a script does."""

    def __init__(self, script):
        super().__init__()
        self.script = script

    def generate_until(self, requests, disable_tqdm=False):
        return [self.script(request.args[0]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


def main(folder, task, metadata):
    """Evaluate each script on a task; list all tasks of the folder."""
    evaluator.add_env_info = lambda results: None  # runs a dozen programs about the machine, each time
    tasks = TaskManager(include_path=folder, include_defaults=False, metadata=metadata)
    found = {"tasks": tasks.all_tasks}
    for each, script in SCRIPTS.items():
        result = simple_evaluate(Scripted(script), tasks=[task], task_manager=tasks, num_fewshot=3)
        metrics = result["results"][task].items()
        found[each] = {
            "metrics": {key.removesuffix(",none"): value for key, value in metrics},
            "ids": [sample["doc"]["id"] for sample in result["samples"][task]],
        }
    shorten_boards()
    plain = TaskManager(include_path=folder, include_defaults=False)
    for board, script, limit in ((LITE, SCRIPTS["oracle"], 16), (TWINS, knowing(TWINS), 36)):
        task = board.replace("-", "_")
        result = simple_evaluate(Scripted(script), tasks=[task], task_manager=plain, limit=limit)
        found[board] = result["results"][task]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:3], json.loads(sys.argv[3]))
