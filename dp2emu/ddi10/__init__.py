"""The Direct3D 10 and 11 front end: a user-mode driver's functions over the same GPU.

What of them there is, rule by rule, is in ``docs/ddi10.rst``.
"""

from typing import TYPE_CHECKING

from dp2emu.late import late

if TYPE_CHECKING:
    from dp2emu.ddi10.adapter import Adapter as Adapter
    from dp2emu.ddi10.device import Device as Device
    from dp2emu.ddi10.intervals import Amplified as Amplified
    from dp2emu.ddi10.intervals import Case as Case
    from dp2emu.ddi10.intervals import Dispatched as Dispatched
    from dp2emu.ddi10.intervals import Divided as Divided
    from dp2emu.ddi10.intervals import Interval as Interval
    from dp2emu.ddi10.intervals import ranges as ranges
    from dp2emu.ddi10.statistics import Statistics as Statistics

_HOMES = {
    "adapter": ("Adapter",),
    "device": ("Device",),
    "intervals": ("Amplified", "Case", "Dispatched", "Divided", "Interval", "ranges"),
    "statistics": ("Statistics",),
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = late(__name__, _HOMES)
