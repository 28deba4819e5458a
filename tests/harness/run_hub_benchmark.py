"""Runs what `sraven publish` makes of prompts by inspect-ai's own reader, from a Hub on loopback.

A program of its own: the harness takes long to import, and where the Hub is has to be said before that.
Prints each reply with the verdict of inspect-ai's scorer and ours, and what `datasets` loads, as JSON.
"""

import json
import os
import socket
import sys
from contextlib import redirect_stdout

from helpers.hub import TOKEN, Repository, serve


def stay_here():
    """Let every look-up of another host than this one raise."""
    look_up = socket.getaddrinfo

    def only_here(host, *arguments, **named):
        assert host in ("127.0.0.1", "localhost"), f"the network is asked: {host}"
        return look_up(host, *arguments, **named)

    socket.getaddrinfo = only_here


def evaluate_last(hub, repository, sets, forms, folder):
    """Evaluate a model on the last of some sets, whose question i it answers in form i; return verdicts."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from sraven.harness.questions import verdict
    from sraven.text.benchmark import make_files

    files, questions = dict(make_files(sets)), sets[-1]
    hub.repositories[repository] = Repository()
    hub.repositories[repository].commit(files)
    rows = [json.loads(line) for line in files[f"data/{questions.name}.jsonl"].splitlines()]
    indices = {row["prompt"]: row["index"] for row in rows}
    right = questions.answers(range(questions.count))

    def reply(messages, tools, choice, config):
        index = indices[messages[-1].text]
        words = right[index].removeprefix("Answer: ")
        output = ModelOutput.from_content("scripted", forms[index].replace("RIGHT", words))
        # The mock model counts tokens otherwise, and fetches a vocabulary for that.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    name = f"hf/{repository}/{questions.name}"
    with redirect_stdout(sys.stderr):  # it says what it loads
        [log] = evaluate(name, model, display="none", ctl_server=False, log_dir=folder)
    assert log.status == "success", log.error
    found = []
    for sample in log.samples:
        name, index = sample.metadata["id"].rsplit("_", 1)
        assert name == questions.name
        ours = verdict(sample.metadata["id"], sample.output.completion)
        found.append(
            [forms[int(index)], sample.scores["pattern"].value == "C", ours["target"] == ours["valid"] == 1]
        )
    return {"accuracy": log.results.scores[0].metrics["accuracy"].value, "verdicts": found}


def main(panels, letters, folder):
    """Ask questions with and without choices."""
    stay_here()
    with serve() as (hub, address):
        os.environ |= {"HF_ENDPOINT": address, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
        os.environ |= {"HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0"}
        from sraven.text import LADDER, Choosing

        task = LADDER[1].task
        asked = {
            "panels": ((LADDER[0].questions(count=3), LADDER[1].questions(count=len(panels))), panels),
            "letters": ((Choosing(task, "ood", len(letters)),), letters),
        }
        found = {
            name: evaluate_last(hub, f"user/{name}", sets, forms, folder)
            for name, (sets, forms) in asked.items()
        }
        from datasets import load_dataset

        for name in asked:
            found[name]["loaded"] = list(load_dataset(f"user/{name}", split="test"))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3])
