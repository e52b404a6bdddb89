"""Replay of many captures in supervised worker processes, with a row of results for each.

Names are imported on first use: a worker of a cluster needs few of them.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
