"""The key of a sampler program.

Data that does not change the program (texels, level sizes, bias, border colour, palette) is bound
instead.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.enums import CmpFunc, TextureAddress, TextureFilter
from dp2emu.d3d.formats import AnyFormat
from dp2emu.shader.ir import TextureKind

MAX_ANISOTROPY = 16
"""Maximum number of probes of an anisotropic filter per pixel: D3DCAPS9.MaxAnisotropy."""

Addresses = tuple[TextureAddress, TextureAddress, TextureAddress]


class SamplerKey(msgspec.Struct, frozen=True):
    """How a texture is sampled.

    Filters are those of DirectX 9; ``mip`` NONE samples the most detailed level alone.
    ``anisotropy`` is D3DSAMP_MAXANISOTROPY, 1 to ``MAX_ANISOTROPY``.  ``srgb``:
    D3DSAMP_SRGBTEXTURE.  ``levels``: the texture has more than one.  ``alpha_palette``: palette
    entries have an alpha, otherwise they are opaque.  ``color_key``: texels within the bound
    colour key range read 0 in all components.

    CONVOLUTIONMONO is both ``mag`` and ``min`` or neither; then ``kernel`` is its width and
    height, addresses are BORDER with colour 0, and there is no ``mip``.

    The rest is Direct3D 10.  ``layers``: the texture is an array, indexed to the nearest slice.
    ``compare``: each texel becomes 1 where the reference passes the test against its red, else 0.
    ``offset`` is added to texel numbers before the address mode.  ``ranged``: fractional levels
    are clamped to MinLOD and MaxLOD.  ``ties``: under point filtering a coordinate that varies
    between pixels and lies on the edge between two texels, to 1/256, selects the one before;
    otherwise always the one after.  ``seams``: linear filters of cubes read across the edges of
    faces.

    The result is red, green, blue and alpha, with Direct3D 9's defaults for missing channels.  A
    bump format returns U, V and W (or luminance) as red, green and blue and Q as alpha, signed as
    stored, as texbem and the bump environment operations expect.
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
