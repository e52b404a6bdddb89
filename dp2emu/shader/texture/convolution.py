"""D3DTEXF_CONVOLUTIONMONO: a kernel of up to 7 x 7 texels around a place.

The kernel's texels have weights, a product of one for the column and one for the row, and lie
anywhere on those of the texture: each is mixed from its neighbours there.  The sum is divided by
the number of texels in the kernel.  Source: driver documentation of SetConvolutionKernelMono.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dp2emu.shader.texture.bindings import COLUMN_WEIGHTS
from dp2emu.shader.texture.fields import Source
from dp2emu.shader.texture.filters import Kernel, Texel, Weights
from dp2emu.shader.texture.reading import Level, read
from dp2emu.shader.values import Value


def convolved(source: Source, coordinates: Sequence[Value], level: Level) -> Texel:
    """What the kernel of the source's key makes of a level."""
    width, height = source.key.kernel
    kernels = _kernel(source, 0, width), _kernel(source, COLUMN_WEIGHTS, height)
    red, green, blue, alpha = (
        channel / float(width * height) if isinstance(channel, Value) else channel
        for channel in read(source, kernels, coordinates, level)
    )
    return red, green, blue, alpha


def _kernel(source: Source, first: int, size: int) -> Kernel:
    """``size`` texels along an axis, whose weights lie from ``first`` on."""
    given = [source.b.load(source.files.weights, first + number) for number in range(size)]

    def weights(f: Value) -> Weights:
        """Each weight is shared by two texels: (1 - f) to its own, f to the next."""
        rest = 1.0 - f
        shared = (one * f + other * rest for one, other in pairwise(given))
        return given[0] * rest, *shared, given[-1] * f

    return Kernel(tuple(range(size + 1)), weights, back=size)
