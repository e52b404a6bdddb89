"""Double precision functions built of operations of the table: pairs of words, saturation."""

from __future__ import annotations

from dp2emu.shader.values import Value


def from_words(low: Value, high: Value) -> Value:
    """The double whose bits are two I32, the least significant first."""
    b = low.builder
    return b.apply("asdouble", b.apply("utol", low) | (b.apply("itol", high) << 32))


def to_words(x: Value) -> tuple[Value, Value]:
    """The bits of a double as two I32, the least significant first; a NaN is the canonical one."""
    b = x.builder
    bits = b.apply("aslong", x)
    return b.apply("ltoi", bits), b.apply("ltoi", bits >> 32)


def saturate(x: Value) -> Value:
    """Clamp a double to 0..1; a NaN and -0 become +0."""
    b = x.builder
    return b.apply("dmin", 1.0, b.apply("dmax", 0.0, x))
