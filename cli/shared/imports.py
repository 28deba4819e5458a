"""Imports: of what an extra installs, and of Python of the user's own that a command runs first."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import click


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import what an extra installs; one line says so if it isn't there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{what} needs {error.name}: pip install '.[{extra}]' in a checkout") from None


def _import(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> None:
    """Import files by their path and modules by their name, in the order given."""
    if ctx.resilient_parsing:  # a shell completes the line; nothing is run for that
        return
    if not names and "baselines.train.code" not in sys.modules:
        return
    from baselines.train.code import add_code, forget_code

    forget_code()
    for name in names:
        if name.endswith(".py"):
            _run_file(Path(name))
            add_code(Path(name))
            continue
        try:
            source = import_module(name).__file__
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0] and error.name != name:
                raise
            raise click.BadParameter(
                f"{name!r}: there is no such module; a file is named with its end, {name}.py"
            ) from None
        if source is not None and source.endswith(".py"):
            add_code(Path(source))


def _run_file(path: Path) -> None:
    """Import a file as the module of its name; once, though several options name it."""
    if not path.is_file():
        raise click.BadParameter(f"{path} isn't there")
    name = path.stem
    if name in sys.modules:
        if getattr(sys.modules[name], "__file__", None) == str(path.resolve()):
            return
        raise click.BadParameter(f"{path} is called as a module that is there already; rename it")
    spec = spec_from_file_location(name, path.resolve())
    assert spec and spec.loader, "a file that ends in .py has a loader"
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)


import_option = click.option(
    "--import",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_import,
    metavar="FILE.py|MODULE",
    help="Run Python of your own first, such as one that calls add_attention; may be repeated.",
)
"""Nothing is imported from the working directory unless a file is named."""
