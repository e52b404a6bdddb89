"""Filter kernels: which neighbours are read along each axis, and their weights.

All filters are separable: along rows first, then columns, then slices.  Fractions are in 1/256
texel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from dp2emu.d3d.enums import TextureFilter
from dp2emu.shader.functions import exp2
from dp2emu.shader.values import Number, Value

Texel = tuple[Number, Number, Number, Number]
"""Red, green, blue and alpha of a texel: values, or Python numbers for constants of the format."""

Weights = tuple[Value, ...]


class Kernel(msgspec.Struct, frozen=True):
    """A filter kernel along one axis.

    ``places`` are the texels it reads, as distances from the texel that contains the point
    ``back`` half texels before the coordinate.  ``weights`` returns their weights from the
    point's position in that texel, 0 to 255/256.  The weights sum to 1; of at most two, one may
    be omitted.
    """

    places: tuple[int, ...]
    weights: Callable[[Value], Weights]
    back: int = 1

    def mix(self, texels: Sequence[Texel], weights: Weights) -> Texel:
        """Return the weighted sum of ``texels``; a left-out weight is 1 minus the other."""
        if len(weights) == len(texels):
            return total(texels, weights)
        return between(texels[0], texels[1], weights[0]) if weights else texels[0]


def between(x: Texel, y: Texel, weight: Value) -> Texel:
    """Linear interpolation x + (y - x) * weight per channel; equal channels are computed once."""
    return _channelwise((x, y), lambda pair: _between(pair[0], pair[1], weight))


def total(texels: Sequence[Texel], weights: Weights) -> Texel:
    """Weighted sum t0 * w0 + t1 * w1 + ..., from the left, every step rounded."""
    return _channelwise(texels, lambda channel: _total(channel, weights))


def _channelwise(texels: Sequence[Texel], mix: Callable[[tuple[Number, ...]], Number]) -> Texel:
    done: dict[tuple[int, ...], Number] = {}
    mixed: list[Number] = []
    for channel in zip(*texels, strict=True):
        alike = tuple(map(id, channel))
        if alike not in done:
            done[alike] = channel[0] if _constant(channel) else mix(channel)
        mixed.append(done[alike])
    red, green, blue, alpha = mixed
    return red, green, blue, alpha


def _constant(channel: tuple[Number, ...]) -> bool:
    return not isinstance(channel[0], Value) and len(set(channel)) == 1


def _between(x: Number, y: Number, weight: Value) -> Value:
    return x + weight * (y - x)


def _total(channel: tuple[Number, ...], weights: Weights) -> Value:
    first, *others = (weight * each for each, weight in zip(channel, weights, strict=True))
    for other in others:
        first = first + other
    return first


def _none(fraction: Value) -> Weights:
    return ()


def _linear(fraction: Value) -> Weights:
    return (fraction,)


def _gaussian(fraction: Value) -> Weights:
    """Return the second weight of two texels at distances d: 2**(-4 d**2), normalised."""
    return (1.0 / (exp2(4.0 - fraction * 8.0) + 1.0),)


def _catmull_rom(f: Value) -> Weights:
    """Return Catmull-Rom weights of four texels; the point is ``f`` texels past the second."""
    return (
        ((1.0 - f * 0.5) * f - 0.5) * f,
        (f * 1.5 - 2.5) * f * f + 1.0,
        ((2.0 - f * 1.5) * f + 0.5) * f,
        (f * 0.5 - 0.5) * f * f,
    )


def _b_spline(f: Value) -> Weights:
    """Return cubic B-spline weights of four texels; the point is ``f`` texels past the second."""
    rest, sixth = 1.0 - f, 1.0 / 6.0
    return (
        rest * rest * rest * sixth,
        ((f * 3.0 - 6.0) * f * f + 4.0) * sixth,
        (((3.0 - f * 3.0) * f + 3.0) * f + 1.0) * sixth,
        f * f * f * sixth,
    )


POINT = Kernel((0,), _none, back=0)
LINEAR = Kernel((0, 1), _linear)
GAUSSIAN_QUAD = Kernel((0, 1), _gaussian)
FLAT_CUBIC = Kernel((-1, 0, 1, 2), _catmull_rom)
GAUSSIAN_CUBIC = Kernel((-1, 0, 1, 2), _b_spline)

KERNELS: dict[TextureFilter, Kernel] = {
    TextureFilter.NONE: POINT,
    TextureFilter.POINT: POINT,
    TextureFilter.LINEAR: LINEAR,
    TextureFilter.ANISOTROPIC: LINEAR,
    TextureFilter.FLATCUBIC: FLAT_CUBIC,
    TextureFilter.GAUSSIANCUBIC: GAUSSIAN_CUBIC,
    TextureFilter.PYRAMIDALQUAD: LINEAR,
    TextureFilter.GAUSSIANQUAD: GAUSSIAN_QUAD,
}
"""D3DTEXTUREFILTERTYPE -> kernel; the Direct3D 9 documentation leaves the shape of most open.

ANISOTROPIC takes linear probes.  A tent over four texels is the linear filter, hence
PYRAMIDALQUAD.  CONVOLUTIONMONO has its own kernel per axis (``sampler.convolved``)."""


def kernel_of(filter: TextureFilter, axes: int) -> Kernel:
    """Return the kernel of a filter; on volumes the cubic kernels, which would read 64 texels, are
    linear.
    """
    kernel = KERNELS[filter]
    return LINEAR if axes > 2 and len(kernel.places) > 2 else kernel
