"""How long to wait: what an endpoint says of it, in seconds or as a date, and what is made of that."""

import pytest

from sraven.text.waits import FIRST_WAIT, LONGEST_WAIT, asked_wait, next_wait

NOW = 1445412480.0  # 2015-10-21 07:28:00


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:29:30 GMT"}, 90),
        ({"retry-after": "Wed, 21 Oct 2015 07:29:30 -0000"}, 90),
        ({"retry-after": "Wed, 21 Oct 2015 09:29:30 +0200"}, 90),
        ({"retry-after-ms": "2500", "retry-after": "30"}, 2.5),
        ({"retry-after-ms": "soon", "retry-after": "30"}, 30),
        ({"retry-after": "9" * 400}, float("inf")),
        *(({"retry-after": said}, None) for said in ("0", "-5", "nan", "inf", "1e9", "soon", "", "٣", "0.0")),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, None),
        ({"retry-after": "Wed, 99 Oct 2015 07:27:00 GMT"}, None),
        ({"retry-after-ms": "0"}, None),
        ({}, None),
    ],
)
def test_what_is_asked_for(headers, seconds):
    assert asked_wait(headers, NOW) == seconds


def test_waits_double_and_are_never_less_than_asked_for_or_nothing():
    for attempt in range(1, 101):
        own = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
        assert own / 2 <= next_wait(attempt, None) <= own
        assert 30 < next_wait(attempt, 30.0) <= 30 + FIRST_WAIT
    assert next_wait(1, 1e-9) >= FIRST_WAIT / 2
    assert next_wait(5, 0.0) == 0  # what is mended at once
