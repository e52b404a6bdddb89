"""Shaders and vertex declarations of one context: created, set and deleted by handle.

Programs are decoded and lowered when they are created, so that a bad one fails there and not at a
draw (wire format, "Shaders and constants").
"""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from dp2emu.d3d.declarations import Declaration8, declaration8, declaration9
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import VertexLayout
from dp2emu.dp2.options import check_memory
from dp2emu.dp2.states.constants import Constants
from dp2emu.errors import Fault, ShaderError
from dp2emu.limits import GENEROUS, Limits
from dp2emu.shader.compile_work import CompileBudget, TooLong
from dp2emu.shader.fixed.fog import Fog, blend_fog
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.program_cache import programs_cached
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower import Lowered, lower_pixel, lower_vertex
from dp2emu.shader.sm.program import Shader
from dp2emu.shader.sm.versions import V2_SW, V3_0, V3_SW, Stage

CODE_BYTES = 1 << 20
"""Maximum number of bytes of a shader program or vertex declaration."""

_T = TypeVar("_T", "Function", "Format")


class Function(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A created shader: its code and decoded program.  Compared and hashed by identity."""

    handle: int
    code: bytes
    shader: Shader

    @property
    def size(self) -> int:
        """Bytes of the shader's code."""
        return len(self.code)

    @cached_property
    def reads_inputs(self) -> bool:
        """Whether the shader reads an input register v#."""
        return self.shader.reads_inputs


class Format(msgspec.Struct, frozen=True, eq=False):
    """A vertex declaration that was created; ``size`` is the bytes of its code.

    Of DirectX 8 it has ``tokens``, with constants and registers, and a vertex shader ``function``,
    None for fixed function.
    """

    handle: int
    size: int
    layout: VertexLayout
    tokens: Declaration8 | None = None
    function: Function | None = None


class Table(Generic[_T]):
    """Live shaders or vertex declarations by handle.  Mutable: tokens create and delete them."""

    def __init__(self, noun: str, limits: Limits) -> None:
        self._limits = limits
        self.noun = noun
        self._live: dict[int, _T] = {}
        self._bytes = 0

    def add(self, created: _T) -> None:
        """Add an object; one that already has the handle is replaced."""
        old = self._live.get(created.handle)
        total = self._bytes + created.size - (old.size if old else 0)
        number = len(self._live) + (old is None)
        what = f"{self.noun} {created.handle} is too much"
        check_memory(self._limits, "shader_bytes", total, what)
        check_memory(self._limits, "objects", number, what)
        self._live[created.handle] = created
        self._bytes = total

    def delete(self, handle: int) -> None:
        """Delete a handle; its object, if set for drawing, stays set.  Raises Fault if unknown."""
        self._bytes -= self.find(handle, HResult.DDERR_INVALIDPARAMS).size
        del self._live[handle]

    def find(self, handle: int, hr: int = HResult.D3DERR_DRIVERINVALIDCALL) -> _T:
        """The object of a handle.  Raises Fault with ``hr`` if it is unknown."""
        found = self._live.get(handle)
        if found is None:
            raise Fault(hr, f"no {self.noun} {handle}")
        return found


class Shaders:
    """The shaders and vertex declarations of a context.  Mutable: tokens act on it.

    ``vertex_format`` is the last one set, an FVF code or, with bit 0, the handle of ``format``.
    ``function`` and ``pixel`` are the current shaders, None for fixed function; ``has_dividers``
    says whether stream frequencies without flags count.  Methods raise Fault:
    D3DERR_DRIVERINVALIDCALL for a bad program or handle to create or set, DDERR_INVALIDPARAMS for
    an unknown handle to delete, DDERR_OUTOFMEMORY beyond the limits.
    """

    def __init__(
        self,
        vertex_constants: Constants,
        limits: Limits = GENEROUS,
        compiles: CompileBudget | None = None,
    ) -> None:
        self._compiles = compiles or CompileBudget(limits)
        self.version = 0
        self.vertex_format = 0
        self.format: Format | None = None
        self.function: Function | None = None
        self.pixel: Function | None = None
        self.has_dividers = False
        self._vertex_constants = vertex_constants
        self._shaders8: Table[Format] = Table("vertex shader", limits)
        self._declarations: Table[Format] = Table("vertex declaration", limits)
        self._functions: Table[Function] = Table("vertex shader function", limits)
        self._pixels: Table[Function] = Table("pixel shader", limits)

    # DirectX 8

    def create_vertex_shader(self, handle: int, declaration: bytes, code: bytes) -> None:
        """CREATEVERTEXSHADER; without code it is a declaration for the fixed function."""
        _check(handle, len(declaration) + len(code), bit=True)
        tokens = declaration8(declaration, programmable=bool(code))
        function = self._function(handle, code, Stage.VERTEX) if code else None
        size = len(declaration) + len(code)
        self._shaders8.add(Format(handle, size, tokens.layout, tokens, function))

    def delete_vertex_shader(self, handle: int) -> None:
        """DELETEVERTEXSHADER: delete a DirectX 8 shader handle."""
        self._shaders8.delete(handle)

    def set_vertex_shader(self, handle: int) -> None:
        """SETVERTEXSHADER: set an FVF code or a shader, and load its constants."""
        self._set_format(handle, self._shaders8)
        self._use(self.format.function if self.format else None)
        tokens = self.format.tokens if self.format else None
        for first, words in tokens.constants if tokens else ():
            self._vertex_constants.write("c", first, struct.pack(f"<{len(words)}I", *words))

    # DirectX 9

    def create_declaration(self, handle: int, elements: bytes) -> None:
        """CREATEVERTEXSHADERDECL: create a DirectX 9 vertex declaration."""
        _check(handle, len(elements), bit=True)
        self._declarations.add(Format(handle, len(elements), declaration9(elements)))

    def delete_declaration(self, handle: int) -> None:
        """DELETEVERTEXSHADERDECL: delete a vertex declaration handle."""
        self._declarations.delete(handle)

    def set_declaration(self, handle: int) -> None:
        """SETVERTEXSHADERDECL: set an FVF code or a created declaration."""
        self._set_format(handle, self._declarations)

    def create_function(self, handle: int, code: bytes) -> None:
        """CREATEVERTEXSHADERFUNC: create a DirectX 9 vertex shader."""
        _check(handle, len(code))
        self._functions.add(self._function(handle, code, Stage.VERTEX))

    def delete_function(self, handle: int) -> None:
        """DELETEVERTEXSHADERFUNC: delete a vertex shader handle."""
        self._functions.delete(handle)

    def set_function(self, handle: int) -> None:
        """SETVERTEXSHADERFUNC: set a vertex shader; 0 is fixed function."""
        self._use(self._functions.find(handle) if handle else None)
        self.version += 1

    def _use(self, function: Function | None) -> None:
        """Set the vertex shader, None for fixed function, and ``has_dividers``: from vs_3_0 on
        stream frequencies without flags count (wire format, "Stream frequency").
        """
        self.function = function
        self.has_dividers = function is not None and function.shader.version.level >= V3_0

    # Pixel shaders

    def create_pixel_shader(self, handle: int, code: bytes) -> None:
        """CREATEPIXELSHADER: create a pixel shader."""
        _check(handle, len(code))
        self._pixels.add(self._function(handle, code, Stage.PIXEL))

    def delete_pixel_shader(self, handle: int) -> None:
        """DELETEPIXELSHADER: delete a pixel shader handle."""
        self._pixels.delete(handle)

    def set_pixel_shader(self, handle: int) -> None:
        """SETPIXELSHADER: set a pixel shader; 0 is fixed function."""
        self.pixel = self._pixels.find(handle) if handle else None
        self.version += 1

    def _function(self, handle: int, code: bytes, stage: Stage) -> Function:
        """A decoded shader.  Raises Fault for a bad one, Exceeded for too much compile work."""
        made: tuple[Function, Lowered] = self._compiles.shader(
            (stage, code), lambda: _function(handle, code, stage), lambda made: [made[1].program]
        )
        return made[0]

    def _set_format(self, handle: int, table: Table[Format]) -> None:
        self.format = table.find(handle) if handle & 1 else None
        self.vertex_format = handle
        self.version += 1


def _check(handle: int, size: int, *, bit: bool = False) -> None:
    """Raises Fault for ``size`` above ``CODE_BYTES``, handle 0 or, if ``bit``, an even handle."""
    if handle == 0 or (bit and not handle & 1):
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"handle {handle:#x} cannot be created")
    if size > CODE_BYTES:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"{size} bytes of code")


def _slots(lowered: Lowered) -> int:
    return len(lowered.program.slots)


@programs_cached(_slots)
def lowered_vertex(code: bytes) -> Lowered:
    """The IR program of a vertex shader, cached by its code: drivers and handles share it."""
    return lower_vertex(decode(code))


@programs_cached(_slots)
def lowered_pixel(
    code: bytes,
    fog: Fog | None,
    kinds: tuple[tuple[int, TextureKind], ...] = (),
    projections: tuple[tuple[int, int], ...] = (),
) -> Lowered:
    """The program of a pixel shader, cached by code, with fog appended if its version has fog.

    ``kinds`` are pairs of sampler number and texture kind, ``projections`` of texture stage and
    index of the coordinate to divide by.
    """
    epilogue = None if fog is None else lambda b, rgb: blend_fog(b, fog, rgb)
    return lower_pixel(
        decode(code), sampler_kinds=dict(kinds), projections=dict(projections), epilogue=epilogue
    )


def _function(handle: int, code: bytes, stage: Stage) -> tuple[Function, Lowered]:
    try:
        function = Function(handle, code, decode(code))
        _check_version(function, stage)
        # Some errors are found by lowering only, and creation must report them.
        lowered = lowered_vertex(code) if stage is Stage.VERTEX else lowered_pixel(code, None)
    except TooLong:
        raise
    except ShaderError as error:
        place = f" at byte {error.offset:#x} of the code" if error.offset is not None else ""
        what = f"shader {handle}: {error.what}{place}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what) from None
    return function, lowered


def _check_version(function: Function, stage: Stage) -> None:
    """Raises ShaderError for a shader that is not one of ``stage``, or is for software processing
    only.
    """
    version = function.shader.version
    if version.stage is not stage or version.level in (V2_SW, V3_SW):
        raise ShaderError(f"its version is {version.name}")
