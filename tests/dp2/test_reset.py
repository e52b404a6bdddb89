"""A reset driver is a new driver: the same calls have the same answers, memory and times."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random
from typing import Any
from weakref import ref

import pytest

from dp2emu.cancellation import Cancellation
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import RESOLUTIONS, Driver
from dp2emu.errors import Cancelled, Dp2Error, Exceeded
from dp2emu.fuzz import stage
from dp2emu.fuzz.stage import Stage
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.shader.engines import JIT, REFERENCE

from .rigging import (
    BEGIN,
    COLOR,
    COMMANDS,
    DEPTH,
    END,
    Bench,
    clear,
    create,
    dword,
    issue,
    rectangle,
    render_state,
    triangle_list,
)

FEW, MANY = 300, 20_000
TEXTURE, LEVEL, PLAIN = 20, 21, 22


def inputs(number: int, seed: int) -> Iterator[bytes]:
    """Random inputs of the fuzzer and mutations of them."""
    rng = Random(seed)
    pool = [stage.program(rng) for _ in range(64)]
    for at in range(number):
        data = stage.mutate(rng, rng.choice(pool), rng.choice(pool))[:1024]
        pool[at % len(pool)] = data if rng.random() < 0.9 else stage.program(rng)
        yield data


def everything(played: Stage, data: bytes) -> list[Any]:
    """All that a caller can see of the calls of an input, and what the driver has counted."""
    driver, seen = played.driver, []
    for call in stage.calls_of(data):
        try:
            answer = driver.submit(call)
            seen.append((answer.ddrval, answer.dwErrorOffset, answer.time, answer.response,
                         str(answer.fault), driver.recent_targets(1)))  # fmt: skip
        except Dp2Error as error:
            seen.append((type(error).__name__, str(error), error.offset, driver.time))
    context, gpu = driver.context(1), driver.gpu
    assert context is not None
    # As text, since NaN differs from itself.
    before, state = driver.time, str({n: v for n, v in vars(context.state).items() if n[0] != "_"})
    constants = [
        file.values.tobytes()
        for kind in (context.vertex_constants, context.pixel_constants)
        for file in kind.files.values()
    ]
    return [
        seen, before, state, constants, list(context.queries.states()), played.memory(),
        driver.time, gpu.counters, gpu.heap.use(), gpu.heap.reach, gpu.heap.allocated,
        gpu.budget.left(), [(each.serial, each.desc, each.color_key) for each in gpu.heap],
    ]  # fmt: skip


def compare(engine: str, number: int, seed: int) -> None:
    """Compare one driver, reset for each input, with a new driver for each."""
    again = Stage(engine)
    again.enter(b"")
    for data in inputs(number, seed):
        again.enter_again(data)
        fresh = Stage(engine)
        fresh.enter(data)
        assert everything(again, data) == everything(fresh, data), data.hex()


@pytest.mark.parametrize("engine", [REFERENCE, JIT])
def test_inputs_on_a_reset_driver_have_the_results_of_a_new_one(engine: str) -> None:
    compare(engine, FEW, 5)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [REFERENCE, JIT])
def test_many_inputs_on_a_reset_driver_have_the_results_of_a_new_one(engine: str) -> None:
    compare(engine, MANY, 6)


def test_a_reset_driver_is_at_time_zero_without_contexts_answers_and_counts() -> None:
    bench = Bench(timing=fixed(call=10, packet=10, delivery=1000))
    bench.ok(create(1, QueryType.OCCLUSION) + issue(1, BEGIN))
    bench.ok(triangle_list(0, 2) + issue(1, END), rectangle(0, 0, 8, 8))
    driver = bench.driver
    driver.reset()
    assert driver.time == 0 and driver.gpu.idle and driver.context(1) is None
    assert bench.call().ddrval == HResult.D3DHAL_CONTEXT_BAD
    driver.finish()
    assert driver.time == 0 and driver.gpu.counters.primitives == 0
    driver.create_context(1, color=COLOR, depth=DEPTH)
    assert bench.settle(b"") == {}
    assert driver.read(COLOR, 0, 4) == bytes(4)


def test_a_reset_drops_draws_that_wait_for_their_time() -> None:
    bench = Bench(timing=fixed(call=0, packet=1000, delivery=0))
    bench.ok(clear(0xFF00FF00) + clear(0xFFFF0000))
    assert not bench.driver.gpu.idle
    bench.driver.reset()
    bench.driver.finish()
    assert bench.driver.read(COLOR, 0, 4) == bytes(4)


def test_surfaces_are_as_new_and_keep_their_memory() -> None:
    bench = Bench()
    driver, heap = bench.driver, bench.driver.gpu.heap
    texture = SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 8, 8, Format.A8R8G8B8, levels=2, managed=1)
    level = SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, parent=TEXTURE, index=1)
    for desc in (texture, level, SurfaceDesc(PLAIN, SurfaceKind.MEMORY, 64)):
        driver.create_surface(desc)
    driver.set_color_key(TEXTURE, (1, 2))
    driver.write(LEVEL, 0, b"\7" * 64)
    driver.write(PLAIN, 0, b"\7" * 64)
    heap.find(TEXTURE).data[:] = 9
    pixels = heap.find(PLAIN).data
    driver.destroy_surface(PLAIN)
    driver.create_surface(SurfaceDesc(PLAIN, SurfaceKind.MEMORY, 64))
    driver.reset()
    fresh = Driver()
    for each in heap:
        fresh.create_surface(each.desc)
    for one, other in zip(heap, fresh.gpu.heap, strict=True):
        assert (one.desc, one.serial, one.color_key) == (other.desc, other.serial, None)
        assert bytes(one.data) == bytes(other.data)
        assert bytes(one.host_copy.data) == bytes(other.host_copy.data)
    assert heap.use() == fresh.gpu.heap.use()
    assert heap.allocated == fresh.gpu.heap.allocated
    assert bytes(pixels) == b"\7" * 64  # the memory of a surface that is gone is not touched


def test_a_level_that_outlives_its_texture_is_cleared_too() -> None:
    driver = Driver()
    driver.create_surface(
        SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 8, 8, Format.A8R8G8B8, levels=2)
    )
    driver.create_surface(
        SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, parent=TEXTURE, index=1)
    )
    driver.write(LEVEL, 0, b"\7" * 64)
    driver.destroy_surface(TEXTURE)
    driver.reset()
    assert driver.read(LEVEL, 0, 64) == bytes(64)


def test_state_resolved_for_an_earlier_context_is_that_of_the_next() -> None:
    def shaded(bench: Bench) -> int:
        bench.ok(triangle_list(0, 2), rectangle(0, 0, 8, 8))
        bench.driver.finish()
        return dword(bench.driver.read(COLOR, 0, 4))

    bench = Bench()
    bench.driver.reset()
    bench.driver.create_context(1, color=COLOR)
    plain = shaded(bench)
    bench.ok(render_state(168, 2))  # D3DRS_COLORWRITEENABLE: green
    bench.ok(clear(0))
    assert shaded(bench) == 0xFF00FF00 & plain
    bench.driver.reset()
    bench.driver.create_context(1, color=COLOR)
    assert shaded(bench) == plain


def test_caches_of_a_reset_driver_keep_no_destroyed_surface_alive() -> None:
    bench = Bench()
    bench.ok(triangle_list(0, 2), rectangle(0, 0, 8, 8))
    bench.driver.reset()
    seen = ref(bench.driver.gpu.heap.find(COLOR))
    bench.driver.destroy_surface(COLOR)
    gc.collect()
    assert seen() is None


def test_a_reset_driver_keeps_a_bounded_number_of_caches() -> None:
    driver = Driver()
    for handle in range(1, 3 * RESOLUTIONS):
        driver.create_surface(SurfaceDesc(handle, SurfaceKind.SURFACE, 4, 4, Format.X8R8G8B8))
    for handle in range(1, 3 * RESOLUTIONS):
        driver.create_context(1, color=handle)
        driver.reset()
    assert len(driver._resolutions) == RESOLUTIONS


def test_limits_count_from_the_reset() -> None:
    bench = Bench(limits=Limits(capture_tokens=2))
    for _ in range(3):
        bench.ok(clear() + clear())
        with pytest.raises(Exceeded):
            bench.call(clear())
        bench.driver.reset()
        bench.driver.create_context(1, color=COLOR, depth=DEPTH)


def test_taps_and_callbacks_stay_and_a_cancelled_driver_stays_cancelled() -> None:
    token = Cancellation()
    bench = Bench(cancellation=token)
    seen: list[int] = []
    bench.driver.command_taps.append(lambda call, offset, token, count: seen.append(offset))
    bench.driver.unknown_command = lambda unknown: unknown.offset + 4
    bench.driver.gpu.packet_taps.append(lambda packet, start: seen.append(-1))
    bench.driver.reset()
    bench.driver.create_context(1, color=COLOR, depth=DEPTH)
    bench.ok(bytes((200, 0, 0, 0)) + clear())
    assert seen == [4, -1]
    token.cancel()
    bench.driver.reset()
    bench.driver.create_context(1, color=COLOR, depth=DEPTH)
    with pytest.raises(Cancelled):
        bench.call(clear())


def test_flipped_surfaces_are_as_new() -> None:
    bench = Bench()
    driver = bench.driver
    driver.create_surface(SurfaceDesc(PLAIN, SurfaceKind.SURFACE, 64, 64, Format.X8R8G8B8))
    bench.ok(clear(0xFF123456))
    driver.flip(COLOR, PLAIN)
    driver.reset()
    driver.create_context(1, color=COLOR)
    bench.ok(clear(0xFF654321))
    driver.finish()
    assert driver.read(PLAIN, 0, 4) == bytes(4)
    assert dword(driver.read(COLOR, 0, 4)) == 0xFF654321
    assert driver.read(COMMANDS, 0, 4) == clear()[:4]


def test_failing_calls_and_resets_leave_nothing_to_the_garbage_collector() -> None:
    bench = Bench()

    def once() -> None:
        bench.ok(create(1, QueryType.EVENT) + issue(1, END) + create(2, QueryType.OCCLUSION))
        assert bench.call(clear() + issue(99, END)).ddrval != HResult.D3D_OK
        assert bench.call(bytes((200, 0, 0, 0))).ddrval != HResult.D3D_OK
        assert bench.call(b"", lpDDCommands=99, dwCommandLength=4).ddrval != HResult.D3D_OK
        bench.driver.finish()
        bench.driver.reset()
        bench.driver.create_context(1, color=COLOR, depth=DEPTH)

    once()
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            once()
        assert gc.collect() == 0
    finally:
        gc.enable()
