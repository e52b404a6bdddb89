"""The emulated GPU: packets in, reports and memory out, on a virtual clock."""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.gpu.command.queries import Report as Report
    from dp2emu.gpu.device.gpu import Gpu as Gpu
    from dp2emu.gpu.device.timing import TICKS_PER_SECOND as TICKS_PER_SECOND
    from dp2emu.gpu.device.timing import Cost as Cost
    from dp2emu.gpu.device.timing import Timing as Timing
    from dp2emu.gpu.device.timing import by_work as by_work
    from dp2emu.gpu.device.timing import fixed as fixed
    from dp2emu.gpu.device.timing import instant as instant
    from dp2emu.gpu.device.timing import parse_timing as parse_timing
    from dp2emu.gpu.device.timing import scripted as scripted
    from dp2emu.gpu.device.timing import seeded as seeded
    from dp2emu.gpu.resource.heap import ColorKey as ColorKey
    from dp2emu.gpu.resource.heap import Heap as Heap
    from dp2emu.gpu.resource.heap import Surface as Surface
    from dp2emu.gpu.resource.heap import SurfaceDesc as SurfaceDesc
    from dp2emu.gpu.resource.heap import SurfaceKind as SurfaceKind

_HOMES = {
    "command.queries": ("Report",),
    "device.gpu": ("Gpu",),
    "device.timing": (
        "Cost",
        "TICKS_PER_SECOND",
        "Timing",
        "by_work",
        "fixed",
        "instant",
        "parse_timing",
        "scripted",
        "seeded",
    ),
    "resource.heap": ("ColorKey", "Heap", "Surface", "SurfaceDesc", "SurfaceKind"),
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)
