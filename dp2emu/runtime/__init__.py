"""The application's half: build command buffers, submit them, read the answers.

``Device9`` is how Python programs author streams; ``Session`` is the layer below it, for those
who want to place every token themselves.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
