"""Random draws of any state, for kernels and stages to agree on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import BlendOp, CmpFunc, Cull, FillMode, Format, PrimitiveType, StencilOp
from dp2emu.d3d.formats import AnyFormat, Use
from dp2emu.d3d.fvf import fvf_size
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.command.packets import Draw, LinePattern, MergeNumbers, PointSize, Stream
from dp2emu.gpu.command.pipeline import DepthState, RasterState, StencilFace, StencilState
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import FACTORS, BlendEquation, BlendState
from dp2emu.shader.ir import Axis, Program, Stage
from dp2emu.shader.types import Type
from tests.gpu.drawing import COLORED, SIZED, SPECULAR, draw, primitives, rebound, vertex_data

COLORS = [format for format, row in ROWS.items() if Use.TARGET in row.uses]
DEPTHS = [format for format, row in ROWS.items() if Use.DEPTH in row.uses]
SIDE = 24
"""Pixels along the sides of the targets."""
SHAPES = ((1, 1), (2, 3), (1, 40), (300, 7), (5000, 3), (3, 5000), (8192, 1), (64, 64))
"""Targets that are tiny, thin, or larger than products of 32 bits hold."""
FAR = (
    math.inf, -math.inf, math.nan, 3e38, -1e30, -2147483648.0, 9e8, 65536.0, 32768.0, -16384.0,
    8191.5, 2900.25, 2896.5, -3000.0, 1e-40, 0.0,
)  # fmt: skip
HOLLOW = (FillMode.WIREFRAME, FillMode.POINT)


def _colored(b: Builder) -> None:
    for component in "xyzw":
        b.output(f"target0.{component}", b.input(f"color0.{component}"))


def _placed(b: Builder) -> None:
    """Reads all that no vertex provides."""
    values = [b.input(name) for name in ("vpos.x", "vpos.y", "vface.x", "depth.x", "w.x")]
    number = b.input("primitive_id.x", Type.I32)
    b.output("target0.x", values[0] / 16.0)
    b.output("target0.y", values[1] / 16.0 * values[2])
    b.output("target0.z", values[3] + values[4])
    b.output("target0.w", b.itof(number) / 4.0)


def _killing(b: Builder) -> None:
    red = b.input("color0.x")
    b.kill(red < 0.4)
    for component in "xyzw":
        b.output(f"target0.{component}", red)


def _deep(b: Builder) -> None:
    b.output("depth.x", b.input("color0.y"))
    _colored(b)


def _twice(b: Builder) -> None:
    """Two targets, of which the second lacks components."""
    _colored(b)
    b.output("target1.y", b.input("color1.y"))
    b.output("target1.w", 0.25)


def _slanted(b: Builder) -> None:
    """Differences of what is taken at pixels' centres."""
    across, down = (b.input(f"vpos.{axis}") for axis in "xy")
    b.output("target0.x", b.derivative(Axis.X, across * down) * 0.125)
    b.output("target0.y", b.derivative(Axis.Y_COARSE, down * down) * 0.125)
    b.output("target0.w", b.input("color0.w"))


def _program(write: Callable[[Builder], None]) -> Program:
    b = Builder(Stage.PIXEL)
    write(b)
    return b.program()


def _covering(b: Builder) -> None:
    """Reads and says which samples are covered, and is taken at the sample it runs for."""
    covered = b.input("coverage.x", Type.I32)
    number = b.input("sample_index.x", Type.I32)
    b.output("coverage.x", covered ^ (number + 2))
    for component in "xyz":
        b.output(f"target0.{component}", b.input(f"sample.color0.{component}"))
    b.output("target0.w", b.itof(covered) / 255.0)


def _central(b: Builder) -> None:
    """Taken where a pixel is covered, and linear on the screen."""
    for component in "xyzw":
        b.output(f"target0.{component}", b.input(f"centroid.noperspective.color0.{component}"))


def _whole(b: Builder) -> None:
    """Integers, which are the bits of whatever a target has."""
    for component in "xyzw":
        value = b.ftoi(b.input(f"color0.{component}") * 300.0 - 100.0)
        b.output(f"target0.{component}", value)
        b.output(f"target1.{component}", b.asint(b.input(f"color1.{component}") * 2.0 - 1.0))


_WRITERS = (
    _colored, _placed, _killing, _deep, _twice, _slanted, _covering, _central, _whole
)  # fmt: skip
PROGRAMS = tuple(map(_program, _WRITERS))

Pick = Random
T = TypeVar("T")


def _mostly(pick: Pick, usual: T, others: Sequence[T], share: float = 0.3) -> T:
    return pick.choice(others) if pick.random() < share else usual


def _number(pick: Pick) -> float:
    """A coordinate, now and then one far away or on a grid."""
    kind = pick.random()
    if kind < 0.1:
        return pick.choice([0.0, 0.5, 8.0, -100.0, 1e6, 3e7])
    return float(np.float32(pick.uniform(-4, SIDE + 4) if kind < 0.7 else pick.randint(0, SIDE)))


def _vertex(pick: Pick, fvf: int) -> tuple[float, ...]:
    depth = _mostly(pick, pick.random(), [-0.5, 1.5, 1.0, float("nan")], 0.1)
    place = _number(pick), _number(pick), depth, pick.choice([1.0, 1.0, 0.5, 0.25, 2.0])
    size = (pick.uniform(0, 9),) if fvf == SIZED else ()
    words = [pick.getrandbits(32) for _ in range(2 if fvf == SPECULAR else 1)]
    return (*place, *size, *words)


def _flag(pick: Pick) -> bool:
    return pick.random() < 0.5


def _raster(pick: Pick) -> RasterState:
    return RasterState(
        cull=_mostly(pick, Cull.NONE, list(Cull)),
        flat=_flag(pick),
        clip=_flag(pick),
        last_pixel=_flag(pick),
        fill=_mostly(pick, FillMode.SOLID, HOLLOW),
        point_sprites=_flag(pick),
        smooth_lines=_flag(pick),
        multisample=_mostly(pick, True, [False]),
        turned=_flag(pick),
    )


def _test(pick: Pick) -> DepthState:
    return DepthState(
        enable=_mostly(pick, True, [False]),
        write=_flag(pick),
        func=_mostly(pick, CmpFunc.LESSEQUAL, list(CmpFunc), 0.7),
        bias=_mostly(pick, 0.0, [0.01, -0.3]),
        slope=_mostly(pick, 0.0, [1.5]),
        w_buffer=_mostly(pick, False, [True]),
        bias_all=_flag(pick),
        bias_of_float=_mostly(pick, False, [True], 0.2),
        bias_clamp=_mostly(pick, 0.0, [0.02, -0.1], 0.2),
        in_viewport=_mostly(pick, False, [True], 0.2),
    )


def _face(pick: Pick) -> StencilFace:
    operations = [pick.choice(list(StencilOp)) for _ in range(3)]
    return StencilFace(_mostly(pick, CmpFunc.ALWAYS, list(CmpFunc), 0.7), *operations)


def _stencil(pick: Pick) -> StencilState | None:
    if pick.random() < 0.5:
        return None
    return StencilState(_face(pick), _mostly(pick, None, [_face(pick)], 0.5))


def _equation(pick: Pick) -> BlendEquation:
    factors = [pick.choice(sorted(FACTORS)) for _ in range(2)]
    return BlendEquation(*factors, pick.choice(list(BlendOp)))


def _merge(pick: Pick) -> MergeNumbers:
    every = 0xFFFFFFFF
    return MergeNumbers(
        blend_factor=pick.getrandbits(32),
        sample_mask=_mostly(pick, every, [5, 0x52]),
        alpha_reference=pick.randint(0, 255),
        stencil_reference=pick.getrandbits(32),
        stencil_mask=_mostly(pick, every, [0x0F]),
        stencil_write_mask=_mostly(pick, every, [0x3C, 0]),
        plane_mask=_mostly(pick, every, [0x00FF0FF0], 0.15),
    )


def made_surface(
    pick: Pick, format: AnyFormat, samples: int, shape: tuple[int, int] = (SIDE + 3, SIDE)
) -> Surface:
    """Old contents are anything; ``shape`` is width and height."""
    older = isinstance(format, Format)
    made = Heap().create(SurfaceDesc(
        1, SurfaceKind.SURFACE if older else SurfaceKind.TEXTURE, *shape,
        format if older else 0, samples=samples, dxgi=None if older else format,
    ))  # fmt: skip
    made.data[:] = np.frombuffer(pick.randbytes(made.data.size), np.uint8)
    return made


def _late(pick: Pick) -> dict[str, Any]:
    """What has a say after the pixel program."""
    return {
        "blend": _mostly(pick, None, [BlendState(_equation(pick), _equation(pick))], 0.5),
        "write_masks": tuple(_mostly(pick, 15, [7, 10, 0]) for _ in range(4)),
        "alpha_test": _mostly(pick, None, list(CmpFunc)),
        "stencil": _stencil(pick),
        "alpha_to_coverage": _mostly(pick, False, [True]),
        "srgb_write": _mostly(pick, False, [True]),
        "dither": _flag(pick),
        "raster_op": _mostly(pick, 13, range(1, 17), 0.2),
        "counts_pixels": _flag(pick),
        "by_sample": _mostly(pick, False, [True]),
        "early": _mostly(pick, False, [True]),
    }


def random_draw(seed: int) -> Draw:
    """A draw with any state a kernel can have, on targets of any format."""
    return next(random_draws(seed))


def random_draws(seed: int) -> Iterator[Draw]:
    """Draws of a pipeline with any state a kernel can have, without end: each has other corners,
    numbers and contents of targets.
    """
    pick = Random(seed)
    samples = _mostly(pick, 1, [2, 4, 8], 0.4)
    colors = [made_surface(pick, pick.choice(COLORS), samples) for _ in range(pick.randint(0, 2))]
    depth = made_surface(pick, pick.choice(DEPTHS), samples)
    fvf = pick.choice([COLORED, SPECULAR, SIZED])
    packet = draw(
        _vertices(pick, fvf),
        color=colors[0] if colors else None,
        depth=depth if _flag(pick) or not colors else None,
        topology=_mostly(pick, PrimitiveType.TRIANGLELIST, list(PrimitiveType), 0.6),
        fvf=fvf,
        raster=_raster(pick),
        test=_test(pick),
        pixel=pick.choice(PROGRAMS),
        **_numbers(pick),
    )
    pipeline = replace(packet.pipeline, samples=samples, **_late(pick))
    packet = rebound(packet, pipeline=pipeline, colors=tuple(colors) or (None,))
    while True:
        yield packet
        data = vertex_data(_vertices(pick, fvf), fvf)
        packet = rebound(
            _on_others(pick, packet, (SIDE + 3, SIDE)),
            streams=(replace(packet.input.streams[0], data=data),),
            count=primitives(packet.input.topology, len(data) // fvf_size(fvf)),
            **_numbers(pick),
        )


def _vertices(pick: Pick, fvf: int) -> list[tuple[float, ...]]:
    return [_vertex(pick, fvf) for _ in range(pick.randint(3, 15))]


def _numbers(pick: Pick) -> dict[str, Any]:
    """What no pipeline has."""
    return {
        "scissor": _mostly(pick, Rect(0, 0, SIDE, SIDE), [Rect(3, 5, 19, 22)]),
        "merge": _merge(pick),
        "viewport": Viewport(0, 0, SIDE, SIDE, 0.1, 0.8),
        "point": PointSize(3.0, 0.5, 7.0),
        "w_range": _mostly(pick, (0.0, 1.0), [(1.0, 4.0)]),
        "stipple": _mostly(pick, (), [(0xF0F0F0F0, 0x12345678, 0xFFFF)]),
        "line_pattern": _mostly(pick, LinePattern(), [LinePattern(2, 0xC5A3)]),
    }


def _on_others(pick: Pick, packet: Draw, shape: tuple[int, int]) -> Draw:
    """The draw on new targets of its formats."""
    *colors, depth = (
        each and made_surface(pick, each.format, each.samples, shape)
        for each in (*packet.output.colors, packet.output.depth)
    )
    return rebound(packet, colors=tuple(colors), depth=depth)


def random_draw_of_any_shape(seed: int) -> Draw:
    """The same on targets of ``SHAPES``, with corners anywhere at all."""
    return of_any_shape(random_draw(seed), Random(seed))


def of_any_shape(packet: Draw, pick: Pick) -> Draw:
    """A draw on targets of ``SHAPES``, with corners anywhere at all."""
    width, height = shape = pick.choice(SHAPES)
    return rebound(
        _on_others(pick, packet, shape),
        streams=tuple(_moved(pick, each) for each in packet.input.streams),
        scissor=_mostly(pick, Rect(0, 0, width, height), [Rect(width // 2, 0, width, height)]),
        viewport=Viewport(0, 0, width, height, 0.1, 0.8),
    )


def _moved(pick: Pick, stream: Stream) -> Stream:
    """Places across large targets and far beyond."""
    assert isinstance(stream.data, bytes)
    words = np.frombuffer(stream.data, np.float32).reshape(-1, stream.stride // 4).copy()
    for place in words[:, :2]:
        place[:] = [pick.choice(FAR) if _flag(pick) else pick.uniform(-9000, 9000) for _ in "xy"]
    return replace(stream, data=words.tobytes())
