"""Objects of a Direct3D 9 device, and the structures that its methods take."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from dp2emu.d3d.enums import (
    Basis,
    ComposeRectsOp,
    DeclMethod,
    DeclType,
    DeclUsage,
    Degree,
    LightType,
)
from dp2emu.errors import ShaderError
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.shader.sm.decode import decode

Color = tuple[float, float, float, float]
"""A colour as the floats red, green, blue and alpha."""
Triple = tuple[float, float, float]

_BLACK: Color = (0.0, 0.0, 0.0, 0.0)
_ORIGIN: Triple = (0.0, 0.0, 0.0)


class IndexBuffer(msgspec.Struct, frozen=True):
    """An index buffer: its surface, and the ``size`` of an index, 2 or 4 bytes."""

    desc: SurfaceDesc
    size: int


class Texture(msgspec.Struct, frozen=True):
    """IDirect3DTexture9, IDirect3DCubeTexture9 or IDirect3DVolumeTexture9."""

    desc: SurfaceDesc


class Declaration(msgspec.Struct, frozen=True):
    """IDirect3DVertexDeclaration9."""

    handle: int


@lru_cache(maxsize=256)
def _reads_inputs(code: bytes) -> bool:
    try:
        return decode(code).reads_inputs
    except ShaderError:
        return True


class VertexShader(msgspec.Struct, frozen=True):
    """IDirect3DVertexShader9; ``code`` is the code of a Direct3D 9 shader."""

    handle: int
    code: bytes = b""

    @property
    def reads_vertices(self) -> bool:
        """Whether the shader has inputs; True for code that is not valid."""
        return not self.code or _reads_inputs(self.code)


class PixelShader(msgspec.Struct, frozen=True):
    """IDirect3DPixelShader9."""

    handle: int


Program = Declaration | VertexShader | PixelShader
PROGRAMS = (Declaration, VertexShader, PixelShader)


class VertexElement(msgspec.Struct, frozen=True):
    """D3DVERTEXELEMENT9, in the order of its fields."""

    stream: int
    offset: int
    type: DeclType
    method: DeclMethod
    usage: DeclUsage
    index: int


class Light(msgspec.Struct, frozen=True):
    """D3DLIGHT9, in the order of its fields; angles are in radians."""

    type: LightType
    diffuse: Color = _BLACK
    specular: Color = _BLACK
    ambient: Color = _BLACK
    position: Triple = _ORIGIN
    direction: Triple = _ORIGIN
    range: float = 0.0
    falloff: float = 0.0
    attenuation0: float = 0.0
    attenuation1: float = 0.0
    attenuation2: float = 0.0
    theta: float = 0.0
    phi: float = 0.0


class Material(msgspec.Struct, frozen=True):
    """D3DMATERIAL9, in the order of its fields."""

    diffuse: Color = _BLACK
    ambient: Color = _BLACK
    specular: Color = _BLACK
    emissive: Color = _BLACK
    power: float = 0.0


class RectPatchInfo(msgspec.Struct, frozen=True):
    """D3DRECTPATCH_INFO: a rectangle of control points in vertex rows of ``stride`` vertices."""

    start_column: int
    start_row: int
    width: int
    height: int
    stride: int
    basis: Basis = Basis.BEZIER
    degree: Degree = Degree.CUBIC


class TriPatchInfo(msgspec.Struct, frozen=True):
    """D3DTRIPATCH_INFO: control points in rows of 1, 2, 3 and more."""

    start: int
    vertices: int
    basis: Basis = Basis.BEZIER
    degree: Degree = Degree.CUBIC


class Rects(msgspec.Struct, frozen=True):
    """Arguments of ComposeRects: ``sources`` is a vertex buffer of D3DCOMPOSERECTDESC, ``places``
    one of ``count`` D3DCOMPOSERECTDESTINATION.
    """

    sources: SurfaceDesc
    places: SurfaceDesc
    count: int
    operation: ComposeRectsOp = ComposeRectsOp.COPY
    offset: tuple[int, int] = (0, 0)
