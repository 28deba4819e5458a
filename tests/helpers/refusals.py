"""How bad input is refused: an error of ours, in one line."""

import re

import pytest

from sraven.core.errors import ConfigurationError


def assert_refused(match, function, /, *arguments, error=ConfigurationError, **options):
    """Call a function, which has to refuse it in one printable line with a pattern; return the line."""
    with pytest.raises(error) as refusal:
        function(*arguments, **options)
    text = str(refusal.value)
    assert re.search(match, text), text
    assert text.isprintable()
    return text
