"""Records of fragments at a pixel: verdicts, tests and stored bytes."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from dp2emu.explain.pixel_place import Number


class Verdict(StrEnum):
    """Why a fragment is in a pixel or not: the first test, in the order of the pipeline, that
    dropped it.
    """

    WRITTEN = "written"
    MASKED = "masked"
    CULLED = "culled"
    CLIPPED = "clipped"
    COVERAGE = "coverage"
    SCISSOR = "scissor"
    SAMPLE_MASK = "sample_mask"
    ALPHA_TEST = "alpha_test"
    KILLED = "killed"
    STENCIL = "stencil"
    DEPTH = "depth"
    DISCARDED_TARGET = "discarded_target"


class DepthSeen(msgspec.Struct, frozen=True):
    """The depth test of a fragment: its depth, the stored depths, and the comparison."""

    incoming: float
    before: Number
    after: Number
    function: str
    passed: bool


class StencilSeen(msgspec.Struct, frozen=True):
    """The stencil test of a fragment: stored values, and the state of its face."""

    before: int
    after: int
    function: str
    reference: int
    mask: int
    write_mask: int
    operation: str
    passed: bool


class Fragment(msgspec.Struct):
    """What became of a primitive at one sample of a pixel.  Mutable: the stages go on.

    ``before`` and ``after`` are the bytes of the sample in the target, None until the fragment
    writes.  ``output`` are the numbers of the program for the target, None if it did not run.
    ``primitive`` is its number in its instance; ``detail`` says more in words.
    """

    instance: int
    primitive: int
    sample: int
    verdict: Verdict | None = None
    detail: str = ""
    output: list[Number] | None = None
    before: bytes | None = None
    after: bytes | None = None
    depth: DepthSeen | None = None
    stencil: StencilSeen | None = None

    def drop(self, verdict: Verdict, detail: str = "") -> None:
        """Note the test that dropped the fragment, unless an earlier one did."""
        if self.verdict is None:
            self.verdict, self.detail = verdict, detail
