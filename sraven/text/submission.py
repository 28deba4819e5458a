"""Submissions to boards of texts, made of files of completions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from sraven.core.base.errors import ConfigurationError
from sraven.core.base.escape import quoted
from sraven.core.boards.board import Board, read_board
from sraven.core.submissions.submit import check_new, write_submission
from sraven.core.tasks.families import wording_of
from sraven.text.completions import Sheets, Usage, read_completions
from sraven.text.questions import Questions
from sraven.text.wording import LadderWording


class Completed(NamedTuple):
    """A file of completions of a board's questions.

    Attributes:
        form: in which they were asked, a name of the board's prompts.
        replies: one for each question, in the order of the board; None where the file has none.
        missing: how many questions the file doesn't have.
        usage: tokens and cost of the replies, as far as they say it.
    """

    form: str
    replies: list[str | None]
    missing: int
    usage: Usage


def read_text_board(board_id: str) -> tuple[Board, LadderWording]:
    """Return a board whose questions `sraven text` asks.

    Raises:
        ConfigurationError: if there is no such board, or it asks no questions in words.
    """
    board = read_board(board_id)
    wording = wording_of(board.task) if board.is_text else None
    if not isinstance(wording, LadderWording):
        raise ConfigurationError(f"{board.id} asks nothing in words; `sraven boards` lists those that do")
    return board, wording


def board_questions(wording: LadderWording) -> Iterator[tuple[str, int, Questions]]:
    """Yield the sets of questions of a board: their form, the number of the rung, and the questions."""
    for form in wording.forms:
        for rung, questions in enumerate(wording.questions(form)):
            yield form, rung, questions


def read_board_completions(path: Path, board: Board, wording: LadderWording) -> Completed:
    """Read completions of a board's questions, all asked in one form, in any order.

    Raises:
        ConfigurationError: at the first line that can't be read, is of another question or form, or is the
            second of its question; or if there is none.
    """
    sets = {questions: (form, rung) for form, rung, questions in board_questions(wording)}
    sheets = Sheets()
    replies: list[str | None] = [None] * wording.task.count
    asked = ""
    for completion in read_completions(path):
        sheet = sheets.add(completion)
        form, rung = sets.get(sheet.questions, ("", 0))
        if not form:
            raise ConfigurationError(
                f"{completion.where}: {quoted(completion.question)} is no question of {board.id}; "
                f"`sraven text generate --board {board.id}` gives those"
            )
        if asked and form != asked:
            raise ConfigurationError(
                f"{completion.where}: was asked {form}, and the first one {asked}; submit each form apart"
            )
        asked, replies[wording.task.place(rung, sheet.indices[-1])] = form, completion.text
    if not asked:
        raise ConfigurationError(f"{path} has no completions")
    missing = wording.task.count - sum(len(sheet.indices) for sheet in sheets)
    return Completed(asked, replies, missing, sum((sheet.usage for sheet in sheets), Usage()))


def write_text_submission(
    out: str | os.PathLike[str],
    board_id: str,
    completions: Sequence[Path],
    *,
    method: Mapping[str, Any],
    model: Mapping[str, Any],
    training: Mapping[str, Any],
    replies: Mapping[str, Any],
) -> list[Completed]:
    """Write the directory of a submission from files of completions, whole or not at all.

    Args:
        out: a directory that doesn't exist yet.
        board_id: of a board of texts, such as ``sraven-text-v1``.
        completions: the files: of one run each, all asked in one form.
        method: as for `sraven.write_submission`.
        model: as there.
        training: as there.
        replies: as there, without ``form``, ``prompt_digest`` and ``usage``: the ids of the completions say
            the form, the prompt of a question is the board's, and the lines say what replies took.

    Returns:
        what was read of each file.

    Raises:
        ConfigurationError: for completions of other questions, or a description that isn't allowed.
        OutputError: if ``out`` exists.
    """
    check_new(Path(out))
    board, wording = read_text_board(board_id)
    read = [read_board_completions(path, board, wording) for path in completions]
    if other := next((each.form for each in read if each.form != read[0].form), None):
        raise ConfigurationError(
            f"the files were asked in the forms {read[0].form} and {other}; submit each apart"
        )
    form, usage = read[0].form, sum((each.usage for each in read), Usage())
    took = {"usage": asdict(usage)} if usage.with_tokens or usage.with_cost else {}
    write_submission(
        out,
        board_id,
        {board.primary_split: [each.replies for each in read]},
        method=method,
        model=model,
        training=training,
        replies={**replies, "form": form, "prompt_digest": board.prompts[form], **took},
    )
    return read
