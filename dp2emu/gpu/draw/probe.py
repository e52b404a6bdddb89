"""The probe: an observer of the stages of a draw, called once for each decision of a batch."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.output_merger.color_target import ColorTarget
from dp2emu.gpu.output_merger.depth_test import DepthTarget, TestSeen
from dp2emu.gpu.pixel_shader.pixel_stage import Shaded, Shading
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.planes import Sites
from dp2emu.gpu.rasterizer.primitive_setup import Primitives

Witness = Callable[[I64, I64], None]
"""Function that receives columns and rows of pixels, shape (count,) each, for every sample that
passes all tests."""


class Test(Enum):
    """A decision of the stages that drops fragments, besides coverage, depth and stencil."""

    DEPTH_CLIP = auto()
    STIPPLE = auto()
    KILL = auto()
    ALPHA = auto()
    COVERAGE_OUTPUT = auto()
    ALPHA_TO_COVERAGE = auto()


class Probe:
    """Observer of a draw that the reference stages execute; its methods do nothing here.

    ``every_fragment``: colours are computed and written for fragments that a later one of the same
    batch overwrites, too, with the same final contents.
    """

    every_fragment = False

    def wants_chunk(self) -> bool:
        """Return whether the next chunk of primitives is assembled; asked only in draws without
        stages between vertex program and clipping.
        """
        return True

    def chunk(self, draw: Draw, assembled: Geometry, primitives: Primitives) -> bool:
        """See the primitives of a chunk before and after set-up; False skips the chunk."""
        return True

    def batch(self, draw: Draw, here: Sites, shading: Shading) -> None:
        """See the covered fragments of a batch, in order; of multisampled targets one for each
        covered sample in the sample mask.
        """

    def decided(self, test: Test, here: Sites, kept: Mask) -> None:
        """See which of the fragments ``here`` a test keeps."""

    def shaded(self, here: Sites, shaded: Shaded) -> None:
        """See the outputs of the pixel program for fragments."""

    def tested(self, target: DepthTarget, here: Sites, front: F32 | None) -> TestSeen | None:
        """Return the function that sees the depth and stencil tests of fragments; before it is
        called nothing is written.
        """
        return None

    def writes(self, target: ColorTarget, here: Sites, write: Callable[[], None]) -> None:
        """Call ``write``, which writes the colours of fragments of different samples."""
        write()

    def passed(self, x: I64, y: I64) -> None:
        """See the pixels of the samples that pass the depth and stencil tests."""


class WitnessProbe(Probe):
    """Passes the pixels of samples that pass the tests on to a ``Witness``."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def passed(self, x: I64, y: I64) -> None:
        """Pass on columns and rows."""
        self._witness(x, y)
