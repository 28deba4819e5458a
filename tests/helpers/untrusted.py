"""Files of predictions, decoded in this process, and how what is sent is refused."""

import numpy as np

from helpers.refusals import assert_refused
from helpers.submissions import predictions_file
from sraven import SubmissionError
from sraven.core.roles import Column
from sraven.files import decode

PANEL, NUMBER = (
    Column("prediction", "uint8", (3,), "a panel"),
    Column("prediction", "float32", (), "a number"),
)


def refusal(function, *arguments, **options):
    """Return the message with which something is refused; it has to be one line."""
    message = assert_refused("", function, *arguments, error=SubmissionError, **options)
    assert len(message) < 500
    return message


PANELS = np.arange(60, dtype=np.uint8).reshape(20, 3) % 5
RIGHT = predictions_file(PANELS)


def decoded(data, column=PANEL, rows=20):
    width = column.shape[0] if column.shape else 0
    return decode.decode(data, rows, [("index", "int64", 0), (column.name, column.dtype, width)])
