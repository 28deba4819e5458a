"""The tables of docs/scale.md, from the records that the rates are in.

    python tests/speed/scale_plan.py

writes them again; `tests/speed/scale.py rates` does so after it has measured.
"""

import json
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sraven.files.files import write_text

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "scale.md"


def page(text):
    """Return the page with its tables made again: those that stand between marks of their names."""
    records = ("scale", "preparation")
    found = {name: json.loads((DOCS / "results" / f"{name}.json").read_text()) for name in records}
    environment = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined)
    tables = environment.get_template("scale.md.jinja").make_module(found)
    marks = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return marks.sub(lambda mark: f"{mark[1]}{getattr(tables, mark[2])()}\n{mark[3]}", text)


def render():
    """Write the page's tables."""
    write_text(PAGE, page(PAGE.read_text()))


if __name__ == "__main__":
    render()
