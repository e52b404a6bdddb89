"""DirectDraw: surfaces, locks, flips, colour keys and palettes.

Each Direct3D device that draws to these surfaces has a separate session; each operation of
DirectDraw first submits the devices' commands (``settle``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.capture.records import PictureKind, Record
from dp2emu.d3d.ddraw import KeyFlags
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.pixelformats import PixelFormat
from dp2emu.dp2.blt import Blt
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import ColorKey
from dp2emu.rig.interface import Rig
from dp2emu.runtime.calldraws import COMMAND_BYTES
from dp2emu.runtime.drawsurfaces import Description, DrawSurface, Palette, create_surface
from dp2emu.runtime.session import Numbers, Refused, Session

DESKTOP = 1024, 768
"""The size of the display in pixels until the application sets a display mode."""
_DISPLAYS = {
    8: PixelFormat(0x60, bits=8),
    16: PixelFormat(0x40, bits=16, masks=(0xF800, 0x7E0, 0x1F, 0)),
    24: PixelFormat(0x40, bits=24, masks=(0xFF0000, 0xFF00, 0xFF, 0)),
    32: PixelFormat(0x40, bits=32, masks=(0xFF0000, 0xFF00, 0xFF, 0)),
}


class SurfaceDevice(Protocol):
    """A Direct3D device that draws to surfaces of DirectDraw."""

    session: Session
    target: DrawSurface

    def set_lod(self, texture: DrawSurface, level: int) -> None:
        """SetLOD: ``level`` is the most detailed level of a managed texture that draws use."""


@checked
class DirectDraw:
    """IDirectDraw of any version.  Mutable.

    ``display`` is the display mode, ``devices`` the Direct3D devices, oldest first.
    """

    def __init__(
        self, rig: Rig, *, record: Callable[[Record], None] | None = None,
        numbers: Numbers | None = None, answers: bool = True,
    ) -> None:  # fmt: skip
        self.rig = rig
        self._record = record
        self._numbers = numbers or Numbers()
        self._answers = answers
        self._palettes = 0
        self._memory = Session(
            rig, context=0, command_bytes=1, record=record, numbers=self._numbers
        )
        self.devices: list[SurfaceDevice] = []
        self.display = Description(0, 0, 0, *DESKTOP, pixels=_DISPLAYS[32])

    # Sessions

    def session(self, interface: int) -> Session:
        """A new session (context of the driver), for a device of DirectX 6 or 7: ``interface``."""
        return Session(
            self.rig, context=self._numbers.next_context(), interface=interface,
            command_bytes=COMMAND_BYTES, record=self._record, numbers=self._numbers,
            answers=self._answers,
        )  # fmt: skip

    def settle(self) -> Session:
        """Submit the commands of all devices; returns the session for DirectDraw's operations."""
        for device in self.devices:
            device.session.flush()
        return self._memory

    # The display and surfaces

    def set_display(self, width: int, height: int, bits: int) -> None:
        """SetDisplayMode.  Raises Refused for sizes below 1 x 1 and unknown depths."""
        if bits not in _DISPLAYS or min(width, height) < 1:
            raise Refused(HResult.DDERR_INVALIDMODE, f"{width} x {height} of {bits} bits")
        self.display = replace(self.display, width=width, height=height, pixels=_DISPLAYS[bits])

    def create(self, asked: Description) -> DrawSurface:
        """CreateSurface (``create_surface``)."""
        return create_surface(self._memory, asked, self.display)

    def resize(self, surface: DrawSurface, width: int, height: int) -> None:
        """Recreate a primary surface and its back buffers in another size, without content."""
        self.display = replace(self.display, width=width, height=height)
        memory = self.settle()
        for each in (surface, *surface.flipped()):
            desc = each.desc
            each.desc = memory.create_surface(
                desc.kind, width, height, desc.format, usage=desc.usage
            )
            memory.destroy_surface(each.handle)
            each.handle = each.desc.handle

    def destroy(self, surface: DrawSurface) -> None:
        """Destroy a surface with its levels, faces and back buffers."""
        self.settle()
        for each in dict.fromkeys((*_family(surface), *surface.flipped())):
            if not each.destroyed:
                each.destroyed = True
                self._memory.destroy_surface(each.handle)

    # Locks

    def store(self, surface: DrawSurface, rect: Rect | None, pitch: int, data: bytes) -> None:
        """Unlock: write a rectangle from rows (of blocks) ``pitch`` bytes apart.

        Bytes beyond the rectangle are ignored; missing rows keep their content.
        """
        row, part = FORMATS[surface.format], surface.part
        area = (rect or surface.bounds).intersect(surface.bounds)
        wide, high = row.block
        left, top = area.left // wide, area.top // high
        size = (-(-area.right // wide) - left) * row.size
        rows = -(-area.bottom // high) - top
        memory = self.settle()
        memory.lock(surface.handle)
        start = top * part.pitch + left * row.size
        if pitch == part.pitch == size:
            memory.write(surface.handle, start, data[: rows * size])
            return
        for number in range(rows):
            line = data[number * pitch : number * pitch + size]
            if line:
                memory.write(surface.handle, start + number * part.pitch, line)

    def picture(self, call: int, kind: PictureKind, surface: DrawSurface) -> None:
        """Record that API call number ``call`` reads or shows a surface."""
        self.settle().picture(call, kind, surface.desc.handle, surface.index)

    # Transfers

    def blit(self, blt: Blt) -> None:
        """DdBlt, after submitting the commands of all devices."""
        self.settle().blit(blt)

    def take_over(self, target: DrawSurface, source: DrawSurface) -> None:
        """Set the palette and colour keys of ``source``, if any, on ``target``, as Load does."""
        if source.palette is not None:
            target.palette = source.palette
        if source.source_key is not None:
            target.source_key = source.source_key
            self.settle().set_color_key(target.handle, source.source_key)
        if source.target_key is not None:
            target.target_key = source.target_key

    def flip(self, front: DrawSurface, override: DrawSurface | None = None) -> None:
        """Flip: rotate the buffers of a chain, or exchange the front buffer and ``override``.

        Raises Refused for a surface without back buffers.
        """
        chain = [override] if override is not None else front.flipped()
        if not chain:
            raise Refused(HResult.DDERR_NOTFLIPPABLE, "a surface without back buffers")
        memory = self.settle()
        for before, behind in zip([front, *chain[:-1]], chain, strict=True):
            memory.flip(before.handle, behind.handle)
            before.drawn, behind.drawn = behind.drawn, before.drawn

    def mark_frame(self, surface: DrawSurface) -> None:
        """Mark the end of a frame that shows a surface."""
        self.settle().mark_frame(surface.handle)

    # Colour keys and palettes

    def set_color_key(self, surface: DrawSurface, flags: int, key: ColorKey | None) -> None:
        """SetColorKey; DDCKEY_SRCBLT also applies to draws with the surface as a texture.

        Without DDCKEY_COLORSPACE the key is a single colour, the first of its range.
        """
        if key is not None and not flags & KeyFlags.COLORSPACE:
            key = key[0], key[0]
        if flags & KeyFlags.SRCBLT:
            surface.source_key = key
            self.settle().set_color_key(surface.handle, key)
        if flags & KeyFlags.DESTBLT:
            surface.target_key = key

    def create_palette(self, *, alpha: bool = False) -> Palette:
        """CreatePalette."""
        self._palettes += 1
        return Palette(self._palettes, alpha)

    def set_entries(
        self, palette: Palette, first: int, entries: Sequence[tuple[int, int, int, int]]
    ) -> None:
        """SetEntries.  Raises Refused beyond the palette's last entry."""
        if first + len(entries) > len(palette.entries):
            raise Refused(HResult.DDERR_INVALIDPARAMS, f"palette entries past {first}")
        palette.entries[first : first + len(entries)] = entries
        palette.version += 1


def _family(surface: DrawSurface) -> list[DrawSurface]:
    """``surface`` and the mip levels and faces of its texture that are attached below it."""
    found: list[DrawSurface] = []
    waiting = [surface]
    while waiting:
        each = waiting.pop()
        if each in found or each.desc is not surface.desc:
            continue
        found.append(each)
        waiting += each.attached
    return found
