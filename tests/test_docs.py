"""Every Python block of README and documentation runs, page by page, in an empty directory.

Cells run when the documentation is built.
"""

import re
import shlex
from contextlib import suppress

import click
import pytest

from helpers.checkout import REPOSITORY
from helpers.compiling import quick_flags
from helpers.python import run_prepared

PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

LONG = "baselines"
"""The page that trains."""


def run_blocks(page, directory):
    """Run the blocks of a page one after the other, as one script."""
    text = page.read_text()
    if any(re.search(r"^from torch", block, re.MULTILINE) for block in BLOCK.findall(text)):
        pytest.importorskip("torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout")
    # Empty lines keep the line numbers of the page.
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text[: block.start(1)].count("\n")
        code = block.group(1).splitlines()
        lines[first : first + len(code)] = code
    script = directory / f"page_{page.stem}.py"
    script.write_text("\n".join(lines))
    # Most of the time is the compiler's, and what blocks show needs none of its costly passes.
    code, errors = run_prepared(script, XLA_FLAGS=quick_flags())
    assert code == 0, errors


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.long] * (page.stem == LONG))
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_blocks_of_a_page_run(page, tmp_path):
    run_blocks(page, tmp_path)


def test_blocks_of_the_readme_run(tmp_path, done, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("generate", "--train", 300, "--test", 30, "--ood", 30)
    run_blocks(REPOSITORY / "README.md", tmp_path)


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("boards", "boards sraven-v1"),
        ("baselines", "train fuzzylogic-v1 --attention hyla --steps 5000 --width 64 --print-config"),
    ],
)
def test_printed_blocks_are_as_they_are_printed(page, line, done):
    text = (REPOSITORY / "docs" / f"{page}.md").read_text()
    block = text.partition(f"$ sraven {line}\n")[2].partition("```")[0].partition("$ ")[0].splitlines()
    assert [each.rstrip() for each in done(*line.split()).splitlines()] == block


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


LINE = re.compile(r"(?:^|`|\$ )(sraven [a-z][^`\n]*)", re.MULTILINE)
END = re.compile(r"  #| && | \| | > |;")


def test_every_line_that_is_shown_has_options_that_there_are():
    from cli.main import cli

    pages = REPOSITORY / "README.md", *PAGES, *(REPOSITORY / "docs" / "results").glob("*.md")
    for page in (page for page in pages if page.stem != "extending"):  # it adds a command
        for line in LINE.findall(page.read_text().replace("\\\n", " ")):
            command, context, words = cli, click.Context(cli), shlex.split(END.split(line)[0])[1:]
            while isinstance(command, click.Group):
                name, command, words = command.resolve_command(context, words)
                context = click.Context(command, context, name)
            with suppress(click.BadOptionUsage):  # an option may be named without its value
                command.make_parser(context).parse_args(words)
