"""The paper's hyperparameters (appendix C, Table A3), as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Experiments:
    """A column of the paper's Table A3: what the runs on one task share, and what is searched.

    Attributes:
        source: where in the paper the values stand.
        shape: fields of a configuration that all runs share, at width factor 1. ``qkv_width`` counts all
            heads: as the published code does on the two tasks; of the language model, the table has a head's.
        layers: depths.
        width_factors: multiply the widths of the embedding, of queries, keys and values, and of the MLP.
        budgets: what is trained on: instances, or tokens of the language model.
        budget_source: where those stand.
        grid: the values that are searched, by the name of a field; the best by its in-distribution score.
        start: the point of the grid that a single run takes.
    """

    source: str
    shape: Mapping[str, int]
    layers: tuple[int, ...]
    width_factors: tuple[int, ...]
    budgets: tuple[int, ...]
    budget_source: str
    grid: Mapping[str, tuple[float, ...]]
    start: Mapping[str, float]

    @property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """All points of the grid, the one that a single run takes first."""
        points = [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]
        return tuple(sorted(points, key=lambda point: point != self.start))


TABLE_A3: Mapping[str, Experiments] = {
    "fuzzylogic": Experiments(
        source="Table A3, column Fuzzy logic",
        shape={"batch_size": 128, "width": 128, "heads": 8, "qkv_width": 16, "mlp_width": 256},
        layers=(2,),
        width_factors=(1,),
        budgets=(50_000 * 128,),
        budget_source="the paper doesn't say; 50,000 steps are the published code's",
        grid={"learning_rate": (0.001, 0.003), "weight_decay": (0.03, 0.1), "warmup": (100,)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 100},
    ),
    "sraven": Experiments(
        source="Table A3, column SRAVEN",
        shape={"batch_size": 128, "width": 128, "heads": 16, "qkv_width": 64, "mlp_width": 256},
        layers=(4, 8, 16),
        width_factors=(1, 2, 4),
        budgets=(10_000_000, 20_000_000, 40_000_000),
        budget_source="Figures 4 and A6, Table A1",
        grid={"learning_rate": (0.0003, 0.001), "weight_decay": (0.1, 0.3), "warmup": (1000, 3000)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 1000},
    ),
    "c4": Experiments(
        source="Table A3, column Language modeling",
        shape={"batch_size": 256, "width": 512, "heads": 8, "qkv_width": 8 * 64, "mlp_width": 2048},
        layers=(6,),
        width_factors=(1,),
        budgets=(130_000_000_000,),
        budget_source="section 5; the authors' reply to reviewers says 150 billion",
        grid={"learning_rate": (0.001, 0.003), "weight_decay": (0.1, 0.03), "warmup": (1000,)},
        start={"learning_rate": 0.001, "weight_decay": 0.1, "warmup": 1000},
    ),
}
"""The paper's hyperparameters (appendix C, Table A3), by family of tasks."""
