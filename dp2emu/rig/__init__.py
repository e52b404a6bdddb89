"""Rigs: the protocol between code that makes calls and a driver that executes them.

The emulator implements it, and so do a native driver, a driver behind a command and a recorded
session.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
