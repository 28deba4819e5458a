"""Count how addition and subtraction are answered, by how many rules of the other block stand beside them.

    python tests/speed/partners.py docs/results/partners.json ENTRY...

Where two blocks of rules never occur together, the rules beside a feature tell in training whether it adds or
subtracts. For each entry, split, rule and number of rules of the other block in the puzzle: the share of such
features (x + y and x - y being different) answered by the right rule, by the other one, by neither.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from record import keep

from sraven.board.board import load_board

ADDITION, SUBTRACTION = 5, 6


def read_predictions(path, M):
    """Return the predictions of a run in the order of the instances: ``[n, M]``."""
    table = pq.read_table(path)
    flat = table["prediction"].combine_chunks().flatten().to_numpy()
    return flat.reshape(-1, M)[np.argsort(table["index"].to_numpy())]


def count(board, split, predicted):
    """Return the shares of answers by rule and number of rules of the other block."""
    task, batch = board.task, board.sample(split, 0, board.splits[split])
    known = task.combinations("train")
    in_first = np.isin(np.arange(len(task.rules)), known[(known == 0).any(axis=1)])[batch.rules]
    beside = (in_first[:, :, None] != in_first[:, None]).sum(axis=2)
    # At [n, c, f]: the position that shows feature f in column c.
    n, shown = np.arange(len(batch))[:, None], np.argsort(batch.permutations, axis=2)
    last_row = batch.context[:, 6], batch.context[:, 7], predicted
    x, y, z = (panels[n, shown[:, column]].astype(int) for column, panels in enumerate(last_row))
    answers = {ADDITION: (x + y) % task.K, SUBTRACTION: (x - y) % task.K}
    found = {}
    for rule, other in ((ADDITION, SUBTRACTION), (SUBTRACTION, ADDITION)):
        for number in range(task.M):
            chosen = (batch.rules == rule) & (beside == number) & (answers[rule] != answers[other])
            if chosen.any():
                right, wrong = ((z == answers[each])[chosen].mean() for each in (rule, other))
                shares = {"right": right, "other": wrong, "neither": 1 - right - wrong}
                shares = {name: round(float(share), 4) for name, share in shares.items()}
                found[f"{task.rules[rule].name}, {number}"] = {"features": int(chosen.sum()), **shares}
    return found


def main(goal, *folders):
    """Count for each entry, and write the counts to ``goal``."""
    found = {}
    for folder in map(Path, folders):
        board = load_board(folder.parent.name)
        for path in sorted(folder.glob("predictions/*/*.parquet")):
            counts = count(board, path.parent.name, read_predictions(path, board.task.M))
            found[f"{board.id}/{folder.name}/{path.parent.name}/{path.stem}"] = counts
    keep(goal, {"result": found})


if __name__ == "__main__":
    main(*sys.argv[1:])
