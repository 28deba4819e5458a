"""What the paper claims with each figure, and what a reader must know: prose, from ``assets/``."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import yaml


class Claim(NamedTuple):
    """The prose of a page.

    Attributes:
        paper: what the paper says, or its authors, with where.
        notes: what can't be concluded, or is read in one way of several.
    """

    paper: str
    notes: tuple[str, ...] = ()


def _read() -> Any:
    return yaml.safe_load((files(__package__) / "assets" / "claims.yaml").read_text("utf-8"))


_PROSE = _read()

CLAIMS: Mapping[str, Claim] = {
    name: Claim(each["paper"], tuple(each.get("notes", ()))) for name, each in _PROSE["figures"].items()
}
"""By the name of a figure."""

SEEDS: str = _PROSE["seeds"]
"""What stands beside every standard error."""

INTRODUCTION: str = _PROSE["introduction"]
"""How the index begins."""

ENDING: str = _PROSE["ending"]
"""How it ends."""
