"""Evaluates scripted models with inspect-ai; prints what it reports, as JSON.

A program of its own: the harness takes long to import, and warns.
"""

import json
import sys
from pathlib import Path

from inspect_ai import eval as evaluate, score
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from helpers.scripted_models import LITE, SCRIPTS, TWINS, knowing, shorten_boards
from sraven.harness.inspect_task import exact


def scripted(script):
    """Return a model that replies as a script does."""

    def reply(messages, tools, choice, config):
        output = ModelOutput.from_content("scripted", script(messages[-1].text))
        # The mock model counts tokens otherwise, and fetches a vocabulary for that.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def reported(log):
    assert log.status == "success", log.error
    return {
        "scores": {
            each.name: {metric.name: metric.value for metric in each.metrics.values()}
            for each in log.results.scores
        },
        "metadata": log.eval.metadata,
        "samples": log.results.total_samples,
        "answers": {sample.id: next(iter(sample.scores.values())).answer for sample in log.samples},
    }


def run(task, script, **options):
    """Evaluate a script on a task."""
    [log] = evaluate(task, scripted(script), display="none", ctl_server=False, **options)
    return log


def main(arguments, folder):
    """Evaluate each script, score the oracle's log again, and ask about questions of boards."""
    found = {}
    for name, epochs in (("oracle", 1), ("copier", 2)):
        options = {"task_args": arguments, "epochs": epochs, "log_dir": str(Path(folder, name))}
        found[name] = reported(run("sraven/sraven", SCRIPTS[name], **options))
    [written] = Path(folder, "oracle").iterdir()
    found["again"] = reported(score(read_eval_log(written), exact(), action="overwrite", display="none"))
    shorten_boards()
    for name, script, limit in ((LITE, SCRIPTS["oracle"], 16), (TWINS, knowing(TWINS), 36)):
        options = {"task_args": {"board": name}, "limit": limit, "log_dir": folder}
        found[name] = reported(run("sraven/sraven_text", script, **options))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])
