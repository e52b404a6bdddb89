"""The kernel of the texture filter D3DTEXF_CONVOLUTIONMONO, set by SETCONVOLUTIONKERNELMONO."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.shader.texture.bindings import MAX_KERNEL


class Convolution(msgspec.Struct, frozen=True):
    """A separable convolution kernel, as float32 weights.

    ``rows`` has a weight for each texel across, ``columns`` one for each texel down.
    """

    rows: tuple[float, ...] = (1.0,)
    columns: tuple[float, ...] = (1.0,)

    @classmethod
    def of(
        cls, width: int, height: int, rows: Sequence[float], columns: Sequence[float]
    ) -> Convolution:
        """A kernel of ``width`` x ``height`` texels; empty ``rows`` or ``columns`` mean ones.

        Raises Fault for a size out of range.
        """
        if not (0 < width <= MAX_KERNEL and 0 < height <= MAX_KERNEL):
            what = f"convolution of {width} x {height} texels"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return cls(tuple(rows) or (1.0,) * width, tuple(columns) or (1.0,) * height)
