"""Fuzz the readers of untrusted files.

    python tests/fuzz/drive.py --seconds 3600
    python tests/fuzz/drive.py --only yaml --only parquet --executions 100000

The targets take turns. Each begins with what was found once, which lies in `findings` beside this file, and
goes on from inputs that brought new answers. An input that brings a finding is kept below ``--findings``, in
a folder of its target; then the exit code is 1. The same seed gives the same inputs.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter, deque
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]
sys.dont_write_bytecode = True  # of what inputs let be imported: they may write nothing

from fuzz.harness import kind_of, run_inputs
from fuzz.targets import TARGETS

BATCH = 500
"""Inputs of a process."""

_CORPUS = 200
"""Inputs that a target goes on from, at most."""


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, over all targets (60)")
    parser.add_argument("--executions", type=int, default=1 << 60, help="new inputs of a target at most")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other inputs (0)")
    parser.add_argument("--only", action="append", choices=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--findings", type=Path, default=Path("findings"), help="where inputs are kept")
    return parser.parse_args()


def _batches(name, corpus, options):
    """Yield inputs of a target, a batch at a time: what was found once, then changes of its corpus."""
    target, choose = TARGETS[name], Random(f"{options.seed}/{name}")
    yield [path.read_bytes() for path in sorted((HERE / "findings" / name).glob("*"))]
    for start in range(0, options.executions, BATCH):
        count = min(BATCH, options.executions - start)
        yield [target.change(choose.choice(corpus), choose) for _ in range(count)]


def _attack(options):
    """Let the targets take turns until the time is over; return their answers by kind, and the findings."""
    end, findings = time.monotonic() + options.seconds, {}
    corpora = {name: TARGETS[name].seeds() for name in options.only or TARGETS}
    kinds = {name: Counter() for name in corpora}
    left = deque((name, _batches(name, corpus, options)) for name, corpus in corpora.items())
    while left and time.monotonic() < end:
        name, batches = left.popleft()
        if (inputs := next(batches, None)) is None:
            continue
        for data, kind, fault in run_inputs(TARGETS[name], inputs):
            if fault:
                _keep(options.findings / name, findings, name, data, fault)
            elif kind not in kinds[name] and len(corpora[name]) < _CORPUS:
                corpora[name].append(data)
            kinds[name][kind] += 1
        left.append((name, batches))
    answers = {name: dict(seen.most_common(40)) for name, seen in kinds.items()}
    return {"targets": answers, "findings": list(findings.values())}


def _keep(folder, findings, name, data, fault):
    """Keep the first input that brings a kind of finding; count the others."""
    if (kind := (name, kind_of(fault))) in findings:
        findings[kind]["inputs"] += 1
        return
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    sys.stderr.write(f"{name}: {fault!a}; kept as {path}\n")
    findings[kind] = {"target": name, "fault": fault, "first": path.name, "inputs": 1}


def main():
    """Do what the command line says; return the exit code."""
    found = _attack(_arguments())
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 1 if found["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
