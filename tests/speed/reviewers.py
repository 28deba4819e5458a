"""How the networks that reviewers asked for differ from the paper's attentions, with intervals.

    sraven reproduce --run reviewers --runs runs
    python tests/speed/reviewers.py docs/results/reviewers.json runs

Each network's runs are evaluated, and compared with the filed entry of its attention, which has three seeds,
as `sraven compare` does: intervals are over combinations of rules and seeds.
"""

import json
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from record import recorded, sraven

from baselines.paper.cells import cells_of
from baselines.paper.figures import FIGURES
from baselines.paper.run import folder_of

FILED = Path("docs/leaderboard/submissions/sraven-easy-v1")
ENTRY = {
    name: FILED / f"20261129-{attention}-99-968-instances"
    for name, attention in (("softmax", "softmax"), ("linear", "linear"), ("HYLA", "hyla"))
}
SPLITS = ("test", "ood")


def compared(*folders):
    """Compare all networks of which there are finished runs."""
    runs, found = defaultdict(list), {}
    for cell in cells_of(FIGURES["reviewers"]):
        for folder in folders:
            run = folder_of(Path(folder), cell.config)
            if (run / "result.json").is_file():
                runs[cell.row.labels["method"]].append(run)
                break
    for name, its in runs.items():
        filed = next(entry for first, entry in ENTRY.items() if name.startswith(first))
        with TemporaryDirectory() as out:
            entry = Path(out) / "entry"
            sraven(
                "evaluate", *its, "--out", entry, "--author", "The SRAVEN maintainers", "--tuning-trials", 1
            )
            splits = json.loads(sraven("compare", entry, filed, "--json"))["splits"]
        found[name] = {
            "seeds": len(its),
            **{
                split: {key: splits[split]["accuracy"][key] for key in ("first", "second", "interval", "p")}
                for split in SPLITS
            },
        }
        print(name, json.dumps(found[name]), flush=True)
    return {"entries": {name: path.name for name, path in ENTRY.items()}, "compared": found}


if __name__ == "__main__":
    recorded(compared)
