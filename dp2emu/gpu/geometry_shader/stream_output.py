"""Stream output: vertices of primitives are appended to buffers word by word.

Source: Direct3D 10/11 DDI, "Query results"; SM4-5 tokens, "Stream output".  Strips are written as
lists.  A primitive that does not fit one of the buffers of its stream is written to none of them,
and neither is any after it until other buffers are bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.stream_targets import Overflow, StreamLayout, StreamTarget
from dp2emu.shader.types import I32, Lanes


class Streamed(NamedTuple):
    """Result of stream output: number of primitives ``written``, the number ``needed`` if buffers
    were unlimited, and ``size``, the number of bytes written.
    """

    written: int
    needed: int
    size: int


def stream_out(
    layout: StreamLayout,
    targets: Mapping[int, StreamTarget],
    outputs: Mapping[str, Lanes],
    corners: I64,
    overflow: Overflow,
) -> Streamed:
    """Append primitives to stream output buffers, in order, until one does not fit; then nothing
    is appended any more while the slots of the stream are in ``overflow``.

    ``outputs`` are lanes, shape (vertices,), by port; a word whose port is absent is 0.
    ``corners``, shape (1 to 3, n), are the vertices of each primitive.  A slot without a
    buffer has no room, and does not overflow.
    """
    size, needed = corners.shape
    slots = {slot for slot, _ in layout.strides}
    rooms = ((targets[slot].room if slot in targets and slot not in overflow.slots else 0, stride)
             for slot, stride in layout.strides)  # fmt: skip
    written = min([needed, *(room // (stride * size) for room, stride in rooms)])
    if written < needed and slots <= targets.keys():
        overflow.slots |= slots
    order = corners[:, :written].T.ravel()
    for slot, stride in layout.strides if written else ():
        target = targets[slot]
        start = target.filled.size
        for word in layout.words:
            if word.slot == slot:
                place = target.surface.data, start + word.offset, (stride,)
                words: I32 = np.ndarray((len(order),), "<i4", *place)
                words[:] = outputs[word.port][order] if word.port in outputs else 0
        target.filled.size += stride * len(order)
    return Streamed(written, needed, 4 * len(layout.words) * len(order))
