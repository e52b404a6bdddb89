"""Direct3D 10 and 11 shader bytecode as data: containers, tables, decoder, text and back."""

from dp2emu.shader.sm4.assemble import assemble
from dp2emu.shader.sm4.container import Container, Element, Signature, pack, unpack
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.disassemble import disassemble
from dp2emu.shader.sm4.flow import Phase, phases
from dp2emu.shader.sm4.program import Instruction, Operand, Program

__all__ = [
    "Container",
    "Element",
    "Instruction",
    "Operand",
    "Phase",
    "Program",
    "Signature",
    "assemble",
    "decode",
    "disassemble",
    "pack",
    "phases",
    "unpack",
]
