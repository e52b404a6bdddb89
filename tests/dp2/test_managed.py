"""Textures the driver manages: the host writes one copy, draws read another."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, PrimitiveType, QueryType, TextureOp
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.managed import MARKS
from dp2emu.errors import Fault
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind

from .rigging import COLOR, END, Bench, create, header, issue, render_state, token, triangle_list
from .screen import GREEN, WHOLE, Screen, code, words

TEXTURE, LEVEL, PLAIN = 20, 21, 22
EVICT = 61
CUBE, VOLUME = SurfaceKind.CUBETEXTURE, SurfaceKind.VOLUMETEXTURE
XYZRHW_DIFFUSE_TEX1 = 0x144


def managed(
    kind: SurfaceKind = SurfaceKind.TEXTURE, side: int = 4, format: Format = Format.X8R8G8B8,
    *, bench: Bench | None = None, **more: int,
) -> Bench:  # fmt: skip
    """A driver with a managed texture that is bound to stage 0."""
    bench = bench or Bench()
    desc = SurfaceDesc(TEXTURE, kind, side, side, int(format), managed=1, **more)
    bench.driver.create_surface(desc)
    bench.ok(render_state(22, 1) + render_state(7, 0) + header(25)
             + struct.pack("<HHI", 0, 0, TEXTURE))  # fmt: skip
    return bench


def store(bench: Bench, number: int, handle: int = TEXTURE) -> None:
    """The host fills a surface with one byte."""
    surface = bench.driver.gpu.heap.get(handle)
    assert surface is not None
    bench.driver.write(handle, 0, bytes([number]) * surface.data.nbytes)


def draw(bench: Bench, side: int = 4) -> list[list[int]]:
    """The texture as a draw shows it, a pixel for each texel: the lowest byte of each."""
    bench.call(drawing(), corners(side), dwVertexType=XYZRHW_DIFFUSE_TEX1, dwVertexLength=6,
               dwVertexSize=28)  # fmt: skip
    bench.driver.finish()
    return shown(bench, side)


def shown(bench: Bench, side: int = 4) -> list[list[int]]:
    return [[bench.driver.read(COLOR, 256 * y + 4 * x, 1)[0] for x in range(side)]
            for y in range(side)]  # fmt: skip


def drawing() -> bytes:
    return triangle_list(0, 2)


def corners(side: int) -> bytes:
    places = ((0, 0), (1, 0), (0, 1), (1, 0), (1, 1), (0, 1))
    return b"".join(
        struct.pack("<4fI2f", side * u - 0.5, side * v - 0.5, 0.5, 1.0, 0xFFFFFFFF, u, v)
        for u, v in places
    )


def full(number: int, side: int = 4) -> list[list[int]]:
    return [[number] * side] * side


def dirty(*rect: int, handle: int = TEXTURE) -> bytes:
    return token(Op.ADDDIRTYRECT, handle, *rect)


def dirty_box(*box: int, handle: int = TEXTURE) -> bytes:
    return token(Op.ADDDIRTYBOX, handle, *box)


def preload(handle: int = TEXTURE) -> bytes:
    return token(Op.TEXBLT, 0, handle, 0, 0, 0, 0, 1, 1, 0)


def video(bench: Bench, handle: int = TEXTURE) -> bytes:
    surface = bench.driver.gpu.heap.get(handle)
    assert surface is not None
    return surface.data.tobytes()


def test_a_new_texture_is_uploaded_whole_when_it_is_used() -> None:
    bench = managed()
    store(bench, 7)
    assert video(bench) == bytes(64)
    assert draw(bench) == full(7)


def test_only_what_is_marked_is_seen() -> None:
    bench = managed()
    store(bench, 7)
    draw(bench)
    store(bench, 9)
    assert draw(bench) == full(7)
    bench.ok(dirty(1, 0, 3, 2))
    assert draw(bench) == [[7, 9, 9, 7], [7, 9, 9, 7], [7] * 4, [7] * 4]


def test_a_mark_is_uploaded_once() -> None:
    bench = managed()
    draw(bench)
    bench.ok(dirty(0, 0, 1, 1))
    draw(bench)
    store(bench, 9)
    assert draw(bench) == full(0)


def test_what_is_written_between_mark_and_use_is_seen() -> None:
    bench = managed()
    draw(bench)
    bench.ok(dirty(0, 0, 4, 4))
    store(bench, 9)
    assert draw(bench) == full(9)


def test_preload_uploads_before_any_draw() -> None:
    bench = managed()
    store(bench, 7)
    bench.ok(preload())
    assert video(bench) == b"\7" * 64
    store(bench, 9)
    bench.ok(dirty(0, 0, 4, 1) + preload())
    assert video(bench) == b"\t" * 16 + b"\7" * 48
    store(bench, 11)
    assert draw(bench)[0] == [9] * 4


def test_the_upload_reads_the_system_copy_when_the_gpu_gets_there() -> None:
    """A call takes less than a packet: the upload waits behind a clear when the host writes."""
    bench = managed(bench=Bench(timing=fixed(call=100, packet=1000)))
    store(bench, 7)
    bench.ok(preload())
    bench.driver.finish()
    fill = token(Op.COLORFILL, COLOR, 0, 0, 1, 1, 0)
    bench.ok(dirty(0, 0, 4, 4) + fill + preload())
    store(bench, 9)
    bench.driver.finish()
    assert video(bench) == b"\t" * 64


@pytest.mark.parametrize(("value", "seen"), [(0, 7), (1, 9), (5, 9)])
def test_evicted_textures_are_uploaded_whole(value: int, seen: int) -> None:
    bench = managed()
    store(bench, 7)
    draw(bench)
    store(bench, 9)
    bench.ok(render_state(EVICT, value))
    assert draw(bench) == full(seen)


def test_the_host_reads_what_it_wrote() -> None:
    bench = managed()
    store(bench, 7)
    draw(bench)
    store(bench, 9)
    assert bench.driver.read(TEXTURE, 0, 64) == b"\t" * 64


def levels(data: bytes, *sizes: int) -> list[bytes]:
    found, start = [], 0
    for size in sizes:
        found.append(data[start : start + size])
        start += size
    return found


def test_a_mark_covers_the_texels_under_it_in_lower_levels() -> None:
    """Of 5 x 5, 2 x 2 and 1 texel: column 4 is beside the two columns there are below, and its
    share is in the last of them."""
    bench = managed(side=5, levels=3, format=Format.L8)
    bench.ok(preload())
    store(bench, 9)
    bench.ok(dirty(4, 2, 5, 3) + preload())
    top, middle, last = levels(video(bench), 25, 4, 1)
    assert [at for at, byte in enumerate(top) if byte] == [5 * 2 + 4]
    assert [at for at, byte in enumerate(middle) if byte] == [3]
    assert last == b"\t"


def test_a_mark_of_a_cube_is_of_every_face_and_of_a_level_of_its_own() -> None:
    bench = managed(CUBE, side=2, levels=2, format=Format.L8)
    bench.driver.create_surface(
        SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 2, 2, int(Format.L8), parent=TEXTURE, index=4)
    )
    bench.ok(preload())
    store(bench, 9)
    bench.ok(dirty(0, 1, 2, 2, handle=LEVEL) + preload(LEVEL))
    assert levels(video(bench), *[5] * 6) == [bytes(5)] * 2 + [b"\0\0\t\t\t"] + [bytes(5)] * 3
    bench.ok(dirty(0, 0, 1, 1) + preload())
    face, marked = b"\t\0\0\0\t", b"\t\0\t\t\t"
    assert levels(video(bench), *[5] * 6) == [face] * 2 + [marked] + [face] * 3


def test_a_handle_of_a_lower_level_marks_from_there_on() -> None:
    bench = managed(side=4, levels=3, format=Format.L8)
    bench.driver.create_surface(
        SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 2, 2, int(Format.L8), parent=TEXTURE, index=1)
    )
    bench.ok(preload())
    bench.driver.write(LEVEL, 0, b"\t" * 4)
    bench.ok(dirty(1, 1, 2, 2, handle=LEVEL) + preload())
    assert video(bench) == bytes(16) + b"\0\0\0\t" + b"\0"
    assert bench.driver.read(TEXTURE, 16, 4) == b"\t" * 4
    assert bench.call(dirty(0, 0, 3, 1, handle=LEVEL)).ddrval == HResult.DDERR_INVALIDRECT


def test_boxes_of_volumes() -> None:
    bench = managed(VOLUME, side=2, depth=2, format=Format.L8)
    bench.ok(preload())
    store(bench, 9)
    bench.ok(dirty_box(0, 0, 1, 2, 1, 2) + preload())
    assert video(bench) == bytes(4) + b"\t\0\t\0"
    bench.ok(dirty(1, 0, 2, 1) + preload())
    assert video(bench) == b"\0\t\0\0" + b"\t\t\t\0"


@pytest.mark.parametrize("box", [(2, 0, 3, 1, 0, 1), (0, 2, 1, 3, 0, 1), (0, 0, 1, 1, 2, 3)])
def test_what_a_halved_side_has_no_texel_for_is_in_its_last(box: tuple[int, ...]) -> None:
    """Of 3 x 3 x 3 texels the third in each direction is beside the one there is below."""
    bench = managed(VOLUME, side=3, depth=3, levels=2, format=Format.L8)
    bench.ok(preload())
    store(bench, 9)
    bench.ok(dirty_box(*box) + preload())
    left, top, _, _, front, _ = box
    at = left + 3 * top + 9 * front
    assert [place for place, byte in enumerate(video(bench)) if byte] == [at, 27]


def test_vertex_shaders_sample_what_was_uploaded_for_them() -> None:
    screen = Screen()
    device = screen.device
    shader = device.create_vertex_shader(
        code("vs_3_0\ndcl_position v0\ndcl_2d s0\ndcl_position o0\ndcl_color o1\n"
             "mov o0, v0\ntexldl r0, c0, s0\nmov o1, r0\n"))  # fmt: skip
    device.set_vertex_shader(shader)
    device.set_vertex_constants(0, [(0.0, 0.0, 0.0, 0.0)])
    data = [words(GREEN)]
    texture = device.create_texture(1, 1, Format.A8R8G8B8, data, managed=True)
    device.set_texture(257, texture)
    screen.stage(0, COLOROP=TextureOp.DISABLE)
    device.set_fvf(0x002)
    vertices = b"".join(struct.pack("<3f", *place, 0.5) for place in WHOLE)
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, 12)
    assert screen.pixel() == GREEN


def test_compressed_textures_take_the_blocks_that_are_touched() -> None:
    bench = managed(side=8, format=Format.DXT1)
    bench.ok(preload())
    store(bench, 9)
    bench.ok(dirty(5, 3, 6, 4) + preload())
    assert video(bench) == bytes(8) + b"\t" * 8 + bytes(16)


@pytest.mark.parametrize("rect", [(0, 0, 5, 4), (2, 2, 2, 3), (3, 0, 1, 1), (0, 0, 4, 1 << 31)])
def test_marks_that_are_empty_or_outside_are_refused(rect: tuple[int, ...]) -> None:
    assert managed().call(dirty(*rect)).ddrval == HResult.DDERR_INVALIDRECT


def test_too_many_marks_do_not_wait() -> None:
    bench = managed(side=64, format=Format.L8)
    bench.ok(preload())
    store(bench, 9)
    rects = [(x, y, x + 1, y + 1) for y in range(64) for x in range(64)][: MARKS + 1]
    body = b"".join(struct.pack("<5I", TEXTURE, *rect) for rect in rects)
    for start in range(0, len(body), 2000):
        piece = body[start : start + 2000]
        bench.ok(header(Op.ADDDIRTYRECT, len(piece) // 20) + piece)
    assert video(bench) == b"\t" * len(rects) + bytes(64 * 64 - len(rects))


def test_moves_work_on_the_system_copy_and_mark_what_they_write() -> None:
    bench = managed()
    store(bench, 7)
    draw(bench)
    bench.ok(token(Op.COLORFILL, TEXTURE, 0, 0, 2, 2, 0x0B0B0B))
    assert bench.driver.read(TEXTURE, 0, 1) == b"\x0b"
    assert draw(bench) == [[11, 11, 7, 7]] * 2 + [[7] * 4] * 2
    bench.ok(render_state(EVICT, 1))
    assert draw(bench) == [[11, 11, 7, 7]] * 2 + [[7] * 4] * 2
    bench.driver.create_surface(
        SurfaceDesc(PLAIN, SurfaceKind.TEXTURE, 4, 4, int(Format.X8R8G8B8))
    )
    store(bench, 9)
    whole = (0, 0, 4, 4)
    bench.ok(token(Op.TEXBLT, PLAIN, TEXTURE, 0, 0, *whole, 0))
    assert bench.driver.read(PLAIN, 0, 64) == b"\t" * 64
    store(bench, 5, PLAIN)
    bench.ok(token(Op.TEXBLT, TEXTURE, PLAIN, 3, 3, 0, 0, 1, 1, 0))
    assert draw(bench)[3] == [7, 7, 7, 5]


def test_a_move_into_a_level_by_its_handle_marks_that_level() -> None:
    bench = managed(side=4, levels=2)
    bench.driver.create_surface(
        SurfaceDesc(
            LEVEL, SurfaceKind.SURFACE, 2, 2, int(Format.X8R8G8B8), parent=TEXTURE, index=1
        )
    )
    bench.ok(preload() + token(Op.COLORFILL, LEVEL, 1, 0, 2, 1, 0xFF0B0B0B) + preload())
    assert video(bench) == bytes(64 + 4) + b"\x0b\x0b\x0b\xff" + bytes(8)


def test_generated_levels_survive_eviction() -> None:
    bench = managed(side=2, levels=2)
    bench.driver.write(TEXTURE, 0, b"\x0a" * 16)
    bench.ok(preload() + token(Op.GENERATEMIPSUBLEVELS, TEXTURE, 2))
    bench.ok(render_state(EVICT, 1) + preload())
    assert video(bench)[16:19] == b"\x0a" * 3


def test_marks_are_of_the_texture_in_every_context() -> None:
    bench = managed()
    draw(bench)
    bench.driver.create_context(2, color=COLOR)
    store(bench, 9)
    bench.ok(dirty(0, 0, 4, 4), dwhContext=2)
    assert draw(bench) == full(9)


def test_a_texture_made_anew_starts_without_marks() -> None:
    bench = managed()
    draw(bench)
    managed(bench=bench)
    store(bench, 9)
    assert draw(bench) == full(9)


def test_managed_textures_are_no_targets_and_not_flipped() -> None:
    bench = managed()
    assert bench.call(token(41, TEXTURE, 0)).ddrval == HResult.DDERR_GENERIC
    bench.driver.create_surface(
        SurfaceDesc(PLAIN, SurfaceKind.TEXTURE, 4, 4, int(Format.X8R8G8B8), managed=1)
    )
    with pytest.raises(Fault):
        bench.driver.flip(TEXTURE, PLAIN)


def test_the_heap_counts_both_copies_and_gives_them_back() -> None:
    heap = Heap()
    heap.create(SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, int(Format.L8), managed=1))
    assert heap.allocated == 32
    heap.destroy(1)
    assert heap.allocated == 0


def test_a_copy_that_a_packet_names_counts_until_that_is_done() -> None:
    bench = managed(bench=Bench(timing=fixed(call=1, packet=1000)))
    heap = bench.driver.gpu.heap
    before = heap.allocated
    fill = token(Op.COLORFILL, TEXTURE, 0, 0, 1, 1, 5)
    bench.ok(token(Op.COLORFILL, COLOR, 0, 0, 1, 1, 0) + fill + header(25)
             + struct.pack("<HHI", 0, 0, 0))  # fmt: skip
    bench.driver.destroy_surface(TEXTURE)
    assert before - heap.allocated == 64
    bench.driver.finish()
    assert before - heap.allocated == 128


@pytest.mark.parametrize(
    "desc",
    [
        SurfaceDesc(1, SurfaceKind.SURFACE, 4, 4, int(Format.L8), managed=1),
        SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, 4, managed=1),
        SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, int(Format.L8), managed=2),
    ],
)
def test_only_textures_can_be_managed(desc: SurfaceDesc) -> None:
    with pytest.raises(Fault):
        Heap().create(desc)


def test_resourcemanager_tells_managed_textures_and_evictions() -> None:
    bench = managed()
    bench.ok(preload() + render_state(EVICT, 1) + render_state(EVICT, 1))
    data = bench.settle(create(5, QueryType.RESOURCEMANAGER) + issue(5, END))[5]
    row = struct.unpack_from("<11I", data, 44 * int(SurfaceKind.TEXTURE))
    assert row == (0, 0, 1, 1, 0, 1, 1, 1, 64, 1, 64)


class Model:
    """4 x 4 texels of one byte, twice."""

    def __init__(self) -> None:
        self.system, self.video = [0] * 16, [0] * 16
        self.marks: set[int] | None = None

    def upload(self) -> None:
        for at in range(16) if self.marks is None else self.marks:
            self.video[at] = self.system[at]
        self.marks = set()

    def store(self, places: set[int], number: int) -> None:
        for at in places:
            self.system[at] = number

    def mark(self, places: set[int]) -> None:
        if self.marks is not None:
            self.marks |= places


RECTS = st.tuples(*[st.integers(0, 3)] * 2, *[st.integers(1, 4)] * 2).map(
    lambda r: (r[0], r[1], max(r[0] + 1, r[2]), max(r[1] + 1, r[3]))
)
STEPS = st.tuples(st.sampled_from(["write", "mark", "fill", "preload", "draw", "evict"]), RECTS)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_both_copies_hold_what_a_model_says(steps: list[tuple[str, tuple[int, ...]]]) -> None:
    bench, model = managed(format=Format.L8), Model()
    for number, (name, rect) in enumerate(steps, 1):
        places = {x + 4 * y for y in range(rect[1], rect[3]) for x in range(rect[0], rect[2])}
        if name in ("write", "fill"):
            model.store(places, number)
        if name in ("mark", "fill"):
            model.mark(places)
        if name in ("preload", "draw"):
            model.upload()
        if name == "evict":
            model.marks = None
        if name == "write":
            for at in places:
                bench.driver.write(TEXTURE, at, bytes([number]))
        if name == "draw":
            assert [texel for row in draw(bench) for texel in row] == model.video
        else:
            bench.ok(_COMMANDS[name](rect, number))
        assert list(video(bench)) == model.video
        assert list(bench.driver.read(TEXTURE, 0, 16)) == model.system


_COMMANDS: dict[str, Callable[[tuple[int, ...], int], bytes]] = {
    "write": lambda rect, number: b"",
    "mark": lambda rect, number: dirty(*rect),
    "fill": lambda rect, number: token(Op.COLORFILL, TEXTURE, *rect, number * 0x010101),
    "preload": lambda rect, number: preload(),
    "evict": lambda rect, number: render_state(EVICT, 1),
}
