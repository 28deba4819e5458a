"""The command that trains runs again."""

from collections.abc import Sequence

from baselines.config import RunConfig
from sraven.core.base.spec import values_of


def train_command(configs: Sequence[RunConfig]) -> str:
    """Return the command that trains runs again: every field but those that follow is an option.

    Args:
        configs: of the runs, which differ in their seed alone.
    """
    values = values_of(configs[0])
    board = values.pop("board")
    data = ["--data TOKENS"] if "corpus" in values else []
    for name in ("board_digest", "seed", "corpus", "vocabulary"):
        values.pop(name, None)
    options = " ".join([*(f"--{name.replace('_', '-')} {value}" for name, value in values.items()), *data])
    return f"sraven train {board} {options} --seeds {','.join(str(config.seed) for config in configs)}"
