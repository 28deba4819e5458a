"""What a submission is told at once, before anyone files it: whether it will be ranked, or why not."""

from collections.abc import Mapping
from typing import NamedTuple

from sraven.core.leaderboard.copies import equal_seeds
from sraven.core.leaderboard.eligibility import REASONS, REFERENCE, reasons_unranked
from sraven.core.leaderboard.evidence import Evidence
from sraven.core.leaderboard.fingerprints import Pins, read_pins

_DIAGNOSTIC, _COPIES = "diagnostic", "copies"

ADVICE: Mapping[str, str] = {
    REFERENCE: "leave method.family out if it is a method of yours",
    _DIAGNOSTIC: "`sraven boards` lists the boards that rank",
    "seeds": "predict every split with that many models, each trained with a seed of its own",
    "same seeds": "submit the predictions of every seed on every split",
    "data": "train on the board's training split alone",
    "selection": "choose by train or test, and say so in training.selection_split",
    "budget": "stop at the budget, and submit the predictions that the model makes there",
    "documents": "losses compare on the same documents alone: see `sraven c4 fingerprint`",
    "ceiling": "look for labels of the split among what the model was shown",
    "loss": "check that losses are in nats, summed over the targets of a document",
    "chance": "check that predictions are in the order of the indices",
    "floor": "train longer, or look at what it gets wrong: `sraven errors`",
    _COPIES: "submit runs that were trained apart, each with a seed of its own",
}
"""What to do about each reason not to be ranked."""

assert ADVICE.keys() == {*REASONS, REFERENCE, _DIAGNOSTIC, _COPIES}


class Unranked(NamedTuple):
    """Why a submission won't be ranked.

    Attributes:
        rule: name of the rule that it breaks.
        reason: what it is told.
        advice: what to do.
    """

    rule: str
    reason: str
    advice: str


def judge(evidence: Evidence, pins: Pins | None = None) -> tuple[Unranked, ...]:
    """Return why a submission won't be ranked; nothing if it will, as long as no other entry is a copy of it.

    Args:
        evidence: of the submission.
        pins: fingerprints of the documents of corpora; None for those of this installation.
    """
    board = evidence.board
    known = read_pins() if pins is None else pins
    found = {} if board.is_ranked else {_DIAGNOSTIC: f"{board.id} is a diagnostic board, which ranks nothing"}
    found |= reasons_unranked(evidence, known.get(board.digest, {}))
    if REFERENCE not in found and (same := equal_seeds(evidence)):
        found[_COPIES] = same
    return tuple(Unranked(rule, reason, ADVICE[rule]) for rule, reason in found.items())
