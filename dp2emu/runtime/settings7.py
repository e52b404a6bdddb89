"""A copy of the states set by an application of DirectX 6 or 7, with its state blocks.

The driver has them too but cannot be read back; the runtime needs them for matrix products and
ProcessVertices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.d3d.device_states import (
    PIXEL_RENDER_STATES,
    PIXEL_SAMPLER_STATES,
    PIXEL_STAGE_STATES,
    VERTEX_RENDER_STATES,
    VERTEX_STAGE_STATES,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import StateBlockType7
from dp2emu.dp2.states.setting_kinds import Kind, stage_index
from dp2emu.runtime.session import Refused

Key = tuple[Kind, int]
_PER_STAGE = stage_index(1, 0)


def _in_pixel_state(key: Key) -> bool:
    kind, index = key
    if kind is Kind.RENDER_STATE:
        return index in PIXEL_RENDER_STATES
    states = PIXEL_STAGE_STATES | PIXEL_SAMPLER_STATES
    return kind is Kind.STAGE_STATE and index % _PER_STAGE in states


def _in_vertex_state(key: Key) -> bool:
    kind, index = key
    if kind is Kind.RENDER_STATE:
        return index in VERTEX_RENDER_STATES
    if kind is Kind.STAGE_STATE:
        return index % _PER_STAGE in VERTEX_STAGE_STATES
    return kind in (Kind.LIGHT, Kind.LIGHT_ENABLE)


_MEMBERS = {
    StateBlockType7.ALL: lambda key: True,
    StateBlockType7.PIXELSTATE: _in_pixel_state,
    StateBlockType7.VERTEXSTATE: _in_vertex_state,
}


@checked
class Settings7:
    """The states that an application of DirectX 6 or 7 set, by (kind, index), and its state
    blocks.

    Settings that were never set are not stored; ``get`` takes their default.  Mutable.
    """

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}
        # In a block None is the default of a setting that was not set when it was captured.
        self._blocks: dict[int, tuple[dict[Key, Any], StateBlockType7 | None]] = {}
        self._recording: dict[Key, Any] | None = None

    @property
    def recording(self) -> bool:
        """Whether a state block is being recorded, so that settings go to it only."""
        return self._recording is not None

    def put(self, kind: Kind, index: int, value: Any) -> None:
        """Store a value as current, or in the state block if one is being recorded."""
        target = self._values if self._recording is None else self._recording
        target[kind, index] = value

    def get(self, kind: Kind, index: int, default: Any) -> Any:
        """The current value of a setting, ``default`` if it was never set."""
        return self._values.get((kind, index), default)

    def pending(self, kind: Kind, index: int, default: Any) -> Any:
        """The value of a setting in the block being recorded; without one, its current value."""
        recorded = self._recording or {}
        return recorded.get((kind, index), self.get(kind, index, default))

    def all(self) -> Mapping[Key, Any]:
        """The current values of all settings that were set, by kind and index."""
        return self._values

    def begin(self) -> None:
        """BeginStateBlock.  Raises Refused while another block is recorded."""
        if self._recording is not None:
            raise Refused(HResult.D3DERR_INBEGINSTATEBLOCK, "a state block in a state block")
        self._recording = {}

    def end(self, handle: int) -> None:
        """EndStateBlock.  Raises Refused if no block is being recorded."""
        if self._recording is None:
            raise Refused(HResult.D3DERR_NOTINBEGINSTATEBLOCK, "no state block has begun")
        self._blocks[handle], self._recording = (self._recording, None), None

    def create(self, handle: int, type: StateBlockType7) -> None:
        """CreateStateBlock: a block of the current settings that belong to the predefined
        ``type``.
        """
        values = {key: value for key, value in self._values.items() if _MEMBERS[type](key)}
        self._blocks[handle] = values, type

    def capture(self, handle: int) -> None:
        """CaptureStateBlock: refresh the values of the settings that a block holds."""
        block, type = self._find(handle)
        if type is not None:
            self.create(handle, type)
            return
        for key in block:
            block[key] = self._values.get(key)

    def apply(self, handle: int) -> None:
        """ApplyStateBlock: set the values in a block, and reset to their defaults those of its
        settings that had never been set when it was captured.
        """
        block, type = self._find(handle)
        if type is not None:
            for key in [key for key in self._values if _MEMBERS[type](key)]:
                del self._values[key]
        for key, value in block.items():
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value

    def delete(self, handle: int) -> None:
        """DeleteStateBlock."""
        self._find(handle)
        del self._blocks[handle]

    def _find(self, handle: int) -> tuple[dict[Key, Any], StateBlockType7 | None]:
        if handle not in self._blocks:
            raise Refused(HResult.D3DERR_INVALIDSTATEBLOCK, f"no state block {handle}")
        return self._blocks[handle]
