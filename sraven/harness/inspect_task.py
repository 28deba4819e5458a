"""The puzzles as tasks of inspect-ai: ``inspect eval sraven/sraven_text --model …``.

They are found under their names once this package is installed; `docs/language-models.md` shows how they are
used.
"""

from typing import Any, cast

from click import ClickException
from inspect_ai import Task, scorer, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import TaskState

from sraven.core.errors import ConfigurationError
from sraven.harness.questions import bounds, count_sets, make_questions, pose, pose_board, verdict

_PLAIN = [scorer.mean(), scorer.stderr()]

_UNPARSED = {"lenient_unparsed": _PLAIN, "unparsed": _PLAIN}


class WrongArgumentError(ClickException, ConfigurationError):
    """A wrong argument of a task, which inspect-ai's command, being made with click, shows as one line."""

    exit_code = 2


async def _judge(state: TaskState, target: scorer.Target) -> scorer.Score:
    """Judge a reply by the id of its sample, so that logs can be scored again."""
    reply = state.output.completion
    found = verdict(str(state.sample_id), reply)
    answer = None if found["unparsed"] else reply.strip().splitlines()[-1].strip()
    return scorer.Score(value=dict(found), answer=answer)


@scorer.metric
def level() -> scorer.Metric:
    """Report the mean and its standard error for each level of a board, and for all of them."""
    parts = [
        scorer.grouped(scorer.mean(), "level", all_label="total"),
        scorer.grouped(scorer.stderr(), "level", all_label="total ±", name_template="{group_name} ±"),
    ]

    def report(scores: list[scorer.SampleScore]) -> scorer.Value:
        return {name: value for part in parts for name, value in cast(Any, part)(scores).items()}

    return report


@scorer.scorer(metrics={"*": _PLAIN})
def exact() -> scorer.Scorer:
    """Judge a reply exactly, by what `sraven.harness.questions.verdict` returns."""
    return _judge


@scorer.scorer(metrics={"accuracy": [level()], **_UNPARSED})
def exact_by_level() -> scorer.Scorer:
    """Judge as `exact` does; what ranks is reported of each level, and of all."""
    return _judge


@scorer.metric
def sets() -> scorer.Metric:
    """Report `sraven.harness.questions.count_sets` of sets of twins."""

    def report(scores: list[scorer.SampleScore]) -> scorer.Value:
        places = [score.sample_metadata or {} for score in scores]
        solved = [score.score.as_float() for score in scores]
        rows = zip(places, solved, strict=True)
        return dict(count_sets((place["set"], place["variants"], each) for place, each in rows))

    return report


@scorer.scorer(metrics={"accuracy": [level(), sets()], **_UNPARSED})
def exact_by_set() -> scorer.Scorer:
    """Judge as `exact_by_level` does; what ranks is reported of sets of twins, too."""
    return _judge


@task
def sraven(
    M: int = 4,
    K: int = 8,
    form: str = "told",
    shots: int = 0,
    answers: str = "unique",
    split: str | None = None,
    seed: int = 0,
    count: int = 2000,
) -> Task:
    """Symbolic Raven's matrices: a panel is missing, and a reply is right or wrong.

    Arguments are those of `sraven.harness.questions.make_questions`.
    """
    try:
        asked = make_questions(M, K, form, shots, answers, split, seed, count)
    except ConfigurationError as error:
        raise WrongArgumentError(str(error)) from None
    samples = [_sample(each) for each in pose(asked)]
    return Task(
        dataset=MemoryDataset(samples, name=asked.name),
        scorer=exact(),
        metadata=bounds([asked]),
        version=asked.task.version,
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
    try:
        mixture, questions = pose_board(board, form, shots, fresh_seed)
    except ConfigurationError as error:
        raise WrongArgumentError(str(error)) from None
    has_sets = any("set" in place for _, place in questions)
    return Task(
        dataset=MemoryDataset([_sample(each, **place) for each, place in questions], name=mixture.name),
        scorer=exact_by_set() if has_sets else exact_by_level(),
        metadata=bounds(mixture.sets),
        version=board.rpartition("-v")[2],
    )


def _sample(question: Any, **place: Any) -> Sample:
    shown = {"ceiling": question.ceiling, **place}
    return Sample(id=question.id, input=question.prompt, target=question.answer, metadata=shown)
