"""dp2emu: a DirectX 6 to 11 display driver and its GPU, in Python.

It has the names that most programs need; each is imported on first use, so ``import dp2emu`` is
fast.  Packages have more: ``dp2emu.replay`` plays captures, ``dp2emu.batch`` many of them,
``dp2emu.conform`` tests drivers, ``dp2emu.testing`` has tools for tests, and ``dp2emu.runtime10``
is the application's side of Direct3D 10 and 11.
"""

from dp2emu.lazy_import import lazy_package

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_package(__spec__)
