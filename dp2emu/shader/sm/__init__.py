"""Direct3D 8 and 9 shader bytecode as data: tables, decoder, disassembler, assembler."""

from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.disassemble import disassemble
from dp2emu.shader.sm.flow import Routines, routines
from dp2emu.shader.sm.program import Instruction, Shader

__all__ = ["Instruction", "Routines", "Shader", "assemble", "decode", "disassemble", "routines"]
