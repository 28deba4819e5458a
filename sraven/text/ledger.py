"""The file that outcomes of questions are written to: how they were asked, what they cost, what it lacks."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import IO, Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import dollars, quoted
from sraven.files.files import open_plain
from sraven.files.lock import Lock
from sraven.files.strict_json import parse_json
from sraven.text.apis import CANARY, Asking, Outcome
from sraven.text.completions import LONGEST_LINE, Usage, read_completions, read_usage
from sraven.text.failures import LONGEST_RAW
from sraven.text.mixtures import Mixture
from sraven.text.questions import PART, Questions

HARNESS = "sraven text ask"

_BEGINNING = b'{"id"'

Wanted = tuple[Questions, int, int]
"""A question by its set and its index there, and the number of a sample of it, from 0."""


def mend(path: Path) -> None:
    """End a last line of completions that has no end, or cut off what a power cut left of one."""
    if not path.exists():
        return
    whole, last = 0, b""
    with open_plain(path, follow_links=True) as file:
        for last in file:
            whole += len(last)
    if last.endswith(b"\n"):
        return
    with suppress(ValueError):
        if isinstance(parse_json(last), dict):
            with path.open("ab") as file:
                file.write(b"\n")
            return
    written = last.rstrip(b"\0")  # which some file systems leave
    if written.startswith(_BEGINNING[: len(written)]):
        os.truncate(path, whole - len(last))


class Ledger:
    """A file that completions are added to, a line as each comes: see `open_ledger`.

    Attributes:
        replies: the numbers of the samples that are there, by the id of the question; failures don't count.
        usage: what these took, and failures that say it, as far as it is known.
        failed: questions that failed since the file was opened.
        again: how many of these are worth asking again.
        causes: why they failed, but for what differs from one request to the other.
    """

    def __init__(self, path: Path, asking: Asking, prices: tuple[float, float] | None) -> None:
        self.path, self.prices = path, prices
        self.asked = {"harness": HARNESS, "version": version("sraven"), "api": "chat", **asking.stated}
        self.asking, self.usage, self.causes = asking, Usage(), Counter[str]()
        self.replies: defaultdict[str, set[int]] = defaultdict(set)
        self.failed = self.again = 0
        if path.exists():
            for completion in read_completions(path):
                self._check(completion.where, completion.said.get("asked"))
                seed = completion.said.get("seed")
                self._count(completion.question, completion.text is not None, completion.usage, seed)

    def _check(self, where: str, asked: Any) -> None:
        """Refuse lines that were asked in another way: they would be one entry."""
        if isinstance(asked, dict) and asked | {"version": ""} != self.asked | {"version": ""}:
            others = [name for name in asked | self.asked if asked.get(name) != self.asked.get(name)]
            other = quoted({name: asked.get(name) for name in others})
            raise ConfigurationError(f"{where} was asked in another way: {other}; choose another file")

    def _count(self, question: str, is_reply: bool, usage: Usage, seed: Any) -> None:
        if is_reply:
            there, first = self.replies[question], self.asking.seed
            sample = seed - first if type(seed) is int and first is not None else 0
            self.replies[question].add(next(number for number in count(sample) if number not in there))
        if is_reply or usage.with_tokens or usage.with_cost:  # a failure may have been paid for
            self.usage += usage

    def _cost(self, usage: dict[str, Any]) -> float | None:
        """Return what a reply cost: as the endpoint says, or by the prices if that is more.

        A cost of 0 is none: else whoever states it would make any budget endless.
        """
        stated = read_usage({"usage": usage, "cost": usage.get("cost")})
        costs = [stated.cost_usd]
        if self.prices is not None:
            costs.append((stated.input_tokens * self.prices[0] + stated.output_tokens * self.prices[1]) / 1e6)
        return max(costs) or None

    def add(self, file: IO[str], outcome: Outcome) -> None:
        """Write the outcome of a question as a line."""
        question, reply, error, again, kept, sample = outcome
        line: dict[str, Any] = {"id": question, "canary": CANARY}
        if reply is None:
            self.failed, self.again = self.failed + 1, self.again + again
            self.causes[_cause(error)] += 1
            line |= {**kept, "completion": None, "error": error}
        else:
            line |= {**reply.said, "asked": self.asked}
        if (seed := self.asking.of_sample(sample).seed) is not None:
            line["seed"] = seed
        usage = line.get("usage")
        if isinstance(usage, dict) and (cost := self._cost(usage)) is not None:
            line["cost"] = cost
        text = json.dumps(line)
        if len(text) > LONGEST_LINE:  # with it, the file couldn't be read any more
            raw = {"raw": text[:LONGEST_RAW]}
            why = f"a line of {len(text):,} characters"
            return self.add(file, Outcome(question, None, why, False, raw, sample))
        self._count(question, reply is not None, read_usage(line), seed)
        file.write(text + "\n")
        file.flush()
        return None

    @property
    def each(self) -> float:
        """US dollars of a reply, the mean of those that are known."""
        return self.usage.cost_usd / self.usage.with_cost if self.usage.with_cost else 0.0

    @property
    def spent(self) -> float:
        """US dollars of all replies; those whose cost isn't known count as the mean of the others."""
        return self.usage.cost_usd + self.each * (self.usage.replies - self.usage.with_cost)

    def why_to_stop(self, budget: float | None, under_way: int) -> str:
        """Return why no more is asked, with so many questions under way; nothing if there is more."""
        if budget is None or not self.usage.replies:
            return ""
        if not self.usage.with_cost:
            return "--budget needs costs, and the endpoint states none: give --price-in and --price-out"
        if self.spent + self.each * under_way > budget:
            return f"the budget of {dollars(budget)} is nearly spent"
        return ""


def _cause(error: str) -> str:
    """Return an error without what differs from one request to the other, such as their ids."""
    plain = re.sub(r" \(\d+ tries\)$|\b(?=\w*\d)[\w-]{12,}", "", error)
    return plain[:100].strip()


@contextmanager
def open_ledger(
    path: Path, asking: Asking, prices: tuple[float, float] | None = None
) -> Iterator[tuple[Ledger, IO[str]]]:
    """Yield a file of completions to add to, which nobody else adds to meanwhile.

    Args:
        path: the file; it need not be there.
        asking: how they are asked. A file whose completions were asked in another way is refused.
        prices: US dollars for a million tokens of prompts, and of replies; None if they aren't known.

    Raises:
        ConfigurationError: if a line can't be read, or was asked in another way.
        OutputError: if another process is writing there.
    """
    if path.suffix == ".gz":
        raise ConfigurationError(
            f"{path}: lines are added as they come; leave .gz out, and pack it afterwards"
        )
    there = path.resolve()
    with Lock(there.with_name(f"{there.name}.lock"), of=path):
        mend(path)
        ledger = Ledger(path, asking, prices)
        with path.open("a", encoding="utf-8", newline="\n") as file:
            yield ledger, file


def wanted(
    mixture: Mixture, replies: Mapping[str, Collection[int]], limit: int | None, samples: int
) -> list[Wanted]:
    """Return the questions that lack replies, levels in turn, one for each reply that is missing.

    Args:
        mixture: of questions.
        replies: the numbers of the samples that each has, by its id.
        limit: how many of the first questions are asked; None for all.
        samples: replies that each is to have.
    """
    asked = mixture.in_turn(limit)
    return [
        (questions, index, sample)
        for sample in range(samples)
        for questions, index in asked
        if sample not in replies.get(questions.id_of(index), ())
    ]


def posed(questions: Sequence[Wanted]) -> Iterator[tuple[str, str, int]]:
    """Yield ids, prompts and samples of what is wanted, made some at a time."""
    for start in range(0, len(questions), PART):
        part = questions[start : start + PART]
        rows: dict[Questions, list[int]] = {}
        for each, index, _ in part:
            rows.setdefault(each, []).append(index)
        prompts = {
            each: dict(zip(indices, each.prompts(indices), strict=True)) for each, indices in rows.items()
        }
        yield from ((each.id_of(index), prompts[each][index], sample) for each, index, sample in part)
