"""The Direct3D 10 and 11 front end: a user-mode driver's functions over the same GPU.

What of them there is, rule by rule, is in ``docs/ddi10.rst``.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.ddi10.adapter import Adapter as Adapter
    from dp2emu.ddi10.device import Device as Device
    from dp2emu.ddi10.queries.statistics import Statistics as Statistics

_HOMES = {"adapter": ("Adapter",), "device": ("Device",), "queries.statistics": ("Statistics",)}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)
