"""Evaluates scripted models with inspect-ai, without a network; prints what it reports, as JSON.

A program of its own: the harness takes long to import, and warns.
"""

import json
import sys
from pathlib import Path

from inspect_ai import eval as evaluate
from inspect_ai import score
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from helpers.offline import forbid_network
from helpers.scripted_models import SCRIPTS
from sraven.harness.inspect_task import exact


def scripted(name):
    """Return a model that replies as a script does."""

    def reply(messages, tools, choice, config):
        output = ModelOutput.from_content(name, SCRIPTS[name](messages[-1].text))
        # The mock model counts tokens otherwise, and fetches a vocabulary for that.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def reported(log):
    assert log.status == "success", log.error
    return {
        "scores": {
            each.name: {name: metric.value for name, metric in each.metrics.items()}
            for each in log.results.scores
        },
        "metadata": log.eval.metadata,
        "samples": log.results.total_samples,
        "answers": {sample.id: sample.scores["exact"].answer for sample in log.samples},
    }


def main(task, arguments, folder):
    """Evaluate each script, and score the oracle's log again."""
    forbid_network()
    found = {}
    for name in SCRIPTS:
        [log] = evaluate(
            task,
            scripted(name),
            task_args=arguments,
            epochs=2 if name == "copier" else 1,
            log_dir=str(Path(folder, name)),
            display="none",
            ctl_server=False,
        )
        found[name] = reported(log)
    [written] = Path(folder, "oracle").iterdir()
    found["again"] = reported(score(read_eval_log(written), exact(), action="overwrite", display="none"))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])
