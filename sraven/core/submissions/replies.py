"""Submissions to boards of texts: what they say of the model that replied, and of what it was asked."""

from collections.abc import Mapping
from typing import Any

from sraven.core.boards.board import Board
from sraven.core.ground.echo import quoted


def replies_problem(content: Mapping[str, Any], board: Board) -> str | None:
    """Return what is wrong with what a submission says of a language model; None if nothing is.

    Scores on prompts of one's own aren't scores on the board: so the submission names the form in which its
    model was asked and the digest of the prompts, and that has to be the board's.

    Args:
        content: what ``submission.yaml`` says, checked against the schema.
        board: the board it is for.
    """
    found = content.get("replies")
    if not board.is_text:
        if found is not None:
            return f"has 'replies'; {board.id} takes predictions that are numbers, no replies"
        if content["model"]["parameters"] is None:
            return "model.parameters is None; expected an integer"
        return None
    if found is None:
        return (
            f"lacks 'replies': {board.id} asks which model replied, to which prompts, through which harness"
        )
    form, pinned = found["form"], board.prompts.get(found["form"])
    if pinned is None:
        return f"replies.form is {quoted(form)}; {board.id} has {', '.join(board.prompts)}"
    if found["prompt_digest"] != pinned:
        return (
            f"replies.prompt_digest is {found['prompt_digest'][:12]}…, but the prompts of {board.id} in the "
            f"form {form} have {pinned[:12]}…: the model was asked something else"
        )
    return None
