"""Sphinx configuration. Build with ``python -m sphinx -W --keep-going -b html docs build/html``.

The build uses no network, and no page that it makes asks another host for anything. That is why
there is no intersphinx and why formulas are plain text: MathJax would be fetched by the reader.
"""

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent.parent))

import sraven
from sraven.files.files import write_text
from sraven.text.play import make_play, practise

project = "SRAVEN"
author = "The SRAVEN maintainers"
html_show_copyright = False
version = release = sraven.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "leaderboard", "results/reproduction"]

# The notebook and the tour of the analysis run while the documentation is built, and again when they change.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True

default_role = "code"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_attr_annotations = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

nitpicky = True
# Types of other projects, which can't be resolved without asking their sites.
nitpick_ignore_regex = [("py:.*", r"(numpy|np|collections|typing|pathlib|os|datasets|pyarrow)\..*")]

html_theme = "furo"
html_title = "SRAVEN"
html_logo = html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static", "../sraven/assets/palette.css"]
html_css_files = ["palette.css", "site.css"]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/standing.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}

# Which of Furo's colours is which of palette.css; that one knows light and dark itself.
_FACE = {
    "color-brand-primary": "var(--accent)",
    "color-brand-content": "var(--accent)",
    "color-brand-visited": "var(--accent)",
    "color-foreground-primary": "var(--text)",
    "color-foreground-secondary": "var(--muted)",
    "color-foreground-muted": "var(--muted)",
    "color-foreground-border": "var(--strong-line)",
    "color-background-primary": "var(--surface)",
    "color-background-secondary": "var(--ground)",
    "color-background-hover": "var(--raised)",
    "color-background-border": "var(--line)",
    "color-background-item": "var(--line)",
    "color-inline-code-background": "var(--raised)",
    "color-highlight-on-target": "var(--tint)",
    "color-api-name": "var(--text)",
    "color-api-pre-name": "var(--muted)",
    "color-code-background": "var(--ground)",
    "font-stack": "var(--sans)",
    "font-stack--monospace": "var(--mono)",
    "code-font-size": "0.8125rem",
}
html_theme_options = {"light_css_variables": _FACE, "dark_css_variables": _FACE}


def pair_pictures(app: Sphinx, tree: nodes.document) -> None:
    """Show ``X-dark.png``, where there is one beside ``X.png``, in its place on a dark ground.

    Pictures as SVG know light and dark themselves.
    """
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for light in list(tree.findall(nodes.image)):
        path = folder / light["uri"]
        other = path.with_name(f"{path.stem}-dark{path.suffix}")
        if other.is_file() and other != path:
            dark = light.deepcopy()
            dark["uri"] = f"{light['uri'].removesuffix(path.name)}{other.name}"
            light["classes"].append("only-light")
            dark["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, dark)


def write_practice(app: Sphinx, error: Exception | None) -> None:
    """Write the page of puzzles to practise with beside the others, to which they link as HTML."""
    if error is None and app.builder.format == "html":
        page = make_play(practise(sraven.SRAVEN()), practice=True)
        write_text(Path(app.outdir) / "practice.html", page)


def setup(app: Sphinx) -> None:
    """Pair pictures before Sphinx collects them, and add the page that isn't Sphinx's."""
    app.connect("doctree-read", pair_pictures, priority=100)
    app.connect("build-finished", write_practice)
