"""The puzzles as a task of inspect-ai: ``inspect eval sraven/sraven -T M=4 --model …``.

It is found under this name once it is installed; `docs/language-models.md` shows how it is used.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from sraven.core.ground.estimate import Mean
from sraven.harness.questions import Question, ask, ceiling, copying, make_questions, verdict


def _sample(question: Question) -> Sample:
    metadata = {"ceiling": question.ceiling}
    return Sample(id=question.id, input=question.prompt, target=question.answer, metadata=metadata)


def _number(estimate: Mean) -> dict[str, float]:
    return {"value": estimate.value, "stderr": estimate.standard_error}


@scorer(metrics={"*": [mean(), stderr()]})
def exact() -> Scorer:
    """Judge a reply exactly: ``target``, ``valid`` (one of all panels that fit) and ``unparsed``.

    The id of a sample is all it needs, so that logs can be scored again.
    """

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        found = verdict(str(state.sample_id), reply)
        answer = None if found["unparsed"] else reply.strip().splitlines()[-1].strip()
        return Score(value=dict(found), answer=answer)

    return score


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
    asked = make_questions(M, K, form, shots, answers, split, seed, count)
    questions = list(ask(asked))
    best = ceiling(questions)
    return Task(
        dataset=MemoryDataset([_sample(question) for question in questions], name=asked.name),
        scorer=exact(),
        metadata={
            "ceiling": best and _number(best),
            "chance": asked.chance,
            "copying": _number(copying(asked)),
        },
        version=asked.task.version,
    )
