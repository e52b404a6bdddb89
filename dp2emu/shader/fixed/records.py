"""Keys and inputs of fixed-function vertex programs.

A ``FixedVertex`` is the key of a program: every field changes the program.  A ``FixedState`` has
the numbers that fill its uniforms.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from dp2emu.d3d.enums import FogMode, LightType, MaterialColorSource, TexGen

Matrix = tuple[float, ...]
"""16 numbers, row by row, for row vectors: v' = v M."""
Color = tuple[float, float, float, float]
"""Red, green, blue and alpha of a light or material, as numbers."""
Triple = tuple[float, float, float]

PALETTE = 256
"""Number of world matrices that indices can select: D3DTS_WORLDMATRIX(0) to (255)."""


class IndexForm(Enum):
    """Format of a vertex's world matrix indices."""

    NONE = "none"
    """No indices: blend weight n belongs to world matrix n."""
    BYTES = "bytes"
    """Four matrix indices, a byte each (D3DFVF_LASTBETA_UBYTE4)."""
    COLOR = "color"
    """Four matrix indices, the bytes of a D3DCOLOR, read as fractions of 255 with blue first
    (D3DFVF_LASTBETA_D3DCOLOR)."""


class TextureOutput(msgspec.Struct, frozen=True):
    """Source of a stage's texture coordinates.

    ``set`` and its number of ``components`` (0: the vertex lacks the set) apply to PASSTHRU only.
    ``count`` is the coordinate count of D3DTSS_TEXTURETRANSFORMFLAGS: 1 to 4 coordinates come from
    the stage's matrix, 0 means no matrix.  The pixel program does the division of
    D3DTTFF_PROJECTED.
    """

    source: TexGen = TexGen.PASSTHRU
    set: int = 0
    components: int = 2
    count: int = 0


class Lighting(msgspec.Struct, frozen=True):
    """D3DRS_LIGHTING: number of enabled lights by type, and sources of the material colours.

    The sources are resolved by ``material_source``: never a vertex colour that the vertex lacks.
    """

    points: int = 0
    spots: int = 0
    directionals: int = 0
    specular: bool = False
    local_viewer: bool = True
    diffuse_source: MaterialColorSource = MaterialColorSource.MATERIAL
    ambient_source: MaterialColorSource = MaterialColorSource.MATERIAL
    specular_source: MaterialColorSource = MaterialColorSource.MATERIAL
    emissive_source: MaterialColorSource = MaterialColorSource.MATERIAL

    @property
    def runs(self) -> tuple[tuple[LightType, int, int], ...]:
        """Type, index of the first light and count of each group of lights, in summation order."""
        spots, directionals = self.points, self.points + self.spots
        return (
            (LightType.POINT, 0, self.points),
            (LightType.SPOT, spots, self.spots),
            (LightType.DIRECTIONAL, directionals, self.directionals),
        )

    @property
    def lights(self) -> int:
        """Number of enabled lights of all types."""
        return self.points + self.spots + self.directionals

    @property
    def reads_position(self) -> bool:
        """Whether the lighting of a vertex depends on its eye-space position."""
        local = self.specular and self.local_viewer and bool(self.directionals)
        return bool(self.points or self.spots) or local


def material_source(
    wanted: MaterialColorSource, *, color_vertex: bool, diffuse: bool, specular: bool
) -> MaterialColorSource:
    """Return the effective source: the material where the vertex lacks the requested colour.

    ``color_vertex`` is D3DRS_COLORVERTEX; ``diffuse`` and ``specular`` are the vertex's colours.
    """
    present = {MaterialColorSource.COLOR1: diffuse, MaterialColorSource.COLOR2: specular}
    if color_vertex and present.get(wanted, False):
        return wanted
    return MaterialColorSource.MATERIAL


class FixedVertex(msgspec.Struct, frozen=True):
    """Key of a vertex program.

    ``normal``, ``diffuse``, ``specular`` and ``point_size``: the vertex has them.  ``normalize``:
    D3DRS_NORMALIZENORMALS.  ``weights``: 0 to 3 blend weights, one fewer than matrices.
    ``tween``: D3DVBF_TWEENING.  ``fog``: formula of the fog factor; NONE outputs the specular
    alpha, None no factor.  ``range_fog``: fog by distance instead of depth.  ``textures``: one per
    set of texture coordinates that the program outputs.  ``clip_planes``: number of enabled
    planes.
    """

    normal: bool = False
    diffuse: bool = False
    specular: bool = False
    point_size: bool = False
    lighting: Lighting | None = None
    normalize: bool = False
    weights: int = 0
    indices: IndexForm = IndexForm.NONE
    tween: bool = False
    fog: FogMode | None = None
    range_fog: bool = False
    textures: tuple[TextureOutput, ...] = ()
    point_scale: bool = False
    clip_planes: int = 0

    @property
    def matrices(self) -> int:
        """Number of world matrices that the program can use."""
        return self.weights + 1 if self.indices is IndexForm.NONE else PALETTE

    @property
    def eye(self) -> bool:
        """Whether the program computes the eye-space position, for lights, fog or the like."""
        fog = self.fog not in (None, FogMode.NONE)
        lit = self.lighting is not None and self.lighting.reads_position
        return fog or lit or self.point_scale or any(t.source in _EYE for t in self.textures)

    @property
    def eye_normal(self) -> bool:
        """Whether the program computes the eye-space normal, for lights or coordinates."""
        lit = self.lighting is not None and self.lighting.lights > 0
        return self.normal and (lit or any(t.source in _NORMAL for t in self.textures))


_EYE = frozenset(TexGen) - {TexGen.PASSTHRU, TexGen.CAMERASPACENORMAL}
_NORMAL = frozenset(TexGen) - {TexGen.PASSTHRU, TexGen.CAMERASPACEPOSITION}


class Light(msgspec.Struct, frozen=True):
    """D3DLIGHT7 or D3DLIGHT9, in world space; angles in radians."""

    type: LightType
    diffuse: Color
    specular: Color
    ambient: Color
    position: Triple
    direction: Triple
    range: float
    falloff: float
    attenuation: Triple
    theta: float
    phi: float


class Material(msgspec.Struct, frozen=True):
    """D3DMATERIAL7 or D3DMATERIAL9."""

    diffuse: Color
    ambient: Color
    specular: Color
    emissive: Color
    power: float


_BLACK: Color = (0.0, 0.0, 0.0, 0.0)


class FixedState(msgspec.Struct, frozen=True):
    """Numbers of the fixed-function vertex stage, all float32 values.

    ``transforms`` by number of D3DTS (world matrix i is 256 + i); a missing one is the identity.
    ``lights``: the enabled ones, by index.  ``ambient``: D3DRS_AMBIENT.  ``fog``: start, end,
    density.  ``point_scale``: D3DRS_POINTSCALE_A, B and C; ``point_size`` applies to vertices
    without one, and ``viewport_height`` is in pixels.  ``clip_planes``: the enabled ones, in world
    space.
    """

    transforms: Mapping[int, Matrix] = msgspec.field(default_factory=dict)
    lights: tuple[Light, ...] = ()
    material: Material = Material(_BLACK, _BLACK, _BLACK, _BLACK, 0.0)
    ambient: Color = _BLACK
    fog: Triple = (0.0, 1.0, 1.0)
    tween: float = 0.0
    point_size: float = 1.0
    point_scale: Triple = (1.0, 0.0, 0.0)
    viewport_height: float = 0.0
    clip_planes: tuple[tuple[float, float, float, float], ...] = ()
