"""The description of a surface that a driver is sent (``wire.MAKE``)."""

from __future__ import annotations

from collections.abc import Mapping

from dp2emu.d3d.ddraw import Caps, Caps2
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.pixelformats import PixelFormat, described
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import (
    BUFFERS,
    TEXTURES,
    VOLUMES,
    SurfaceDesc,
    SurfaceKind,
    layout_of,
)
from dp2emu.gpu.resource.subresources import Subresource
from dp2emu.rig.wire import MAKE

_EXECUTEBUFFER = 0x00800000
_VERTEXBUFFER, _COMMANDBUFFER, _VOLUME = 0x20, 0x40, 0x200000
"""DDSCAPS2_VERTEXBUFFER, DDSCAPS2_COMMANDBUFFER and DDSCAPS2_VOLUME."""

_BUFFER_CAPS2 = {SurfaceKind.MEMORY: _COMMANDBUFFER, SurfaceKind.VERTEXBUFFER: _VERTEXBUFFER,
                 SurfaceKind.INDEXBUFFER: _VERTEXBUFFER}  # fmt: skip
_KIND_CAPS2 = {
    SurfaceKind.CUBETEXTURE: int(Caps2.CUBEMAP | Caps2.CUBEMAP_ALLFACES),
    SurfaceKind.VOLUMETEXTURE: _VOLUME,
    SurfaceKind.VOLUME: _VOLUME,
}
_PIXEL_FORMAT_BYTES = 32
_NO_PIXELS = PixelFormat(0)


def make_payload(desc: SurfaceDesc, known: Mapping[int, SurfaceDesc]) -> bytes:
    """Return the payload of the record MAKE for a surface; ``known`` has existing ones by handle.

    Raises Fault if the parent or its level does not exist, Unsupported for a format.
    """
    if desc.kind in BUFFERS:
        caps2 = _BUFFER_CAPS2[desc.kind]
        return _packed(desc, 0, desc.width, desc.width, (_EXECUTEBUFFER, caps2), _NO_PIXELS)
    levels = layout_of(desc)
    top, offset, size = levels[0], 0, sum(level.size for level in levels)
    if desc.parent:
        top = _level(desc, known)
        offset, size = top.offset, top.size
    return _packed(desc, offset, size, _pitch(desc, top), _caps(desc), _pixels(desc))


def _level(desc: SurfaceDesc, known: Mapping[int, SurfaceDesc]) -> Subresource:
    parent = known.get(desc.parent)
    levels = layout_of(parent) if parent is not None else ()
    if desc.index >= len(levels):
        what = f"surface {desc.handle}: level {desc.index} of {desc.parent}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)
    return levels[desc.index]


def _pitch(desc: SurfaceDesc, top: Subresource) -> int:
    """Return the bytes per row; for a compressed format those of the level (dwLinearSize)."""
    return top.size if FORMATS[Format(desc.format)].block != (1, 1) else top.pitch


def _caps(desc: SurfaceDesc) -> tuple[int, int]:
    """Return dwCaps (DDSCAPS_*) and dwCaps2 (DDSCAPS2_*) of a surface that is no buffer."""
    uses = FORMATS[Format(desc.format)].uses
    caps = Caps.VIDEOMEMORY
    if desc.kind in TEXTURES or desc.parent or desc.kind in VOLUMES:
        caps |= Caps.TEXTURE
    else:
        caps |= Caps.ZBUFFER if uses & Use.DEPTH else Caps.OFFSCREENPLAIN | Caps.DEVICE3D
    if desc.levels > 1:
        caps |= Caps.MIPMAP | Caps.COMPLEX
    managed = Caps2.TEXTUREMANAGE if desc.managed else 0
    return int(caps), _KIND_CAPS2.get(desc.kind, 0) | int(managed)


def _pixels(desc: SurfaceDesc) -> PixelFormat:
    return described(Format(desc.format))


def _packed(
    desc: SurfaceDesc, offset: int, size: int, pitch: int, caps: tuple[int, int],
    pixels: PixelFormat,
) -> bytes:  # fmt: skip
    return MAKE.pack(
        desc.handle, desc.parent, offset, size,
        desc.kind, desc.width, desc.height, desc.depth, pitch, desc.levels, *caps,
        _PIXEL_FORMAT_BYTES, pixels.flags, pixels.fourcc, pixels.bits, *pixels.masks,
    )  # fmt: skip
