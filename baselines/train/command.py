"""The command that trains runs again."""

import shlex
from collections.abc import Iterable, Sequence

from baselines.config import RunConfig
from sraven.core.spec import values_of


def train_command(configs: Sequence[RunConfig], imported: Iterable[str] = ()) -> str:
    """Return the command that trains runs again: every field but those that follow is an option.

    Args:
        configs: of the runs, which differ in their seed alone.
        imported: names of files of the user's own code.
    """
    values = values_of(configs[0])
    board = values.pop("board")
    data = ["--data TOKENS"] if "corpus" in values else []
    for name in ("board_digest", "seed", "corpus", "vocabulary", "code"):
        values.pop(name, None)
    options = " ".join(
        [
            *(f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in values.items()),
            *data,
            *(f"--import {shlex.quote(name)}" for name in imported),
        ]
    )
    return f"sraven train {board} {options} --seeds {','.join(str(config.seed) for config in configs)}"
