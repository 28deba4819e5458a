"""Fuzz the readers of untrusted files.

    python tests/fuzz/drive.py --seconds 3600
    python tests/fuzz/drive.py --only yaml --only parquet --executions 100000
    python tests/fuzz/drive.py --replay tests/fuzz/findings

The targets take turns, and go on from inputs that brought new answers. An input that brings a finding is kept
below ``--findings``, in a folder of its target; then the exit code is 1. The same seed gives the same inputs.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]
sys.dont_write_bytecode = True  # of what inputs let be imported: they may write nothing

from fuzz.harness import kind_of, run_inputs
from fuzz.targets import TARGETS

_CORPUS = 200
"""Inputs that a target goes on from, at most."""


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, over all targets (60)")
    parser.add_argument("--executions", type=int, default=1 << 60, help="inputs of a target at most")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other inputs (0)")
    parser.add_argument("--only", action="append", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--findings", type=Path, default=Path("findings"), help="where inputs are kept")
    parser.add_argument("--replay", type=Path, help="run the inputs of a folder once, and nothing else")
    return parser.parse_args()


def _attack(options):
    """Let the targets take turns until the time is over; return their answers by kind, and the findings."""
    end, findings = time.monotonic() + options.seconds, {}
    corpora, kinds, choices = {}, defaultdict(Counter), {}
    left = list(options.only or TARGETS)
    while left and time.monotonic() < end:
        name = left.pop(0)
        target, seen = TARGETS[name], kinds[name]
        corpus = corpora[name] = corpora.get(name) or target.seeds()
        choose = choices.setdefault(name, Random(f"{options.seed}/{name}"))
        count = min(target.batch, options.executions - seen.total())
        inputs = [target.change(choose.choice(corpus), choose) for _ in range(count)]
        for data, kind, fault in run_inputs(target, inputs):
            if fault:
                _keep(options.findings / name, findings, name, data, ascii(fault)[1:-1])
            elif kind not in seen and len(corpus) < _CORPUS:
                corpus.append(data)
            seen[kind] += 1
        left += [name] * (seen.total() < options.executions)
    answers = {
        name: {ascii(kind)[1:-1]: n for kind, n in seen.most_common(40)} for name, seen in kinds.items()
    }
    return {"targets": answers, "findings": list(findings.values())}


def _keep(folder, findings, name, data, fault):
    """Keep the first input that brings a kind of finding; count the others."""
    if (kind := (name, kind_of(fault))) in findings:
        findings[kind]["inputs"] += 1
        return
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    sys.stderr.write(f"{name}: {fault}; kept as {path}\n")
    findings[kind] = {"target": name, "fault": fault, "first": path.name, "inputs": 1}


def _replay(folder):
    """Return the answers to the inputs of a folder: target, name, and the fault, if it is one."""
    found = []
    for name in sorted(path.name for path in folder.iterdir()):
        paths = sorted((folder / name).iterdir())
        TARGETS[name].seeds()
        answers = run_inputs(TARGETS[name], [path.read_bytes() for path in paths])
        found += [
            {"target": name, "input": path.name, "fault": fault}
            for path, (_, _, fault) in zip(paths, answers, strict=True)
        ]
    return found


def main():
    """Do what the command line says; return the exit code."""
    options = _arguments()
    if options.replay:
        found = _replay(options.replay)
        faults = [each for each in found if each["fault"]]
    else:
        found = _attack(options)
        faults = found["findings"]
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
