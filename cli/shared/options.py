"""Options that commands share: types of paths, of tasks, what is imported first."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from functools import reduce, wraps
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from inspect import cleandoc
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import click
from click.core import ParameterSource

from sraven.core.errors import ConfigurationError
from sraven.core.family import Family
from sraven.core.spec import settings_of
from sraven.files.files import LARGEST
from sraven.files.names import address_in

if TYPE_CHECKING:
    from sraven.core.roles import Task
    from sraven.data.engines.jobs import Engine


F = TypeVar("F", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A number in a range; NaN, which is in any, and infinity are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number.

        Raises:
            click.BadParameter: if it is none.
        """
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is no finite number", param, ctx)
        return found


class _PlainFile(click.Path):
    """A file that is there and has an end: a pipe may never have one, and its reader would wait."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises:
            click.BadParameter: if it is no plain file.
        """
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.is_file():
            self.fail(f"{path} is no plain file; write what it holds into one", param, ctx)
        return path


any_path = click.Path(path_type=Path)
existing_file = _PlainFile(path_type=Path, exists=True, dir_okay=False)
directory = click.Path(path_type=Path, file_okay=False)
"""Types of what is read."""


def join_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in this order."""
    return lambda function: reduce(lambda decorated, option: option(decorated), reversed(options), function)


def argument_of(name: str, make: Callable[..., Any], *options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options and hands the command what is made of them, as one argument.

    Args:
        name: of the argument.
        make: returns it, given the options' values by their names.
        options: what to add.
    """
    add = join_options(*options)
    names = [each.name or "" for each in click.command()(add(cast(F, lambda: None))).params]

    def decorate(command: F) -> F:
        @wraps(command)
        def with_argument(**values: Any) -> Any:
            return command(**{name: make(**{part: values.pop(part) for part in names})}, **values)

        return add(cast(F, with_argument))

    return decorate


def field_options(kind: Any, names: Iterable[str], about: str = "") -> list[Callable[[F], F]]:
    """Return the options of some fields of a configuration: of the same type, without a default.

    Args:
        kind: a dataclass, whose docstring says under ``Attributes:`` what each field means.
        names: of the fields.
        about: what each help begins with.
    """
    _, _, listed = cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n     +.*)*)", listed, re.MULTILINE)
    meanings = {name: " ".join(text.replace("`", "").split()) for name, text in found}
    types = {each.name: each.type for each in fields(kind)}
    return [
        click.option(
            f"--{name.replace('_', '-')}",
            type=types[name],
            help=about + (meanings[name] if about else meanings[name][:1].upper() + meanings[name][1:]),
        )
        for name in names
    ]


def is_given(name: str) -> bool:
    """Return whether this command was given an option, by its argument's name."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def leave_out(names: Collection[str], why: str) -> None:
    """Refuse options that have no place beside another one.

    Args:
        names: of their arguments.
        why: what the refusal begins with.
    """
    for parameter in click.get_current_context().command.params:
        if parameter.name in names and is_given(parameter.name):
            is_option = isinstance(parameter, click.Option)
            shown = parameter.opts[0] if is_option else parameter.human_readable_name.strip("[]")
            raise click.UsageError(f"{why}; leave {shown} out")


def read_integers(ctx: click.Context, param: click.Parameter, text: str | Sequence[str] | None) -> list[int]:
    """Return the integers of an option such as ``1,2,4``; of one that may be repeated, those of all texts."""
    given = text if text is None or isinstance(text, str) else ",".join(text)
    try:
        return [int(each) for each in given.split(",")] if given else []
    except ValueError:
        raise click.BadParameter(f"{given!r}: expected integers, such as 1,2,4") from None


threads_option = click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all]")


def _make_engine(engine: str, address: str | None) -> "Engine":
    """Return what jobs run on."""
    from sraven.data.engines.jobs import Engine

    return Engine(engine, address)


engine_option = argument_of(
    "engine",
    _make_engine,
    click.option(
        "--engine",
        default="local",
        show_default=True,
        type=click.Choice(["local", "ray"]),
        help="What the work runs on: this machine's processors, or a Ray cluster.",
    ),
    click.option(
        "--address",
        metavar="auto|HOST:PORT",
        help="Of a Ray cluster that runs.  [default: one of this machine, for as long as the work takes]",
    ),
)
"""Adds the options; the command gets ``engine``."""


# Of tasks


def _number_or_name(text: str) -> float | str:
    """Return a number, or a text as it is: the task says which names it knows."""
    try:
        return float(text)
    except ValueError:
        return text


def field_option(kind: Any, name: str, **defaults: Any) -> Callable[[F], F]:
    """Return the option of a field of a configuration, with its type, default or another one, and help."""
    usual, setting = settings_of(kind)[name]
    default = defaults.get(name, usual)
    flag = f"--{setting.option or name.replace('_', '-')}"
    if isinstance(default, bool):
        return click.option(flag, name, is_flag=True, help=setting.meaning)
    hint = next(each.type for each in fields(kind) if each.name == name)
    types = [each for each in get_args(hint) or (hint,) if each is not NoneType]
    values = setting.values.split("|")
    if is_choice := len(values) > 1 and setting.values.islower():
        types = [click.Choice(values)]
    return click.option(
        flag,
        name,
        type=_number_or_name if len(types) > 1 else types[0],
        default=default,
        show_default=default is not None,
        metavar=None if is_choice else setting.values or ("FLOAT" if float in types else None),
        help=setting.meaning,
    )


def task_argument(family: Family, measuring: bool = False, **defaults: Any) -> Callable[[F], F]:
    """Return a decorator that adds the options of a family's tasks and hands the command the ``task``.

    Args:
        family: the family.
        measuring: whether to leave out the fields that measurements don't take.
        defaults: of fields that have another one here; of no switch.
    """
    kind = family.settings
    assert kind is not None, f"{family.name} has no settings to make options of"
    settings = settings_of(kind)
    shared = [name for name in settings if settings[name][1].measured]
    names = shared if measuring else [*shared, *(name for name in settings if name not in shared)]

    def make(**values: Any) -> "Task":
        for name, (default, _) in settings.items():
            if isinstance(default, bool) and name in values:
                values[name] = default is not values[name]  # a switch turns it over
        given = {name: value for name, value in values.items() if value is not None}
        make_task: Callable[..., Task] = family.task
        try:
            return make_task(**given)
        except ConfigurationError:
            if "holdout" not in values or is_given("holdout"):
                raise
            # So small a task that nothing can be held out, unless asked for.
            with suppress(ConfigurationError):
                return make_task(**{**given, "holdout": 0.0})
            raise

    return argument_of("task", make, *(field_option(kind, name, **defaults) for name in names))


OF_PLACE = frozenset({EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS})
"""Errors that another path would not have; the others, as of a full disk, pass when something is mended."""


def _fault(path: Path) -> str:
    """Return why nothing can be written to a path that click takes; nothing if something can."""
    there = path.absolute()
    try:
        there.stat()
    except OSError as error:
        if error.errno == ELOOP:
            return f"{path} is a link that leads back to itself; choose another path"
    if there.is_dir():
        return ""  # it may be finished, which needs no more; or what writes there says what is wrong
    is_odd = there.exists() and not there.is_file()  # a pipe, or a device
    place = there if is_odd else next(above for above in there.parents if above.exists())
    if not (is_odd or place.is_dir()):
        return f"{path} can't be made, as {place} is a file; choose another path"
    closed = f"{path} can't be written: {place} is closed to you; choose another path"
    return "" if os.access(place, os.W_OK) else closed


class _Output(click.Path):
    """A path to write to, refused before the work if nothing can be written there.

    Args:
        is_directory: whether a directory is written; else it is a file, or a pipe or a device.
        endings: that its name may have; any if there are none.
    """

    def __init__(self, is_directory: bool, endings: Sequence[str] = ()) -> None:
        super().__init__(file_okay=not is_directory, dir_okay=is_directory, path_type=Path)
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            click.BadParameter: if nothing can be written there.
        """
        if address := address_in(os.fsdecode(value)):
            self.fail(address, param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if fault := _fault(path):
            self.fail(fault, param, ctx)
        if self.endings and path.suffix not in self.endings:
            self.fail(f"{path}: expected a name that ends in {', '.join(self.endings)}", param, ctx)
        return path


output_file, output_directory = _Output(is_directory=False), _Output(is_directory=True)
picture_file = _Output(is_directory=False, endings=(".svg", ".pdf", ".png"))
"""Types of the options that say where to write."""


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import what an extra installs; one line says so if it isn't there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{what} needs {error.name}: pip install '.[{extra}]' in a checkout") from None


def _import(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> None:
    """Import files by their path, in the order given."""
    if ctx.resilient_parsing:  # a shell completes the line; nothing is run for that
        return
    if not names and "baselines.train.code" not in sys.modules:
        return
    from baselines.train.code import add_code, forget_code

    forget_code()
    for name in names:
        _run_file(Path(name))
        add_code(Path(name))


def _run_file(path: Path) -> None:
    """Import a file as the module of its name; once, though several options name it."""
    if path.suffix != ".py" or not path.is_file():
        raise click.BadParameter(f"{path} isn't there, or no file of Python; expected FILE.py")
    name = path.stem
    if name in sys.modules:
        if getattr(sys.modules[name], "__file__", None) == str(path.resolve()):
            return
        raise click.BadParameter(f"{path} is called as a module that is there already; rename it")
    spec = spec_from_file_location(name, path.resolve())
    assert spec and isinstance(spec.loader, SourceFileLoader), "a file that ends in .py has this loader"
    if (size := path.stat().st_size) > LARGEST:
        raise click.BadParameter(f"{path} has {size:,} bytes; expected a file of Python")
    try:
        spec.loader.get_code(name)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:  # NUL, no UTF-8, too deep
        raise click.BadParameter(f"{path} is no Python that can be read: {error}") from None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)


import_option = click.option(
    "--import",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_import,
    metavar="FILE.py",
    help="Run Python of your own first, such as one that calls add_attention; may be repeated.",
)
"""Nothing is imported from the working directory unless a file is named."""
