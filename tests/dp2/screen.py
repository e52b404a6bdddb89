"""A square on the screen, drawn with textures and shaders through the runtime."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from dp2emu.d3d.enums import Format, PrimitiveType, RenderState, TextureStageState
from dp2emu.dp2.driver import Driver
from dp2emu.runtime import Device9
from dp2emu.runtime.objects import Texture
from dp2emu.shader.sm.assemble import assemble

XYZRHW, DIFFUSE, TEX1, TEX2 = 0x004, 0x040, 0x100, 0x200
RED, GREEN, BLUE, WHITE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF
CORNERS = [(-0.5, -0.5), (3.5, -0.5), (-0.5, 3.5), (3.5, 3.5)]

WHOLE = [(-2, 2), (2, 2), (-2, -2), (2, -2)]
"""A square over all of clip space."""


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def code(text: str) -> list[int]:
    data = assemble(text)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


class Screen:
    """A device with a square of 4 x 4 pixels to draw, all over with the same coordinates."""

    def __init__(self, depth: Format | None = None) -> None:
        self.device = Device9(Driver(), 8, 8, depth=depth)
        self.device.set_render_state(RenderState.CULLMODE, 1)

    def texture(self, *texels: int) -> Texture:
        """One row of A8R8G8B8."""
        return self.device.create_texture(len(texels), 1, Format.A8R8G8B8, [words(*texels)])

    def stage(self, number: int = 0, **states: int | float) -> None:
        for name, value in states.items():
            self.device.set_texture_stage_state(number, TextureStageState[name], value)

    def draw(self, *sets: Sequence[float], color: int = WHITE) -> int:
        """The colour of a pixel inside, of coordinate sets with as many numbers each."""
        sizes = {2: 0, 3: 1, 4: 2, 1: 3}
        fvf = XYZRHW | DIFFUSE | len(sets) << 8
        for number, values in enumerate(sets):
            fvf |= sizes[len(values)] << 16 + 2 * number
        numbers = [number for values in sets for number in values]
        vertices = b"".join(
            struct.pack(f"<4fI{len(numbers)}f", x, y, 0.5, 1.0, color, *numbers)
            for x, y in CORNERS
        )
        self.device.set_fvf(fvf)
        self.device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, len(vertices) // 4)
        return self.pixel()

    def pixel(self) -> int:
        return int(self.device.read_back()[1, 1])
