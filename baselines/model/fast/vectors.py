"""Vectors of float32 as values in Numba's functions, so that sums stay in registers.

Numba makes vector code of loops over arrays, but what such a loop adds up stays in memory. A value of type
`Vector` is an LLVM vector instead, of any length: the compiler cuts it into the registers that there are.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from sraven.core.jit import numba

types, intrinsic = numba.types, numba.extending.intrinsic

LANES = 16
"""Instances that are computed side by side."""

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_FLAGS = ("contract", "reassoc", "nsz")
"""What the compiler may do to arithmetic; NaN and infinities stay what they are."""


class Vector(types.Type):
    """The type of ``length`` float32 numbers."""

    def __init__(self, length: int) -> None:
        self.length = length
        super().__init__(name=f"Vector({length})")


@numba.extending.register_model(Vector)
class _Model(numba.extending.models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_FLOAT, kind.length))


def intrinsic_of(build: Callable[..., Any], result: Any = None) -> Any:
    """Return an intrinsic of one argument or two.

    Args:
        build: takes the builder and LLVM's values, and returns one.
        result: type of what is returned; None for that of the first argument.
    """

    def of_one(context: Any, x: Any) -> Any:
        return (result or x)(x), lambda _, builder, __, values: build(builder, *values)

    def of_two(context: Any, x: Any, y: Any) -> Any:
        return (result or x)(x, y), lambda _, builder, __, values: build(builder, *values)

    return intrinsic(of_one if build.__code__.co_argcount == 2 else of_two)


def _call(builder: Any, name: str, result: Any, *values: Any) -> Any:
    kind = ir.FunctionType(result, [value.type for value in values])
    function = numba.core.cgutils.get_or_insert_function(
        builder.module, kind, f"{name}.v{values[-1].type.count}f32"
    )
    return builder.call(function, values, fastmath=_FLAGS)


def _where_positive(builder: Any, x: Any, y: Any) -> Any:
    zero = ir.Constant(x.type, None)
    return builder.select(builder.fcmp_ordered("<=", x, zero), zero, y)


def _power_of_two(builder: Any, x: Any) -> Any:
    # x + 127 is the exponent's bits; of a sum with 2^23 it is the last bits of all.
    count = x.type.count
    integers = ir.VectorType(_INT, count)
    shifted = builder.bitcast(builder.fadd(x, ir.Constant(x.type, [float(2**23 + 127)] * count)), integers)
    return builder.bitcast(builder.shl(shifted, ir.Constant(integers, [23] * count)), x.type)


where_positive = intrinsic_of(_where_positive)
"""Of x and y: 0 where x is 0 or less, else y."""

power_of_two = intrinsic_of(_power_of_two)
"""2^x of integers x from -126 to 127; anything if x is NaN."""

nearest = intrinsic_of(lambda builder, x: _call(builder, "llvm.nearbyint", x.type, x))
"""The nearest integer."""

larger = intrinsic_of(lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y))
"""The larger of x and y; y if x is NaN."""

total = intrinsic_of(
    lambda builder, x: _call(builder, "llvm.vector.reduce.fadd", _FLOAT, ir.Constant(_FLOAT, 0.0), x),
    types.float32,
)
"""The sum of a vector's numbers."""


def _overload(symbol: Any, name: str) -> None:
    function = intrinsic_of(lambda builder, x, y: getattr(builder, name)(x, y, flags=_FLAGS))

    @numba.extending.overload(symbol, strict=False)
    def of_vectors(x: Any, y: Any) -> Any:
        return (lambda x, y: function(x, y)) if isinstance(x, Vector) and x == y else None


_overload(operator.add, "fadd")
_overload(operator.sub, "fsub")
_overload(operator.mul, "fmul")
_overload(operator.truediv, "fdiv")


def _pointer(context: Any, builder: Any, array: Any, values: Any, length: int) -> Any:
    data = context.make_array(array)(context, builder, values[0]).data
    return builder.bitcast(builder.gep(data, [values[1]]), ir.VectorType(_FLOAT, length).as_pointer())


def _pick(builder: Any, value: Any, places: Sequence[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT, len(places)), list(places))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


@intrinsic(prefer_literal=True)
def load(context: Any, array: Any, offset: Any, length: Any) -> Any:
    """Return ``array[offset : offset + length]`` of a flat array; the length is a constant."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_pointer(context, builder, array, values, length.literal_value), align=4)

    return Vector(length.literal_value)(array, types.intp, length), build


@intrinsic
def store(context: Any, array: Any, offset: Any, vector: Any) -> Any:
    """Write ``array[offset : offset + length]``."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], _pointer(context, builder, array, values, vector.length), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), build


@intrinsic(prefer_literal=True)
def load_lanes(context: Any, array: Any, offset: Any, stride: Any, width: Any) -> Any:
    """Return ``width`` numbers from each of 16 places, ``stride`` apart, as ``[width, 16]``."""
    width = width.literal_value

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows, at = [], values[1]
        for _ in range(LANES):
            rows.append(builder.load(_pointer(context, builder, array, (values[0], at), width), align=4))
            at = builder.add(at, values[2])
        while len(rows) > 1:
            double = 2 * rows[0].type.count
            places = ir.Constant(ir.VectorType(_INT, double), list(range(double)))
            rows = [builder.shuffle_vector(*pair, places) for pair in zip(rows[::2], rows[1::2], strict=True)]
        return _pick(builder, rows[0], [lane * width + d for d in range(width) for lane in range(LANES)])

    return Vector(width * LANES)(array, types.intp, types.intp, types.literal(width)), build


@intrinsic
def store_lanes(context: Any, array: Any, offset: Any, stride: Any, vector: Any) -> Any:
    """Write ``[width, 16]`` as ``width`` numbers to each of 16 places, ``stride`` apart."""
    width = vector.length // LANES

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = values[1]
        for lane in range(LANES):
            row = _pick(builder, values[3], [d * LANES + lane for d in range(width)])
            builder.store(row, _pointer(context, builder, array, (values[0], at), width), align=4)
            at = builder.add(at, values[2])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, vector), build


@intrinsic(prefer_literal=True)
def splat(context: Any, number: Any, length: Any) -> Any:
    """Return a vector of one number, ``length`` times; a constant."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        one = ir.Constant(ir.VectorType(_FLOAT, 1), ir.Undefined)
        one = builder.insert_element(one, values[0], ir.Constant(_INT, 0))
        return _pick(builder, one, [0] * length.literal_value)

    return Vector(length.literal_value)(types.float32, length), build


@intrinsic(prefer_literal=True)
def tile(context: Any, vector: Any, times: Any) -> Any:
    """Return a vector that repeats another; how often is a constant."""
    places = list(range(vector.length)) * times.literal_value
    result = Vector(len(places))
    return result(vector, times), lambda _, builder, __, values: _pick(builder, values[0], places)


@intrinsic(prefer_literal=True)
def fold(context: Any, vector: Any, parts: Any) -> Any:
    """Return the sum of a vector's equal parts; how many they are is a constant."""
    length = vector.length // parts.literal_value

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        starts = range(0, vector.length, length)
        total, *rest = (_pick(builder, values[0], range(at, at + length)) for at in starts)
        for part in rest:
            total = builder.fadd(total, part, flags=_FLAGS)
        return total

    return Vector(length)(vector, parts), build
