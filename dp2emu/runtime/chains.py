"""Swap chains: back buffers, the front buffer behind them, and Present."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import msgspec

from dp2emu.d3d.enums import Format, Pool
from dp2emu.d3d.flags import DP2BLT_LINEAR
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import Box
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.session import Session

_SAMPLES_OF_TYPE = {0: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8}
"""Number of samples (1, 2, 4 or 8) by D3DMULTISAMPLE_TYPE, which is rounded up to one of them."""
_NONMASKABLE = 1
_MOST = 8


def samples_of(type: int, quality: int) -> int:
    """Number of samples of a D3DMULTISAMPLE_TYPE; of D3DMULTISAMPLE_NONMASKABLE 2, 4 or 8 for
    ``quality`` 0, 1 or more.
    """
    if type == _NONMASKABLE:
        return min(2 << min(max(quality, 0), 2), _MOST)
    return _SAMPLES_OF_TYPE.get(type, _MOST)


class Presentation(msgspec.Struct, frozen=True):
    """The D3DPRESENT_PARAMETERS that create surfaces; ``depth`` is the format of the automatic
    depth surface or None.
    """

    width: int
    height: int
    format: Format
    back_buffers: int = 1
    samples: int = 1
    depth: Format | None = None


class Chain:
    """A swap chain: its back buffers and front buffer.  Mutable: Present moves their contents.

    Each Present rotates the contents of the back buffers and copies the first to the front buffer;
    a single back buffer keeps its content.
    """

    def __init__(
        self,
        session: Session,
        parameters: Presentation,
        create: Callable[[int, int, Format, int], SurfaceDesc],
        first: SurfaceDesc | None = None,
    ) -> None:
        """Create the front buffer and the back buffers; ``first``, if it exists, is the first of
        these.

        ``create(width, height, format, samples)`` returns a new render target.
        """
        p, self._session = parameters, session
        made = [first] if first else []
        while len(made) < max(p.back_buffers, 1):
            made.append(create(p.width, p.height, p.format, p.samples))
        self.back_buffers = [Resource(desc, Pool.DEFAULT, implicit=True) for desc in made]
        front = create(p.width, p.height, p.format, 1)
        self.front = Resource(front, Pool.DEFAULT, implicit=True)
        self.parameters = parameters

    @property
    def surfaces(self) -> list[Resource]:
        """The back buffers and the front buffer."""
        return [*self.back_buffers, self.front]

    def present(self, source: Box | None = None, target: Box | None = None) -> None:
        """Present: copy a rectangle of the first back buffer to the front buffer, and end a frame.

        A target rectangle of another size is filtered linearly; before DirectX 9 not at all.
        """
        back, front = self.back_buffers[0].desc, self.front.desc
        assert back is not None
        assert front is not None
        shown = source or (0, 0, back.width, back.height)
        place = target or (0, 0, front.width, front.height)
        if _inside(shown, back) and _inside(place, front):
            flags = 0 if _size(shown) == _size(place) else DP2BLT_LINEAR
            self._session.copy(back, shown, front, place, flags)
        self._session.mark_frame(back.handle)
        handles = [each.desc.handle for each in self.back_buffers if each.desc]
        for one, other in pairwise(handles):
            self._session.flip(one, other)

    def show(self, target: SurfaceDesc) -> None:
        """GetFrontBufferData: copy the front buffer to a surface's top left corner, clipped."""
        front = self.front.desc
        assert front is not None
        box = (0, 0, min(front.width, target.width), min(front.height, target.height))
        self._session.copy(front, box, target, box)


def _inside(box: Box, desc: SurfaceDesc) -> bool:
    left, top, right, bottom = box
    return 0 <= left < right <= desc.width and 0 <= top < bottom <= desc.height


def _size(box: Box) -> tuple[int, int]:
    return box[2] - box[0], box[3] - box[1]
