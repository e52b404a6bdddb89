"""Traces of API calls as apitrace writes them (trace versions 0 to 6), read call by call."""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
