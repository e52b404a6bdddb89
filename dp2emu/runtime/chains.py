"""Swap chains: back buffers, the front buffer behind them, and Present."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import msgspec

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, Pool
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import Box
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.session import Session

_LINEAR = 2
"""The flag of BLT for a linear filter (wire format, "Copies")."""
_SAMPLES_OF_TYPE = {0: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8}
"""D3DMULTISAMPLE_TYPE -> the samples made for it: at least as many as are asked for."""
_NONMASKABLE = 1
_MOST = 8


def samples_of(type: int, quality: int) -> int:
    """Samples of a D3DMULTISAMPLE_TYPE; D3DMULTISAMPLE_NONMASKABLE has twice as many from quality
    to quality.
    """
    if type == _NONMASKABLE:
        return min(2 << min(max(quality, 0), 2), _MOST)
    return _SAMPLES_OF_TYPE.get(type, _MOST)


class Presentation(msgspec.Struct, frozen=True):
    """D3DPRESENT_PARAMETERS as granted, as far as they make surfaces; ``depth`` is the format of
    the automatic depth surface or None.
    """

    width: int
    height: int
    format: Format
    back_buffers: int = 1
    samples: int = 1
    depth: Format | None = None


class Chain:
    """The surfaces of a swap chain.  Mutable: what is presented moves through them.

    Back buffers exchange what they hold at each Present, as a ring; the front buffer gets a copy
    of the first, so that with one back buffer that one keeps its content.
    """

    def __init__(
        self,
        session: Session,
        parameters: Presentation,
        create: Callable[[int, int, Format, int], SurfaceDesc],
        first: SurfaceDesc | None = None,
    ) -> None:
        """``create`` makes a render target of width, height, format and samples; ``first`` is a
        back buffer that there is already.
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
        """All of them."""
        return [*self.back_buffers, self.front]

    def present(self, source: Box | None = None, target: Box | None = None) -> None:
        """Present: the front buffer gets a rectangle of the first back buffer, and the frame ends.

        A target rectangle of another size is filled with a linear filter.
        """
        back, front = self.back_buffers[0].desc, self.front.desc
        assert back is not None
        assert front is not None
        shown = source or (0, 0, back.width, back.height)
        place = target or (0, 0, front.width, front.height)
        if _inside(shown, back) and _inside(place, front):
            item = (back.handle, shown, 0, front.handle, place, 0, _flags(shown, place))
            self._session.emit(Op.BLT, [item])
        self._session.mark_frame(back.handle)
        handles = [each.desc.handle for each in self.back_buffers if each.desc]
        for one, other in pairwise(handles):
            self._session.flip(one, other)

    def show(self, target: SurfaceDesc) -> None:
        """GetFrontBufferData: the front buffer at the corner of a surface, as much as fits."""
        front = self.front.desc
        assert front is not None
        box = (0, 0, min(front.width, target.width), min(front.height, target.height))
        self._session.emit(Op.BLT, [(front.handle, box, 0, target.handle, box, 0, 0)])


def _inside(box: Box, desc: SurfaceDesc) -> bool:
    left, top, right, bottom = box
    return 0 <= left < right <= desc.width and 0 <= top < bottom <= desc.height


def _flags(one: Box, other: Box) -> int:
    alike = (one[2] - one[0], one[3] - one[1]) == (other[2] - other[0], other[3] - other[1])
    return 0 if alike else _LINEAR
