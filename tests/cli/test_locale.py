"""The contents of files don't depend on the preferred encoding of the system."""

import json
import os

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
