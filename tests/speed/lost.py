"""Test what was planned for boards that keep siblings together: features lost, by board and by attention.

    python tests/speed/lost.py docs/results/rows-or-partners-tests.json

A run loses the features right at equal rules on known combinations, less those on held-out ones. Two means of
seeds are compared by Welch's t, with its interval of 95 %; p is corrected by Holm over all comparisons that
were planned for a question, those without runs included.
"""

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
from language_models import holm
from record import recorded
from scipy.stats import ttest_ind

RECORDS = Path("docs/results/reproduction/rows-or-partners")
ATTENTIONS = "softmax", "linear", "hyla"
BOARDS = "camps3", "scattered3", "ring3"
INSTANCES = 2_000_000


def lost_by_seed():
    """Return what runs of `INSTANCES` lose, by board and attention, by seed."""
    found = defaultdict(dict)
    for path in RECORDS.glob("*.json"):
        record = json.loads(path.read_text())
        config, scores = record["config"], record["scores"]
        if config["steps"] * config["batch_size"] == INSTANCES:
            known, held_out = (scores[split]["balanced_feature_accuracy"] for split in ("test", "ood"))
            board = config["board"].split("-")[1]
            found[board, config["attention"]][config["seed"]] = round(known - held_out, 6)
    return found


def compared(lost, pairs):
    """Return how much more the first of each pair loses; None without several seeds of both."""
    results = {}
    for one, other in pairs:
        first, second = (list(lost[each].values()) for each in (one, other))
        name = f"{' '.join(one)} less {' '.join(other)}"
        results[name] = None
        if len(first) > 1 and len(second) > 1:
            test = ttest_ind(first, second, equal_var=False)
            results[name] = {
                "difference": round(float(np.mean(first) - np.mean(second)), 4),
                "interval": [round(float(end), 4) for end in test.confidence_interval()],
                "p": round(float(test.pvalue), 6),
            }
    for result, p in zip(
        results.values(), holm([each["p"] if each else 1.0 for each in results.values()]), strict=True
    ):
        if result:
            result["p_holm"] = round(p, 6)
    return results


def tests():
    """Return what is lost by seed, and the tests."""
    lost = lost_by_seed()
    between = {"camps3": "scattered3", "ring3": "camps3"}
    questions = {
        f"{one} and {other}": [((one, each), (other, each)) for each in ATTENTIONS]
        for one, other in between.items()
    }
    questions["attentions"] = [
        tuple((board, each) for each in pair) for board in BOARDS for pair in combinations(ATTENTIONS, 2)
    ]
    return {
        "lost": {" ".join(each): dict(sorted(seeds.items())) for each, seeds in sorted(lost.items())},
        "result": {question: compared(lost, pairs) for question, pairs in questions.items()},
    }


if __name__ == "__main__":
    recorded(tests)
