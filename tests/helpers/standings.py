"""Standings of small boards, judged as real ones are, of evidence made by hand."""

from helpers.evidence_example import make_evidence
from sraven.leaderboard.maintainers import Maintained
from sraven.leaderboard.ranking import judge, make_standings, of_board
from sraven.leaderboard.standing import Leaderboard


def scoring(value, name=None, **options):
    """Return evidence of an entry that scores so much on ``ood`` with each of three seeds."""
    return make_evidence(name or f"scores {value}", scores={"ood": {"accuracy": [value] * 3}}, **options)


def judged(filed, own=(), only=None, before=None, **confirmed):
    """Return the standing of some evidence by ids, and of the reader's own by names.

    Args:
        filed: evidence by ids.
        own: and by names.
        only: id of a board; None for all.
        before: a standing that was there before.
        confirmed: what `Maintained` has.
    """
    maintained = Maintained(**confirmed)
    order = dict.fromkeys((entry.id for entry in before.filed), 0) if before else {}

    def rows(board):
        lying, mine = of_board(board, filed), of_board(board, dict(own))
        return judge(lying, mine, maintained=maintained, order=order)

    return Leaderboard(make_standings(only, rows))


def entries_of(found):
    """Return all entries of a standing but what papers report."""
    return [entry for each in found.standings for entry in each.entries if entry.badge != "reported"]
