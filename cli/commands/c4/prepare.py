"""Documents to shards of tokens: C4, or local files."""

from pathlib import Path
from typing import Any

import click

from cli.shared.extras import needs_extra
from cli.shared.options import json_option
from cli.shared.printing import print_json
from cli.shared.progress import documents_bar, resumable

TRAIN = "train"


def _print(manifest: dict[str, Any], out: Path) -> None:
    """Print what was prepared, and what was left out."""
    from baselines.lm.records import FAULTS

    tokens, size = manifest["tokens"], manifest["text_bytes"]
    click.echo(f"{manifest['documents']:>15,} documents in {len(manifest['shards']):,} shards below {out}")
    click.echo(f"{size:>15,} bytes of text")
    click.echo(f"{tokens:>15,} tokens, {size / tokens:.3f} bytes of text each")
    for fault, count in manifest["skipped"].items():
        click.echo(f"{count:>15,} skipped: {FAULTS[fault]}")
    for named in manifest["first_skipped"]:
        click.echo(f"note: skipped {named}", err=True)


@click.command(name="prepare")
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
@click.option("--strict", is_flag=True, help="Refuse broken records, rather than count and skip them.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Directory to write."
)
@click.option("--force", is_flag=True, help="Replace other tokens in the same place.")
@json_option
def command(
    sources: tuple[str, ...],
    config: str | None,
    split: str,
    tokenizer: str,
    vocab_size: int | None,
    train_documents: int | None,
    limit: int | None,
    shard_documents: int,
    processes: int | None,
    strict: bool,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write documents as shards of tokens, which the language model trains on.

    Files hold JSON objects with a field text, one a line (.json, .jsonl), a column text (.parquet), or a
    document a line (.txt); .gz of them too. If it is interrupted, the same command goes on and ends with
    the same bytes, for any number of processes.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
      sraven c4 prepare --source allenai/c4 --config en --tokenizer train --out c4-tokens
    """
    with needs_extra("sraven c4 prepare", "baselines"):
        from baselines.lm.prepare import Preparation, Training, prepare
        from baselines.lm.sources import find_sources
        from baselines.lm.tokenizer import read_tokenizer

    chosen = {"vocab_size": vocab_size, "documents": train_documents}
    given = {name: value for name, value in chosen.items() if value is not None}
    if given and tokenizer != TRAIN:
        raise click.UsageError("--vocab-size and --train-documents go with --tokenizer train")
    maker = Training(**given) if tokenizer == TRAIN else read_tokenizer(Path(tokenizer).expanduser())
    preparation = Preparation(tuple(find_sources(sources, config, split)), maker, limit, shard_documents)
    with resumable(out), documents_bar() as tell:
        manifest = prepare(preparation, out, processes=processes, strict=strict, force=force, tell=tell)
    if as_json:
        print_json({"path": str(out), **{key: manifest[key] for key in manifest if key != "plan"}})
    else:
        _print(manifest, out)
