"""Device defaults, against values recorded from another implementation."""

from __future__ import annotations

import json
import struct

from dp2emu.d3d import device_states
from dp2emu.d3d.enums import RenderState, SamplerState, TextureStageState

from ..golden.comparing import HERE

RECORDED = HERE / "golden" / "stage" / "default_states.json"


def test_stage_and_sampler_defaults_are_those_recorded() -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))["values"]
    assert len(recorded) > 30
    for label, answer in recorded.items():
        place, _, name = label.partition("_")
        if place.startswith("tss"):
            found = device_states.default_stage_state(int(place[3:]), TextureStageState[name])
        else:
            found = device_states.DEFAULT_SAMPLER_STATES.get(SamplerState[name], 0)
        assert found == answer["value"], label


def test_float_states_hold_bits() -> None:
    for state, value in ((RenderState.POINTSIZE, 1.0), (RenderState.POINTSIZE_MAX, 64.0)):
        assert struct.pack("<I", device_states.DEFAULT_RENDER_STATES[state]) == struct.pack(
            "<f", value
        )


def test_zenable_depends_on_the_device_and_is_not_among_them() -> None:
    assert RenderState.ZENABLE not in device_states.DEFAULT_RENDER_STATES
