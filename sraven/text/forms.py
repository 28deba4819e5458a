"""What a prompt says before its puzzle, by form."""

from collections.abc import Callable
from dataclasses import dataclass

from sraven.rules import RULES, Rules


@dataclass(frozen=True)
class Setting:
    """What the words of a prompt depend on.

    Attributes:
        M: features of a panel.
        K: number of symbols.
        permute: whether each column shows the features in an order of its own.
        rules: the rules that there are.
    """

    M: int
    K: int
    permute: bool = True
    rules: Rules = RULES


@dataclass(frozen=True)
class Form:
    """A way to ask.

    Attributes:
        explain: returns what is said of the matrix.
        bounded: whether the ideal observer's accuracy is a ceiling: only who is told how matrices are
            made has what the observer has.
    """

    explain: Callable[[Setting], str]
    bounded: bool


_ORDERS = {
    True: "Each column shows the features in an order of its own, which is the same in its three panels. So "
    "a feature may stand at other positions in other columns.",
    False: "All panels show the features in the same order, that of their rules in this list.",
}
"""What is said of the features' positions, by whether they are permuted."""


def _tell_rules(setting: Setting) -> str:
    """Return all that the ideal observer knows, in words; the rules are those of `sraven.rules`."""
    listed = [
        # Only distribute three isn't drawn row by row.
        f"- {rule.name}: {rule.row}" + ("" if rule.draw else "; the same three symbols in all rows")
        for rule in setting.rules
    ]
    several = setting.M > 1
    features = "features, each an integer" if several else "feature, an integer"
    return "\n".join(
        [
            "A matrix has three rows of three panels, and its last panel [?] is missing. A panel is a list "
            f"of {setting.M} {features} from 0 to {setting.K - 1}. All arithmetic is modulo {setting.K}.",
            "",
            f"{'Each' if several else 'The'} feature follows one rule from panel to panel of a row, the same "
            "in all three rows" + ("; features may share a rule" * several) + ". The rules, for any x and y:",
            *listed,
            "",
            *[_ORDERS[setting.permute]] * several,
            "All multisets of rules are equally probable, and all else is drawn uniformly.",
        ]
    )


def _tell_nothing(setting: Setting) -> str:
    return "Which panel completes the matrix, in place of [?]?"


FORMS: dict[str, Form] = {
    "told": Form(_tell_rules, bounded=True),
    "untold": Form(_tell_nothing, bounded=False),
}
"""The forms by name. Their words are part of what is asked: none changes, another wording is another form."""
