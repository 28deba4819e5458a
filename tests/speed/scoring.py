"""What certificates, posteriors and reference levels cost, and what they are.

    python tests/speed/scoring.py certificates docs/results/certificates.json
    python tests/speed/scoring.py posterior docs/results/posterior.json
    python tests/speed/scoring.py siblings docs/results/siblings.json ENTRY...
    python tests/speed/scoring.py equal docs/results/equal-known.json RUN...
    python tests/speed/scoring.py ladder docs/results/text-ladder.json

- ``certificates``: how many instances a second are certified, and observed, by M and K. What an instance
  costs depends on it, so a rate is one over many: the best of three rounds, on all threads.
- ``posterior``: of sraven-v1 and sraven-unique-v1, by split and by what is thought possible (all
  combinations, those of the split): the least cross-entropy of a position in nats; the share of panels that
  are right if each position answers with its most probable symbol, and if all answer together; the share of
  positions whose most probable rule is the true one. Of equally probable answers each is taken equally
  often. Beside them, how much of ``ood`` the composition-blind observer thinks impossible, and what it
  scores.
- ``siblings``: features right at equal rules, known and held out; features alone of their family by what
  partners and rows say; and what is kept of panels if the answers of addition and subtraction count as one.
- ``equal``: what networks that are trained score on held-out combinations when they score the same on known
  ones: of each run, the means of both over those lines of its log at which it has a level, within 0.05.
- ``ladder``: ceilings of language models' scores; the same numbers come out anywhere.
"""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from record import least_seconds, recorded

from sraven.board.board import load_board
from sraven.core.means import mean
from sraven.features import symbols_by_asked_feature
from sraven.files.jsonable import as_json
from sraven.leaderboard.evidence import make_evidence
from sraven.leaderboard.submissions.submission import read_submission
from sraven.references import independent_hits
from sraven.task import SRAVEN
from sraven.text import LADDER
from sraven.text.questions import LEVELS

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


def certificates():
    """Return the rates of all sizes."""
    rates = [{"M": M, "K": K, **rates_of(M, K, count)} for (M, K), count in COUNTS.items()]
    return {"instances_per_second": rates}


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


def posterior():
    """Return what is believed on both boards."""
    return {"result": {name: measure_board(name) for name in ("sraven-v1", "sraven-unique-v1")}}


# Siblings ------------------------------------------------------------------------------------------------


ADDITION, SUBTRACTION = 5, 6


def kept_as_one(submission):
    """Return known, held out and kept of each seed if the answers of addition and subtraction are one."""
    board, either = submission.board, {}
    for split, runs in submission.runs.items():
        truth = board.labels(split).arrays
        shown = truth["rules_by_position"]
        rows = symbols_by_asked_feature(truth["context"], truth["target"], truth["permutations"]).astype(int)
        x, y = rows[:, 2, 0], rows[:, 2, 1]
        other = np.select([shown == ADDITION, shown == SUBTRACTION], [x - y, x + y], truth["target"])
        right = [
            ((run.predictions == truth["target"]) | (run.predictions == other % board.task.K)).all(1)
            for run in runs
        ]
        either[split] = np.mean(right, axis=1)
    return {
        "known": round(float(either["test"].mean()), 4),
        "held_out": round(float(either["ood"].mean()), 4),
        "kept_by_seed": np.round(either["ood"] / either["test"], 4).tolist(),
    }


def siblings(*folders):
    """Return what each entry keeps, and what of its features with siblings."""
    found = {}
    for folder in map(Path, folders):
        submission = read_submission(folder)
        shown = make_evidence(submission)
        found[f"{submission.board.id}/{folder.name}"] = {
            "features": as_json(shown.parts),
            "siblings": shown.siblings,
            "addition and subtraction as one": kept_as_one(submission),
        }
    return {"result": found}


# Networks in training ------------------------------------------------------------------------------------


LEVELS_OF_KNOWN, WITHIN = tuple(n / 20 for n in range(4, 15)), 0.05


def equal(*runs):
    """Read the logs of runs on one board; return what they have at equal scores."""
    from baselines.plots.curves import read_curves

    curves, found = read_curves(list(map(Path, runs))), {}
    for group in curves.groups:
        known, held_out = (group.curves[split].by_seed for split in curves.compared)
        for seed, scores in known.items():
            found[f"{group.name}, seed {seed}"] = {
                str(level): {
                    "lines": int(at.sum()),
                    "known": round(float(scores[at].mean()), 4),
                    "held_out": round(float(held_out[seed][at].mean()), 4),
                }
                for level in LEVELS_OF_KNOWN
                if (at := np.abs(scores - level) <= WITHIN).any()
            }
    return {"board": curves.board.id, "result": found}


# Puzzles as text -----------------------------------------------------------------------------------------


LADDER_INSTANCES = 100_000


def ceiling_of(task, split):
    """Return the best accuracy to expect on instances of policy `any`, where answers aren't certified."""
    any_answers = replace(task, answers="any")
    probability = any_answers.ideal_observer(any_answers.sample(split, 0, LADDER_INSTANCES))[1]
    return {name: round(value, 6) for name, value in asdict(mean(probability)).items()}


def ladder():
    """Return chance and ceilings of all levels."""
    rungs = []
    for rung in (*LADDER, *(level for level in LEVELS if level not in LADDER)):
        rungs.append(
            {
                "M": rung.M,
                "K": rung.K,
                "chance": rung.questions().chance,
                "ceiling_on_any": {split: ceiling_of(rung.task, split) for split in ("all", rung.split)},
            }
        )
        print(rung, rungs[-1]["ceiling_on_any"], flush=True)
    return {"rungs": rungs}


if __name__ == "__main__":
    recorded(certificates, posterior, siblings, equal, ladder)
