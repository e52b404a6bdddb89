"""Our side of a workload: the calls of an application, captured once and replayed.

The application's half runs against a rig that does nothing and fills a capture: what is made
before the first frame, then three frames.  What is timed is the driver, given the calls of the
third frame again and again, until the GPU is idle; buffers, textures and shaders are made before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.programs import assembly
from benchmark.serving import Memory, Picture, serve
from benchmark.workloads import Array, Model, Workload, changes
from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.records import (
    Answered,
    Called,
    ContextCreated,
    FrameMarker,
    MemoryWritten,
    Record,
    SurfaceCreated,
)
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import (
    Blend,
    CmpFunc,
    Format,
    LightType,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureFilter,
    TextureStageState,
    TransformState,
)
from dp2emu.d3d.flags import Clear
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.limits import UNLIMITED
from dp2emu.runtime import Device9, Light, Material
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader.engines import REFERENCE, engine, name_of
from dp2emu.shader.jit.object_cache import object_cache
from dp2emu.shader.sm.assemble import assemble

FRAMES = 3
"""Frames of a capture: the first finds the state a context begins with, later ones their own."""
COLOR_WRITES = 0xF
THRESHOLD = 128
ANSWER_BYTES = 4
"""Of an occlusion query."""
SCREEN_FVF = fvf.XYZRHW | fvf.DIFFUSE | 1 << 8
MODEL_FVF = 0x002 | fvf.NORMAL
WORLD = 256


class Listener:
    """A rig for recording: accepts everything and does nothing."""

    time = 0

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """Nothing is made."""

    def destroy_context(self, context: int) -> None:
        """Nothing was made."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        """Nothing is made."""

    def destroy_surface(self, handle: int) -> None:
        """Nothing was made."""

    def set_color_key(self, handle: int, key: tuple[int, int] | None) -> None:
        """Nothing is keyed."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Nothing is kept."""

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Zeros."""
        return bytes(size)

    def submit(self, call: Call) -> Answer:
        """Success, and no answers."""
        return Answer(0, 0, 0)

    def finish(self) -> None:
        """Nothing is under way."""

    def lock(self, handle: int) -> None:
        """Nothing is under way."""

    def flip(self, front: int, back: int) -> None:
        """Nothing is there to exchange."""

    def blit(self, blt: Blt) -> None:
        """Nothing is there to copy."""


def record(workload: Workload, path: Path) -> None:
    """Write the capture of a workload: set-up, then ``FRAMES`` frames.  Raises OSError."""
    with CaptureWriter(path) as capture:

        def keep(record: Record) -> None:
            if not isinstance(record, Answered):
                capture.write(record)

        application = Application(workload, keep)
        for _ in range(FRAMES):
            application.frame()
        application.device.session.flush()


class Application:
    """A Direct3D 9 program that draws a workload.  Mutable: it has a device."""

    def __init__(self, workload: Workload, keep: Callable[[Record], None]) -> None:
        self.workload = workload
        width, height, samples = workload.width, workload.height, workload.samples
        self.device = device = Device9(
            Listener(), width, height, format=Format.A8R8G8B8, depth=Format.D24X8,
            samples=samples, record=keep,
        )  # fmt: skip
        self.resolved = (
            device.create_render_target(width, height, Format.A8R8G8B8) if samples > 1 else None
        )
        self.query = device.create_query(QueryType.OCCLUSION) if workload.counted else None
        self._bind_vertices()
        self.textures = [_texture(device, words) for words in workload.textures]
        self.shaders = {
            look.shader: device.create_pixel_shader(_words(look.shader))
            for look in {step.look for step in workload.steps}
            if look.shader
        }
        self._set_states()
        device.present()

    def _bind_vertices(self) -> None:
        device, workload = self.device, self.workload
        vertices = device.create_vertex_buffer(workload.vertices.tobytes())
        device.set_stream_source(0, vertices, 0, workload.vertices.dtype.itemsize)
        device.set_fvf(SCREEN_FVF if workload.model is None else MODEL_FVF)
        if workload.indices is not None:
            indices = workload.indices.astype("<u4").tobytes()
            device.set_indices(device.create_index_buffer(indices, Format.INDEX32))

    def _set_states(self) -> None:
        device = self.device
        device.set_render_state(RenderState.SRCBLEND, Blend.SRCALPHA)
        device.set_render_state(RenderState.DESTBLEND, Blend.INVSRCALPHA)
        device.set_render_state(RenderState.ALPHAFUNC, CmpFunc.GREATER)
        device.set_render_state(RenderState.ALPHAREF, THRESHOLD)
        device.set_texture_stage_state(0, TextureStageState.ALPHAOP, 4)
        for filter in (SamplerState.MINFILTER, SamplerState.MAGFILTER):
            device.set_sampler_state(0, filter, TextureFilter.LINEAR)
        model = self.workload.model
        # Triangles on the screen lie either way round.
        device.set_render_state(RenderState.CULLMODE, 1 if model is None else 3)
        device.set_render_state(RenderState.LIGHTING, int(model is not None))
        if model is not None:
            _set_model(device, model)

    def frame(self) -> None:
        """Clear, draw, resolve, present."""
        device = self.device
        device.begin_scene()
        device.clear(Clear.TARGET | Clear.ZBUFFER, 0xFF000000, 1.0)
        if self.query is not None:
            self.query.begin()
        for step, changed in changes(self.workload.steps):
            for field, value in changed.items():
                _SET[field](self, value)
            self._draw(step.first, step.count // 3)
        if self.query is not None:
            self.query.end()
        device.end_scene()
        if self.resolved is not None:
            device.stretch_rect(device.back_buffer, self.resolved)
        device.present()

    def _draw(self, first: int, count: int) -> None:
        kind = PrimitiveType.TRIANGLELIST
        if self.workload.indices is None:
            self.device.draw_primitive(kind, first, count)
        else:
            vertices = len(self.workload.vertices)
            self.device.draw_indexed_primitive(kind, 0, 0, vertices, first, count)

    def set_depth(self, on: bool) -> None:
        """Test and write depth."""
        self.device.set_render_state(RenderState.ZENABLE, int(on))

    def set_color(self, on: bool) -> None:
        """Write colours."""
        self.device.set_render_state(RenderState.COLORWRITEENABLE, COLOR_WRITES if on else 0)

    def set_blended(self, on: bool) -> None:
        """Blend by source alpha."""
        self.device.set_render_state(RenderState.ALPHABLENDENABLE, int(on))

    def set_tested(self, on: bool) -> None:
        """Test alpha."""
        self.device.set_render_state(RenderState.ALPHATESTENABLE, int(on))

    def set_texture(self, number: int | None) -> None:
        """Bind a texture to stage 0, or nothing, which ends the cascade there."""
        self.device.set_texture(0, None if number is None else self.textures[number])

    def set_shader(self, program: tuple[str, ...]) -> None:
        """Set a pixel shader, or the texture stages."""
        self.device.set_pixel_shader(self.shaders.get(program))


_SET: dict[str, Callable[[Application, Any], None]] = {
    "depth": Application.set_depth,
    "color": Application.set_color,
    "blended": Application.set_blended,
    "tested": Application.set_tested,
    "texture": Application.set_texture,
    "shader": Application.set_shader,
}


def _texture(device: Device9, words: Array) -> Any:
    side = len(words)
    return device.create_texture(side, side, Format.A8R8G8B8, [words.astype("<u4").tobytes()])


def _words(program: tuple[str, ...]) -> list[int]:
    words: list[int] = np.frombuffer(assemble(assembly(program)), "<u4").tolist()
    return words


def _set_model(device: Device9, model: Model) -> None:
    device.set_transform(WORLD, model.world)
    device.set_transform(TransformState.PROJECTION, model.projection)
    device.set_material(Material(diffuse=model.diffuse, ambient=model.ambient))
    device.set_render_state(RenderState.AMBIENT, 0xFFFFFFFF)
    white = (1.0, 1.0, 1.0, 1.0)
    device.set_light(0, Light(LightType.DIRECTIONAL, white, direction=model.direction))
    device.light_enable(0, True)


class Ours:
    """A driver that has performed the set-up of a capture.  Mutable: it draws.

    ``options`` are choices of the driver, which has no limits: it draws the same frame again and
    again.  Raises TypeError for one that it does not have.
    """

    def __init__(self, workload: Workload, path: Path, options: dict[str, Any]) -> None:
        self.workload = workload
        self.options = Options(limits=UNLIMITED, **options)
        self.driver = Driver(options=self.options)
        record(workload, path)
        with open_capture(path) as capture:
            sections = _sections(capture.records())
            for each in next(sections):
                _PERFORM[type(each)](self.driver, each)
            self.opening, *_, self.calls = ([_call_of(r) for r in s] for s in islice(sections, 3))
        self.input_bytes = path.stat().st_size
        self.samples: int | None = None

    def load(self) -> None:
        """LLVM, if the engine compiles, and no earlier process has."""
        folder = object_cache().folder
        compiled = folder.is_dir() and any(folder.iterdir())
        if name_of(engine(self.options.engine)) != REFERENCE and not compiled:
            import_module("llvmlite.binding")

    def first(self) -> None:
        """The first frame: everything the driver prepares for a state is prepared here."""
        self._submit(self.opening)

    def frame(self) -> None:
        """The frame that is timed: after its last call the GPU has nothing left to do."""
        self._submit(self.calls)

    def _submit(self, calls: list[Call]) -> None:
        for call in calls:
            answer = self.driver.submit(call)
            assert answer.ddrval == 0, answer
            for response in parse_responses(answer.response, lambda _: ANSWER_BYTES).records:
                self.samples = int.from_bytes(response.data, "little")
        self.driver.finish()

    def picture(self) -> Picture:
        """What the last frame drew, and what its query counted."""
        size = self.workload.width, self.workload.height
        target = next(
            surface for surface in reversed(list(self.driver.gpu.heap))
            if (surface.width, surface.height) == size and surface.samples == 1
            and surface.format == Format.A8R8G8B8
        )  # fmt: skip
        return Picture(target.pixels().copy(), self.samples)

    def memory(self) -> Memory:
        """Bytes of the surfaces, and of the capture they came from."""
        return Memory(self.driver.gpu.heap.allocated, self.input_bytes)


_PERFORM: dict[type[Any], Callable[[Driver, Any], object]] = {
    SurfaceCreated: lambda driver, record: driver.create_surface(record.desc),
    MemoryWritten: lambda driver, record: driver.write(record.handle, record.offset, record.data),
    ContextCreated: lambda driver, record: driver.create_context(
        record.context, interface=record.interface, color=record.color, depth=record.depth
    ),
    Called: lambda driver, record: driver.submit(record.call),
}


def _sections(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Records between frame markers."""
    found: list[Record] = []
    for each in records:
        if isinstance(each, FrameMarker):
            yield found
            found = []
        else:
            found.append(each)


def _call_of(record: Record) -> Call:
    assert isinstance(record, Called), record
    return record.call


def has_option(name: str) -> bool:
    """Whether the driver has a choice of that name."""
    return name in {*Options.__struct_fields__}


if __name__ == "__main__":
    serve(Ours)
