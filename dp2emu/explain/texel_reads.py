"""Texels that a lane reads when it samples or fetches: the program that reads the texture runs
again, observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.explain.engine import Engine, Run
from dp2emu.gpu.shader_resources.textures import TextureUnit
from dp2emu.shader import ir
from dp2emu.shader.observed import run_observed
from dp2emu.shader.reference import Environment, Machine, Result
from dp2emu.shader.texture.fields import row_of
from dp2emu.shader.types import I32, Lanes, Mask, Type

_FIELDS = 6
"""Integers of a row of the file ``levels``."""


class Texel(msgspec.Struct, frozen=True):
    """A texel that was read: its level, array slice or cube face ``layer``, column, row and slice
    of a volume; of block formats the first texel of the block.

    ``offset`` is its byte in the texture's allocation.  Of a buffer without texels ``x`` is the
    byte offset.
    """

    level: int
    layer: int
    x: int
    y: int
    z: int
    offset: int


class _Reads:
    """Observer that records the byte addresses of texels that a lane reads.  Mutable."""

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self.addresses: list[int] = []
        self._shifted: dict[int, int] = {}

    def entered(self, statements: tuple[ir.Statement, ...]) -> None:
        """Nothing to note."""

    def before(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """Note the address of a read, before it is shifted to the number of a word."""
        lane = self.lane
        if active is not None and not active[lane if len(active) > 1 else 0]:
            return
        if isinstance(statement, ir.Assign):
            self._note(machine, statement)
        elif isinstance(statement, ir.Load) and statement.file == "texels":
            index = machine.index(statement.address)
            word = int(index[lane if len(index) > 1 else 0])
            slot = statement.address.index
            exact = self._shifted.get(slot.number) if isinstance(slot, ir.Slot) else None
            whole = exact is not None and exact >> 2 == word
            self.addresses.append(exact if whole and exact is not None else 4 * word)

    def after(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """Nothing to note."""

    def _note(self, machine: Machine, statement: ir.Assign) -> None:
        if statement.op not in _SHIFTS or statement.operands[1] != _TWO:
            self._shifted.pop(statement.slot, None)
            return
        lanes = machine.read(statement.operands[0])
        self._shifted[statement.slot] = int(lanes[self.lane if len(lanes) > 1 else 0])


_SHIFTS = frozenset({"ishr", "ushr"})
_TWO = ir.Constant(Type.I32, 2)


class _Observing(Engine):
    """An engine that records the texels that a lane reads.  Mutable."""

    def __init__(self, lane: int) -> None:
        self._lane = lane
        self.reads: list[tuple[Mapping[str, Lanes], list[int]]] = []

    def run(self, run: Run) -> Result:
        """Run a program and record what the lane reads."""
        observer = _Reads(min(self._lane, run.lanes - 1))
        result = run_observed(
            run.program, run.inputs, run.uniforms, run.lanes, Environment(), observer, run.mask
        )
        self.reads.append((run.uniforms, observer.addresses))
        return result

    def run_masked(self, run: Run) -> Result:
        """Run a program and record what the lane reads."""
        return self.run(run)


def texels_of(
    environment: Environment,
    statement: ir.Sample | ir.Fetch | ir.Access,
    operands: tuple[Lanes, ...],
    arguments: tuple[Lanes, ...],
    lane: int,
) -> tuple[Texel, ...]:
    """The texels that a statement reads in a lane, in order, without repetitions in a row.

    Empty for accesses to memory and for samplers that are no ``StageSampler``.
    """
    engine = _Observing(lane)
    found: Any = environment.sampler if isinstance(statement, ir.Sample) else environment.fetcher
    if isinstance(statement, ir.Access) or not hasattr(found, "texturing"):
        return ()
    observed = replace(found, texturing=replace(found.texturing, cache=None, run=engine))
    if isinstance(statement, ir.Sample):
        number: int = statement.sampler
        observed(number, statement.kind, operands, statement.lod, arguments, None)
    else:
        number = statement.unit
        observed(number, operands, None)
    unit = found.texturing.units[found.stage].get(number)
    return _located(engine, unit)


def _located(engine: _Observing, unit: TextureUnit | None) -> tuple[Texel, ...]:
    texels: list[Texel] = []
    for files, addresses in engine.reads:
        for address in addresses:
            texel = _texel(files, unit, address)
            if not texels or texels[-1] != texel:
                texels.append(texel)
    return tuple(texels)


def _texel(files: Mapping[str, Lanes], unit: TextureUnit | None, address: int) -> Texel:
    """The texel at a byte address of a texture."""
    if unit is None or "levels" not in files:
        return Texel(0, 0, address, 0, 0, address)
    rows: I32 = files["levels"].reshape(-1, _FIELDS)
    number = max((n for n, row in enumerate(rows) if row[0] <= address), default=0)
    start, pitch, slice_pitch = (int(each) for each in rows[number][:3])
    count, samples = int(files["limits"][0]), max(int(files["limits"][6]), 1)
    row = row_of(unit.key)
    z, rest = divmod(address - start, max(slice_pitch, 1))
    y, across = divmod(rest, max(pitch, 1))
    x = across // row.size
    width, height = row.block
    layer, level = divmod(number, count)
    at = start + z * slice_pitch + y * pitch + x * row.size
    return Texel(level, layer, x // samples * width, y * height, z, at)
