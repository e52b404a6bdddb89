"""The bit fields of the DWORD tokens of shader models 1 to 3.

Source: SM1-3 tokens, "Instruction tokens" and "Parameter tokens"."""

from __future__ import annotations

from dp2emu.shader.cursor import Bits
from dp2emu.shader.sm.modifiers import ResultModifier
from dp2emu.shader.sm.program import Swizzle

END = 0x0000FFFF
COMMENT_OPCODE = 0xFFFE
PARAMETER = 1 << 31

OPCODE = Bits(0, 16)
CONTROL = Bits(16, 8)
LENGTH = Bits(24, 4)
PREDICATED = Bits(28, 1)
COISSUE = Bits(30, 1)
COMMENT_LENGTH = Bits(16, 15)

NUMBER = Bits(0, 11)
TYPE_HIGH = Bits(11, 2)
RELATIVE = Bits(13, 1)
TYPE_LOW = Bits(28, 3)

MASK = Bits(16, 4)
RESULT = Bits(20, 4)
SHIFT = Bits(24, 4)

SWIZZLE = Bits(16, 8)
MODIFIER = Bits(24, 4)

USAGE = Bits(0, 4)
USAGE_INDEX = Bits(16, 4)
TEXTURE = Bits(27, 4)


def swizzle_of(token: int) -> Swizzle:
    """The swizzle of a source token."""
    bits = SWIZZLE.of(token)
    return bits & 3, bits >> 2 & 3, bits >> 4 & 3, bits >> 6


def shift_of(token: int) -> int:
    """The result shift of a destination token: four bits, sign-extended."""
    return (SHIFT.of(token) ^ 8) - 8


def result_of(token: int) -> ResultModifier:
    """The result modifiers of a destination token, reserved bits included."""
    return ResultModifier(RESULT.of(token))
