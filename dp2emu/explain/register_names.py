"""Names of registers, as assembly writes them, for the slots and files of a shader's program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from dp2emu.shader import ir
from dp2emu.shader.fixed.uniform_names import uniform_name
from dp2emu.shader.fixed.vertex import key_of
from dp2emu.shader.origins import Origins, RecordingBuilder
from dp2emu.shader.ports import varying
from dp2emu.shader.sm import decode as decode9
from dp2emu.shader.sm import disassemble as disassemble9
from dp2emu.shader.sm.disassemble import text_of as text9
from dp2emu.shader.sm.lower.lowering import COMPONENTS, SCALARS, Lowering, varying_name
from dp2emu.shader.sm.program import Instruction as Instruction9
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import V3_0
from dp2emu.shader.sm4 import decode as decode10
from dp2emu.shader.sm4 import disassemble as disassemble10
from dp2emu.shader.sm4.disassemble import text_of as text10
from dp2emu.shader.sm4.enums import SystemValue
from dp2emu.shader.sm4.lower.lowering import REGISTERS, Place
from dp2emu.shader.sm4.lower.lowering import Lowering as Lowering10
from dp2emu.shader.sm4.registers import BY_FILE
from dp2emu.shader.text import slot_name


class RegisterNames(msgspec.Struct, frozen=True):
    """Names of the registers of a program.

    ``slots`` are the names of slots, ``copies`` of those with the value of a register in another
    type.  ``lowering`` is the state of the shader's lowering, None for a generated program.
    """

    program: ir.Program
    slots: Mapping[int, str]
    copies: Mapping[int, str]
    lowering: Lowering | Lowering10 | None

    @classmethod
    def of(cls, program: ir.Program, origins: Origins | None) -> RegisterNames:
        """The names of a program with the origins of its statements, None if it has none."""
        if origins is None or origins.builder.lowering is None:
            return cls(program, {}, {}, None)
        builder = origins.builder
        low = builder.lowering
        slots = {variable.slot: _place(key) for key, variable in low.variables.items()}
        copies = {slot: _place(key) for slot, key in builder.copies.items()}
        made = cls(program, slots, copies, low)
        return msgspec.structs.replace(made, copies={**copies, **dict(made._started(builder))})

    def _started(self, builder: RecordingBuilder) -> Iterator[tuple[int, str]]:
        """Names of the slots into which a program reads inputs and constants at its start."""
        ports = _ports9(self.lowering) if isinstance(self.lowering, Lowering) else {}
        if isinstance(self.lowering, Lowering10):
            ports = _ports10(self.lowering)
        for each in builder.reads:
            if isinstance(each, ir.Input):
                name, _, component = varying(each.port).rpartition(".")
                yield each.slot, _input(ports, name, component)
            elif isinstance(each, ir.Load):
                yield each.slot, self.of_file(each.file, each.address.offset)

    def of_slot(self, slot: int, *, generated: bool, copies: bool = False) -> str | None:
        """The name of the register in a slot; None if it has none.

        Slots of ``generated`` statements have names of their own.  With ``copies`` slots count
        that have the value of a register in another type.
        """
        name = self.slots.get(slot)
        if name is None and copies:
            name = self.copies.get(slot)
        return slot_name(self.program, slot) if name is None and generated else name

    def of_file(self, file: str, scalar: int) -> str:
        """The name of a scalar of a register file."""
        row, component = divmod(scalar, 4)
        if isinstance(self.lowering, Lowering):
            if file in ("c", "i", "v", "o"):
                return f"{file}{row}.{COMPONENTS[component]}"
            return f"{file}{scalar}" if file == "b" else f"{file}[{scalar}]"
        if isinstance(self.lowering, Lowering10):
            return self._of_file10(self.lowering, file, scalar)
        key = key_of(self.program)
        name = None if key is None else uniform_name(key, scalar)
        return name or f"{file}[{scalar}]"

    def _of_file10(self, low: Lowering10, file: str, scalar: int) -> str:
        components = 4
        if file.startswith("x") and file[1:].isdigit():
            components = low.declared.arrays[int(file[1:])][1]
        row, component = divmod(scalar, components)
        letter = COMPONENTS[component]
        if file == "v" and low.declared.primitive is not None:
            return "v[{}][{}].{}".format(*divmod(row, REGISTERS), letter)
        return f"{file}{row}.{letter}" if file in ("v", "o") else f"{file}[{row}].{letter}"

    def of_unit(self, statement: ir.Sample | ir.Fetch | ir.Access) -> str:
        """What a statement reads or does: a kind of texture, or an operation and its register."""
        if isinstance(statement, ir.Sample):
            return statement.kind.value
        if not isinstance(self.lowering, Lowering10):
            return ""
        if isinstance(statement, ir.Fetch):
            unit = [*self.lowering.units][statement.unit]
            resource = "" if unit.resource is None else f" t{unit.resource}"
            sampler = "" if unit.sampler is None else f" s{unit.sampler}"
            return f"{unit.opcode.name.lower()}{resource}{sampler}"
        operation = [*self.lowering.operations][statement.unit]
        place = f"{'g' if operation.shared else 'u'}{operation.number}"
        return f"{operation.opcode.name.lower()} {place}"

    def instruction(self, instruction: Any) -> str:
        """The text of an instruction."""
        if isinstance(instruction, Instruction9):
            assert isinstance(self.lowering, Lowering)
            return text9(instruction, self.lowering.version)
        return text10(instruction)

    def listing(self, code: bytes) -> Listing:
        """The lines of the shader's assembly, and the line of each instruction by its offset."""
        return _listing(code, isinstance(self.lowering, Lowering)) if code else Listing((), {})


class Listing(NamedTuple):
    """Lines of text, and numbers of lines, from 0, by the key of what each shows."""

    lines: tuple[str, ...]
    places: Mapping[int, int]

    @classmethod
    def of(cls, lines: Sequence[str], shown: Iterable[tuple[int, str]]) -> Listing:
        """The listing of ``lines`` that show pairs of a key and a text, in order."""
        places, at = {}, 0
        texts = [line.strip() for line in lines]
        for key, text in shown:
            with suppress(ValueError):
                places[key] = texts.index(text, at)
                at = places[key] + 1
        return cls(tuple(lines), places)


@lru_cache(maxsize=16)
def _listing(code: bytes, old: bool) -> Listing:
    if old:
        shader = decode9(code)
        ordered = sorted(shader.instructions, key=lambda each: each.offset)
        shown = [(each.offset, text9(each, shader.version)) for each in ordered]
        return Listing.of(disassemble9(code).splitlines(), shown)
    found = decode10(code).instructions
    return Listing.of(
        disassemble10(code).splitlines(), [(each.offset, text10(each)) for each in found]
    )


def _place(key: tuple[Register, int] | Place) -> str:
    """The name of a register component of a lowering."""
    if isinstance(key, Place):
        limits = BY_FILE[key.file].limits
        number = str(key.number) if limits else ""
        scalar = key.file.value.startswith("o") and not limits
        return f"{key.file.value}{number}" + ("" if scalar else f".{COMPONENTS[key.component]}")
    register, component = key
    return str(register) if register in SCALARS else f"{register}.{COMPONENTS[component]}"


def _input(ports: Mapping[str, str], name: str, component: str) -> str:
    """The name of the register of an input, by the name and component of its port."""
    whole = f"{name}.{component}"
    return ports.get(whole) or f"{ports.get(name, name)}.{component}"


def _ports9(low: Lowering) -> dict[str, str]:
    """Names of input registers of Direct3D 8 and 9, by port with or without component."""
    found = {"vpos": "vPos", "vface": "vFace"}
    if low.version.level < V3_0:
        found |= {f"color{n}": f"v{n}" for n in range(2)}
        found |= {f"texcoord{n}": f"t{n}" for n in range(8)}
        return found
    return found | {
        varying_name(usage, index, component): f"{register}.{COMPONENTS[component]}"
        for (register, component), (usage, index) in low.usages.items()
        if register.file is File.INPUT
    }


def _ports10(low: Lowering10) -> dict[str, str]:
    """Names of input registers of Direct3D 10 and 11, by port without component."""
    found = {
        each.name.name.lower(): f"v{each.number}"
        for each in low.declared.inputs
        if each.name is not SystemValue.UNDEFINED
    }
    vertices = {
        f"vertex{vertex}.v{number}": f"v[{vertex}][{number}]"
        for vertex in range(low.declared.vertices_in)
        for number in {each.number for each in low.declared.inputs}
    }
    return found | vertices
