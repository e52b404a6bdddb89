"""Stream output: vertices of whole primitives go to buffers as they come, word by word.

Source: Direct3D 10/11 DDI, "Query results"; SM4-5 tokens, "Stream output".  Primitives are
points, lines or triangles, one behind the other; what was a strip is written as a list.  A
primitive is written whole or not at all: if one of the buffers of its stream has no room for it,
no buffer of that stream gets anything of it, nor of those after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.stream_targets import StreamLayout, StreamTarget
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.types import Lanes

_WORD = 4


class Streamed(NamedTuple):
    """Primitives that were ``written``, and those that would have been in buffers without end;
    and ``size``, the bytes that were written.
    """

    written: int
    needed: int
    size: int


def stream_out(
    layout: StreamLayout,
    targets: Mapping[int, StreamTarget],
    outputs: Mapping[str, Lanes],
    corners: I64,
) -> Streamed:
    """Write primitives, in order, until one does not fit.

    ``outputs`` are lanes, shape (vertices,), by port; a word without one is 0.  ``corners``, shape
    (1 to 3, n), are the vertices of each primitive.  A slot without a buffer has no room; what no
    word covers stays as it is.  Slots have buffers of their own, and strides in which their words
    lie.
    """
    size, needed = corners.shape
    rooms = ((targets[slot].room if slot in targets else 0, stride)
             for slot, stride in layout.strides)  # fmt: skip
    written = min([needed, *(room // (stride * size) for room, stride in rooms)])
    order = corners[:, :written].T.ravel()
    for slot, stride in layout.strides if written else ():
        target = targets[slot]
        start = target.filled.size
        for word in layout.words:
            if word.slot == slot:
                values = outputs[word.port][order] if word.port in outputs else 0
                _lanes(target.surface, start + word.offset, stride, len(order))[:] = values
        target.filled.size += stride * len(order)
    return Streamed(written, needed, _WORD * len(layout.words) * len(order))


def _lanes(surface: Surface, start: int, stride: int, count: int) -> NDArray[np.int32]:
    """So many words of a buffer, wherever they lie."""
    return np.ndarray((count,), "<i4", surface.data, start, (stride,))
