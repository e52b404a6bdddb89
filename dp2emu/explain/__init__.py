"""Explanations: the events of a capture, and what led to a pixel, an answer or a byte.

Names are imported on first use: an explanation needs few of them.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
