"""Draw the losses that `language_runs.py` kept, with the entropy of frequencies.

python tests/speed/language_plot.py docs/results/language-model.json docs/images/language-model.png
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

NAMES = {"softmax": "softmax", "linear": "linear", "hyla": "HYLA"}
COLOURS = {"softmax": "#2b62c4", "linear": "#b5651d", "hyla": "#2a8a5f"}


def main(source: str, goal: str) -> None:
    """Draw a line for each attention, and a mark for its loss on the validation documents."""
    record = json.loads(Path(source).read_text())
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(6.4, 3.4), dpi=150, layout="constrained")
    axes = figure.add_subplot(xlabel="step", ylabel="loss, nats per token", ylim=(3, 8))
    last = max(step for result in record["results"] for step, _ in result["curve"])
    for place, result in enumerate(record["results"]):
        name, colour = NAMES[result["attention"]], COLOURS[result["attention"]]
        steps, losses = zip(*result["curve"], strict=True)
        axes.plot(steps, losses, color=colour, label=f"{name}, training")
        found = result["validation"]["loss"]
        axes.plot(
            last * (1.06 + 0.03 * place), found, "o", color=colour, label=f"{name}, validation {found:.2f}"
        )
    entropy = record["results"][0]["unigram_entropy"]
    axes.axhline(entropy, color="0.4", linestyle="--", linewidth=1)
    axes.text(last * 0.55, entropy + 0.08, f"entropy of frequencies {entropy:.2f}", color="0.3")
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    figure.savefig(goal)


if __name__ == "__main__":
    main(*sys.argv[1:])
