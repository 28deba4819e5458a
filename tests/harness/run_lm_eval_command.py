"""Runs lm-eval's command, without the thousands of tasks that it brings: it would read all of their files."""

import sys
from functools import partialmethod

from lm_eval import evaluator
from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager

if __name__ == "__main__":
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    evaluator.add_env_info = lambda results: None  # runs a dozen programs about the machine
    sys.exit(cli_evaluate())
