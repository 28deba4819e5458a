"""Print results: JSON for programs, tables and pictures of text for readers, what was written."""

import json
import os
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import is_given
from sraven.files.jsonable import as_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


json_option = click.option(
    "--json", "as_json", is_flag=True, expose_value=False, help="Print JSON, for programs."
)


def wants_json() -> bool:
    """Return whether this command was given ``--json``."""
    return is_given("as_json")


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output; dataclasses may be in it."""
    click.echo(json.dumps(as_json(value), indent=2, allow_nan=False))


def print_outcome(*, value: Mapping[str, Any] | list[Any], text: str | Callable[[], object]) -> None:
    """Print the result of this command: for programs if it was given ``--json``, else for people.

    Args:
        value: an object or a list, for programs.
        text: for people, or what prints it.
    """
    if wants_json():
        print_json(value)
    elif callable(text):
        text()
    else:
        click.echo(text)


def _console(width: int | None = 200) -> "Console":
    """Return standard output, of a given width where it isn't a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=width)


def print_rows(
    headings: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    right: Container[str] = (),
    bold: Iterable[bool] = (),
    **look: Any,
) -> None:
    """Print a table on standard output.

    Args:
        headings: of the columns.
        rows: their cells. Nothing in them is markup: untrusted input may be among them.
        right: headings of columns that end on the right, as numbers do.
        bold: which rows stand out; none unless given.
        look: options of `rich.table.Table`.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(**look)
    for each in headings:
        table.add_column(each, justify="right" if each in right else "left")
    for row, is_bold in zip_longest(rows, bold):
        table.add_row(*(Text(str(cell)) for cell in row), style="bold" if is_bold else None)
    print_table(table)


def print_table(table: "Table") -> None:
    """Print a table on standard output."""
    _console().print(table)


def print_renderables(renderables: "Iterable[RenderableType]") -> None:
    """Print what `rich` can render on standard output, one below the other."""
    console = _console(None if "COLUMNS" in os.environ else 200)
    for renderable in renderables:
        console.print(renderable)


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
    click.echo(f"\nfrom datasets import load_dataset\ndataset = load_dataset({json.dumps(path)})")


def print_tokens(manifest: Mapping[str, Any], out: Path) -> None:
    """Print what tokens were prepared."""
    tokens, size = manifest["tokens"], manifest["text_bytes"]
    lines = [
        f"{manifest['documents']:>15,} documents in {len(manifest['shards']):,} shards below {out}",
        f"{size:>15,} bytes of text",
        f"{tokens:>15,} tokens, {size / tokens:.3f} bytes of text each",
    ]
    content = {key: value for key, value in manifest.items() if key != "plan"}
    print_outcome(value={"path": str(out), **content}, text="\n".join(lines))
