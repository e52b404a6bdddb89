"""How many Python functions a traced call runs through, which is most of its cost."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.apitrace.values import Enum, EnumSignature
from tests.retrace.calls import Pointer, call, functions
from tests.retrace.d3d9.bench import DEVICE, Bench

STATES = EnumSignature((("D3DRS_ZENABLE", 7), ("D3DSAMP_MAGFILTER", 5)))


@pytest.mark.parametrize(("name", "arguments", "most"), [
    ("SetRenderState", {"State": Enum(STATES, 7), "Value": 1}, 22),
    ("SetSamplerState", {"Sampler": 0, "Type": Enum(STATES, 5), "Value": 2}, 26),
    ("SetTextureStageState", {"Stage": 0, "Type": 1, "Value": 4}, 23),
    ("SetTexture", {"Stage": 0, "pTexture": None}, 29),
    ("SetVertexShaderConstantF",
     {"StartRegister": 0, "pConstantData": (0.5,) * 16, "Vector4fCount": 4}, 39),
])  # fmt: skip
def test_a_call_of_every_frame_runs_through_few_functions(
    name: str, arguments: dict[str, Any], most: int
) -> None:
    program = Bench().program
    one = call(f"IDirect3DDevice9::{name}", this=Pointer(DEVICE), **arguments)
    program.play(one)
    assert functions(lambda: program.play(one)) <= most
    assert not program.losses.total
