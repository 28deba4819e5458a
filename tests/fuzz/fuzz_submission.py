"""Fuzz what reads the files of strangers.

    pip install atheris
    python tests/fuzz/fuzz_submission.py description -max_total_time=240 -max_len=4096 corpus/
    python tests/fuzz/fuzz_submission.py parquet 240

``description`` gives bytes to the reader of ``submission.yaml`` and to its schema, guided by the
coverage of their Python code: only a `SubmissionError` of one short line may come out. What follows
goes to libFuzzer; a folder for its corpus is begun if it is empty, and a crash is kept in a file
named after its digest.

``parquet`` gives files to the decoder's process for so many seconds, guided by its answers: a file
with a new one is changed further. The process may refuse a file or abort on it (pyarrow doesn't
catch all exceptions of C++), but no other signal may end it, and the arrays that it gives have to
fit together. It prints how many files had which kind of answer.
"""

import json
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from io import BytesIO
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

ROWS, WIDTH = 20, 3

DESCRIPTION = b"""schema: 1
board: sraven-v1
board_digest: %s
method: {name: A, family: null, description: "It guesses.", authors: [A, "B"], code: https://x.org/c}
model: {parameters: 1000, layers: 4}
training: {instances: 1500, extra_data: null, used_ood: false, selection_split: test, seconds: 1.5}
runs:
- {seed: 0, split: test, file: predictions/test/seed-0.parquet, sha256: %s}
environment:
  python: 3.12.1
  packages: {numpy: '2.0'}
claimed: {test: {accuracy: 0.5}}
""" % (b"0" * 64, b"f" * 64)

LINES = (
    b"a: &a [*a, !!python/name:os.system x, ! y]\n---\n? [b]\n: |\n  c\n",
    b'"\\x41\\u0042\\U00000043": 0x1F\n<<: {x: 1:20:30.5}\ny: 1e5\nz: .nan\n',
    b"%YAML 1.1\n%TAG ! tag:x,2000:\n---\n- ~\n- 2026-11-21\n- 0o7\n- 1_000\n...\n",
)


def fuzz_descriptions(options: list[str]) -> None:
    """Run libFuzzer on the reader of descriptions."""
    import atheris

    with atheris.instrument_imports(include=["sraven.core", "yaml", "jsonschema"]):
        from sraven.core.errors import SubmissionError
        from sraven.core.schemas import find_problem
        from sraven.core.untrusted import parse_yaml

    def check(data: bytes) -> None:
        try:
            problem = find_problem(parse_yaml(data, "submission.yaml"), "submission") or ""
        except SubmissionError as error:
            problem = str(error)
        assert problem.isprintable() and len(problem) < 2_000, problem

    begin = [DESCRIPTION, *LINES, DESCRIPTION.replace(b"1000", b"0x1F").replace(b"null", b"~")]
    for folder in (Path(option) for option in options if not option.startswith("-")):
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            for number, data in enumerate(begin):
                (folder / f"begin-{number}").write_bytes(data)
    atheris.Setup([sys.argv[0], *options], check)
    atheris.Fuzz()


def first_files() -> list[bytes]:
    """Return right files, and one that lies, written in several ways."""
    import numpy as np

    from parquet_forgery import levels, page, replace_pages, run
    from submissions import predictions_file

    panels = np.arange(ROWS * WIDTH, dtype=np.uint8).reshape(ROWS, WIDTH) % 5
    made = [
        predictions_file(panels, **options)
        for options in (
            {},
            {"compression": "zstd", "use_dictionary": False},
            {"compression": "none", "data_page_version": "2.0"},
            {"compression": "gzip", "row_group_size": 7},
            {"use_dictionary": False, "column_encoding": {"index": "DELTA_BINARY_PACKED"}},
        )
    ]
    repeated = levels(run(1, 0), run(29, 1)) + levels(run(30, 3)) + b"\1" + run(30, 0)
    made.append(replace_pages(made[0], 1, page(2, bytes(4), 1), page(0, repeated, 30, encoding=8), 30))
    return made


def change_number(fields: dict, choose: random.Random) -> None:
    """Change, drop or double something in a struct of Thrift."""
    while fields:
        place = choose.choice(list(fields))
        kind, value = fields[place]
        if choose.random() < 0.05:
            del fields[place]
            return
        if kind == 12:
            fields = value
        elif kind == 9 and value[1]:
            of, values = value
            if of == 12 and choose.random() < 0.9:
                fields = choose.choice(values)
            elif of in (5, 6) and choose.random() < 0.8:
                values[choose.randrange(len(values))] = choose.choice([0, 1, -1, 8, 2**31 - 1])
                return
            else:
                values[:] = choose.choice([values[:-1], values * 2, values[::-1]])
                return
        elif kind in (5, 6):
            near = [0, 1, -1, value + 1, value - 1, 2 * value, -value]
            fields[place] = kind, choose.choice([*near, 2**31 - 1, 10**6, 10**9, choose.randrange(64)])
            return
        else:
            return


def change(data: bytes, choose: random.Random) -> bytes:
    """Change a file's bytes, or its metadata, which stays well-formed."""
    from parquet_forgery import put_together, take_apart

    for _ in range(choose.randint(1, 4)):
        try:
            if choose.random() < 0.6:
                body, metadata = take_apart(data)
                change_number(metadata, choose)
                data = put_together(body, metadata)
                continue
        except Exception:  # of bytes that are no file any more
            choose.random()
        changed = bytearray(data)
        for _ in range(choose.randint(1, 4) if changed else 0):
            changed[choose.randrange(len(changed))] = choose.choice(
                [0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256)]
            )
        if choose.random() < 0.1:
            place = choose.randrange(len(changed) + 1)
            del changed[place : place + choose.randint(1, 40)]
        data = bytes(changed)
    return data


def decode_all(files: list[bytes]) -> list[str]:
    """Return what the decoder's process answers to each file, or how it ended."""
    from sraven.core import decode

    answers: list[str] = []
    while len(answers) < len(files):
        rest = files[len(answers) :]
        sizes = [{"bytes": len(data), "rows": ROWS} for data in rest]
        request = {"dtype": "uint8", "width": WIDTH, "files": sizes}
        result = subprocess.run(  # our own script
            [sys.executable, "-I", decode.__file__],
            input=b"".join([json.dumps(request).encode(), b"\n", *rest]),
            capture_output=True,
            check=False,
        )
        output = BytesIO(result.stdout)
        for line in iter(output.readline, b""):
            header = json.loads(line)
            size = (8 + WIDTH) * header.get("rows", 0)
            assert header.get("rows", 0) <= ROWS and len(output.read(size)) == size
            answers.append(header.get("error", "decoded"))
        if len(answers) < len(files):
            end = signal.Signals(-result.returncode).name if result.returncode < 0 else str(result.returncode)
            said = re.findall(rb"what\(\):\s+(.*)", result.stderr)
            answers.append(f"{end} {said[0].decode(errors='replace') if said else ''}")
    return answers


def fuzz_files(seconds: float) -> None:
    """Change files as long as told; keep those with a new kind of answer to be changed further."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    choose, end = random.Random(0), time.monotonic() + seconds
    corpus, kinds = first_files(), Counter[str]()
    while time.monotonic() < end:
        files = [change(choose.choice(corpus), choose) for _ in range(200)]
        for data, answer in zip(files, decode_all(files), strict=True):
            kind = re.sub(r"\d+", "N", answer)[:60]
            if kind not in kinds:
                corpus.append(data)
            kinds[kind] += 1
            if re.match("SIG|[0-9]", answer) and not answer.startswith("SIGABRT"):
                Path(f"finding-{len(corpus)}.parquet").write_bytes(data)
    for kind, count in kinds.most_common():
        sys.stdout.write(f"{count:8}  {ascii(kind)[1:-1]}\n")
    sys.stdout.write(f"{sum(kinds.values()):8}  files, {len(corpus)} kept\n")


if __name__ == "__main__":
    if sys.argv[1] == "parquet":
        fuzz_files(float(sys.argv[2]))
    else:
        fuzz_descriptions(sys.argv[2:])
