"""dp2emu: the DirectX 6 to 9 display driver and its GPU, in Python.

The names here are those that most programs need; each is imported when it is asked for, so that
``import dp2emu`` costs nothing.  The packages have more: ``dp2emu.replay.replay`` plays captures,
``dp2emu.batch`` many of them, ``dp2emu.conform`` tries drivers, ``dp2emu.testing`` is for tests,
``dp2emu.runtime10`` is the application's half of Direct3D 10 and 11.
"""

from dp2emu.lazy_import import lazy_package

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_package(__spec__)
