"""Every Python block of README and documentation runs, page by page, in an empty directory."""

import os
import re

import click
import pytest

from helpers.checkout import REPOSITORY
from helpers.compiling import quick_flags
from helpers.forks import Forks
from helpers.python import python

PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(?:python|\{code-cell\} python)\n(.*?)^```", re.DOTALL | re.MULTILINE)

IMPORTS = {
    "": ("numba", "pyarrow.parquet"),
    "datasets": ("datasets",),
    "baselines": ("jax", "flax.linen", "optax", "orbax.checkpoint"),
    "baselines.analysis": ("scipy.stats", "sklearn.linear_model"),
}
"""Slow imports, by the text in the blocks of a page that needs them."""

TRAINS_LONG = "notebook"
"""The page whose programs run for longer than the compiler takes with all of its passes."""

LONG = (TRAINS_LONG, "analysis-tour", "analysis", "baselines")
"""Pages that train, or analyse what was trained."""


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    """What runs a script in a folder, in a process of its own that has libraries already."""
    folder = tmp_path_factory.mktemp("pages")
    environment = {
        **os.environ,
        "HF_HOME": str(folder / "hf"),
        "HF_DATASETS_OFFLINE": "1",
        # The tests' toy family is an example.
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")]),
        # Most of the time is the compiler's, and what blocks show needs none of its costly passes.
        "XLA_FLAGS": quick_flags(),
    }
    with Forks(folder, environment) as forks:
        yield forks


def run_blocks(page, directory, forks):
    """Run the blocks of a page one after the other, as one script."""
    text = page.read_text()
    # Empty lines keep the line numbers of the page.
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text[: block.start(1)].count("\n")
        code = block.group(1).splitlines()
        lines[first : first + len(code)] = code
    blocks = "\n".join(lines)
    imports = [name for mark, names in IMPORTS.items() if mark in blocks for name in names]
    if "datasets" in imports:  # a cache of its own; the first line of a page is its heading
        cache = str(directory / "cache")
        blocks = f"__import__('datasets.config').config.HF_DATASETS_CACHE = {cache!r}" + blocks
    if page.stem == TRAINS_LONG:
        blocks = "__import__('os').environ['XLA_FLAGS'] = ''" + blocks
    script = directory / f"page_{page.stem}.py"
    script.write_text(blocks)
    result = forks.run(directory, script, imports=imports)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.long] * (page.stem in LONG))
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_blocks_of_a_page_run(page, tmp_path, forks):
    run_blocks(page, tmp_path, forks)


def test_blocks_of_the_readme_run(tmp_path, forks):
    sizes = "--train", "300", "--test", "30", "--ood", "30"
    python("-m", "sraven", "generate", *sizes, cwd=tmp_path, check=True)
    run_blocks(REPOSITORY / "README.md", tmp_path, forks)


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("boards", "boards sraven-v1"),
        ("baselines", "train fuzzylogic-v1 --config mine.yaml --width 64 --print-config"),
    ],
)
def test_printed_blocks_are_as_they_are_printed(page, line, tmp_path):
    text = (REPOSITORY / "docs" / f"{page}.md").read_text()
    block = text.partition(f"$ sraven {line}\n")[2].partition("```")[0].partition("$ ")[0].splitlines()
    (tmp_path / "mine.yaml").write_text("attention: hyla\nsteps: 5000\nlearning_rate: 3e-3\n")
    printed = python("-m", "sraven", *line.split(), cwd=tmp_path, check=True).stdout.splitlines()
    assert [each.rstrip() for each in printed] == block


def test_links_between_pages_lead_somewhere():
    link = re.compile(r"(?:\]\(([^)#:]+)(?:#[^)]*)?\)|<img src=\"([^\":]+)\")")
    for page in [*PAGES, *REPOSITORY.glob("*.md")]:
        for target in map("".join, link.findall(page.read_text())):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_command_is_documented():
    from cli.main import cli
    from cli.shared.families import commands_of
    from sraven.core.families import FAMILIES, find_family

    text = (REPOSITORY / "docs" / "cli.md").read_text()
    families = map(find_family, FAMILIES)
    others = [f"{family.commands} {name}" for family in families for name in commands_of(family)]
    for name in [*cli.list_commands(click.Context(cli)), *(name.removeprefix("sraven ") for name in others)]:
        assert f"## sraven {name}" in text or f"### sraven {name}" in text, name
