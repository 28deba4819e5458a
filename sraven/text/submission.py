"""Submissions to boards of texts, made of files of completions."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.leaderboard.submissions.submit import check_new, write_submission
from sraven.text.completions import Usage, read_completions
from sraven.text.mixtures import Mixture, mixtures_of
from sraven.text.questions import Questions

NO_HARNESS = "unknown"
"""What put the prompts to a model, where neither the files nor their owner say it."""


class Completed(NamedTuple):
    """A file of completions of a board's questions.

    Attributes:
        mixture: the questions, of a board in one of its forms.
        samples: runs, each a reply to each question in the order of the board; None where there is none.
        missing: how many questions the file doesn't have.
        usage: tokens and cost of the replies, as far as they say it.
        models: what the lines say of the model that replied, and of what was asked for: names, each once.
        asked: how it was asked, as the lines say it, each once.
        mended: ids of replies that had halves of characters, for which U+FFFD stands.
    """

    mixture: Mixture
    samples: list[list[str | None]]
    missing: int
    usage: Usage
    models: list[str]
    asked: list[dict[str, Any]]
    mended: list[str]


def read_board_completions(path: Path) -> Completed:
    """Read completions of a board's questions, all asked in one form, in any order.

    The board is found by the ids. Several replies to a question are as many samples, each a run of its own.

    Raises:
        ConfigurationError: at the first line that can't be read; if some are of no board, or of several
            boards or forms; or if there is none.
    """
    found: dict[Questions, dict[int, list[str]]] = {}
    usage, models, asked, mended = Usage(), list[str](), list[dict[str, Any]](), list[str]()
    for completion in read_completions(path):
        questions, index = completion.find()
        replies = found.setdefault(questions, {}).setdefault(index, [])
        if completion.text is not None:
            replies.append(completion.text)
        usage += completion.usage
        mended += [completion.question] * completion.is_mended
        for name, known in (("model", models), ("asked", asked)):
            if (value := completion.said.get(name)) and value not in known:
                known.append(value)
    mixtures = [mixture for mixture, _ in mixtures_of(found)]
    if not mixtures:
        raise ConfigurationError(f"{path} has no completions")
    for each in mixtures:
        if not each.form or each.fresh is not None:
            raise ConfigurationError(
                f"{path}: {each.name} is no set of questions of a board; `sraven text generate --board` has "
                "those"
            )
    mixture, *others = mixtures
    if others:
        raise ConfigurationError(
            f"{path} is of {mixture.name} and of {others[0].name}; submit each board and form apart"
        )
    replied = [
        [found.get(questions, {}).get(index, []) for index in range(questions.count)]
        for questions in mixture.sets
    ]
    ordered = list(mixture.in_order(replied))
    runs: list[list[str | None]] = [
        [each[run] if run < len(each) else None for each in ordered]
        for run in range(max(1, *map(len, ordered)))
    ]
    missing = mixture.count - sum(map(len, found.values()))
    return Completed(mixture, runs, missing, usage, models, asked, mended)


def write_text_submission(
    out: str | os.PathLike[str],
    completions: Sequence[Path],
    *,
    method: Mapping[str, Any],
    model: Mapping[str, Any],
    training: Mapping[str, Any],
    replies: Mapping[str, Any],
) -> list[Completed]:
    """Write the directory of a submission from files of completions, whole or not at all.

    Args:
        out: a directory that doesn't exist yet.
        completions: the files: of a run each, or of several if questions have several replies; all of one
            board, asked in one form.
        method: as for `sraven.write_submission`; ``name`` is the model's unless it is given.
        model: as there.
        training: as there.
        replies: as there, without ``form``, ``prompt_digest`` and ``usage``: the ids of the completions say
            the form, the prompt of a question is the board's, and the lines say what replies took. What
            `sraven text ask` wrote into the lines is taken from them: ``model``, ``revision``, the harness,
            and how it was asked.

    Returns:
        what was read of each file.

    Raises:
        ConfigurationError: for completions of other questions, a description that isn't allowed, or one that
            lacks the model or its revision.
        OutputError: if ``out`` exists.
    """
    check_new(Path(out))
    read = [read_board_completions(path) for path in completions]
    mixture = read[0].mixture
    if other := next((each.mixture for each in read if each.mixture != mixture), None):
        raise ConfigurationError(
            f"the files are of {mixture.name} and of {other.name}; submit each board and form apart"
        )
    board, usage = read_board(mixture.board), sum((each.usage for each in read), Usage())
    took = {"usage": asdict(usage)} if usage.with_tokens or usage.with_cost else {}
    described = {**_described(read), **replies}
    if lacking := [name for name in ("model", "revision") if not described.get(name)]:
        raise ConfigurationError(
            f"the files don't say the {lacking[0]} that replied; name it, --{lacking[0]}"
        )
    write_submission(
        out,
        board.id,
        {board.primary_split: [run for each in read for run in each.samples]},
        method={"name": described["model"], **method},
        model=model,
        training=training,
        replies={**described, "form": mixture.form, "prompt_digest": board.prompts[mixture.form], **took},
    )
    return read


def _described(read: Sequence[Completed]) -> dict[str, Any]:
    """Return what the lines of the files say of the model, and of how it was asked.

    Raises:
        ConfigurationError: if they were asked in several ways, or several models replied.
    """
    asked, models = list[dict[str, Any]](), list[str]()
    for each in read:
        asked += [said for said in each.asked if said not in asked]
        models += [name for name in each.models if name not in models]
    if len(asked) > 1 or len(models) > 1:
        raise ConfigurationError(
            "the files were asked in several ways, or of several models: "
            f"{quoted(asked[1] if len(asked) > 1 else models[1])} beside "
            f"{quoted(asked[0] if len(asked) > 1 else models[0])}; submit each apart"
        )
    said = dict(asked[0]) if asked else {}
    known: dict[str, Any] = {name: said.pop(name) for name in ("model", "temperature") if name in said}
    known |= {"harness": said.pop("harness", NO_HARNESS), "harness_version": said.pop("version", NO_HARNESS)}
    return {**known, **({"revision": models[0]} if models else {}), **({"settings": said} if said else {})}
