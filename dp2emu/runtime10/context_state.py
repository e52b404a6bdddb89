"""ID3DDeviceContextState: the whole state of an immediate context, to be exchanged for another.

Source: the Direct3D 11 documentation of CreateDeviceContextState and SwapDeviceContextState.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.argument_check import checked
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.hazards import Call
from dp2emu.runtime10.objects import DeviceChild, Owner

_SINGLETHREADED = 1
"""D3D11_1_CREATE_DEVICE_CONTEXT_STATE_SINGLETHREADED."""


@checked
class DeviceContextState(DeviceChild):
    """ID3DDeviceContextState: at first the default state.  Mutable: it has the state of a context
    from the time when another one replaces it, and keeps its objects alive.
    """

    def __init__(self, owner: Owner) -> None:
        super().__init__(owner, bytearray())
        self._calls: list[Call] = []

    def take(self, calls: Sequence[Call], used: Sequence[DeviceChild]) -> None:
        """Keep ``calls``, which set a state, and the objects ``used`` that they bind."""
        self._calls, self.uses = list(calls), tuple(used)
        for each in used:
            each.users += 1

    def give(self) -> tuple[list[Call], Sequence[DeviceChild]]:
        """Return the calls that set the state, and the objects, which the caller drops once they
        are bound.
        """
        calls, used = self._calls, self.uses
        self._calls, self.uses = [], ()
        return calls, used


def check_state(flags: int, levels: Sequence[int], level: int) -> int:
    """The level of D3D_FEATURE_LEVEL that a new state has: the first of ``levels`` that the device
    has, whose own is ``level``.

    Raises Refused (E_INVALIDARG) for unknown ``flags`` and without such a level; Unsupported for
    one below the device's.
    """
    chosen = next((each for each in levels if each <= level), None)
    if flags & ~_SINGLETHREADED or chosen is None:
        raise Refused(Result.E_INVALIDARG, f"a context state with flags {flags:#x} of {levels}")
    if chosen < level:
        raise Unsupported("context states below the feature level of the device")
    return chosen
