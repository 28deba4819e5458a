"""Print what was written: datasets, their parts, tokens."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.printing import print_outcome
from sraven.core.escape import escape

if TYPE_CHECKING:
    from sraven.core.system.parts import Part


def print_part(folder: Path, part: "Part", **counts: int) -> None:
    """Print what a part holds, and what comes next."""
    held = ", ".join(f"{count:,} {noun}" for noun, count in counts.items())
    print_outcome(
        value={"path": str(folder), "number": part.number, "of": part.of, **counts},
        text=f"part {part}: {held}\n"
        f"when all are there: sraven merge {shlex.quote(str(folder))} ... --out DIR",
    )


def print_dataset(manifest: Mapping[str, Any], out: Path) -> None:
    """Print what a dataset holds, and how to load it."""
    keys = "num_examples", "digest"
    splits = {name: {key: split[key] for key in keys} for name, split in manifest["splits"].items()}
    print_outcome(
        value={"path": str(out), "config": manifest["config"], "splits": splits},
        text=lambda: _describe_dataset(manifest, out),
    )


def _describe_dataset(manifest: Mapping[str, Any], out: Path) -> None:
    from sraven.core.families import make_task

    rows = make_task(manifest["config"]).rows
    for name, split in manifest["splits"].items():
        click.echo(f"{name:>9}: {split['num_examples']:>12,} instances{rows.remark(split['tallies'])}")
    # Without a slash, load_dataset would take some names for formats or packages.
    path = str(out) if "/" in str(out) else f"./{out}"
    path = path if out.name and out.name != ".." else str(out.resolve())
    if not has_patterns(path):
        click.echo(f"\nfrom datasets import load_dataset\ndataset = load_dataset({json.dumps(path)})")


def has_patterns(path: str | Path) -> bool:
    """Return whether `load_dataset` takes a directory's name for a pattern, and so never finds it."""
    return any(sign in str(path) for sign in ("*", "?", "[", "]", "::"))


def warn_of_patterns(out: Path) -> None:
    """Warn, before the work, of a name that `load_dataset` can't load."""
    if has_patterns(out):
        click.echo(
            f"warning: load_dataset takes * ? [ ] and :: for patterns, and won't find {escape(str(out))}",
            err=True,
        )


def print_tokens(manifest: Mapping[str, Any], out: Path) -> None:
    """Print what tokens were prepared, and what was left out."""
    content = {key: value for key, value in manifest.items() if key != "plan"}
    print_outcome(value={"path": str(out), **content}, text=lambda: _describe_tokens(manifest, out))


def _describe_tokens(manifest: Mapping[str, Any], out: Path) -> None:
    from baselines.lm.records import FAULTS

    tokens, size = manifest["tokens"], manifest["text_bytes"]
    click.echo(f"{manifest['documents']:>15,} documents in {len(manifest['shards']):,} shards below {out}")
    click.echo(f"{size:>15,} bytes of text")
    click.echo(f"{tokens:>15,} tokens, {size / tokens:.3f} bytes of text each")
    for fault, count in manifest["skipped"].items():
        click.echo(f"{count:>15,} skipped: {FAULTS[fault]}")
    for named in manifest["first_skipped"]:
        click.echo(f"note: skipped {named}", err=True)
