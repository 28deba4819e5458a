"""Values that a shell offers on completion: one table, by the name of the option or argument.

Nothing that computes is imported for it: names that belong to tables of functions are read off their source.
"""

import ast
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_ENTRIES = 1000
"""Entries of a directory that are looked at at most."""

_CHOICE = re.compile(r"[a-z0-9_-]+(\|[a-z0-9_-]+)+")
"""The form in which the help lists values: parquet|arrow."""


def _boards(ctx: click.Context) -> Iterable[str]:
    from sraven.board.paths import board_paths

    return board_paths()


def _splits(ctx: click.Context) -> Iterable[str]:
    """Return the splits of the family whose command it is; of text, the puzzles' own."""
    from sraven.core.families import FAMILIES, find_family

    group = ctx.parent.info_name if ctx.parent else None
    family = find_family(group if group in FAMILIES else "sraven")
    return (*family.sizes, "all") if family.sizes else ("train", "validation")


def names_in(package: str, module: str, table: str) -> list[str]:
    """Return the keys of a table, texts or names of its module's constants. It is read, not imported."""
    nodes = ast.parse(files(package).joinpath(f"{module}.py").read_text("utf-8")).body
    constants = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    for node in nodes:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == table and node.value:
            [found, *_] = (each for each in ast.walk(node.value) if isinstance(each, ast.Dict))
            return [ast.literal_eval(constants.get(ast.unparse(key), key)) for key in found.keys if key]
    raise LookupError(f"{package}.{module} has no table {table}")


def _divisions(ctx: click.Context) -> Iterable[str]:
    """Return the names of divisions; fuzzy logic holds out shares alone."""
    is_fuzzy = ctx.parent is not None and ctx.parent.info_name == "fuzzylogic"
    return () if is_fuzzy else names_in("sraven", "divisions", "DIVISIONS")


def _keys(*place: str) -> Callable[[click.Context], Iterable[str]]:
    return lambda ctx: names_in(*place)


def _names(*names: str) -> Callable[[click.Context], Iterable[str]]:
    return lambda ctx: names


NAMES: dict[str, Callable[[click.Context], Iterable[str]]] = {
    "board_id": _boards,
    "board": _boards,
    "split": _splits,
    "holdout": _divisions,
    "rule_set": _keys("sraven", "rules", "RULE_SETS"),
    "attention": lambda ctx: chain(
        *(names_in("baselines.model", "attention", table) for table in ("ATTENTION", "MODULES"))
    ),
    "network": _keys("baselines.model", "networks", "NETWORKS"),
    "activation": _keys("baselines.model", "attention", "ACTIVATIONS"),
    "optimiser": _keys("baselines.training", "optim", "OPTIMISERS"),
    "protocol": _names("board", "paper-code", "fixed_context", "fixed_query", "uniform"),
}
"""Names that a parameter takes. What the help writes as ``a|b`` needs no entry."""

FOLDERS = {
    **dict.fromkeys(("runs", "run"), "config.json"),
    **dict.fromkeys(("submission", "submissions", "added"), "submission.yaml"),
    **dict.fromkeys(("directory", "parts", "data", "validation", "corpus"), "manifest.json"),
}
"""The file by which a directory is recognised, by the parameter that takes it."""


def _directories(folder: Path) -> Iterator[Path]:
    """Yield the directories in a directory, sorted; but for names that a shell would have to quote.

    A name is put on the command line as it is, and somebody else may have chosen ``$(...)``.
    """
    try:
        with os.scandir(folder) as entries:
            found = [each.name for each in islice(entries, _ENTRIES) if each.is_dir()]
    except OSError:
        return
    yield from (folder / name for name in sorted(found) if shlex.quote(name) == name and name[0] not in ".-")


def _folders(marker: str, incomplete: str) -> list[CompletionItem]:
    """Return the directories that hold a file, here or one deeper; any will do if there are none."""
    start, _, name = incomplete.rpartition("/")
    above = Path(start or ("/" if incomplete.startswith("/") else "."))
    found = []
    for folder in (each for each in _directories(above) if each.name.startswith(name)):
        if (folder / marker).is_file():
            found.append(folder)
        else:  # as the seeds of a run, or the points of a grid
            found += [each for each in _directories(folder) if (each / marker).is_file()]
    return list(map(CompletionItem, map(str, found))) or [CompletionItem(incomplete, type="dir")]


def _complete(
    find: Callable[[click.Context], Iterable[str]], ctx: click.Context, incomplete: str
) -> list[CompletionItem]:
    return [CompletionItem(name) for name in find(ctx) if name.startswith(incomplete)]


def _source(parameter: click.Parameter) -> Callable[[click.Context, str], list[CompletionItem]] | None:
    """Return what completes values of a parameter; None if its type does so."""
    name = parameter.name or ""
    choice = parameter.metavar or ""
    if name in FOLDERS and (isinstance(parameter, click.Argument) or name in ("data", "validation", "added")):
        return lambda ctx, incomplete: _folders(FOLDERS[name], incomplete)
    if name in NAMES:
        return partial(_complete, NAMES[name])
    if isinstance(parameter, click.Option) and _CHOICE.fullmatch(choice):
        return partial(_complete, _names(*choice.split("|")))
    return None


def with_values(command: click.Command) -> click.Command:
    """Return a command whose options and arguments complete their values, and which runs nothing for that.

    Its callbacks are left out: one of them runs Python of the user's own.
    """
    command = copy(command)
    command.params = list(map(copy, command.params))
    for parameter in command.params:
        parameter.callback = None
        if source := _source(parameter):
            parameter.shell_complete = source  # type: ignore[assignment,method-assign]
    return command
