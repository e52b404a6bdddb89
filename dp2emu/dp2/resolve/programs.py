"""Programs of a draw: created shaders, or programs generated for the fixed function.

Source: wire format, "Shaders and constants", and the Direct3D documentation of the fixed function
and of the texture stage states.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from dp2emu.d3d.declarations import Declaration8
from dp2emu.d3d.enums import (
    DeclMethod,
    RenderState,
    TextureArgument,
    TextureOp,
    TextureStageState,
    TextureTransformFlags,
)
from dp2emu.d3d.flags import ArgumentModifier
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.vertices import (
    MESH_METHODS,
    Element,
    VertexLayout,
    check_drawable,
    elements_by_name,
)
from dp2emu.dp2.resolve.fixed_function import (
    color,
    coordinates_given,
    fixed_vertex,
    pixel_fog,
    pixel_fog_uniforms,
)
from dp2emu.dp2.resolve.raster7 import monochrome
from dp2emu.dp2.resolve.samplers import BoundTextures, keyed, samplers
from dp2emu.dp2.shaders import Function, lowered_pixel, lowered_vertex
from dp2emu.dp2.states.constants import Constants
from dp2emu.dp2.states.raw_state import VERTEX_SAMPLER, State, bits_float
from dp2emu.dp2.states.stage7 import blended_stage
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import Textures, Uniforms
from dp2emu.gpu.command.pipeline import Attribute, Samplers
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.fixed.fog import Fog
from dp2emu.shader.fixed.pixel import (
    CURRENT,
    DISABLED,
    OPERATIONS,
    Argument,
    Combination,
    FixedPixel,
    TextureStage,
    pixel_program,
    reads_texture,
    stage_uniforms,
)
from dp2emu.shader.fixed.records import FixedVertex
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.ir import Program, Sample, TextureKind, walk
from dp2emu.shader.ports import varying
from dp2emu.shader.sm.lower import InputRegister, Lowered, overlay_constants
from dp2emu.shader.sm.versions import V1_4, V2_0
from dp2emu.shader.stages import STAGE_FILES, STAGES
from dp2emu.shader.types import F32, Lanes

_TEXCOORD = "texcoord"
_WRAPS = [RenderState[f"WRAP{number}"] for number in range(16)]


class Source(msgspec.Struct, frozen=True, eq=False):
    """Vertex layout, vertex shader and pixel shader of a draw; a shader None is the fixed
    function.

    ``tokens`` is the declaration if it is one of DirectX 8.  ``methods`` are the tessellator
    methods that vertex elements may have.
    """

    layout: VertexLayout
    function: Function | None = None
    pixel: Function | None = None
    tokens: Declaration8 | None = None
    methods: Container[DeclMethod] = MESH_METHODS

    @property
    def reads_vertices(self) -> bool:
        """Whether a draw reads vertices: always, but for a vertex shader without inputs."""
        return self.layout.transformed or self.function is None or self.function.reads_inputs


class VertexStage(msgspec.Struct, frozen=True, eq=False):
    """The vertex program, None for transformed vertices, with its attributes and textures.

    One of two says where its uniforms come from: ``shader`` is a lowered vertex shader (constant
    registers), ``fixed`` the key of a fixed-function program.
    """

    program: Program | None = None
    attributes: tuple[Attribute, ...] = ()
    fixed: FixedVertex | None = None
    shader: Lowered | None = None
    samplers: Samplers = ()
    textures: Textures = msgspec.field(default_factory=dict)


class PixelStage(msgspec.Struct, frozen=True, eq=False):
    """The pixel program; ``shader`` is None if texture stages, not a shader, define it."""

    program: Program
    uniforms: Uniforms
    shader: Lowered | None = None
    samplers: Samplers = ()
    textures: Textures = msgspec.field(default_factory=dict)


def pixel_stage(state: State, source: Source, interface: int, bound: BoundTextures) -> PixelStage:
    """The pixel stage of a draw: of the shader or, without one, of the texture stage cascade."""
    lowered = None
    fog = pixel_fog(state)
    if source.pixel is None:
        program = _cascade_program(state, source, fog, interface, bound)
    else:
        lowered = _lowered_pixel(state, source, source.pixel, fog, bound)
        program = lowered.program
    uniforms: Uniforms = pixel_fog_uniforms(state) if fog else {}
    if STAGE_FILES & {file.name for file in program.files}:
        uniforms = {**uniforms, **cascade_uniforms(state)}
    used = ((number, number, kind) for number, kind in _sampled(program))
    keys, textures = samplers(state, interface, bound, used)
    return PixelStage(program, uniforms, lowered, keys, textures)


def _cascade_program(
    state: State, source: Source, fog: Fog | None, interface: int, bound: BoundTextures
) -> Program:
    kinds = {stage: texture.kind for stage, texture in bound.items()}
    transparent = 0 in bound and keyed(state, interface, bound[0])
    alpha = bound[0].alpha if 0 in bound else 0
    stages = cascade(state, kinds, alpha, source)
    specular = bool(state.render_states[RenderState.SPECULARENABLE])
    kills = transparent and _drops_keyed(state, stages)
    mono = monochrome(state.render_states, interface)
    return pixel_program(FixedPixel(stages, specular, fog, kills, mono))


def _drops_keyed(state: State, stages: Sequence[TextureStage]) -> bool:
    """Whether a texel with the colour key, in stage 0, drops the pixel.

    With COLORKEYBLENDENABLE it does not: blending and the alpha test decide.
    """
    if state.render_states[RenderState7.COLORKEYBLENDENABLE]:
        return False
    return any(reads_texture(stage.color) or reads_texture(stage.alpha) for stage in stages[:1])


def _lowered_pixel(
    state: State, source: Source, function: Function, fog: Fog | None, bound: BoundTextures
) -> Lowered:
    """A pixel shader, specialised for the bound textures.

    Shaders 1.x take the kind of texture from the stage, and before 1.4 its projection too.  All
    versions compare with a depth texture that a sampler declared 2D reads.
    """
    level = function.shader.version.level
    projections: tuple[tuple[int, int], ...] = ()
    told = {TextureKind.SHADOW} if level >= V2_0 else set(TextureKind) - {TextureKind.TEX2D}
    kinds = tuple((n, t.kind) for n, t in sorted(bound.items()) if t.kind in told)
    if level < V1_4:
        divisors = ((stage, projection(state, stage, source)) for stage in range(STAGES))
        projections = tuple((stage, by) for stage, by in divisors if by is not None)
    return lowered_pixel(function.code, fog, kinds, projections)


@identity_cached()
def _sampled(program: Program) -> tuple[tuple[int, TextureKind], ...]:
    """Samplers that a program uses, and the kind of texture that each expects."""
    found = {(s.sampler, s.kind) for s in walk(program.statements) if isinstance(s, Sample)}
    return tuple(sorted(found, key=lambda each: each[0]))


def vertex_stage(
    state: State, source: Source, pixel: Program, interface: int, bound: BoundTextures
) -> VertexStage:
    """The vertex stage of a draw; it has no program if the vertices are transformed already.

    Raises Fault for vertices without a position, Unsupported for unsupported elements.
    """
    layout = source.layout
    check_drawable(layout, source.methods)
    if layout.transformed:
        return VertexStage(attributes=_on_screen(state, layout, _texture_sets(pixel)))
    if source.function is not None:
        lowered = lowered_vertex(source.function.code)
        used = ((n, VERTEX_SAMPLER + n, kind) for n, kind in _sampled(lowered.program))
        keys, textures = samplers(state, interface, bound, used)
        attributes = tuple(Attribute(each.name, _element(source, each)) for each in lowered.inputs)
        return VertexStage(lowered.program, attributes, None, lowered, keys, textures)
    named = elements_by_name(layout)
    if "position0" not in named:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "vertices without position")
    key = fixed_vertex(state, layout, _texture_sets(pixel))
    attributes = tuple(Attribute(name, element) for name, element in named.items())
    return VertexStage(vertex_program(key), attributes, key)


def _texture_sets(pixel: Program) -> int:
    """Number of texture coordinate sets that the fixed function writes for a pixel program."""
    return min(max(_sets_read(pixel), default=-1) + 1, STAGES)


@identity_cached()
def _sets_read(pixel: Program) -> frozenset[int]:
    names = (varying(port.name).split(".")[0] for port in pixel.inputs)
    sets = (name.removeprefix(_TEXCOORD) for name in names if name.startswith(_TEXCOORD))
    return frozenset(map(int, sets))


def wraps(state: State, source: Source, pixel: Program) -> tuple[int, ...]:
    """D3DRS_WRAPn of each coordinate set a pixel program reads, up to the last that wraps.

    The fixed function takes n from D3DTSS_TEXCOORDINDEX of the stage, also for generated
    coordinates; a vertex shader's outputs wrap by their own number.
    """
    fixed = source.function is None or source.layout.transformed
    masks = [0] * len(_WRAPS)
    for number in _sets_read(pixel):
        named = _set_of(state, number) if fixed and number < STAGES else number
        if named < len(_WRAPS):
            masks[number] = state.render_states[_WRAPS[named]] & 0xF
    while masks and not masks[-1]:
        masks.pop()
    return tuple(masks)


def _set_of(state: State, stage: int) -> int:
    return state.stage(stage)[TextureStageState.TEXCOORDINDEX] & 0xFFFF


def _on_screen(state: State, layout: VertexLayout, sets: int) -> tuple[Attribute, ...]:
    """Input attributes of transformed vertices, with the coordinate set that each stage selects.

    Empty if stage n uses set n, as D3DTSS_TEXCOORDINDEX says, so that none need be renamed.
    """
    indices = [_set_of(state, n) for n in range(sets)]
    if indices == list(range(sets)):
        return ()
    named = elements_by_name(layout)
    wanted = {f"{_TEXCOORD}{n}": named.get(f"{_TEXCOORD}{i}") for n, i in enumerate(indices)}
    return tuple(Attribute(name, element) for name, element in {**named, **wanted}.items())


def _element(source: Source, found: InputRegister) -> Element | None:
    """The vertex element of an input register: by usage, or by register number in DirectX 8."""
    if found.usage is None:
        return source.tokens.element(found.register) if source.tokens else None
    wanted = (found.usage, found.index)
    return next((e for e in source.layout.elements if (e.usage, e.index) == wanted), None)


def constant_uniforms(constants: Constants, lowered: Lowered) -> Uniforms:
    """The current constant registers of a shader, overlaid with the constants it defines."""
    files = constants.files
    found: dict[str, Lanes] = {}
    for file in lowered.program.files:
        if file.name in files:
            values = files[file.name].values
            values = values.reshape(-1) != 0 if file.name == "b" else values
            found[file.name] = overlay_constants(file.name, values, lowered.constants).reshape(-1)
    return found


# The cascade of texture stages.  A stage whose colour reads an unbound texture ends the cascade as
# D3DTOP_DISABLE does; one whose alpha reads it leaves alpha unchanged.  An unknown operation or
# argument is a Fault if it is read.

_SELECT_MASK, _COUNT_MASK = 0xF, 0xFF
_E = TypeVar("_E", bound=SdkEnum)


class _States(NamedTuple):
    """The states with a stage's operation and its arguments 0, 1 and 2: of colour, or of alpha."""

    op: TextureStageState
    arguments: tuple[TextureStageState, TextureStageState, TextureStageState]


_COLOR = _States(
    TextureStageState.COLOROP,
    (TextureStageState.COLORARG0, TextureStageState.COLORARG1, TextureStageState.COLORARG2),
)
_ALPHA = _States(
    TextureStageState.ALPHAOP,
    (TextureStageState.ALPHAARG0, TextureStageState.ALPHAARG1, TextureStageState.ALPHAARG2),
)
_BUMPS = (
    TextureStageState.BUMPENVMAT00,
    TextureStageState.BUMPENVMAT01,
    TextureStageState.BUMPENVMAT10,
    TextureStageState.BUMPENVMAT11,
    TextureStageState.BUMPENVLSCALE,
    TextureStageState.BUMPENVLOFFSET,
)


def cascade(
    state: State, kinds: Mapping[int, TextureKind], alpha: int = 0, source: Source | None = None
) -> tuple[TextureStage, ...]:
    """The enabled texture stages, in order; ``kinds`` are the kinds of bound textures by stage.

    ``alpha`` is the largest alpha that the pixel format of stage 0's texture stores, for texture
    map blends; a colour key does not count.  Vertices without a ``source`` have four coordinates.
    """
    if state.map_blend:
        divisor = projection(state, 0, source)
        only = blended_stage(state.map_blend, kinds.get(0), divisor, alpha)
        return () if only is None else (only,)
    stages: list[TextureStage] = []
    for number in range(STAGES):
        stage = _stage(state, number, kinds.get(number), source)
        if stage is None:
            break
        stages.append(stage)
    return tuple(stages)


def _stage(
    state: State, number: int, texture: TextureKind | None, source: Source | None
) -> TextureStage | None:
    row = state.stage(number)
    color = _combination(row, number, _COLOR)
    if color.op is TextureOp.DISABLE or (texture is None and reads_texture(color)):
        return None
    alpha = DISABLED
    if color.op is not TextureOp.DOTPRODUCT3:
        alpha = _combination(row, number, _ALPHA)
    if texture is None and reads_texture(alpha):
        alpha = DISABLED
    temp = row[TextureStageState.RESULTARG] & _SELECT_MASK == TextureArgument.TEMP
    return TextureStage(color, alpha, temp, texture, projection(state, number, source))


def _combination(row: Sequence[int], stage: int, states: _States) -> Combination:
    """An operation with its arguments; those that it does not read are CURRENT, so that they do
    not change the key of the program.
    """
    op = _member(TextureOp, row[states.op], states.op, stage)
    read = OPERATIONS[op].arguments
    zero, one, two = (
        _argument(row[state], state, stage) if place in read else CURRENT
        for place, state in enumerate(states.arguments)
    )
    return Combination(op, (zero, one, two))


def _argument(value: int, state: TextureStageState, stage: int) -> Argument:
    return Argument(
        _member(TextureArgument, value & _SELECT_MASK, state, stage),
        bool(value & ArgumentModifier.COMPLEMENT),
        bool(value & ArgumentModifier.ALPHAREPLICATE),
    )


def _member(enum: type[_E], value: int, state: TextureStageState, stage: int) -> _E:
    try:
        return enum(value)
    except ValueError:
        what = f"{state.sdk} of stage {stage} is {value}, which is no {enum.__name__}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what) from None


def projection(state: State, stage: int, source: Source | None = None) -> int | None:
    """The index, 1 to 3, of the coordinate by which D3DTTFF_PROJECTED divides, or None.

    It is the last of the coordinates that D3DTTFF_COUNTn outputs, or that vertices have if n is 0
    or above 4; after a vertex shader the fourth.  A single coordinate is not divided.
    """
    flags = state.stage(stage)[TextureStageState.TEXTURETRANSFORMFLAGS]
    if not flags & TextureTransformFlags.PROJECTED:
        return None
    count = flags & _COUNT_MASK
    if source is not None and source.function is not None:
        count = 4
    elif not 1 <= count <= 4:
        count = coordinates_given(state, source.layout, stage) if source is not None else 4
    return count - 1 if count > 1 else None


def cascade_uniforms(state: State) -> dict[str, F32]:
    """The uniforms of texture stages, for the cascade and for pixel shaders."""
    rows = [state.stage(stage) for stage in range(STAGES)]
    return stage_uniforms(
        color(state.render_states[RenderState.TEXTUREFACTOR]),
        [color(row[TextureStageState.CONSTANT]) for row in rows],
        [[bits_float(row[number]) for number in _BUMPS] for row in rows],
    )
