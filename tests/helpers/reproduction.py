"""A figure of tiny runs, and records of runs that nobody trained."""

from dataclasses import replace

from baselines.paper.cells import cells_of
from baselines.paper.devices import Gpu
from baselines.paper.figures import ATTENTIONS, Chart, Figure, Row
from baselines.paper.records import Record

STEPS, BATCH = 120, 4

REPORTED = {"softmax": "softmax attention", "linear": "linear attention", "hyla": "HYLA"}

SHAPE = {"batch_size": BATCH, "layers": 1, "width": 12, "heads": 3, "qkv_width": 6, "mlp_width": 16}


def rows(*attentions, steps=STEPS):
    """Return rows of a figure, on two boards."""
    return tuple(
        Row(
            board,
            {"points": points, "attention": ATTENTIONS[attention]},
            {"attention": attention, **SHAPE},
            instances=steps * BATCH,
            reported=REPORTED[attention] if points == "32" else None,
        )
        for board, points in (("fuzzylogic-v1", "32"), ("fuzzylogic-points16-holdout70-v1", "16"))
        for attention in attentions
    )


def figure(name="tiny", *, attentions=("softmax", "hyla"), seeds=(0, 1, 2), **options):
    """Return a figure of tiny runs."""
    chart = Chart("points")
    return Figure(name, f"Figure {name}", "fuzzylogic", rows(*attentions, **options), seeds, chart=chart)


FIGURES = {"tiny": figure()}

H200 = Gpu("0", "NVIDIA H200", 140.0)


def cell(figure, attention, seed=0, points="32", **point):
    """Return a cell of a figure, at the recipe's point of the grid but for what is given."""
    wanted = {**figure.points[0], **point}
    for each in cells_of(figure):
        labels = each.row.labels
        found = each.config.attention, each.config.seed, labels["points"], each.point
        if found == (attention, seed, points, wanted):
            return each
    raise AssertionError("no such cell")


def record(cell, test, ood, *, steps=None, loss=0.01, diverged=False):
    """Return the record of a cell with some scores; of another length, if that is given."""
    config = cell.config if steps is None else replace(cell.config, steps=steps)
    scores = {split: {"r2_per_sequence": value} for split, value in (("test", test), ("ood", ood))}
    return Record(
        config,
        config.steps - 20 if diverged else config.steps,
        {} if diverged else scores,
        None if diverged else loss,
        3600.0,
        "sraven train",
        "0123456789abcdef",
        None,
    )
