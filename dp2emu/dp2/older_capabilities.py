"""What DdGetDriverInfo tells runtimes of DirectX 6 and 7: D3DHAL_GLOBALDRIVERDATA,
D3DHAL_D3DEXTENDEDCAPS, and the formats of textures and of depth surfaces.

All of it follows from the D3DCAPS9 and the formats of this device.  Sources: the documentation of
D3DHAL_GLOBALDRIVERDATA, D3DDEVICEDESC_V1, D3DPRIMCAPS, D3DHAL_D3DEXTENDEDCAPS and DDPIXELFORMAT.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from dp2emu.d3d.capabilities import Capabilities, flattened, named_format
from dp2emu.d3d.capflags import (
    AddressCaps,
    BitDepths,
    BlendCaps,
    DevCaps,
    DeviceDescFlags,
    FilterCaps,
    FormatOp,
    FvfCaps,
    MiscCaps,
    RasterCaps,
    StencilCaps,
    TextureBlendCaps,
    TextureCaps,
    TextureOpCaps,
    VertexProcessingCaps,
)
from dp2emu.d3d.caps import (
    BY_ABI,
    D3DDEVICEDESC_V1,
    D3DHAL_D3DEXTENDEDCAPS,
    D3DLIGHTINGCAPS,
    D3DPRIMCAPS,
    D3DTRANSFORMCAPS,
    EXTENDED6_BYTES,
)
from dp2emu.d3d.ddraw import PixelFlags
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hal import SURFACES
from dp2emu.d3d.legacy import Format8, TextureBlend7
from dp2emu.d3d.pixelformats import PixelFormat, described, format_of
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.dp2.capabilities import CAPABILITIES

_LAST: dict[str, SdkFlag] = {
    "DevCaps": DevCaps.HWRASTERIZATION,
    "PrimitiveMiscCaps": MiscCaps.CULLCCW,
    "RasterCaps": RasterCaps.ZFOG,
    "SrcBlendCaps": BlendCaps.BOTHINVSRCALPHA,
    "DestBlendCaps": BlendCaps.BOTHINVSRCALPHA,
    "TextureCaps": TextureCaps.COLORKEYBLEND,
    "TextureFilterCaps": FilterCaps.MAGFANISOTROPIC,
    "TextureAddressCaps": AddressCaps.INDEPENDENTUV,
    "StencilCaps": StencilCaps.DECR,
    "TextureOpCaps": TextureOpCaps.DOTPRODUCT3,
    "VertexProcessingCaps": VertexProcessingCaps.LOCALVIEWER,
    "FVFCaps": FvfCaps.DONOTSTRIPELEMENTS,
}
"""Member of D3DCAPS9 -> its last flag that DirectX 7 has; other members are the same."""
_MORE: dict[str, int] = {
    "RasterCaps": int(RasterCaps.ZBIAS),
    "TextureCaps": int(TextureCaps.COLORKEYBLEND | TextureCaps.TRANSPARENCY),
    "TextureFilterCaps": int(
        FilterCaps.NEAREST | FilterCaps.LINEAR | FilterCaps.MIPNEAREST | FilterCaps.MIPLINEAR
        | FilterCaps.LINEARMIPNEAREST | FilterCaps.LINEARMIPLINEAR
    ),
}  # fmt: skip
"""Member of D3DCAPS9 -> flags in it of states that DirectX 9 has no more."""
_FILTERS9 = FilterCaps.MINFPYRAMIDALQUAD | FilterCaps.MINFGAUSSIANQUAD | FilterCaps.CONVOLUTIONMONO

_RGB = 2
"""D3DCOLOR_RGB, a colour model, and D3DLIGHTINGMODEL_RGB's number plus 1."""
_CLIPS = 1
"""D3DTRANSFORMCAPS_CLIP."""
_LIGHTS = 7
"""D3DLIGHTCAPS_POINT, D3DLIGHTCAPS_SPOT and D3DLIGHTCAPS_DIRECTIONAL."""


def _member(name: str) -> Any:
    """The value in DirectX 7 of a member of D3DCAPS9."""
    value = CAPABILITIES[name]
    if name not in _LAST:
        return value
    known = int(value) & (2 * int(_LAST[name]) - 1) | _MORE.get(name, 0)
    return known & ~int(_FILTERS9) if name == "TextureFilterCaps" else known


def _primitives() -> dict[str, Any]:
    """The members of D3DPRIMCAPS."""
    names = (field.name for field in D3DPRIMCAPS.subcons)
    found = dict.fromkeys(names, 0)
    found |= {
        f"dw{name}": _member(name)
        for name in (
            "RasterCaps", "ZCmpCaps", "SrcBlendCaps", "DestBlendCaps", "AlphaCmpCaps", "ShadeCaps",
            "TextureCaps", "TextureFilterCaps", "TextureAddressCaps",
        )
    }  # fmt: skip
    return found | {
        "dwSize": D3DPRIMCAPS.sizeof(),
        "dwMiscCaps": _member("PrimitiveMiscCaps"),
        "dwTextureBlendCaps": sum(int(TextureBlendCaps[mode.name]) for mode in TextureBlend7),
    }


def _device() -> dict[str, Any]:
    """The members of D3DDEVICEDESC_V1."""
    lights = CAPABILITIES["MaxActiveLights"]
    return {
        "dwSize": D3DDEVICEDESC_V1.sizeof(),
        "dwFlags": sum(map(int, DeviceDescFlags)),
        "dcmColorModel": _RGB,
        "dwDevCaps": _member("DevCaps"),
        "dtcTransformCaps": {"dwSize": D3DTRANSFORMCAPS.sizeof(), "dwCaps": _CLIPS},
        "bClipping": 1,
        "dlcLightingCaps": {
            "dwSize": D3DLIGHTINGCAPS.sizeof(), "dwCaps": _LIGHTS, "dwLightingModel": 1,
            "dwNumLights": lights,
        },
        "dpcLineCaps": _primitives(),
        "dpcTriCaps": _primitives(),
        "dwDeviceRenderBitDepth": int(BitDepths.B16 | BitDepths.B32),
        "dwDeviceZBufferBitDepth": int(BitDepths.B16 | BitDepths.B24 | BitDepths.B32),
        "dwMaxBufferSize": 0,  # no limit
        "dwMaxVertexCount": 0,
    }  # fmt: skip


def _global_data() -> dict[str, Any]:
    """The members of D3DHAL_GLOBALDRIVERDATA but the address of the texture formats."""
    layout = BY_ABI["D3DHAL_GLOBALDRIVERDATA"](32)
    return {
        "dwSize": layout.sizeof(), "hwCaps": _device(), "dwNumVertices": 0, "dwNumClipVertices": 0,
        "dwNumTextureFormats": len(texture_formats()),
    }  # fmt: skip


_SAME = (
    "MaxTextureWidth", "MaxTextureHeight", "MaxTextureRepeat", "MaxTextureAspectRatio",
    "MaxAnisotropy", "StencilCaps", "FVFCaps", "TextureOpCaps", "MaxActiveLights",
    "VertexProcessingCaps",
)  # fmt: skip
_FLOATS = "GuardBandLeft", "GuardBandTop", "GuardBandRight", "GuardBandBottom", "MaxVertexW"
_WORDS = (
    "MaxTextureBlendStages", "MaxSimultaneousTextures", "MaxUserClipPlanes",
    "MaxVertexBlendMatrices",
)  # fmt: skip


def _extended() -> dict[str, Any]:
    """The members of D3DHAL_D3DEXTENDEDCAPS in order; of those without a meaning here, 0."""
    members = dict.fromkeys((field.name for field in D3DHAL_D3DEXTENDEDCAPS.subcons), 0)
    for prefix, names in (("dw", _SAME), ("dv", _FLOATS), ("w", _WORDS)):
        members |= {f"{prefix}{name}": _member(name) for name in names}
    sizes = {"dwMinTextureWidth": 1, "dwMinTextureHeight": 1}
    return members | sizes | {"dwSize": D3DHAL_D3DEXTENDEDCAPS.sizeof()}


# Formats


@cache
def texture_formats() -> tuple[Format, ...]:
    """The formats of textures that DDPIXELFORMAT describes by masks or by a FOURCC."""
    return tuple(format for format in _formats8(Use.TEXTURE) if Use.DEPTH not in _uses(format))


@cache
def depth_formats() -> tuple[Format, ...]:
    """The formats of depth surfaces that DDPIXELFORMAT describes by masks."""
    return tuple(_formats8(Use.DEPTH))


def _uses(format: Format) -> Use:
    return FORMATS[format].uses


def _formats8(use: Use) -> Iterable[Format]:
    """The formats with a use that DirectX 8 names and DirectX 7 describes."""
    numbers = set(map(int, Format8))
    for format, row in FORMATS.items():
        if isinstance(format, Format) and use & row.uses and int(format) in numbers:
            pixels = described(format)
            numbered = pixels.flags == PixelFlags.FOURCC and pixels.fourcc <= 0xFFFF
            if not numbered and format_of(pixels) is format:
                yield format


_PIXEL_FORMAT = SURFACES["DDPIXELFORMAT"]


def _pixel_format(pixels: PixelFormat) -> bytes:
    """The bytes of a DDPIXELFORMAT."""
    return struct.pack(
        "<8I", _PIXEL_FORMAT.sizeof(), pixels.flags, pixels.fourcc, pixels.bits, *pixels.masks
    )


def _listed(formats: Iterable[Format]) -> bytes:
    return b"".join(_pixel_format(described(format)) for format in formats)


# Answers


def device_answer(room: int) -> tuple[bytes, bytes]:
    """The D3DHAL_GLOBALDRIVERDATA that fits ``room`` bytes, of a 64-bit driver if that fits, and
    the DDPIXELFORMAT of each texture format; the first is empty if it does not fit.

    Its lpTextureFormats is 0: the formats have no address here.
    """
    for abi in (64, 32):
        layout = BY_ABI["D3DHAL_GLOBALDRIVERDATA"](abi)
        if room >= layout.sizeof():
            members = _global_data() | {"dwSize": layout.sizeof(), "lpTextureFormats": 0}
            return bytes(layout.build(members)), _listed(texture_formats())
    return b"", b""


def extended_answer(room: int) -> tuple[bytes, bytes]:
    """The D3DHAL_D3DEXTENDEDCAPS that fits ``room`` bytes: of DirectX 7, else of DirectX 6, which
    has its first members; empty if neither fits.  It has no formats.
    """
    members = _extended()
    if room >= D3DHAL_D3DEXTENDEDCAPS.sizeof():
        return bytes(D3DHAL_D3DEXTENDEDCAPS.build(members)), b""
    older = D3DHAL_D3DEXTENDEDCAPS.build(members | {"dwSize": EXTENDED6_BYTES})
    return bytes(older[:EXTENDED6_BYTES]) if room >= EXTENDED6_BYTES else b"", b""


def depth_answer(room: int) -> tuple[bytes, bytes]:
    """The number of depth formats and a DDPIXELFORMAT for each; empty if ``room`` is less than
    that.
    """
    data = struct.pack("<I", len(depth_formats())) + _listed(depth_formats())
    return data if len(data) <= room else b"", b""


def announced_before_8(ddi: int) -> Capabilities:
    """What these answers tell a runtime of DirectX ``ddi``, 6 or 7."""
    device: Mapping[str, int | float] = flattened(_parsed(device_answer(1 << 10)[0]))
    extended = flattened(D3DHAL_D3DEXTENDEDCAPS.parse(extended_answer(1 << 10)[0]))
    del extended["dwSize"]
    if ddi < 7:
        names = list(extended)
        extended = {name: extended[name] for name in names[: names.index(_LAST6) + 1]}
    formats = (
        *((named_format(each), int(FormatOp.TEXTURE)) for each in texture_formats()),
        *((named_format(each), int(FormatOp.ZSTENCIL)) for each in depth_formats()),
    )
    return Capabilities(ddi, {**device, **extended}, formats)


_LAST6 = "wMaxSimultaneousTextures"
"""The last member of D3DHAL_D3DEXTENDEDCAPS in DirectX 6."""


def _parsed(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = dict(BY_ABI["D3DHAL_GLOBALDRIVERDATA"](64).parse(data))
    del found["lpTextureFormats"]
    return found
