"""A model of the texture cache, for the CACHEUTILIZATION query.

Direct mapped, empty at the start of each draw.  Texels are looked up pixel by pixel, in the order
in which a pixel's sampler reads them.
"""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.queries import Counters

LINE_WORDS = 16
"""32-bit words of a cache line: 64 bytes of contiguous texels."""
LINES = 256
"""Number of lines in the texture cache, 16 KiB in all; line n of a texture is cached as line n
modulo this number."""

_LINE_BITS = 32


class TextureCache:
    """Model of a direct-mapped texture cache that counts look-ups and hits.  Mutable."""

    def __init__(self) -> None:
        self._held = np.full(LINES, -1, np.int64)
        self.lookups = 0
        self.hits = 0

    def look_up(self, texture: int, words: I64) -> None:
        """Count look-ups and hits of word indices in the texture of serial number ``texture``."""
        lines = words // LINE_WORDS
        places = lines % LINES
        tags = np.int64(texture) << _LINE_BITS | lines
        # A place has the line of the previous look-up that mapped to it.
        order = np.argsort(places, kind="stable")
        places, tags = places[order], tags[order]
        before = np.empty_like(tags)
        before[1:] = tags[:-1]
        first = np.ones(len(places), np.bool_)
        first[1:] = places[1:] != places[:-1]
        before[first] = self._held[places[first]]
        last = np.ones_like(first)
        last[:-1] = first[1:]
        self._held[places[last]] = tags[last]
        self.lookups += len(tags)
        self.hits += int(np.count_nonzero(before == tags))

    def count(self, counters: Counters) -> None:
        """Add the numbers of look-ups and hits in this cache to ``counters``."""
        counters.texture_cache_lookups += self.lookups
        counters.texture_cache_hits += self.hits
