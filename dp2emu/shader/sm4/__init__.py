"""Direct3D 10 and 11 shader bytecode as data: containers, tables and decoder."""

from dp2emu.shader.sm4.container import Container, Element, Signature, pack, unpack
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.program import Instruction, Operand, Program

__all__ = [
    "Container",
    "Element",
    "Instruction",
    "Operand",
    "Program",
    "Signature",
    "decode",
    "pack",
    "unpack",
]
