"""The C library of this process."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def c_library() -> ctypes.CDLL:
    """Return the C library, whose functions set ``ctypes.get_errno``."""
    return ctypes.CDLL(None, use_errno=True)
