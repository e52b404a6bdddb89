"""Calls do not cost more with more objects that they do not use: n calls with n objects each of
surfaces, contexts, shaders, queries and so on are n times the work, not n squared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.dp2.options import Options
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.device.timing import fixed, instant
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    COLOR,
    END,
    Bench,
    create,
    header,
    issue,
    rectangle,
    token,
    triangle_list,
)
from tests.dp2.test_token_scaling import (
    declaration,
    function,
    light,
    pixel_shader,
    query,
    shorts,
    vertex_shader,
    words,
)
from tests.scaling import assert_linear

FIRST = 100
"""The first handle of the surfaces that grow in number."""
VERTICES = rectangle(0, 0, 2, 2)
A8R8G8B8 = int(Format.A8R8G8B8)


def texture(handle: int, managed: int = 0) -> SurfaceDesc:
    return SurfaceDesc(handle, SurfaceKind.TEXTURE, 4, 4, A8R8G8B8, managed=managed)


def buffer(handle: int) -> SurfaceDesc:
    return SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, 256)


def each(op: Op, item: Callable[[int], bytes]) -> Callable[[Bench, int], None]:
    """Objects that a token creates."""
    return lambda bench, n: bench.ok(b"".join(header(op) + item(i) for i in range(n)))


def surfaces(desc: Callable[[int], SurfaceDesc]) -> Callable[[Bench, int], None]:
    def make(bench: Bench, n: int) -> None:
        for i in range(n):
            bench.driver.create_surface(desc(FIRST + i))

    return make


def contexts(bench: Bench, n: int) -> None:
    for i in range(n):
        bench.driver.create_context(2 + i, color=COLOR)


def managed(bench: Bench, n: int) -> None:
    """Managed textures that have been used, and are dirty."""
    for i in range(n):
        bench.driver.create_surface(texture(FIRST + i, managed=1))
        bind = header(Op.TEXTURESTAGESTATE) + shorts(0, 0) + words(FIRST + i)
        bench.ok(bind + triangle_list(0) + token(Op.ADDDIRTYRECT, FIRST + i, 0, 0, 4, 4), VERTICES)


def blocks(bench: Bench, n: int) -> None:
    for i in range(n):
        items = words(0, i + 1, 0), words(1, i + 1, 0)
        bench.ok(header(Op.STATESET, 2) + b"".join(items))


def outstanding(bench: Bench, n: int) -> None:
    """Issued queries whose answers are still to come."""
    for i in range(n):
        bench.ok(create(i, QueryType.EVENT) + issue(i, END))


def unsent(bench: Bench, n: int) -> None:
    """Queries whose answers are there, but were not sent."""
    tokens = b"".join(create(i, QueryType.EVENT) + issue(i, END) for i in range(n))
    bench.driver.write(3, 0, tokens)
    bench.call(tokens + bytes(4))
    bench.driver.finish()


OBJECTS: dict[str, Callable[[Bench, int], None]] = {
    "textures": surfaces(texture),
    "buffers": surfaces(buffer),
    "managed textures": managed,
    "contexts": contexts,
    "queries": each(Op.CREATEQUERY, query),
    "outstanding queries": outstanding,
    "unsent answers": unsent,
    "pixel shaders": each(Op.CREATEPIXELSHADER, pixel_shader),
    "vertex shaders": each(Op.CREATEVERTEXSHADER, vertex_shader),
    "functions": each(Op.CREATEVERTEXSHADERFUNC, function),
    "declarations": each(Op.CREATEVERTEXSHADERDECL, declaration),
    "state blocks": blocks,
    "lights": each(Op.SETLIGHT, light),
    "palettes": each(Op.UPDATEPALETTE, lambda i: words(i + 1) + shorts(0, 1) + words(i)),
}
"""Objects -> a function that makes n of them."""


def replace_surface(bench: Bench, i: int) -> None:
    bench.driver.create_surface(texture(FIRST + i))
    bench.driver.destroy_surface(FIRST + i)


USES: dict[str, Callable[[Bench, int], object]] = {
    "states": lambda bench, i: bench.ok(token(Op.RENDERSTATE, 60, i)),
    "draws": lambda bench, i: bench.ok(triangle_list(0), VERTICES),
    "queries": lambda bench, i: bench.ok(create(5000, QueryType.OCCLUSION) + issue(5000, END)),
    "empty calls": lambda bench, i: bench.ok(),
    "small buffers": lambda bench, i: bench.ok(lpDDCommands=90),
    "surfaces": replace_surface,
    "reads": lambda bench, i: bench.driver.read(COLOR, 0, 4),
    "colour keys": lambda bench, i: bench.driver.set_color_key(COLOR, (i, i)),
    "targets": lambda bench, i: bench.driver.recent_targets(1),
    "finish": lambda bench, i: bench.driver.finish(),
}
"""What is done n times, each with the number of the time."""


def bench_with(name: str, n: int) -> Bench:
    late = name == "outstanding queries"
    timing = fixed(call=1, packet=1, delivery=10**6) if late else instant()
    options = Options(engine="reference", threads=1, parser="walk")
    bench = Bench(buffer=1 << 16, timing=timing, options=options)
    bench.driver.gpu.skipped = frozenset({Draw})
    bench.driver.create_surface(SurfaceDesc(90, SurfaceKind.MEMORY, 40))
    OBJECTS[name](bench, n)
    return bench


def check(objects: str, uses: Sequence[str], sizes: Sequence[int]) -> None:
    """Fail unless n of each of ``uses`` with n ``objects`` are n times the work."""

    def given(n: int) -> tuple[Bench, int]:
        return bench_with(objects, n), n

    def perform(made: tuple[Bench, int]) -> None:
        bench, n = made
        for use in uses:
            for i in range(n):
                USES[use](bench, i)

    assert_linear(given, perform, sizes)


@pytest.mark.parametrize("objects", OBJECTS)
def test_calls_cost_the_same_with_more_objects(objects: str) -> None:
    check(objects, tuple(USES), (2, 4, 8, 16))


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("objects", OBJECTS)
def test_each_call_costs_the_same_with_many_objects(objects: str, use: str) -> None:
    check(objects, (use,), (32, 64, 128, 256))
