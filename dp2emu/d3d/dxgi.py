"""One row per DXGI_FORMAT: texel layout, typeless family and supported uses.

Source: DXGI_FORMAT documentation; "Format support for Direct3D Feature Level 11.0 hardware".  The
name of a format lists its channels from the least significant bit up, so R8G8B8A8 has red in the
lowest byte; rows derive their layout from the name.  Optional support is present.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Flag, IntFlag, auto
from functools import cached_property, reduce
from operator import or_
from types import MappingProxyType

import msgspec

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import FORMATS, AnyFormat, Channel, Coding, FormatRow, Use


class Support(Flag):
    """Views and bindings that a format supports.

    VERTEX and INDEX: buffers of the input assembler.  Shader reads: BUFFER from buffers, TEXTURE
    from textures by address, SAMPLE through a filter, COMPARE with comparison.  Output merger:
    TARGET, BLEND, DEPTH; MULTISAMPLE targets, which RESOLVE merges and LOAD reads by sample.
    MIPS: GenMips generates levels.  UNORDERED: typed unordered access.  DISPLAY: scan-out.
    """

    NONE = 0
    VERTEX = auto()
    INDEX = auto()
    BUFFER = auto()
    TEXTURE = auto()
    SAMPLE = auto()
    COMPARE = auto()
    TARGET = auto()
    BLEND = auto()
    DEPTH = auto()
    MULTISAMPLE = auto()
    RESOLVE = auto()
    LOAD = auto()
    MIPS = auto()
    UNORDERED = auto()
    DISPLAY = auto()


class DdiSupport(IntFlag):
    """D3D10_DDI_FORMAT_SUPPORT, the answer of CheckFormatSupport."""

    SHADER_SAMPLE = 0x1
    RENDERTARGET = 0x2
    BLENDABLE = 0x4
    MULTISAMPLE_RENDERTARGET = 0x8
    MULTISAMPLE_LOAD = 0x10
    NOT_SUPPORTED = 0x80000000


class FormatSupport(IntFlag):
    """D3D11_FORMAT_SUPPORT without video; up to SHADER_GATHER it is D3D10_FORMAT_SUPPORT too."""

    BUFFER = 0x1
    IA_VERTEX_BUFFER = 0x2
    IA_INDEX_BUFFER = 0x4
    SO_BUFFER = 0x8
    TEXTURE1D = 0x10
    TEXTURE2D = 0x20
    TEXTURE3D = 0x40
    TEXTURECUBE = 0x80
    SHADER_LOAD = 0x100
    SHADER_SAMPLE = 0x200
    SHADER_SAMPLE_COMPARISON = 0x400
    SHADER_SAMPLE_MONO_TEXT = 0x800
    MIP = 0x1000
    MIP_AUTOGEN = 0x2000
    RENDER_TARGET = 0x4000
    BLENDABLE = 0x8000
    DEPTH_STENCIL = 0x10000
    CPU_LOCKABLE = 0x20000
    MULTISAMPLE_RESOLVE = 0x40000
    DISPLAY = 0x80000
    CAST_WITHIN_BIT_LAYOUT = 0x100000
    MULTISAMPLE_RENDERTARGET = 0x200000
    MULTISAMPLE_LOAD = 0x400000
    SHADER_GATHER = 0x800000
    BACK_BUFFER_CAST = 0x1000000
    TYPED_UNORDERED_ACCESS_VIEW = 0x2000000
    SHADER_GATHER_COMPARISON = 0x4000000


_API: dict[Support, FormatSupport] = {
    Support.VERTEX: FormatSupport.IA_VERTEX_BUFFER,
    Support.INDEX: FormatSupport.IA_INDEX_BUFFER,
    Support.BUFFER: FormatSupport.BUFFER,
    Support.TEXTURE: FormatSupport.SHADER_LOAD,
    Support.SAMPLE: FormatSupport.SHADER_SAMPLE | FormatSupport.SHADER_GATHER,
    Support.COMPARE: (
        FormatSupport.SHADER_SAMPLE_COMPARISON | FormatSupport.SHADER_GATHER_COMPARISON
    ),
    Support.TARGET: FormatSupport.RENDER_TARGET,
    Support.BLEND: FormatSupport.BLENDABLE,
    Support.DEPTH: FormatSupport.DEPTH_STENCIL,
    Support.MULTISAMPLE: FormatSupport.MULTISAMPLE_RENDERTARGET,
    Support.RESOLVE: FormatSupport.MULTISAMPLE_RESOLVE,
    Support.LOAD: FormatSupport.MULTISAMPLE_LOAD,
    Support.MIPS: FormatSupport.MIP_AUTOGEN,
    Support.UNORDERED: FormatSupport.TYPED_UNORDERED_ACCESS_VIEW,
    Support.DISPLAY: FormatSupport.DISPLAY,
}

_DDI: dict[Support, DdiSupport] = {
    Support.SAMPLE: DdiSupport.SHADER_SAMPLE,
    Support.TARGET: DdiSupport.RENDERTARGET,
    Support.BLEND: DdiSupport.BLENDABLE,
    Support.MULTISAMPLE: DdiSupport.MULTISAMPLE_RENDERTARGET,
    Support.LOAD: DdiSupport.MULTISAMPLE_LOAD,
}


class DxgiRow(msgspec.Struct, frozen=True, dict=True):
    """A DXGI format: ``texels`` describes the layout of its pixels.

    ``family`` is the typeless format that views may cast to this one, or the format itself.
    """

    format: DxgiFormat
    texels: FormatRow
    family: DxgiFormat
    support: Support

    @property
    def typeless(self) -> bool:
        """Whether the format is typeless: only views in other formats of its family read and
        write it.
        """
        return self.format.name.endswith("_TYPELESS") and not self.support

    @property
    def integers(self) -> bool:
        """Whether all channels are integers."""
        codings = {channel.coding for channel in self.texels.channels.values()}
        return bool(codings) and codings <= {Coding.UINT, Coding.SINT}

    @property
    def ddi_support(self) -> DdiSupport:
        """The CheckFormatSupport bits of this format."""
        if not self.support:
            return DdiSupport(0) if self.typeless else DdiSupport.NOT_SUPPORTED
        bits = (answer for own, answer in _DDI.items() if own in self.support)
        return reduce(or_, bits, DdiSupport(0))

    @cached_property
    def format_support(self) -> FormatSupport:
        """The bits that CheckFormatSupport of a device returns to an application."""
        name = FormatSupport
        bits = (answer for own, answer in _API.items() if own in self.support)
        found = reduce(or_, bits, name.TEXTURE2D | name.CPU_LOCKABLE)
        if self.family is not self.format or self.typeless:
            found |= name.CAST_WITHIN_BIT_LAYOUT
            found |= name.BACK_BUFFER_CAST if Support.DISPLAY in self.support else name(0)
        if self.support is not Support.DISPLAY:
            found |= self._shapes | name.MIP
        codings = {channel.bits for channel in self.texels.channels.values()}
        return found | name.SO_BUFFER if codings == {32} and name.BUFFER in found else found

    @property
    def _shapes(self) -> FormatSupport:
        """The kinds of textures that a format has beside 2D; one that is only shown has none."""
        found = FormatSupport.TEXTURECUBE
        if self.texels.block[1] == 1:
            found |= FormatSupport.TEXTURE1D
        if Support.DEPTH not in self.support and self.family not in _DEPTH_STENCILS:
            found |= FormatSupport.TEXTURE3D
        return found


_DEPTH_STENCILS = (DxgiFormat.R24G8_TYPELESS, DxgiFormat.R32G8X24_TYPELESS)
"""Families of formats with depth and stencil, whose textures have one or two dimensions."""

_V, _I, _B, _T = Support.VERTEX, Support.INDEX, Support.BUFFER, Support.TEXTURE
_S, _C, _G, _D = Support.SAMPLE, Support.COMPARE, Support.MIPS, Support.DISPLAY
_U, _MULTISAMPLED = Support.UNORDERED, Support.MULTISAMPLE | Support.LOAD
_TARGET = Support.TARGET | _MULTISAMPLED
_BLENDED = _TARGET | Support.BLEND | Support.RESOLVE
_READ = _T | _S
_DEPTH = Support.DEPTH | Support.MULTISAMPLE
_COLOR = _V | _B | _READ | _BLENDED | _G
_WHOLE = _V | _B | _T | _TARGET
_VIEW = _READ | Support.LOAD

_NAMES: tuple[tuple[Support, str], ...] = (
    (
        _COLOR | _U,
        """R32G32B32A32_FLOAT R32G32_FLOAT R16G16B16A16_SNORM R16G16B16A16_UNORM R11G11B10_FLOAT
        R8G8B8A8_SNORM R16G16_FLOAT R16G16_UNORM R16G16_SNORM R8G8_UNORM R8G8_SNORM R16_FLOAT
        R16_SNORM R8_UNORM R8_SNORM B5G6R5_UNORM B5G5R5A1_UNORM B4G4R4A4_UNORM""",
    ),
    (_COLOR, "R32G32B32_FLOAT B8G8R8X8_UNORM"),
    (_COLOR | _D | _U, "R16G16B16A16_FLOAT R10G10B10A2_UNORM R8G8B8A8_UNORM"),
    (_COLOR | _D, "B8G8R8A8_UNORM"),
    (_COLOR | _C | _U, "R32_FLOAT R16_UNORM"),
    (
        _WHOLE | _U,
        """R32G32B32A32_UINT R32G32B32A32_SINT R32G32_UINT R32G32_SINT R16G16B16A16_UINT
        R16G16B16A16_SINT R10G10B10A2_UINT R8G8B8A8_UINT R8G8B8A8_SINT R16G16_UINT R16G16_SINT
        R32_SINT R8G8_UINT R8G8_SINT R16_SINT R8_UINT R8_SINT""",
    ),
    (_WHOLE, "R32G32B32_UINT R32G32B32_SINT"),
    (_WHOLE | _I | _U, "R32_UINT R16_UINT"),
    (_READ | _BLENDED | _G | _D, "R8G8B8A8_UNORM_SRGB B8G8R8A8_UNORM_SRGB"),
    (_READ | _BLENDED | _G, "B8G8R8X8_UNORM_SRGB"),
    (_READ | _BLENDED | _G | _U, "A8_UNORM"),
    (_D, "R10G10B10_XR_BIAS_A2_UNORM"),
    (_DEPTH, "D32_FLOAT_S8X24_UINT D32_FLOAT D24_UNORM_S8_UINT D16_UNORM"),
    (_VIEW | _C, "R32_FLOAT_X8X24_TYPELESS R24_UNORM_X8_TYPELESS"),
    (_T | Support.LOAD, "X32_TYPELESS_G8X24_UINT X24_TYPELESS_G8_UINT"),
    (
        _READ,
        """R9G9B9E5_SHAREDEXP R8G8_B8G8_UNORM G8R8_G8B8_UNORM R1_UNORM BC1_UNORM BC1_UNORM_SRGB
        BC2_UNORM BC2_UNORM_SRGB BC3_UNORM BC3_UNORM_SRGB BC4_UNORM BC4_SNORM BC5_UNORM
        BC5_SNORM BC6H_UF16 BC6H_SF16 BC7_UNORM BC7_UNORM_SRGB""",
    ),
)
"""Pairs of the views and bindings that formats support, and the names of these formats.  Formats
that are missing are typeless; video formats have no row."""

_SUPPORT: dict[str, Support] = {
    name: support for support, names in _NAMES for name in names.split()
}

_BLOCKS: dict[str, tuple[int, tuple[int, int]]] = {
    **dict.fromkeys(("BC1", "BC4"), (8, (4, 4))),
    **dict.fromkeys(("BC2", "BC3", "BC5", "BC6H", "BC7"), (16, (4, 4))),
    "R1": (1, (8, 1)),
    "R8G8_B8G8": (4, (2, 1)),
    "G8R8_G8B8": (4, (2, 1)),
}
"""Prefix of a format's name -> bytes of a block, and its (width, height) in pixels."""

_FAMILIES: dict[str, str] = {
    **dict.fromkeys(("D32_FLOAT_S8X24", "R32_FLOAT_X8X24", "X32_TYPELESS_G8X24"), "R32G8X24"),
    **dict.fromkeys(("D24_UNORM_S8", "R24_UNORM_X8", "X24_TYPELESS_G8"), "R24G8"),
    "D32": "R32",
    "D16": "R16",
    "R10G10B10_XR_BIAS_A2": "R10G10B10A2",
}
"""Format name without its last suffix (such as _UINT) -> name, without _TYPELESS, of the typeless
format of its family; formats whose two names are equal are left out."""

_CODINGS = {**Coding.__members__, "UF16": Coding.FLOAT, "SF16": Coding.FLOAT}
_FIELD = re.compile(r"([A-Z])(\d+)")
_FIELDS = re.compile(r"(?:[A-Z]\d+)+")
_LAST = re.compile(r"_(TYPELESS|UNORM|SNORM|FLOAT|UINT|SINT|UF16|SF16)(_SRGB)?$")
_SHARED_EXPONENT = "R9G9B9E5_SHAREDEXP"
_VIDEO = range(DxgiFormat.AYUV.value, DxgiFormat.A8P8.value + 1)
"""DXGI_FORMAT numbers of the video formats, AYUV to A8P8, which are not implemented."""


def _channels(name: str) -> tuple[dict[str, Channel], int]:
    """Channels and bit count of a name such as D24_UNORM_S8_UINT; typeless parts are skipped."""
    channels: dict[str, Channel] = {}
    pending: list[tuple[str, int, int]] = []
    shift = 0
    for part in name.split("_"):
        coding = _CODINGS.get(part)
        if coding is not None:
            channels |= {n: Channel(at, bits, coding) for n, at, bits in pending if n != "x"}
        if _FIELDS.fullmatch(part) is None:
            pending = []
            continue
        for letter, digits in _FIELD.findall(part):
            pending.append((letter.lower(), shift, int(digits)))
            shift += int(digits)
    return channels, shift


def _uses(support: Support) -> Use:
    uses = Use.NONE
    if support & (Support.TEXTURE | Support.BUFFER):
        uses |= Use.TEXTURE
    if Support.TARGET in support:
        uses |= Use.TARGET
    if Support.DEPTH in support:
        uses |= Use.DEPTH
    return uses


def _texels(format: DxgiFormat, support: Support) -> FormatRow:
    name, uses = format.name, _uses(support)
    srgb = name.endswith("_SRGB")
    block = next((_BLOCKS[b] for b in _BLOCKS if name.startswith(b + "_")), None)
    if block is not None:
        size, sides = block
        return FormatRow(format, size, MappingProxyType({}), uses, sides, missing=0.0, srgb=srgb)
    channels, bits = _channels(name)
    if name == _SHARED_EXPONENT:
        channels, bits = {}, 32
    return FormatRow(format, bits // 8, MappingProxyType(channels), uses, missing=0.0, srgb=srgb)


def _family(format: DxgiFormat) -> DxgiFormat:
    first = _LAST.sub("", format.name)
    return DxgiFormat.__members__.get(f"{_FAMILIES.get(first, first)}_TYPELESS", format)


def _rows() -> Iterator[DxgiRow]:
    for format in DxgiFormat:
        if format is not DxgiFormat.UNKNOWN and format.value not in _VIDEO:
            support = _SUPPORT.get(format.name, Support.NONE)
            yield DxgiRow(format, _texels(format, support), _family(format), support)


DXGI: Mapping[DxgiFormat, DxgiRow] = MappingProxyType({row.format: row for row in _rows()})
"""DXGI_FORMAT -> ``DxgiRow`` (pixel layout, typeless family, supported uses), for all formats but
UNKNOWN and the video formats."""

ROWS: Mapping[AnyFormat, FormatRow] = MappingProxyType(
    {**FORMATS, **{format: row.texels for format, row in DXGI.items()}}
)
"""Surface format of Direct3D 9 or DXGI -> ``FormatRow``, the layout of its pixels."""


def ddi_support(format: DxgiFormat) -> DdiSupport:
    """The answer of CheckFormatSupport for any format."""
    row = DXGI.get(format)
    return DdiSupport.NOT_SUPPORTED if row is None else row.ddi_support


def format_support(format: DxgiFormat) -> FormatSupport:
    """The answer of ID3D11Device::CheckFormatSupport for any format; 0 if it has no support."""
    if format is DxgiFormat.UNKNOWN:
        return FormatSupport.BUFFER | FormatSupport.CPU_LOCKABLE
    row = DXGI.get(format)
    return FormatSupport(0) if row is None else row.format_support


def castable(resource: DxgiFormat, view: DxgiFormat, *, back: bool = False) -> bool:
    """Whether a resource allows a view: in its own format or, if typeless, one of its family.

    A back buffer (``back``) need not be typeless for that if its format has BACK_BUFFER_CAST.
    """
    if resource is view:
        return True
    found, asked = DXGI.get(resource), DXGI.get(view)
    if not (found and asked and found.family is asked.family):
        return False
    return found.typeless or (back and FormatSupport.BACK_BUFFER_CAST in found.format_support)
