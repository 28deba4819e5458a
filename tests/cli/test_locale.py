"""The contents of files don't depend on the preferred encoding of the system."""

import ast
import json
import os

import pytest

from helpers.checkout import REPOSITORY
from helpers.python import python
from sraven import load_board

ELSEWHERE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale whose encoding is ASCII, and which Python leaves as it is."""


def test_a_board_has_its_digest_in_any_locale():
    line = "-m", "sraven", "boards", "sraven-v1", "--json"
    ran = python(*line, cwd=REPOSITORY, env={**os.environ, **ELSEWHERE}, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["digest"] == load_board("sraven-v1").digest


@pytest.mark.parametrize("package", ["sraven", "fuzzylogic", "baselines", "cli"])
def test_text_is_read_and_written_in_a_named_encoding(package):
    """Where a file is opened as text by a call that is recognised by its name."""
    for path in sorted((REPOSITORY / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", f".{getattr(node.func, 'attr', '')}")
                given = [*node.args, *(each.value for each in node.keywords if each.arg == "encoding")]
                values = [each.value for each in given if isinstance(each, ast.Constant)]
                binary = name == "open" and any(isinstance(each, str) and "b" in each for each in values)
                is_text = name in ("open", "read_text", ".read_text") and not binary
                assert not is_text or "utf-8" in values, f"{path}:{node.lineno}: name the encoding"
