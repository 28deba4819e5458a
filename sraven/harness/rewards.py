"""Exact rewards for reinforcement learning, as TRL's trainers call them, and questions to train on.

>>> from sraven.harness.rewards import make_dataset, reward
>>> questions = make_dataset(M=2, count=2)
>>> reward([[{"role": "assistant", "content": "Answer: [0 0]"}], "I don't know."], **questions[:2])
[0.0, 0.0]
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sraven.core.arguments import check_choice
from sraven.core.errors import ConfigurationError
from sraven.harness.questions import judge, make_questions, pose
from sraven.text.apis import join_parts
from sraven.text.replies import READINGS

if TYPE_CHECKING:
    from datasets import Dataset


def _text(completion: Any) -> object:
    """Return what a completion says: a text, or the last message of a chat, which may be in parts."""
    if isinstance(completion, list):
        return join_parts(completion[-1].get("content")) if completion else None
    return completion


def reward(
    completions: Sequence[Any],
    *,
    id: Sequence[str] | str,  # noqa: A002
    reading: str = "strict",
    **columns: Any,
) -> list[float]:
    """Return 1.0 for each completion that answers with a valid panel, 0.0 for each other.

    There is no partial reward: what can't be parsed gets 0.0, and so does a panel that is almost right.

    Args:
        completions: n texts, or n chats as lists of messages; of a chat the last message counts.
        id: n ids of questions, the column of that name; or one id that all completions are of.
        reading: ``strict``, as prompts ask for, or ``lenient``; see `sraven.text.parse`.
        columns: what else the trainer hands in, such as the prompts; not used.

    Raises:
        ConfigurationError: (a ValueError) for what is no id of a question, another number of ids, or no
            reading.
    """
    check_choice("reading", reading, READINGS)
    given = [id] if isinstance(id, str) else id
    ids = [*given] * len(completions) if len(given) == 1 else given
    if len(ids) != len(completions):
        raise ConfigurationError(
            f"{len(ids):,} ids for {len(completions):,} completions; expected one for each, or one for all"
        )
    valid = "valid" if reading == "strict" else "lenient_valid"
    rewards: list[float] = judge(ids, [_text(each) for each in completions])[valid].astype(float).tolist()
    return rewards


def make_dataset(*, split: str = "train", chat: bool = True, **options: Any) -> "Dataset":
    """Return questions to train on, with the columns that `reward` reads.

    Args:
        split: where they come from. The default leaves the held-out combinations of rules to test on.
        chat: whether a prompt is a chat of one message, or a text.
        options: the others of `sraven.harness.questions.make_questions`.
    """
    from datasets import Dataset

    rows = [question._asdict() for question in pose(make_questions(split=split, **options))]
    for row in rows:
        row["prompt"] = [{"role": "user", "content": row["prompt"]}] if chat else row["prompt"]
    return Dataset.from_list(rows)
