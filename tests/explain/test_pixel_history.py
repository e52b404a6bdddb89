"""Histories of pixels: reasons, stored values, and no trace of the probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, Cull, Format, StencilOp
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType
from dp2emu.dp2.call import Call
from dp2emu.dp2.context import Context
from dp2emu.dp2.driver import Driver
from dp2emu.explain import Pixel, events_of, history_of
from dp2emu.explain.events import EventKind
from dp2emu.explain.pixel_place import Place, value_of
from dp2emu.explain.pixel_probe import Examined, examine, reach_of
from dp2emu.explain.pixel_text import lines_of
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, RasterState, StencilFace, StencilState
from dp2emu.gpu.draw import draw_stages
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.shader_resources.textures import Texturing
from dp2emu.replay import Watcher
from dp2emu.runtime10 import TextureDesc
from tests.explain import history_campaign
from tests.explain.history_campaign import SOURCES, Source, campaign, of_direct3d_10
from tests.explain.history_campaign import check as check_draw
from tests.explain.history_captures import check, histories
from tests.explain.opening import FIRST_LIGHT, REAL, STREAMS, opened
from tests.gpu.drawing import color_surface, corner, depth_surface, draw, programmed, rebound
from tests.gpu.kernel_states import PROGRAMS
from tests.replay.authoring import capture_of
from tests.replay.test_resources import Program

KILLING, TWICE = PROGRAMS[2], PROGRAMS[4]
FACING = [corner(0, 0), corner(30, 0), corner(0, 30)]
TINY = Rect(20, 20, 32, 32)


def verdict(packet: Draw, x: int = 5, y: int = 5, number: int = 0) -> tuple[str, str]:
    """The verdict on the only primitive of a draw at a pixel, and its detail."""
    target = packet.output.colors[number]
    assert target is not None
    found = examine(packet, Place.of(target, 0, x, y))
    assert found is not None
    (fragment,) = [each for each in found.fragments if each.sample == 0]
    return str(fragment.verdict), fragment.detail


def with_pipeline(packet: Draw, **changes: object) -> Draw:
    return replace(packet, pipeline=replace(packet.pipeline, **changes))


def plain(samples: int = 1, **changes: object) -> Draw:
    color = color_surface(samples=samples)
    depth = depth_surface(samples=samples, word=0x80000000)
    return with_pipeline(draw(FACING, color=color, depth=depth), **changes)


NEVER = StencilState(StencilFace(CmpFunc.NEVER, StencilOp.INCR))
CASES: dict[str, tuple[Callable[[], Draw], str]] = {
    "written": (plain, ""),
    "masked": (lambda: plain(write_masks=(0,)), "write mask 0"),
    "culled": (lambda: plain(raster=RasterState(cull=Cull.CW)), "clockwise triangles are culled"),
    "clipped": (
        lambda: rebound(draw([corner(x, y, 1.5) for x, y, *_ in FACING], color=color_surface())),
        "depth outside of 0 to 1",
    ),
    "scissor": (
        lambda: replace(plain(), scissor=TINY), "outside of the viewport or the scissor rectangle"
    ),
    "sample_mask": (
        lambda: rebound(plain(4), merge=MergeNumbers(sample_mask=2)), "sample mask 0x2"
    ),
    "alpha_test": (lambda: plain(alpha_test=CmpFunc.NEVER), ""),
    "killed": (
        lambda: draw([corner(x, y, color=0xFF000000) for x, y, *_ in FACING],
                     color=color_surface(), pixel=KILLING),
        "the pixel program drops it",
    ),
    "stencil": (lambda: plain(stencil=NEVER), ""),
    "depth": (lambda: plain(depth=DepthState(True, True, CmpFunc.GREATER)), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_test_that_drops_a_fragment_is_the_verdict(name: str) -> None:
    packet, detail = CASES[name]
    assert verdict(packet()) == (name, detail)


def test_a_primitive_that_is_near_has_no_coverage() -> None:
    assert verdict(plain(), 29, 29) == ("coverage", "the sample is not inside")


@pytest.mark.parametrize(
    ("mask", "channels"), [(1, "red"), (5, "red and blue"), (13, "red, blue and alpha")]
)
def test_a_written_fragment_names_the_channels_that_a_mask_leaves(
    mask: int, channels: str
) -> None:
    packet = with_pipeline(draw(FACING, color=color_surface(Format.A8R8G8B8)), write_masks=(mask,))
    assert verdict(packet) == ("written", f"only {channels} written")


def test_a_primitive_elsewhere_is_no_history() -> None:
    packet = draw([corner(0, 0), corner(9, 0), corner(0, 9)], color=color_surface())
    assert packet.output.colors[0] is not None
    found = examine(packet, Place.of(packet.output.colors[0], 0, 20, 20))
    assert found is not None and found.fragments == []


def test_only_chunks_with_primitives_near_the_pixel_are_assembled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    triangles = [[corner(4 * n, 0), corner(4 * n + 3, 0), corner(4 * n, 3)] for n in range(7)]
    color = color_surface()
    packet, place = draw(chain.from_iterable(triangles), color=color), Place.of(color, 0, 17, 1)
    whole, assembled = examine(packet, place), list[int]()
    assemble = draw_stages.assembled_chunk

    def counted(part: Draw, texturing: Texturing, start: int, stop: int) -> Geometry:
        assembled.append(start)
        return assemble(part, texturing, start, stop)

    monkeypatch.setattr(draw_stages, "CHUNK", 2)
    monkeypatch.setattr(draw_stages, "assembled_chunk", counted)
    assert examine(packet, place) == whole
    assert assembled == [0, 2, 4, 6, 4]
    reach = reach_of(packet)
    del assembled[:]
    assert examine(packet, place, reach=reach) == whole
    assert assembled == [4, 4]


def test_a_clip_plane_clips() -> None:
    packet = programmed(draw([corner(-1, 1), corner(1, 1), corner(-1, -1)], color=color_surface()))
    behind = with_pipeline(packet, raster=RasterState(clip_planes=1))
    assert verdict(packet)[0] == "written"
    assert verdict(rebound(behind, clip_planes=((0.0, 0.0, 0.0, -1.0),)))[0] == "clipped"


def test_a_target_that_the_program_does_not_write_is_discarded() -> None:
    packet = draw(FACING, color=color_surface())
    other = rebound(packet, colors=(packet.output.colors[0], color_surface()))
    other = with_pipeline(other, write_masks=(15, 15))
    assert verdict(other, number=1)[0] == "discarded_target"
    assert verdict(with_pipeline(other, pixel=TWICE), number=1)[0] == "written"


def test_a_target_beyond_another_is_outside_of_the_scissor() -> None:
    packet = plain()
    small = rebound(packet, depth=depth_surface(width=4, height=4))
    assert verdict(small) == ("scissor", "outside of another target")


def examined(packet: Draw) -> Examined:
    assert packet.output.colors[0] is not None
    found = examine(packet, Place.of(packet.output.colors[0], 0, 5, 5))
    assert found is not None
    return found


def test_a_rejected_fragment_tells_how_it_changed_the_stencil() -> None:
    (fragment,) = examined(plain(stencil=NEVER)).fragments
    assert fragment.stencil is not None and fragment.before is None
    test = fragment.stencil
    assert (test.before, test.after, test.function, test.operation) == (0, 1, "NEVER", "INCR")
    assert not test.passed


def test_depth_and_colour_are_those_before_and_after() -> None:
    color, depth = color_surface(Format.A8R8G8B8), depth_surface(word=0x80000000)
    corners = [corner(x, y, 0.25, 0x80FF4000) for x, y, *_ in FACING]
    packet = draw(corners, color=color, depth=depth)
    found = examined(packet)
    (fragment,) = found.fragments
    assert fragment.depth is not None and fragment.before and fragment.after
    assert (fragment.depth.incoming, fragment.depth.before) == (0.25, 0.50000006)
    assert (fragment.depth.function, fragment.depth.passed) == ("LESSEQUAL", True)
    assert value_of(found.row, fragment.before) == [0, 0, 0, 0]
    assert value_of(found.row, fragment.after) == [1.0, 0.2509804, 0.0, 0.5019608]
    assert fragment.output == [1.0, 0.2509804, 0.0, 0.5019608]


def test_every_fragment_of_a_draw_is_told_though_the_last_one_stays() -> None:
    corners = [corner(x, y, color=color) for color in (0xFF0000FF, 0xFF00FF00)
               for x, y, *_ in FACING]  # fmt: skip
    found = examined(draw(corners, color=color_surface()))
    first, second = found.fragments
    assert first.after == second.before != second.after == found.pixel


def test_examination_leaves_memory_as_it_was() -> None:
    packet = plain(stencil=StencilState(StencilFace(passed=StencilOp.INCR)))
    surfaces = [packet.output.colors[0], packet.output.depth]
    before = [each.data.copy() for each in surfaces if each is not None]
    assert examined(packet).fragments[0].verdict == "written"
    after = [each.data for each in surfaces if each is not None]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_text_has_integers_with_all_digits() -> None:
    program = Program()
    desc = TextureDesc(
        ResourceType.TEXTURE2D, DxgiFormat.R32_UINT.value, 4, 4, bind=int(BindFlag.RENDER_TARGET)
    )
    target = program.device.create_texture(desc)
    program.clear(program.target(target), 4294966528.0, 0.0, 0.0, 0.0)
    program.device.call("Flush")
    number = next(iter(events_of(capture_of(*program.records)))).targets[0]
    history = history_of(capture_of(*program.records), Pixel(1, 1, number))
    assert [*lines_of(history)][-1].startswith("value: 4294966528 0 0 ")


# Random draws and captures


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_reasons_are_those_of_drawing_each_primitive_alone(source: Source) -> None:
    assert campaign(source, 12, jit=False, seed=4)["coverage"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_reasons_are_the_same_if_chunks_have_few_primitives(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_stages, "CHUNK", 3)
    assert campaign(source, 12, jit=False, seed=4)["coverage"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "count"), [*zip(SOURCES, (50_000, 25_000, 25_000), strict=True)],
    ids=lambda each: getattr(each, "__name__", str(each)),
)  # fmt: skip
def test_reasons_of_many_draws_are_those_of_drawing_alone(source: Source, count: int) -> None:
    assert campaign(source, count, jit=False, seed=100_000).total() > count


CUT = 971200017
"""Seed of a scene in which clipping rounds corners so that a triangle covers more pixels."""


@pytest.mark.slow
def test_a_fragment_that_only_clipping_brings_has_the_reasons_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_campaign, "PIXELS", 600)
    verdicts = Counter[str]()
    of_direct3d_10(CUT, lambda packet: check_draw(packet, Random(1), verdicts, False))
    assert verdicts["written"]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_both_engines_store_what_histories_end_with(source: Source) -> None:
    assert campaign(source, 2000, jit=True, seed=900_000)["written"]


SMALL = ("patches", "instances", "flip_chain")


@pytest.mark.parametrize("name", SMALL)
def test_histories_of_captures_end_at_the_stored_pixel(name: str) -> None:
    path = next(path for path in STREAMS if path.stem == name)
    assert all(check(history).total() for history in histories(path, 1))


@pytest.mark.slow
@pytest.mark.parametrize("path", [*STREAMS, *REAL], ids=lambda path: path.stem)
def test_engines_have_the_same_histories_of_captures(path: Path) -> None:
    texts = [[each.document() for each in histories(path, 8, name)]
             for name in ("reference", "jit")]  # fmt: skip
    assert texts[0] == texts[1]


@pytest.mark.parametrize("passes", [1, 2])
def test_a_fault_for_want_of_memory_in_the_first_pass_is_told_once(
    passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second pass may not have it, and would end where the first one lost its events."""
    perform, short = Driver._perform, Counter[int]()

    def performed(driver: Driver, context: Context, call: Call, number: int) -> object:
        short[number] += 1
        if number == 1 and short[number] <= passes:
            raise MemoryError
        return perform(driver, context, call, number)

    monkeypatch.setattr(Driver, "_perform", performed)
    told: list[str] = []
    with opened(FIRST_LIGHT) as capture:
        history_of(
            capture, Pixel(186, 121), watcher=Watcher(lambda error: told.append(str(error)))
        )
    assert ["out of memory" in each for each in told] == [True]


def test_draws_whose_primitives_are_elsewhere_are_beside_the_pixel() -> None:
    with opened(FIRST_LIGHT) as capture:
        history = history_of(capture, Pixel(186, 121))
        draws = [each for each in events_of(capture) if each.kind is EventKind.DRAW]
    touching = {entry.event.number for entry in history.entries}
    assert [each.number for each in history.beside] == [
        each.number for each in draws if each.number not in touching
    ]
    assert len(history.beside) > 3
    places = [row["event"] for row in history.document()["beside"]]
    assert f"draws beside it: {' '.join(places)}" in list(lines_of(history))
