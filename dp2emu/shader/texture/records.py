"""What decides the program that samples a texture, as one frozen record.

Whatever only feeds it (the texels, the sizes of its levels, bias, border colour, palette) is a
binding.
"""

from __future__ import annotations

from dp2emu.d3d.enums import CmpFunc, TextureAddress, TextureFilter
from dp2emu.d3d.formats import AnyFormat
from dp2emu.records import dataclass
from dp2emu.shader.ir import TextureKind

MAX_ANISOTROPY = 16
"""The largest D3DCAPS9.MaxAnisotropy: probes along the longer axis of a pixel."""

Addresses = tuple[TextureAddress, TextureAddress, TextureAddress]


@dataclass(frozen=True, slots=True)
class SamplerKey:
    """How a texture is read.

    Filters are numbered as in DirectX 9; ``mip`` NONE samples the most detailed level alone.
    ``anisotropy`` is D3DSAMP_MAXANISOTROPY, 1 to ``MAX_ANISOTROPY``.  ``srgb``:
    D3DSAMP_SRGBTEXTURE.  ``levels``: the texture has more than one.  ``alpha_palette``: the
    entries of its palette have an alpha, otherwise they are opaque.  ``color_key``: texels within
    the range of the binding's colour key read 0 in all components, alpha too.

    CONVOLUTIONMONO is both ``mag`` and ``min`` or neither; then ``kernel`` is its width and
    height, addresses are BORDER, whose colour counts as 0, and there is no ``mip``.

    Direct3D 10 has more.  ``layers``: the texture is an array, of whose slices the nearest counts.
    ``compare``: each texel read becomes 1 where the reference compares with its red, else 0.
    ``offset`` is added to texel addresses before the address modes.  ``ranged``: levels are
    clamped to MinLOD and MaxLOD, fractions and all.  ``ties``: a coordinate that changes from
    pixel to pixel and is on the edge between two texels, to 1/256, takes the one before where one
    alone is read; otherwise it is always the one after.  ``seams``: linear filters of cubes read
    across the edges of faces.

    What is sampled is red, green, blue and alpha, with Direct3D 9's values where a format lacks
    them.  A bump format gives its U, V and W (or luminance) as red, green and blue and its Q as
    alpha, signed as stored: what texbem and the bump environment operations take.
    """

    kind: TextureKind
    format: AnyFormat
    address: Addresses = (TextureAddress.WRAP,) * 3
    mag: TextureFilter = TextureFilter.POINT
    min: TextureFilter = TextureFilter.POINT
    mip: TextureFilter = TextureFilter.NONE
    anisotropy: int = 1
    srgb: bool = False
    levels: bool = False
    alpha_palette: bool = False
    color_key: bool = False
    kernel: tuple[int, int] = (1, 1)
    layers: bool = False
    compare: CmpFunc | None = None
    offset: tuple[int, int, int] = (0, 0, 0)
    ranged: bool = False
    ties: bool = False
    seams: bool = False

    @property
    def convolves(self) -> bool:
        """Whether the filter is D3DTEXF_CONVOLUTIONMONO."""
        return self.min is TextureFilter.CONVOLUTIONMONO
