"""Scores of a round: the labels come back from the secret, and all answers are scored on them alike."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sraven.core.base.errors import ConfigurationError
from sraven.core.base.jsonable import as_json
from sraven.core.boards.scoring import Run, score_runs
from sraven.core.challenge.answer import read_answer
from sraven.core.challenge.round import Challenge, read_challenge, reveal
from sraven.core.tasks.families import scoring_of

Answer = tuple[str, str, dict[str, tuple[Run, ...]]]


def score_challenge(
    public: str | os.PathLike[str],
    secret: str | os.PathLike[str],
    answers: Iterable[str | os.PathLike[str]] = (),
    *,
    threads: int | None = None,
) -> dict[str, Any]:
    """Check a round against its secret, and score the answers to it.

    Anyone can do so once the secret is revealed, and has the same result.

    Args:
        public: the directory that was published.
        secret: the organiser's file.
        answers: the directories that entrants sent; none to check the round alone.
        threads: threads to use; None for all available ones.

    Returns:
        what names the round, how many entrants it has (``entrants``) and how many answered; ``answers``,
        the best first: ``commitment``, ``name``, ``answer`` (its directory) and ``splits`` (the
        `SplitScores` as JSON values); and ``refused``: ``answer`` and ``why``.

    Raises:
        ChallengeError: if the round isn't what its secret gives. A bad answer is among those refused.
    """
    challenge = read_challenge(public)
    board = challenge.board
    scoring = scoring_of(board.task)
    batches = reveal(challenge, Path(secret), threads)
    labels = {split: scoring.labels(batch, threads) for split, batch in batches.items()}
    read, refused = _read_all([Path(answer) for answer in answers], challenge)
    scored = []
    for folder, (commitment, name, runs) in read:
        splits = {
            split: as_json(score_runs(scoring, labels[split], found, metrics=board.metrics, threads=threads))
            for split, found in runs.items()
        }
        scored.append({"commitment": commitment, "name": name, "answer": str(folder), "splits": splits})
    sign = -1 if board.higher_is_better else 1

    def place(entry: dict[str, Any]) -> tuple[Any, ...]:
        mean = entry["splits"][board.primary_split]["metrics"][board.metric]["mean"]
        return mean is None, sign * (mean or 0), entry["commitment"]

    return {
        "schema": 1,
        "challenge": challenge.digest,
        "board": board.id,
        "opened": challenge.content["opened"],
        "entrants": len(challenge.content["commitments"]),
        "answered": len(scored),
        "answers": sorted(scored, key=place),
        "refused": refused,
    }


def _read_all(
    folders: list[Path], challenge: Challenge
) -> tuple[list[tuple[Path, Answer]], list[dict[str, str]]]:
    """Return the answers that can be scored, and why others can't: one bad answer doesn't hide the rest."""
    read: list[tuple[Path, Answer]] = []
    refused = []
    for folder in folders:
        try:
            read.append((folder, read_answer(folder, challenge)))
        except ConfigurationError as error:
            refused.append({"answer": str(folder), "why": " ".join(str(error).split())})
    counts = Counter(commitment for _, (commitment, _, _) in read)
    for folder, (commitment, _, _) in read:
        if counts[commitment] > 1:
            why = (
                f"there are {counts[commitment]} answers for the commitment {commitment[:12]}…; expected one"
            )
            refused.append({"answer": str(folder), "why": why})
    return [(folder, answer) for folder, answer in read if counts[answer[0]] == 1], refused
