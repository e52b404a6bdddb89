"""Keys and bindings of samplers, from raw state.

On the wire sampler states are texture stage states with the numbers of DirectX 8; the numbers of
filters depend on the interface version (wire format, "Texture stages and samplers").  An unknown
address mode or filter is a Fault at the draw that samples with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.d3d.formats import FORMATS, AnyFormat, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import MagFilter7, MinFilter7, MipFilter7, RenderState7, TextureStageState8
from dp2emu.dp2.resolve.convolution import Convolution
from dp2emu.dp2.states.raw_state import SRGB_TEXTURE, State, bits_float
from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.resource.heap import Surface, SurfaceKind
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.bindings import weights_of
from dp2emu.shader.texture.records import MAX_ANISOTROPY, Addresses, SamplerKey

KINDS = {
    SurfaceKind.SURFACE: TextureKind.TEX2D,
    SurfaceKind.TEXTURE: TextureKind.TEX2D,
    SurfaceKind.CUBETEXTURE: TextureKind.CUBE,
    SurfaceKind.VOLUME: TextureKind.VOLUME,
    SurfaceKind.VOLUMETEXTURE: TextureKind.VOLUME,
}
"""``SurfaceKind`` -> ``TextureKind``, for surfaces that can be bound as textures."""

_ADDRESSES = (
    TextureStageState8.ADDRESSU,
    TextureStageState8.ADDRESSV,
    TextureStageState8.ADDRESSW,
)
_FILTERS = (
    TextureStageState8.MAGFILTER,
    TextureStageState8.MINFILTER,
    TextureStageState8.MIPFILTER,
)
_COLOR_KEYS = (RenderState7.COLORKEYENABLE, RenderState7.COLORKEYBLENDENABLE)
_ALPHA_BLOCKS: dict[AnyFormat, int] = {
    Format.A1: 1,
    **dict.fromkeys((Format.DXT1, Format.DXT2, Format.DXT3, Format.DXT4, Format.DXT5), 255),
}
"""Block or bit format that has alpha -> largest value that its alpha can take."""
_MODES = {int(mode): mode for mode in TextureAddress}
_WRAP = (TextureAddress.WRAP,) * 3
_M = TypeVar("_M", TextureAddress, TextureFilter)


def is_texture(surface: Surface) -> bool:
    """Whether a surface can be sampled: no buffer, one sample, and a format its kind allows."""
    row, kind = FORMATS.get(surface.format), KINDS.get(surface.desc.kind)
    if row is None or kind is None or surface.samples > 1 or Use.TEXTURE not in row.uses:
        return False
    return kind is TextureKind.TEX2D or Use.SHADOW not in row.uses


class BoundTexture(msgspec.Struct, frozen=True, eq=False):
    """A bound texture with its palette and most detailed level.

    ``palette`` has 256 A8R8G8B8 words, whose alpha counts if ``alpha_palette``.
    """

    surface: Surface
    palette: NDArray[np.uint32] | None = None
    alpha_palette: bool = False
    most_detailed: int = 0

    @property
    def kind(self) -> TextureKind:
        """The kind of texture for a sampler; two-dimensional depth textures are shadow maps."""
        kind, row = KINDS[self.surface.desc.kind], FORMATS.get(self.surface.format)
        shadow = kind is TextureKind.TEX2D and row is not None and Use.SHADOW in row.uses
        return TextureKind.SHADOW if shadow else kind

    @property
    def color_key(self) -> tuple[int, int]:
        """Lowest and highest stored texel of the colour key; (0, 0) without a key."""
        low, high = self.surface.color_key or (0, 0)
        mask = FORMATS[self.surface.format].mask
        return low & mask, high & mask

    @property
    def alpha(self) -> int:
        """The largest alpha value that a texel can store, 0 without an alpha channel."""
        row = FORMATS[self.surface.format]
        if row.alpha is not None:
            return row.alpha.max
        if Use.PALETTE in row.uses:
            return 255 if self.alpha_palette else 0
        return _ALPHA_BLOCKS.get(row.format, 0)


BoundTextures = Mapping[int, BoundTexture]
"""Wire number of a stage or sampler, 0 to 15 or 257 to 260 -> its bound texture."""


class _Filters(NamedTuple):
    """Three maps from a DirectX version's filter number to ``TextureFilter``: for magnification,
    for minification, and between mip levels.
    """

    mag: Mapping[int, TextureFilter]
    min: Mapping[int, TextureFilter]
    mip: Mapping[int, TextureFilter]


_FILTERS_7 = _Filters(
    mag={
        MagFilter7.POINT: TextureFilter.POINT,
        MagFilter7.LINEAR: TextureFilter.LINEAR,
        MagFilter7.FLATCUBIC: TextureFilter.FLATCUBIC,
        MagFilter7.GAUSSIANCUBIC: TextureFilter.GAUSSIANCUBIC,
        MagFilter7.ANISOTROPIC: TextureFilter.ANISOTROPIC,
    },
    min={
        MinFilter7.POINT: TextureFilter.POINT,
        MinFilter7.LINEAR: TextureFilter.LINEAR,
        MinFilter7.ANISOTROPIC: TextureFilter.ANISOTROPIC,
    },
    mip={
        0: TextureFilter.NONE,
        MipFilter7.NONE: TextureFilter.NONE,
        MipFilter7.POINT: TextureFilter.POINT,
        MipFilter7.LINEAR: TextureFilter.LINEAR,
    },
)
_IN_LEVEL = {int(filter): filter for filter in TextureFilter} | {0: TextureFilter.POINT}
_BETWEEN_LEVELS = {int(filter): filter for filter in (TextureFilter.NONE, TextureFilter.POINT)} | {
    int(filter): TextureFilter.LINEAR for filter in TextureFilter if filter > 1
}
_FILTERS_8 = _Filters(_IN_LEVEL, _IN_LEVEL, _BETWEEN_LEVELS)
"""Filters by their numbers in DirectX 8 and 9: within a level D3DTEXF_NONE means point; between
levels all filters above point mean linear."""


def samplers(
    state: State,
    interface: int,
    textures: BoundTextures,
    used: Iterable[tuple[int, int, TextureKind]],
) -> tuple[Samplers, dict[int, TextureBinding]]:
    """Keys and bindings of a program's samplers.

    ``used`` has the sampler's number in the program, its stage, and the kind of texture that the
    program expects.  A texture of another kind counts as unbound.
    """
    keys, bindings = [], {}
    for number, stage, kind in used:
        bound = textures.get(stage)
        if bound is not None and bound.kind is kind:
            states = _SamplerStates(
                stage, state.stage(stage), interface, keyed(state, interface, bound),
                state.plain[Kind.CONVOLUTION],
            )  # fmt: skip
            keys.append((number, states.key(bound)))
            bindings[number] = states.binding(bound)
    return tuple(keys), bindings


def keyed(state: State, interface: int, bound: BoundTexture) -> bool:
    """Whether a colour key makes some texels transparent, before DirectX 8."""
    enabled = any(state.render_states[number] for number in _COLOR_KEYS)
    return interface < 8 and enabled and bound.surface.color_key is not None


class _SamplerStates(msgspec.Struct, frozen=True):
    """The sampler states ``row`` of a stage, by number of DirectX ``interface``.

    ``keyed`` is whether a colour key counts; ``convolution`` is the context's kernel.
    """

    stage: int
    row: Sequence[int]
    interface: int
    keyed: bool
    convolution: Convolution

    def key(self, bound: BoundTexture) -> SamplerKey:
        mag, min_, mip = self.filters()
        if TextureFilter.CONVOLUTIONMONO in (mag, min_):
            return self.convolving(bound)
        levels = bound.surface.desc.levels > 1
        stretched = TextureFilter.ANISOTROPIC in (mag, min_)
        most = self.row[TextureStageState8.MAXANISOTROPY]
        return SamplerKey(
            kind=bound.kind,
            format=bound.surface.format,
            address=self.addresses(bound.kind),
            mag=mag,
            min=min_,
            mip=mip if levels else TextureFilter.NONE,
            anisotropy=max(1, min(most, MAX_ANISOTROPY)) if stretched else 1,
            srgb=bool(self.row[SRGB_TEXTURE] & 1),
            levels=levels,
            alpha_palette=bound.alpha_palette,
            color_key=self.keyed,
        )

    def convolving(self, bound: BoundTexture) -> SamplerKey:
        """The key of a convolution.  Raises Fault unless the texture is monochrome (A1)."""
        surface = bound.surface
        if surface.format is not Format.A1 or bound.kind is not TextureKind.TEX2D:
            what = f"convolution of {surface.format.sdk} at stage {self.stage}"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return SamplerKey(
            kind=bound.kind,
            format=surface.format,
            address=(TextureAddress.BORDER, TextureAddress.BORDER, TextureAddress.WRAP),
            mag=TextureFilter.CONVOLUTIONMONO,
            min=TextureFilter.CONVOLUTIONMONO,
            levels=surface.desc.levels > 1,
            color_key=self.keyed,
            kernel=(len(self.convolution.rows), len(self.convolution.columns)),
        )

    def binding(self, bound: BoundTexture) -> TextureBinding:
        last = bound.surface.desc.levels - 1
        return TextureBinding(
            surface=bound.surface,
            lod_bias=bits_float(self.row[TextureStageState8.MIPMAPLODBIAS]),
            max_level=min(self.max_level(), last),
            most_detailed=min(bound.most_detailed, last),
            border=self.row[TextureStageState8.BORDERCOLOR],
            palette=bound.palette,
            color_key=bound.color_key,
            weights=weights_of(self.convolution.rows, self.convolution.columns),
        )

    def max_level(self) -> int:
        """D3DSAMP_MAXMIPLEVEL, the most detailed level to sample; 0 without a mip filter."""
        _, _, mip = self.filters()
        return 0 if mip is TextureFilter.NONE else self.row[TextureStageState8.MAXMIPLEVEL]

    def addresses(self, kind: TextureKind) -> Addresses:
        """Address modes of u, v and w; WRAP for missing coordinates and for cubes."""
        count = 0 if kind is TextureKind.CUBE else kind.axes
        modes = [self.member(_MODES, number) for number in _ADDRESSES[:count]]
        u, v, w = (*modes, *_WRAP)[:3]
        return u, v, w

    def filters(self) -> tuple[TextureFilter, TextureFilter, TextureFilter]:
        tables = _FILTERS_7 if self.interface < 8 else _FILTERS_8
        pairs = zip(tables, _FILTERS, strict=True)
        mag, min_, mip = (self.member(table, number) for table, number in pairs)
        return mag, min_, mip

    def member(self, table: Mapping[int, _M], number: TextureStageState8) -> _M:
        found = table.get(self.row[number])
        if found is None:
            what = f"{number.sdk} of stage {self.stage} is {self.row[number]}"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return found
