"""Definitions of the Direct3D SDK and driver headers: enumerations, formats, structures."""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
