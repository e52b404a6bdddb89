"""Interfaces through which compiled programs find the programs that sample textures and fetch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol, runtime_checkable

import msgspec

from dp2emu.shader.ir import Lod, Program, TextureKind
from dp2emu.shader.types import Lanes

COMPONENTS = "xyzw"

_ARGUMENTS = {Lod.IMPLICIT: (), Lod.BIAS: ("lod",), Lod.EXPLICIT: ("lod",),
              Lod.GRADIENT: ("ddx", "ddy")}  # fmt: skip


@lru_cache
def ports(kind: TextureKind, lod: Lod) -> tuple[str, ...]:
    """Return a sampler program's input names, in the order of a Sample's operands."""
    size = 1 if lod in (Lod.BIAS, Lod.EXPLICIT) else kind.coordinates
    arguments = (f"{name}.{c}" for name in _ARGUMENTS[lod] for c in COMPONENTS[:size])
    return (*(f"coordinate.{c}" for c in COMPONENTS[: kind.coordinates]), *arguments)


class BoundProgram(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A program that implements a sampler or a fetch, with its uniforms.

    A sampler program has four outputs: red, green, blue, alpha.  A fetch program has four output
    words, and ``ports`` names its inputs in the order of the operands.  Instances serve as
    identity keys: analysis results are cached for as long as an instance lives.
    """

    program: Program
    uniforms: Mapping[str, Lanes]
    ports: tuple[str, ...] = ()


@runtime_checkable
class BindableSampler(Protocol):
    """A sampler that can return the programs which implement it."""

    def bound(self, sampler: int, kind: TextureKind, lod: Lod) -> BoundProgram:
        """Return the program that implements a sampler for a kind of texture and level of
        detail.
        """


@runtime_checkable
class BindableFetcher(Protocol):
    """A fetcher that can return the programs which implement its units."""

    def answered(self, unit: int) -> BoundProgram | None:
        """Return the program that implements a unit, its ``ports`` in the order of the operands.

        None for a unit without a program: the engine then calls the fetcher itself.
        """
