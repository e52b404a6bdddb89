"""The DirectX 6 to 9 front end: the DrawPrimitives2 byte stream and its responses."""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
