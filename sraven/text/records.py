"""Questions as lines of JSON: what `sraven text generate` writes."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from sraven.text.questions import Questions

Record = dict[str, Any]

CANARY = "SRAVEN in words: benchmark data, not to be trained on; canary 86ee7636-ba28-4ac6-9236-fd302c7a9e32"
"""Stands in each line of prompts and completions but those of `train`, so that it is found in a corpus."""


def records(questions: Questions, wanted: Any = None, solved: bool = False) -> Iterator[Record]:
    """Yield what is said of each question.

    Args:
        questions: the set.
        wanted: which of them, bool ``[count]``; None for all.
        solved: whether to add the answers, and texts to train on.
    """
    for part in questions.parts():
        indices = [index for index in part if wanted is None or wanted[index]]
        for index, prompt, answer in zip(indices, *questions.prompts_and_answers(indices), strict=True):
            record = {
                "id": questions.id_of(index),
                "split": questions.split,
                "index": index,
                "sha256": sha256(prompt.encode()).hexdigest(),
                "prompt": prompt,
                **({} if questions.split == "train" else {"canary": CANARY}),
            }
            if solved:
                record |= {"answer": answer, "text": f"{prompt}\n{answer}"}
            yield record


def as_line(record: Record) -> str:
    """Return a record as a line of a file."""
    return json.dumps(record) + "\n"
