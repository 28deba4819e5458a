"""The template: nothing passes it unescaped but our own files and drawings, and no value is forgotten."""

import re
import subprocess
import sys
from importlib.resources import files
from xml.etree.ElementTree import Element

import pytest
from jinja2 import DictLoader, UndefinedError
from markupsafe import Markup

from sraven.core.page import render as module
from sraven.core.page.render import Asset, render
from sraven.core.page.svg import element, to_text

FOLDER = files("sraven.core.page")
TEMPLATES = sorted(path.name for path in (FOLDER / "templates").iterdir())


@pytest.fixture
def template(monkeypatch):
    """Return what renders a text as a template of ours."""

    def render_text(text, **values):
        monkeypatch.setattr(module, "PackageLoader", lambda package: DictLoader({"page": text}))
        return render("page", **values)

    return render_text


def test_markup_is_made_in_one_place():
    made = [
        (path.name, line.strip())
        for path in FOLDER.iterdir()
        if path.name.endswith(".py")
        for line in path.read_text().splitlines()
        if re.search(r"Markup\(|__html__", line)
    ]
    assert [name for name, _ in made] == ["render.py"], made


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_let_nothing_pass_but_our_own(name):
    text = (FOLDER / "templates" / name).read_text()
    assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize|striptags)|autoescape|Markup", text)
    passed = re.findall(r"[\w.]+(?= \| as_it_stands)", text)
    assert set(passed) <= {"style", "script", "drawing", "mark"}
    assert not re.search(r"""=\{\{|='[^'"]*\{\{""", text), "an attribute without double quotes"


def test_texts_are_escaped_and_what_cannot_be_seen_is_shown(template):
    rendered = template('<p title="{{ x }}">{{ x }}</p>\n', x="<b>&'\"\u202e\n")
    escaped = r"&lt;b&gt;&amp;&#39;&#34;\u202e" + "\n"
    assert rendered == f'<p title="{escaped}">{escaped}</p>\n'
    assert template("{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m('<') }}{{ 3 }}") == "<i>&lt;</i>3"
    assert template("{% macro m() %}\u00a0{% endmacro %}{{ m() }}") == "\u00a0"  # not cleaned twice


@pytest.mark.parametrize("value", ["<b>", Markup("<b>"), 3, None])
def test_no_text_stands_as_it_is(template, value):
    with pytest.raises(AssertionError, match="is escaped, or it isn't shown"):
        template("{{ value | as_it_stands }}", value=value)


def test_a_value_that_is_missing_is_an_error(template):
    with pytest.raises(UndefinedError, match="'valeu' is undefined"):
        template("{{ valeu }}", value=1)
    with pytest.raises(AssertionError, match="stands for nothing"):
        template("{{ value }}", value=None)


def test_drawings_escape_their_texts_and_attributes():
    drawing = element("text", 'a<b & "c"</svg>', element("tspan"), x='"><script>', class_="k", y=None)
    assert isinstance(drawing, Element)
    assert to_text(drawing) == (
        '<text x="&quot;&gt;&lt;script&gt;" class="k">a&lt;b &amp; "c"&lt;/svg&gt;<tspan /></text>'
    )
    assert to_text(element("svg", view_box="0 0 1 1")) == '<svg viewBox="0 0 1 1" />'
    with pytest.raises(AssertionError, match="a text comes first"):
        element("g", element("g"), "text")


@pytest.mark.parametrize("text", ["a</style>b", "a<!--b"])
def test_an_asset_that_would_end_its_element_is_refused(monkeypatch, tmp_path, text):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "bad.css").write_text(text)
    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    with pytest.raises(AssertionError, match="it would end the element"):
        _ = Asset("bad.css").text


def test_scoring_and_help_import_no_template_engine():
    code = """
import sys
from cli.main import main
import sraven.core.leaderboard.ranking, sraven.core.submissions.submission, sraven.core.page.groups
for line in ("--help", "score nowhere", "submit nowhere", "leaderboard --leaderboard nowhere"):
    try:
        main(line.split())
    except SystemExit:
        pass
print({"jinja2", "markupsafe"} & set(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.endswith("\nset()\n")
