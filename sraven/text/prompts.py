"""Instances as prompts: the words of a form, solved examples if there are any, and the puzzle."""

import re
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_symbols
from sraven.core.arguments import check_array, check_choice
from sraven.core.errors import ConfigurationError
from sraven.rules import RULES, Rules
from sraven.text.forms import FORMS, Setting

if TYPE_CHECKING:
    from sraven.task import Batch

ANSWER = "Answer:"
"""How the last line of a reply begins."""

BETWEEN = "\n\n"
"""What stands between the parts of a prompt."""


_TOKEN = re.compile(r" ?[^\W\d_]+|[0-9]{1,3}| ?[^\w\s]+|\s+|_")


def count_tokens(prompt: str) -> int:
    """Return about how many tokens a prompt has: the pieces into which tokenizers cut a text before all else.

    The words of prompts are so common that they have a token each.
    """
    return sum(1 for _ in _TOKEN.finditer(prompt))


def panel_pattern(M: int) -> str:
    """Return the pattern of a panel, to be filled in by ``%``."""
    return f"[{' '.join(['%d'] * M)}]"


def fill(pattern: str, numbers: NDArray[np.uint8]) -> list[str]:
    """Fill a pattern in with each row of ``numbers``, ``[n, ...]``."""
    rows = numbers.reshape(len(numbers), prod(numbers.shape[1:]))
    return [pattern % tuple(row) for row in rows.tolist()]


def write_puzzles(form: str, contexts: NDArray[np.uint8]) -> list[str]:
    """Return puzzles, uint8 ``[n, 8, M]``, in the notation of a form."""
    panel = panel_pattern(contexts.shape[2])
    row = f"{panel} {panel} {panel}"
    return list(map(FORMS[form].write, fill(f"{row}\n{row}\n{panel} {panel} [?]", contexts)))


def compose(form: str, setting: Setting, solved: list[str], questions: list[str]) -> list[str]:
    """Return the prompts: what the form says, how to reply, solved examples, and the question.

    Args:
        form: one of `FORMS`.
        setting: what its words depend on.
        solved: the examples, as many for each question: those of the first come first.
        questions: the puzzles that are asked.

    Raises:
        ConfigurationError: if the examples can't be shared out equally.
    """
    if solved and (not questions or len(solved) % len(questions)):
        raise ConfigurationError(
            f"shots has {len(solved):,} instances for {len(questions):,} questions; expected a multiple: "
            "each question has examples of its own"
        )
    words, shots = FORMS[form], len(solved) // len(questions) if solved else 0
    reply = f"{words.reply}\n{ANSWER} [{' '.join('d' * setting.M)}]"
    announced = f"\n{words.announce(shots)}" if shots else ""
    introduction = [f"{words.explain(setting)}\n\n{reply}{announced}"]
    first, last = ([], introduction) if words.puzzle_first else (introduction, [])
    return [
        BETWEEN.join((*first, *solved[shots * i : shots * (i + 1)], question, *last))
        for i, question in enumerate(questions)
    ]


def render_answer(panel: ArrayLike) -> str:
    """Return a panel (integers ``[M]``) as the last line of a reply, such as ``Answer: [3 6 2 0]``."""
    symbols = check_array("panel", panel, ("M",), "iu", "integers")
    return f"{ANSWER} [{' '.join(map(str, symbols.tolist()))}]"


def render_answers(panels: NDArray[np.uint8]) -> list[str]:
    """Return panels (``[n, M]``) as `render_answer` does, all at once."""
    return fill(f"{ANSWER} {panel_pattern(panels.shape[1])}", panels)


def solve(questions: Iterable[str], answers: Iterable[str]) -> list[str]:
    """Return questions with their answers below."""
    return [f"{question}\n{answer}" for question, answer in zip(questions, answers, strict=True)]


def render(
    batch: "Batch",
    K: int,
    form: str = "told",
    *,
    shots: "Batch | None" = None,
    permute: bool = True,
    rules: Rules = RULES,
) -> list[str]:
    """Return a prompt for each instance of a batch.

    It ends in the puzzle: a line for each row of panels, ``[3 6 2 0] [3 4 6 4] [0 1 1 5]``, the last one
    ``[?]``; numbers always have spaces between them. Before it stand what the form says, how to reply, and
    the solved examples, each a puzzle with its answer below; all with empty lines between them.

    Args:
        batch: the instances that are asked about; of its arrays, ``context`` is read.
        K: number of symbols, 3 to 256.
        form: ``told`` explains the rules, the modulus and that columns order the features in their own way;
            ``untold`` says nothing but how to reply; ``told2`` and ``untold2`` say the same in the words of
            version 2 of the text boards, and `sraven.text.FORMS` has three more ways to write that.
        shots: instances to show solved, of `train` to test composition: k of them for each prompt, those
            from k * i on for prompt i. None for none.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.

    Returns:
        ``n`` texts.

    Raises:
        ConfigurationError: for an unknown form, symbols out of range, or shots that can't be shared out.
    """
    check_choice("form", form, tuple(FORMS))
    contexts, K = check_context(batch.context, K)
    M = contexts.shape[2]
    solved: list[str] = []
    if shots is not None:
        shown = check_symbols("context of shots", shots.context, ("n", 8, M), K)
        targets = check_symbols("target of shots", shots.target, (len(shown), M), K)
        solved = solve(write_puzzles(form, shown), render_answers(targets))
    return compose(form, Setting(M, K, permute, rules), solved, write_puzzles(form, contexts))
