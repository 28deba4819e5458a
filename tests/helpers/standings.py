"""Standings of small boards, judged as real ones are, of evidence made by hand."""

from helpers.evidence_example import make_evidence
from sraven.core.leaderboard.ranking import judge_filed, judge_own, make_standings, of_board
from sraven.core.leaderboard.standing import Leaderboard


def scoring(value, name=None, **options):
    """Return evidence of an entry that scores so much on ``ood`` with each of three seeds."""
    return make_evidence(name or f"scores {value}", scores={"ood": {"accuracy": [value] * 3}}, **options)


def judged(filed, own=(), reproduced=(), only=None):
    """Return the standing of some evidence by ids, and of the reader's own by names."""

    def rows(board):
        lying = of_board(board, filed)
        return judge_filed(lying, set(reproduced), {}) + judge_own(of_board(board, dict(own)), lying, {})

    return Leaderboard(make_standings(only, rows, {}))


def entries_of(found):
    """Return all entries of a standing but what papers report."""
    return [entry for each in found.standings for entry in each.entries if entry.badge != "reported"]
