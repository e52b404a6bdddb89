"""Structures of ddraw.h and d3dtypes.h in traces (apitrace traces, "DirectDraw descriptions").

All members of a union are recorded, with the same bits; flags tell which is valid.
"""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.ddraw import Caps, Described
from dp2emu.d3d.pixelformats import PixelFormat
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.resource.heap import ColorKey
from dp2emu.retrace.arguments import Arguments, array, integer, member, members, real, structure
from dp2emu.runtime.arguments import Box
from dp2emu.runtime.drawblits import Effects
from dp2emu.runtime.drawsurfaces import Description
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.viewports import early_light

_KEY = "dwColorSpaceLowValue", "dwColorSpaceHighValue"
_MASKS = "dwRBitMask", "dwGBitMask", "dwBBitMask", "dwRGBAlphaBitMask"


def pixel_format(of: Struct) -> PixelFormat:
    """Convert a traced DDPIXELFORMAT."""
    red, green, blue, alpha = members(of, _MASKS, integer)
    flags, fourcc, bits = members(of, ("dwFlags", "dwFourCC", "dwRGBBitCount"), integer)
    return PixelFormat(flags, fourcc, bits, (red, green, blue, alpha))


def color_key(of: Struct) -> ColorKey:
    """Convert a traced DDCOLORKEY."""
    low, high = members(of, _KEY, integer)
    return low, high


def description(of: Struct) -> Description:
    """Convert a traced DDSURFACEDESC or DDSURFACEDESC2; the former has no dwCaps2, which becomes
    0.
    """
    flags = integer(member(of, "dwFlags"))
    caps, caps2 = capabilities(structure(member(of, "ddsCaps")))
    return Description(
        flags=flags,
        caps=int(caps),
        caps2=caps2,
        width=_when(of, flags, Described.WIDTH, "dwWidth"),
        height=_when(of, flags, Described.HEIGHT, "dwHeight"),
        back_buffers=_when(of, flags, Described.BACKBUFFERCOUNT, "dwBackBufferCount"),
        levels=_when(
            of, flags, Described.MIPMAPCOUNT | Described.ZBUFFERBITDEPTH, "dwMipMapCount"
        ),
        pixels=pixel_format(structure(member(of, "ddpfPixelFormat")))
        if flags & Described.PIXELFORMAT else None,
        source_key=_key_when(of, flags, Described.CKSRCBLT, "ddckCKSrcBlt"),
        target_key=_key_when(of, flags, Described.CKDESTBLT, "ddckCKDestBlt"),
    )  # fmt: skip


def _when(of: Struct, flags: int, wanted: int, name: str) -> int:
    return integer(member(of, name)) if flags & wanted else 0


def _key_when(of: Struct, flags: int, wanted: int, name: str) -> ColorKey | None:
    return color_key(structure(member(of, name))) if flags & wanted else None


def capabilities(of: Struct) -> tuple[Caps, int]:
    """dwCaps and dwCaps2 of DDSCAPS or DDSCAPS2; DDSCAPS has no dwCaps2, which becomes 0."""
    second = "dwCaps2" in of.signature.members
    return Caps(integer(member(of, "dwCaps"))), integer(member(of, "dwCaps2")) if second else 0


def rectangle(call: Arguments, name: str) -> Rect | None:
    """A RECT argument, None for NULL."""
    if not call.has(name):
        return None
    return Rect(*members(call.struct(name), ("left", "top", "right", "bottom"), integer))


def rectangles(call: Arguments, count: str, name: str) -> list[Box] | None:
    """An argument that is an array of D3DRECTs, its first ``count``, an argument too; None for
    NULL.
    """
    if not call.has(name):
        return None
    corners, many = ("x1", "y1", "x2", "y2"), max(call.integer(count), 0)
    found = [members(structure(each), corners, integer) for each in array(call.value(name))[:many]]
    return [(a, b, c, d) for a, b, c, d in found]


def effects(call: Arguments) -> Effects:
    """The argument lpDDBltFx, a DDBLTFX; for NULL its defaults."""
    if not call.has("lpDDBltFx"):
        return Effects()
    of = call.struct("lpDDBltFx")
    fx, fill, rop = members(of, ("dwDDFX", "dwFillColor", "dwROP"), integer)
    keys = [color_key(structure(member(of, name)))
            for name in ("ddckSrcColorkey", "ddckDestColorkey")]  # fmt: skip
    return Effects(fx, fill, rop, *keys)


_MATRIX = [f"_{row}{column}" for row in range(1, 5) for column in range(1, 5)]


def matrix(of: Struct) -> tuple[float, ...]:
    """The 16 floats of a traced D3DMATRIX, row by row."""
    return members(of, _MATRIX, real)


def _color(of: object) -> tuple[float, float, float, float]:
    red, green, blue, alpha = members(structure(of), ("r", "g", "b", "a"), real)
    return red, green, blue, alpha


def _vector(of: object) -> tuple[float, float, float]:
    x, y, z = members(structure(of), ("x", "y", "z"), real)
    return x, y, z


_COLORS = "diffuse", "ambient", "specular", "emissive"


def material(of: Struct) -> Material:
    """Convert a traced D3DMATERIAL7 or D3DMATERIAL, whose members have different names."""
    long = "dcvDiffuse" in of.signature.members
    names = [f"dcv{name.title()}" if long else name for name in _COLORS]
    power = "dvPower" if "dvPower" in of.signature.members else "power"
    diffuse, ambient, specular, emissive = members(of, names, _color)
    return Material(diffuse, ambient, specular, emissive, real(member(of, power)))


_NUMBERS = (
    "dvRange", "dvFalloff", "dvAttenuation0", "dvAttenuation1", "dvAttenuation2", "dvTheta",
    "dvPhi",
)  # fmt: skip


def light7(of: Struct) -> Light:
    """Convert a traced D3DLIGHT7."""
    diffuse, specular, ambient = members(of, ("dcvDiffuse", "dcvSpecular", "dcvAmbient"), _color)
    position, direction = members(of, ("dvPosition", "dvDirection"), _vector)
    kind = integer(member(of, "dltType"))
    numbers = members(of, _NUMBERS, real)
    return Light(kind, diffuse, specular, ambient, position, direction, *numbers)  # type: ignore[arg-type]


def light(of: Struct) -> Light:
    """Convert a traced D3DLIGHT or D3DLIGHT2 to a D3DLIGHT7."""
    (color,) = members(of, ("dcvColor",), _color)
    position, direction = members(of, ("dvPosition", "dvDirection"), _vector)
    kind = integer(member(of, "dltType"))
    return early_light(kind, color, position, direction, members(of, _NUMBERS, real))


def viewport7(of: Struct) -> Viewport:
    """Convert a traced D3DVIEWPORT7."""
    x, y, width, height = members(of, ("dwX", "dwY", "dwWidth", "dwHeight"), integer)
    return Viewport(x, y, width, height, *members(of, ("dvMinZ", "dvMaxZ"), real))
