"""Evaluates scripted models with inspect-ai; prints what it reports, as JSON.

A program of its own: the harness takes long to import, and warns.
"""

import json
import sys
from pathlib import Path

from inspect_ai import eval as evaluate, score
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from helpers.scripted_models import SCRIPTS, knowing
from sraven.harness.inspect_task import exact

BOARDS = "v1", "lite-v2", "twins-v1"


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


def main(arguments, rungs, folder):
    """Evaluate each script, score the oracle's log again, and ask it some questions of the ladder."""
    found = {}
    for name, script in SCRIPTS.items():
        epochs = 2 if name == "copier" else 1
        log = run(
            "sraven/sraven", script, task_args=arguments, epochs=epochs, log_dir=str(Path(folder, name))
        )
        found[name] = reported(log)
    [written] = Path(folder, "oracle").iterdir()
    found["again"] = reported(score(read_eval_log(written), exact(), action="overwrite", display="none"))
    board = {name: {"task_args": {"board": f"sraven-text-{name}"}, "log_dir": folder} for name in BOARDS}
    text, known = "sraven/sraven_text", knowing("sraven-text-twins-v1")
    found["ladder"] = reported(run(text, SCRIPTS["oracle"], sample_id=rungs, **board["v1"]))
    found["lite"] = reported(run(text, SCRIPTS["oracle"], limit=16, **board["lite-v2"]))
    found["twins"] = reported(run(text, known, limit=36, **board["twins-v1"]))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3])
