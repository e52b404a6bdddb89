"""The kernel of D3DTEXF_CONVOLUTIONMONO, as SETCONVOLUTIONKERNELMONO gives it."""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.records import dataclass
from dp2emu.shader.texture.bindings import MAX_KERNEL


@dataclass(frozen=True, slots=True)
class Convolution:
    """Weights (float32 values) of the texels of a row, and of the rows."""

    rows: tuple[float, ...] = (1.0,)
    columns: tuple[float, ...] = (1.0,)

    @classmethod
    def of(
        cls, width: int, height: int, rows: Sequence[float], columns: Sequence[float]
    ) -> Convolution:
        """No weights stand for ones.  Raises Fault for sizes there are not."""
        if not (0 < width <= MAX_KERNEL and 0 < height <= MAX_KERNEL):
            what = f"convolution of {width} x {height} texels"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return cls(tuple(rows) or (1.0,) * width, tuple(columns) or (1.0,) * height)
