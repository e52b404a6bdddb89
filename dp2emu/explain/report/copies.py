"""Copies, resolves and blits: from which pixel of which surface a pixel came."""

from __future__ import annotations

from typing import Any, NamedTuple

from dp2emu.explain.pixel_place import copied_pixel
from dp2emu.explain.playback import Stage
from dp2emu.explain.report.histories import Spot
from dp2emu.gpu.command.packets import Blit, Packet, Part
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.subresources import Box

_Corners = tuple[int, int, int, int]
"""Left, top, right and bottom of a box."""


class Copied(NamedTuple):
    """A copy from the surface ``source``, to the surface ``target`` if both are known.

    ``read`` and ``written`` are the boxes in the first subresource of either, None if the pixels
    are not in the same order or in other subresources.
    """

    source: int
    target: int = 0
    read: _Corners | None = None
    written: _Corners | None = None

    def source_of(self, spot: Spot) -> Spot | None:
        """The pixel that was copied to a pixel, None if none was."""
        if self.read is None or self.written is None or spot.target != self.target:
            return None
        pixel = copied_pixel(self.read, self.written, spot.x, spot.y)
        return None if pixel is None else Spot(self.source, *pixel)

    def row(self) -> dict[str, Any]:
        """The JSON object of an event that copies; without boxes these are null."""
        return {"surface": self.source, "read": self.read, "written": self.written}


def copied_by(packet: Packet, stage: Stage) -> Copied | None:
    """What a packet copies, None if it reads no surface as a whole."""
    source, target = getattr(packet, "source", None), getattr(packet, "target", None)
    if isinstance(source, Surface):
        return Copied(stage.handle(source))
    if not isinstance(source, Part):
        return None
    turned = isinstance(packet, Blit) and (packet.turns or packet.mirror_x or packet.mirror_y)
    if not isinstance(target, Part) or turned or source.index or target.index:
        return Copied(stage.handle(source.surface))
    handles = stage.handle(source.surface), stage.handle(target.surface)
    return Copied(*handles, _corners(source.box), _corners(target.box))


def _corners(box: Box) -> _Corners:
    return box.left, box.top, box.right, box.bottom
