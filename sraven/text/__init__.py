"""The puzzles as text: prompts for language models, their replies parsed and graded exactly.

>>> from sraven import SRAVEN, text
>>> batch = SRAVEN(M=4, K=8, answers="unique").sample("ood", start=0, count=2)
>>> prompts = text.render(batch, K=8)
>>> text.grade(["Answer: [0 0 0 0]", "I don't know."], batch, K=8).parsed.tolist()
[True, False]

NumPy is all that these need; no harness is imported.
"""

from typing import TYPE_CHECKING

from sraven.core.system.lazy import lazy_names

if TYPE_CHECKING:
    from sraven.text.choice import FLOORS, SCHEMES
    from sraven.text.choosing import Choosing
    from sraven.text.forms import FORMS
    from sraven.text.grading import Grades, Summary, grade, summarise
    from sraven.text.ids import ask, find_question
    from sraven.text.ladder import LADDER, Level
    from sraven.text.prompts import render, render_answer
    from sraven.text.questions import Questions
    from sraven.text.replies import parse

__all__ = [
    "FLOORS",
    "FORMS",
    "LADDER",
    "SCHEMES",
    "Choosing",
    "Grades",
    "Level",
    "Questions",
    "Summary",
    "ask",
    "find_question",
    "grade",
    "parse",
    "render",
    "render_answer",
    "summarise",
]

_HOMES = {
    "Choosing": "sraven.text.choosing",
    "FLOORS": "sraven.text.choice",
    "FORMS": "sraven.text.forms",
    "LADDER": "sraven.text.ladder",
    "Grades": "sraven.text.grading",
    "Questions": "sraven.text.questions",
    "Level": "sraven.text.ladder",
    "Summary": "sraven.text.grading",
    "SCHEMES": "sraven.text.choice",
    "ask": "sraven.text.ids",
    "find_question": "sraven.text.ids",
    "grade": "sraven.text.grading",
    "parse": "sraven.text.replies",
    "render": "sraven.text.prompts",
    "render_answer": "sraven.text.prompts",
    "summarise": "sraven.text.grading",
}
"""Where the public names are defined; they are imported when asked for."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
