"""fma of doubles, from the other operations of the op table.

NumPy has none, nor have all CPUs.  ``Apply`` says what the operations work on: arrays, or names of
values in code that is emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Apply = Callable[..., Any]
"""Type of a function (operation, operands): applies an operation of the op table to values and
Python numbers, and returns a value."""

_MANTISSA, _BIAS = 52, 1023
_EXPONENT = 0x7FF
_INFINITY = float("inf")
_LEAST_NORMAL, _LEAST_EXPONENT = 2.0**-1022, -1022
_LEAST = -1074
"""Exponent of the least subnormal."""
_RAISE = 64
"""Exponent of the factor that makes every subnormal normal."""
_SPLIT = 2.0**27 + 1
"""Veltkamp's factor, which splits a double into two of 26 bits."""
_FAR = 120
"""Difference of exponents from which on the smaller term of an fma only breaks ties.

A product has 106 bits and lies below 4, so its last bit is at least 2**-104."""


def fma(apply: Apply, x: Any, y: Any, z: Any) -> Any:
    """x * y + z with a single rounding, also of subnormal results.

    The plain product and sum are right where an operand is a zero or not finite, but for a
    product that overflows or underflows beside such a ``z``.
    """
    product = apply("dmul", x, y)
    finite = apply("band", _is_finite(apply, x), _is_finite(apply, y))
    nonzero = apply("band", apply("dne", x, 0.0), apply("dne", y, 0.0))
    no_z, finite_z = apply("deq", z, 0.0), _is_finite(apply, z)
    special = apply("dadd", product, z)
    special = apply("dselect", apply("band", nonzero, no_z), product, special)
    special = apply("dselect", apply("band", finite, apply("bnot", finite_z)), z, special)
    regular = apply("band", apply("band", finite, nonzero), finite_z)
    regular = apply("band", regular, apply("bnot", no_z))
    return apply("dselect", regular, _fused(apply, x, y, z), special)


def _fused(apply: Apply, x: Any, y: Any, z: Any) -> Any:
    """x * y + z with a single rounding, for finite operands that are not 0.

    The product of the mantissas and the scaled ``z`` are summed as in Boldo and Melquiond 2008,
    "Emulation of a FMA and correctly rounded sums": the rounding errors, rounded to odd, decide
    the last rounding.  A subnormal result is rounded at the last bit of subnormals instead, by
    adding the number whose last bit that is.
    """
    (x, x_exponent), (y, y_exponent), (z, z_exponent) = (_parts(apply, v) for v in (x, y, z))
    scale = apply("lmax", apply("ladd", x_exponent, y_exponent), apply("lsub", z_exponent, _FAR))
    apart = apply("lmax", apply("lsub", z_exponent, scale), -_FAR)
    product, product_rest = _exact_product(apply, x, y)
    low, low_rest = _exact_sum(apply, apply("dmul", z, _power(apply, apart)), product_rest)
    high, high_rest = _exact_sum(apply, product, low)
    rest = _odd_sum(apply, low_rest, high_rest)
    normal = apply("dadd", high, rest)
    unit = _unit(apply, normal, scale)
    total, total_rest = _exact_sum(apply, unit, high)
    rounded = apply("dsub", apply("dadd", total, _odd_sum(apply, total_rest, rest)), unit)
    signed_zero = apply("dmul", normal, 0.0)
    rounded = apply("dselect", apply("deq", rounded, 0.0), signed_zero, rounded)
    half = apply("lshr", scale, 1)
    rounded = apply("dmul", rounded, _power(apply, half))
    return apply("dmul", rounded, _power(apply, apply("lsub", scale, half)))


def _unit(apply: Apply, normal: Any, scale: Any) -> Any:
    """The number to add so that a sum is rounded where a subnormal ends; 0 for a normal result.

    ``normal`` is the sum rounded to 53 bits, and 2 to the power of ``scale`` its unit.
    """
    small = apply("llt", apply("ladd", _exponent(apply, normal), scale), _LEAST_EXPONENT)
    unit = _power(apply, apply("lsub", _MANTISSA + _LEAST, scale))
    unit = apply("dselect", apply("dlt", normal, 0.0), apply("dneg", unit), unit)
    return apply("dselect", small, unit, 0.0)


def _is_finite(apply: Apply, x: Any) -> Any:
    return apply("dlt", apply("dabs", x), _INFINITY)


def _exponent(apply: Apply, x: Any) -> Any:
    """The exponent of a normal number, an I64."""
    field = apply("land", apply("lshr", apply("aslong", x), _MANTISSA), _EXPONENT)
    return apply("lsub", field, _BIAS)


def _power(apply: Apply, exponent: Any) -> Any:
    """2 to the power of an I64 from -1022 to 1023."""
    return apply("asdouble", apply("lshl", apply("ladd", exponent, _BIAS), _MANTISSA))


def _parts(apply: Apply, x: Any) -> tuple[Any, Any]:
    """The mantissa, signed and of magnitude 1 to 2, and the I64 exponent of a number but 0."""
    small = apply("dlt", apply("dabs", x), _LEAST_NORMAL)
    normal = apply("dselect", small, apply("dmul", x, 2.0**_RAISE), x)
    rest = apply("land", apply("aslong", normal), ~(_EXPONENT << _MANTISSA))
    mantissa = apply("asdouble", apply("lor", rest, _BIAS << _MANTISSA))
    raised = apply("lselect", small, _RAISE, 0)
    return mantissa, apply("lsub", _exponent(apply, normal), raised)


def _exact_sum(apply: Apply, x: Any, y: Any) -> tuple[Any, Any]:
    """The rounded sum and its error (Knuth's TwoSum)."""
    total = apply("dadd", x, y)
    part = apply("dsub", total, x)
    x_error = apply("dsub", x, apply("dsub", total, part))
    return total, apply("dadd", x_error, apply("dsub", y, part))


def _exact_product(apply: Apply, x: Any, y: Any) -> tuple[Any, Any]:
    """The rounded product and its error, of numbers far from overflow (Dekker's product)."""
    product = apply("dmul", x, y)
    (x, x_low), (y, y_low) = _halves(apply, x), _halves(apply, y)
    rest = apply("dsub", apply("dmul", x, y), product)
    for one, other in ((x, y_low), (x_low, y), (x_low, y_low)):
        rest = apply("dadd", rest, apply("dmul", one, other))
    return product, rest


def _halves(apply: Apply, x: Any) -> tuple[Any, Any]:
    scaled = apply("dmul", x, _SPLIT)
    high = apply("dsub", scaled, apply("dsub", scaled, x))
    return high, apply("dsub", x, high)


def _odd_sum(apply: Apply, x: Any, y: Any) -> Any:
    """The sum rounded to odd: if it is inexact, truncated with the last bit set."""
    total, lost = _exact_sum(apply, x, y)
    below, above = apply("dlt", lost, 0.0), apply("dlt", 0.0, lost)
    overshot = apply("bselect", apply("dlt", total, 0.0), above, below)
    bits = apply("lsub", apply("aslong", total), apply("lselect", overshot, 1, 0))
    return apply(
        "asdouble", apply("lor", bits, apply("lselect", apply("bor", below, above), 1, 0))
    )
