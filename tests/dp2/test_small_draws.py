"""Many small draws with changes in between: whatever they wait for, they are the reference's."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format, PrimitiveType, QueryType, RenderState, SamplerState
from dp2emu.d3d.flags import Clear
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.runtime import Device9
from dp2emu.shader.engines import JIT, REFERENCE
from dp2emu.shader.sm.assemble import assemble

VERTEX = """vs_2_0
dcl_position v0
dcl_texcoord v1
def c9, 0.5, 0.25, 1, 0
mad oPos.xy, v0, c0, c1
mov oPos.zw, v0
mad oD0, v0.xyxy, c9, c2
mov oT0, v1
"""
PIXEL = """ps_2_0
dcl v0
dcl t0.xy
dcl_2d s0
def c3, 0.5, 1, 0.25, 1
texld r0, t0, s0
mad r0, r0, v0, c0
mul r0, r0, c3
mov oC0, r0
"""
SIDE = 24
MESHES, TEXTURES = 3, 2
VERTICES = 12
RNG = np.random.default_rng(8)
DATA = [RNG.uniform(-1.2, 1.2, (VERTICES, 6)).astype("<f4") for _ in range(2 * MESHES)]
for corners in DATA:
    corners[:, 2], corners[:, 3] = abs(corners[:, 2]) * 0.7, 1.0
    corners[::3, 3] = 1.7
TEXELS = [RNG.integers(0, 1 << 32, (8, 8), np.uint32).astype("<u4") for _ in range(TEXTURES)]


def words(text: str) -> list[int]:
    found: list[int] = np.frombuffer(assemble(text), "<u4").tolist()
    return found


class Program:
    """An application that is told step by step.  Mutable: it has a device."""

    def __init__(self, engine: str, threads: int = 1) -> None:
        self.driver = Driver(options=Options(engine=engine, threads=threads))
        self.device = device = Device9(
            self.driver, SIDE, SIDE, format=Format.A8R8G8B8, depth=Format.D24S8
        )
        self.meshes = [device.create_vertex_buffer(DATA[n].tobytes()) for n in range(MESHES)]
        numbers = (np.arange(3 * VERTICES, dtype="<u2") * 7 % VERTICES).tobytes()
        self.indices = device.create_index_buffer(numbers, Format.INDEX16)
        self.textures = [
            device.create_texture(8, 8, Format.A8R8G8B8, [texels.tobytes()]) for texels in TEXELS
        ]
        self.query = device.create_query(QueryType.OCCLUSION)
        self.counts: list[Any] = []
        device.set_render_state(RenderState.CULLMODE, 1)
        device.set_sampler_state(0, SamplerState.MINFILTER, 2)
        device.set_fvf(0x104 | 0x4002)
        device.set_vertex_shader(device.create_vertex_shader(words(VERTEX)))
        device.set_pixel_shader(device.create_pixel_shader(words(PIXEL)))
        device.set_vertex_constants(0, [[1.0] * 4, [0.0] * 4, [0.25] * 4])
        self.mesh(0)
        self.texture(0)
        device.begin_scene()
        device.clear(Clear.TARGET | Clear.ZBUFFER, 0xFF203040, 1.0)

    def draw(self, number: int) -> None:
        kind = PrimitiveType.TRIANGLELIST
        self.device.draw_indexed_primitive(kind, 0, 0, VERTICES, 3 * number, 4)

    def strip(self, number: int) -> None:
        self.device.draw_primitive(PrimitiveType.TRIANGLESTRIP, number, 5)

    def mesh(self, number: int) -> None:
        self.device.set_stream_source(0, self.meshes[number % MESHES], 0, 24)
        self.device.set_indices(self.indices)

    def texture(self, number: int) -> None:
        self.device.set_texture(0, self.textures[number % TEXTURES])

    def place(self, number: int) -> None:
        self.device.set_vertex_constants(1, [[number / 5 - 0.4, 0.3 - number / 7, 0.0, 0.0]])

    def tint(self, number: int) -> None:
        self.device.set_pixel_constants(0, [[number / 8, 0.1, 0.2, 0.5]])

    def blend(self, number: int) -> None:
        self.device.set_render_state(RenderState.ALPHABLENDENABLE, number & 1)

    def clear(self, number: int) -> None:
        self.device.clear(Clear.TARGET, 0x01010101 * number)

    def write(self, number: int) -> None:
        mesh = number % MESHES
        self.device.session.flush()
        self.device.write(self.meshes[mesh], 0, DATA[MESHES + mesh].tobytes())

    def begin(self, number: int) -> None:
        self.query.begin()

    def end(self, number: int) -> None:
        self.query.end()
        self.counts.append(self.query.wait().value)

    def result(self, steps: list[tuple[str, int]]) -> Any:
        for name, number in steps:
            getattr(self, name)(number)
        self.device.end_scene()
        self.device.present()
        self.driver.finish()
        heap = self.driver.gpu.heap
        pictures = [surface.data.tobytes() for surface in heap]
        return pictures, self.counts, self.driver.gpu.counters.samples


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["draw"] * 6 + ["strip"] * 2
            + ["mesh", "texture", "place", "place", "tint", "blend", "clear", "write"]
        ),
        st.integers(0, 4),
    ),
    min_size=6, max_size=30,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_any_changes_between_draws_are_seen_by_those_behind_them(
    steps: list[tuple[str, int]],
) -> None:
    assert Program(JIT).result(steps) == Program(REFERENCE).result(steps)


def test_a_scene_with_all_of_it_is_the_same_by_any_number_of_threads() -> None:
    steps = [
        (name, number)
        for number in range(5)
        for name in ("place", "draw", "tint", "strip", "mesh", "draw", "begin", "draw", "write",
                     "draw", "end", "texture", "blend", "draw")
    ]  # fmt: skip
    wanted = Program(REFERENCE).result(steps)
    assert [Program(JIT, threads).result(steps) for threads in (1, 2)] == [wanted] * 2
    assert len(wanted[1]) == 5
