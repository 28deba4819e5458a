"""The commands that every family of tasks has, made of its `Family`: generate, show, ambiguity.

Their options are the fields of its tasks' dataclass, which is the home of each default and help.
"""

from collections.abc import Callable
from contextlib import suppress
from inspect import cleandoc
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from cli.lazy import LazyGroup
from cli.shared.imports import needs_extra
from cli.shared.options import F, argument_of, engine_option, is_given, join_options, threads_option
from cli.shared.outputs import output_directory, output_file
from cli.shared.printing import json_option, print_outcome, print_renderables, print_rows
from cli.shared.progress import Stopped
from cli.shared.writing import write
from sraven.core.errors import ConfigurationError
from sraven.core.families import FAMILIES, find_family
from sraven.core.family import Family, Help, Shows
from sraven.core.spec import settings_of
from sraven.core.system.isolation import elsewhere

if TYPE_CHECKING:
    from sraven.core.task import GeneratedTask

MAIN = "sraven"
"""The family whose commands need no group: `sraven generate`."""


def _number_or_name(text: str) -> float | str:
    """Return a number, or a text as it is: the task says which names it knows."""
    try:
        return float(text)
    except ValueError:
        return text


def field_option(kind: Any, name: str, **defaults: Any) -> Callable[[F], F]:
    """Return the option of a field of a class of tasks, with its default, or another one, and its help."""
    usual, setting = settings_of(kind)[name]
    default = defaults.get(name, usual)
    flag = f"--{setting.option or name.replace('_', '-')}"
    if isinstance(default, bool):
        return click.option(flag, name, is_flag=True, help=setting.meaning)
    return click.option(
        flag,
        name,
        type={type(None): None, float: _number_or_name}.get(type(usual), type(usual)),
        default=default,
        show_default=default is not None,
        metavar=setting.values or ("FLOAT" if isinstance(usual, float) else None),
        help=setting.meaning,
    )


def task_argument(family: Family, measuring: bool = False, **defaults: Any) -> Callable[[F], F]:
    """Return a decorator that adds the options of a family's tasks and hands the command the ``task``.

    Args:
        family: the family.
        measuring: whether to leave out the fields that measurements don't take.
        defaults: of fields that have another one here; of no switch.
    """
    kind = resolve_name(family.settings or family.task)
    settings = settings_of(kind)
    shared = [name for name in settings if settings[name][1].measured]
    names = shared if measuring else [*shared, *(name for name in settings if name not in shared)]

    def make(**values: Any) -> "GeneratedTask":
        for name, (default, _) in settings.items():
            if isinstance(default, bool) and name in values:
                values[name] = default is not values[name]  # a switch turns it over
        given = {name: value for name, value in values.items() if value is not None}
        make_task: Callable[..., GeneratedTask] = resolve_name(family.task)
        try:
            return make_task(**given)
        except ConfigurationError:
            if "holdout" not in values or is_given("holdout"):
                raise
            with suppress(
                ConfigurationError
            ):  # so small a task that nothing can be held out, unless asked for
                return make_task(**{**given, "holdout": 0.0})
            raise

    return argument_of("task", make, *(field_option(kind, name, **defaults) for name in names))


def _help_of(family: Family, name: str) -> Help:
    """Return what the help says of a command, the family's own words or plain ones."""
    group = "" if family.name == MAIN else f"{family.commands} "
    summaries = {
        "generate": f"Write a dataset of {family.name} that load_dataset loads.",
        "show": f"Look at {family.nouns}.",
        "ambiguity": f"Measure what {family.nouns} leave open.",
    }
    plain = Help(summaries[name], f"{summaries[name]}\n\n\b\nExample:\n  sraven {group}{name}\n")
    return family.helps.get(name, plain)


def _generate(family: Family) -> Callable[..., None]:
    options = (
        click.option(
            f"--{split.replace('_', '-')}",
            type=int,
            default=size.instances,
            show_default=True,
            help=size.meaning,
        )
        for split, size in family.sizes.items()
    )

    @task_argument(family)
    @argument_of("sizes", dict, *options)
    @click.option(
        "--format",
        "file_format",
        default="parquet",
        show_default=True,
        metavar="parquet|arrow",
        help="Format of the files.",
    )
    @click.option(
        "--shard-size",
        type=int,
        metavar="N",
        help="Instances in a file, of one to four blocks (65,536 in most tasks).  [default: four blocks]",
    )
    @click.option("--out", type=output_directory, help="Directory to write.  [default: named after the task]")
    @threads_option
    @engine_option
    @click.option(
        "--part", metavar="I/N", help="Write the shards of one of N parts alone; see `sraven merge`."
    )
    @click.option("--force", is_flag=True, help="Replace another dataset in the same place.")
    @json_option
    def generate(task: "GeneratedTask", sizes: dict[str, int], **output: Any) -> None:
        # A task without some split, as --holdout 0 leaves it, has none of it unless its size is given; and
        # whoever says how much of one kind of novelty is wanted wants no other.
        novel = [split for split in sizes if split.startswith("ood")]
        unasked = set(novel) if any(map(is_given, novel)) else set()
        chosen = [
            split for split in sizes if is_given(split) or (split in task.splits and split not in unasked)
        ]
        write(task, {split: sizes[split] for split in chosen}, **output)

    return generate


def _show(family: Family) -> Callable[..., None]:
    show = family.show
    assert show is not None

    picture = [click.option("--png", type=output_file, help=show.draws)] if show.picture else []

    @task_argument(family)
    @click.option("--split", default="train", show_default=True, help="Split to look into, or all.")
    @click.option("--index", type=int, default=0, show_default=True, help="First instance to show.")
    @click.option(
        "-n", "--count", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many to show."
    )
    @click.option("--explain", is_flag=True, help=show.explain)
    @join_options(*picture)
    @json_option
    def command(
        task: "GeneratedTask", split: str, index: int, count: int, explain: bool, png: Path | None = None
    ) -> None:
        module: Shows = resolve_name(show.module)
        if png:
            if count != 1:
                raise click.UsageError(
                    f"--png shows one instance, but --count is {count}; leave out one of them"
                )
            with elsewhere(), needs_extra("--png", "analysis"):
                save_picture = resolve_name(show.picture)
            save_picture(module.make_puzzle(task, split, index), png, explain)
            print_outcome(value={"path": str(png)}, text=str(png))
            return
        puzzles = [module.make_puzzle(task, split, at) for at in range(index, index + count)]
        print_outcome(
            value=list(map(module.to_json, puzzles)),
            text=lambda: print_renderables(module.render(puzzle, explain) for puzzle in puzzles),
        )

    return command


def _ambiguity(family: Family) -> Callable[..., None]:
    @task_argument(family, measuring=True)
    @click.option(
        "-n",
        "n",
        type=int,
        default=100_000,
        show_default=True,
        help=f"{family.nouns.capitalize()} of each population.",
    )
    @threads_option
    @json_option
    def ambiguity(task: "GeneratedTask", n: int, threads: int | None) -> None:
        found = resolve_name(family.measure)(task, n, threads)
        print_outcome(
            value={"config": task.config, "results": found.results},
            text=lambda: print_rows(found.headings, found.rows, title=found.title, title_justify="left"),
        )

    return ambiguity


_MAKERS: dict[str, tuple[Callable[[Family], Callable[..., None]], Callable[[Family], Any]]] = {
    "generate": (_generate, lambda family: family.sizes),
    "show": (_show, lambda family: family.show),
    "ambiguity": (_ambiguity, lambda family: family.measure),
}
"""The commands: what makes one, and what a family has to say for it to be there."""


def commands_of(family: Family) -> list[str]:
    """Return the names of the commands that a family has."""
    return [name for name, (_, needed) in _MAKERS.items() if needed(family)]


def _summary_of(family: Family) -> str:
    """Return what a list of commands says of a family's group."""
    return family.summary or f"Another task: {', '.join(commands_of(family))}."


def make_command(family: Family, name: str) -> click.Command:
    """Return a command of a family, which imports its tasks' module."""
    said, (make, _) = _help_of(family, name), _MAKERS[name]
    return click.command(name=name, help=cleandoc(said.text), short_help=said.summary)(make(family))


class FamilyGroup(LazyGroup):
    """The commands of a family, each made when it is used."""

    def __init__(self, family: Family) -> None:
        text = family.text or f"Tasks of the family {family.name}."
        names, summary = tuple(commands_of(family)), _summary_of(family)
        super().__init__(family.commands, names=names, help=cleandoc(text), short_help=summary)
        self._family = family

    def load(self, name: str) -> click.Command:
        """Make a command."""
        return make_command(self._family, name)


class FamiliesGroup(LazyGroup):
    """Commands of modules, those of the main family, and a group for each other family that has some."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in their order: first what is about tasks."""
        about_tasks = [*commands_of(find_family(MAIN)), "count", *self._groups()]
        return list(dict.fromkeys([*about_tasks, *super().list_commands(ctx)]))

    def load(self, name: str) -> click.Command:
        """Import or make a command."""
        if name in commands_of(find_family(MAIN)):
            return make_command(find_family(MAIN), name)
        family = self._groups().get(name)
        return FamilyGroup(family) if family else super().load(name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interrupt that it has nothing of its own to say of ends it in one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("interrupted", 130) from None

    def _groups(self) -> dict[str, Family]:
        # A family for which there is a module, as for c4, has its commands there.
        own = {MAIN, *self._names, *self.commands}
        families = [find_family(name) for name in FAMILIES if name not in own]
        return {each.commands: each for each in families if commands_of(each)}
