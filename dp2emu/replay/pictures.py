"""Pictures of colour targets, taken where the GPU passes a place in the stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dp2emu.d3d.enums import Format
from dp2emu.d3d.sdk import sdk_name
from dp2emu.errors import Unsupported
from dp2emu.gpu.memory import Surface, SurfaceDesc
from dp2emu.outputs import write_file
from dp2emu.picture import has_picture, take_picture


class Observable(Protocol):
    """What a rig needs beyond ``Rig`` for pictures; none of it may steer the rig."""

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Show a surface to ``sink`` when all work submitted so far is done."""

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of a surface."""

    def target(self, context: int) -> int:
        """Colour target 0 of a context, 0 for none."""


class Photographer:
    """Takes pictures into a folder.  Mutable: it remembers what it has."""

    def __init__(
        self, rig: Observable, folder: Path, publish: Callable[[dict[str, Any]], None]
    ) -> None:
        """``publish`` gets the row of each picture as it is taken."""
        folder.mkdir(parents=True, exist_ok=True)
        self._rig = rig
        self._folder = folder
        self._publish = publish
        self._taken: dict[int, int] = {}

    def target(self, context: int) -> int:
        """Colour target 0 of a context, 0 for none.  Raises Fault if there is no such context."""
        return self._rig.target(context)

    def take(self, call: int, surface: int) -> None:
        """Take the picture of a surface as call ``call`` leaves it, unless there is one; 0: none.

        Raises Fault for an unknown surface and Unsupported for one that has no picture.
        """
        if surface == 0 or self._taken.get(surface) == call:
            return
        format = self._rig.surface(surface).format
        if not has_picture(format):
            name = sdk_name(Format, format) or f"format {format:#x}"
            raise Unsupported(f"picture of surface {surface}, {name}")
        self._taken[surface] = call
        self._rig.observe(surface, lambda seen: self._develop(call, surface, seen))

    def _develop(self, call: int, handle: int, surface: Surface) -> None:
        picture = take_picture(surface)
        name = f"call{call:06}_surface{handle}.png"
        write_file(self._folder / name, picture.png)
        self._publish(
            {
                "call": call,
                "surface": handle,
                "file": name,
                "width": picture.width,
                "height": picture.height,
                "format": picture.format.sdk,
                "crc32": f"{picture.crc32:08x}",
            }
        )
