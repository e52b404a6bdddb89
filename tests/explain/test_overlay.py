"""Overlays show what the reference stages do at each pixel, and change no memory."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import Cull, Format, TextureFilter
from dp2emu.errors import Disagreement, UsageError
from dp2emu.explain.overlay import OVERLAYS, LegendRow, Overlay, bins_of, overlay_of
from dp2emu.explain.rehearsal import check_same
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.gpu.drawing import color_surface, corner, depth_surface, draw, rebound
from tests.gpu.shader_resources.test_textures import over_pixels, texture

A8R8G8B8, A32B32G32R32F = Format.A8R8G8B8, Format.A32B32G32R32F
NEAR, FAR = 0.25, 0.75


def square(left: int, top: int, size: int, z: float = 0.5) -> list[tuple[float, ...]]:
    """Two triangles that cover ``size`` x ``size`` pixels."""
    ends = [(x - 0.5, y - 0.5) for y in (top, top + size) for x in (left, left + size)]
    return [tuple(corner(*ends[n], z)) for n in (0, 1, 2, 2, 1, 3)]


def two_squares() -> Draw:
    """A near square of 16 pixels and behind it, moved by two rows and columns, a far one."""
    vertices = [*square(0, 0, 4, NEAR), *square(2, 2, 4, FAR)]
    return draw(vertices, color=color_surface(), depth=depth_surface(word=0xFFFFFF00))


def texts(overlay: Overlay) -> list[str]:
    return [row.text for row in overlay.legend]


def pixels_of(overlay: Overlay, text: str) -> int:
    """The number of pixels in the colour of a row of the legend."""
    color = next(row.color for row in overlay.legend if row.text.startswith(text))
    return int((overlay.image == color).all(axis=-1).sum())


def test_overdraw_counts_fragments_and_darkens_pixels_where_none_passed() -> None:
    overlay = overlay_of(two_squares(), "overdraw")
    assert texts(overlay) == [
        "1 fragment: 24 pixels", "2 fragments: 4 pixels",
        "half as bright: none passed, 0 pixels", "fragments: 32, passed 28, rejected 4",
    ]  # fmt: skip
    assert (pixels_of(overlay, "1 "), pixels_of(overlay, "2 ")) == (24, 4)
    packet = draw(square(0, 0, 4, FAR), color=color_surface(), depth=depth_surface(word=0))
    hidden = overlay_of(packet, "overdraw")
    assert texts(hidden)[1] == "half as bright: none passed, 16 pixels"
    color = hidden.legend[0].color
    assert color is not None
    assert hidden.image[0, 0].tolist() == [part // 2 for part in color]


def test_depth_is_scaled_between_the_least_and_the_largest() -> None:
    overlay = overlay_of(two_squares(), "depth")
    ends = [float(text.split()[1]) for text in texts(overlay)]
    assert ends == pytest.approx([NEAR, 1], abs=1e-6)
    assert overlay.image[0, 0].tolist() == [0, 0, 0]
    assert overlay.image[9, 9].tolist() == [255, 255, 255]
    assert overlay.image[5, 5].tolist() == [170, 170, 170]


def test_a_wireframe_has_the_edges_and_not_the_inside() -> None:
    packet = draw(square(4, 4, 12), color=color_surface())
    overlay = overlay_of(packet, "wireframe")
    assert texts(overlay) == ["edges of 2 primitives"]
    lines = (overlay.image == overlay.legend[0].color).all(axis=-1)
    top, left = (np.flatnonzero(lines.any(axis=axis)) for axis in (1, 0))
    assert (top[0], top[-1], left[0], left[-1]) in [(3, 15, 3, 15), (4, 16, 4, 16)]
    assert lines.sum() < 12 * 12 / 2


def test_quads_are_counted_by_covered_lanes() -> None:
    overlay = overlay_of(draw(square(1, 1, 2), color=color_surface()), "quads")
    # One square across four quads, of which each triangle has some.
    lanes = [int(text.split()[4]) for text in texts(overlay)[:4]]
    assert sum(count * number for number, count in enumerate(lanes, 1)) == 4
    assert texts(overlay)[4] == f"lanes without a fragment: {4 * sum(lanes) - 4}"
    whole = overlay_of(draw([corner(-1, -1), corner(90, -1), corner(-1, 90)],
                            color=color_surface()), "quads")  # fmt: skip
    assert texts(whole)[3:] == ["4 of 4 lanes: 256 quads", "lanes without a fragment: 0"]


def divided(value: float, by: float) -> Program:
    b = Builder(Stage.PIXEL)
    number = b.input("vpos.x") * 0.0
    for component in "xyzw":
        b.output(f"target0.{component}", (number + value) / (number + by))
    return b.program()


@pytest.mark.parametrize(
    ("value", "by", "name"), [(0.0, 0.0, "nan"), (1.0, 0.0, "infinite"), (-1.0, 2.0, "negative")]
)
def test_outputs_and_stored_floats_that_are_no_numbers_are_shown(
    value: float, by: float, name: str
) -> None:
    packet = draw(square(0, 0, 4), color=color_surface(A32B32G32R32F), pixel=divided(value, by))
    found = texts(overlay_of(packet, "nan"))
    assert found == [f"{name} stored: 16 pixels", f"{name} output: 16 pixels"]
    packet = draw(square(0, 0, 4), color=color_surface(), pixel=divided(value, by))
    overlay = overlay_of(packet, "nan")
    assert texts(overlay) == [f"{name} output: 16 pixels"]
    assert pixels_of(overlay, name) == 16


def test_primitives_have_the_colour_of_their_fate() -> None:
    turned = [square(8, 8, 4)[n] for n in (0, 2, 1)]
    packet = draw(
        [*square(0, 0, 4), *turned], color=color_surface(), raster=RasterState(cull=Cull.CCW)
    )
    overlay = overlay_of(packet, "clipped")
    assert sorted(texts(overlay)) == ["culled: 1", "drawn: 2"]
    assert pixels_of(overlay, "drawn") == 16
    assert pixels_of(overlay, "culled") in (6, 10)


@pytest.mark.parametrize(("level", "lod"), [(1, Lod.IMPLICIT), (2, Lod.EXPLICIT), (5, Lod.BIAS)])
def test_mips_are_the_levels_that_are_read(level: int, lod: Lod) -> None:
    key = SamplerKey(TextureKind.TEX2D, A8R8G8B8, mip=TextureFilter.POINT, levels=True)
    program = over_pixels(scale=1 / 16, lod=lod, level={2: 3.0}.get(level, 4.0))
    packet = draw([corner(-1, -1), corner(20, -1), corner(-1, 20)],
                  color=color_surface(A8R8G8B8, 8, 8), pixel=program)  # fmt: skip
    bound = TextureBinding(texture(TextureKind.TEX2D, 32, 32, levels=6))
    pipeline = replace(packet.pipeline, samplers=((0, key),))
    packet = rebound(packet, pipeline=pipeline, textures={0: bound})
    (text,) = texts(overlay_of(packet, "mips"))
    expected = {1: 1, 2: 3, 5: 5}[level]
    assert text == f"level {expected}: 64 pixels"


def test_the_cost_is_the_operations_of_all_fragments_of_a_pixel() -> None:
    program = divided(1.0, 2.0)
    packet = draw([*square(0, 0, 2), *square(0, 0, 2)], color=color_surface(), pixel=program)
    operations, lanes = len(program.statements), 4
    overlay = overlay_of(packet, "cost")
    count = f"operations: {operations * lanes}, lanes: {lanes}"
    assert texts(overlay)[-1] == f"{count}, helper lanes that ran: 0"


@pytest.mark.parametrize("kind", OVERLAYS)
def test_an_overlay_leaves_memory_as_it_is_and_draws_as_the_draw_does(kind: str) -> None:
    packet = two_squares()
    targets = [each for each in (*packet.output.colors, packet.output.depth) if each is not None]
    before = [each.data.tobytes() for each in targets]
    overlay = overlay_of(packet, kind)
    assert [each.data.tobytes() for each in targets] == before
    execute_draw(packet, Counters())
    check_same(overlay.rehearsal or {}, "E0")


def test_a_target_that_differs_from_the_rehearsal_is_a_disagreement() -> None:
    packet = two_squares()
    overlay = overlay_of(packet, "overdraw")
    execute_draw(packet, Counters())
    color = packet.output.colors[0]
    assert color is not None and overlay.rehearsal is not None
    color.data[5] ^= 1
    with pytest.raises(Disagreement, match="E7: byte 5 of surface 1 differs"):
        check_same(overlay.rehearsal, "E7")


def test_counts_are_in_at_most_nine_ranges() -> None:
    assert [each.text for each in bins_of(3)] == ["1", "2", "3"]
    assert [each.text for each in bins_of(20)] == [
        "1-3", "4-6", "7-9", "10-12", "13-15", "16-18", "19-20"
    ]  # fmt: skip
    assert bins_of(0) == []


def test_small_pictures_are_enlarged_above_their_legend() -> None:
    image = np.zeros((8, 8, 3), np.uint8)
    image[7, 7] = 200
    page = Overlay(image, (LegendRow("one", (9, 8, 7)),)).drawn()
    assert page[:320, :320].reshape(8, 40, 8, 40, 3)[:, 0, :, 0].tolist() == image.tolist()
    assert (page[320:] == (9, 8, 7)).all(axis=-1).any()


def test_a_draw_without_depth_has_no_overlay_of_it() -> None:
    with pytest.raises(UsageError, match="no depth buffer"):
        overlay_of(draw(square(0, 0, 4), color=color_surface()), "depth")
