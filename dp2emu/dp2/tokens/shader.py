"""Shaders, declarations and their constants (wire format, "Shaders and constants")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from construct import Array

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.words import BYTE, DWORD, FLOAT, LONG
from dp2emu.dp2.states.setting_kinds import ONLY, Kind
from dp2emu.dp2.table import Body, Tail, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

_Part = tuple[str, Any, Callable[[Any], int]]


def _code(name: str, size: str) -> tuple[_Part, _Part]:
    """The parts of a ``Tail`` that has ``item[size]`` bytes: DWORDs, and single bytes at the end
    if the size is no multiple of 4.
    """
    return (
        (name, DWORD, lambda item: int(item[size]) // 4),
        (f"{name}_rest", BYTE, lambda item: int(item[size]) % 4),
    )


def _constants(element: Any) -> Tail:
    return Tail((("values", element, lambda item: int(item["dwCount"])),))


_FLOATS = _constants(Array(4, FLOAT))
_INTEGERS = _constants(Array(4, LONG))
_BOOLEANS = _constants(DWORD)


def _write(context: Context, file: Kind, body: Body) -> None:
    for (first, _), data in zip(body.items.tolist(), body.tails, strict=True):
        context.put(file, first, data)


@token(
    Op.CREATEVERTEXSHADER,
    "2D 00 01 00 03 00 00 00 0C 00 00 00 08 00 00 00"
    " 00 00 00 20 00 00 02 40 FF FF FF FF 01 01 FE FF FF FF 00 00",
    items=structs.D3DHAL_DP2CREATEVERTEXSHADER,
    tail=Tail((*_code("declaration", "dwDeclSize"), *_code("code", "dwCodeSize"))),
)
def create_vertex_shader(context: Context, body: Body) -> None:
    """Create DirectX 8 vertex shaders: declaration, then code, of each."""
    for (handle, size, _), data in zip(body.items.tolist(), body.tails, strict=True):
        context.shaders.create_vertex_shader(handle, bytes(data[:size]), bytes(data[size:]))


@token(Op.DELETEVERTEXSHADER, "2E 00 01 00 03 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def delete_vertex_shader(context: Context, body: Body) -> None:
    """Delete DirectX 8 vertex shaders."""
    for (handle,) in body.items.tolist():
        context.shaders.delete_vertex_shader(handle)


@token(Op.SETVERTEXSHADER, "2F 00 01 00 44 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def set_vertex_shader(context: Context, body: Body) -> None:
    """Set the vertex format: an FVF code, or a created shader if bit 0 is set; 0 is none."""
    for (handle,) in body.items.tolist():
        context.put(Kind.VERTEX_SHADER, ONLY, handle)


@token(
    Op.SETVERTEXSHADERCONST,
    "30 00 01 00 00 00 00 00 01 00 00 00" + 4 * " 00 00 80 3F",
    items=structs.D3DHAL_DP2SETVERTEXSHADERCONST,
    tail=_FLOATS,
)
def set_vertex_shader_const(context: Context, body: Body) -> None:
    """Set float vertex constants, four floats a register."""
    _write(context, Kind.VERTEX_FLOATS, body)


@token(
    Op.CREATEPIXELSHADER,
    "36 00 01 00 02 00 00 00 08 00 00 00 01 01 FF FF FF FF 00 00",
    items=structs.D3DHAL_DP2CREATEPIXELSHADER,
    tail=Tail(_code("code", "dwCodeSize")),
)
def create_pixel_shader(context: Context, body: Body) -> None:
    """Create pixel shaders; the code follows its element."""
    for (handle, _), data in zip(body.items.tolist(), body.tails, strict=True):
        context.shaders.create_pixel_shader(handle, bytes(data))


@token(Op.DELETEPIXELSHADER, "37 00 01 00 02 00 00 00", items=structs.D3DHAL_DP2PIXELSHADER)
def delete_pixel_shader(context: Context, body: Body) -> None:
    """Delete pixel shaders."""
    for (handle,) in body.items.tolist():
        context.shaders.delete_pixel_shader(handle)


@token(Op.SETPIXELSHADER, "38 00 01 00 00 00 00 00", items=structs.D3DHAL_DP2PIXELSHADER)
def set_pixel_shader(context: Context, body: Body) -> None:
    """Set the pixel shader; 0 is the fixed-function texture stages."""
    for (handle,) in body.items.tolist():
        context.put(Kind.PIXEL_SHADER, ONLY, handle)


@token(
    Op.SETPIXELSHADERCONST,
    "39 00 01 00 00 00 00 00 01 00 00 00" + 4 * " 00 00 80 3F",
    items=structs.D3DHAL_DP2SETPIXELSHADERCONST,
    tail=_FLOATS,
)
def set_pixel_shader_const(context: Context, body: Body) -> None:
    """Set float pixel constants, four floats a register."""
    _write(context, Kind.PIXEL_FLOATS, body)


@token(
    Op.CREATEVERTEXSHADERDECL,
    "47 00 01 00 05 00 00 00 01 00 00 00 00 00 00 00 03 00 09 00",
    items=structs.D3DHAL_DP2CREATEVERTEXSHADERDECL,
    tail=Tail(
        (("elements", structs.D3DVERTEXELEMENT9, lambda item: int(item["dwNumVertexElements"])),)
    ),
)
def create_vertex_shader_decl(context: Context, body: Body) -> None:
    """Create vertex declarations; elements come without the end."""
    for (handle, _), data in zip(body.items.tolist(), body.tails, strict=True):
        context.shaders.create_declaration(handle, bytes(data))


@token(Op.DELETEVERTEXSHADERDECL, "48 00 01 00 05 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def delete_vertex_shader_decl(context: Context, body: Body) -> None:
    """Delete vertex declarations."""
    for (handle,) in body.items.tolist():
        context.shaders.delete_declaration(handle)


@token(Op.SETVERTEXSHADERDECL, "49 00 01 00 44 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def set_vertex_shader_decl(context: Context, body: Body) -> None:
    """Set the vertex format: an FVF code, or a created declaration if bit 0 is set."""
    for (handle,) in body.items.tolist():
        context.put(Kind.DECLARATION, ONLY, handle)


@token(
    Op.CREATEVERTEXSHADERFUNC,
    "4A 00 01 00 03 00 00 00 08 00 00 00 00 02 FE FF FF FF 00 00",
    items=structs.D3DHAL_DP2CREATEVERTEXSHADERFUNC,
    tail=Tail(_code("code", "dwSize")),
)
def create_vertex_shader_func(context: Context, body: Body) -> None:
    """Create DirectX 9 vertex shader functions."""
    for (handle, _), data in zip(body.items.tolist(), body.tails, strict=True):
        context.shaders.create_function(handle, bytes(data))


@token(Op.DELETEVERTEXSHADERFUNC, "4B 00 01 00 03 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def delete_vertex_shader_func(context: Context, body: Body) -> None:
    """Delete DirectX 9 vertex shader functions."""
    for (handle,) in body.items.tolist():
        context.shaders.delete_function(handle)


@token(Op.SETVERTEXSHADERFUNC, "4C 00 01 00 00 00 00 00", items=structs.D3DHAL_DP2VERTEXSHADER)
def set_vertex_shader_func(context: Context, body: Body) -> None:
    """Set the vertex shader function; 0 is fixed-function vertex processing."""
    for (handle,) in body.items.tolist():
        context.put(Kind.FUNCTION, ONLY, handle)


@token(
    Op.SETVERTEXSHADERCONSTI,
    "4D 00 01 00 00 00 00 00 01 00 00 00" + 4 * " 01 00 00 00",
    items=structs.D3DHAL_DP2SETVERTEXSHADERCONST,
    tail=_INTEGERS,
)
def set_vertex_shader_const_i(context: Context, body: Body) -> None:
    """Set integer vertex constants, four a register."""
    _write(context, Kind.VERTEX_INTEGERS, body)


@token(
    Op.SETVERTEXSHADERCONSTB,
    "53 00 01 00 00 00 00 00 02 00 00 00 01 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2SETVERTEXSHADERCONST,
    tail=_BOOLEANS,
)
def set_vertex_shader_const_b(context: Context, body: Body) -> None:
    """Set boolean vertex constants, one BOOL a register."""
    _write(context, Kind.VERTEX_BOOLEANS, body)


@token(
    Op.SETPIXELSHADERCONSTI,
    "5D 00 01 00 00 00 00 00 01 00 00 00" + 4 * " 01 00 00 00",
    items=structs.D3DHAL_DP2SETPIXELSHADERCONST,
    tail=_INTEGERS,
)
def set_pixel_shader_const_i(context: Context, body: Body) -> None:
    """Set integer pixel constants, four a register."""
    _write(context, Kind.PIXEL_INTEGERS, body)


@token(
    Op.SETPIXELSHADERCONSTB,
    "5E 00 01 00 00 00 00 00 02 00 00 00 01 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2SETPIXELSHADERCONST,
    tail=_BOOLEANS,
)
def set_pixel_shader_const_b(context: Context, body: Body) -> None:
    """Set boolean pixel constants, one BOOL a register."""
    _write(context, Kind.PIXEL_BOOLEANS, body)
