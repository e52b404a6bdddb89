"""Vertex declarations, shaders and their constants."""

from __future__ import annotations

import struct
from typing import Any

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.retrace.arguments import Arguments, integer, members
from dp2emu.retrace.d3d9.held import application, enumerator, hand_out, on, optional, silent
from dp2emu.retrace.d3d9.root import DEVICES
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.mirror import REGISTERS
from dp2emu.runtime.objects import Declaration, PixelShader, VertexElement, VertexShader

_END = 0xFF
"""The stream of the element that ends a declaration."""
_ELEMENT = ("Stream", "Offset", "Type", "Method", "Usage", "UsageIndex")
_CONSTANTS = " ".join(
    f"Get{kind}ShaderConstant{letter}" for kind in ("Vertex", "Pixel") for letter in "FIB"
)

silent(DEVICES, _CONSTANTS, "A question; the driver is not told.")
silent(
    "IDirect3DVertexDeclaration9 IDirect3DVertexShader9 IDirect3DPixelShader9",
    "GetDeclaration GetFunction",
    "A question; the driver is not told.",
)


@on(DEVICES, "CreateVertexDeclaration")
def create_vertex_declaration(program: Program, call: Arguments) -> None:
    """A declaration, up to its end."""
    app, elements = application(call), []
    for found in call.structs("pVertexElements"):
        stream, offset, kind, method, usage, index = members(found, _ELEMENT, integer)
        if stream == _END:
            break
        types = enumerator(DeclType, kind), enumerator(DeclMethod, method)
        elements.append(VertexElement(stream, offset, *types, enumerator(DeclUsage, usage), index))
    hand_out(program, call, "ppDecl", app, app.create_declaration(elements))


@on(DEVICES, "SetVertexDeclaration")
def set_vertex_declaration(program: Program, call: Arguments) -> None:
    """A declaration or none."""
    application(call).mirror.put("format", optional(call, Declaration, "pDecl"))


@on(DEVICES, "GetVertexDeclaration")
def get_vertex_declaration(program: Program, call: Arguments) -> None:
    """The address of what is set; a vertex format has one as well."""
    app = application(call)
    hand_out(program, call, "ppDecl", app, app.mirror.get("format"))


@on(DEVICES, "SetFVF")
def set_fvf(program: Program, call: Arguments) -> None:
    """A vertex format without its reserved bit, which on the wire tells declarations apart; 0
    leaves what is set.
    """
    if fvf := call.integer("FVF") & ~1:
        application(call).mirror.put("format", Declaration(fvf))


silent(DEVICES, "GetFVF", "A question; the driver is not told.")


def code_of(call: Arguments, name: str = "pFunction") -> list[int]:
    """Shader code as DWORDs."""
    data = call.blob(name)
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


_HARDWARE = {0xFFFE02FF: 0xFFFE0201, 0xFFFE03FF: 0xFFFE0300,
             0xFFFF02FF: 0xFFFF0201, 0xFFFF03FF: 0xFFFF0300}  # fmt: skip
"""Hardware versions with the instructions of software shader versions (vs_2_sw and others)."""


def hardware_of(call: Arguments) -> list[int]:
    """Shader code as drivers take it: with a hardware version instead of a software one."""
    code = code_of(call)
    return [_HARDWARE.get(word, word) for word in code[:1]] + code[1:]


@on(DEVICES, "CreateVertexShader")
def create_vertex_shader(program: Program, call: Arguments) -> None:
    """A vertex function; one for software is taken for one of hardware."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_vertex_shader(hardware_of(call)))


@on(DEVICES, "CreatePixelShader")
def create_pixel_shader(program: Program, call: Arguments) -> None:
    """A pixel shader."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_pixel_shader(hardware_of(call)))


@on(DEVICES, "SetVertexShader")
def set_vertex_shader(program: Program, call: Arguments) -> None:
    """A vertex function, or fixed-function processing."""
    application(call).mirror.put("vertex_shader", optional(call, VertexShader, "pShader"))


@on(DEVICES, "SetPixelShader")
def set_pixel_shader(program: Program, call: Arguments) -> None:
    """A pixel shader, or the texture stages."""
    application(call).mirror.put("pixel_shader", optional(call, PixelShader, "pShader"))


@on(DEVICES, "GetVertexShader")
def get_vertex_shader(program: Program, call: Arguments) -> None:
    """The address of what is set."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.mirror.get("vertex_shader"))


@on(DEVICES, "GetPixelShader")
def get_pixel_shader(program: Program, call: Arguments) -> None:
    """The address of what is set."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.mirror.get("pixel_shader"))


def put_constants(app: Application, setting: str, first: int, values: list[Any]) -> None:
    """Constant registers from ``first`` on.  Raises Inexpressible for those that hardware lacks,
    which software vertex processing has; the others are set.
    """
    room = max(REGISTERS[setting] - first, 0)
    app.mirror.put_rows(setting, first, values[:room])
    if len(values) > room:
        raise Inexpressible(f"{len(values) - room} constants from {first + room} on")


def _rows(call: Arguments, setting: str, size: int) -> None:
    """Constant registers of ``size`` numbers each, from the first on."""
    kind = setting.partition("_")[2]
    flat = call.reals("pConstantData") if kind == "floats" else call.integers("pConstantData")
    rows = [tuple(flat[i : i + size]) for i in range(0, len(flat) // size * size, size)]
    values: list[Any] = [row[0] != 0 for row in rows] if kind == "booleans" else rows
    put_constants(application(call), setting, call.integer("StartRegister"), values)


@on(DEVICES, "SetVertexShaderConstantF")
def set_vertex_constants(program: Program, call: Arguments) -> None:
    """Float constants of vertices."""
    _rows(call, "vertex_floats", 4)


@on(DEVICES, "SetVertexShaderConstantI")
def set_vertex_integers(program: Program, call: Arguments) -> None:
    """Integer constants of vertices."""
    _rows(call, "vertex_integers", 4)


@on(DEVICES, "SetVertexShaderConstantB")
def set_vertex_booleans(program: Program, call: Arguments) -> None:
    """Boolean constants of vertices."""
    _rows(call, "vertex_booleans", 1)


@on(DEVICES, "SetPixelShaderConstantF")
def set_pixel_constants(program: Program, call: Arguments) -> None:
    """Float constants of pixels."""
    _rows(call, "pixel_floats", 4)


@on(DEVICES, "SetPixelShaderConstantI")
def set_pixel_integers(program: Program, call: Arguments) -> None:
    """Integer constants of pixels."""
    _rows(call, "pixel_integers", 4)


@on(DEVICES, "SetPixelShaderConstantB")
def set_pixel_booleans(program: Program, call: Arguments) -> None:
    """Boolean constants of pixels."""
    _rows(call, "pixel_booleans", 1)
