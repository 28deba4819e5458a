"""Descriptions, logs, records, command lines and replies, attacked."""

import gzip
import json
import os
import shlex

from fuzz.changes import change_bytes, change_parquet
from fuzz.checks import check_line, refused
from fuzz.harness import FindingError
from helpers.command import sraven
from sraven.core.escape import is_seen
from sraven.core.spec import values_of
from sraven.core.untrusted.read import dump_yaml, parse_yaml
from sraven.text import parse, render_answer
from sraven.text.completions import read_completions
from sraven.text.ids import find_question

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


# Descriptions


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
    from sraven.core.untrusted.schemas import find_problem

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


def config_seeds():
    from baselines.recipes import make_config
    from sraven.board.board import read_board

    return [json.dumps(values_of(make_config(read_board("sraven-v1"), "hyla"))).encode()]


def run_config(data, folder):
    from baselines.runs.directory import CONFIG, read_run

    (folder / CONFIG).write_bytes(data)
    config, message = refused(read_run, folder)
    if config and not all(is_seen(c) for value in values_of(config).values() for c in str(value)):
        raise FindingError("accepts names that can't be seen")
    return message or "accepted"


def run_log(data, folder):
    from baselines.runs.log import LOG, Log

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


# Records


def record_seeds():
    records = ({"text": f"Text {n} \u00e9\n.", "url": "x"} for n in range(5))
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    zipped = gzip.compress(lines, mtime=0)
    return [b"j" + lines, b"t" + lines, b"z" + zipped, b"z" + zipped * 2]


def table_seeds():
    from helpers.submissions import parquet

    texts = parquet({"text": [f"Text {n}" for n in range(5)], "url": ["x"] * 5})
    plain = parquet({"text": [f"Text {n}" for n in range(5)]}, compression="none", use_dictionary=False)
    return [b"q" + texts, b"q" + plain]


ENDINGS = {b"j": ".jsonl", b"t": ".txt", b"z": ".json.gz", b"q": ".parquet"}


def change_records(data, choose):
    change = {b"j": change_bytes, b"t": change_bytes, b"z": change_zipped, b"q": change_parquet}[data[:1]]
    return data[:1] + change(data[1:], choose)


def change_zipped(data, choose):
    if choose.random() < 0.5:
        try:
            return gzip.compress(change_bytes(gzip.decompress(data), choose), 1, mtime=0)
        except Exception:  # it is no whole gzip file any more
            choose.random()
    return change_bytes(data, choose)


def run_records(data, folder):
    from baselines.lm.records import FAULTS, read_source
    from baselines.lm.sources import SUFFIXES, Source

    suffix = ENDINGS[data[:1]]
    path = folder / f"records{suffix}"
    path.write_bytes(data[1:])
    source = Source(str(path), SUFFIXES[suffix], str(path), len(data) - 1)
    records, message = refused(lambda: list(read_source(source)))
    if message:
        return message
    for record in records:
        if record.fault and (record.fault not in FAULTS or record.text):
            raise FindingError(f"gives the fault {record.fault!r}")
        record.text.decode()
    if data[:1] != b"q" and list(read_source(source, len(records) // 2)) != records[len(records) // 2 :]:
        raise FindingError("reads otherwise from the middle")
    return " ".join(sorted({record.fault or "text" for record in records}))


# Command lines

COMMANDS = (
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
    "text score nowhere --out x",
    "train sraven-v1 --attention hyla --steps 1 --help",
    "c4 prepare nowhere --out x --help",
)


def run_command_line(data, folder):
    try:
        arguments = shlex.split(data.decode(errors="surrogateescape"))
    except ValueError:
        return "no command line"
    if not arguments or "\0" in data.decode(errors="replace"):
        return "no command line"
    os.chdir(folder)
    if set(arguments) & {"generate", "bench", "freeze", "evaluate", "ambiguity"}:
        return "writes, or takes its time, as it is told to"
    code, _, said = sraven(*arguments)
    lines = [check_line(line) for line in said.splitlines()]
    if code not in (0, 1, 2):
        raise FindingError(f"exit code {code}: {said[-300:]!r}")
    return f"{code} {lines[-1] if lines else ''}"


# Replies of language models, and files of them

REPLIES = (
    b"Row 3 adds.\nAnswer: [3 6 2 0]\n",
    b"**Answer: [3 6 2 0]**",
    b"**Answer:** [ 3  6 2 0 ]\r\n",
    b"Answer: [0 0 0 0]\nAnswer: C",
    "Answer: [\u0663 \u0666 2 0]\u2028Answer: [1 2 3 4]".encode(),
)

_ID = b"v1_M2-K7-unique_h25_s0_ood-10_told-0"

COMPLETIONS = (
    b"".join(b'{"id": "%s_%d", "completion": "Answer: [%d 2]"}\n' % (_ID, n, n) for n in range(5)),
    b'{"id": "%s_9", "completion": null, "usage": {"tokens": [1]}}\r\n\n' % _ID,
    b'{"id": "v1_M12-K256-unpermuted_h05_s9_test-16777216_untold-64_4", "completion": "\\ud800"}',
)


def run_reply(data, folder):
    reply = data.decode(errors="surrogateescape")
    panel = parse(reply, 4, 8)
    last = reply.rstrip(" \t\r\n").split("\n")[-1]
    if panel is not None:
        plain = "".join(last.replace("*", "").split()).replace("[", "[ ").replace("]", " ]")
        symbols = render_answer(panel).removeprefix("Answer: ")
        if len(panel) != 4 or not set(panel) <= set(range(8)):
            raise FindingError(f"reads {panel} from {reply!a}")
        if plain.replace(" ", "") != f"Answer:{symbols.replace(' ', '')}":
            raise FindingError(f"reads {panel} from the last line {last!a}")
        return "a panel"
    return "nothing"


def completion_seeds():
    find_question(f"{_ID.decode()}_0")  # which loads a kernel
    return list(COMPLETIONS)


def run_completions(data, folder):
    path = folder / "completions.jsonl"
    path.write_bytes(data)
    lines, message = refused(lambda: list(read_completions(path)))
    if message:
        return message.replace(str(path), "file")
    kinds = set()
    for line in lines:
        found, message = refused(find_question, line.question)
        if found and found[0].id_of(found[1]) != line.question:
            raise FindingError(f"takes {line.question!a} for another question")
        kinds.add(message or "a question")
    return " ".join(sorted(kinds)) or "no lines"
