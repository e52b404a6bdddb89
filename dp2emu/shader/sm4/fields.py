"""The bit fields of the DWORD tokens of shader models 4 and 5.

Source: SM4-5 tokens, "Program tokens" and "Operands"."""

from __future__ import annotations

from dp2emu.shader.cursor import Bits

OPCODE = Bits(0, 11)
LENGTH = Bits(24, 7)
EXTENDED = Bits(31, 1)
SATURATE = Bits(13, 1)
NONZERO = Bits(18, 1)
PRECISE = Bits(19, 4)
SIZES = Bits(11, 2)
SYNC = Bits(11, 4)
CUSTOM_CLASS = Bits(11, 21)

EXTENSION = Bits(0, 6)
TEXEL = (Bits(9, 4), Bits(13, 4), Bits(17, 4))
VIEW_DIMENSION = Bits(6, 5)
VIEW_STRIDE = Bits(11, 11)
VIEW_RETURNS = (Bits(6, 4), Bits(10, 4), Bits(14, 4), Bits(18, 4))
RETURNS = (Bits(0, 4), Bits(4, 4), Bits(8, 4), Bits(12, 4))

COUNT = Bits(0, 2)
"""Component count of an operand token: none, one or four (``NO_COMPONENTS`` and so on)."""
MODE = Bits(2, 2)
MASK = Bits(4, 4)
SWIZZLE = (Bits(4, 2), Bits(6, 2), Bits(8, 2), Bits(10, 2))
SELECT = Bits(4, 2)
FILE = Bits(12, 8)
INDICES = Bits(20, 2)
REPRESENTATIONS = (Bits(22, 3), Bits(25, 3), Bits(28, 3))
MODIFIER = Bits(6, 8)
PRECISION = Bits(14, 3)

NO_COMPONENTS, ONE_COMPONENT, FOUR_COMPONENTS = 0, 1, 2
BY_MASK, BY_SWIZZLE, BY_SELECT = 0, 1, 2
AT_ONCE, RELATIVE, SUM = 0, 2, 3
"""Token values for how an operand's index is given: a constant, an operand, or their sum."""

SAMPLE_CONTROLS, RESOURCE_DIMENSION, RESOURCE_RETURNS = 1, 2, 3
"""Types of extended opcode tokens: texel offsets, resource dimension, resource return types."""
OPERAND_MODIFIER = 1
"""Value of the type field of an extended operand token that has modifiers."""
