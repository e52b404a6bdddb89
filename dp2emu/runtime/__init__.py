"""The runtime between an application and a driver: it builds command buffers, submits them and
reads the responses.

``Device9`` has the methods of Direct3D 9; ``Session``, the layer below, takes single tokens.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
