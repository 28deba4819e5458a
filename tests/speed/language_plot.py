"""Draw the losses that `language_runs.py` kept, with the entropy of frequencies.

python tests/speed/language_plot.py docs/results/language-model.json docs/images/language-model.svg
"""

import json
import sys
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from baselines.reproduction.figures import ATTENTIONS
from baselines.reproduction.plots import COLOURS, MARKERS, ResultPicture, frame, save_picture
from sraven.core.palette import palette
from sraven.plots import INK, PAPER

STYLES = {"softmax": "-", "linear": "--", "hyla": ":"}


def draw(record):
    """Draw a line for each attention, and a mark for its loss on the validation documents."""
    canvas = Figure(figsize=(5.2, 3.6), layout="constrained", facecolor=PAPER)
    axes = canvas.add_subplot(ylim=(3, 8))
    last = max(step for result in record["results"] for step, _ in result["curve"])
    for place, result in enumerate(record["results"]):
        name = ATTENTIONS[result["attention"]]
        line = {"color": COLOURS[name], "linestyle": STYLES[result["attention"]]}
        axes.plot(*zip(*result["curve"], strict=True), label=f"{name}, training", **line)
        found, right = result["validation"]["loss"], last * (1.06 + 0.03 * place)
        axes.plot(right, found, MARKERS[name], color=COLOURS[name], label=f"{name}, validation {found:.2f}")
    entropy, caution = record["results"][0]["unigram_entropy"], palette()["caution"].light
    axes.axhline(entropy, color=caution, linestyle="--", linewidth=1)
    axes.text(last * 0.4, entropy - 0.3, f"entropy of frequencies {entropy:.2f}", color=caution)
    axes.legend(frameon=False, fontsize=9, ncols=2, loc="upper right", labelcolor=INK)
    frame(axes, "")
    canvas.supxlabel("step", color=INK, fontsize=11)
    canvas.supylabel("loss, nats per token", color=INK, fontsize=11)
    return canvas


def main(source, goal):
    """Draw what a record has."""
    record = json.loads(Path(source).read_text())
    save_picture(ResultPicture(record["results"], partial(draw, record)), Path(goal))


if __name__ == "__main__":
    main(*sys.argv[1:])
