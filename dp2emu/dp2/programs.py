"""Programs a draw runs: created shaders, or what the fixed function is generated as."""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.d3d.declarations import Declaration8
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import Element, VertexLayout, check_drawable
from dp2emu.dp2.constants import Constants
from dp2emu.dp2.fixed import fixed_state, fixed_vertex, pixel_fog, pixel_fog_uniforms
from dp2emu.dp2.shaders import Function, lowered_pixel, lowered_vertex
from dp2emu.dp2.state import State
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.packets import Uniforms
from dp2emu.gpu.state import Attribute
from dp2emu.shader.fixed import FixedPixel, pixel_program, vertex_program, vertex_uniforms
from dp2emu.shader.ir import Program
from dp2emu.shader.sm.lower import InputRegister, Lowered, overlaid

_TEXCOORD = "texcoord"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What vertices are, and the shaders they and their pixels go through; None: none.

    ``tokens`` is the declaration if it is one of DirectX 8.
    """

    layout: VertexLayout
    function: Function | None = None
    pixel: Function | None = None
    tokens: Declaration8 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class VertexStage:
    """The vertex program, None for vertices on the screen, and what feeds it.

    ``shader`` is set if its numbers are constant registers; otherwise they are ``uniforms``.
    """

    program: Program | None = None
    attributes: tuple[Attribute, ...] = ()
    uniforms: Uniforms | None = None
    shader: Lowered | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PixelStage:
    """The pixel program, and the numbers of its fog.  ``shader`` as in ``VertexStage``."""

    program: Program
    uniforms: Uniforms
    shader: Lowered | None = None


def pixel_stage(state: State, function: Function | None, *, specular: bool) -> PixelStage:
    """What pixels go through.  Raises Unsupported for a shader that samples textures."""
    fog = pixel_fog(state)
    uniforms = pixel_fog_uniforms(state) if fog else {}
    if function is None:
        return PixelStage(pixel_program(FixedPixel(specular=specular, fog=fog)), uniforms)
    lowered = lowered_pixel(function, fog)
    if lowered.samplers:
        raise Unsupported("texturing")
    return PixelStage(lowered.program, uniforms, lowered)


def vertex_stage(state: State, source: Source, pixel: Program) -> VertexStage:
    """What vertices go through.  A vertex shader leaves vertices on the screen alone.

    Raises Fault for vertices without a position, Unsupported for what is not built.
    """
    layout = source.layout
    if source.tokens is not None:
        source.tokens.check_drawable()
    check_drawable(layout)
    if layout.transformed:
        return VertexStage()
    if source.function is not None:
        return _programmable(source, lowered_vertex(source.function))
    named = {f"{e.usage.name.lower()}{e.index}": e for e in reversed(layout.elements)}
    if "position0" not in named:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "vertices without position")
    key = fixed_vertex(state, layout, _texture_sets(pixel))
    attributes = tuple(Attribute(name, element) for name, element in named.items())
    uniforms = vertex_uniforms(key, fixed_state(state))
    return VertexStage(vertex_program(key), attributes, uniforms)


def _texture_sets(pixel: Program) -> int:
    """How many texture coordinate sets a pixel program can see."""
    names = (port.name.split(".")[0] for port in pixel.inputs)
    sets = [int(name.removeprefix(_TEXCOORD)) for name in names if name.startswith(_TEXCOORD)]
    return min(max(sets, default=-1) + 1, 8)


def _programmable(source: Source, lowered: Lowered) -> VertexStage:
    if lowered.samplers:
        raise Unsupported("vertex texturing")
    attributes = tuple(Attribute(each.name, _element(source, each)) for each in lowered.inputs)
    return VertexStage(lowered.program, attributes, None, lowered)


def _element(source: Source, found: InputRegister) -> Element | None:
    """The element an input register reads: by usage, or by number as in DirectX 8."""
    if found.usage is None:
        return source.tokens.element(found.register) if source.tokens else None
    wanted = (found.usage, found.index)
    return next((e for e in source.layout.elements if (e.usage, e.index) == wanted), None)


def constant_uniforms(constants: Constants, lowered: Lowered) -> Uniforms:
    """The constant registers as they are now, with the shader's own on top."""
    files = constants.files
    uploaded = {
        "c": files["c"].values,
        "i": files["i"].values,
        "b": files["b"].values.reshape(-1) != 0,
    }
    return {
        name: overlaid(name, values, lowered.constants).reshape(-1)
        for name, values in uploaded.items()
    }
