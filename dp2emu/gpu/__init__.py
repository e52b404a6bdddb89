"""The emulated GPU: packets in, reports and memory out, on a virtual clock."""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
