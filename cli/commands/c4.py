"""Text for the language model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.families import LazyGroup
from cli.shared.options import engine_option, needs_extra, output_directory
from cli.shared.printing import json_option, print_tokens
from cli.shared.progress import doing, parts_bar, resumable
from sraven.core.arguments import check_integer

if TYPE_CHECKING:
    from sraven.data.engines.jobs import Engine


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
    help="Files, or a pattern of files in quotes; may be repeated.",
)
@click.option(
    "--tokenizer",
    required=True,
    metavar="FILE.model",
    help="SentencePiece model; or train:2000, one of 2,000 pieces of these documents.",
)
@click.option("--processes", type=click.IntRange(1), help="Processes to use.  [default: all processors]")
@engine_option
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace other tokens in the same place.")
@json_option
def prepare_tokens(sources: tuple[str, ...], tokenizer: str, engine: "Engine", out: Path, **how: Any) -> None:
    """Write documents as shards of tokens, which the language model trains on.

    Files hold JSON objects with a field text, one a line (.json, .jsonl), or a document a line (.txt); .gz of
    them too. If it is interrupted, the same command goes on and ends with the same bytes, for any number of
    processes, on one machine or many.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
      sraven c4 prepare --source 'books/*.txt' --tokenizer train:2000 --out book-tokens
    """
    with needs_extra("sraven c4 prepare", "baselines"):
        from baselines.lm.prepare import Preparation, prepare
        from baselines.lm.sources import find_sources, read_documents
        from baselines.lm.tokenizer import read_tokenizer, train_tokenizer

    with doing("looking for the documents") as on_progress:
        found = tuple(find_sources(sources))
        if (pieces := tokenizer.removeprefix("train:")) == tokenizer:
            made = read_tokenizer(Path(tokenizer).expanduser())
        else:
            on_progress("training a tokenizer")
            wanted = check_integer(
                "--tokenizer train:N", int(pieces) if pieces.isdecimal() else pieces, 260, 1 << 16
            )
            texts = (text.decode() for source in found for _, text in read_documents(source))
            made = train_tokenizer(texts, wanted, tokenizer)
    preparation = Preparation(found, made)
    with resumable(out), parts_bar("preparing", None, "documents", "sources") as (on_progress, finished):
        how |= {"engine": engine, "on_progress": on_progress, "sources": finished}
        manifest = prepare(preparation, out, **how)
    print_tokens(manifest, out)
