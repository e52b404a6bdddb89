"""Tables of BC6H and BC7, whose blocks have modes, partitions and indices of several widths.

Source: "BC6H Format", "BC7 Format" and "BC7 Format Mode Reference" of the Direct3D 11
documentation; chapters 19.5.13 and 19.5.14 of the Direct3D 11.3 functional specification, whose
pictures have the partition sets and bit fields.  ``shader.texture.partitioned_decoder`` decodes
texels with the tables, packed into 32-bit words by ``bc6h_words`` and ``bc7_words``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


def _hexadecimal(words: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in words.split())


TWO_SUBSETS = _hexadecimal("""
    CCCC 8888 EEEE ECC8 C880 FEEC FEC8 EC80 C800 FFEC FE80 E800 FFE8 FF00 FFF0 F000
    F710 008E 7100 08CE 008C 7310 3100 8CCE 088C 3110 6666 366C 17E8 0FF0 718E 399C
    AAAA F0F0 5A5A 33CC 3C3C 55AA 9696 A55A 73CE 13C8 324C 3BDC 6996 C33C 9966 0660
    0272 04E4 4E40 2720 C936 936C 39C6 639C 9336 9CC6 817E E718 CCF0 0FCC 7744 EE22
""")
"""Partition number -> one bit for each texel, row by row from the lowest bit: its subset."""

THREE_SUBSETS = _hexadecimal("""
    AA685050 6A5A5040 5A5A4200 5450A0A8 A5A50000 A0A05050 5555A0A0 5A5A5050
    AA550000 AA555500 AAAA5500 90909090 94949494 A4A4A4A4 A9A59450 2A0A4250
    A5945040 0A425054 A5A5A500 55A0A0A0 A8A85454 6A6A4040 A4A45000 1A1A0500
    0050A4A4 AAA59090 14696914 69691400 A08585A0 AA821414 50A4A450 6A5A0200
    A9A58000 5090A0A8 A8A09050 24242424 00AA5500 24924924 24499224 50A50A50
    500AA550 AAAA4444 66660000 A5A0A5A0 50A050A0 69286928 44AAAA44 66666600
    AA444444 54A854A8 95809580 96969600 A85454A8 80959580 AA141414 96960000
    AAAA1414 A05050A0 A0A5A5A0 96000000 40804080 A9A8A9A8 AAAAAA44 2A4A5254
""")
"""Partition number -> two bits for each texel, row by row from the lowest bits: its subset."""


def _anchors(digits: str) -> tuple[int, ...]:
    return tuple(int(digit, 16) for digit in "".join(digits.split()))


TWO_ANCHORS = _anchors("FFFFFFFFFFFFFFFF F282288F28228822 FF6828FF28222FF6 6268FF22FFFFF22F")
"""Partition number -> texel of subset 1 whose index has one bit less, of two subsets.
In subset 0 it is always texel 0."""

THREE_ANCHORS = (
    _anchors("33FF83FF88666533 338F336A588685FF 8F356A8FF3F5FFFF 3F55585A5A8DFC33"),
    _anchors("F883FF38FFFFFFF8 F8F3F8F83F6AFFA8 F3FAA89A6F8F3668 F3FFFFFFFFFF3FF8"),
)
"""Partition number -> these texels of subset 1 and of subset 2, of three subsets."""


class Bc7Mode(NamedTuple):
    """A mode of BC7: number of subsets, bits of the partition, of the rotation and of the index
    selector; bits of a colour and of an alpha channel of an endpoint, without its P-bit; number of
    P-bits; bits of an index, and of an index of the second set (0 if there is none).
    """

    subsets: int
    partition: int
    rotation: int
    selector: int
    color: int
    alpha: int
    p_bits: int
    indices: int
    second: int = 0


BC7_MODES = (
    Bc7Mode(3, 4, 0, 0, 4, 0, 6, 3),
    Bc7Mode(2, 6, 0, 0, 6, 0, 2, 3),
    Bc7Mode(3, 6, 0, 0, 5, 0, 0, 2),
    Bc7Mode(2, 6, 0, 0, 7, 0, 4, 2),
    Bc7Mode(1, 0, 2, 1, 5, 6, 0, 2, 3),
    Bc7Mode(1, 0, 2, 0, 7, 8, 0, 2, 2),
    Bc7Mode(1, 0, 0, 0, 7, 7, 2, 4),
    Bc7Mode(2, 6, 0, 0, 5, 5, 4, 2),
)
"""Mode number, which is the number of zeros below a block's lowest one, -> ``Bc7Mode``."""

BC7_MODE_ROWS = 2 * len(TWO_SUBSETS)
"""Index of the first mode in ``bc7_words``, after the partitions of two and of three subsets."""
BC7_MODE_WORDS = 4
"""Number of words of a mode in ``bc7_words``."""
BC7_RESERVED = len(BC7_MODES)
"""Number of the reserved mode, whose blocks are 0 in all channels."""

Words = NDArray[np.int32]


@lru_cache(maxsize=1)
def bc7_words() -> Words:
    """The tables of BC7 as int32 words.

    64 words of partitions in two subsets: the subsets in 16 bits, then the anchor, then both
    anchors of the partition in three subsets, 4 bits each.  64 words of subsets of three.  Then
    ``BC7_MODE_WORDS`` for each mode, the reserved one last, a byte for each member.
    """
    anchors = zip(TWO_ANCHORS, *THREE_ANCHORS, strict=True)
    two = (
        subsets | first << 16 | second << 20 | third << 24
        for subsets, (first, second, third) in zip(TWO_SUBSETS, anchors, strict=True)
    )
    rows = chain.from_iterable(_mode_words(n, mode) for n, mode in enumerate(BC7_MODES))
    return _words([*two, *THREE_SUBSETS, *rows, *[0] * BC7_MODE_WORDS])


def _mode_words(number: int, mode: Bc7Mode) -> tuple[int, ...]:
    ends = 2 * mode.subsets
    colors = number + 1 + mode.partition + mode.rotation + mode.selector
    p_bits = colors + ends * (3 * mode.color + mode.alpha)
    indices = p_bits + mode.p_bits
    second = indices + 16 * mode.indices - mode.subsets
    return (
        _bytes(colors, mode.color, mode.alpha, ends),
        _bytes(p_bits, mode.p_bits > 0, 0 < mode.p_bits < ends, _mask(mode.partition)),
        _bytes(indices, mode.indices, second, mode.second),
        _bytes(_mask(mode.rotation), _mask(mode.selector), 0, 0),
    )


class Bc6hMode(NamedTuple):
    """A mode of BC6H: its code in the lowest bits of a block, number of regions, bits of the first
    endpoint's channels, bits of red, green and blue of the other endpoints.

    ``delta``: the other endpoints are differences from the first.  ``spread`` names the bits that
    do not lie with their fields, in order of their positions, as NAME:POSITION.
    """

    code: str
    regions: int
    bits: int
    others: tuple[int, int, int]
    spread: str = ""
    delta: bool = True


BC6H_MODES = (
    Bc6hMode("00", 2, 10, (5, 5, 5), "gy4:2 by4:3 bz4:4 gz4:40 bz0:50 bz1:60 bz2:70 bz3:76"),
    Bc6hMode(
        "01", 2, 7, (6, 6, 6), "gy5:2 gz4:3 gz5:4 bz0:12 bz1:13 by4:14 by5:22 bz2:23 gy4:24 "
        "bz3:32 bz5:33 bz4:34",
    ),
    Bc6hMode("00010", 2, 11, (5, 4, 4), "rw10:40 gw10:49 bz0:50 bw10:59 bz1:60 bz2:70 bz3:76"),
    Bc6hMode(
        "00110", 2, 11, (4, 5, 4),
        "rw10:39 gz4:40 gw10:50 bw10:59 bz1:60 bz0:69 bz2:70 gy4:75 bz3:76",
    ),
    Bc6hMode(
        "01010", 2, 11, (4, 4, 5),
        "rw10:39 by4:40 gw10:49 bz0:50 bw10:60 bz1:69 bz2:70 bz4:75 bz3:76",
    ),
    Bc6hMode(
        "01110", 2, 9, (5, 5, 5), "by4:14 gy4:24 bz4:34 gz4:40 bz0:50 bz1:60 bz2:70 bz3:76"
    ),
    Bc6hMode(
        "10010", 2, 8, (6, 5, 5), "gz4:13 by4:14 bz2:23 gy4:24 bz3:33 bz4:34 bz0:50 bz1:60"
    ),
    Bc6hMode(
        "10110", 2, 8, (5, 6, 5),
        "bz0:13 by4:14 gy5:23 gy4:24 gz5:33 bz4:34 gz4:40 bz1:60 bz2:70 bz3:76",
    ),
    Bc6hMode(
        "11010", 2, 8, (5, 5, 6),
        "bz1:13 by4:14 by5:23 gy4:24 bz5:33 bz4:34 gz4:40 bz0:50 bz2:70 bz3:76",
    ),
    Bc6hMode(
        "11110", 2, 6, (6, 6, 6), "gz4:11 bz0:12 bz1:13 by4:14 gy5:21 by5:22 bz2:23 gy4:24 "
        "gz5:31 bz3:32 bz5:33 bz4:34", delta=False,
    ),
    Bc6hMode("00011", 1, 10, (10, 10, 10), delta=False),
    Bc6hMode("00111", 1, 11, (9, 9, 9)),
    Bc6hMode("01011", 1, 12, (8, 8, 8)),
    Bc6hMode("01111", 1, 16, (4, 4, 4)),
)  # fmt: skip
"""Modes of BC6H.  Other codes are reserved: their blocks are 0 in red, green and blue.

The rest of the fields has one place in all modes: see ``partitioned_decoder``.  Bits from 10 on of
the first endpoint of one region lie above the other endpoint's, the highest bit first."""

BC6H_SPREAD = (
    *("gy4", "gy5", "gz4", "gz5", "by4", "by5", "rw10", "gw10", "bw10"),
    *("bz0", "bz1", "bz2", "bz3", "bz4", "bz5"),
)
"""Bits of endpoints whose positions depend on the mode.  w, x, y and z are the endpoints: the
first and second of region 0, the first and second of region 1."""
BC6H_CODES = 32
"""Number of values of a block's lowest 5 bits, which tell its mode."""
BC6H_MODE_WORDS = 5
"""Number of words of a mode in ``bc6h_words``."""
SPREAD_HERE = 0x80
"""Flag of a byte of ``bc6h_words``: the mode has the bit, at the position in the lower bits."""


@lru_cache(maxsize=1)
def bc6h_words() -> Words:
    """The tables of BC6H as int32 words.

    ``BC6H_MODE_WORDS`` for each value of a block's lowest 5 bits, 0 if it is reserved: bits of the
    first endpoint (5), bits of the others (4 each), then flags DELTA, two regions, and known; then
    a byte for each bit in ``BC6H_SPREAD``.  32 words of partitions follow, as in ``bc7_words``.
    """
    rows = [(0,) * BC6H_MODE_WORDS] * BC6H_CODES
    for mode in BC6H_MODES:
        for low in range(int(mode.code, 2), BC6H_CODES, 1 << len(mode.code)):
            rows[low] = _bc6h_mode_words(mode)
    partitions = (
        subsets | anchor << 16
        for subsets, anchor in zip(TWO_SUBSETS[:32], TWO_ANCHORS[:32], strict=True)
    )
    return _words([*chain.from_iterable(rows), *partitions])


def _bc6h_mode_words(mode: Bc6hMode) -> tuple[int, ...]:
    red, green, blue = mode.others
    flags = mode.delta | (mode.regions == 2) << 1 | 1 << 2
    first = mode.bits | red << 5 | green << 9 | blue << 13 | flags << 17
    places = {name: int(place) for name, place in (bit.split(":") for bit in mode.spread.split())}
    spread = [SPREAD_HERE | places[name] if name in places else 0 for name in BC6H_SPREAD]
    spread += [0] * (-len(spread) % 4)
    parts = pairwise(range(0, len(spread) + 1, 4))
    return first, *(_bytes(*spread[start:stop]) for start, stop in parts)


def _bytes(*parts: int) -> int:
    return sum(part << 8 * number for number, part in enumerate(parts))


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _words(values: list[int]) -> Words:
    return np.array(values, np.uint32).view(np.int32)
