"""BC6H and BC7: every mode and partition, against Pillow and the documents in plain Python."""

from __future__ import annotations

import io
import struct
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.shader.ir import Stage, TextureKind
from dp2emu.shader.texture.bindings import level_rows, limits_of, sampler_numbers, weights_of
from dp2emu.shader.texture.block_decoder import BLOCK_TABLES
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.resource_reads import load_program
from dp2emu.shader.texture.texels import decode
from tests.shader.engines import ENGINES

F = DxgiFormat
Picture = NDArray[np.uint8]
_PILLOW = {F.BC6H_UF16: 95, F.BC6H_SF16: 96, F.BC7_UNORM: 98}


def pillow(format: DxgiFormat, data: bytes, width: int, height: int) -> Picture:
    """The picture that Pillow reads from a DDS file."""
    pixel_format = struct.pack("<II4s5I", 32, 4, b"DX10", 0, 0, 0, 0, 0)
    header = struct.pack("<7I44x", 124, 0x81007, height, width, len(data), 0, 0)
    rest = struct.pack("<10I", 0x1000, 0, 0, 0, 0, _PILLOW[format], 3, 0, 1, 0)
    dds = b"DDS " + header + pixel_format + rest + data
    return np.asarray(Image.open(io.BytesIO(dds)).convert("RGBA"))


def random_blocks(count: int) -> Picture:
    return np.random.default_rng(count).integers(0, 256, (count, 16), np.uint8)


# BC7


@pytest.mark.parametrize("mode", range(8))
def test_every_mode_and_partition_of_bc7_decodes_as_pillow_decodes_it(mode: int) -> None:
    blocks = random_blocks(512)
    words = blocks.view("<u8")
    below = (np.arange(512, dtype=np.uint64) & 63) << (mode + 1) | 1 << mode
    mask = np.uint64((1 << mode + 7) - 1)
    words[:, 0] = words[:, 0] & ~mask | below
    data = blocks.tobytes()
    found = decode(F.BC7_UNORM, data, 128, 64)
    assert (found == pillow(F.BC7_UNORM, data, 128, 64)).all()
    assert (decode(F.BC7_UNORM_SRGB, data, 128, 64) == found).all()


def test_the_reserved_mode_of_bc7_is_zero_in_all_channels() -> None:
    assert not decode(F.BC7_UNORM, b"\0" + b"\xff" * 15, 4, 4).any()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (5, 7)])
def test_levels_smaller_than_a_block_have_a_whole_block(width: int, height: int) -> None:
    count = -(-width // 4) * -(-height // 4)
    data = random_blocks(count).tobytes()
    assert (
        decode(F.BC7_UNORM, data, width, height) == pillow(F.BC7_UNORM, data, width, height)
    ).all()


# BC6H

COLUMNS = """
00 10 5 5 5 d: m1-0 gy4 by4 bz4 rw9-0 gw9-0 bw9-0 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 bx4-0 bz1 by3-0 ry4-0 bz2 rz4-0 bz3 d4-0
01 7 6 6 6 d: m1-0 gy5 gz4 gz5 rw6-0 bz0 bz1 by4 gw6-0 by5 bz2 gy4 bw6-0 bz3 bz5 bz4 rx5-0 gy3-0 gx5-0 gz3-0 bx5-0 by3-0 ry5-0 rz5-0 d4-0
00010 11 5 4 4 d: m4-0 rw9-0 gw9-0 bw9-0 rx4-0 rw10 gy3-0 gx3-0 gw10 bz0 gz3-0 bx3-0 bw10 bz1 by3-0 ry4-0 bz2 rz4-0 bz3 d4-0
00110 11 4 5 4 d: m4-0 rw9-0 gw9-0 bw9-0 rx3-0 rw10 gz4 gy3-0 gx4-0 gw10 gz3-0 bx3-0 bw10 bz1 by3-0 ry3-0 bz0 bz2 rz3-0 gy4 bz3 d4-0
01010 11 4 4 5 d: m4-0 rw9-0 gw9-0 bw9-0 rx3-0 rw10 by4 gy3-0 gx3-0 gw10 bz0 gz3-0 bx4-0 bw10 by3-0 ry3-0 bz1 bz2 rz3-0 bz4 bz3 d4-0
01110 9 5 5 5 d: m4-0 rw8-0 by4 gw8-0 gy4 bw8-0 bz4 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 bx4-0 bz1 by3-0 ry4-0 bz2 rz4-0 bz3 d4-0
10010 8 6 5 5 d: m4-0 rw7-0 gz4 by4 gw7-0 bz2 gy4 bw7-0 bz3 bz4 rx5-0 gy3-0 gx4-0 bz0 gz3-0 bx4-0 bz1 by3-0 ry5-0 rz5-0 d4-0
10110 8 5 6 5 d: m4-0 rw7-0 bz0 by4 gw7-0 gy5 gy4 bw7-0 gz5 bz4 rx4-0 gz4 gy3-0 gx5-0 gz3-0 bx4-0 bz1 by3-0 ry4-0 bz2 rz4-0 bz3 d4-0
11010 8 5 5 6 d: m4-0 rw7-0 bz1 by4 gw7-0 by5 gy4 bw7-0 bz5 bz4 rx4-0 gz4 gy3-0 gx4-0 bz0 gz3-0 bx5-0 by3-0 ry4-0 bz2 rz4-0 bz3 d4-0
11110 6 6 6 6 -: m4-0 rw5-0 gz4 bz0 bz1 by4 gw5-0 gy5 by5 bz2 gy4 bw5-0 gz5 bz3 bz5 bz4 rx5-0 gy3-0 gx5-0 gz3-0 bx5-0 by3-0 ry5-0 rz5-0 d4-0
00011 10 10 10 10 -: m4-0 rw9-0 gw9-0 bw9-0 rx9-0 gx9-0 bx9-0
00111 11 9 9 9 d: m4-0 rw9-0 gw9-0 bw9-0 rx8-0 rw10 gx8-0 gw10 bx8-0 bw10
01011 12 8 8 8 d: m4-0 rw9-0 gw9-0 bw9-0 rx7-0 rw10-11 gx7-0 gw10-11 bx7-0 bw10-11
01111 16 4 4 4 d: m4-0 rw9-0 gw9-0 bw9-0 rx3-0 rw10-15 gx3-0 gw10-15 bx3-0 bw10-15
"""  # noqa: E501
"""The columns of table 2 of "BC6H Format": code, bits of endpoint w and of the other endpoints'
red, green and blue, d if these are differences: then the fields from bit 0 on."""
RESERVED = ("10011", "10111", "11011", "11111")
CODES = [line.split()[0] for line in COLUMNS.strip().splitlines()]
_THREE = (0, 9, 18, 27, 37, 46, 55, 64)
_FOUR = (0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64)


def field_bits(text: str) -> list[tuple[str, int]]:
    """(name, number) of each bit of a field, the lowest position of the block first."""
    name = text.rstrip("-0123456789")
    high, _, low = text.removeprefix(name).partition("-")
    first, last = int(low or high), int(high)
    step = 1 if first <= last else -1
    return [(name, number) for number in range(first, last + step, step)]


@cache
def partitions() -> list[tuple[list[int], int]]:
    """Subsets of the texels and second anchor of the first 32 partitions of two subsets, as
    Pillow's decoder of BC7 has them.  The texel whose index has two bits is the anchor.
    """
    return [_partition(2 | number << 2) for number in range(32)]


def _partition(mode_1: int) -> tuple[list[int], int]:
    red_1, red_2, red_3 = (0x3F << at for at in (14, 20, 26))
    single = (mode_1 | red_1 | red_3 | 1 << 82 + at for at in range(46))
    blocks = [mode_1 | red_2 | red_3, *single]
    data = b"".join(block.to_bytes(16, "little") for block in blocks)
    white = pillow(F.BC7_UNORM, data, 4 * len(blocks), 4)[..., 0].reshape(4, -1, 4) > 0
    subsets, *each = white.swapaxes(0, 1).reshape(-1, 16).astype(int).tolist()
    widths = [sum(texels) for texels in zip(*each, strict=True)]
    (anchor,) = (texel for texel in range(1, 16) if widths[texel] == 2)
    return subsets, anchor


def extended(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (value >> width - 1 << width)


def unquantized(value: int, width: int, signed: bool) -> int:
    if not signed:
        if width >= 15 or value == 0:
            return value
        return 0xFFFF if value == (1 << width) - 1 else ((value << 16) + 0x8000) >> width
    if width >= 16:
        return value
    size = abs(value)
    if size >= (1 << width - 1) - 1:
        found = 0x7FFF
    else:
        found = ((size << 15) + 0x4000) >> width - 1 if size else 0
    return -found if value < 0 else found


def finished(value: int, signed: bool) -> int:
    if not signed:
        return value * 31 >> 6
    size = abs(value) * 31 >> 5
    return size | (0x8000 if value < 0 and size else 0)


def model(block: bytes, signed: bool) -> list[tuple[int, ...]]:
    """Red, green and blue of 16 texels as halves, as the documents decode them."""
    word = int.from_bytes(block, "little")
    code = f"{word & 31:05b}"
    if code in RESERVED:
        return [(0, 0, 0)] * 16
    (line,) = (t for t in COLUMNS.strip().splitlines() if code.endswith(t.split()[0]))
    head, _, fields = line.partition(":")
    _, bits, *others, kind = head.split()
    values: dict[str, int] = {}
    order = [bit for text in fields.split() for bit in field_bits(text)]
    for position, (name, number) in enumerate(order):
        values[name] = values.get(name, 0) | (word >> position & 1) << number
    width, two = int(bits), "d" in values
    subsets, anchor = partitions()[values["d"]] if two else ([0] * 16, 0)
    ends = _model_ends(values, width, [int(n) for n in others], kind == "d", signed)
    position, size, weights = len(order), 3 if two else 4, _THREE if two else _FOUR
    texels = []
    for texel, subset in enumerate(subsets):
        own = size - (texel in (0, anchor))
        weight = weights[word >> position & (1 << own) - 1]
        position += own
        first, second = ends[subset]
        texels.append(
            tuple(
                finished(
                    (
                        unquantized(a, width, signed) * (64 - weight)
                        + unquantized(b, width, signed) * weight
                        + 32
                    )
                    >> 6,
                    signed,
                )
                for a, b in zip(first, second, strict=True)
            )
        )
    assert position == 128
    return texels


def _model_ends(
    values: dict[str, int], width: int, others: list[int], delta: bool, signed: bool
) -> list[tuple[list[int], list[int]]]:
    """Both endpoints of both regions."""
    ends: dict[str, list[int]] = {letter: [] for letter in "wxyz"}
    for channel, own in zip("rgb", others, strict=True):
        base = values[f"{channel}w"]
        ends["w"].append(extended(base, width) if signed else base)
        for letter in "xyz":
            value = values.get(f"{channel}{letter}", 0)
            if delta:
                value = extended(value, own) + base & (1 << width) - 1
            ends[letter].append(extended(value, width) if signed else value)
    return [(ends["w"], ends["x"]), (ends["y"], ends["z"])]


def coded(code: str, count: int) -> list[bytes]:
    """Random blocks of a mode; some have all bits or no bits set beyond it."""
    found = []
    for number, block in enumerate(random_blocks(count)):
        word = int.from_bytes(block.tobytes(), "little")
        word = {0: 0, 1: (1 << 128) - 1}.get(number, word) >> len(code) << len(code)
        found.append(((word | int(code, 2)) & (1 << 128) - 1).to_bytes(16, "little"))
    return found


def halves(format: DxgiFormat, blocks: list[bytes], engine: str) -> list[list[tuple[int, ...]]]:
    """Red, green and blue of each block's texels as halves; checks that alpha is 1."""
    picture = colors(format, blocks, engine)
    assert (picture[..., 3] == 1).all()
    stored = picture[..., :3].astype(np.float16).view(np.uint16)
    squares = stored.reshape(4, -1, 4, 3).swapaxes(0, 1).reshape(-1, 16, 3)
    return [[tuple(texel) for texel in block] for block in squares.tolist()]


def colors(format: DxgiFormat, blocks: list[bytes], engine: str) -> NDArray[np.float32]:
    """The texels of a row of blocks as a shader loads them: (4, 4 * blocks, 4)."""
    words = np.frombuffer(b"".join(blocks), "<i4")
    files = {
        "texels": words,
        "levels": level_rows([(0, len(words) * 4, 0, 4 * len(blocks), 4, 1)]),
        "numbers": sampler_numbers(0.0, (0.0,) * 4),
        "limits": limits_of(1, 0),
        "palette": BLOCK_TABLES[format](),
        "linear": np.zeros(0, np.float32),
        "weights": weights_of(),
    }
    v, u = np.divmod(np.arange(16 * len(blocks), dtype=np.int32), 4 * len(blocks))
    inputs = {"number.x": u, "number.y": v, "level.x": np.zeros(len(u), np.int32)}
    program = load_program(SamplerKey(TextureKind.TEX2D, format), Stage.VERTEX)
    outputs = ENGINES[engine](program, inputs, files, len(u)).outputs
    columns = [outputs[f"word.{c}"].view(np.float32) for c in "xyzw"]
    return np.stack(columns, axis=-1).reshape(4, 4 * len(blocks), 4)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("format", "signed"), [(F.BC6H_UF16, False), (F.BC6H_SF16, True)])
@pytest.mark.parametrize("code", [*CODES, *RESERVED])
def test_every_mode_of_bc6h_decodes_as_the_document_says(
    code: str, format: DxgiFormat, signed: bool, engine: str
) -> None:
    blocks = coded(code, 34)
    assert halves(format, blocks, engine) == [model(block, signed) for block in blocks]


def test_every_partition_of_bc6h_is_that_of_bc7() -> None:
    blocks = [
        (int.from_bytes(block, "little") & ~(31 << 77) | number << 77).to_bytes(16, "little")
        for number, block in enumerate(coded("11110", 32))
    ]
    wanted = [model(block, False) for block in blocks]
    assert halves(F.BC6H_UF16, blocks, "reference") == wanted


def test_bc6h_agrees_with_pillow_but_for_its_rounding_to_bytes() -> None:
    blocks = [block for code in CODES for block in coded(code, 34)]
    data = b"".join(blocks)
    picture = pillow(F.BC6H_UF16, data, 4 * len(blocks), 4)[..., :3]
    shown = picture.reshape(4, -1, 4, 3).swapaxes(0, 1).reshape(-1, 16, 3)
    values = np.array([model(block, False) for block in blocks], np.uint16).view(np.float16)
    assert (np.abs(np.clip(values.astype(float) * 255, 0, 255) - shown) < 2).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_bc7_reads_the_same_in_a_shader_as_in_a_picture(engine: str) -> None:
    blocks = [block.tobytes() for block in random_blocks(32)]
    picture = decode(F.BC7_UNORM, b"".join(blocks), 4 * 32, 4)[..., :3]
    found = np.array(colors(F.BC7_UNORM, blocks, engine)[..., :3])
    assert (np.rint(found * 255) == picture).all()
