"""States of lines by interface version: antialiasing, patterns, bias."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.hresult import HResult
from tests.dp2.rigging import COLOR, DEPTH, Bench, clear, header, render_state, vertex

ANTIALIASED, EDGE, PATTERN, Z_BIAS = 176, 40, 10, 47
LINE_LIST = header(15, 1) + b"\0\0"
ENDS = vertex(2.25, 5.25) + vertex(8.25, 5.25)


def drawn(interface: int, *states: tuple[int, int], surface: int = COLOR) -> NDArray[np.uint32]:
    """Words of a surface of 64 by 64 after a line."""
    bench = Bench(context=False)
    bench.driver.create_context(1, interface=interface, color=COLOR, depth=DEPTH)
    bench.ok(clear() + b"".join(render_state(*each) for each in states) + LINE_LIST, ENDS)
    bench.driver.finish()
    return np.frombuffer(bench.driver.read(surface, 0, 64 * 64 * 4), "<u4").reshape(64, 64)


def lit(interface: int, *states: tuple[int, int]) -> NDArray[np.bool_]:
    """Pixels that are not black."""
    found: NDArray[np.bool_] = drawn(interface, *states) & 0xFFFFFF != 0
    return found


@pytest.mark.parametrize(
    ("interface", "state", "smooth"),
    [
        (9, ANTIALIASED, True),
        (9, EDGE, False),
        (8, EDGE, True),
        (7, EDGE, True),
        (6, EDGE, True),
        (7, ANTIALIASED, False),
    ],
)
def test_each_version_has_its_state_for_antialiased_lines(
    interface: int, state: int, smooth: bool
) -> None:
    rows = np.flatnonzero(lit(interface, (state, 1)).any(axis=1))
    assert rows.tolist() == ([5, 6] if smooth else [5])


@pytest.mark.parametrize(("interface", "patterned"), [(6, True), (7, True), (8, True), (9, False)])
def test_patterns_are_repeat_factor_and_bits_until_direct3d_9(
    interface: int, patterned: bool
) -> None:
    columns = np.flatnonzero(lit(interface, (PATTERN, 0x0005 << 16 | 2))[5])
    assert columns.tolist() == ([2, 3, 6, 7] if patterned else [2, 3, 4, 5, 6, 7, 8])


def test_a_repeat_factor_of_zero_is_a_solid_line() -> None:
    assert np.count_nonzero(lit(7, (PATTERN, 0x0005 << 16))) == 7


def test_a_repeat_factor_beyond_a_byte_is_refused() -> None:
    bench = Bench(context=False)
    bench.driver.create_context(1, interface=7, color=COLOR, depth=DEPTH)
    answer = bench.call(render_state(PATTERN, 0x00050100) + LINE_LIST, ENDS)
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
    assert "256 times" in str(answer.fault)


@pytest.mark.parametrize(("interface", "depth"), [(7, 0x7FF800), (8, 0x7FF800), (9, 0x800000)])
def test_z_bias_moves_lines_towards_the_viewer_until_direct3d_9(
    interface: int, depth: int
) -> None:
    words = drawn(interface, (Z_BIAS, 8), surface=DEPTH)
    assert words[5, 5] >> 8 == depth
