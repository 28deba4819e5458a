"""Exact rewards for reinforcement learning, as TRL's trainers call them, and questions to train on.

>>> from sraven.harness.rewards import make_dataset, reward
>>> questions = make_dataset(M=2, count=2)
>>> reward([[{"role": "assistant", "content": "Answer: [0 0]"}], "I don't know."], **questions[:2])
[0.0, 0.0]
"""

from collections import deque
from collections.abc import Mapping, Sequence
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


def _ids_of(completions: Sequence[Any], id: Sequence[str] | str) -> Sequence[str]:  # noqa: A002
    """Return the id of each completion's question."""
    given = [id] if isinstance(id, str) else id
    ids = [*given] * len(completions) if len(given) == 1 else given
    if len(ids) != len(completions):
        raise ConfigurationError(
            f"{len(ids):,} ids for {len(completions):,} completions; expected one for each, or one for all"
        )
    return ids


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
    ids = _ids_of(completions, id)
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


class Curriculum:
    """Questions that get harder as replies get better: the level follows the accuracy that is measured.

    The level is one up when at least the share ``up`` of the last ``window`` replies to its questions is
    right, one down when at most ``down`` is. Then counting begins anew. Replies to another level's questions,
    which a trainer may still have, are rewarded and not counted.

    Attributes:
        level: index of the present level.

    >>> curriculum = Curriculum({"M": 1, "count": 4}, {"M": 2, "count": 4}, window=4)
    >>> questions = curriculum.make_dataset()[:]
    >>> curriculum.reward(questions["answer"], **questions)
    [1.0, 1.0, 1.0, 1.0]
    >>> curriculum.level
    1
    """

    def __init__(
        self, *levels: Mapping[str, Any], up: float = 0.8, down: float = 0.2, window: int = 256
    ) -> None:
        """Begin with the first of the levels.

        Args:
            levels: of each what `make_dataset` takes, the easiest first.
            up: share of right replies from which on the next level begins; above 1 for never.
            down: share up to which the level before begins again; below 0 for never.
            window: how many replies to a level are looked at, at least one.

        Raises:
            ConfigurationError: (a ValueError) for no level, no window, or shares in the wrong order.
        """
        if not levels or window < 1 or down >= up:
            raise ConfigurationError(
                f"{len(levels)} levels, a window of {window}, down at {down}, up at {up}; "
                "expected levels, a window of one or more replies, and down below up"
            )
        self.levels, self.level = levels, 0
        self._up, self._down = up, down
        self._counted = ""
        self._recent: deque[float] = deque(maxlen=window)

    def make_dataset(self) -> "Dataset":
        """Return the questions of the present level, for the trainer's next round."""
        questions = make_dataset(**self.levels[self.level])
        self._counted = questions[0]["id"].rpartition("_")[0]
        return questions

    def reward(self, completions: Sequence[Any], *, id: Sequence[str] | str, **columns: Any) -> list[float]:  # noqa: A002
        """Return what `sraven.harness.rewards.reward` returns, and set the level by it."""
        rewards = reward(completions, id=id, **columns)
        asked = zip(_ids_of(completions, id), rewards, strict=True)
        self._recent.extend(given for name, given in asked if name.rpartition("_")[0] == self._counted)
        if len(self._recent) == self._recent.maxlen:
            accuracy = sum(self._recent) / len(self._recent)
            step = (accuracy >= self._up) - (accuracy <= self._down)
            if step and 0 <= self.level + step < len(self.levels):
                self.level += step
                self._counted = ""
                self._recent.clear()
        return rewards
