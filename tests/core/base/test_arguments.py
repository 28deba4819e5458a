"""Messages about wrong arguments, in full here; other tests look for values alone."""

import re

import numpy as np
import pytest

from sraven import ConfigurationError
from sraven.core.base.arguments import check_array, check_choice, check_integer, check_share


@pytest.mark.parametrize(
    ("check", "arguments", "message"),
    [
        (check_integer, ("M", 0, 1, 1_200), "M=0: expected an integer from 1 to 1,200"),
        (check_integer, ("M", True, 1, 12, "use 1"), "M=True: expected an integer from 1 to 12; use 1"),
        (check_integer, ("M", 4.0, 1, 12), "M=4.0: expected an integer from 1 to 12"),
        (check_share, ("h", 1, "such as 0.25"), "h=1: expected a share from 0 to below 1, such as 0.25"),
        (check_share, ("h", -0.1, "or 0"), "h=-0.1: expected a share from 0 to below 1, or 0"),
        (check_share, ("h", "0.5", "or 0"), "h='0.5': expected a share from 0 to below 1, or 0"),
        (check_choice, ("form", "c", ("a", "b")), "form='c': expected one of 'a', 'b'"),
        (check_choice, ("form", ["a"], ("a", "b")), "form=['a']: expected one of 'a', 'b'"),
        (check_array, ("x", [1], ("n", 3), "iu", "integers"), "x has shape [1]; expected [n, 3]"),
        (
            check_array,
            ("x", [[1], [2, 3]], ("n", 3), "iu", "integers"),
            "x is ragged; expected an array of integers",
        ),
        (check_array, ("x", [0.5], ("n",), "iu", "integers"), "x has dtype float64; expected integers"),
        (
            check_array,
            ("x", [1 << 64], ("n",), "iu", "integers"),
            "x has numbers beyond 64 bits; expected integers that fit",
        ),
    ],
)
def test_bad_argument_is_refused_by_its_value_and_what_is_allowed(check, arguments, message):
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}$"):
        check(*arguments)


def test_good_arguments_come_back_as_plain_values():
    number = check_integer("M", np.uint8(4), 1, 12)
    assert (number, type(number)) == (4, int)
    share = check_share("h", np.float32(0.5), "")
    assert (share, type(share)) == (0.5, float) and str(check_share("h", -0.0, "")) == "0.0"
    assert check_choice("form", "a", ("a", "b")) == "a"
    assert check_array("x", [], ("n",), "iu", "integers").shape == (0,)
