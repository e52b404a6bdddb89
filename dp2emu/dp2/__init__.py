"""The DirectX 6 to 9 front end: the DrawPrimitives2 byte stream and its responses."""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.dp2.blt import Blt as Blt
    from dp2emu.dp2.call import Answer as Answer
    from dp2emu.dp2.call import Call as Call
    from dp2emu.dp2.driver import Driver as Driver
    from dp2emu.dp2.driver import UnknownCommand as UnknownCommand
    from dp2emu.dp2.options import Options as Options
    from dp2emu.dp2.table import TABLE as TABLE
    from dp2emu.dp2.table import Op as Op
    from dp2emu.dp2.table import Since as Since
    from dp2emu.dp2.table import Token as Token
    from dp2emu.dp2.walk import Command as Command
    from dp2emu.dp2.walk import decode as decode
    from dp2emu.dp2.walk import scan as scan

_HOMES = {
    "blt": ("Blt",),
    "call": ("Answer", "Call"),
    "driver": ("Driver", "UnknownCommand"),
    "options": ("Options",),
    "table": ("Op", "Since", "TABLE", "Token"),
    "walk": ("Command", "decode", "scan"),
}
"""Names by module, imported lazily."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # type checkers report unknown names only without __getattr__
    __getattr__ = lazy_names(__name__, _HOMES)
