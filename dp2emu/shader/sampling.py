"""How programs reach the programs that sample their textures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol, runtime_checkable

from dp2emu.records import dataclass
from dp2emu.shader.ir import Lod, Program, TextureKind
from dp2emu.shader.types import Lanes

COMPONENTS = "xyzw"

_ARGUMENTS = {Lod.IMPLICIT: (), Lod.BIAS: ("lod",), Lod.EXPLICIT: ("lod",),
              Lod.GRADIENT: ("ddx", "ddy")}  # fmt: skip


@lru_cache
def ports(kind: TextureKind, lod: Lod) -> tuple[str, ...]:
    """Inputs of a sampler's program for the coordinates and arguments of a Sample, in order."""
    size = 1 if lod in (Lod.BIAS, Lod.EXPLICIT) else kind.coordinates
    arguments = (f"{name}.{c}" for name in _ARGUMENTS[lod] for c in COMPONENTS[:size])
    return (*(f"coordinate.{c}" for c in COMPONENTS[: kind.coordinates]), *arguments)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class BoundProgram:
    """A program that samples, of which the four outputs are red, green, blue and alpha, and what
    it reads.  ``ports`` are the inputs, in order, of one that answers to fetches instead, with
    four words.  What is found out about it is kept as long as it is.
    """

    program: Program
    uniforms: Mapping[str, Lanes]
    ports: tuple[str, ...] = ()


@runtime_checkable
class BindableSampler(Protocol):
    """A sampler that says which programs do its work."""

    def bound(self, sampler: int, kind: TextureKind, lod: Lod) -> BoundProgram:
        """The program that samples in this way."""


@runtime_checkable
class BindableFetcher(Protocol):
    """A fetcher that says which programs do its work."""

    def answered(self, unit: int) -> BoundProgram | None:
        """The program that answers to fetches of a unit; its ports are the operands.  None for a
        unit that has none, which is then called.
        """
