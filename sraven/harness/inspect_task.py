"""The puzzles as tasks of inspect-ai: ``inspect eval sraven/sraven -T M=4 --model …``.

They are found under their names once this package is installed; `docs/language-models.md` shows how they are
used.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from click import ClickException
from inspect_ai import Task, scorer, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import TaskState

from sraven.core.base.errors import ConfigurationError
from sraven.core.base.estimate import Mean
from sraven.harness.questions import (
    Question,
    ceiling,
    count_sets,
    floors,
    make_questions,
    pose,
    pose_board,
    verdict,
)
from sraven.text.questions import Questions


class WrongArgumentError(ClickException, ConfigurationError):
    """A wrong argument of a task, which inspect-ai's command, being made with click, shows as one line."""

    exit_code = 2


@contextmanager
def _in_one_line() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        raise WrongArgumentError(str(error)) from None


def _number(estimate: Mean) -> dict[str, float]:
    return {"value": estimate.value, "stderr": estimate.standard_error}


def _bounds(asked: Questions, questions: Sequence[Question]) -> dict[str, Any]:
    """Return what a score is read against: the ceiling if it is known, chance, and what takes no thought."""
    best = ceiling(questions)
    return {
        "ceiling": best and _number(best),
        "chance": asked.chance,
        "floors": {name: _number(floor) for name, floor in floors(asked).items()},
    }


def _sample(question: Question, **metadata: Any) -> Sample:
    shown = {"ceiling": question.ceiling, **metadata}
    return Sample(id=question.id, input=question.prompt, target=question.answer, metadata=shown)


async def _judge(state: TaskState, target: scorer.Target) -> scorer.Score:
    """Judge a reply by the id of its sample, so that logs can be scored again."""
    reply = state.output.completion
    found = verdict(str(state.sample_id), reply)
    answer = None if found["unparsed"] else reply.strip().splitlines()[-1].strip()
    return scorer.Score(value=dict(found), answer=answer)


@scorer.scorer(metrics={"*": [scorer.mean(), scorer.stderr()]})
def exact() -> scorer.Scorer:
    """Judge a reply exactly, by what `sraven.harness.questions.judge` returns."""
    return _judge


@scorer.metric
def rung() -> scorer.Metric:
    """Report the mean and its standard error for each rung of the ladder, and for all of them."""
    measures = {"": scorer.mean(), "_stderr": scorer.stderr()}

    def report(scores: list[scorer.SampleScore]) -> scorer.Value:
        rungs = {"all": scores}
        for score in scores:
            rungs.setdefault((score.sample_metadata or {})["rung"], []).append(score)
        return {
            f"{name}{ending}": cast(float, cast(scorer.MetricProtocol, measure)(here))
            for name, here in rungs.items()
            for ending, measure in measures.items()
        }

    return report


@scorer.scorer(metrics={"*": [rung()]})
def exact_by_rung() -> scorer.Scorer:
    """Judge as `exact` does; what is reported is reported of each rung of the ladder, and of all."""
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


@scorer.scorer(metrics={"*": [rung(), sets()]})
def exact_by_set() -> scorer.Scorer:
    """Judge as `exact_by_rung` does; what is reported is reported of sets of twins, too."""
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
    with _in_one_line():
        asked = make_questions(M, K, form, shots, answers, split, seed, count)
    questions = list(pose(asked))
    return Task(
        dataset=MemoryDataset(list(map(_sample, questions)), name=asked.name),
        scorer=exact(),
        metadata=_bounds(asked, questions),
        version=asked.task.version,
    )


def _board_task(board: str, form: str, shots: int) -> Task:
    """Return the questions of a text board, all its rungs, in its order."""
    with _in_one_line():
        rungs, questions = pose_board(board, form, shots)
    return Task(
        dataset=MemoryDataset(
            [_sample(each, rung=rung.rung, **rung.set_of(each)) for rung, each in questions], name=board
        ),
        scorer=exact_by_rung() if rungs[0].variants == 1 else exact_by_set(),
        metadata={rung.rung: _bounds(rung.asked, rung.questions) for rung in rungs},
        version=board.rpartition("-v")[2],
    )


@task
def sraven_text_v1(form: str = "told", shots: int = 0) -> Task:
    """All rungs of the ladder, which are the questions of the board sraven-text-v1.

    Args:
        form: of the prompts, ``told`` or ``untold``.
        shots: solved examples before each question.
    """
    return _board_task("sraven-text-v1", form, shots)


@task
def sraven_text_v2(form: str = "told", shots: int = 0) -> Task:
    """The questions of the board sraven-text-v2, of all levels in turn; arguments as for `sraven_text_v1`."""
    return _board_task("sraven-text-v2", form, shots)


@task
def sraven_text_lite_v2(form: str = "told", shots: int = 0) -> Task:
    """The questions of the board sraven-text-lite-v2; arguments as for `sraven_text_v1`."""
    return _board_task("sraven-text-lite-v2", form, shots)


@task
def sraven_text_twins_v1() -> Task:
    """The questions of the board sraven-text-twins-v1, reported by level and variant, and by sets."""
    return _board_task("sraven-text-twins-v1", "told", 0)
