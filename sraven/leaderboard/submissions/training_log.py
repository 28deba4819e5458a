"""Training logs: what a submission shows of how a model was trained, where its scores are self-reported."""

from typing import Any

from sraven.core.errors import SubmissionError
from sraven.core.escape import escape, quoted
from sraven.core.untrusted.strict_json import parse_json

MOST_BYTES, MOST_LINES = 1 << 22, 100_000
"""What a log may have at most."""

_MOST = 1e300  # beyond any number that training meets, and still finite in sums
_SHOWN = 60


def log_path(seed: int) -> str:
    """Return where the training log of a seed lies in a submission."""
    return f"training/seed-{seed}.jsonl"


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _MOST  # false for NaN


def _read_line(line: bytes) -> dict[str, Any] | None:
    """Return the numbers in a line; None if it isn't an object of finite numbers with a step and a loss."""
    try:
        found = parse_json(line)
    except ValueError:
        return None
    if not isinstance(found, dict) or not found.keys() >= {"step", "loss"}:
        return None
    return found if all(map(_is_number, found.values())) else None


def check_log(data: bytes, where: str) -> None:
    """Refuse what isn't a training log.

    A log is a line of JSON for each step that was logged: an object with an integer ``step``, which
    ascends from line to line, a number ``loss``, and other numbers, all finite.

    Args:
        data: the file.
        where: what to call it in an error.

    Raises:
        SubmissionError: for the first fault, with its line.
    """
    if len(data) > MOST_BYTES:
        raise SubmissionError(f"{where}: has {len(data):,} bytes; expected {MOST_BYTES:,} or fewer")
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    if not 1 <= len(lines) <= MOST_LINES:
        raise SubmissionError(f"{where}: has {len(lines):,} lines; expected 1 to {MOST_LINES:,}")
    least = 0
    for number, line in enumerate(lines, 1):
        values = _read_line(line)
        if values is None:
            found = quoted(line.decode(errors="replace"), _SHOWN)
            raise SubmissionError(
                f"{where}: line {number} is {found}; expected a JSON object of finite numbers, "
                "with 'step' and 'loss'"
            )
        step = values["step"]
        if type(step) is not int or step < least:
            raise SubmissionError(
                f"{where}: line {number} has step {quoted(step, _SHOWN)}; expected an integer of "
                f"{escape(least)} or more, as steps ascend"
            )
        least = step + 1
