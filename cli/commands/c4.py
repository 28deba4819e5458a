"""The language model: prepare, sample, complete."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.lazy import LazyGroup
from cli.shared.imports import import_option, needs_extra
from cli.shared.options import any_path, engine_option, existing_file
from cli.shared.outputs import output_directory, output_file, spare
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import documents_bar, doing, progress_bar, resumable
from cli.shared.writing import print_part, print_tokens

if TYPE_CHECKING:
    from sraven.data.engines.jobs import Engine

TRAIN = "train"


@click.group(name="c4", cls=LazyGroup)
def command() -> None:
    """Text for the language model (paper, section 5): C4, or files like it.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
    """


@command.command("prepare", short_help="Documents to shards of tokens: C4, or local files.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    required=True,
    help="Files, a pattern of files in quotes, or a dataset to stream; may be repeated.",
)
@click.option("--config", help="Configuration of the dataset, such as en.")
@click.option("--split", default="train", show_default=True, help="Split of the dataset.")
@click.option("--tokenizer", required=True, metavar="FILE.model|train", help="SentencePiece model.")
@click.option("--vocab-size", type=int, help="Pieces of the tokenizer to train.  [default: 32000]")
@click.option("--train-documents", type=int, help="First documents to train it on.  [default: 100000]")
@click.option("--limit", type=int, help="Documents to take.  [default: all]")
@click.option(
    "--shard-documents", type=int, default=500_000, show_default=True, help="Documents of a shard at most."
)
@click.option("--processes", type=click.IntRange(1), help="Processes to use.  [default: all processors]")
@engine_option
@click.option(
    "--part", metavar="I/N", help="Prepare one of N parts of the sources alone; see `sraven merge`."
)
@click.option("--strict", is_flag=True, help="Refuse broken records, rather than count and skip them.")
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace other tokens in the same place.")
@json_option
def prepare_tokens(
    sources: tuple[str, ...],
    config: str | None,
    split: str,
    tokenizer: str,
    vocab_size: int | None,
    train_documents: int | None,
    limit: int | None,
    shard_documents: int,
    engine: "Engine",
    part: str | None,
    out: Path,
    **how: Any,
) -> None:
    """Write documents as shards of tokens, which the language model trains on.

    Files hold JSON objects with a field text, one a line (.json, .jsonl), a column text (.parquet), or a
    document a line (.txt); .gz of them too. If it is interrupted, the same command goes on and ends with
    the same bytes, for any number of processes, on one machine or many.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
      sraven c4 prepare --source allenai/c4 --config en --tokenizer train --out c4-tokens
    """
    with needs_extra("sraven c4 prepare", "baselines"):
        from baselines.lm.prepare import Preparation, TokenizerTraining, prepare
        from baselines.lm.sources import find_sources
        from baselines.lm.tokenizer import read_tokenizer

    chosen = {"vocab_size": vocab_size, "documents": train_documents}
    given = {name: value for name, value in chosen.items() if value is not None}
    if given and tokenizer != TRAIN:
        raise click.UsageError("--vocab-size and --train-documents go with --tokenizer train")
    maker = TokenizerTraining(**given) if tokenizer == TRAIN else read_tokenizer(Path(tokenizer).expanduser())
    with doing("looking for the documents"):
        found = tuple(find_sources(sources, config, split))
    preparation = Preparation(found, maker, limit, shard_documents)
    own = None
    if part is not None:
        from sraven.core.system.parts import read_part

        own = read_part(part)
    with resumable(out), documents_bar(f"part {own}" if own else "preparing") as (on_progress, finished):
        how |= {"part": own, "engine": engine, "on_progress": on_progress, "sources": finished}
        manifest = prepare(preparation, out, **how)
    if own is None:
        print_tokens(manifest, out)
    else:
        print_part(out, own, documents=manifest["documents"], tokens=manifest["tokens"])


@command.command("sample", short_help="Text from a trained language model.")
@click.argument("run", metavar="RUN", type=any_path)
@click.option("--prompt", default="", help="How the text begins.  [default: nothing]")
@click.option("--tokens", type=int, help="To add at most.  [default: 64, or what fits]")
@click.option("--samples", type=int, default=1, show_default=True, help="How many texts.")
@click.option("--temperature", type=float, default=1.0, show_default=True, help="0 takes what is likeliest.")
@click.option("--top", type=int, default=0, help="Draw from as many of the likeliest tokens.  [default: all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the tokens.")
@import_option
@json_option
def sample(
    run: Path, prompt: str, tokens: int | None, samples: int, temperature: float, top: int, seed: int
) -> None:
    """Continue a text with a language model.

    RUN is the directory of a finished run on c4-v1. Each text ends where the model ends its document, or
    after --tokens tokens.

    \b
    Example:
      sraven c4 sample run --prompt "The weather in" --temperature 0.8
    """
    with needs_extra("sraven c4 sample", "baselines"):
        from baselines.lm.sample import sample_text

    texts = sample_text(run, prompt, tokens, samples=samples, temperature=temperature, top=top, seed=seed)
    print_outcome(value={"prompt": prompt, "texts": texts}, text="\n\n".join(prompt + text for text in texts))


@command.command("complete", short_help="Completions of a file of prompts.")
@click.argument("run", metavar="RUN", type=any_path)
@click.argument("prompts", type=existing_file)
@click.option("--tokens", type=int, default=32, show_default=True, help="To add at most.")
@click.option("--batch", type=int, default=256, show_default=True, help="Prompts at a time.")
@click.option("--out", type=output_file, required=True, help="File to write.")
@import_option
@json_option
def complete(run: Path, prompts: Path, tokens: int, batch: int, out: Path) -> None:
    """Complete PROMPTS with a language model, the likeliest pieces after each.

    RUN is the directory of a finished run on c4-v1. PROMPTS is a file of JSON Lines with `id` and `prompt`,
    as `sraven text generate` writes it; the completions are what `sraven text score` reads. Each ends where
    the model ends its document, or after --tokens tokens.

    \b
    Example:
      sraven c4 complete run prompts.jsonl --tokens 12 --out completions.jsonl
    """
    with needs_extra("sraven c4 complete", "baselines"):
        from baselines.lm.sample import Completer
    from sraven.core.system.files import replacing
    from sraven.text.completions import read_completions

    spare(out, [prompts])
    completer = Completer(run, tokens, batch)
    total = sum(1 for _ in read_completions(prompts, "prompt"))
    questions = ((each.question, each.text or "") for each in read_completions(prompts, "prompt"))
    with (
        replacing(out) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
        progress_bar("completing (compiles on first use)", total) as advance,
    ):
        for name, text in completer.complete(questions):
            file.write(json.dumps({"id": name, "completion": text}) + "\n")
            advance(1)
    print_outcome(value={"path": str(out), "completions": total}, text=f"{out}: {total:,} completions")
