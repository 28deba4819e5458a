"""Draws the documentation's pictures that need no record: ``python docs/pictures.py [PAGE]``.

PAGE is the leaderboard's, as ``sraven leaderboard --html`` writes it: its first screen is taken, and that of
a puzzle to practise with, which needs Chromium and its driver.
"""

import sys
from base64 import b64decode
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from matplotlib.figure import Figure

from baselines.plots.frame import PAGE, Picture, save_picture
from baselines.plots.style import COLOURS, MARKS, panels_of
from fuzzylogic import FuzzyLogic, plots, show
from sraven import SRAVEN
from sraven.core.system.files import write_bytes, write_text
from sraven.counting import count
from sraven.drawing import draw_puzzle
from sraven.show import make_puzzle
from sraven.text.play import make_play, practise

IMAGES = Path(__file__).parent / "images"

PLAYED = "n" * 16 + "3461\n"
"""Keys that answer the first puzzle to practise with that has four features."""


def puzzles() -> dict[str, str]:
    """Return the first training instance as it is asked and as it is explained: texts of files, by name."""
    puzzle = make_puzzle(SRAVEN(), "train", 0)
    return {"puzzle.svg": draw_puzzle(puzzle), "puzzle-answer.svg": draw_puzzle(puzzle, answer=True)}


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
    """Write those of instances."""
    for name, text in puzzles().items():
        write_text(IMAGES / name, text)
    task = FuzzyLogic(L=2, K=2, holdout=0, unseen_terms=0)
    _, png = save_picture(counts(), IMAGES / "counts")
    png.unlink()
    plots.save_picture(show.make_puzzle(task, "train", 0), IMAGES / "surface.svg")


if __name__ == "__main__":
    main()
    for argument in sys.argv[1:]:
        take(Path(argument), "leaderboard", 760, 980)
        with TemporaryDirectory() as folder:
            page = Path(folder) / "practice.html"
            write_text(page, make_play(practise(SRAVEN()), "practice", practice=True))
            take(page, "play", 980, 650, PLAYED)
