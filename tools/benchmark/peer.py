"""The other side of a workload: llvmpipe, Mesa's software GPU, through EGL and moderngl.

The same triangles, states and programs in OpenGL 3.3.  Row 0 of a picture is row 0 in memory, as
in Direct3D, so that the fill rule is the same, and pixel centres are moved by half a pixel.  What
is timed is a frame up to glFinish; buffers, textures and programs are made before.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.programs import glsl
from benchmark.serving import Memory, Missing, Picture, serve
from benchmark.workloads import Array, Look, Model, Step, Workload, changes

ENVIRONMENT = {
    "EGL_PLATFORM": "surfaceless",
    "GALLIUM_DRIVER": "llvmpipe",
    "LIBGL_ALWAYS_SOFTWARE": "1",
}
RENDERER = "llvmpipe"

_SCREEN = """
in vec4 position;
in vec4 color;
in vec2 uv;
void main() {
    vec2 at = (position.xy + 0.5) * 2.0 / screen - 1.0;
    gl_Position = vec4(at, position.z * 2.0 - 1.0, 1.0) / position.w;
    diffuse = color.bgra;
    coordinates = uv;
}
"""
_MODEL = """
uniform mat4 world, projection;
uniform vec4 material, ambient;
uniform vec3 light;
in vec3 position;
in vec3 normal;
void main() {
    vec4 there = projection * (world * vec4(position, 1.0));
    there.xy = vec2(there.x, -there.y) + there.w / screen;
    gl_Position = vec4(there.xy, 2.0 * there.z - there.w, there.w);
    float lit = max(dot(mat3(world) * normal, -light), 0.0);
    diffuse = vec4(clamp(ambient.rgb + material.rgb * lit, 0.0, 1.0), material.a);
}
"""
_VERTEX_HEAD = """#version 330
uniform vec2 screen;
out vec4 diffuse;
out vec2 coordinates;
"""
_PIXEL_HEAD = """#version 330
uniform sampler2D picture;
in vec4 diffuse;
in vec2 coordinates;
out vec4 result;
void main() {
    vec4 color = diffuse;
    vec2 uv = coordinates;
"""
_TEXTURED = "color *= texture(picture, uv);"
_TESTED = "if (!(color.a > 128.0 / 255.0)) discard;"


def pixel_source(look: Look) -> str:
    """The fragment shader of a look."""
    lines = [
        glsl(look.shader) if look.shader else "",
        _TEXTURED if look.texture is not None else "",
        _TESTED if look.tested else "",
    ]
    return _PIXEL_HEAD + "\n".join(filter(None, (*lines, "result = color;", "}")))


def vertex_source(model: Model | None) -> str:
    """The vertex shader for vertices on the screen, or of a model."""
    return _VERTEX_HEAD + (_SCREEN if model is None else _MODEL)


class Peer:
    """A GL context with everything of a workload in it.  Mutable: it draws.

    Raises Missing without moderngl, EGL or llvmpipe.
    """

    def __init__(self, workload: Workload, path: Path, options: dict[str, Any]) -> None:
        self.workload = workload
        self.gl = context()
        self.name = f"{self.gl.info['GL_RENDERER']}, {self.gl.info['GL_VERSION']}"
        self.target = self._frame_buffer(workload.samples)
        self.resolved = self._plain_target() if workload.samples > 1 else self.target
        self.textures = [self._texture(words) for words in workload.textures]
        self.vertices = self.gl.buffer(workload.vertices.tobytes())
        indices = workload.indices
        self.indices = None if indices is None else self.gl.buffer(indices.tobytes())
        self.arrays: dict[tuple[Any, ...], Any] = {}
        self.frame_steps = [
            (step, self._array(step.look), changed) for step, changed in changes(workload.steps)
        ]
        self.query = self.gl.query(samples=True) if workload.counted else None
        self.gl.blend_func = self.gl.SRC_ALPHA, self.gl.ONE_MINUS_SRC_ALPHA
        self.gl.depth_func = "<="
        if workload.model is not None:
            self.gl.enable(self.gl.CULL_FACE)

    def _frame_buffer(self, samples: int) -> Any:
        size, count = (self.workload.width, self.workload.height), samples if samples > 1 else 0
        color = self.gl.renderbuffer(size, 4, samples=count)
        return self.gl.framebuffer([color], self.gl.depth_renderbuffer(size, samples=count))

    def _plain_target(self) -> Any:
        """For resolved samples: without depth, which would be resolved as well."""
        size = self.workload.width, self.workload.height
        return self.gl.framebuffer([self.gl.renderbuffer(size, 4)])

    def _texture(self, words: Array) -> Any:
        texture = self.gl.texture(words.shape, 4, words.astype("<u4").tobytes())
        texture.swizzle = "BGRA"
        texture.filter = self.gl.LINEAR, self.gl.LINEAR
        return texture

    def _array(self, look: Look) -> Any:
        """The vertex array of a look's program, made once."""
        key = (look.texture is not None, look.tested, look.shader)
        if key not in self.arrays:
            model = self.workload.model
            program = self.gl.program(vertex_source(model), pixel_source(look))
            self._set_uniforms(program, model)
            bound = (self.vertices, *_layout(self.workload.vertices, program))
            self.arrays[key] = self.gl.vertex_array(program, [bound], index_buffer=self.indices)
        return self.arrays[key]

    def _set_uniforms(self, program: Any, model: Model | None) -> None:
        values: dict[str, Any] = {"screen": (self.workload.width, self.workload.height)}
        if model is not None:
            # Column-major for column vectors is row-major for row vectors, transposed twice.
            values |= {"world": model.world, "projection": model.projection}
            values |= {"material": model.diffuse, "ambient": model.ambient}
            values["light"] = model.direction
        for name, value in values.items():
            program[name].value = value

    def load(self) -> None:
        """Nothing is left to import when there is a context."""

    def first(self) -> None:
        """The first frame compiles."""
        self.frame()

    def frame(self) -> None:
        """Clear, draw, resolve, finish."""
        self.target.use()
        self.target.color_mask = True, True, True, True
        self.target.clear(0.0, 0.0, 0.0, 1.0, depth=1.0)
        if self.query is None:
            self._draw()
        else:
            with self.query:
                self._draw()
        if self.resolved is not self.target:
            self.gl.copy_framebuffer(self.resolved, self.target)
        self.gl.finish()

    def _draw(self) -> None:
        for step, array, changed in self.frame_steps:
            for field, value in changed.items():
                _SET[field](self, value)
            self._render(array, step)

    def _render(self, array: Any, step: Step) -> None:
        array.render(self.gl.TRIANGLES, vertices=step.count, first=step.first)

    def _switch(self, flag: int, on: bool) -> None:
        (self.gl.enable if on else self.gl.disable)(flag)

    def set_depth(self, on: bool) -> None:
        """Test and write depth."""
        self._switch(self.gl.DEPTH_TEST, on)

    def set_color(self, on: bool) -> None:
        """Write colours."""
        self.target.color_mask = on, on, on, on
        self.target.use()

    def set_blended(self, on: bool) -> None:
        """Blend by source alpha."""
        self._switch(self.gl.BLEND, on)

    def set_texture(self, number: int | None) -> None:
        """Bind a texture; a program that reads none needs none."""
        if number is not None:
            self.textures[number].use()

    def set_nothing(self, _: object) -> None:
        """What a program says is set with it."""

    def picture(self) -> Picture:
        """What the last frame drew, and what its query counted."""
        width, height = self.workload.width, self.workload.height
        rgba = np.frombuffer(self.resolved.read(components=4), np.uint8)
        bgra = rgba.reshape(height, width, 4)[..., [2, 1, 0, 3]]
        words = np.ascontiguousarray(bgra).view("<u4")[..., 0]
        return Picture(words, None if self.query is None else self.query.samples)

    def memory(self) -> Memory:
        """Not known from here."""
        return Memory(0, 0)


_SET: dict[str, Callable[[Peer, Any], None]] = {
    "depth": Peer.set_depth,
    "color": Peer.set_color,
    "blended": Peer.set_blended,
    "tested": Peer.set_nothing,
    "texture": Peer.set_texture,
    "shader": Peer.set_nothing,
}


def context() -> Any:
    """A standalone context on llvmpipe.  Raises Missing."""
    os.environ |= ENVIRONMENT
    try:
        moderngl: Any = importlib.import_module("moderngl")
        gl = moderngl.create_context(standalone=True, backend="egl", require=330)
    except Exception as error:
        # Whatever a missing or broken OpenGL makes of it.
        raise Missing(f"no OpenGL 3.3 through moderngl and EGL ({error})") from None
    if RENDERER not in gl.info["GL_RENDERER"]:
        raise Missing(f"OpenGL is {gl.info['GL_RENDERER']}, not llvmpipe")
    return gl


def _layout(vertices: Array, program: Any) -> tuple[str, ...]:
    """moderngl's format of a vertex, and the attributes the program reads."""
    formats, names = [], []
    for name in vertices.dtype.names or ():
        dtype = vertices.dtype[name]
        if name in program:
            formats.append("4f1" if dtype.base == np.uint32 else f"{dtype.shape[0]}f")
            names.append(name)
        else:
            formats.append(f"{dtype.itemsize}x")
    return " ".join(formats), *names


if __name__ == "__main__":
    serve(Peer)
