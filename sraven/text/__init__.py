"""The puzzles as text: prompts for language models, their replies parsed and graded exactly.

>>> from sraven import SRAVEN, text
>>> batch = SRAVEN(M=4, K=8, answers="unique").sample("ood", start=0, count=2)
>>> prompts = text.render(batch, K=8)
>>> text.grade(["Answer: [0 0 0 0]", "I don't know."], batch, K=8).parsed.tolist()
[True, False]

NumPy is all that these need; no harness is imported.
"""

from typing import TYPE_CHECKING

from sraven.core.lazy import lazy_names

if TYPE_CHECKING:
    from sraven.text.forms import FORMS as FORMS
    from sraven.text.grading import Grades as Grades, grade as grade
    from sraven.text.prompts import render as render, render_answer as render_answer
    from sraven.text.questions import (
        LADDER as LADDER,
        Level as Level,
        Questions as Questions,
        find_question as find_question,
    )
    from sraven.text.replies import parse as parse

_HOMES = {
    "sraven.text.forms": "FORMS",
    "sraven.text.grading": "Grades grade",
    "sraven.text.prompts": "render render_answer",
    "sraven.text.questions": "LADDER Level Questions find_question",
    "sraven.text.replies": "parse",
}
"""The public names by the modules that define them; they are imported when asked for."""

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
