"""The puzzles as tasks of inspect-ai: ``inspect eval sraven/sraven_text --model …``.

They are found under their names once this package is installed; `docs/language-models.md` shows how they are
used.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

from click import ClickException
from inspect_ai import Task, scorer, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import TaskState

from sraven.core.errors import ConfigurationError
from sraven.harness.questions import bounds, count_sets, make_questions, pose, pose_board, verdict

_PLAIN = [scorer.mean(), scorer.stderr()]


class WrongArgumentError(ClickException, ConfigurationError):
    """A wrong argument of a task, which inspect-ai's command, being made with click, shows as one line."""

    exit_code = 2


@scorer.metric
def level() -> scorer.Metric:
    """Report mean and error by level of a board, and of all levels; of twins, of whole sets as well."""
    mean = scorer.grouped(scorer.mean(), "level", all_label="total")
    error = scorer.grouped(scorer.stderr(), "level", all_label="total ±", name_template="{group_name} ±")

    def report(scores: list[scorer.SampleScore]) -> scorer.Value:
        found = {name: value for part in (mean, error) for name, value in cast(Any, part)(scores).items()}
        places = [(each.sample_metadata or {}, each.score.as_float()) for each in scores]
        sets = [(place["set"], place["variants"], value) for place, value in places if "set" in place]
        return {**found, **(count_sets(sets) if sets else {})}

    return report


async def _judge(state: TaskState, target: scorer.Target) -> scorer.Score:
    """Judge a reply by the id of its sample, so that logs can be scored again."""
    reply = state.output.completion
    found = verdict(str(state.sample_id), reply)
    answer = None if found["unparsed"] else reply.strip().splitlines()[-1].strip()
    return scorer.Score(value=dict(found), answer=answer)


@scorer.scorer(metrics={"*": _PLAIN})
def exact() -> scorer.Scorer:
    """Judge a reply exactly, by what `sraven.harness.questions.verdict` returns."""
    return _judge


@scorer.scorer(metrics={"accuracy": [level()], "lenient_unparsed": _PLAIN, "unparsed": _PLAIN})
def exact_by_level() -> scorer.Scorer:
    """Judge as `exact` does; what ranks is reported by level."""
    return _judge


@contextmanager
def _in_one_line() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        raise WrongArgumentError(str(error)) from None


def _make(questions: Iterable[tuple[Any, dict[str, Any]]], name: str, sets: Any, **options: Any) -> Task:
    """Return the task of some questions with their places, which are all of some sets."""
    samples = [
        Sample(id=each.id, input=each.prompt, target=each.answer, metadata={"ceiling": each.ceiling, **place})
        for each, place in questions
    ]
    return Task(dataset=MemoryDataset(samples, name=name), metadata=bounds(sets), **options)


@task
@wraps(make_questions, assigned=())
def sraven(**options: Any) -> Task:
    """Symbolic Raven's matrices: a panel is missing, and a reply is right or wrong.

    Arguments are those of `sraven.harness.questions.make_questions`.
    """
    with _in_one_line():
        asked = make_questions(**options)
    return _make(
        ((each, {}) for each in pose(asked)), asked.name, [asked], scorer=exact(), version=asked.task.version
    )


@task
def sraven_text(
    board: str = "sraven-text-lite-v2", form: str = "told", shots: int = 0, fresh_seed: int | None = None
) -> Task:
    """The questions of a text board, levels in turn.

    Args:
        board: its id.
        form: of the prompts, ``told`` or ``untold``.
        shots: solved examples before each question.
        fresh_seed: draws the board's mixture of questions anew; None for the board's own.
    """
    with _in_one_line():
        mixture, posed = pose_board(board, form, shots, fresh_seed)
    version = board.rpartition("-v")[2]
    return _make(posed, mixture.name, mixture.sets, scorer=exact_by_level(), version=version)
