"""What is attacked: a table of targets.

In all of them: only an error of the project comes out, as one seen line of bounded length; time and
memory are bounded; nothing outside of the folder is written, and nothing runs. What is accepted reads
the same again.
"""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.changes import change_bytes, change_json, change_parquet
from fuzz.harness import FindingError, Target
from helpers.command import sraven
from sraven.core.errors import ConfigurationError
from sraven.core.escape import is_seen
from sraven.files.untrusted import dump_yaml, parse_yaml

LONGEST = 2_100
"""Characters of an error at most."""


def check_line(message):
    """Return a message, if it is one seen line of bounded length."""
    if len(message) > LONGEST or not all(map(is_seen, message)):
        raise FindingError(f"the message is no seen, bounded line: {message[:200]!r}")
    return message


def refused(call, *arguments):
    """Call something; return what it gives, or with what it refuses: an error of the project, in one line."""
    try:
        return call(*arguments), ""
    except ConfigurationError as error:
        return None, check_line(str(error))


def run_command(*arguments):
    """Run a command that may fail, but only as commands may: a line for each fault, and a known exit code."""
    code, printed, said = sraven(*arguments)
    if not all(is_seen(character) or character == "\n" for character in printed):
        raise FindingError(f"prints what can't be seen: {printed[:200]!r}")
    lines = said.splitlines()
    for line in lines:
        check_line(line)
    if code not in (0, 1, 2) or (code and not lines) or (code == 2 and len(lines) != 1):
        raise FindingError(f"exit code {code} with {len(lines)} lines: {said[-300:]!r}")
    return f"{code} {lines[0] if lines else ''}"


# Descriptions

DESCRIPTION = b"""schema: 1
board: sraven-v1
board_digest: %s
method: {name: A, family: null, description: "It guesses.", authors: [A, "B"], code: https://x.org/c}
model: {parameters: 1000, layers: 4}
training: {instances: 1500, extra_data: null, used_ood: false, selection_split: test, seconds: 1.5}
runs:
- {seed: 0, split: test, file: predictions/test/seed-0.parquet, sha256: %s}
environment: {python: 3.12.1, packages: {numpy: '2.0'}}
claimed: {test: {accuracy: 0.5}}
""" % (b"0" * 64, b"f" * 64)

LINES = (
    b"a: &a [*a, !!python/name:os.system x, ! y]\n---\n? [b]\n: |\n  c\n",
    b'"\\x41\\u0042\\U00000043": 0x1F\n<<: {x: 1:20:30.5}\ny: 1e5\nz: .nan\n',
    b"%YAML 1.1\n%TAG ! tag:x,2000:\n---\n- ~\n- 2026-11-21\n- 0o7\n- 1_000\n...\n",
    b"a:\n  - {b: [1, -2.5e3, true]}\n  - 'c''d'\ne: |\n  f\n  g\n",
)


def run_yaml(data, folder):
    value, message = refused(parse_yaml, data, "submission.yaml")
    if message:
        return message
    if json.dumps(parse_yaml(dump_yaml(value).encode(), "again.yaml")) != json.dumps(value):
        raise FindingError("reads otherwise when it is written again")
    return "accepted"


def schema_seeds():
    description = parse_yaml(DESCRIPTION, "submission.yaml")
    score = {"mean": 0.5, "standard_error": None, "interval": [0.4, 0.6], "by_seed": [0.5]}
    split = {"instances": 20, "seeds": [0], "missing": [0], "metrics": {"accuracy": score}}
    split |= {"by_combination": {}, "gap_to_ceiling": {"accuracy": 0.1}}
    digests = {"board_digest": "0" * 64, "submission_digest": "f" * 64}
    scores = {"schema": 1, "board": "sraven-v1", **digests, "splits": {"test": split}}
    named = ("submission", description), ("scores", scores)
    return [json.dumps([name, value]).encode() for name, value in named]


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def run_schema(data, folder):
    from sraven.files.schemas import find_problem

    try:
        name, value = json.loads(data, parse_constant=no_constant)
    except (ValueError, TypeError, RecursionError):
        return "no JSON"
    if name not in ("submission", "scores"):
        return "no schema"
    if problem := find_problem(value, name):
        return check_line(problem)
    if name == "submission":
        method = value["method"]
        for text in (method["name"], *method["authors"]):
            if not all(map(is_seen, text)) or not text.strip():
                raise FindingError(f"accepts {text!a} as a name")
        if parse_yaml(dump_yaml(value).encode(), "again.yaml") != value:
            raise FindingError("reads otherwise when it is written again")
    return "accepted"


# Logs

LOG_LINES = b"".join(
    b'{"step": %d, "loss": %.3f, "grad_norm": 1e-3}\n' % (step, 3 / step) for step in range(1, 5)
)


def run_log(data, folder):
    from baselines.train.log import LOG, Log

    (folder / LOG).write_bytes(data)
    log, message = refused(lambda: Log(folder, 2))
    if message:
        return message
    log.add(3, {"loss": 1.0})
    log.close()
    left = (folder / LOG).read_bytes()
    steps = [json.loads(line)["step"] for line in left.removesuffix(b"\n").split(b"\n")]
    if steps != sorted(set(steps)) or steps[-1:] != [3]:
        raise FindingError(f"goes on with the steps {steps[:9]}")
    return f"goes on with {len(steps)} steps"


# Predictions

ROWS, WIDTH = 20, 3

COLUMNS = {b"p": ("uint8", WIDTH), b"n": ("float32", 0), b"d": ("float64", WIDTH)}
"""What a file of predictions has, by the byte before it."""


def parquet_seeds():
    from helpers.parquet_forgery import levels, page, replace_pages, run
    from helpers.submissions import predictions_file

    panels = np.arange(ROWS * WIDTH, dtype=np.uint8).reshape(ROWS, WIDTH) % 5
    options = (
        {},
        {"compression": "none", "data_page_version": "2.0"},
        {"compression": "gzip", "row_group_size": 7, "use_dictionary": False},
    )
    made = [b"p" + predictions_file(panels, **chosen) for chosen in options]
    repeated = levels(run(1, 0), run(29, 1)) + levels(run(30, 3)) + b"\1" + run(30, 0)
    pages = page(2, bytes(4), 1), page(0, repeated, 30, encoding=8)
    made.append(b"p" + replace_pages(made[0][1:], 1, *pages, 30))
    numbers = b"n" + predictions_file(panels[:, 0].astype(np.float32))
    return [*made, numbers, b"d" + predictions_file(panels / 3)]


def change_predictions(data, choose):
    return data[:1] + change_parquet(data[1:], choose)


def run_parquet(data, folder):
    from helpers.submissions import predictions_file
    from sraven.files.decode import decode

    dtype, width = COLUMNS[data[:1]]
    columns = [("index", "int64", 0), ("prediction", dtype, width)]
    try:
        index, values = decode(data[1:], ROWS, columns)
    except FindingError:
        raise
    except (Exception, MemoryError) as error:  # the process that decodes says so, too
        return f"{type(error).__name__} {error!s:.300}"
    if index.dtype != np.int64 or values.dtype != dtype or len(index) > ROWS:
        raise FindingError(f"gives {index.dtype} [{len(index)}], {values.dtype}")
    if len(values) != len(index) * max(1, width):
        raise FindingError(f"gives {len(index)} indices and {len(values)} values")
    whole = values.reshape(-1, width) if width else values
    again = decode(predictions_file(whole, index), ROWS, columns)
    if again[0].tobytes() != index.tobytes() or again[1].tobytes() != values.tobytes():
        raise FindingError("reads otherwise when it is written again")
    return "accepted"


# Datasets


@cache
def dataset():
    """Return a small dataset, made once; it goes with the process that asked first."""
    folder = Path(tempfile.mkdtemp(prefix="sraven-fuzz-dataset-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    size = "--M=3", "--K=5", "--train=40", "--test=8", "--ood=8"
    sraven("generate", *size, "--out", folder / "data")
    sraven("verify", folder / "data")
    return folder / "data"


def manifest_seeds():
    return [(dataset() / "manifest.json").read_bytes()]


def run_manifest(data, folder):
    """Verify a dataset with another manifest: only its own is right."""
    copy = folder / "data"
    if not copy.is_dir():
        shutil.copytree(dataset(), copy)
    (copy / "manifest.json").write_bytes(data)
    kind = run_command("verify", copy, "--threads", "1")
    if kind.startswith("0") and [data] != manifest_seeds():
        raise FindingError("says that all is right")
    return kind


TARGETS = {
    "yaml": Target(lambda: [DESCRIPTION, *LINES], change_bytes, run_yaml),
    "schema": Target(schema_seeds, change_json, run_schema),
    "parquet": Target(parquet_seeds, change_predictions, run_parquet, may_abort=True),
    "run-log": Target(lambda: [LOG_LINES], change_bytes, run_log),
    "manifest": Target(manifest_seeds, change_json, run_manifest),
}
"""The targets, by name."""
