"""D3DCMPFUNC over arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dp2emu.d3d.enums import CmpFunc
from dp2emu.gpu.arrays import Mask, Words

COMPARE: dict[CmpFunc, Callable[[Words, Words], Mask]] = {
    CmpFunc.NEVER: lambda new, old: np.zeros(np.broadcast(new, old).shape, bool),
    CmpFunc.LESS: np.less,
    CmpFunc.EQUAL: np.equal,
    CmpFunc.LESSEQUAL: np.less_equal,
    CmpFunc.GREATER: np.greater,
    CmpFunc.NOTEQUAL: np.not_equal,
    CmpFunc.GREATEREQUAL: np.greater_equal,
    CmpFunc.ALWAYS: lambda new, old: np.ones(np.broadcast(new, old).shape, bool),
}
"""Whether what is new passes against what is there; either may have a single lane."""
