"""The forms of prompts: their words, and the notation of their puzzles."""

import re
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
        reply: asks for the last line of a reply, which stands below.
        announce: returns what is said of solved examples, given how many there are.
        lenient: whether boards rank by the lenient reading of replies.
        write: writes a puzzle in the notation of the form, given it in the usual one.
        puzzle_first: whether the puzzle stands before all that is said.
        spelt: whether the lenient reading takes numbers in words, too.
    """

    explain: Callable[[Setting], str]
    bounded: bool
    reply: str
    announce: Callable[[int], str]
    lenient: bool
    write: Callable[[str], str] = str
    puzzle_first: bool = False
    spelt: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether puzzles are written as usual, at the end of their prompts."""
        return self.write is str and not self.puzzle_first


_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def in_words(number: int) -> str:
    """Return a small number as a word, others in digits."""
    return _WORDS[number] if number < len(_WORDS) else str(number)


NUMBERS = ("zero", *_WORDS[1:])
"""The numbers that ``told2words`` writes as words; others are in digits there, too."""


def _spell(puzzle: str) -> str:
    numbers = {str(number): word for number, word in enumerate(NUMBERS)}
    return re.sub(r"\d+", lambda found: numbers.get(found[0], found[0]), puzzle)


_MISSING, _MISSING_IN_JSON = "[?]", '"?"'


def _write_json(puzzle: str) -> str:
    rows = puzzle.replace(_MISSING, _MISSING_IN_JSON).replace(" ", ", ").split("\n")
    return "[" + ",\n ".join(f"[{row}]" for row in rows) + "]"


_ORDERS = {
    True: "Each column shows the features in an order of its own, which is the same in its three panels. So "
    "a feature may stand at other positions in other columns.",
    False: "All panels show the features in the same order, that of their rules in this list.",
}
"""What is said of the features' positions, by whether they are permuted."""


def _told(setting: Setting) -> str:
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


_SAME_ORDER = {
    True: "The three panels of a column list the features in the same order. Different columns may list them "
    "in different orders.",
    False: "All panels list the features in the same order, that of their rules in this list.",
}
"""As `_ORDERS`, in the words of `told2`."""

_SAME_THREE = "three different numbers, the same three in every row; their order may differ from row to row"

_QUESTION = "Which panel of the matrix belongs in place of [?]?"


def _told2(setting: Setting) -> str:
    """Return what `_told` says, in plainer English, and a question."""
    listed = [
        f"- {rule.name}: {rule.row if rule.draw else _SAME_THREE}"  # as in _told
        for rule in setting.rules
    ]
    several = setting.M > 1
    features = "features, each an integer" if several else "feature, an integer"
    return "\n".join(
        [
            "A matrix has three rows of three panels. Its last panel, [?], is missing. A panel is a list of "
            f"{in_words(setting.M)} {features} from 0 to {setting.K - 1}. "
            f"All arithmetic is modulo {setting.K}.",
            "",
            f"{'Each' if several else 'The'} feature follows one rule. The rule says which numbers the "
            "feature has in the three panels of a row, and it is the same in all three rows. "
            + "Several features may follow the same rule. " * several
            + "These are the rules, for any numbers x and y, which may differ from row to row:",
            *listed,
            "",
            *[_SAME_ORDER[setting.permute]] * several,
            "Every multiset of rules is equally likely. Everything else is drawn uniformly at random.",
            "",
            _QUESTION,
        ]
    )


def _told2words(setting: Setting) -> str:
    note = "In the matrix at the end, numbers are written as words. Write those of your answer in digits."
    return f"{note}\n\n{_told2(setting)}"


def _told2json(setting: Setting) -> str:
    note = "The matrix at the end is written in JSON, as a list of its rows."
    return f"{note}\n\n{_told2(setting)}".replace(_MISSING, _MISSING_IN_JSON)


def _announce(shots: int) -> str:
    return "A solved example comes first." if shots == 1 else f"{shots} solved examples come first."


def _announce2(shots: int) -> str:
    return f"{in_words(shots).capitalize()} solved example{'s come' if shots > 1 else ' comes'} first."


_FIRST = "End your reply with one line like this, each d an integer, and nothing behind it:", _announce, False
_SECOND = (
    "End your reply with a line of this form, where each d is an integer, and write nothing after it:",
    _announce2,
    True,
)

FORMS: dict[str, Form] = {
    "told": Form(_told, True, *_FIRST),
    "untold": Form(lambda setting: "Which panel completes the matrix, in place of [?]?", False, *_FIRST),
    "told2": Form(_told2, True, *_SECOND),
    "untold2": Form(lambda setting: _QUESTION, False, *_SECOND),
    "told2words": Form(_told2words, True, *_SECOND, write=_spell, spelt=True),
    "told2json": Form(_told2json, True, *_SECOND, write=_write_json),
    "told2last": Form(_told2, True, *_SECOND, puzzle_first=True),
}
"""The forms by name. Their words are part of what is asked: none changes, another wording is another form.
``told2`` and ``untold2`` say what the first two say, in plainer English, and both end in a question.
The others say it in the words of ``told2``: of a puzzle in other words, in JSON, or before it is explained.
"""
