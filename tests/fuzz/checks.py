"""Checks that hold for every target."""

from fuzz.harness import FindingError
from helpers.command import sraven
from sraven.core.errors import ConfigurationError
from sraven.core.escape import is_seen

LONGEST = 2_100
"""Characters of an error at most."""


def check_line(message):
    """Return a message, if it is one seen line of bounded length."""
    if len(message) > LONGEST or not all(map(is_seen, message)):
        raise FindingError(f"the message is no seen, bounded line: {message[:200]!r}")
    return message


def refused(call, *arguments):
    """Call something; return what it gives, or with what it refuses: an error of the project, in one line."""
    try:
        return call(*arguments), ""
    except ConfigurationError as error:
        return None, check_line(str(error))


def run_command(*arguments):
    """Run a command that may fail, but only as commands may: a line for each fault, and a known exit code."""
    code, printed, said = sraven(*arguments)
    if not all(is_seen(character) or character == "\n" for character in printed):
        raise FindingError(f"prints what can't be seen: {printed[:200]!r}")
    lines = said.splitlines()
    for line in lines:
        check_line(line)
    if code not in (0, 1, 2) or (code and not lines) or (code == 2 and len(lines) != 1):
        raise FindingError(f"exit code {code} with {len(lines)} lines: {said[-300:]!r}")
    return f"{code} {lines[0] if lines else ''}"
