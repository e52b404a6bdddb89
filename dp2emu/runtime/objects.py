"""What a device hands out by handle, and the records it takes."""

from __future__ import annotations

from dp2emu.d3d.enums import Basis, DeclMethod, DeclType, DeclUsage, Degree, LightType
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.records import dataclass

Color = tuple[float, float, float, float]
"""Red, green, blue, alpha."""
Triple = tuple[float, float, float]

_BLACK: Color = (0.0, 0.0, 0.0, 0.0)
_ORIGIN: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class IndexBuffer:
    """An index buffer: its surface, and 2 or 4 bytes an index."""

    desc: SurfaceDesc
    size: int


@dataclass(frozen=True, slots=True)
class Texture:
    """IDirect3DTexture9, IDirect3DCubeTexture9 or IDirect3DVolumeTexture9: all its levels."""

    desc: SurfaceDesc


@dataclass(frozen=True, slots=True)
class Declaration:
    """IDirect3DVertexDeclaration9."""

    handle: int


@dataclass(frozen=True, slots=True)
class VertexShader:
    """IDirect3DVertexShader9."""

    handle: int


@dataclass(frozen=True, slots=True)
class PixelShader:
    """IDirect3DPixelShader9."""

    handle: int


@dataclass(frozen=True, slots=True)
class VertexElement:
    """D3DVERTEXELEMENT9, in the order of its fields."""

    stream: int
    offset: int
    type: DeclType
    method: DeclMethod
    usage: DeclUsage
    index: int


@dataclass(frozen=True, slots=True)
class Light:
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


@dataclass(frozen=True, slots=True)
class Material:
    """D3DMATERIAL9, in the order of its fields."""

    diffuse: Color = _BLACK
    ambient: Color = _BLACK
    specular: Color = _BLACK
    emissive: Color = _BLACK
    power: float = 0.0


@dataclass(frozen=True, slots=True)
class RectPatchInfo:
    """D3DRECTPATCH_INFO: control points in rows, of vertices that lie in rows of ``stride``."""

    start_column: int
    start_row: int
    width: int
    height: int
    stride: int
    basis: Basis = Basis.BEZIER
    degree: Degree = Degree.CUBIC


@dataclass(frozen=True, slots=True)
class TriPatchInfo:
    """D3DTRIPATCH_INFO: control points in rows of 1, 2, 3 and so on."""

    start: int
    vertices: int
    basis: Basis = Basis.BEZIER
    degree: Degree = Degree.CUBIC
