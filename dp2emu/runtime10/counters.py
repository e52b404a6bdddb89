"""Performance counters of ID3D10Counter and ID3D11Counter.

Source: the Direct3D 11 documentation of D3D11_COUNTER, CheckCounter and CreateCounter.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.ddi10.queries.counters import COUNTERS, LAST_DEVICE_DEPENDENT, CounterRow, CounterType
from dp2emu.runtime10.codes import Api, Refused, Result

DEVICE_DEPENDENT_0 = 0x40000000
"""D3D11_COUNTER_DEVICE_DEPENDENT_0: the first of the counters that a driver defines, which
Direct3D 11 has alone."""
_KNOWN = 18
"""Number of the counters that Direct3D 10 defines, from D3D10_COUNTER_GPU_IDLE on."""
_FIRST = min(COUNTERS)
"""The driver's number of D3D10_COUNTER_GPU_IDLE."""


class CounterText(NamedTuple):
    """What CheckCounter tells of a counter; ``ActiveCounters`` counts towards
    NumSimultaneousCounters.
    """

    Type: CounterType
    ActiveCounters: int
    Name: str
    Units: str
    Description: str


def counter_row(api: Api, number: int) -> CounterRow:
    """The driver's counter of a D3D10_COUNTER or D3D11_COUNTER number.

    Raises Refused: E_INVALIDARG for numbers that the interface does not have,
    DXGI_ERROR_UNSUPPORTED for counters that the driver does not have.
    """
    old = api < Api.D3D11 and 0 <= number < _KNOWN
    if not old and not DEVICE_DEPENDENT_0 <= number <= LAST_DEVICE_DEPENDENT:
        raise Refused(Result.E_INVALIDARG, f"counter {number:#x}")
    found = COUNTERS.get(number + _FIRST if old else number)
    if found is None:
        raise Refused(Result.DXGI_ERROR_UNSUPPORTED, f"counter {number:#x}")
    return found
