"""Draws the documentation's pictures that no page of results makes: ``python docs/pictures.py [play]``.

With ``play``, a puzzle to practise with is taken as well, which needs Chromium and its driver.
"""

import json
import sys
from base64 import b64decode
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from baselines.plots.frame import COLUMN, PAGE, Picture, save_picture
from baselines.plots.style import COLOURS, MARKS, panels_of
from fuzzylogic import FuzzyLogic
from fuzzylogic.record import evaluate_terms
from fuzzylogic.show import make_puzzle as make_sequence
from sraven import SRAVEN, plots
from sraven.board.board import read_board
from sraven.counting import count
from sraven.files.files import write_bytes, write_text
from sraven.plots import INK
from sraven.show import make_puzzle
from sraven.text.play import make_play, practise

IMAGES = Path(__file__).parent / "images"

PLAYED = "n" * 16 + "3461\n"
"""Keys that answer the first puzzle to practise with that has four features."""


def puzzle() -> Picture:
    """Return the picture of a puzzle that a glance explains; its text can be read on a phone."""
    shown = make_puzzle(SRAVEN(M=3, holdout="camps"), "ood", 5040)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        plots.draw_grid(axes, shown, by_feature=True, reveal=False)
        for text in axes.texts:
            text.set_fontsize(16)

    return Picture(draw, 5.2, 2.8)


def counts() -> Picture:
    """Return the picture of how many tasks and instances there are (paper, Figure A9)."""
    sizes = range(1, 13)

    def draw(figure: Figure) -> None:
        tasks, instances = panels_of(figure, 2, 2)
        look = {"linewidth": 1.2, "markersize": 4}
        for name, label, colour, mark in (
            ("tasks", "tasks", COLOURS[0], MARKS[0]),
            ("paper_tasks", "the paper's formula", COLOURS[1], MARKS[1]),
        ):
            found = [float(getattr(count(M, 8), name)) or None for M in sizes]  # the paper's is 0 at M = 1
            tasks.plot(sizes, found, color=colour, marker=mark, label=label, **look)
        for K, colour, mark in zip((4, 8, 16), COLOURS, MARKS, strict=False):
            found = [float(count(M, K).instances) for M in sizes]
            instances.plot(sizes, found, color=colour, marker=mark, label=f"K = {K}", **look)
        instances.axhline(2e7, color=COLOURS[-2], linestyle=":", linewidth=0.9)
        instances.annotate("20 million: a training set", (12, 2e7), ha="right", va="bottom")
        for axes, title in ((tasks, "tasks"), (instances, "instances")):
            axes.set(title=f"number of {title}", xlabel="features M", yscale="log", xticks=sizes)
            axes.grid(axis="y")
            axes.legend(loc="upper left")

    return Picture(draw, PAGE, 2.5)


def surface() -> Picture:
    """Return the picture of a function of two variables, with the points shown and the query."""
    puzzle = make_sequence(FuzzyLogic(L=2, K=2, holdout=0, unseen_terms=0), "train", 0)
    axis = np.linspace(0, 1, 201, dtype=np.float32)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(1, -1, 2)
    values = evaluate_terms(grid, puzzle.terms[None]).reshape(201, 201)
    light, scale = "#fefefe", {"vmin": 0, "vmax": 1, "cmap": "viridis"}

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        image = axes.imshow(values, origin="lower", extent=(0, 1, 0, 1), **scale)
        axes.contour(axis, axis, values, np.linspace(0.1, 0.9, 9), colors=light, linewidths=0.5, alpha=0.5)
        shown, query = puzzle.inputs[:-1].T, puzzle.inputs[-1]
        axes.scatter(*shown, s=46, c=puzzle.targets[:-1], edgecolors=light, **scale)
        axes.scatter(*query, s=240, color="#ff4d5e", edgecolors=light, marker="*", zorder=3)
        axes.set(ylabel="x₂", xlabel=f"x₁\n★ query, value {puzzle.targets[-1]:.3f};  ○ points shown")
        axes.set_title(puzzle.formula)
        figure.colorbar(image, ax=axes, label="value", shrink=0.9).outline.set_visible(False)

    return Picture(draw, COLUMN, 3.2)


RESULTS = Path(__file__).parent / "results"


NAMES = {
    "composing": ("composing network", (8e4, 0.88)),
    "softmax": ("softmax attention", (2e6, 0.77)),
    "hyla": ("HYLA", (3.7e6, 0.5)),
}
"""Of networks, and where their curves are called so."""


def composing() -> Picture:
    """Return the picture of what networks score on the flagship by puzzles seen; a phone can show it."""
    found = json.loads((RESULTS / "composing-curves.json").read_text())["result"]
    curves = {group["name"].partition(",")[0]: group["curves"] for group in found["groups"]}
    [floor] = [each for each in read_board(found["board"]).reference_levels("ood") if each.is_baseline]

    def draw(figure: Figure) -> None:
        axes, text = figure.subplots(), 11
        for (name, (title, place)), colour in zip(NAMES.items(), COLOURS, strict=False):
            for split, style in (("test", "-"), ("ood", (0, (4, 1.5)))):
                seen = 128 * np.array(curves[name][split]["steps"])
                axes.plot(seen, curves[name][split]["mean"], color=colour, linestyle=style)
            axes.annotate(title, place, ha="right", color=colour, fontsize=text)
        axes.axhline(floor.value, color=COLOURS[-2], linestyle=":", linewidth=0.9)
        axes.annotate(f"{floor.title} {floor.value:.2f}", (1.2e4, floor.value), va="bottom", fontsize=text)
        axes.set(xscale="log", xlim=(1e4, 4e6), ylim=(0, 1.02))
        axes.set_xlabel("puzzles seen in training", fontsize=text)
        axes.set_ylabel("accuracy", fontsize=text)
        axes.tick_params(labelsize=text)
        axes.grid(axis="y")
        lines = [Line2D([], [], color=INK, linestyle=style) for style in ("-", (0, (4, 1.5)))]
        axes.legend(lines, ["known", "held out"], loc="upper right", fontsize=text)

    return Picture(draw, 5.2, 3.3)


def language_models() -> Picture:
    """Return the picture of what language models score on the text board by level; a phone can show it."""
    found = json.loads((RESULTS / "language-models.json").read_text())
    text, levels = 11, list(found["floors"]["ideal-observer"])
    lines = {
        "ideal-observer": "ideal observer",
        "composing network": "trained: the composing network",
        "each position by itself": "each position by itself",
        "softmax-tiny": "trained: a tiny transformer",
        "copy-last-panel": "copying the last panel",
    }

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for (name, label), style in zip(
            lines.items(), ("-", (0, (3, 1, 1, 1, 1, 1)), "--", "-.", ":"), strict=True
        ):
            scores = [found["floors"][name].get(level, np.nan) for level in levels]
            wide = 3 if name == "composing network" else 1.2
            axes.plot(levels, scores, color=INK, linestyle=style, linewidth=wide, label=label)
        asked = [(name, each) for name, files in found["models"].items() for each in files]
        for number, (name, each) in enumerate(asked):
            parts = [each["levels"][level] for level in levels]
            scores = np.array([part["right"] / part["n"] for part in parts])
            ends = np.array([part["interval"] for part in parts]).T
            axes.errorbar(
                np.arange(len(levels)) + 0.15 * (number - (len(asked) - 1) / 2),
                scores,
                abs(ends - scores),
                color=COLOURS[number],
                marker=MARKS[number],
                markersize=5,
                linestyle="",
                linewidth=1,
                label=f"{name}, {each['shots']} examples",
            )
        axes.set(ylim=(-0.02, 1.04), xticks=range(len(levels)))
        axes.set_xticklabels([level.replace("-", "\n") for level in levels])
        axes.set_ylabel("accuracy", fontsize=text)
        axes.tick_params(labelsize=text)
        axes.grid(axis="y")
        figure.legend(loc="outside lower center", ncols=1, fontsize=text)

    return Picture(draw, 5.2, 5.2)


def take(page: Path, name: str, width: int, height: int, keys: str = "") -> None:
    """Write what the first screen of a page looks like after some keys, light and dark."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains

    address = page.resolve(strict=True).as_uri()
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    for scheme, file in (("light", f"{name}.png"), ("dark", f"{name}-dark.png")):
        with webdriver.Chrome(options=options, service=Service(which("chromedriver"))) as browser:
            size = {"width": width, "height": height, "deviceScaleFactor": 1.5, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.get(address)
            ActionChains(browser).send_keys(keys).perform()
            shot = browser.execute_cdp_cmd("Page.captureScreenshot", {})["data"]
            write_bytes(IMAGES / file, b64decode(shot))


def main() -> None:
    """Write those that need no browser."""
    for picture in (puzzle, counts, surface, composing, language_models):
        _, png = save_picture(picture(), IMAGES / picture.__name__)
        png.unlink()


if __name__ == "__main__":
    main()
    if "play" in sys.argv[1:]:
        with TemporaryDirectory() as folder:
            page = Path(folder) / "practice.html"
            write_text(page, make_play(practise(SRAVEN()), practice=True))
            take(page, "play", 980, 650, PLAYED)
