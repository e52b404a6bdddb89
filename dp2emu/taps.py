"""Taps: observation of executed draws, and the draws behind an occlusion count or a pixel."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.errors import Unsupported, UsageError
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.packets import BeginQuery, Draw, EndQuery, IndirectDraw, Packet
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.input_assembler.indirect_arguments import direct_draw

SAMPLES = 1 << 26
"""Maximum number of written samples that a ``Taps`` object may record."""


class Drawn(msgspec.Struct, frozen=True):
    """An executed draw: its ``number`` from 0, its ``time`` in ticks, its ``packet``.

    ``pixels`` are pairs of arrays, x and y of each sample that passed all tests, in drawing order.
    """

    number: int
    time: int
    packet: Draw
    pixels: list[tuple[I64, I64]] = msgspec.field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of samples that passed all tests in this draw."""
        return sum(len(x) for x, _ in self.pixels)

    def times(self, x: int, y: int) -> int:
        """The number of samples of pixel (``x``, ``y``) that passed."""
        return sum(int(np.count_nonzero((xs == x) & (ys == y))) for xs, ys in self.pixels)


class Why(NamedTuple):
    """The draws, in order, in which samples passed between BEGIN and END of an occlusion query.

    ``mask`` has the number of passed samples of each pixel, int64 (height, width), cropped to the
    right of and below the last such pixel.
    """

    draws: tuple[Drawn, ...]
    mask: NDArray[np.int64]

    @property
    def samples(self) -> int:
        """Number of samples that passed in all draws, which the query reports in 32 bits."""
        return sum(drawn.count for drawn in self.draws)


@checked
class Taps:
    """Records the draws of ``gpu`` from now on, and the pixels they write.  Mutable: it records.

    Meanwhile draws are executed one by one instead of in batches, with the same results.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.draws: list[Drawn] = []
        self._gpu = gpu
        self._samples = 0
        self._begun: dict[tuple[int, int], int] = {}
        self._ended: dict[int, tuple[int, int]] = {}
        gpu.packet_taps.append(self._packet)
        gpu.pixel_taps.append(self._pixels)

    def close(self) -> None:
        """Stop recording; the recorded draws stay."""
        self._gpu.packet_taps.remove(self._packet)
        self._gpu.pixel_taps.remove(self._pixels)

    def why(self, query: int) -> Why:
        """The draws that contributed to the latest result of the occlusion query with id
        ``query``: those between its last BEGIN and END.

        Raises UsageError if the query had no END during the recording.
        """
        if query not in self._ended:
            raise UsageError(f"query {query} has not ended during the recording")
        first, last = self._ended[query]
        draws = tuple(drawn for drawn in self.draws[first:last] if drawn.count)
        return Why(draws, _mask(draws))

    def history(self, x: int, y: int) -> list[Drawn]:
        """The draws that wrote pixel (``x``, ``y``) of any target, in order."""
        return [drawn for drawn in self.draws if drawn.times(x, y)]

    def _packet(self, packet: Packet, start: int) -> None:
        at = len(self.draws)
        if isinstance(packet, IndirectDraw):
            # The execution reports arguments that are too large.
            with suppress(Unsupported):
                packet = direct_draw(packet) or packet
        if isinstance(packet, Draw):
            self.draws.append(Drawn(at, start, packet))
        elif isinstance(packet, BeginQuery):
            self._begun[id(packet.slot), packet.generation] = at
        elif isinstance(packet, EndQuery):
            first = self._begun.pop((id(packet.slot), packet.generation), at)
            self._ended[packet.slot.key] = first, at

    def _pixels(self, x: I64, y: I64) -> None:
        self._samples += len(x)
        if self._samples > SAMPLES:
            raise UsageError(f"more than {SAMPLES} samples to record")
        self.draws[-1].pixels.append((x.copy(), y.copy()))


def _mask(draws: tuple[Drawn, ...]) -> NDArray[np.int64]:
    pieces = [piece for drawn in draws for piece in drawn.pixels if len(piece[0])]
    if not pieces:
        return np.zeros((0, 0), np.int64)
    x, y = (np.concatenate(lanes) for lanes in zip(*pieces, strict=True))
    mask = np.zeros((int(y.max()) + 1, int(x.max()) + 1), np.int64)
    np.add.at(mask, (y, x), 1)
    return mask
