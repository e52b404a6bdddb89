"""Code that captures need: counted the same by each engine and with warm caches."""

from __future__ import annotations

import struct

import pytest

from dp2emu import Device9, Driver, Options, PrimitiveType
from dp2emu.errors import Exceeded
from dp2emu.limits import Limits
from dp2emu.shader.sm.assemble import assemble
from tests.refusals import refused
from tests.shader.growing_code import CODE3

D3DRS_ALPHABLENDENABLE, D3DRS_SRCBLEND, D3DRS_DESTBLEND = 27, 19, 20
FVF = 0x44
CORNERS = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, 0xFFFF0000)
                   for x, y in ((0, 0), (32, 0), (0, 32)))  # fmt: skip


def device(engine: str = "reference", **limits: int) -> Device9:
    options = Options(engine=engine, limits=Limits(**limits))
    return on(Driver(options=options))


def on(driver: Driver) -> Device9:
    made = Device9(driver, 64, 48)
    made.set_fvf(FVF)
    return made


def draw(device: Device9) -> None:
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, CORNERS, 20)
    device.read_back()


def spent(driver: Driver) -> int:
    return driver.gpu.code_budget.spent


def states(device: Device9, count: int) -> None:
    """Draw with ``count`` blend states."""
    device.set_render_state(D3DRS_ALPHABLENDENABLE, 1)
    for number in range(count):
        device.set_render_state(D3DRS_SRCBLEND, 1 + number % 10)
        device.set_render_state(D3DRS_DESTBLEND, 1 + number // 10)
        draw(device)


def spent_on_states(*counts: int, engine: str = "reference") -> int:
    """Compile work of draws with so many blend states, one run after another."""
    driver = Driver(options=Options(engine=engine))
    drawn = on(driver)
    for count in counts:
        states(drawn, count)
    return spent(driver)


def test_each_pipeline_state_counts_once() -> None:
    assert spent_on_states(1) < spent_on_states(2) == spent_on_states(2, 1, 2)


def test_the_count_does_not_depend_on_engine_and_caches() -> None:
    cold, warm = spent_on_states(2, engine="jit"), spent_on_states(2, engine="jit")
    assert cold == warm == spent_on_states(2)


def test_too_many_states_are_refused_by_name() -> None:
    drawn = device(capture_compile=5_000)
    with pytest.raises(Exceeded, match=refused("capture_compile", 5_000)):
        states(drawn, 100)


def chain(length: int) -> list[int]:
    return memoryview(assemble(CODE3["chain"](length))).cast("I").tolist()


def test_a_chain_of_512_products_is_drawn_within_the_limits() -> None:
    driver = Driver(options=Options(engine="jit"))
    drawn = on(driver)
    drawn.set_pixel_shader(drawn.create_pixel_shader(chain(512)))
    draw(drawn)
    assert 512 < spent(driver) < Limits().call_compile // 10


def test_a_chain_beyond_the_limit_is_refused_by_name() -> None:
    drawn = device(shader_statements=1 << 8)
    with pytest.raises(Exceeded, match=refused("shader_statements", 1 << 8)):
        drawn.create_pixel_shader(chain(64))


def test_a_chain_whose_code_is_too_much_for_a_call_is_refused_by_name() -> None:
    drawn = device(call_compile=1 << 9)
    drawn.set_pixel_shader(drawn.create_pixel_shader(chain(64)))
    with pytest.raises(Exceeded, match=refused("call_compile", 1 << 9)):
        draw(drawn)
