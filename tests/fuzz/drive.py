"""Fuzz the readers of untrusted files.

    python tests/fuzz/drive.py --seconds 3600 --out fuzz.json
    python tests/fuzz/drive.py --only yaml --only parquet --executions 100000
    python tests/fuzz/drive.py --replay tests/fuzz/findings

The targets take turns, so that each has about the same time. A result that is there already is added
to, and goes on with other inputs. An input that brings a finding is kept below ``--findings``, in a
folder of its target; then the exit code is 1. The same seed gives the same inputs.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]
sys.dont_write_bytecode = True  # of what inputs let be imported: they may write nothing

from fuzz.harness import Campaign, kind_of, run_inputs
from fuzz.targets import TARGETS
from sraven.core.bench import machine

_KINDS = 40  # kinds of answers that a result lists, of each target


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, over all targets (60)")
    parser.add_argument("--executions", type=int, help="stop with a target after so many inputs")
    parser.add_argument("--batch", type=int, help="inputs of a batch at most; each has a process of its own")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other inputs (0)")
    parser.add_argument("--only", action="append", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--out", type=Path, help="file to write the result to, or to add it to")
    parser.add_argument("--findings", type=Path, default=Path("findings"), help="where inputs are kept")
    parser.add_argument("--replay", type=Path, help="run the inputs of a folder once, and nothing else")
    return parser.parse_args()


def _keep(folder, findings, name, data, fault):
    """Keep the first input that brings a kind of finding; count the others."""
    kind = kind_of(ascii(fault)[1:-1])
    for found in findings:
        if (found["target"], found["kind"]) == (name, kind):
            found["inputs"] += 1
            return
    path = folder / name / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    sys.stderr.write(f"{name}: {ascii(fault)[1:-1]}; kept as {path}\n")
    findings.append(
        {"target": name, "kind": kind, "fault": ascii(fault)[1:-1], "first": path.name, "inputs": 1}
    )


def _attack(options, result):
    """Let the targets take turns until the time is over, and add up what comes."""
    end = time.monotonic() + options.seconds
    campaigns = []
    for name in options.only or TARGETS:
        before = result["targets"].get(name, {})
        target = TARGETS[name]
        target = replace(target, batch=min(target.batch, options.batch or target.batch))
        campaigns.append(Campaign(name, target, options.seed, before.get("batches", 0)))
    while time.monotonic() < end:
        open_ones = [c for c in campaigns if not options.executions or c.executions < options.executions]
        if not open_ones:
            break
        campaign = min(open_ones, key=lambda each: each.seconds)
        for data, fault in campaign.step().findings:
            _keep(options.findings, result["findings"], campaign.name, data, fault)
    for campaign in campaigns:
        _add(result["targets"].setdefault(campaign.name, {}), campaign)


def _add(total, campaign):
    kinds = Counter(total.get("answers", {})) + campaign.kinds
    executions = total.get("executions", 0) + campaign.executions
    seconds = round(total.get("seconds", 0.0) + campaign.seconds, 1)
    total.update(executions=executions, seconds=seconds, batches=campaign.batches)
    total["answers"] = {ascii(kind)[1:-1]: count for kind, count in kinds.most_common(_KINDS)}


def _replay(folder):
    """Yield the answers to the inputs of a folder: target, name, and the fault, if it is one."""
    for name, target in TARGETS.items():
        contents = {path.name: path.read_bytes() for path in sorted((folder / name).glob("*"))}
        if not contents:
            continue
        target.seeds()
        faults = dict(run_inputs(target, contents.values().__iter__, Counter()).findings)
        for place, data in contents.items():
            yield {"target": name, "input": place, "fault": faults.get(data, "")}


def main():
    """Do what the command line says; return the exit code."""
    options = _arguments()
    if options.replay:
        answers = list(_replay(options.replay))
        sys.stdout.write(json.dumps(answers))
        return 1 if any(each["fault"] for each in answers) else 0
    empty = {"targets": {}, "findings": [], "runs": []}
    there = options.out and options.out.exists()
    result, start = json.loads(options.out.read_text()) if there else empty, time.monotonic()
    found = sum(finding["inputs"] for finding in result["findings"])
    _attack(options, result)
    commit = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
    run = {
        "command": "python tests/fuzz/drive.py " + " ".join(sys.argv[1:]),
        "commit": subprocess.run(commit, capture_output=True, text=True, check=False).stdout.strip(),
        "seed": options.seed,
        "seconds": round(time.monotonic() - start, 1),
        "machine": {**machine(), "pyarrow": version("pyarrow")},
    }
    result["runs"].append(run)
    result["executions"] = sum(target["executions"] for target in result["targets"].values())
    text = json.dumps(result, indent=2) + "\n"
    if options.out:
        partial = options.out.with_suffix(".partial")
        partial.write_text(text)
        os.replace(partial, options.out)
    sys.stdout.write(text)
    return 1 if sum(finding["inputs"] for finding in result["findings"]) > found else 0


if __name__ == "__main__":
    sys.exit(main())
