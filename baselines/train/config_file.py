"""The configuration of a run in a file: what training has written as JSON, or YAML by hand."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import LanguageConfig, RunConfig, read_config
from baselines.train.directory import CONFIG
from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape, quoted
from sraven.core.spec import values_of
from sraven.core.system.files import read_bounded
from sraven.core.untrusted.read import parse_yaml

FIELDS: Mapping[str, type] = {each.name: each.type for each in fields(LanguageConfig)}  # type: ignore[misc]
"""Names that a file may have, and the type of each; some are of the language model alone."""

PINNED = ("board_digest", "corpus", "vocabulary", "code")
"""Those that a run has from its board, its text and its code, which a file can only confirm."""

_WRITTEN = {each.name for each in fields(RunConfig) if each.default is MISSING}
"""Fields that are in every configuration that training has written."""

_WANTED = {int: "an integer, without quotes", float: "a number, without quotes", str: "a text"}
_MOST_BYTES = 1 << 20


class ConfigFile(NamedTuple):
    """What a file says of a run.

    Attributes:
        path: of the file.
        values: fields of a configuration by name, but for what is pinned.
        pinned: fields of `PINNED` by name.
    """

    path: Path
    values: Mapping[str, Any]
    pinned: Mapping[str, Any]

    def confirm(self, config: RunConfig) -> None:
        """Check that a run has the board and the text that the file names.

        Another board than the file's is no contradiction: then its digest is another as well.

        Raises:
            ConfigurationError: if it hasn't.
        """
        if self.values.get("board", config.board) != config.board:
            return
        for name, value in self.pinned.items():
            found = getattr(config, name, None)
            if found != value:
                of_others = {"board_digest": f"board {config.board}", "code": "--import"}
                what = of_others.get(name, "--data")
                raise ConfigurationError(
                    f"{self.path}: {name}={quoted(value)}, but {what} has {quoted(found)}; name what the run "
                    f"was trained on, or leave {', '.join(PINNED)} out of the file"
                )


def read_config_file(path: Path) -> ConfigFile:
    """Return what a file says of a run.

    It may be a run directory, its ``config.json`` or ``result.json``, what `sraven train --print-config`
    prints of one run, or YAML with some of the same names. Nothing in it is executed.

    Raises:
        ConfigurationError: if it can't be read, or has a name or a type that no configuration has.
    """
    path = path / CONFIG if path.is_dir() else path
    try:
        data = read_bounded(path, _MOST_BYTES)
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror}") from None
    content = parse_yaml(data, str(path))
    found = content.get("configuration", content) if isinstance(content, Mapping) else content
    if not isinstance(found, Mapping):
        raise ConfigurationError(
            f"{path} holds {escape(found)}; expected names and values, such as attention: hyla"
        )
    values = dict(_checked(found, path))
    pinned = {name: values.pop(name) for name in PINNED if name in values}
    return ConfigFile(path, values, pinned)


def _checked(values: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return values whose names and types are those of a configuration."""
    # By training, perhaps before a field was added: then it means what it meant.
    if set(values) >= _WRITTEN:
        values = values_of(read_config(values))
    for name, value in values.items():
        if name not in FIELDS:
            near = get_close_matches(str(name), FIELDS, n=1)
            guess = f"; did you mean {near[0]}?" if near else f"; expected some of {', '.join(FIELDS)}"
            raise ConfigurationError(f"{path}: a run's configuration has no {quoted(name)}{guess}")
        kinds = (int, float) if FIELDS[name] is float else FIELDS[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ConfigurationError(f"{path}: {name}={quoted(value)}: expected {_WANTED[FIELDS[name]]}")
    return values
