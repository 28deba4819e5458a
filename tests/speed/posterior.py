"""Measure the exact posteriors of SRAVEN: reference levels, the cost of exact marginals, rules.

    python tests/speed/posterior.py docs/results/posterior.json

Takes the instances of ``sraven-v1`` and ``sraven-unique-v1``. By split and by what is thought possible (all
combinations, those of the split): the least cross-entropy of a position in nats; the share of panels that are
right if each position answers with its most probable symbol, and if all answer together; the share of
positions whose most probable rule is the true one. Of equally probable answers each is taken equally often.
Beside them, how much of ``ood`` the composition-blind observer thinks impossible, and what it scores.
"""

import sys

import numpy as np
from record import keep

from sraven.board.board import load_board
from sraven.core.estimate import mean
from sraven.core.jsonable import as_json
from sraven.references import independent_hits


def of_truth(shares, truth):
    """Return the probability of what is true at each position: ``[n, M]``."""
    return np.take_along_axis(shares, truth[..., None].astype(np.int64), axis=2)[..., 0]


def measure(task, batch, prior):
    """Return means over instances, so that their errors count positions of one instance as one."""
    symbols, rules = task.symbol_marginals(batch, prior), task.rule_posterior(batch, prior)
    shown = np.take_along_axis(batch.rules, batch.permutations[:, 2].astype(np.int64), axis=1)
    by_position = [independent_hits(rules[:, [p]], shown[:, [p]]) for p in range(task.M)]
    answers = {
        "cross_entropy": -np.log(of_truth(symbols, batch.target)).mean(axis=1),
        "independent": independent_hits(symbols, batch.target),
        "joint": task.ideal_observer(batch, prior)[1],
        "rule": np.mean(by_position, axis=0),
    }
    return {name: as_json(mean(values)) for name, values in answers.items()}


def measure_board(board_id):
    """Return all of it for the scored splits of a board."""
    board = load_board(board_id)
    task = board.task
    found = {}
    for split, size in board.splits.items():
        batch = task.sample(split, 0, size)
        panels, probability = task.ideal_observer(batch, "train")
        possible, right = probability > 0, (panels == batch.target).all(axis=1)
        found[split] = {
            "all combinations": measure(task, batch, "all"),
            "split": measure(task, batch, split),
            "composition_blind": {
                "impossible": as_json(mean(~possible)),
                "accuracy": as_json(mean(np.where(possible, right, float(task.K) ** -task.M))),
            },
        }
    return found


def main(goal):
    """Measure and write command, commit, machine and results to ``goal``."""
    keep(goal, {"result": {name: measure_board(name) for name in ("sraven-v1", "sraven-unique-v1")}})


if __name__ == "__main__":
    main(*sys.argv[1:])
