"""Text that moves a terminal's cursor or begins a line of a workflow's commands never comes out as it is.

What is read of files is shown by `sraven.core.escape`, whose property `test_names` has.
"""

import pytest
import yaml

from helpers.submissions import edit
from sraven.core.errors import ConfigurationError
from sraven.core.escape import is_seen

CONTROL = "\x1b[2K\r\n::error::\u202e"


def is_harmless(text):
    """Tell whether all lines are of seen characters, and none is a workflow's command."""
    return all(not line.startswith("::") and all(map(is_seen, line)) for line in text.split("\n"))


@pytest.mark.parametrize("place", ["board", "method", "runs", "claimed", CONTROL])
def test_no_field_of_an_entry_gets_through(place, run, small_boards, filed, leaderboard):
    edit(filed, lambda content: content.update({place: CONTROL}))
    assert "\x1b" in yaml.safe_load((filed / "submission.yaml").read_text())[place]
    for line in (("score", filed), ("leaderboard", "--leaderboard", leaderboard)):
        code, out, err = run(*line)
        assert code in (1, 2) and err.count("\n") == 1 and is_harmless(out) and is_harmless(err)


@pytest.mark.parametrize("message", [CONTROL, "x" * 200_000, "half \ud800"])
def test_whatever_an_error_says_is_one_seen_line(message, refused, monkeypatch):
    def fail(arguments, **options):
        raise ConfigurationError(message)

    monkeypatch.setattr("cli.main.cli.main", fail)
    err = refused("boards")
    assert len(err) < 2_100 and all(map(is_seen, err[:-1]))
