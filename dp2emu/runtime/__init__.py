"""The application's half: build command buffers, submit them, read the responses.

``Device9`` writes streams by the methods of Direct3D 9; ``Session``, the layer below, token by
token.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
