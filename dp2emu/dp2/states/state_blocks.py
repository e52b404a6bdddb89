"""State blocks of one context: recorded, created, captured and executed (wire format, "State
blocks").

A block is a table of settings.  Recording notes the settings of state tokens instead of writing
them, the last value of each; capturing gives every setting in the block its current value;
executing writes them, in the order in which they were last recorded.
"""

from __future__ import annotations

from typing import Any

from dp2emu.d3d.enums import StateBlockType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.states.settings import DeviceState, Key, predefined, read, write
from dp2emu.errors import Fault
from dp2emu.limits import GENEROUS, Limits

Block = dict[Key, Any]
_TYPES = frozenset(map(int, StateBlockType))


class Blocks:
    """The blocks by handle, and the one that is being recorded.  Mutable: tokens act on it.

    Methods raise Fault: D3DERR_DRIVERINVALIDCALL for an operation that is not allowed while a
    block is, or is not, being recorded; DDERR_INVALIDPARAMS for an unknown handle;
    DDERR_OUTOFMEMORY beyond the limits.
    """

    def __init__(self, limits: Limits = GENEROUS) -> None:
        self._limits = limits
        self._blocks: dict[int, Block] = {}
        self._recording: tuple[int, Block] | None = None
        self._settings = 0

    @property
    def recording(self) -> int | None:
        """The handle of the block that records state tokens instead of executing them, or None."""
        return self._recording[0] if self._recording else None

    def sizes(self) -> dict[int, int]:
        """Number of settings in each block, by handle."""
        return {handle: len(block) for handle, block in sorted(self._blocks.items())}

    def begin(self, handle: int) -> None:
        """Start recording."""
        self._idle("begun")
        self._recording = handle, {}

    def record(self, key: Key, value: Any) -> None:
        """Record a setting after all others."""
        assert self._recording is not None
        _, block = self._recording
        if block.pop(key, None) is None:
            self._count(1)
        block[key] = value

    def recorded(self, key: Key) -> Any:
        """The value of a setting in the block that is being recorded, or None."""
        return self._recording[1].get(key) if self._recording else None

    def end(self) -> None:
        """Stop recording; a block that already has the handle is replaced."""
        if self._recording is None:
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "no state block is being recorded")
        (handle, block), self._recording = self._recording, None
        self._settings -= len(block)
        self._keep(handle, block)

    def delete(self, handle: int) -> None:
        """Delete a block."""
        self._settings -= len(self._find(handle))
        del self._blocks[handle]

    def execute(self, context: DeviceState, handle: int) -> None:
        """Write the settings of a block."""
        self._idle("executed")
        for key, value in self._find(handle).items():
            write(context, key, value)

    def capture(self, context: DeviceState, handle: int) -> None:
        """Give every setting in a block its current value; the set of settings stays the same."""
        self._idle("captured")
        block = self._find(handle)
        for key in block:
            block[key] = read(context, key)

    def create(self, context: DeviceState, handle: int, type: int) -> None:
        """Make a block of a predefined D3DSTATEBLOCKTYPE with the current values.

        With ``Options.strict`` only from DirectX 8 on: earlier runtimes do not send it.
        """
        self._idle("created")
        if context.options.strict and context.interface < 8:
            what = f"state block {handle} is created before DirectX 8"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        if type not in _TYPES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"state block type {type}")
        keys = predefined(context, StateBlockType(type))
        self._keep(handle, {key: read(context, key) for key in keys})

    def _keep(self, handle: int, block: Block) -> None:
        old = self._blocks.get(handle)
        most = self._limits.objects
        if old is None and len(self._blocks) >= most:
            what = f"state block {handle} is too many, limit objects {most}"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._count(len(block) - len(old or ()))
        self._blocks[handle] = block

    def _count(self, number: int) -> None:
        most = self._limits.settings
        if self._settings + number > most:
            what = f"state blocks hold too many settings, limit settings {most}"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        self._settings += number

    def _find(self, handle: int) -> Block:
        found = self._blocks.get(handle)
        if found is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no state block {handle}")
        return found

    def _idle(self, what: str) -> None:
        if self.recording is not None:
            raise Fault(
                HResult.D3DERR_DRIVERINVALIDCALL,
                f"a state block is {what} while {self.recording} is being recorded",
            )
