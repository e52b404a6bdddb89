"""What is remembered of states is what resolving them again would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d import fvf
from dp2emu.d3d.enums import Format, RenderState, TextureStageState, TransformState
from dp2emu.d3d.legacy import RenderState7, TextureStageState8
from dp2emu.dp2.options import Options
from dp2emu.dp2.resolve.pipeline import ROOM, Resolutions, Resolved, Targets, resolve
from dp2emu.dp2.resolve.programs import PixelStage, Source, VertexStage
from dp2emu.dp2.states.constants import VERTEX_FILES, Constants
from dp2emu.dp2.states.raw_state import State
from dp2emu.dp2.textures import Textures
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower import lower_vertex
from tests.dp2.screen import RED, Screen

CONSTANTS = Constants(VERTEX_FILES, Options())
LIT = 0x002 | fvf.NORMAL | 0x100
FLAT = fvf.XYZRHW | fvf.DIFFUSE | 0x100


class Known:
    """A context's parts that are resolved, with two targets and two textures."""

    def __init__(self) -> None:
        self.heap = Heap()
        self.state = State(has_depth=True)
        self.textures = Textures()
        self.resolutions = Resolutions(9, self.heap)
        formats = (Format.A8R8G8B8, Format.R5G6B5, Format.D24S8)
        *self.colors, self.depth = (
            self.surface(n + 1, SurfaceKind.SURFACE, format) for n, format in enumerate(formats)
        )
        self.images = [self.surface(n, SurfaceKind.TEXTURE, Format.L8) for n in (4, 5)]
        self.targets = Targets((self.colors[0], None, None, None), self.depth)
        self.format = FLAT

    def surface(self, handle: int, kind: SurfaceKind, format: Format) -> Surface:
        return self.heap.create(SurfaceDesc(handle, kind, 8, 8, format))

    def get(self) -> Resolved:
        source = self.resolutions.source(self.format)
        return self.resolutions.of(self.state, source, self.targets, self.textures)

    def fresh(self) -> Resolved:
        source = self.resolutions.source(self.format)
        return resolve(self.state, source, self.targets, 9, self.textures.at_stages())

    def told(self) -> Any:
        """Everything a draw takes of what is remembered."""
        found = self.get()
        bound = self.resolutions.vertex_bindings(found, self.state, CONSTANTS)
        return told(found), plain(bound.uniforms)

    def told_fresh(self) -> Any:
        """And of what is resolved now."""
        found = self.fresh()
        return told(found), plain(found.vertex_uniforms(self.state, CONSTANTS))

    def target(self, number: int) -> None:
        self.targets = Targets((self.colors[number], None, None, None), self.depth)

    def matrix(self, number: int) -> None:
        self.state.set_transform(TransformState.VIEW, [float(number + 1)] * 16)

    def project(self, number: int) -> None:
        matrix = [0.0, 0.0, 0.0, 1.0] * 3 + [0.0, 0.0, float(number), 1.0 - number]
        self.state.set_transform(TransformState.PROJECTION, matrix)

    def use(self, format: int) -> None:
        self.format = format


def plain(value: Any) -> Any:
    """Arrays as bytes and bindings as their fields, so that they compare by what they say."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(type(value), "__struct_fields__") and not isinstance(value, Surface | int | tuple):
        return {name: plain(getattr(value, name)) for name in type(value).__struct_fields__}
    return value


def told(resolved: Resolved) -> Any:
    """Everything a draw takes from it."""
    vertex, pixel = resolved.vertex, resolved.pixel
    return (
        resolved.pipeline, plain(resolved.raster), resolved.output.merge, vertex.fixed,
        plain(pixel.uniforms), plain(vertex.textures), plain(pixel.textures),
    )  # fmt: skip


CHANGES = {
    "fog": (RenderState.FOGENABLE, (0, 1)),
    "table": (RenderState.FOGTABLEMODE, (0, 3)),
    "blend": (RenderState.ALPHABLENDENABLE, (0, 1)),
    "reference": (RenderState.STENCILREF, (0, 7)),
    "size": (RenderState.POINTSIZE, (0x3F800000, 0x40000000)),
    "factor": (RenderState.TEXTUREFACTOR, (0, 0xFF00FF00)),
    "culling": (RenderState.CULLMODE, (1, 3)),
}
STAGES = {
    "operation": (TextureStageState.COLOROP, (2, 4)),
    "border": (TextureStageState8.BORDERCOLOR, (0, 0xFFFFFFFF)),
    "address": (TextureStageState8.ADDRESSU, (1, 4)),
}
change = st.one_of(
    st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 1)),
    st.tuples(st.sampled_from(sorted(STAGES)), st.integers(0, 1)),
    st.tuples(
        st.sampled_from(["bind", "target", "matrix", "project", "format"]), st.integers(0, 1)
    ),
)


def apply(known: Known, what: str, number: int) -> None:
    if what in CHANGES:
        state, values = CHANGES[what]
        known.state.set_render_state(state, values[number])
    elif what in STAGES:
        stage_state, stage_values = STAGES[what]
        known.state.set_texture_stage_state(0, stage_state, stage_values[number])
    else:
        {
            "bind": lambda n: known.textures.bind(0, known.images[n]),
            "target": known.target,
            "matrix": known.matrix,
            "project": known.project,
            "format": lambda n: known.use((FLAT, LIT)[n]),
        }[what](number)


@given(st.lists(change, max_size=20))
def test_what_is_remembered_is_what_resolving_gives(changes: list[tuple[str, int]]) -> None:
    known = Known()
    for what, number in changes:
        apply(known, what, number)
        assert known.told() == known.told_fresh()


@pytest.mark.parametrize("what", [*CHANGES, *STAGES, "bind", "target", "format"])
def test_a_state_that_comes_again_is_not_resolved_again(what: str) -> None:
    known = Known()
    apply(known, what, 0)
    first = known.get()
    apply(known, what, 1)
    second = known.get()
    apply(known, what, 0)
    assert known.get() is first and second is not first
    apply(known, what, 1)
    assert known.get() is second


def test_numbers_outside_of_the_settings_are_resolved_again() -> None:
    known = Known()
    first = known.get()
    known.project(1)
    assert known.get() is not first


def test_matrices_are_numbers_to_what_stays() -> None:
    known = Known()
    known.use(LIT)
    first = known.get()
    before = known.told()
    bound = known.resolutions.vertex_bindings(first, known.state, CONSTANTS)
    assert known.resolutions.vertex_bindings(first, known.state, CONSTANTS) is bound
    known.matrix(1)
    assert known.get() is first and known.told() == known.told_fresh() != before


@pytest.mark.parametrize("kind", [TransformState.VIEW, TransformState.PROJECTION, 256, 300])
def test_every_matrix_counts_as_a_change_of_numbers(kind: int) -> None:
    state = State(has_depth=False)
    state.set_transform(kind, [1.0] * 16)
    assert state.numbers == 1 and state.version == (kind == TransformState.PROJECTION)


def test_the_material_counts_as_a_change_of_numbers() -> None:
    state = State(has_depth=False)
    state.set_material(None)
    assert (state.numbers, state.version) == (1, 0)


def test_no_more_is_remembered_than_there_is_room_for() -> None:
    known = Known()
    first = known.get()
    for value in range(1, ROOM + 1):
        known.state.set_render_state(RenderState.STENCILREF, value)
        last = known.get()
    assert known.get() is last
    known.state.set_render_state(RenderState.STENCILREF, 0)
    again = known.get()
    assert again is not first and told(again) == told(first)


def test_a_source_is_one_object_for_a_format() -> None:
    known = Known()
    first, other = known.resolutions.source(FLAT), known.resolutions.source(LIT)
    assert isinstance(first, Source) and known.resolutions.source(FLAT) is first
    assert known.resolutions.source(LIT) is other is not first
    with pytest.raises(Fault, match="no position"):
        known.resolutions.source(fvf.DIFFUSE)


def test_settings_are_one_object_until_something_changes() -> None:
    state = State(has_depth=False)
    before = state.refresh()
    state.set_render_state(RenderState.ZFUNC, state.render_states[RenderState.ZFUNC])
    assert state.refresh() is before
    state.set_render_state(RenderState.ZFUNC, 1)
    changed = state.refresh()
    assert changed != before and state.refresh() is changed
    state.set_render_state(RenderState.ZFUNC, 4)
    assert state.refresh() == before


@given(st.integers(0, 255), st.integers(0, 0xFFFFFFFF))
def test_every_render_state_is_in_the_settings(number: int, value: int) -> None:
    state = State(has_depth=False)
    state.set_render_state(number, value)
    words = np.frombuffer(b"".join(state.refresh()), np.uint32)
    assert words[number] == value and (words[:256] == state.render_states).all()


@given(st.sampled_from([0, 7, 15, 256, 257, 260]), st.integers(0, 32), st.integers(0, 0xFFFFFFFF))
def test_every_stage_state_is_in_the_settings(stage: int, number: int, value: int) -> None:
    state = State(has_depth=False)
    state.set_texture_stage_state(stage, number, value)
    rows = np.frombuffer(b"".join(state.refresh()), np.uint32)[256:].reshape(len(state.stages), -1)
    assert (rows == state.stages).all() and state.stage(stage)[number] == value


def test_a_texture_map_blend_that_ends_is_resolved_again() -> None:
    state = State(has_depth=False)
    state.set_render_state(RenderState7.TEXTUREMAPBLEND, 2)
    state.set_map_blend(2)
    version = state.version
    state.set_texture_stage_state(0, TextureStageState.COLOROP, state.stage(0)[1])
    assert state.map_blend == 0 and state.version > version


@pytest.mark.parametrize("unbound_first", [True, False])
def test_memory_without_handle_or_binding_is_not_remembered(unbound_first: bool) -> None:
    screen = Screen()
    device, heap = screen.device, screen.device.session.rig.gpu.heap  # type: ignore[attr-defined]
    before = heap.allocated
    texture = screen.texture(RED)
    device.set_texture(0, texture)
    screen.draw((0.5, 0.5))
    steps = [lambda: device.set_texture(0, None),
             lambda: device.session.destroy_surface(texture.desc.handle)]  # fmt: skip
    first, second = steps if unbound_first else reversed(steps)
    first()
    device.session.flush()
    if not unbound_first:
        screen.draw((0.5, 0.5))
        assert heap.allocated > before
    second()
    device.session.flush()
    assert heap.allocated == before


@pytest.mark.parametrize("stage", ["vertex", "pixel"])
def test_numbers_of_a_shader_are_the_same_object_until_a_register_is_written(stage: str) -> None:
    constants = Constants(VERTEX_FILES, Options())
    text = "vs_2_0\ndcl_position v0\nadd oPos, v0, c3\n"
    lowered = lower_vertex(decode(assemble(text)))
    known, state = Resolutions(9, Heap()), State(has_depth=False)
    resolved = replace(
        Known().get(),
        vertex=VertexStage(lowered.program, shader=lowered),
        pixel=PixelStage(lowered.program, {}, lowered),
    )

    def numbers() -> Mapping[str, Any]:
        if stage == "vertex":
            return known.vertex_bindings(resolved, state, constants).uniforms
        return known.pixel_bindings(resolved, constants).uniforms

    first = numbers()
    assert numbers() is first
    constants.write("c", 3, np.arange(4, dtype="<f4").tobytes())
    assert numbers()["c"][12:16].tolist() == [0, 1, 2, 3]
    assert first["c"][12:16].tolist() == [0, 0, 0, 0]
