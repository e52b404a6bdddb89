"""Load: which levels and faces of a texture go where."""

from __future__ import annotations

import pytest

from dp2emu.d3d.ddraw import Caps, Caps2, Described
from dp2emu.d3d.pixelformats import PixelFormat
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.command.bindings import Rect
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import Description, DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice
from dp2emu.runtime.session import Refused
from dp2emu.runtime.texturecopies import copy_levels

SIZED = Described.CAPS | Described.WIDTH | Described.HEIGHT | Described.PIXELFORMAT
RGB32 = PixelFormat(0x40, bits=32, masks=(0xFF0000, 0xFF00, 0xFF, 0))
RGB16 = PixelFormat(0x40, bits=16, masks=(0xF800, 0x7E0, 0x1F, 0))
LEVELS = Caps.TEXTURE | Caps.MIPMAP | Caps.COMPLEX


class Textures:
    """DirectDraw on a fresh driver, with a device."""

    def __init__(self) -> None:
        self.driver = Driver()
        self.ddraw = DirectDraw(self.driver)
        target = self.ddraw.create(Description(SIZED, Caps.DEVICE3D, 0, 4, 4, pixels=RGB32))
        self.device = EarlyDevice(self.ddraw, target, 7)

    def make(
        self, side: int, value: int | None = None, caps: int = LEVELS, caps2: int = 0,
        pixels: PixelFormat = RGB32,
    ) -> DrawSurface:  # fmt: skip
        """A texture; texels of level n of face m are ``value`` + 16 n + 256 m."""
        made = self.ddraw.create(Description(SIZED, caps, caps2, side, side, pixels=pixels))
        if value is not None:
            for face, top in enumerate(tops(made)):
                for number, level in enumerate(top.levels()):
                    texel = value + 16 * number + 256 * face
                    count = level.part.width * level.part.height
                    data = texel.to_bytes(4, "little") * count
                    self.ddraw.store(level, None, level.part.pitch, data)
        return made

    def load(
        self, target: DrawSurface, source: DrawSurface, point: tuple[int, int] = (0, 0),
        rect: Rect | None = None, faces: int = 0,
    ) -> None:  # fmt: skip
        self.device.load(target, point, source, rect or source.bounds, faces)

    def texels(self, level: DrawSurface, size: int = 4) -> list[int]:
        self.ddraw.settle()
        self.driver.finish()
        data = self.driver.read(level.handle, 0, level.part.size)
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def tops(surface: DrawSurface) -> list[DrawSurface]:
    """The first levels of all faces."""
    return [surface, *(each for each in surface.attached if each is not surface.below)]


def test_levels_of_the_same_size_meet() -> None:
    textures = Textures()
    given, made = textures.make(4, 1), textures.make(2)
    textures.load(made, given)
    assert [set(textures.texels(level)) for level in made.levels()] == [{17}, {33}]
    assert all(level.drawn for level in made.levels())


def test_a_level_is_loaded_with_those_below_it() -> None:
    textures = Textures()
    given, made = textures.make(4, 1), textures.make(4)
    (_, second, _), (top, middle, last) = given.levels(), made.levels()
    textures.load(middle, second)
    assert [set(textures.texels(level)) for level in (top, middle, last)] == [{0}, {17}, {33}]


def test_a_rectangle_is_halved_from_level_to_level() -> None:
    textures = Textures()
    given = textures.make(4, 1)
    made = [textures.make(4) for _ in range(2)]
    textures.load(made[0], given, (2, 2), Rect(0, 0, 2, 1))
    copy_levels(textures.ddraw, made[1], given, (2, 2), Rect(0, 0, 2, 1))
    for one, other in zip(made[0].levels(), made[1].levels(), strict=True):
        assert textures.texels(one) == textures.texels(other)
    (_, middle, last) = made[0].levels()
    assert textures.texels(middle) == [0, 0, 0, 17]
    assert textures.texels(last) == [33]


def test_what_leaves_the_target_is_cut_off() -> None:
    textures = Textures()
    given, made = (textures.make(2, value, Caps.TEXTURE) for value in (1, 2))
    copy_levels(textures.ddraw, made, given, (1, 1), Rect(0, 0, 2, 2))
    assert textures.texels(made) == [2, 2, 2, 1]


def test_formats_are_converted() -> None:
    textures = Textures()
    given = textures.make(1, 0xFF00FF, Caps.TEXTURE)
    made = textures.make(1, None, Caps.TEXTURE, pixels=RGB16)
    textures.load(made, given)
    assert textures.texels(made, 2)[0] == 0xF81F


@pytest.mark.parametrize("wanted", [0, int(Caps2.CUBEMAP_ALLFACES), int(Caps2.CUBEMAP_NEGATIVEY)])
def test_faces_that_are_wanted(wanted: int) -> None:
    textures = Textures()
    given = textures.make(2, 1, caps2=Caps2.CUBEMAP | Caps2.CUBEMAP_ALLFACES)
    made = textures.make(2, 2, caps2=Caps2.CUBEMAP | Caps2.CUBEMAP_ALLFACES)
    textures.load(made, given, faces=wanted)
    for number, face in enumerate(tops(made)):
        first = 1 if not wanted or face.caps2 & wanted else 2
        for level, texels in enumerate(map(textures.texels, face.levels())):
            assert set(texels) == {first + 256 * number + 16 * level}


def test_textures_without_a_size_in_common_are_refused() -> None:
    textures = Textures()
    with pytest.raises(Refused):
        copy_levels(textures.ddraw, textures.make(4), textures.make(2))


def test_points_outside_are_refused() -> None:
    textures = Textures()
    with pytest.raises(Refused):
        copy_levels(textures.ddraw, textures.make(2), textures.make(2), (0, -1))
