"""Sets of questions as a benchmark of the Hugging Face Hub: the files of its repository.

All of them are functions of the sets alone, byte-identical wherever they are made: the list of sets
determines every file. ``eval.yaml`` is what inspect-ai runs (``inspect eval hf/user/name``). Its scorers
compare an answer with one target, so only questions with one answer are asked there.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from itertools import chain
from typing import Any

import yaml

from sraven.core.base.errors import ConfigurationError
from sraven.core.dataset.card import CITATION, LICENSE, PAPER_URL, size_category
from sraven.core.system.files import json_text
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.choice import CHOICES
from sraven.text.choosing import Choosing
from sraven.text.ids import find_question
from sraven.text.prompts import ANSWER
from sraven.text.questions import Questions
from sraven.text.records import Record, as_line, records
from sraven.text.replies import answer_pattern

CARD, EVALUATION, MANIFEST = "README.md", "eval.yaml", "questions.json"

SPLIT = "test"
"""Name of the one split there, as benchmarks of the Hub have it; rows say the split that they are of."""

LAYOUT = 1
"""Version of the repository's layout and of the manifest."""

MOST_PUZZLES = 1 << 17
"""Questions and their examples in one repository: all of them are recomputed to verify it."""

Sets = Sequence[Questions]


def check_sets(sets: Sets) -> None:
    """Make sure that sets can be asked there.

    Raises:
        ConfigurationError: if there is none, one stands twice or may have several answers, they are of two
            tracks, or too many.
    """
    if not sets:
        raise ConfigurationError("there are no questions")
    for questions in sets:
        if questions.task.answers != "unique":
            raise ConfigurationError(
                f"{questions.name} may have several answers, and the Hub's scorers know one target; publish "
                "questions with --answers unique"
            )
    if len({questions.name for questions in sets}) < len(sets):
        raise ConfigurationError("a set of questions stands there twice")
    if len({isinstance(questions, Choosing) for questions in sets}) > 1:
        raise ConfigurationError("questions with and without choices are two tracks; publish each apart")
    if (total := sum(questions.count * (questions.shots + 1) for questions in sets)) > MOST_PUZZLES:
        raise ConfigurationError(
            f"there are {total:,} questions and examples; expected at most {MOST_PUZZLES:,}"
        )


def path_of(questions: Questions) -> str:
    """Return the name of the file that has a set."""
    return f"data/{questions.name}.jsonl"


def make_files(sets: Sets) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file of the repository, the manifest last.

    Raises:
        ConfigurationError: for sets that can't be asked there; see `check_sets`.
    """
    check_sets(sets)
    texts = ((path_of(each), "".join(map(as_line, _rows(each)))) for each in sets)
    sums: dict[str, dict[str, Any]] = {}
    for name, text in chain(texts, [(CARD, render_card(sets)), (EVALUATION, render_evaluation(sets))]):
        data = text.encode()
        sums[name] = {"num_bytes": len(data), "sha256": sha256(data).hexdigest()}
        yield name, data
    manifest = {"layout": LAYOUT, "sets": [questions.name for questions in sets], "files": sums}
    yield MANIFEST, json_text(manifest).encode()


def read_manifest(data: bytes) -> tuple[Questions, ...]:
    """Return the sets that a manifest names; all else follows from them.

    Raises:
        ConfigurationError: if it is none, or names what can't be asked there.
    """
    try:
        manifest = parse_json(data)
        layout, names = manifest["layout"], manifest["sets"]
    except (ValueError, KeyError, TypeError):
        raise ConfigurationError(f"{MANIFEST} can't be read as a list of sets of questions") from None
    if layout != LAYOUT or not isinstance(names, list):
        raise ConfigurationError(f"{MANIFEST} isn't of layout {LAYOUT}, which this version reads")
    sets = tuple(find_question(f"{name}_0")[0] for name in names)
    check_sets(sets)
    return sets


# Rows


_KINDS = {"id": "string", "split": "string", "index": "int64", "prompt": "string", "target": "string"}


def _rows(questions: Questions) -> Iterator[Record]:
    """Yield the questions as the files there have them."""
    for record in records(questions, solved=True):
        record["target"] = record["answer"].removeprefix(f"{ANSWER} ").strip("[]")
        row = {name: record[name] for name in _KINDS}
        if isinstance(questions, Choosing):
            listed = record["prompt"].split("\n")[-CHOICES:]  # such as "A: [3 6 2 0]"
            row["choices"] = [line.partition(": ")[2] for line in listed]
        yield row


# What inspect-ai reads


def render_evaluation(sets: Sets) -> str:
    """Return ``eval.yaml``: a task for each set, named as the set is.

    A reply's last line is read by a pattern as `sraven.text.parse` reads it, and compared with the target.
    """
    pattern = answer_pattern(letters=isinstance(sets[0], Choosing))
    return _yaml(
        {
            "name": "SRAVEN in words",
            "description": (
                "Symbolic Raven's matrices as text, for compositional generalisation in context: a panel "
                "is missing, and exactly one fits."
            ),
            "evaluation_framework": "inspect-ai",
            "tasks": [
                {
                    "id": questions.name,
                    "config": questions.name,
                    "split": SPLIT,
                    "field_spec": {"input": "prompt", "target": "target", "metadata": ["id"]},
                    "solvers": [{"name": "generate"}],
                    "scorers": [{"name": "pattern", "args": {"pattern": pattern, "ignore_case": False}}],
                }
                for questions in sets
            ],
        }
    )


def _yaml(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)


# What people read


def _features(questions: Questions) -> list[dict[str, str]]:
    features = [{"name": name, "dtype": kind} for name, kind in _KINDS.items()]
    return features + [{"name": "choices", "list": "string"}] * isinstance(questions, Choosing)


def _front_matter(sets: Sets) -> str:
    total = sum(questions.count for questions in sets)
    data = {"default": [path_of(questions) for questions in sets]}
    data |= {questions.name: [path_of(questions)] for questions in sets}
    return _yaml(
        {
            "pretty_name": "SRAVEN in words",
            "license": LICENSE,
            "language": ["en"],
            "annotations_creators": ["machine-generated"],
            "source_datasets": ["original"],
            "task_categories": ["question-answering"],
            "tags": ["benchmark", "abstract-reasoning", "ravens-progressive-matrices", "synthetic"],
            "size_categories": [size_category(total)],
            "configs": [
                {"config_name": name, "data_files": [{"split": SPLIT, "path": paths}]}
                for name, paths in data.items()
            ],
            "dataset_info": [{"config_name": name, "features": _features(sets[0])} for name in data],
        }
    )


def render_card(sets: Sets) -> str:
    """Return the card: front matter from which `datasets` loads, then prose."""
    table = "\n".join(
        f"| `{questions.name}` | {questions.count:,} | {questions.task.M}, {questions.task.K} | "
        f"{questions.split} | {questions.form}, {questions.shots} | {questions.chance:.2g} |"
        for questions in sets
    )
    has_choices = isinstance(sets[0], Choosing)
    template = (files("sraven.text") / "templates" / "card.md").read_text("utf-8")
    return template.format(
        front=_front_matter(sets),
        paper=PAPER_URL,
        split=SPLIT,
        first=sets[0].name,
        table=table,
        choices="| `choices` | the eight panels, A to H |\n" if has_choices else "",
        example=f"{ANSWER} C" if has_choices else f"{ANSWER} [3 6 2 0]",
        evaluation=EVALUATION,
        leaks=_LEAKS if has_choices else "",
        citation=CITATION,
    )


_LEAKS = (
    "Choices leak: a solver that looks for no rule may score above one in eight, and `sraven text score` "
    "prints what some do. "
)
