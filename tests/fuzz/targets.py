"""What is attacked, and what has to hold: a table of targets.

In all of them: only an error of the project comes out, as one seen line of bounded length; time and
memory are bounded; nothing outside of the folder is written, and nothing runs. What is accepted reads
the same again.
"""

import gzip
import io
import json
import os
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.changes import change_bytes, change_json, change_parquet
from fuzz.harness import FindingError, Target
from sraven.core.ground.echo import is_seen
from sraven.core.ground.errors import ConfigurationError

ROWS, WIDTH = 20, 3

LONGEST = 2_100
"""Characters of an error at most."""

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


def check_line(message: str) -> str:
    """Return a message, if it is one seen line of bounded length."""
    if len(message) > LONGEST or not all(map(is_seen, message)):
        raise FindingError(f"the message is no seen, bounded line: {message[:200]!r}")
    return message


def refused(call: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Call something; return what it gives, or with what it refuses: an error of the project, in one line."""
    try:
        return call(*arguments), ""
    except ConfigurationError as error:
        return None, check_line(str(error))


# Descriptions


def _run_yaml(data: bytes, folder: Path) -> str:
    from sraven.core.untrusted.read import dump_yaml, parse_yaml

    value, message = refused(parse_yaml, data, "submission.yaml")
    if message:
        return message
    if json.dumps(parse_yaml(dump_yaml(value).encode(), "again.yaml")) != json.dumps(value):
        raise FindingError("reads otherwise when it is written again")
    return "accepted"


def _schema_seeds() -> list[bytes]:
    from sraven.core.untrusted.read import parse_yaml

    description = parse_yaml(DESCRIPTION, "submission.yaml")
    score = {"mean": 0.5, "standard_error": None, "interval": [0.4, 0.6], "by_seed": [0.5]}
    split = {"instances": 20, "seeds": [0], "missing": [0], "metrics": {"accuracy": score}}
    split |= {"by_combination": {}, "gap_to_ceiling": {"accuracy": 0.1}}
    digests = {"board_digest": "0" * 64, "submission_digest": "f" * 64}
    scores = {"schema": 1, "board": "sraven-v1", **digests, "splits": {"test": split}}
    return [json.dumps([name, value]).encode() for name, value in _named(description, scores)]


def _named(description: Any, scores: Any) -> list[tuple[str, Any]]:
    return [("submission", description), ("scores", scores)]


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _run_schema(data: bytes, folder: Path) -> str:
    from sraven.core.untrusted.read import dump_yaml, parse_yaml
    from sraven.core.untrusted.schemas import find_problem

    try:
        name, value = json.loads(data, parse_constant=_no_constant)
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


# Predictions

_COLUMNS = {b"p": ("uint8", WIDTH), b"n": ("float32", 0), b"d": ("float64", WIDTH)}
"""What a file of predictions has, by the byte before it."""


def _parquet_seeds() -> list[bytes]:
    from helpers.parquet_forgery import levels, page, replace_pages, run
    from helpers.submissions import predictions_file

    panels = np.arange(ROWS * WIDTH, dtype=np.uint8).reshape(ROWS, WIDTH) % 5
    options: tuple[dict[str, Any], ...] = (
        {},
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "none", "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip", "row_group_size": 7},
        {"use_dictionary": False, "column_encoding": {"index": "DELTA_BINARY_PACKED"}},
    )
    made = [b"p" + predictions_file(panels, **chosen) for chosen in options]
    repeated = levels(run(1, 0), run(29, 1)) + levels(run(30, 3)) + b"\1" + run(30, 0)
    pages = page(2, bytes(4), 1), page(0, repeated, 30, encoding=8)
    made.append(b"p" + replace_pages(made[0][1:], 1, *pages, 30))
    made += [b"n" + predictions_file(panels[:, 0].astype(np.float32), **chosen) for chosen in options[:3]]
    return [*made, b"d" + predictions_file(panels / 3)]


def _change_parquet(data: bytes, choose: Random) -> bytes:
    return data[:1] + change_parquet(data[1:], choose)


def _run_parquet(data: bytes, folder: Path) -> str:
    from helpers.submissions import predictions_file
    from sraven.core.untrusted.decode import decode

    dtype, width = _COLUMNS[data[:1]]
    try:
        index, values = decode(data[1:], ROWS, dtype, width)
    except FindingError:
        raise
    except (Exception, MemoryError) as error:  # the process that decodes says so, too
        return f"{type(error).__name__} {error!s:.300}"
    if index.dtype != np.int64 or values.dtype != dtype or len(index) > ROWS:
        raise FindingError(f"gives {index.dtype} [{len(index)}], {values.dtype}")
    if len(values) != len(index) * max(1, width):
        raise FindingError(f"gives {len(index)} indices and {len(values)} values")
    whole = values.reshape(-1, width) if width else values
    again = decode(predictions_file(whole, index), ROWS, dtype, width)
    if again[0].tobytes() != index.tobytes() or again[1].tobytes() != values.tobytes():
        raise FindingError("reads otherwise when it is written again")
    return "accepted"


# Datasets


@cache
def _dataset() -> Path:
    """Return a small dataset, made once; it goes with the process that asked first."""
    import atexit
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="sraven-fuzz-dataset-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sizes = ["--train", "40", "--test", "8", "--ood", "8"]
    command(["generate", "--M", "3", "--K", "5", *sizes, "--out", str(folder / "data")])
    command(["verify", str(folder / "data")])
    return folder / "data"


def command(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process; return its exit code and what it says of errors."""
    import cli.main

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main.main(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return code, err.getvalue()


def run_command(arguments: list[str]) -> str:
    """Run a command that may fail, but only as commands may: a line for each fault, and a known exit code."""
    code, said = command(arguments)
    lines = said.splitlines()
    for line in lines:
        check_line(line)
    if code not in (0, 1, 2) or (code and not lines) or (code == 2 and len(lines) != 1):
        raise FindingError(f"exit code {code} with {len(lines)} lines: {said[-300:]!r}")
    return f"{code} {lines[0] if lines else ''}"


def _dataset_seeds(name: str) -> Callable[[], list[bytes]]:
    return lambda: [(_dataset() / name).read_bytes()]


def _run_dataset(name: str) -> Callable[[bytes, Path], str]:
    """Return what verifies a dataset in which a file is another."""

    def run(data: bytes, folder: Path) -> str:
        import shutil

        copy = folder / "data"
        if not copy.is_dir():
            shutil.copytree(_dataset(), copy)
        (copy / name).write_bytes(data)
        kind = run_command(["verify", str(copy), "--threads", "1"])
        if kind.startswith("0") and data != (_dataset() / name).read_bytes():
            raise FindingError("says that all is right")
        return kind

    return run


# Logs

_LOG = b"".join(b'{"step": %d, "loss": %.3f, "grad_norm": 1e-3}\n' % (step, 3 / step) for step in range(1, 5))


def _run_training_log(data: bytes, folder: Path) -> str:
    from sraven.core.submissions.training_log import check_log

    _, message = refused(check_log, data, "training/seed-0.jsonl")
    if not message:
        steps = [json.loads(line)["step"] for line in data.removesuffix(b"\n").split(b"\n")]
        if steps != sorted(set(steps)):
            raise FindingError("accepts steps that don't ascend")
    return message or "accepted"


def _run_log(data: bytes, folder: Path) -> str:
    from baselines.log import LOG, Log

    (folder / LOG).write_bytes(data)
    log, message = refused(lambda: Log(folder, 2, events=False))
    if message:
        return message
    log.add(3, {"loss": 1.0})
    log.close()
    left = (folder / LOG).read_bytes()
    steps = [json.loads(line)["step"] for line in left.removesuffix(b"\n").split(b"\n")]
    if steps != sorted(set(steps)) or steps[-1:] != [3]:
        raise FindingError(f"goes on with the steps {steps[:9]}")
    return f"goes on with {len(steps)} steps"


# Records


def _record_seeds() -> list[bytes]:
    records = ({"text": f"Text {n} \u00e9\n.", "url": "x"} for n in range(5))
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    zipped = gzip.compress(lines, mtime=0)
    return [b"j" + lines, b"t" + lines, b"z" + zipped, b"z" + zipped * 2]


def _table_seeds() -> list[bytes]:
    from helpers.submissions import parquet

    texts = parquet({"text": [f"Text {n}" for n in range(5)], "url": ["x"] * 5})
    plain = parquet({"text": [f"Text {n}" for n in range(5)]}, compression="none", use_dictionary=False)
    return [b"q" + texts, b"q" + plain]


_SUFFIXES = {b"j": ".jsonl", b"t": ".txt", b"z": ".json.gz", b"q": ".parquet"}


def _change_records(data: bytes, choose: Random) -> bytes:
    change = {b"j": change_bytes, b"t": change_bytes, b"z": _change_zipped, b"q": change_parquet}[data[:1]]
    return data[:1] + change(data[1:], choose)


def _change_zipped(data: bytes, choose: Random) -> bytes:
    if choose.random() < 0.5:
        try:
            return gzip.compress(change_bytes(gzip.decompress(data), choose), 1, mtime=0)
        except Exception:  # it is no whole gzip file any more
            choose.random()
    return change_bytes(data, choose)


def _run_records(data: bytes, folder: Path) -> str:
    from baselines.lm.records import FAULTS, read_records
    from baselines.lm.sources import SUFFIXES, Source

    suffix = _SUFFIXES[data[:1]]
    path = folder / f"records{suffix}"
    path.write_bytes(data[1:])
    source = Source(str(path), SUFFIXES[suffix], len(data) - 1)
    records, message = refused(lambda: list(read_records(source)))
    if message:
        return message
    for record in records:
        if record.fault and (record.fault not in FAULTS or record.text):
            raise FindingError(f"gives the fault {record.fault!r}")
        record.text.decode()
    if data[:1] != b"q" and list(read_records(source, len(records) // 2)) != records[len(records) // 2 :]:
        raise FindingError("reads otherwise from the middle")
    return " ".join(sorted({record.fault or "text" for record in records}))


# Command lines

_COMMANDS = (
    "count --M 4 --K 8 --holdout 0.25",
    "count --M 4 --K 8 --json",
    "boards sraven-v1",
    "boards fuzzylogic-v1 --json",
    "show --M 4 --K 8 --index 3 --seed 0",
    "fuzzylogic show --L 3 --K 2 --N 5 --index 3",
    "verify nowhere --threads 1",
    "score nowhere",
    "submit nowhere --leaderboard nowhere",
    "leaderboard sraven-v1 --leaderboard nowhere",
    "train sraven-v1 --attention hyla --steps 1 --help",
    "c4 prepare nowhere --out x --help",
)


def _run_command_line(data: bytes, folder: Path) -> str:
    try:
        arguments = shlex.split(data.decode(errors="surrogateescape"))
    except ValueError:
        return "no command line"
    if not arguments or "\0" in data.decode(errors="replace"):
        return "no command line"
    os.chdir(folder)
    if set(arguments) & {"generate", "bench", "freeze", "evaluate", "ambiguity"}:
        return "writes, or takes its time, as it is told to"
    code, said = command(arguments)
    lines = [check_line(line) for line in said.splitlines()]
    if code not in (0, 1, 2):
        raise FindingError(f"exit code {code}: {said[-300:]!r}")
    return f"{code} {lines[-1] if lines else ''}"


def _texts(*texts: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(texts)


TARGETS: dict[str, Target] = {
    "yaml": Target(_texts(DESCRIPTION, *LINES), change_bytes, _run_yaml, 1000),
    "schema": Target(_schema_seeds, change_json, _run_schema, 1000),
    "parquet": Target(_parquet_seeds, _change_parquet, _run_parquet, 1000, may_abort=True),
    "manifest": Target(_dataset_seeds("manifest.json"), change_json, _run_dataset("manifest.json"), 100),
    "card": Target(_dataset_seeds("README.md"), change_bytes, _run_dataset("README.md"), 100),
    "croissant": Target(_dataset_seeds("croissant.json"), change_json, _run_dataset("croissant.json"), 100),
    "training-log": Target(_texts(_LOG), change_bytes, _run_training_log, 10_000),
    "run-log": Target(_texts(_LOG), change_bytes, _run_log, 2000),
    "records": Target(_record_seeds, _change_records, _run_records, 1000),
    "record-tables": Target(_table_seeds, _change_records, _run_records, 10),
    "command-line": Target(_texts(*map(str.encode, _COMMANDS)), change_bytes, _run_command_line, 100),
}
"""The targets, by name."""
