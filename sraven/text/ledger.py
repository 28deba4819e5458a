"""A file of completions while questions are asked: what is there is kept, what is missing is asked."""

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.core.system.files import open_plain
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.apis import Asking, Reply, as_completion, as_failure
from sraven.text.completions import read_completions
from sraven.text.mixtures import Mixture
from sraven.text.questions import PART, Questions

HARNESS = "sraven text ask"


_BEGINNING = b'{"id"'


def mend(path: Path) -> None:
    """Cut off a last line that isn't whole, as a power cut may leave one; end one that is, but for its end.

    Raises:
        ConfigurationError: if that line is none of a file of completions.
    """
    if not path.exists():
        return
    start, last = 0, b""
    with open_plain(path, follow_links=True) as file:
        for last in file:
            start += len(last)
    if not last or last.endswith(b"\n"):
        return
    if not last.startswith(_BEGINNING[: len(last)]):
        raise ConfigurationError(f"{path} is no file of completions; choose another one")
    try:
        parse_json(last)
    except ValueError:
        os.truncate(path, start - len(last))
    else:
        with path.open("ab") as end:
            end.write(b"\n")


class Ledger:
    """A file that completions are added to, a line as each comes.

    Args:
        path: the file; it need not be there.
        asking: how they are asked. A file whose completions were asked in another way is refused.
        api: by which interface.
        prices: US dollars for a million tokens of prompts, and of replies; None if they aren't known.

    Attributes:
        replies: of the completions that are there, by the id of the question; failures don't count.
        spent: US dollars that the replies cost, as far as it is known.
        priced: replies of which it is known.
        tokens: of prompts and of replies.
        failed: questions that failed since the file was opened.

    Raises:
        ConfigurationError: if a line can't be read, or was asked in another way.
    """

    def __init__(
        self, path: Path, asking: Asking, api: str = "chat", prices: tuple[float, float] | None = None
    ) -> None:
        self.path, self.prices = path, prices
        self.asked = {"harness": HARNESS, "version": version("sraven"), "api": api, **asking.stated}
        self.replies: dict[str, int] = {}
        self.spent, self.priced, self.failed, self.tokens = 0.0, 0, 0, [0, 0]
        mend(path)
        if path.exists():
            for completion in read_completions(path):
                self._check(completion.where, completion.said.get("asked"))
                if completion.text is not None:
                    self._count(completion.question, completion.said)

    def _check(self, where: str, asked: Any) -> None:
        """Refuse lines that were asked in another way: they would be one entry."""
        if isinstance(asked, dict) and asked | {"version": ""} != self.asked | {"version": ""}:
            other = {
                name: asked.get(name)
                for name in {*asked, *self.asked}
                if asked.get(name) != self.asked.get(name)
            }
            raise ConfigurationError(
                f"{where} was asked in another way: {quoted(other)}; choose another file"
            )

    def _count(self, question: str, said: dict[str, Any]) -> None:
        self.replies[question] = self.replies.get(question, 0) + 1
        usage = said.get("usage") or {}
        names = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
        for place, (one, other) in enumerate(names):
            count = usage.get(one, usage.get(other))
            self.tokens[place] += count if isinstance(count, int) else 0
        if isinstance(cost := said.get("cost"), int | float):
            self.spent, self.priced = self.spent + cost, self.priced + 1

    def _cost(self, usage: dict[str, Any]) -> float | None:
        """Return what a reply cost: as the endpoint says, else by the prices."""
        if isinstance(stated := usage.get("cost"), int | float):
            return float(stated)
        sent = usage.get("prompt_tokens", usage.get("input_tokens"))
        said = usage.get("completion_tokens", usage.get("output_tokens"))
        if self.prices is None or not isinstance(sent, int) or not isinstance(said, int):
            return None
        return (sent * self.prices[0] + said * self.prices[1]) / 1e6

    def add(self, file: IO[str], question: str, reply: Reply | None, error: str = "") -> None:
        """Write what came of a question as a line."""
        if reply is None:
            self.failed += 1
            line = as_failure(question, error)
        else:
            line = as_completion(question, reply) | {"asked": self.asked}
            if (cost := self._cost(reply.usage or {})) is not None:
                line["cost"] = cost
            self._count(question, line)
        file.write(json.dumps(line) + "\n")
        file.flush()

    @property
    def each(self) -> float:
        """US dollars of a reply, the mean of those that are known."""
        return self.spent / self.priced if self.priced else 0.0


def wanted(
    mixture: Mixture, replies: dict[str, int], limit: int | None, samples: int
) -> list[tuple[Questions, int]]:
    """Return the questions that lack replies, levels in turn, one for each reply that is missing.

    Args:
        mixture: of questions.
        replies: how many each has, by its id.
        limit: how many of the first questions are asked; None for all.
        samples: replies that each is to have.
    """
    asked = mixture.in_turn(limit)
    return [
        (questions, index)
        for sample in range(samples)
        for questions, index in asked
        if replies.get(questions.id_of(index), 0) <= sample
    ]


def posed(questions: list[tuple[Questions, int]]) -> Iterator[tuple[str, str]]:
    """Yield ids and prompts of questions, made some at a time."""
    for start in range(0, len(questions), PART):
        part = questions[start : start + PART]
        rows: dict[Questions, list[int]] = {}
        for each, index in part:
            rows.setdefault(each, []).append(index)
        prompts = {
            each: dict(zip(indices, each.prompts(indices), strict=True)) for each, indices in rows.items()
        }
        yield from ((each.id_of(index), prompts[each][index]) for each, index in part)
