"""Sphinx configuration. Build with ``python -m sphinx -W --keep-going -b html docs build/html``.

The build uses no network, and no page that it makes asks another host for anything. That is why
there is no intersphinx and why formulas are plain text: MathJax would be fetched by the reader.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import sraven

project = "SRAVEN"
author = "The SRAVEN maintainers"
html_show_copyright = False
version = release = sraven.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "leaderboard"]

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
html_copy_source = False
html_show_sphinx = False
