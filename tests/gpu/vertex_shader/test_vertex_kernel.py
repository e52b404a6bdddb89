"""The compiled vertex stages make what the reference's make, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclType, DeclUsage, Format, PrimitiveType
from dp2emu.d3d.vertices import Element, ElementType
from dp2emu.errors import Disagreement, Unsupported
from dp2emu.gpu.code.vertex_arguments import SOURCE
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.packets import Draw, Indices, Stream
from dp2emu.gpu.command.pipeline import Attribute, RasterState
from dp2emu.gpu.input_assembler.vertex_fetch import VERTEX_TYPES
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.gpu.vertex_shader import vertex_kernel
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.reference import run
from dp2emu.shader.types import Type
from tests.gpu.drawing import (
    MAPPED,
    Vertex,
    corner,
    draw,
    passing,
    primitives,
    programmed,
    rebound,
    vertex_data,
)

NAMES = ("color0.x", "color0.w", "texcoord0.x", "texcoord0.y", "fog0.x", "psize0.x")
PLANES = ((1.0, 0.5, 0.0, 0.25), (0.0, -1.0, 0.25, 0.5), (0.5, 0.5, 0.5, 0.0))
TRIANGLES = PrimitiveType.TRIANGLELIST
USED = DeclUsage.COLOR


def agreed(packet: Draw, names: tuple[str, ...] = NAMES, start: int = 0) -> Geometry:
    """What both make; it is an error if they differ."""
    with np.errstate(all="ignore"):
        return vertex_kernel.checked(packet, start, packet.input.count, names, None, run)


def scattered(count: int, seed: int = 5) -> list[Vertex]:
    """Corners all over clip space, some behind the eye."""
    generator = np.random.default_rng(seed)
    places = generator.normal(size=(count, 4)) * (1, 1, 0.7, 1) + (0, 0, 0.4, 0.6)
    colors = generator.integers(0, 1 << 32, count)
    return [corner(x, y, z, int(color), w) for (x, y, z, w), color
            in zip(places.tolist(), colors.tolist(), strict=True)]  # fmt: skip


@pytest.mark.parametrize("indices", [None, [7, 1, 2, 0, 5, 5, 3, 9, 1, 6, 4, 2]])
@pytest.mark.parametrize("transformed", [False, True])
@pytest.mark.parametrize("topology", PrimitiveType)
def test_every_topology(
    topology: PrimitiveType, transformed: bool, indices: list[int] | None
) -> None:
    packet = draw(scattered(12), topology=topology, indices=indices)
    packet = packet if transformed else programmed(packet)
    agreed(packet)
    agreed(packet, start=2)


FORMATS = [format for format, row in DXGI.items() if Support.VERTEX in row.support]


@pytest.mark.parametrize("format", FORMATS)
def test_programs_get_the_bits_of_every_format(format: DxgiFormat) -> None:
    data = np.random.default_rng(format.value).integers(0, 256, 16 * 64, np.uint8)
    data[:240] = np.repeat((0, 0x7F, 0x80, 0xFF, 0x7C), 48)
    size = DXGI[format].texels.size
    position = Attribute("position0", Element(0, 0, DxgiFormat.R32G32B32A32_FLOAT, USED))
    read = position, Attribute("color0", Element(1, 0, format, USED))
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
        b.output(f"constant.v1.{component}", b.input(f"color0.{component}", Type.I32))
    places = np.tile(np.float32([0.25, 0.5, 0.5, 1]), len(data)).tobytes()
    packet = programmed(draw([corner(0, 0)] * 3), program=b.program())
    # The last element ends where the data does, and behind it there is nothing.
    count = len(data) // size // 3 + 1
    packet = rebound(
        packet, count=count, pipeline=replace(packet.pipeline, attributes=read),
        streams=(Stream(places, 0, 16), Stream(data.tobytes(), 0, size)),
    )  # fmt: skip
    names = tuple(f"constant.v1.{component}" for component in "xyzw")
    found = agreed(packet, names).vertices.varyings
    assert found.shape == (4, 3, count) and len(np.unique(found[0])) > 3
    missing = [name not in DXGI[format].texels.channels for name in "rgba"]
    whole = format.name.endswith(("UINT", "SINT"))
    constants = [0, 0, 0, 1 if whole else 0x3F800000]
    for lane, absent, value in zip(found, missing, constants, strict=True):
        assert not absent or (lane == value).all()


@pytest.mark.parametrize(("format", "whole"), [
    (DxgiFormat.R8_UNORM, 7), (DxgiFormat.R8G8_SINT, 7), (DxgiFormat.R32G32_UINT, 3),
])  # fmt: skip
def test_no_word_is_read_that_reaches_beyond_the_data(format: DxgiFormat, whole: int) -> None:
    words = vertex_kernel._source_words(Element(0, 0, format, USED), Stream(bytes(10), 0, 1), {})
    assert words[SOURCE.index("whole")] == whole


@pytest.mark.parametrize("type", dict.fromkeys((*VERTEX_TYPES, *FORMATS)))
def test_every_element_type(type: ElementType) -> None:
    generator = np.random.default_rng(int(type.value))
    data = generator.integers(0, 256, 16 * 64, np.uint8).tobytes()
    element = Element(0, 0, type, DeclUsage.COLOR)
    packet = programmed(draw([corner(0, 0)] * 3, count=21))
    read = tuple(Attribute(name, element) for name in ("position0", "color0"))
    pipeline = replace(packet.pipeline, attributes=read)
    packet = rebound(packet, pipeline=pipeline, streams=(Stream(data, 1, 16),))
    b = Builder(Stage.VERTEX)
    for number, value in enumerate((0.25, 0.25, 0.25, 1.0)):
        b.output(f"position0.{'xyzw'[number]}", value)
    for component in "xyzw":
        b.output(f"color0.{component}", b.input(f"color0.{component}"))
    shown = replace(packet, pipeline=replace(pipeline, vertex=b.program()))
    found = agreed(shown, tuple(f"color0.{component}" for component in "xyzw"))
    assert found.vertices.varyings.shape == (4, 3, 21)
    agreed(packet)


@pytest.mark.parametrize("clip", [False, True])
def test_integers_of_the_first_corner_are_those_of_all(clip: bool) -> None:
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
        number = (b.asint(b.input(f"color0.{component}")) - 0x3F000000) * 64
        b.output(f"constant.v1.{component}", number, Type.I32)
    names = tuple(f"constant.v1.{component}" for component in "xyzw")
    packet = programmed(draw(scattered(60), raster=RasterState(clip=clip)), program=b.program())
    found = agreed(packet, names).vertices.varyings
    assert (found == np.rint(found)).all()
    assert (found[:, 1:] == found[:, :1]).all()
    assert found.min() < 0 < found.max()


def test_halves_are_what_numpy_makes_of_them() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    element = Element(0, 0, DeclType.FLOAT16_2, DeclUsage.TEXCOORD)
    packet = programmed(draw([corner(0, 0)], topology=PrimitiveType.POINTLIST, count=1 << 15))
    b = Builder(Stage.VERTEX)
    for component, value in zip("xyzw", (0.0, 0.0, 0.5, 1.0), strict=True):
        b.output(f"position0.{component}", value)
    b.output("texcoord0.x", b.input("texcoord0.x"))
    b.output("texcoord0.y", b.input("texcoord0.y"))
    pipeline = replace(
        packet.pipeline, vertex=b.program(), attributes=(Attribute("texcoord0", element),)
    )
    packet = rebound(packet, pipeline=pipeline, streams=(Stream(halves.tobytes(), 0, 4),))
    found = agreed(packet, ("texcoord0.x", "texcoord0.y")).vertices.varyings[:, 0].T.ravel()
    assert np.array_equal(found, halves.view(np.float16).astype(np.float64), equal_nan=True)


@pytest.mark.parametrize(
    ("offset", "stride"), [(0, 20), (-7, 20), (13, 0), (230, 20), (500, 20), (3, 1), (0, 1 << 31)]
)
@pytest.mark.parametrize("divider", [1, 2, 3])
def test_what_lies_outside_of_a_stream_is_zero(offset: int, stride: int, divider: int) -> None:
    stream = Stream(vertex_data(scattered(12)), offset, stride, divider, first=5)
    packet = draw(scattered(3), indices=[0, 1, 2, 11, 12, 13, 40, 1 << 31, (1 << 32) - 1])
    packet = rebound(packet, streams=(stream,))
    agreed(packet)
    agreed(programmed(packet))


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("offset", "base"), [(0, 0), (1, -3), (-5, 2), (56, 0), (200, 0)])
def test_indices_in_a_buffer(size: int, offset: int, base: int) -> None:
    desc = SurfaceDesc(1, SurfaceKind.INDEXBUFFER, 61, 1, Format.UNKNOWN)
    buffer = Heap().create(desc)
    buffer.data[:] = np.arange(61) % 11
    packet = rebound(
        draw(scattered(16), count=9), indices=Indices(buffer, size, offset, base), first=2
    )
    agreed(packet)
    agreed(programmed(packet))


def test_indices_far_apart() -> None:
    generator = np.random.default_rng(2)
    indices = generator.choice([0, 3, 9, 1 << 20, 1 << 31, (1 << 32) - 1], 300).tolist()
    agreed(programmed(draw(scattered(12), indices=indices)))


def test_a_missing_stream_is_zero() -> None:
    packet = rebound(draw(scattered(6)), streams=(None,))
    agreed(packet)
    agreed(programmed(packet))
    agreed(programmed(rebound(packet, streams=())))


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("used", [0, 1, 5, 7])
@pytest.mark.parametrize("topology", PrimitiveType)
def test_planes_cut(topology: PrimitiveType, used: int, clip: bool) -> None:
    raster = RasterState(clip=clip, clip_planes=used, flat=True)
    packet = draw(scattered(300), topology=topology, raster=raster)
    found = agreed(programmed(packet, clip_planes=PLANES))
    assert (found.extra > 0) == (topology >= TRIANGLES)


def test_a_program_says_distances() -> None:
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
    b.output("clip1.x", b.input("position0.x"))
    raster = RasterState(clip_planes=3)
    packet = draw(scattered(90), raster=raster)
    agreed(programmed(packet, program=b.program(), clip_planes=PLANES))


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("wrap", [(), (1,), (3,)])
@pytest.mark.parametrize("transformed", [False, True])
def test_corners_are_joined(transformed: bool, wrap: tuple[int, ...], flat: bool) -> None:
    generator = np.random.default_rng(4)
    vertices = [(*row[:4], *row[4:]) for row in (generator.random((60, 6)) * 3).tolist()]
    packet = draw(vertices, fvf=MAPPED, raster=RasterState(wrap=wrap, flat=flat))
    if not transformed:
        packet = programmed(packet, program=passing("position0", "color0"))
        elements = draw(vertices, fvf=MAPPED).pipeline.layout.elements
        read = tuple(
            Attribute(name, elements[place])
            for name, place in (("position0", 0), ("texcoord0", 1))
        )
        pipeline = replace(
            packet.pipeline, attributes=read, vertex=passing("position0", "texcoord0")
        )
        packet = replace(packet, pipeline=pipeline)
    agreed(packet)


def test_half_centres_and_a_viewport() -> None:
    view = Viewport(-3, 5, 40, 30, 0.25, 0.75)
    packet = programmed(draw(scattered(60), raster=RasterState(half_centres=True)), viewport=view)
    agreed(packet)


def test_edges_of_triangles_are_kept() -> None:
    packet = programmed(draw(scattered(60)))
    flags = np.random.default_rng(1).integers(0, 2, (3, packet.input.count)).astype(np.bool_)
    agreed(rebound(packet, edge_flags=flags))
    agreed(rebound(packet, edge_flags=flags), start=3)
    agreed(rebound(draw(scattered(60)), edge_flags=flags), start=3)


def test_a_program_reads_the_vertex_number() -> None:
    b = Builder(Stage.VERTEX)
    number = b.input("vertex_id.x", Type.I32)
    for component, value in zip("xyzw", (0.0, 0.0, 0.5, 1.0), strict=True):
        b.output(f"position0.{component}", value)
    b.output("color0.x", b.itof(number))
    vertices = scattered(9)
    for packet in (draw(vertices), draw(vertices, indices=[4, 2, 2, 8, 0, 1])):
        moved = rebound(packet, first=3 if packet.input.indices is None else 0)
        found = agreed(programmed(moved, program=b.program()), ("color0.x",))
        assert found.vertices.varyings.any()


@pytest.mark.parametrize("topology", PrimitiveType)
@pytest.mark.parametrize(("clips", "culls"), [(1, 0), (2, 1), (0, 2), (3, 3)])
def test_distances_clip_and_cull_without_planes(
    topology: PrimitiveType, clips: int, culls: int
) -> None:
    b = Builder(Stage.VERTEX)
    place = [b.input(f"position0.{component}") for component in "xyzw"]
    for component, value in zip("xyzw", place, strict=True):
        b.output(f"position0.{component}", value)
    for number in range(clips):
        b.output(f"clip{number}.x", place[number] - 0.25)
    for number in range(culls):
        b.output(f"cull{number}.x", place[2 - number])
    raster = RasterState(clip_distances=clips, cull_distances=culls)
    vertices = [*scattered(120), corner(math.nan, 0), corner(0.1, math.nan), *scattered(40, 6)]
    packet = draw(vertices, topology=topology, raster=raster)
    found = agreed(programmed(packet, program=b.program()))
    assert len(found.numbers) > 0 and len(set(found.numbers.tolist())) < packet.input.count


def test_a_distance_that_is_no_number_drops_a_primitive() -> None:
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
    b.output("clip0.x", b.input("color0.x"))
    seen = [corner(x, y, 0.5, 0xFF800000) for x, y in ((0, 0), (0.5, 0), (0, 0.5))]
    packet = programmed(draw(seen * 2, raster=RasterState(clip_distances=1)), program=b.program())
    data = bytearray(packet.input.streams[0].data)  # type: ignore[union-attr, arg-type]
    colors = Element(0, 16, DeclType.FLOAT1, DeclUsage.COLOR)
    data[16 + 20 * 4 : 20 + 20 * 4] = np.float32(np.nan).tobytes()
    attributes = tuple(Attribute(a.name, colors) if a.name == "color0" else a
                       for a in packet.pipeline.attributes)  # fmt: skip
    for vertex_number in (0, 1, 2, 3, 5):
        at = 16 + 20 * vertex_number
        data[at : at + 4] = np.float32(1).tobytes()
    packet = rebound(
        packet,
        pipeline=replace(packet.pipeline, attributes=attributes),
        streams=(Stream(bytes(data), 0, 20),),
    )
    assert agreed(packet).numbers.tolist() == [0]


def test_a_sampler_without_a_texture_gives_black() -> None:
    b = Builder(Stage.VERTEX)
    texel = b.sample(TextureKind.TEX2D, 0, (b.input("position0.x"), b.input("position0.y")),
                     Lod.EXPLICIT, (0.0,))  # fmt: skip
    for component, value in zip("xyzw", (0.0, 0.0, 0.5, 1.0), strict=True):
        b.output(f"position0.{component}", value)
    for component, value in zip("xyzw", texel, strict=True):
        b.output(f"color0.{component}", value)
    packet = programmed(draw(scattered(9)), program=b.program())
    sampler = StageSampler(Texturing.of(packet), Stage.VERTEX)
    names = tuple(f"color0.{component}" for component in "xyzw")
    found = vertex_kernel.checked(packet, 0, 3, names, sampler, run)
    assert found.vertices.varyings[:, 0, 0].tolist() == [0, 0, 0, 1]


@given(st.data())
def test_any_draw(data: st.DataObject) -> None:
    floats = st.floats(width=32) | st.floats(-2, 2, width=32)
    points = st.tuples(floats, floats, floats, floats, st.integers(0, (1 << 32) - 1))
    vertices = data.draw(st.lists(points, min_size=3, max_size=9))
    topology = data.draw(st.sampled_from(PrimitiveType))
    raster = RasterState(
        flat=data.draw(st.booleans()),
        clip=data.draw(st.booleans()),
        clip_planes=data.draw(st.integers(0, 7)),
    )
    packet = draw(vertices, topology=topology, raster=raster)
    if not primitives(topology, len(vertices)):
        return
    agreed(packet)
    agreed(programmed(packet, clip_planes=PLANES))


def test_a_difference_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    packet = programmed(draw(scattered(60)))
    right = vertex_kernel.compiled

    def wrong(*arguments: object) -> Geometry:
        found = right(*arguments)  # type: ignore[arg-type]
        found.vertices.position[1, 2, 0] += 1
        return found

    monkeypatch.setattr(vertex_kernel, "compiled", wrong)
    with pytest.raises(Disagreement, match="positions of primitives 0 to 20 differ"):
        agreed(packet)


@pytest.mark.parametrize("there", [False, True])
def test_vertices_without_a_program_are_placed_before_there_is_code(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = draw(scattered(60))
    wanted = agreed(packet)
    monkeypatch.setattr(TieredFunction, "poll", lambda self: there)
    with np.errstate(all="ignore"):
        found = vertex_kernel.geometry(packet, 0, packet.input.count, NAMES)
    assert np.array_equal(found.vertices.position, wanted.vertices.position, equal_nan=True)
    assert np.array_equal(found.vertices.varyings, wanted.vertices.varyings, equal_nan=True)
    assert np.array_equal(found.numbers, wanted.numbers)


def test_what_cannot_be_fetched_is_refused() -> None:
    packet = draw(scattered(3))
    layout = replace(packet.pipeline.layout, transformed=False)
    with pytest.raises(Unsupported, match="vertex transformation"):
        agreed(replace(packet, pipeline=replace(packet.pipeline, layout=layout)))


def test_nothing_of_a_draw_leaks_into_the_next() -> None:
    bound = {"c": np.arange(4, dtype=np.float32)}
    many, few = programmed(draw(scattered(300))), programmed(draw(scattered(6)))
    clipped = programmed(
        draw(scattered(90), raster=RasterState(clip_planes=7)), clip_planes=PLANES
    )
    for packet in (many, few, clipped, few, many, clipped, few):
        agreed(packet)
        agreed(rebound(packet, vertex_uniforms=bound))
