"""The format table, against the layouts of the documentation written out by hand."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, DEPTH, FORMATS, Channel, Coding, Use

LAYOUTS: dict[str, tuple[int, str]] = {
    "R8G8B8": (3, "b0:8 g8:8 r16:8"),
    "A8R8G8B8": (4, "b0:8 g8:8 r16:8 a24:8"),
    "X8R8G8B8": (4, "b0:8 g8:8 r16:8"),
    "R5G6B5": (2, "b0:5 g5:6 r11:5"),
    "X1R5G5B5": (2, "b0:5 g5:5 r10:5"),
    "A1R5G5B5": (2, "b0:5 g5:5 r10:5 a15:1"),
    "A4R4G4B4": (2, "b0:4 g4:4 r8:4 a12:4"),
    "R3G3B2": (1, "b0:2 g2:3 r5:3"),
    "A8": (1, "a0:8"),
    "A8R3G3B2": (2, "b0:2 g2:3 r5:3 a8:8"),
    "X4R4G4B4": (2, "b0:4 g4:4 r8:4"),
    "A2B10G10R10": (4, "r0:10 g10:10 b20:10 a30:2"),
    "A8B8G8R8": (4, "r0:8 g8:8 b16:8 a24:8"),
    "X8B8G8R8": (4, "r0:8 g8:8 b16:8"),
    "G16R16": (4, "r0:16 g16:16"),
    "A2R10G10B10": (4, "b0:10 g10:10 r20:10 a30:2"),
    "A16B16G16R16": (8, "r0:16 g16:16 b32:16 a48:16"),
    "A8P8": (2, "p0:8i a8:8"),
    "P8": (1, "p0:8i"),
    "L8": (1, "l0:8"),
    "A8L8": (2, "l0:8 a8:8"),
    "A4L4": (1, "l0:4 a4:4"),
    "L16": (2, "l0:16"),
    "V8U8": (2, "u0:8s v8:8s"),
    "L6V5U5": (2, "u0:5s v5:5s l10:6"),
    "X8L8V8U8": (4, "u0:8s v8:8s l16:8"),
    "Q8W8V8U8": (4, "u0:8s v8:8s w16:8s q24:8s"),
    "V16U16": (4, "u0:16s v16:16s"),
    "A2W10V10U10": (4, "u0:10s v10:10s w20:10s a30:2"),
    "Q16W16V16U16": (8, "u0:16s v16:16s w32:16s q48:16s"),
    "CxV8U8": (2, "u0:8s v8:8s"),
    "R16F": (2, "r0:16f"),
    "G16R16F": (4, "r0:16f g16:16f"),
    "A16B16G16R16F": (8, "r0:16f g16:16f b32:16f a48:16f"),
    "R32F": (4, "r0:32f"),
    "G32R32F": (8, "r0:32f g32:32f"),
    "A32B32G32R32F": (16, "r0:32f g32:32f b64:32f a96:32f"),
    "D16_LOCKABLE": (2, "d0:16"),
    "D32": (4, "d0:32"),
    "D15S1": (2, "s0:1i d1:15"),
    "D24S8": (4, "s0:8i d8:24"),
    "D24X8": (4, "d8:24"),
    "D24X4S4": (4, "s0:4i d8:24"),
    "D16": (2, "d0:16"),
    "S1D15": (2, "d0:15 s15:1i"),
    "S8D24": (4, "d0:24 s24:8i"),
    "X8D24": (4, "d0:24"),
    "X4S4D24": (4, "d0:24 s24:4i"),
    "D32F_LOCKABLE": (4, "d0:32f"),
    "D24FS8": (4, "s0:8i d8:24f"),
    "D32_LOCKABLE": (4, "d0:32"),
    "S8_LOCKABLE": (1, "s0:8i"),
    "INTZ": (4, "s0:8i d8:24"),
    "DF16": (2, "d0:16"),
    "DF24": (4, "d8:24"),
}
"""Bytes, and each channel as name, lowest bit, number of bits, coding (none: UNORM)."""

BLOCKS = {
    "A1": (1, (8, 1)),
    "UYVY": (4, (2, 1)),
    "YUY2": (4, (2, 1)),
    "YV12": (6, (2, 2)),
    "NV12": (6, (2, 2)),
    "R8G8_B8G8": (4, (2, 1)),
    "G8R8_G8B8": (4, (2, 1)),
    "DXT1": (8, (4, 4)),
    "DXT2": (16, (4, 4)),
    "DXT3": (16, (4, 4)),
    "DXT4": (16, (4, 4)),
    "ATI1N": (8, (4, 4)),
    "ATI2N": (16, (4, 4)),
    "DXT5": (16, (4, 4)),
}
"""Bytes of a block, and the pixels in it."""

LANES = {
    "INTZ": ("d", "d", "d", "d"),
    "DF16": ("d", "d", "d", "d"),
    "DF24": ("d", "d", "d", "d"),
    "R5G6B5": ("r", "g", "b", 1.0),
    "A8": (0.0, 0.0, 0.0, "a"),
    "L8": ("l", "l", "l", 1.0),
    "A8L8": ("l", "l", "l", "a"),
    "G16R16": ("r", "g", 1.0, 1.0),
    "R32F": ("r", 1.0, 1.0, 1.0),
    "V8U8": ("u", "v", 1.0, 1.0),
    "L6V5U5": ("u", "v", "l", 1.0),
    "Q8W8V8U8": ("u", "v", "w", "q"),
    "A2W10V10U10": ("u", "v", "w", "a"),
}

CODINGS = {"": Coding.UNORM, "s": Coding.SNORM, "f": Coding.FLOAT, "i": Coding.UINT}


def parsed(layout: str) -> dict[str, Channel]:
    channels = {}
    for field in layout.split():
        shift, bits = field[1:].split(":")
        digits = bits.rstrip("sfi")
        coding = CODINGS[bits.removeprefix(digits)]
        channels[field[0]] = Channel(int(shift), int(digits), coding)
    return channels


@pytest.mark.parametrize("name", LAYOUTS)
def test_pixels_have_the_documented_layout(name: str) -> None:
    size, layout = LAYOUTS[name]
    row = FORMATS[Format[name]]
    assert (row.size, row.block, dict(row.channels)) == (size, (1, 1), parsed(layout))
    assert row.word.itemsize * row.words == size


@pytest.mark.parametrize("name", BLOCKS)
def test_pixels_that_share_bytes_have_blocks(name: str) -> None:
    row = FORMATS[Format[name]]
    assert (row.size, row.block) == BLOCKS[name]
    assert row.blocked


def test_every_row_is_checked_here() -> None:
    assert {format.name for format in FORMATS} == LAYOUTS.keys() | BLOCKS.keys()


@pytest.mark.parametrize("name", LANES)
def test_what_a_format_lacks_reads_as_a_constant(name: str) -> None:
    row = FORMATS[Format[name]]
    expected = [row.channels[lane] if isinstance(lane, str) else lane for lane in LANES[name]]
    assert list(row.lanes) == expected


def test_uses_follow_from_what_the_channels_are() -> None:
    for row in FORMATS.values():
        names = set(row.channels)
        assert (Use.BUMP in row.uses) == ("u" in names)
        assert (Use.PALETTE in row.uses) == ("p" in names)
        assert (Use.DEPTH in row.uses) == bool(names & {"d", "s"})
        assert not (Use.TARGET in row.uses and names & set("uvwqpds"))


def test_colour_and_depth_formats_are_apart() -> None:
    assert not COLOR.keys() & DEPTH.keys()


def test_formats_without_texels_have_no_row() -> None:
    assert Format.VERTEXDATA not in FORMATS
    assert Format.MULTI2_ARGB8 not in FORMATS


def test_every_bit_is_in_one_channel_at_most() -> None:
    for row in FORMATS.values():
        used = [range(c.shift, c.shift + c.bits) for c in row.channels.values()]
        bits = [bit for channel in used for bit in channel]
        assert len(bits) == len(set(bits))
        assert all(bit < 8 * row.size for bit in bits)
