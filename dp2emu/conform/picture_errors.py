"""Pictures of a failed case, expected and found, and the errors that explain their difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import msgspec
import numpy as np

from dp2emu.capture.records import SurfaceCreated
from dp2emu.conform.case import Case
from dp2emu.conform.emulated import Mask, Words
from dp2emu.conform.evidence import Part, WrongMemory
from dp2emu.conform.target import PIXEL_BYTES
from dp2emu.d3d.enums import Format
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

WORD_FORMATS = (Format.A8R8G8B8, Format.X8R8G8B8)
"""Formats of the surfaces whose bytes are shown as pictures."""
_SHIFTS = sorted(
    set(product(range(-2, 3), repeat=2)) - {(0, 0)},
    key=lambda shift: (abs(shift[0]) + abs(shift[1]), shift),
)
"""Displacements (x, y) in pixels that are tried, the shortest first."""
_LANES = "BGRA"
"""Channels of a pixel word from its lowest byte on."""
_ORDERS = sorted(
    set(permutations(range(4))) - {(0, 1, 2, 3)},
    key=lambda order: (sum(lane != at for at, lane in enumerate(order)), order),
)
"""Wrong orders of the channels, those with the fewest moved ones first."""


class SeenPicture(msgspec.Struct, frozen=True, eq=False):
    """Surface ``handle`` as a driver drew it, ``found``, and as the case expects it.

    ``known`` marks the pixels that the case expects; others are zeros in ``expected``.
    """

    handle: int
    found: Words
    expected: Words
    known: Mask

    @property
    def wrong(self) -> Mask:
        """The pixels that differ."""
        wrong: Mask = self.known & (self.found != self.expected)
        return wrong

    @property
    def inside(self) -> Mask:
        """The pixels at least one pixel away from where the expected picture changes or ends."""
        height, width = self.known.shape
        around, known = np.pad(self.expected, 1), np.pad(self.known, 1)
        kept = self.known.copy()
        for y, x in product(range(3), repeat=2):
            window = slice(y, y + height), slice(x, x + width)
            kept &= known[window] & (around[window] == self.expected)
        return kept

    @property
    def right_shape(self) -> bool:
        """Whether the same pixels differ from the background as in the expected picture."""
        found = self.found != _background(self.found, self.known)
        expected = self.expected != _background(self.expected, self.known)
        return not (self.known & (found != expected)).any()


def parts_of(picture: SeenPicture, kept: Mask) -> Iterator[Part]:
    """The pixels ``kept`` of a picture as parts of its surface, one for each run of them."""
    edges = np.diff(np.concatenate(([False], (kept & picture.known).ravel(), [False])).astype(int))
    for first, end in zip((edges > 0).nonzero()[0], (edges < 0).nonzero()[0], strict=True):
        run = slice(first, end)
        found, expected = (words.ravel()[run].astype("<u4").tobytes()
                           for words in (picture.found, picture.expected))  # fmt: skip
        yield Part(picture.handle, int(first) * PIXEL_BYTES, found, expected)


def seen_pictures(case: Case, evidence: WrongMemory) -> list[SeenPicture]:
    """The pictures of a case that looks at memory: of surfaces of 32-bit colours, by handle."""
    surfaces = {each.desc.handle: each.desc for each in case.records
                if isinstance(each, SurfaceCreated)}  # fmt: skip
    parts: dict[int, list[Part]] = {}
    for part in evidence.parts:
        parts.setdefault(part.handle, []).append(part)
    return [
        _picture(surfaces[handle], group)
        for handle, group in sorted(parts.items())
        if _has_words(surfaces[handle]) and all(part.offset % PIXEL_BYTES == 0 for part in group)
    ]


def _has_words(desc: SurfaceDesc) -> bool:
    return desc.kind is SurfaceKind.SURFACE and desc.format in WORD_FORMATS


def _picture(desc: SurfaceDesc, parts: list[Part]) -> SeenPicture:
    size = desc.width * desc.height
    found, expected = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    known = np.zeros(size, np.bool_)
    for part in parts:
        at = slice(part.offset // PIXEL_BYTES, (part.offset + len(part.expected)) // PIXEL_BYTES)
        found[at] = np.frombuffer(part.found, "<u4")
        expected[at] = np.frombuffer(part.expected, "<u4")
        known[at] = True
    shape = desc.height, desc.width
    return SeenPicture(
        desc.handle, found.reshape(shape), expected.reshape(shape), known.reshape(shape)
    )


def _background(words: Words, known: Mask) -> int:
    """The most frequent word of the known pixels, the smallest of several."""
    values, counts = np.unique(words[known], return_counts=True)
    return int(values[counts.argmax()])


# Errors of whole pictures


def shifts(picture: SeenPicture) -> Iterator[str]:
    """Displacements that make the picture found of the expected one."""
    height, width = picture.known.shape
    for dx, dy in _SHIFTS:
        rows, columns = np.arange(height) - dy, np.arange(width) - dx
        inner = ((rows >= 0) & (rows < height))[:, None] & (columns >= 0) & (columns < width)
        place = np.ix_(rows.clip(0, height - 1), columns.clip(0, width - 1))
        judged = inner & picture.known & picture.known[place]
        moved = picture.expected[place]
        if (picture.wrong & ~judged).any() or (judged & (moved != picture.found)).any():
            continue
        yield f"pictures are shifted by ({dx}, {dy}) pixels"


def channel_swaps(picture: SeenPicture) -> Iterator[str]:
    """Orders of the channels that make the picture found of the expected one: everywhere, or on
    all pixels but the background.
    """
    back = _background(picture.expected, picture.known)
    drawn = picture.known & (picture.expected != back)
    for order in _ORDERS:
        moved = _reordered(picture.expected, order)
        names = "".join(_LANES[lane] for lane in reversed(order))
        what = f"the channels ARGB are in the order {names}"
        if not (picture.known & (moved != picture.found)).any():
            yield what
        elif not (picture.wrong & ~drawn).any() and not (drawn & (moved != picture.found)).any():
            yield f"{what} in what is drawn"


def _reordered(words: Words, order: tuple[int, ...]) -> Words:
    """Words whose byte ``n`` is byte ``order[n]`` of ``words``."""
    lanes = words[..., None] >> np.array([8 * lane for lane in order], np.uint32) & np.uint32(0xFF)
    made: Words = (lanes << np.array([0, 8, 16, 24], np.uint32)).sum(axis=-1, dtype=np.uint32)
    return made


def lost_channels(picture: SeenPicture) -> Iterator[str]:
    """Sets of channels that are all zeros or all ones, while the others are right."""
    for bits in range(1, 15):
        mask = sum(0xFF << 8 * lane for lane in range(4) if bits >> lane & 1)
        names = "".join(_LANES[lane] for lane in (3, 2, 1, 0) if bits >> lane & 1)
        zeros = picture.expected & np.uint32(~mask & 0xFFFFFFFF)
        for value, made in (("0", zeros), ("1", picture.expected | np.uint32(mask))):
            if not (picture.known & (made != picture.found)).any():
                yield f"channels {names} are always {value}"


def uniform(picture: SeenPicture) -> Iterator[str]:
    """The error of a picture whose pixels all have one colour, and should not."""
    found, expected = picture.found[picture.known], picture.expected[picture.known]
    if (found == found[0]).all() and (expected != expected[0]).any():
        yield "all pixels have one colour"


def blank(picture: SeenPicture) -> Iterator[str]:
    """The error of a picture whose pixels are all zeros, as memory is before a driver draws."""
    if not picture.found[picture.known].any():
        yield "all pixels are zeros"


# Errors of some pixels


def missing_or_extra(picture: SeenPicture) -> Iterator[str]:
    """Errors of a picture whose wrong pixels all are, or all should be, of the background."""
    back, wrong = _background(picture.expected, picture.known), picture.wrong
    if (picture.found[wrong] == back).all():
        yield "pixels are missing, and no others are wrong"
    if (picture.expected[wrong] == back).all():
        yield "pixels are drawn that should not be, and no others are wrong"


def one_colour(picture: SeenPicture) -> Iterator[str]:
    """The error of a picture in which all wrong pixels are of one colour instead of one other."""
    wrong = picture.wrong
    pairs = Counter(
        zip(picture.expected[wrong].tolist(), picture.found[wrong].tolist(), strict=True)
    )
    if len(pairs) == 1:
        ((wanted, found),) = pairs
        yield f"colour {found:08X} is drawn instead of {wanted:08X}"


def wrong_shape(picture: SeenPicture) -> Iterator[str]:
    """The error of any picture: other pixels are drawn, or the right ones in other colours."""
    shape = "the right pixels have wrong colours" if picture.right_shape else "pictures differ"
    yield shape


Explainer = Callable[[SeenPicture], Iterator[str]]
"""Function that yields errors, in words, each of which explains a picture wholly."""


def explained(case: Case, evidence: Any, explainer: Explainer) -> list[str]:
    """The errors that explain every wrong picture of a case, in the order of the first one's."""
    if not isinstance(evidence, WrongMemory):
        return []
    wrong = [each for each in seen_pictures(case, evidence) if each.wrong.any()]
    if not wrong:
        return []
    first, *others = ([*explainer(picture)] for picture in wrong)
    return [error for error in first if all(error in other for other in others)]
