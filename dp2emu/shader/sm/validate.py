"""The rules of a shader as a whole.

Whatever no driver could give a meaning to is refused: broken flow control, endless calls, two
declarations of one register.  What a driver can shrug off is not looked at: read port limits,
registers read without being written or declared, results never written.
"""

from __future__ import annotations

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.early import check_early_pixel
from dp2emu.shader.sm.flow import check_flow
from dp2emu.shader.sm.program import FULL_MASK, Instruction, Shader
from dp2emu.shader.sm.registers import File, Register


def validate(shader: Shader) -> None:
    """Raises ShaderError, at the instruction that breaks a rule."""
    check_declarations(shader)
    check_early_pixel(shader)
    check_flow(shader)


def check_declarations(shader: Shader) -> None:
    """Every component is declared once; several declarations may share a register."""
    declared: dict[Register, int] = {}
    for instruction in shader.instructions:
        if instruction.declaration is None:
            continue
        register, mask = instruction.target.register, _declared_mask(instruction)
        if not mask:
            raise ShaderError(f"no component of {register} is declared", offset=instruction.offset)
        if declared.get(register, 0) & mask:
            raise ShaderError(f"{register} is declared twice", offset=instruction.offset)
        declared[register] = declared.get(register, 0) | mask


def _declared_mask(instruction: Instruction) -> int:
    """A sampler is declared whole, whatever its mask says."""
    is_sampler = instruction.target.register.file is File.SAMPLER
    return FULL_MASK if is_sampler else instruction.target.mask
