"""The raw state of a context."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.dp2.states.raw_state import State


@pytest.mark.parametrize(
    ("given", "kept"),
    [((0.0, 1.0), 1.0), ((0.25, 0.5), 0.5), ((0.0, 0.0), 0.001), ((1.0, 0.0), 1.001)],
)
def test_depth_ranges_are_at_least_a_thousandth(given: tuple[float, float], kept: float) -> None:
    state = State(has_depth=True)
    state.set_z_range(*given)
    assert (state.viewport.min_z, state.viewport.max_z) == (
        given[0], pytest.approx(float(np.float32(kept)), abs=1e-7),
    )  # fmt: skip
