"""Settings and state blocks of the runtime against what the application set."""

from __future__ import annotations

import pytest

from dp2emu.d3d.legacy import RenderState7, StateBlockType7, TextureStageState7
from dp2emu.dp2.states.setting_kinds import Kind, stage_index
from dp2emu.runtime.session import Refused
from dp2emu.runtime.settings7 import Settings7

STATE = Kind.RENDER_STATE
FILL, CULL = int(RenderState7.FILLMODE), int(RenderState7.CULLMODE)


def test_what_is_recorded_is_not_set() -> None:
    settings = Settings7()
    settings.put(STATE, FILL, 1)
    settings.begin()
    settings.put(STATE, FILL, 2)
    assert (settings.get(STATE, FILL, 0), settings.pending(STATE, FILL, 0)) == (1, 2)
    settings.end(5)
    assert settings.get(STATE, FILL, 0) == 1
    settings.apply(5)
    assert settings.get(STATE, FILL, 0) == 2


def test_capture_refreshes_what_the_block_holds() -> None:
    settings = Settings7()
    settings.begin()
    settings.put(STATE, FILL, 2)
    settings.end(5)
    settings.put(STATE, FILL, 3)
    settings.put(STATE, CULL, 4)
    settings.capture(5)
    settings.put(STATE, FILL, 0)
    settings.put(STATE, CULL, 0)
    settings.apply(5)
    assert (settings.get(STATE, FILL, 0), settings.get(STATE, CULL, 0)) == (3, 0)


@pytest.mark.parametrize(
    ("type", "restored"),
    [
        (StateBlockType7.ALL, {FILL, CULL, "lod", "light", "matrix"}),
        (StateBlockType7.PIXELSTATE, {FILL, "lod"}),
        (StateBlockType7.VERTEXSTATE, {CULL, "light"}),
    ],
)
def test_predefined_blocks_hold_their_kind(type: StateBlockType7, restored: set[object]) -> None:
    lod = stage_index(1, TextureStageState7.MIPMAPLODBIAS)
    keys = {
        FILL: (STATE, FILL), CULL: (STATE, CULL), "lod": (Kind.STAGE_STATE, lod),
        "light": (Kind.LIGHT_ENABLE, 0), "matrix": (Kind.TRANSFORM, 2),
    }  # fmt: skip
    settings = Settings7()
    for kind, index in keys.values():
        settings.put(kind, index, 1)
    settings.create(5, type)
    for kind, index in keys.values():
        settings.put(kind, index, 2)
    settings.apply(5)
    found = {name for name, (kind, index) in keys.items() if settings.get(kind, index, 0) == 1}
    assert found == restored


def test_a_default_that_a_block_found_comes_back() -> None:
    settings = Settings7()
    settings.create(5, StateBlockType7.ALL)
    settings.put(STATE, FILL, 2)
    settings.apply(5)
    assert settings.get(STATE, FILL, 7) == 7


def test_a_recorded_block_captures_the_default_of_a_setting_that_is_not_set() -> None:
    settings = Settings7()
    settings.begin()
    settings.put(STATE, FILL, 2)
    settings.end(5)
    settings.capture(5)
    settings.put(STATE, FILL, 3)
    settings.apply(5)
    assert settings.get(STATE, FILL, 7) == 7


def test_blocks_do_not_nest_and_are_known() -> None:
    settings = Settings7()
    with pytest.raises(Refused):
        settings.end(1)
    settings.begin()
    with pytest.raises(Refused):
        settings.begin()
    for act in (settings.apply, settings.capture, settings.delete):
        with pytest.raises(Refused, match="no state block 9"):
            act(9)
