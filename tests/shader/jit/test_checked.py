"""The checking engine: silent where engines agree, precise where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.errors import Disagreement
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader import checked, reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Stage
from dp2emu.shader.jit import code
from dp2emu.shader.jit.object_cache import ObjectCache
from dp2emu.shader.jit.operations import EMIT
from dp2emu.shader.jit.writer import Writer
from dp2emu.shader.types import Type
from tests.gpu.drawing import color_surface, draw, programmed
from tests.gpu.rasterizer.test_geometry import STRIP, whole
from tests.shader.engines import bits_of

INPUTS = {"x": np.array([1, 4, -9, 16], np.float32)}


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Makes an operation give its operand, in compiled code only."""
    monkeypatch.setattr(code, "object_cache", lambda: ObjectCache(tmp_path))
    # No source says that the text is another one.
    monkeypatch.setattr(code, "source_stamps", lambda: None)
    code.compiled.cache_clear()

    def breaks(name: str) -> None:
        def emit(w: Writer, *operands: str) -> str:
            return operands[0]

        monkeypatch.setitem(EMIT, name, emit)

    yield breaks
    code.compiled.cache_clear()


def two_statements() -> Builder:
    b = Builder(Stage.PIXEL)
    x = b.input("x")
    b.output("near", b.floor(x))
    b.output("far", b.sqrt(x) + 1.0)
    b.kill(x < 0.0)
    return b


def test_what_agrees_is_the_reference_engines() -> None:
    program = two_statements().program()
    given = (program, INPUTS, {}, 4, np.array([True, True, False, True]))
    assert bits_of(checked.run(*given)) == bits_of(reference.run(*given))


def test_the_first_difference_is_named(wrong: Callable[[str], None]) -> None:
    wrong("sqrt")
    with pytest.raises(Disagreement) as caught:
        checked.run(two_statements().program(), INPUTS, {}, 4)
    assert caught.value.what == (
        "output far of lane 1 is 3.0 (0x40400000) and 5.0 (0x40a00000),"
        " since statement 3: f2 = sqrt f0"
    )
    assert caught.value.lane == 1
    assert "f2 = sqrt f0" in caught.value.program
    assert str(caught.value) == f"{caught.value.what}\n{caught.value.program}"


def test_lanes_that_only_one_engine_kills_are_a_difference(wrong: Callable[[str], None]) -> None:
    b = Builder(Stage.PIXEL)
    b.kill(b.floor(b.input("x") * 0.5) > 0.25)
    wrong("floor")
    inputs = {"x": np.array([0.25, 1, 0, 0], np.float32)}
    with pytest.raises(Disagreement, match=r"alive of lane 1 is True \(0x1\) and False \(0x0\)"):
        checked.run(b.program(), inputs, {}, 4)


def test_who_watches_loads_gets_them_once() -> None:
    b = Builder(Stage.VERTEX)
    b.output("y", b.load(b.uniform("c", Type.I32, 4), 0, b.input("n", Type.I32)))
    seen: list[str] = []

    def watch(file: str, index: object, active: object) -> None:
        seen.append(file)

    numbers = np.arange(4, dtype=np.int32)
    checked.run(b.program(), {"n": numbers}, {"c": numbers}, 4, watch=watch)
    assert seen == ["c"]


@pytest.mark.parametrize(("name", "place"), [("floor", "pixel 2, 1"), ("ceil", "vertex 1")])
def test_a_draw_and_its_pixel_or_vertex_are_named(
    wrong: Callable[[str], None], name: str, place: str
) -> None:
    """The wrong vertex is the second, the wrong pixel the third of the second row."""
    vertex, pixel = Builder(Stage.VERTEX), Builder(Stage.PIXEL)
    for component in "xyzw":
        at = vertex.input(f"position0.{component}")
        vertex.output(f"position0.{component}", at)
        pixel.output(f"target0.{component}", 1.0)
    vertex.output("texcoord0.x", vertex.ceil(vertex.input("position0.x") * 0.25 + 0.25))
    second = pixel.input("vpos.x") + pixel.input("vpos.y") * 64.0
    pixel.output("target0.x", pixel.floor(pixel.select(second >= 66.0, 0.5, 1.0)))
    packet = programmed(
        draw(whole(), color=color_surface(), topology=STRIP), program=vertex.program()
    )
    packet = replace(packet, pipeline=replace(packet.pipeline, pixel=pixel.program()))
    gpu = Gpu(run=checked.run)
    gpu.submit(packet)
    gpu.finish()
    wrong(name)
    code.compiled.cache_clear()
    gpu.submit(packet)
    with pytest.raises(Disagreement, match=f"^draw 1: {place}: output "):
        gpu.finish()
