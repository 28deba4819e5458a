"""SRAVEN as a dataset of reasoning-gym: one file, to be put into ``reasoning_gym/cognition`` as it is.

It needs nothing but reasoning-gym. Each puzzle is certified to have one answer. The tests at the end run
by ``pytest reasoning_gym_sraven.py``. Instances are not those of the package sraven; rules and answers are.
"""

from dataclasses import dataclass
from itertools import permutations, product
from random import Random
from typing import Any

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition, ScalarAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset

DATASET_NAME = "sraven"

RULES = {
    "constant": lambda x, y, K: (x, x, x),
    "progression +1": lambda x, y, K: (x, (x + 1) % K, (x + 2) % K),
    "progression +2": lambda x, y, K: (x, (x + 2) % K, (x + 4) % K),
    "progression -1": lambda x, y, K: (x, (x - 1) % K, (x - 2) % K),
    "progression -2": lambda x, y, K: (x, (x - 2) % K, (x - 4) % K),
    "addition": lambda x, y, K: (x, y, (x + y) % K),
    "subtraction": lambda x, y, K: (x, y, (x - y) % K),
}
"""Rows that a rule allows, given two numbers; of distribute three, rows depend on one another."""

THREE = "distribute three"

QUESTION = """A matrix has three rows of three panels. Its last panel, [?], is missing. A panel is a list of {M} numbers from 0 to {last}. All arithmetic is modulo {K}.

Each number follows one rule from panel to panel of a row, the same rule in all three rows. The rules, for any x and y:
- constant: x, x, x
- progression: x, x+d, x+2d, with d one of +1, +2, -1, -2
- addition: x, y, x+y
- subtraction: x, y, x-y
- distribute three: three different numbers, the same three in every row, in any order

The panels of a column list the numbers in the same order; different columns may list them in different orders.

{rows}

Which panel belongs in place of [?]? Answer with that panel alone, as in [{example}]."""  # noqa: E501


@dataclass
class SravenConfig:
    """Settings of the puzzles."""

    min_features: int = 1  # numbers of a panel, at least
    max_features: int = 3  # and at most
    symbols: int = 8  # numbers go from 0 to this, exclusive
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Make sure that there are such puzzles."""
        assert 1 <= self.min_features <= self.max_features <= 4, "features: 1 to 4"
        assert 5 <= self.symbols <= 100, "symbols: 5 to 100"
        assert self.size > 0, "size must be positive"


def third_numbers(rows: list[tuple[int, int, int]], first: int, second: int, K: int) -> set[int]:
    """Return what may end a row of two numbers, given two whole rows of the same feature."""
    found = {
        rule(first, second, K)[2]
        for rule in RULES.values()
        if all(rule(x, y, K) == (x, y, z) for x, y, z in rows)
        and rule(first, second, K)[:2] == (first, second)
    }
    three = set(rows[0])
    if len(three) == 3 and set(rows[1]) == three and {first, second} < three and first != second:
        found |= three - {first, second}
    return found


def answers(context: list[list[int]], K: int) -> set[tuple[int, ...]]:
    """Return every panel that some rules explain, whichever number of a column belongs to which."""
    M, found = len(context[0]), set()
    orders = list(permutations(range(M)))
    ends = {
        (a, b, c): third_numbers(
            [(context[0][a], context[1][b], context[2][c]), (context[3][a], context[4][b], context[5][c])],
            context[6][a],
            context[7][b],
            K,
        )
        for a, b, c in product(range(M), repeat=3)
    }
    for second, third in product(orders, repeat=2):  # feature a stands at second[a] and third[a]
        placed = sorted((third[a], ends[a, second[a], third[a]]) for a in range(M))
        found |= set(product(*(numbers for _, numbers in placed)))
    return found


def draw(rng: Random, M: int, K: int) -> tuple[list[list[int]], list[int], list[str]]:
    """Return eight panels, the ninth, and the rules."""
    rules = [rng.choice([*RULES, THREE]) for _ in range(M)]
    features = []
    for rule in rules:
        if rule == THREE:
            three = rng.sample(range(K), 3)
            features.append([rng.sample(three, 3) for _ in range(3)])
        else:
            features.append([RULES[rule](rng.randrange(K), rng.randrange(K), K) for _ in range(3)])
    orders = [rng.sample(range(M), M) for _ in range(3)]
    panels = [[features[a][row][column] for a in orders[column]] for row in range(3) for column in range(3)]
    return panels[:8], panels[8], rules


def write(panel: list[int]) -> str:
    """Return a panel as text."""
    return f"[{' '.join(map(str, panel))}]"


class SravenDataset(ProceduralDataset):
    """Symbolic Raven's matrices: rules of several numbers at once, whose places are mixed up."""

    def __init__(self, config: SravenConfig):
        super().__init__(config=config, seed=config.seed, size=config.size)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a puzzle with one answer."""
        rng = Random(f"{DATASET_NAME} {self.seed} {idx}")  # noqa: S311
        K = self.config.symbols
        M = rng.randint(self.config.min_features, self.config.max_features)
        while True:
            context, target, rules = draw(rng, M, K)
            if answers(context, K) == {tuple(target)}:
                break
        shown = [*map(write, context), "[?]"]
        return {
            "question": QUESTION.format(
                M=M,
                K=K,
                last=K - 1,
                rows="\n".join(" ".join(shown[row : row + 3]) for row in (0, 3, 6)),
                example=" ".join("d" * M),
            ),
            "answer": write(target),
            "metadata": {
                "source_dataset": DATASET_NAME,
                "source_index": idx,
                "context": context,
                "rules": rules,
                "difficulty": {
                    "features": (self.config.min_features, self.config.max_features),
                    "symbols": K,
                },
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return 1.0 for the panel, with or without commas and brackets, else 0.0: nothing in between."""
        if not isinstance(answer, str):
            return 0.0
        plain = answer.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
        return float(plain == entry["answer"][1:-1].split())


class SravenCurriculum(BaseCurriculum):
    """More numbers of a panel, then more symbols."""

    def __init__(self):
        super().__init__(SravenCurriculum.__name__, SravenConfig)
        self._define_attributes(
            RangeAttributeDefinition(
                name="features",
                levels=[1, 2, 3, 4],
                default_level=1,
                description="Numbers of a panel, each with a rule of its own",
                lower_field_name="min_features",
                upper_field_name="max_features",
            ),
            ScalarAttributeDefinition(
                name="symbols",
                levels=[8, 10, 16],
                default_level=0,
                description="Numbers go from 0 to this, exclusive",
                field_name="symbols",
            ),
        )


register_dataset(DATASET_NAME, SravenDataset, SravenConfig, SravenCurriculum)


def test_same_seed_same_puzzles():
    """Items depend on seed and index alone."""
    one, other = (SravenDataset(SravenConfig(seed=7, size=5)) for _ in range(2))
    assert [one[i] for i in range(5)] == [other[i] for i in range(5)]
    assert SravenDataset(SravenConfig(seed=8, size=5))[0] != one[0]


def test_answers_are_the_only_ones_and_scores_exact():
    """Every panel but the answer gets nothing."""
    for item in SravenDataset(SravenConfig(seed=3, size=20, max_features=2)):
        context, answer = item["metadata"]["context"], item["answer"]
        assert answers(context, 8) == {tuple(map(int, answer[1:-1].split()))}
        dataset = SravenDataset(SravenConfig(seed=3, size=20, max_features=2))
        assert (
            dataset.score_answer(answer, item) == dataset.score_answer(answer.replace(" ", ", "), item) == 1.0
        )
        for wrong in (
            None,
            "",
            f"maybe {answer}",
            f"{answer} {answer}",
            "[9 9]",
            answer.replace(answer[1], "9"),
        ):
            assert dataset.score_answer(wrong, item) == 0.0


def test_curriculum_gets_harder():
    """Levels raise the number of features."""
    curriculum = SravenCurriculum()
    easy = curriculum.generate_configuration({"size": 5, "seed": 1})
    curriculum.increment_attr_level("features")
    hard = curriculum.generate_configuration({"size": 5, "seed": 1})
    assert hard.max_features == easy.max_features + 1 and hard.symbols == easy.symbols == 8
