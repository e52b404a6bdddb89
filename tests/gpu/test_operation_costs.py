"""Fixed work of packets: small work that is repeated ends at a limit, by its name."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import FillMode, Format, StateBlockType
from dp2emu.dp2.blt import Blt
from dp2emu.errors import Exceeded
from dp2emu.gpu import operation_costs as costs
from dp2emu.gpu.command.packets import Clear, Copy, CopyBytes, Draw, Packet, Predicated, whole_part
from dp2emu.gpu.command.pipeline import DepthState, Pipeline, RasterState
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages
from dp2emu.gpu.command.stream_targets import StreamOutput
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.work_budget import DRAWS, WorkBudget
from dp2emu.limits import BYTES_PER_DRAW, Limits, raising_draws
from dp2emu.shader.ir import Program, Stage
from tests.dp2.rigging import COLOR, Bench, clear, token
from tests.refusals import refused

CUBE, MONOCHROME, OTHER, RECTS, PLACES, CONVERTED = 20, 21, 22, 23, 24, 25
EXECUTE, CAPTURE, CREATE = 3, 4, 5
COLORFILL = 0x400


def limited(**limits: int) -> Bench:
    """A bench with surfaces for each kind of transfer."""
    bench = Bench(buffer=1 << 17, limits=Limits(**limits))
    kinds = SurfaceKind
    for desc in (
        SurfaceDesc(CUBE, kinds.CUBETEXTURE, 8, 8, int(Format.A8R8G8B8), levels=4),
        SurfaceDesc(MONOCHROME, kinds.SURFACE, 32, 32, int(Format.A1)),
        SurfaceDesc(OTHER, kinds.SURFACE, 32, 32, int(Format.A1)),
        SurfaceDesc(RECTS, kinds.VERTEXBUFFER, 4096),
        SurfaceDesc(PLACES, kinds.VERTEXBUFFER, 4096),
        SurfaceDesc(CONVERTED, kinds.SURFACE, 4, 4, int(Format.R5G6B5)),
    ):
        bench.driver.create_surface(desc)
    return bench


def compose(count: int) -> bytes:
    return struct.pack(
        "<BBH6I2i", Op.COMPOSERECTS, 0, 1, MONOCHROME, OTHER, RECTS, count, PLACES, 1, 0, 0
    )


def blit(source: int, target: int) -> bytes:
    box = (0, 0, 4, 4)
    return token(Op.BLT, source, *box, 0, target, *box, 0, 0)


BLOCK = token(Op.STATESET, CREATE, 1, int(StateBlockType.ALL))


@pytest.mark.parametrize(
    ("repeated", "before"),
    [
        (token(Op.GENERATEMIPSUBLEVELS, CUBE, 2), b""),
        (compose(400), b""),
        (compose(0), b""),
        (token(Op.STATESET, EXECUTE, 1, 0), BLOCK),
        (token(Op.STATESET, CAPTURE, 1, 0), BLOCK),
        (BLOCK, b""),
        (blit(CONVERTED, COLOR), b""),
        (token(Op.COLORFILL, COLOR, 0, 0, 1, 1, 0), b""),
        (clear(rect=(0, 0, 1, 1)), b""),
    ],
    ids=["levels", "compose", "nothing composed", "execute", "capture", "create", "blit", "fill",
         "clear"],
)  # fmt: skip
def test_small_work_that_is_repeated_ends_at_a_limit(repeated: bytes, before: bytes) -> None:
    limited().ok(before + repeated)
    bench = limited(call_operations=20_000)
    with pytest.raises(Exceeded, match=refused("call_operations", 20_000)):
        bench.call(before + repeated * 500)


def test_each_blit_of_directdraw_counts() -> None:
    bench = limited(capture_operations=2 * DRAWS)
    blt = Blt(COLOR, 0, 0, 1, 1, flags=COLORFILL)
    done = []
    with pytest.raises(Exceeded, match=refused("capture_operations", 2 * DRAWS)):
        for number in range(10_000):
            bench.driver.blit(blt)
            done.append(number)
    assert len(done) == 2 * DRAWS // (costs.PLAIN - 2)  # each raises the limit by two


def test_a_call_counts_from_nothing_and_a_capture_goes_on() -> None:
    bench = limited(call_operations=11_000, capture_operations=21_000)
    for _ in range(2):
        bench.ok(clear() * 100)
    with pytest.raises(Exceeded, match=refused("capture_operations")):
        bench.call(clear() * 100)


@pytest.mark.parametrize(
    ("draws", "size", "raising"),
    [(9, None, 9), (9, 4096, 9), (9, 8 * BYTES_PER_DRAW, 8), (9, 0, 0)],
)
def test_draws_raise_limits_as_far_as_the_file_s_size_allows(
    draws: int, size: int | None, raising: int
) -> None:
    assert raising_draws(draws, lambda: size) == raising
    budget = WorkBudget(Limits(capture_pixels=DRAWS), lambda: size)
    budget.spend(pixels=DRAWS + draws)
    for _ in range(draws):
        budget.begin_draw()
    assert budget.left().pixels == raising - draws


# Costs of packets


def surfaces(**more: Any) -> list[Surface]:
    heap = Heap()
    for number, format in enumerate((Format.A8R8G8B8, Format.A8R8G8B8, Format.R5G6B5)):
        heap.create(SurfaceDesc(number + 1, SurfaceKind.TEXTURE, 8, 8, int(format), **more))
    return list(heap)


def test_a_copy_that_converts_or_stretches_costs_more() -> None:
    one, same, other = surfaces(levels=2)
    plain = Copy(whole_part(one, 0), whole_part(same, 0))
    assert costs.operations_of(plain) == costs.PLAIN
    for target in (whole_part(other, 0), whole_part(same, 1)):
        assert costs.operations_of(Copy(whole_part(one, 0), target)) == costs.CONVERTED


def test_a_clear_costs_for_each_target() -> None:
    one, same, _ = surfaces()
    made = Clear((), (one, None, same), 0, None, None, None)
    assert costs.operations_of(made) == 2 * costs.PLAIN


def drawing(later: Any = None, textures: int = 0, fill: FillMode = FillMode.SOLID) -> Draw:
    units: Any = (None,) * textures
    program = Program(Stage.PIXEL, (), (), (), (), ())
    pipeline = Pipeline(
        (), RasterState(fill=fill), DepthState(), program, (), (), None,
        samplers=units, vertex_samplers=units, units=units, vertex_units=units,
    )  # fmt: skip
    return cast(Draw, SimpleNamespace(pipeline=pipeline, post_vertex=later))


def stored() -> PostVertexStages:
    return PostVertexStages(output=StreamOutput(targets={0: cast(Any, None)}))


def bound(units: int) -> Any:
    return SimpleNamespace(bound=SimpleNamespace(units=(None,) * units), units=(None,) * units)


def test_a_draw_costs_as_its_stages_and_textures() -> None:
    geometry = PostVertexStages(geometry=bound(2))
    hull = SimpleNamespace(points=bound(1), constants=(bound(1),))
    tessellation: Any = SimpleNamespace(hull=hull, domain=bound(1))
    texture = costs.TEXTURE
    found = [
        costs.draw_operations(each) - costs.DRAW
        for each in (
            drawing(), drawing(textures=3), drawing(fill=FillMode.WIREFRAME), drawing(stored()),
            drawing(geometry), drawing(PostVertexStages(tessellation=tessellation)),
        )
    ]  # fmt: skip
    assert found == [
        0, 12 * texture, costs.LINES, costs.STREAM_OUTPUT, costs.GEOMETRY + 2 * texture,
        costs.TESSELLATION + 3 * texture,
    ]  # fmt: skip


def test_a_predicated_packet_costs_as_the_packet() -> None:
    one, same, _ = surfaces()

    def make(packet: Any) -> Packet:
        return Predicated(packet, cast(Any, None), value=True, hint=False)

    copy = Copy(whole_part(one, 0), whole_part(same, 0))
    assert costs.operations_of(make(copy)) == costs.PLAIN
    assert costs.operations_of(make(CopyBytes(one, 0, same, 0, 4))) == costs.OTHER
