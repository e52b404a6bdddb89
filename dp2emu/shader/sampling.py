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
    """A program that computes what a Sample or a Fetch statement returns, with its uniforms.

    A sampler program has the outputs red, green, blue and alpha.  A fetch program has four output
    words, and ``ports`` names its inputs in the order of the operands.  Caches of analysis results
    have the instance itself as key, not its value.
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
    """A fetcher that can return, for some units, a program to run in place of a call to it."""

    def answered(self, unit: int) -> BoundProgram | None:
        """Return the program that implements a unit, its ``ports`` in the order of the operands.

        None for a unit without a program: the engine then calls the fetcher itself.
        """
