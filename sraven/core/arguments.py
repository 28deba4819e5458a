"""Checks of what callers hand to the public functions. Commands' options are made of them, so NumPy waits."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Real
from operator import index
from sys import float_info
from typing import TYPE_CHECKING, Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def check_integer(name: str, value: Any, low: int, high: int, advice: str = "") -> int:
    """Return ``value`` as an int between ``low`` and ``high``, both allowed.

    Go on with what is returned: sums of NumPy's small integers wrap.

    Raises:
        ConfigurationError: if it isn't one; the message ends with ``advice``.
    """
    try:
        found = None if isinstance(value, bool) else index(value)
    except TypeError:
        found = None
    if found is None or not low <= found <= high:
        raise ConfigurationError(
            f"{name}={quoted(value)}: expected an integer from {low:,} to {high:,}{advice and '; '}{advice}"
        )
    return found


def check_number(name: str, value: Any, *, is_positive: bool = False) -> float:
    """Return ``value`` as a finite float of 0 or more.

    Args:
        name: what to call it in an error.
        value: a number.
        is_positive: whether 0 is refused, too.

    Raises:
        ConfigurationError: if it isn't one.
    """
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not is_real or not 0 <= float(value) <= float_info.max or (is_positive and value == 0):
        wanted = "a number above 0" if is_positive else "a number, 0 or more"
        raise ConfigurationError(f"{name}={quoted(value)}: expected {wanted}")
    return float(value)


def check_share(name: str, value: Any, advice: str) -> float:
    """Return ``value`` as a float from 0 to below 1.

    Raises:
        ConfigurationError: if it isn't one; the message ends with ``advice``.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < 1:
        raise ConfigurationError(f"{name}={quoted(value)}: expected a share from 0 to below 1, {advice}")
    return float(value) + 0.0  # -0.0 is no configuration of its own


def floor_of_share(share: float, count: int) -> int:
    """Return floor(share * count), reading ``share`` as the decimal that it is written as.

    Binary fractions would lose one now and then: 0.7 * 330 is 230.99999999999997.
    """
    return int(Fraction(repr(float(share))) * count)


def least_share(part: int, count: int) -> str:
    """Return the least share in four digits whose `floor_of_share` is ``part`` of ``count``, for advice."""
    return f"{Context(4, ROUND_CEILING).divide(Decimal(part), Decimal(count)):f}"


def greatest_share(part: int, count: int) -> str:
    """Return the greatest one in four digits that leaves the rest, ``count - part``, or more."""
    return f"{Context(4, ROUND_FLOOR).divide(Decimal(part), Decimal(count)):f}"


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the allowed words.

    Raises:
        ConfigurationError: if it isn't.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ConfigurationError(f"{name}={quoted(value)}: expected one of {', '.join(map(quoted, allowed))}")
    return str(value)


def _is_beyond_64_bits(value: Any) -> bool:
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 64


def check_array(
    name: str, values: "ArrayLike", shape: tuple[Any, ...], kinds: str, wanted: str
) -> "NDArray[Any]":
    """Return ``values`` as an array of the given shape and kind.

    Args:
        name: what to call it in an error.
        values: an array.
        shape: the shape that it must have; a string stands for any length.
        kinds: NumPy's letters for the kinds of numbers that are allowed.
        wanted: those kinds in words.

    Raises:
        ConfigurationError: if it has another shape or kind.
    """
    import numpy as np  # the help of commands, which names defaults, needs none of it

    try:
        array = np.asarray(values)
    except ValueError:
        raise ConfigurationError(f"{name} is ragged; expected an array of {wanted}") from None
    fits = array.ndim == len(shape) and all(
        isinstance(want, str) or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        lengths = ", ".join(map(str, shape))
        raise ConfigurationError(f"{name} has shape {list(array.shape)}; expected [{lengths}]")
    if array.dtype == object and "i" in kinds and any(map(_is_beyond_64_bits, array.flat)):
        raise ConfigurationError(f"{name} has numbers beyond 64 bits; expected {wanted} that fit")
    if array.dtype.kind not in kinds and array.size:  # NumPy makes an empty list a float array
        raise ConfigurationError(f"{name} has dtype {array.dtype}; expected {wanted}")
    return array


def check_indices(values: "ArrayLike", limit: int) -> "NDArray[Any]":
    """Return integers ``[n]`` from 0 to below a limit as an array.

    Raises:
        ConfigurationError: if they aren't.
    """
    array = check_array("indices", values, ("n",), "iu", "integers")
    if array.size:
        check_integer("the least index", int(array.min()), 0, limit - 1)
        check_integer("the greatest index", int(array.max()), 0, limit - 1)
    return array
