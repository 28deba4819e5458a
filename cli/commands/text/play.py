"""Puzzles as a page for people to solve."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import is_given, leave_out, output_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.questions import chosen_questions, fresh_option, question_options

if TYPE_CHECKING:
    from sraven.task import SRAVEN
    from sraven.text.mixtures import Mixture


def _practise(task: "SRAVEN", count: int, form: str) -> "Mixture":
    """Return puzzles of train, from easy to hard, or of the one level that options name."""
    from sraven.text.play import PRACTICE_COUNT, PRACTICE_FEATURES, PRACTICE_SPLIT, practise

    leave_out(
        ("board_id", "split", "fresh"), f"--practice shows answers, so it takes puzzles of {PRACTICE_SPLIT}"
    )
    if not is_given("answers"):
        task = replace(task, answers="any")
    features = (task.M,) if is_given("M") else PRACTICE_FEATURES
    return practise(task, features, count if is_given("count") else PRACTICE_COUNT, form)


@click.command(name="play")
@question_options
@fresh_option
@click.option("--practice", is_flag=True, help="Puzzles of train, with answers and rules after each reply.")
@click.option(
    "--result", is_flag=True, help="Say at the end how many are right; the page has digests of answers."
)
@click.option("--out", type=output_file, required=True, help="File to write, such as page.html.")
@json_option
def command(
    board_id: str | None,
    task: "SRAVEN",
    split: str,
    count: int,
    form: str,
    fresh: int | None,
    practice: bool,
    result: bool,
    out: Path,
) -> None:
    """Write a page of HTML on which a person answers questions.

    It is one file, which any browser opens and which sends no requests. Replies stay in the browser. What
    it offers for download are completions with the ids of `sraven text generate`, which `sraven text score`
    and `sraven text submit` read. Targets aren't in it, but for --practice: puzzles of
    train, 5 each of M = 1 to 4 unless --M and -n say otherwise, and with several answers unless --answers
    says otherwise. sraven-text-human-v1 has 24 puzzles, for twenty minutes.

    \b
    Example:
      sraven text play --board sraven-text-human-v1 --result --out page.html
      sraven text play --M 3 --K 10 -n 50 --out page.html
      sraven text play --practice --out practice.html
    """
    from sraven.files.files import write_text
    from sraven.text.play import make_play

    if practice:
        asked = _practise(task, count, form)
    else:
        asked = chosen_questions(board_id, task, split, count, form, fresh=fresh)
    write_text(out, make_play(asked, practice, result, _models_on(asked.board) if result else None))
    names = [questions.name for questions in asked.sets]
    value = {"path": str(out), "puzzles": asked.count, "questions": names}
    print_outcome(value=value, text=f"{out}: {asked.count:,} puzzles, {' '.join(names)}")


def _models_on(board: str) -> dict[str, float]:
    """Return the scores of the language models that are filed on a board, by name; the best of each."""
    from sraven.leaderboard.snapshot import packaged

    _, entries = packaged().get(board, ("", ()))
    scores = [
        (each.value or 0.0, each.method)
        for each in entries
        if each.replies and not each.replies.people and each.family != "reference"
    ]
    return {name: score for score, name in sorted(scores)}
