"""What scoring, certificates, posteriors and reference levels cost, and what they are.

    python tests/speed/scoring.py submissions docs/results/scoring.json
    python tests/speed/scoring.py certificates docs/results/certificates.json
    python tests/speed/scoring.py posterior docs/results/posterior.json
    python tests/speed/scoring.py partners docs/results/partners.json ENTRY...
    python tests/speed/scoring.py ladder docs/results/text-ladder.json

- ``submissions``: time to score 100 of three seeds to sraven-v1 at once: the first, and each after it. They
  are of four kinds: random guesses, the last panel with some noise, nearly right, and nearly the ideal
  observer's. Bound: well under a minute for those after the first, on two cores. Processor time is that of
  the command with the processes that decode.
- ``certificates``: how many instances a second are certified, and observed, by M and K. What an instance
  costs depends on it, so a rate is one over many: the best of three rounds, on all threads.
- ``posterior``: of sraven-v1 and sraven-unique-v1, by split and by what is thought possible (all
  combinations, those of the split): the least cross-entropy of a position in nats; the share of panels that
  are right if each position answers with its most probable symbol, and if all answer together; the share of
  positions whose most probable rule is the true one. Of equally probable answers each is taken equally
  often. Beside them, how much of ``ood`` the composition-blind observer thinks impossible, and what it
  scores.
- ``partners``: how addition and subtraction are answered, by how many rules of the other block stand beside
  them. Where two blocks of rules never occur together, the rules beside a feature tell in training whether
  it adds or subtracts. The share of such features (x + y and x - y being different) answered by the right
  rule, by the other one, by neither.
- ``ladder``: ceilings of language models' scores; the same numbers come out anywhere.
"""

import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
from record import choose, keep, least_seconds, sraven

from sraven import write_submission
from sraven.board.board import load_board
from sraven.core.estimate import mean
from sraven.core.jsonable import as_json
from sraven.core.parallel import available_threads
from sraven.references import independent_hits
from sraven.task import SRAVEN
from sraven.text import LADDER
from sraven.text.questions import LEVELS

BOARD, COUNT, SEEDS = "sraven-v1", 100, 3


def spoil(panels, share, random, K):
    """Return panels of which a share is random."""
    guesses = random.integers(0, K, panels.shape)
    return np.where(random.random((len(panels), 1)) < share, guesses, panels)


def make_kinds(board):
    """Return what makes predictions of each kind."""
    K = board.task.K
    batches = {split: board.sample(split, 0, size) for split, size in board.splits.items()}
    ideal = {split: board.task.ideal_observer(batch)[0] for split, batch in batches.items()}
    return {
        "random": lambda split, random: spoil(batches[split].target, 1, random, K),
        "copying": lambda split, random: spoil(batches[split].context[:, -1], 0.05, random, K),
        "nearly right": lambda split, random: spoil(batches[split].target, 0.2, random, K),
        "ideal": lambda split, random: spoil(ideal[split], 0.01, random, K),
    }


def write_all(folder):
    """Write the submissions; return their folders."""
    board = load_board(BOARD)
    kinds, folders = make_kinds(board), []
    for number in range(COUNT):
        name = list(kinds)[number % len(kinds)]
        folders.append(folder / f"{number:03}-{name.replace(' ', '-')}")
        predictions = {
            split: [kinds[name](split, np.random.default_rng([number, seed])) for seed in range(SEEDS)]
            for split in board.splits
        }
        write_submission(
            folders[-1],
            BOARD,
            predictions,
            method={"name": folders[-1].name, "description": f"It is {name}.", "authors": ["Nobody"]},
            model={"parameters": 1},
            training={"instances": 1, "selection_split": None},
        )
    return folders


def time_scoring(folders):
    """Return the seconds and processor seconds of the command, and what it prints."""
    before, start = os.times(), time.perf_counter()
    printed = sraven("score", *folders, "--json")
    seconds, after = time.perf_counter() - start, os.times()
    used = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    return seconds, used, json.loads(printed)


def submissions(goal):
    """Measure and write to ``goal``."""
    with TemporaryDirectory() as scratch:
        folders = write_all(Path(scratch))
        time_scoring(folders[:2])  # compiles, if that is to be done
        first, first_used, _ = time_scoring(folders[:1] * 2)  # two: a row each, as for all
        everything, used, found = time_scoring(folders)
        size = sum(path.stat().st_size for path in Path(scratch).rglob("*") if path.is_file())
    assert len(found) == COUNT and not any("refused" in each for each in found)
    rest, rest_used = everything - first, used - first_used
    result = {
        "board": BOARD,
        "submissions": COUNT,
        "seeds": SEEDS,
        "seconds": {"two": round(first, 2), "all": round(everything, 2), "rest": round(rest, 2)},
        "core_seconds": {"two": round(first_used, 2), "all": round(used, 2)},
        "core_seconds_each": round(rest_used / (COUNT - 2), 3),
        "bytes_each": size // COUNT,
    }
    keep(goal, result)
    print(result["seconds"], result["core_seconds"], result["core_seconds_each"])


# Certificates --------------------------------------------------------------------------------------------


COUNTS = {
    (4, 8): 65_536,
    (6, 8): 32_768,
    (8, 16): 16_384,
    (8, 8): 16_384,
    (8, 4): 4_096,
    (10, 16): 16_384,
    (10, 8): 8_192,
    (10, 4): 64,
    (12, 16): 8_192,
    (12, 8): 4_096,
}
"""Instances by M and K."""

WITHOUT_OBSERVER = (10, 4)
"""The observer would take minutes."""

TIMES = 3


def per_second(work, count):
    """Return the best rate, after a call that compiles."""
    return round(count / least_seconds({"": work}, TIMES)[""], 1)


def rates_of(M, K, count):
    """Return the rates of a size."""
    task = SRAVEN(M=M, K=K)
    batch = task.sample("all", 0, count)
    rates = {"certify": per_second(lambda: task.count_answers(batch), count), "observe": None}
    if (M, K) != WITHOUT_OBSERVER:
        rates["observe"] = per_second(lambda: task.ideal_observer(batch), count)
    return rates


def certificates(goal):
    """Measure and write command, commit, machine and rates to ``goal``."""
    rates = [{"M": M, "K": K, **rates_of(M, K, count)} for (M, K), count in COUNTS.items()]
    keep(goal, {"instances_per_second": rates}, threads=available_threads())


# Posteriors ----------------------------------------------------------------------------------------------


def of_truth(shares, truth):
    """Return the probability of what is true at each position: ``[n, M]``."""
    return np.take_along_axis(shares, truth[..., None].astype(np.int64), axis=2)[..., 0]


def levels_of(task, batch, prior):
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
            "all combinations": levels_of(task, batch, "all"),
            "split": levels_of(task, batch, split),
            "composition_blind": {
                "impossible": as_json(mean(~possible)),
                "accuracy": as_json(mean(np.where(possible, right, float(task.K) ** -task.M))),
            },
        }
    return found


def posterior(goal):
    """Measure and write command, commit, machine and results to ``goal``."""
    keep(goal, {"result": {name: measure_board(name) for name in ("sraven-v1", "sraven-unique-v1")}})


# Partners ------------------------------------------------------------------------------------------------


ADDITION, SUBTRACTION = 5, 6


def read_predictions(path, M):
    """Return the predictions of a run in the order of the instances: ``[n, M]``."""
    table = pq.read_table(path)
    flat = table["prediction"].combine_chunks().flatten().to_numpy()
    return flat.reshape(-1, M)[np.argsort(table["index"].to_numpy())]


def count_answers(board, split, predicted):
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


def partners(goal, *folders):
    """Count for each entry, and write the counts to ``goal``."""
    found = {}
    for folder in map(Path, folders):
        board = load_board(folder.parent.name)
        for path in sorted(folder.glob("predictions/*/*.parquet")):
            counts = count_answers(board, path.parent.name, read_predictions(path, board.task.M))
            found[f"{board.id}/{folder.name}/{path.parent.name}/{path.stem}"] = counts
    keep(goal, {"result": found})


# Puzzles as text -----------------------------------------------------------------------------------------


LADDER_INSTANCES = 100_000


def brief(mean):
    """Return a mean to six digits."""
    return {name: round(value, 6) for name, value in asdict(mean).items()}


def _ceiling(task, split):
    """Return the best accuracy to expect on instances of policy `any`, where answers aren't certified."""
    any_answers = replace(task, answers="any")
    return mean(any_answers.ideal_observer(any_answers.sample(split, 0, LADDER_INSTANCES))[1])


def ladder(goal):
    """Compute all and write it to ``goal``."""
    rungs = []
    for rung in (*LADDER, *(level for level in LEVELS if level not in LADDER)):
        rungs.append(
            {
                "M": rung.M,
                "K": rung.K,
                "chance": rung.questions().chance,
                "ceiling_on_any": {split: brief(_ceiling(rung.task, split)) for split in ("all", rung.split)},
            }
        )
        print(rung, rungs[-1]["ceiling_on_any"], flush=True)
    keep(goal, {"rungs": rungs})


if __name__ == "__main__":
    choose(submissions, certificates, posterior, partners, ladder)
