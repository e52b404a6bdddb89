"""The capabilities that a driver announces: version, device, formats and query types.

Sources: the documentation of D3DCAPS9, D3DHAL_GLOBALDRIVERDATA and DDPIXELFORMAT (dwOperations).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from dp2emu.d3d.capflags import BitDepths, FormatOp
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS

TARGETS = (
    FormatOp.OFFSCREEN_RENDERTARGET
    | FormatOp.SAME_FORMAT_RENDERTARGET
    | FormatOp.SAME_FORMAT_UP_TO_ALPHA_RENDERTARGET
)
"""Operations any of which makes a format a render target format."""

_PRIMITIVES = (
    "MiscCaps", "RasterCaps", "ZCmpCaps", "SrcBlendCaps", "DestBlendCaps", "AlphaCmpCaps",
    "ShadeCaps", "TextureCaps", "TextureFilterCaps", "TextureAddressCaps",
)  # fmt: skip
_OLDER = {name: f"hwCaps.dpcTriCaps.dw{name}" for name in _PRIMITIVES} | {
    "PrimitiveMiscCaps": "hwCaps.dpcTriCaps.dwMiscCaps",
    "DevCaps": "hwCaps.dwDevCaps",
    "MaxActiveLights": "dwMaxActiveLights",
    "MaxUserClipPlanes": "wMaxUserClipPlanes",
    "MaxSimultaneousTextures": "wMaxSimultaneousTextures",
    "MaxTextureBlendStages": "wMaxTextureBlendStages",
    "MaxVertexBlendMatrices": "wMaxVertexBlendMatrices",
    **{f"GuardBand{side}": f"dvGuardBand{side}" for side in ("Left", "Top", "Right", "Bottom")},
    **{
        name: f"dw{name}"
        for name in (
            "StencilCaps", "FVFCaps", "TextureOpCaps", "VertexProcessingCaps", "MaxAnisotropy",
            "MaxTextureWidth", "MaxTextureHeight", "MaxTextureRepeat", "MaxTextureAspectRatio",
            "MinTextureWidth", "MinTextureHeight",
        )
    },
}  # fmt: skip
"""Member of D3DCAPS8 and D3DCAPS9 -> the member with its meaning in the structures of DirectX 6
and 7."""

_RENDER_DEPTHS = "hwCaps.dwDeviceRenderBitDepth"
_DEPTHS = {
    Format.R3G3B2: BitDepths.B8, Format.R8G8B8: BitDepths.B24,
    Format.R5G6B5: BitDepths.B16, Format.X1R5G5B5: BitDepths.B16, Format.A1R5G5B5: BitDepths.B16,
    Format.A4R4G4B4: BitDepths.B16, Format.X8R8G8B8: BitDepths.B32, Format.A8R8G8B8: BitDepths.B32,
}  # fmt: skip
"""Format of a render target before DirectX 8 -> the flag of its size."""


class Capabilities(msgspec.Struct, frozen=True):
    """What a driver announces.

    ``ddi`` is the version of its interface, 6 to 9.  ``device`` has the members of D3DCAPS9,
    D3DCAPS8, or D3DHAL_GLOBALDRIVERDATA and D3DHAL_D3DEXTENDEDCAPS; a member of a structure in it
    has both names, as in ``VS20Caps.Caps``.  ``formats`` are (D3DFORMAT, D3DFORMAT_OP_*), queries
    D3DQUERYTYPEs.  What the driver does not tell is empty, or None for queries.
    """

    ddi: int
    device: Mapping[str, int | float] = msgspec.field(default_factory=dict)
    formats: tuple[tuple[int, int], ...] = ()
    queries: tuple[int, ...] | None = None

    def word(self, name: str) -> int | float | None:
        """Return a member of the device by its name in D3DCAPS9, in the structures of any version;
        None if the driver does not tell it.
        """
        return self.device.get(name, self.device.get(_OLDER.get(name, "")))

    def operations(self, format: int) -> int | None:
        """Return the operations (``FormatOp``) of a format, 0 for one that is not announced; None
        if the driver announces no formats.

        Before DirectX 8 a driver announces render targets by their bits alone.
        """
        if not self.formats and not self.device.get(_RENDER_DEPTHS):
            return None
        found = FormatOp.OFFSCREEN_RENDERTARGET if self._renders(format) else 0
        for each, operations in self.formats:
            found |= operations if each == format else 0
        return int(found)

    def tells(self, operations: int) -> bool:
        """Return whether the driver tells which formats have any of the ``operations``; before
        DirectX 8 each kind of formats is announced separately.
        """
        if self.ddi >= 8:
            return bool(self.formats)
        announced = any(each & operations for _, each in self.formats)
        return announced or bool(operations & TARGETS and self.device.get(_RENDER_DEPTHS))

    def _renders(self, format: int) -> bool:
        """Whether the driver of DirectX 6 or 7 renders into pixels of this format's size, if it is
        one of red, green and blue in this order.
        """
        depths = int(self.device.get(_RENDER_DEPTHS, 0))
        known = named_format(format)
        return isinstance(known, Format) and bool(depths & _DEPTHS.get(known, BitDepths(0)))


def flattened(found: Mapping[str, Any], prefix: str = "") -> dict[str, int | float]:
    """Return the numbers of a parsed structure by name; a member of a structure in it has the
    names of both with a dot between.
    """
    values: dict[str, int | float] = {}
    for name, value in found.items():
        if isinstance(value, Mapping):
            values |= flattened(value, f"{prefix}{name}.")
        elif not name.startswith("_"):
            values[prefix + name] = int(value) if isinstance(value, int) else float(value)
    return values


def named_format(number: int) -> int:
    """Return a D3DFORMAT as a ``Format`` if it is one, else the number."""
    known: Iterable[int] = Format._value2member_map_
    return Format(number) if number in known else number


def format_name(number: int) -> str:
    """Return the name of a D3DFORMAT in the headers, or its number."""
    format = named_format(number)
    return format.sdk if isinstance(format, Format) else f"D3DFORMAT {number:#x}"


def same_pixels(one: int, other: int) -> bool:
    """Return whether two formats have their colours in the same bits; alpha may differ.

    >>> same_pixels(Format.A8R8G8B8, Format.X8R8G8B8)
    True
    """
    if one == other:
        return True
    if one not in FORMATS or other not in FORMATS:
        return False
    rows = FORMATS[Format(one)], FORMATS[Format(other)]
    lanes = [[row.channels.get(lane) for lane in "rgbl"] for row in rows]
    return rows[0].size == rows[1].size and lanes[0] == lanes[1] and any(lanes[0])
