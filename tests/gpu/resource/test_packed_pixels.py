"""Colours become the bits of every format, and bits colours, as NumPy's stages have it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import Blend, BlendOp
from dp2emu.d3d.formats import AnyFormat
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compile import kernel_code, kernel_plan
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import CHECKED, engine
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.peephole import parts
from dp2emu.shader.ops import fma
from dp2emu.shader.types import Type
from tests.gpu.drawing import corner, draw
from tests.gpu.kernel_states import COLORS, SIDE, made_surface

_ADDED = BlendState(*[BlendEquation(Blend.ONE, Blend.ONE, BlendOp.ADD)] * 2)
"""What reads a target and lets any value through."""


def _numbers(whole: bool) -> Program:
    """Values around 0 and ``scale``, beyond them, and ones that are none."""
    b = Builder(Stage.PIXEL)
    scale = b.load(b.uniform("scale", Type.F32, 1), 0)
    x, y = b.input("vpos.x"), b.input("vpos.y")
    for number, component in enumerate("xyzw"):
        value = (x * 0.113 - y * 0.057 + float(number) / 7.0 - 0.4) * scale
        value = b.select(x - y > 14.0, value / (x - x), value)
        b.output(f"target0.{component}", b.ftoi(value * 100.0) if whole else value)
    return b.program()


FRACTIONS, WHOLE = _numbers(False), _numbers(True)


def _packet(format: AnyFormat, scale: float = 1.0, program: Program = FRACTIONS) -> Draw:
    return draw(
        [corner(-1, -1), corner(2 * SIDE, -1), corner(-1, 2 * SIDE)],
        color=made_surface(Random(5), format, 1),
        pixel=program,
        pixel_uniforms={"scale": np.float32([scale])},
    )


def _checked(packet: Draw, **state: object) -> None:
    pipeline = replace(packet.pipeline, **state)  # type: ignore[arg-type]
    work = execute_draw(replace(packet, pipeline=pipeline), Counters(), run=engine(CHECKED))
    assert work.pixels > 100


@pytest.mark.parametrize("format", COLORS)
def test_every_format_is_written_with_any_numbers(format: AnyFormat) -> None:
    for scale in (1.0, 1e-5, 9e4):
        _checked(_packet(format, scale))
    _checked(_packet(format, program=WHOLE))


@pytest.mark.parametrize("format", COLORS)
def test_every_format_is_read_to_be_blended_with_and_masked(format: AnyFormat) -> None:
    _checked(_packet(format, 0.7), blend=_ADDED, write_masks=(11,), dither=True)


@pytest.mark.parametrize("operation", range(1, 17))
def test_every_raster_operation_combines_what_is_stored(operation: int) -> None:
    _checked(_packet(COLORS[0]), raster_op=operation)


@pytest.mark.parametrize("bits", range(1, 17))
def test_a_quotient_by_the_reciprocal_is_the_nearest_for_every_code(bits: int) -> None:
    largest = np.float32((1 << bits) - 1)
    codes = np.arange(1 << bits).astype(np.float32)
    about, beyond = parts(int(largest))
    found = fma(codes, np.full_like(codes, about), codes * beyond)
    assert (found == codes / largest).all()


@pytest.mark.parametrize("bits", range(2, 17))
def test_an_fma_rounds_codes_as_the_definition_does(bits: int) -> None:
    largest = (1 << bits) - 1
    near = (np.arange(largest + 1) + 0.5) / largest
    some = near[:: max(1, len(near) // 500)].astype(np.float32)
    values = np.concatenate(
        [np.nextafter(some, np.float32(0)), some, np.nextafter(some, np.float32(1))]
    )
    values = np.clip(np.append(values, np.float32([0, 0.5, 1])), 0, 1).astype(np.float32)
    two_23 = np.full_like(values, 2.0**23)
    rounded = fma(values, np.full_like(values, largest), two_23).view(np.uint32) & 0x7FFFFF
    assert (rounded == np.floor(values.astype(np.float64) * largest + 0.5)).all()


def test_types_of_lanes_are_told_apart() -> None:
    b = Builder(Stage.PIXEL)
    b.output("target0.x", b.input("primitive_id.x", Type.I32))
    _checked(_packet(COLORS[0], program=b.program()))


def test_a_byte_four_times_rounded_up_is_the_nearest_to_its_quotient() -> None:
    for byte in range(256):
        repeated = byte * 0x01010101
        spare = max(repeated.bit_length() - 24, 0)
        rounded = -(-repeated >> spare) << spare
        assert np.float32(rounded) * np.float32(2.0**-32) == np.float32(byte) / np.float32(255)


@pytest.mark.parametrize("rounding", [True, False])
def test_blending_is_the_same_with_any_way_to_read_a_byte(
    rounding: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = machine()
    monkeypatch.setattr(
        kernel_code, "machine", lambda: replace(made, rounding=made.rounding and rounding)
    )
    for cached in (kernel_code.kernel, kernel_plan.planned, kernel_plan.triangle_plan):
        cached.cache_clear()
    _checked(_packet(COLORS[0], 0.8), blend=_ADDED)
    for cached in (kernel_code.kernel, kernel_plan.planned, kernel_plan.triangle_plan):
        cached.cache_clear()
