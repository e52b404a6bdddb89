"""The Direct3D 10 and 11 front end: the functions of a user-mode driver over the same GPU.

``docs/ddi10.rst`` lists what is implemented, rule by rule.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.ddi10.adapter import Adapter as Adapter
    from dp2emu.ddi10.device import Device as Device
    from dp2emu.ddi10.queries.statistics import Statistics as Statistics

_HOMES = {"adapter": ("Adapter",), "device": ("Device",), "queries.statistics": ("Statistics",)}
"""Names by module, imported lazily."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # type checkers report unknown names only without __getattr__
    __getattr__ = lazy_names(__name__, _HOMES)
