"""DirectDraw surfaces on an emulated driver: chains, memory, blits, flips, keys."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.capture.records import Flipped, FrameMarker, Pictured, PictureKind, Record
from dp2emu.d3d.ddraw import WHITENESS, BltFlags, Caps, Caps2, Described, FastFlags, KeyFlags
from dp2emu.d3d.enums import Format
from dp2emu.d3d.pixelformats import PixelFormat
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.runtime.directdraw import DESKTOP, DirectDraw
from dp2emu.runtime.drawblits import Effects, Side, blt, blt_fast
from dp2emu.runtime.drawsurfaces import Clipper, Description, DrawSurface
from dp2emu.runtime.session import Refused

RGB16 = PixelFormat(0x40, bits=16, masks=(0xF800, 0x7E0, 0x1F, 0))
SIZED = Described.CAPS | Described.WIDTH | Described.HEIGHT | Described.PIXELFORMAT


class Screen:
    """DirectDraw on a fresh driver, and what it was told."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.driver = Driver()
        self.ddraw = DirectDraw(self.driver, record=self.records.append)

    def plain(self, width: int = 4, height: int = 3, **more: int) -> DrawSurface:
        return self.ddraw.create(
            Description(SIZED, Caps.OFFSCREENPLAIN, 0, width, height, pixels=RGB16, **more)
        )

    def texture(self, width: int, height: int, caps: int = 0, caps2: int = 0, **more: int) -> (
        DrawSurface
    ):  # fmt: skip
        flags = SIZED | (Described.MIPMAPCOUNT if "levels" in more else Described(0))
        caps |= Caps.TEXTURE
        return self.ddraw.create(
            Description(flags, caps, caps2, width, height, pixels=RGB16, **more)
        )

    def chain(self, backs: int) -> list[DrawSurface]:
        flags = Described.CAPS | Described.BACKBUFFERCOUNT
        caps = Caps.PRIMARYSURFACE | Caps.FLIP | Caps.COMPLEX
        self.ddraw.set_display(4, 3, 16)
        front = self.ddraw.create(Description(flags, caps, back_buffers=backs))
        return [front, *front.flipped()]

    def put(self, surface: DrawSurface, values: object) -> None:
        words = np.array(values, "<u2")
        self.ddraw.store(surface, None, 2 * words.shape[1], words.tobytes())

    def got(self, surface: DrawSurface) -> list[list[int]]:
        part = surface.part
        data = self.driver.read(surface.handle, 0, part.size)
        rows: list[list[int]] = np.frombuffer(data, "<u2").reshape(part.height, -1).tolist()
        return rows


RANGE = KeyFlags.COLORSPACE
NUMBERED = [[10 * y + x for x in range(4)] for y in range(3)]


def test_pixels_without_a_description_are_those_of_the_display() -> None:
    screen = Screen()
    screen.ddraw.set_display(8, 6, 16)
    primary = screen.ddraw.create(Description(Described.CAPS, Caps.PRIMARYSURFACE))
    assert (primary.format, primary.bounds) == (Format.R5G6B5, Rect(0, 0, 8, 6))


def test_a_display_nobody_set_has_32_bits() -> None:
    primary = Screen().ddraw.create(Description(Described.CAPS, Caps.PRIMARYSURFACE))
    assert primary.format is Format.X8R8G8B8
    assert (primary.bounds.right, primary.bounds.bottom) == DESKTOP


@pytest.mark.parametrize(
    ("bits", "format"), [(16, Format.D16), (24, Format.X8D24), (32, Format.D32)]
)
def test_old_descriptions_say_depth_by_its_bits(bits: int, format: Format) -> None:
    flags = Described.CAPS | Described.WIDTH | Described.HEIGHT | Described.ZBUFFERBITDEPTH
    made = Screen().ddraw.create(Description(flags, Caps.ZBUFFER, 0, 4, 4, levels=bits))
    assert made.format is format


def test_buffers_of_a_chain_are_found_one_from_the_other() -> None:
    front, first, second = Screen().chain(2)
    assert front.find(Caps.BACKBUFFER) is first
    assert first.find(Caps.FLIP) is second
    assert second.find(Caps.FLIP) is front


def test_levels_are_found_one_from_the_other() -> None:
    top = Screen().texture(8, 4, Caps.MIPMAP | Caps.COMPLEX)
    sizes = [(level.part.width, level.part.height) for level in top.levels()]
    assert sizes == [(8, 4), (4, 2), (2, 1), (1, 1)]
    below = top.find(Caps.TEXTURE | Caps.MIPMAP)
    assert below is not None
    assert below.index == 1


@pytest.mark.parametrize(("asked", "made"), [(1, 1), (2, 2), (9, 4)])
def test_as_many_levels_as_are_asked_for(asked: int, made: int) -> None:
    top = Screen().texture(8, 4, Caps.MIPMAP | Caps.COMPLEX, levels=asked)
    assert len(list(top.levels())) == made


def test_faces_of_a_cube_are_attached_to_the_first() -> None:
    screen = Screen()
    top = screen.texture(4, 4, Caps.COMPLEX | Caps.MIPMAP, Caps2.CUBEMAP | Caps2.CUBEMAP_ALLFACES)
    for number, face in enumerate(
        (Caps2.CUBEMAP_NEGATIVEX, Caps2.CUBEMAP_POSITIVEY, Caps2.CUBEMAP_NEGATIVEY,
         Caps2.CUBEMAP_POSITIVEZ, Caps2.CUBEMAP_NEGATIVEZ), 1,
    ):  # fmt: skip
        found = top.find(0, face)
        assert found is not None
        assert found.index == 3 * number
        assert found.part.width == 4


def test_levels_have_memory_of_their_texture() -> None:
    screen = Screen()
    top = screen.texture(2, 2, Caps.MIPMAP | Caps.COMPLEX)
    _, below = top.levels()
    screen.put(below, [[7]])
    assert screen.driver.read(top.handle, 8, 2) == b"\7\0"


@pytest.mark.parametrize(
    ("flags", "caps", "name"),
    [(Described.LPSURFACE, 0, "memory of the application"), (0, Caps.OVERLAY, "overlay")],
)
def test_what_is_not_built_is_named(flags: int, caps: int, name: str) -> None:
    asked = Description(SIZED | flags, caps, 0, 4, 4, pixels=RGB16)
    with pytest.raises(Unsupported, match=name):
        Screen().ddraw.create(asked)


@pytest.mark.parametrize("caps", [0, Caps.TEXTURE])
def test_a_surface_of_nothing_is_refused(caps: int) -> None:
    with pytest.raises(Refused):
        Screen().ddraw.create(Description(SIZED, caps, pixels=RGB16))


# Memory


def test_rows_are_stored_wherever_the_application_had_them() -> None:
    screen = Screen()
    surface = screen.plain()
    rows = b"".join(bytes([n, 0, n, 1, 0xEE, 0xEE]) for n in (1, 2))
    screen.ddraw.store(surface, Rect(1, 1, 3, 3), 6, rows)
    assert screen.got(surface) == [[0] * 4, [0, 1, 257, 0], [0, 2, 258, 0]]


def test_bytes_past_a_surface_are_ignored() -> None:
    screen = Screen()
    surface = screen.plain()
    screen.ddraw.store(surface, None, 8, bytes(range(24)) + b"more")
    assert screen.got(surface)[2][3] == 0x1716


def test_compressed_rectangles_are_rows_of_blocks() -> None:
    screen = Screen()
    pixels = PixelFormat(0x4, fourcc=0x31545844)
    texture = screen.ddraw.create(Description(SIZED, Caps.TEXTURE, 0, 8, 8, pixels=pixels))
    screen.ddraw.store(texture, Rect(4, 4, 8, 8), 32, bytes(range(8)))
    assert screen.driver.read(texture.handle, 24, 8) == bytes(range(8))


def test_a_primary_surface_takes_the_size_it_turns_out_to_have() -> None:
    screen = Screen()
    front, back = screen.chain(1)
    screen.ddraw.resize(front, 7, 5)
    assert front.bounds == back.bounds == Rect(0, 0, 7, 5)


def test_destroying_a_chain_destroys_all_of_it() -> None:
    screen = Screen()
    chain = screen.chain(2)
    screen.ddraw.destroy(chain[0])
    assert all(screen.driver.gpu.heap.get(buffer.handle) is None for buffer in chain)


# Blits


def test_a_blit_copies() -> None:
    screen = Screen()
    given, made = screen.plain(), screen.plain()
    screen.put(given, NUMBERED)
    blt(screen.ddraw, Side(made, Rect(1, 0, 3, 2)), Side(given, Rect(2, 1, 4, 3)), 0, Effects())
    assert screen.got(made) == [[0, 12, 13, 0], [0, 22, 23, 0], [0] * 4]


def test_a_fill_needs_no_rectangle() -> None:
    screen = Screen()
    made = screen.plain()
    blt(screen.ddraw, Side(made), None, BltFlags.COLORFILL | BltFlags.WAIT, Effects(fill=9))
    assert screen.got(made) == [[9] * 4] * 3


@pytest.mark.parametrize(
    ("flags", "effects"),
    [(BltFlags.KEYSRC, Effects()), (BltFlags.KEYSRCOVERRIDE, Effects(source_key=(1, 11)))],
)
def test_source_keys_come_from_the_surface_or_the_call(flags: int, effects: Effects) -> None:
    screen = Screen()
    given, made = screen.plain(), screen.plain()
    screen.put(given, NUMBERED)
    screen.ddraw.set_color_key(given, RANGE | KeyFlags.SRCBLT, (1, 11))
    blt(screen.ddraw, Side(made), Side(given), flags, effects)
    assert screen.got(made) == [[0, 0, 0, 0], [0, 0, 12, 13], [20, 21, 22, 23]]


def test_destination_keys_are_of_the_target() -> None:
    screen = Screen()
    given, made = screen.plain(), screen.plain()
    screen.put(given, NUMBERED)
    screen.put(made, [[5, 6, 7, 8]] * 3)
    screen.ddraw.set_color_key(made, RANGE | KeyFlags.DESTBLT, (6, 7))
    blt(screen.ddraw, Side(made), Side(given), BltFlags.KEYDEST, Effects())
    assert screen.got(made)[1] == [5, 11, 12, 8]


def test_a_key_is_one_colour_unless_a_range_is_asked_for() -> None:
    screen = Screen()
    surface = screen.plain()
    screen.ddraw.set_color_key(surface, KeyFlags.SRCBLT, (3, 9))
    assert surface.source_key == (3, 3)


def test_a_chain_has_so_many_buffers_and_no_more() -> None:
    with pytest.raises(Refused, match="back buffers"):
        Screen().chain(256)


def test_levels_end_whatever_is_attached_to_them() -> None:
    top = Screen().texture(4, 4, Caps.MIPMAP | Caps.COMPLEX)
    *_, last = top.levels()
    last.attached.append(last)
    assert len(list(top.levels())) == 3


def test_a_key_nobody_set_is_refused() -> None:
    screen = Screen()
    with pytest.raises(Refused, match="colour key"):
        blt(screen.ddraw, Side(screen.plain()), Side(screen.plain()), BltFlags.KEYSRC, Effects())


@pytest.mark.parametrize(
    ("how", "row"),
    [(FastFlags.NOCOLORKEY, [0, 1, 2, 3]), (FastFlags.SRCCOLORKEY | FastFlags.WAIT, [9, 9, 2, 3])],
)
def test_fast_blits_are_copies_at_a_point(how: int, row: list[int]) -> None:
    screen = Screen()
    given, made = screen.plain(), screen.plain()
    screen.put(given, NUMBERED)
    screen.put(made, [[9] * 4] * 3)
    screen.ddraw.set_color_key(given, RANGE | KeyFlags.SRCBLT, (0, 1))
    blt_fast(screen.ddraw, 0, 1, made, Side(given, Rect(0, 0, 4, 1)), how)
    assert screen.got(made) == [[9] * 4, row, [9] * 4]


def test_a_clipper_cuts_a_blit_into_its_rectangles() -> None:
    screen = Screen()
    given, made = screen.plain(), screen.plain()
    screen.put(given, NUMBERED)
    made.clipper = Clipper((Rect(0, 0, 1, 1), Rect(2, 1, 9, 9)))
    blt(screen.ddraw, Side(made, Rect(-1, 0, 3, 3)), Side(given), 0, Effects())
    assert screen.got(made) == [[1, 0, 0, 0], [0, 0, 13, 0], [0, 0, 23, 0]]


def test_a_clipped_stretch_takes_what_belongs_there() -> None:
    screen = Screen()
    given, made = screen.plain(2, 1), screen.plain(4, 1)
    screen.put(given, [[1, 2]])
    made.clipper = Clipper((Rect(2, 0, 4, 1),))
    blt(screen.ddraw, Side(made), Side(given), 0, Effects())
    assert screen.got(made) == [[0, 0, 2, 2]]


def test_operations_without_a_source() -> None:
    screen = Screen()
    made = screen.plain()
    blt(screen.ddraw, Side(made, Rect(0, 0, 1, 1)), None, BltFlags.ROP, Effects(rop=WHITENESS))
    assert screen.got(made)[0] == [0xFFFF, 0, 0, 0]


@pytest.mark.parametrize(
    "flag", [BltFlags.ZBUFFER, BltFlags.ALPHASRC, BltFlags.ALPHADEST, BltFlags.ROTATIONANGLE,
             BltFlags.DDROPS],
)  # fmt: skip
def test_what_no_driver_does_is_named(flag: int) -> None:
    screen = Screen()
    with pytest.raises(Unsupported, match="blit"):
        blt(screen.ddraw, Side(screen.plain()), None, flag, Effects())


# Flips


def test_a_flip_moves_every_buffer_up() -> None:
    screen = Screen()
    chain = screen.chain(2)
    for number, buffer in enumerate(chain):
        screen.put(buffer, [[number] * 4] * 3)
    screen.ddraw.flip(chain[0])
    assert [screen.got(buffer)[0][0] for buffer in chain] == [1, 2, 0]
    assert sum(isinstance(record, Flipped) for record in screen.records) == 2


def test_a_flip_to_a_buffer_of_choice_leaves_the_others() -> None:
    screen = Screen()
    chain = screen.chain(2)
    for number, buffer in enumerate(chain):
        screen.put(buffer, [[number] * 4] * 3)
    screen.ddraw.flip(chain[0], chain[2])
    assert [screen.got(buffer)[0][0] for buffer in chain] == [2, 1, 0]


def test_one_buffer_cannot_be_flipped() -> None:
    screen = Screen()
    with pytest.raises(Refused):
        screen.ddraw.flip(screen.plain())


def test_frames_and_pictures_are_told() -> None:
    screen = Screen()
    top = screen.texture(2, 2, Caps.MIPMAP | Caps.COMPLEX)
    _, below = top.levels()
    screen.ddraw.picture(5, PictureKind.LOCK, below)
    screen.ddraw.mark_frame(top)
    picture, frame = screen.records[-2:]
    assert isinstance(picture, Pictured)
    assert (picture.call, picture.handle, picture.index) == (5, top.handle, 1)
    assert isinstance(frame, FrameMarker)


def test_entries_past_a_palette_are_refused() -> None:
    screen = Screen()
    palette = screen.ddraw.create_palette()
    screen.ddraw.set_entries(palette, 255, [(1, 2, 3, 0)])
    assert palette.entries[255] == (1, 2, 3, 0)
    with pytest.raises(Refused):
        screen.ddraw.set_entries(palette, 256, [(1, 2, 3, 0)])
