"""What an application set, so that it can ask for it again; every Set is sent at once."""

from __future__ import annotations

from dp2emu.d3d import device_states
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState, SamplerState, TextureStageState
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireTextureStageState
from dp2emu.runtime.arguments import dword
from dp2emu.runtime.session import Session

WIRE_SAMPLER_STATES = {
    state: sdk_value(WireTextureStageState, f"D3DTSS_{state.name}") for state in SamplerState
}
"""The wire keeps the stage state numbers that DirectX 8 had for these (wire format, "Texture
stages and samplers")."""


class States:
    """Render, texture stage and sampler states of a device.  Mutable: it is a register file."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._render = {
            int(state): int(value) for state, value in device_states.DEFAULT_RENDER_STATES.items()
        }  # fmt: skip
        self._stage: dict[tuple[int, int], int] = {}
        self._sampler: dict[tuple[int, int], int] = {}

    def set_render(self, state: RenderState, value: int | float) -> None:
        """SetRenderState; a Python float is sent as the bits of a float32."""
        word = dword(value)
        self._render[state] = word
        self._session.emit(Op.RENDERSTATE, [(state, word)])

    def render(self, state: RenderState) -> int:
        """GetRenderState."""
        return self._render.get(state, 0)

    def set_stage(self, stage: int, state: TextureStageState, value: int | float) -> None:
        """SetTextureStageState."""
        word = dword(value)
        self._stage[stage, state] = word
        self._session.emit(Op.TEXTURESTAGESTATE, [(stage, state, word)])

    def stage(self, stage: int, state: TextureStageState) -> int:
        """GetTextureStageState."""
        return self._stage.get((stage, state), device_states.default_stage_state(stage, state))

    def set_sampler(self, sampler: int, state: SamplerState, value: int | float) -> None:
        """SetSamplerState."""
        word = dword(value)
        self._sampler[sampler, state] = word
        item = (sampler, WIRE_SAMPLER_STATES[state], word)
        self._session.emit(Op.TEXTURESTAGESTATE, [item])

    def sampler(self, sampler: int, state: SamplerState) -> int:
        """GetSamplerState."""
        default = int(device_states.DEFAULT_SAMPLER_STATES.get(state, 0))
        return self._sampler.get((sampler, state), default)
