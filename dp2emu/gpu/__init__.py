"""The emulated GPU: packets in, reports and memory out, on a virtual clock."""

from typing import TYPE_CHECKING

from dp2emu.late import late

if TYPE_CHECKING:
    from dp2emu.gpu.core import Gpu as Gpu
    from dp2emu.gpu.memory import ColorKey as ColorKey
    from dp2emu.gpu.memory import Heap as Heap
    from dp2emu.gpu.memory import Surface as Surface
    from dp2emu.gpu.memory import SurfaceDesc as SurfaceDesc
    from dp2emu.gpu.memory import SurfaceKind as SurfaceKind
    from dp2emu.gpu.queries import Report as Report
    from dp2emu.gpu.timing import TICKS_PER_SECOND as TICKS_PER_SECOND
    from dp2emu.gpu.timing import Cost as Cost
    from dp2emu.gpu.timing import Timing as Timing
    from dp2emu.gpu.timing import by_work as by_work
    from dp2emu.gpu.timing import fixed as fixed
    from dp2emu.gpu.timing import instant as instant
    from dp2emu.gpu.timing import parse_timing as parse_timing
    from dp2emu.gpu.timing import scripted as scripted
    from dp2emu.gpu.timing import seeded as seeded

_HOMES = {
    "core": ("Gpu",),
    "memory": ("ColorKey", "Heap", "Surface", "SurfaceDesc", "SurfaceKind"),
    "queries": ("Report",),
    "timing": (
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
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = late(__name__, _HOMES)
