"""The Direct3D 10 and 11 front end: a user-mode driver's functions over the same GPU.

What of them there is, rule by rule, is in ``docs/ddi10.rst``.
"""

from dp2emu.ddi10.intervals import Case, ranges

__all__ = ["Case", "ranges"]
