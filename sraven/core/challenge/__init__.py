"""Challenge rounds: instances that nobody can know before, answered by programs that were committed before.

::

    round/private/secret.json               the organiser's; revealed when the round is over
    round/public/challenge.json             board, digests of everything, who takes part
    round/public/contexts/<split>/<array>.npy
    commitment.json                         an entrant's: the digests of its program, with a salt
    answer/answer.json                      which round, whose, which files
    answer/commitment.json
    answer/predictions/<split>/seed-<n>.parquet

``docs/challenge.md`` has the protocol, and what each of its parts is good for.
"""

from sraven.core.challenge.answer import write_answer
from sraven.core.challenge.commitment import check_commitment, write_commitment
from sraven.core.challenge.round import Challenge, new_challenge, read_challenge
from sraven.core.challenge.score import score_challenge

__all__ = [
    "Challenge",
    "check_commitment",
    "new_challenge",
    "read_challenge",
    "score_challenge",
    "write_answer",
    "write_commitment",
]
