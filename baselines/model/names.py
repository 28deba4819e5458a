"""Look-up in tables of functions, with an error that helps."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from sraven.core.errors import ConfigurationError

_Entry = TypeVar("_Entry")


def look_up(what: str, name: Any, table: Mapping[str, _Entry], hint: str = "") -> _Entry:
    """Return the entry of a table that has the given name.

    Args:
        what: what the table holds, to call it in an error.
        name: a key of the table.
        table: the entries by name.
        hint: what else to try, to end the error with.

    Raises:
        ConfigurationError: (a ValueError) for a name that isn't in the table; the message has the
            nearest ones.
    """
    if isinstance(name, str) and name in table:
        return table[name]
    near = get_close_matches(str(name), table, n=3, cutoff=0.5)
    guess = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ConfigurationError(f"{what}={name!r}: {guess}expected one of {', '.join(table)}{hint}")
