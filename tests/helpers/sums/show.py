"""Instances for the eye, and how much they leave open."""

from helpers.sums.scoring import posterior
from sraven.core.estimate import mean
from sraven.core.family import Measured


def make_puzzle(task, split, index):
    """Return an instance with what explains it."""
    batch = task.take(split, [index])
    pairs, sums, weights, _ = (array[0].tolist() for array in batch)
    likely = posterior(task, batch, task.combinations("all"))
    return {"pairs": pairs, "sums": sums, "weights": weights, "probability": float(likely[0, sums[-1]])}


def render(puzzle, explain=False):
    """Return it as lines of text."""
    sums = [*map(str, puzzle["sums"][:-1]), str(puzzle["sums"][-1]) if explain else "?"]
    lines = [f"({a}, {b}) -> {found}" for (a, b), found in zip(puzzle["pairs"], sums, strict=True)]
    return "\n".join([*lines, f"weights {puzzle['weights']}"] if explain else lines)


to_json = dict


def measure(task, n, threads=None):
    """Measure how often the examples leave one answer."""
    found = []
    for split in (*task.splits[1:], "all"):
        batch = task.sample(split, 0, n, threads=threads)
        likely = posterior(task, batch, task.combinations("all")).max(axis=1)
        found.append({"split": split, "unique": mean(likely == 1)})
    rows = [(each["split"], str(each["unique"])) for each in found]
    return Measured(found, f"{n:,} instances each", ("split", "one answer"), rows)
