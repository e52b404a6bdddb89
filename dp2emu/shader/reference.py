"""The reference engine: runs programs over NumPy lanes.  Its results are the specification.

Arrays are never written in place, so straight-line code copies nothing.  A value that is uniform
across lanes has shape (1,) and costs as much as a single lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from dp2emu.cancellation import CURRENT
from dp2emu.errors import Unsupported
from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.ops import OPS, canonical
from dp2emu.shader.passes import temporaries
from dp2emu.shader.types import F32, FLOATS, I32, I64, Lanes, Mask, Type

Words = tuple[I32, I32, I32, I32]

_PIECE = 64
"""Number of statements of a long block between two polls of the token."""


class Sampler(Protocol):
    """Type of the callback that samples textures for a program."""

    def __call__(
        self,
        sampler: int,
        kind: ir.TextureKind,
        coordinates: tuple[F32, ...],
        lod: ir.Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        """Return red, green, blue and alpha, each float32 of shape (lanes,) or (1,).

        Coordinates and arguments have shape (lanes,); ``active`` None means all lanes.  Results of
        inactive lanes are ignored.
        """


class Fetcher(Protocol):
    """Type of the callback that executes the Fetch statements of a program."""

    def __call__(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """Return four words, each int32 of shape (lanes,) or (1,).

        Operands are int32 of shape (lanes,); ``active`` None means all lanes.  Results of inactive
        lanes are ignored.
        """


class Memory(Protocol):
    """Memory that the Access statements of a program read and write."""

    def access(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """Execute an access for the active lanes in ascending order.

        Operands are int32 of shape (lanes,), or all of shape (1,) if each is the same in all
        lanes.  Returns four words, each int32 of shape (lanes,) or (1,); those of inactive lanes
        are ignored.
        """

    def saved(self) -> tuple[Lanes, ...]:
        """Return a snapshot: copies of all arrays that accesses can change."""

    def restore(self, saved: tuple[Lanes, ...]) -> None:
        """Restore the contents from a snapshot that the method ``saved`` returned."""


class Watch(Protocol):
    """Type of an observer called before each load of a uniform file by a computed index."""

    def __call__(self, file: str, index: I64, active: Mask | None) -> None:
        """``index`` is int64 of shape (lanes,) or (1,); ``active`` None means all lanes."""


class Result(msgspec.Struct, frozen=True):
    """Outputs by name, each of shape (lanes,), and the mask of lanes that were active and not
    killed.

    Outputs of inactive lanes are 0 or false.  Arrays may share memory with the inputs.
    """

    outputs: dict[str, Lanes]
    alive: Mask


class Run(Protocol):
    """Signature of an engine: ``run`` of this module, or a function with identical results."""

    def __call__(
        self,
        program: ir.Program,
        inputs: Mapping[str, Lanes],
        uniforms: Mapping[str, Lanes],
        lanes: int,
        mask: Mask | None = None,
        sampler: Sampler | None = None,
        watch: Watch | None = None,
        fetcher: Fetcher | None = None,
        memory: Memory | None = None,
    ) -> Result:
        """Run a program over lanes; see ``run``."""


def run(
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    watch: Watch | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program over lanes.

    Inputs have shape (lanes,) or (1,) and the type of their port.  Uniforms have the type of their
    file and any shape; they are read in C order, and missing scalars read 0.  ``mask`` has shape
    (lanes,) and marks the active lanes; None means all.  Helper pixels, which complete quads for
    derivatives, are active; the caller drops their results.

    Raises KeyError for a missing input or file, ValueError for one of the wrong type or shape,
    Unsupported for a sample without a sampler, a fetch without a fetcher and an access without
    memory.
    """
    environment = Environment(sampler, watch, fetcher, memory)
    machine = machine_of(program, inputs, uniforms, lanes, mask, environment)
    return execute_statements(machine, program, mask, program.statements)


def execute_statements(
    machine: Machine, program: ir.Program, mask: Mask | None, statements: tuple[ir.Statement, ...]
) -> Result:
    """Execute ``statements`` in place of the program's, on a machine that ``machine_of`` made."""
    # NaN and infinity are legal values: no NumPy warnings.
    with np.errstate(all="ignore"):
        if machine.alive.any():
            machine.block(statements, None if mask is None or mask.all() else mask)
        outputs = {port.name: machine.visible(port) for port in program.outputs}
    return Result(outputs, machine.alive)


def machine_of(
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None,
    environment: Environment,
    own: Mapping[type, Execute] = MappingProxyType({}),
    kind: type[Machine] | None = None,
) -> Machine:
    """Return a Machine with the inputs, files and slots of a program, ready to run it.

    ``own`` has functions that execute additional types of statement, by type; ``kind`` is a
    subclass of Machine to make.  Raises KeyError and ValueError as ``run`` does.
    """
    check_lanes(program, lanes, mask)
    return (kind or Machine)(
        lanes=lanes,
        slots=[_ZERO[type] for type in program.slots],
        inputs={port.name: input_lanes(port, inputs[port.name], lanes) for port in program.inputs},
        files={file.name: _scalars(file, uniforms, lanes) for file in program.files},
        outputs={port.name: _ZERO[port.type] for port in program.outputs},
        alive=np.ones(lanes, np.bool_) if mask is None else mask,
        environment=environment,
        unmasked=temporaries(program),
        execute={**_EXECUTE, **own},
    )


_ZERO: dict[Type, Lanes] = {type: np.zeros(1, type.dtype) for type in Type}


@identity_cached()
def _needs_quads(program: ir.Program) -> bool:
    return any(isinstance(statement, ir.Derivative) for statement in ir.walk(program.statements))


def check_lanes(program: ir.Program, lanes: int, mask: Mask | None) -> None:
    """Check that derivatives have complete quads, and that the mask has ``lanes`` elements.

    Raises ValueError.
    """
    if mask is not None and len(mask) != lanes:
        raise ValueError(f"a mask of {len(mask)} lanes, not {lanes}")
    if lanes % 4 and _needs_quads(program):
        raise ValueError(f"{lanes} lanes are no quads")


def input_lanes(port: ir.Port, value: Lanes, lanes: int) -> Lanes:
    """Return ``value`` as the lanes of an input.  Raises ValueError for a wrong type or shape."""
    if value.dtype != port.type.dtype or value.shape not in ((lanes,), (1,)):
        raise ValueError(f"input {port.name}: {value.dtype} of shape {value.shape}")
    return value


def _scalars(file: ir.File, uniforms: Mapping[str, Lanes], lanes: int) -> Lanes:
    """Return the initial contents of a file: (scalars, 1) or, if local, (scalars, lanes)."""
    if not file.uniform:
        return np.zeros((file.size, lanes), file.type.dtype)
    return uniform(file, uniforms)[:, None]


def uniform(file: ir.File, uniforms: Mapping[str, Lanes]) -> Lanes:
    """Return the scalars of a uniform file.

    Raises KeyError if it is missing, ValueError if it has another type.
    """
    value = uniforms[file.name]
    if value.dtype != file.type.dtype:
        raise ValueError(f"file {file.name}: {value.dtype}")
    return value.reshape(-1)[: file.size]


@lru_cache(maxsize=1 << 12)
def _constant(constant: ir.Constant) -> Lanes:
    return np.array([constant.scalar])


class Environment(NamedTuple):
    """The callbacks and the memory that a program uses; each may be None."""

    sampler: Sampler | None = None
    watch: Watch | None = None
    fetcher: Fetcher | None = None
    memory: Memory | None = None


class Machine(msgspec.Struct):
    """The state of one run of a program.

    ``slots`` and ``outputs`` hold lanes; ``files`` have a row per scalar, and a column per lane or
    one for all lanes.  ``alive`` are the lanes that were not killed.  ``execute`` has the
    functions that execute those types of statement which do not change the active lanes.  Masks of
    active lanes are never empty; None means all lanes.
    """

    lanes: int
    slots: list[Lanes]
    inputs: dict[str, Lanes]
    files: dict[str, Lanes]
    outputs: dict[str, Lanes]
    alive: Mask
    environment: Environment
    unmasked: frozenset[int]
    execute: Mapping[type, Execute]

    def block(self, statements: tuple[ir.Statement, ...], active: Mask | None) -> Mask | None:
        """Execute statements in the ``active`` lanes (None: all).

        Returns the mask of the lanes that are still active, those that broke out of a loop being
        removed.
        """
        if len(statements) > _PIECE:
            return self._pieces(statements, active)
        for statement in statements:
            execute = self.execute.get(type(statement))
            if execute is not None:
                execute(self, statement, active)
                continue
            active = _NARROW[type(statement)](self, statement, active)
            if active is not None and not active.any():
                break
        return active

    def _pieces(self, statements: tuple[ir.Statement, ...], active: Mask | None) -> Mask | None:
        """Execute a long block, which may take seconds, and poll between its pieces."""
        token = CURRENT.token
        for first in range(0, len(statements), _PIECE):
            if token.word.value:
                token.check()
            active = self.block(statements[first : first + _PIECE], active)
            if active is not None and not active.any():
                break
        return active

    def read(self, operand: ir.Operand) -> Lanes:
        """Return the value of an operand, of shape (lanes,) or (1,)."""
        if isinstance(operand, ir.Constant):
            return _constant(operand)
        return self.slots[operand.number]

    def write(self, slot: int, value: Lanes, active: Mask | None) -> None:
        """Assign a slot in the active lanes; None means all."""
        if active is not None and slot not in self.unmasked:
            value = np.where(active, value, self.slots[slot])
        self.slots[slot] = value

    def write_all(
        self, slots: tuple[int, ...], values: tuple[Lanes, ...], active: Mask | None
    ) -> None:
        """Assign ``values`` to several slots in the active lanes; a mask of None means all."""
        for slot, value in zip(slots, values, strict=True):
            self.write(slot, value, active)

    def whole(self, operand: ir.Operand) -> Lanes:
        """Return the value of an operand, broadcast to shape (lanes,)."""
        return np.broadcast_to(self.read(operand), self.lanes)

    def uniform(self, operands: tuple[ir.Operand, ...]) -> bool:
        """Return whether the value of each operand has shape (1,): it is the same in all lanes."""
        return all(len(self.read(operand)) == 1 for operand in operands)

    def index(self, address: ir.Address) -> I64:
        """Return the index in its file that an address has, int64 of shape (lanes,) or (1,)."""
        if address.index is None:
            return np.full(1, address.offset, np.int64)
        index: I64 = self.read(address.index).astype(np.int64)
        return index * address.stride + address.offset

    def visible(self, port: ir.Port) -> Lanes:
        """Return an output as callers see it: shape (lanes,), NaNs canonical."""
        value = self.outputs[port.name]
        if port.type in FLOATS:
            value = canonical(value)
        return value if len(value) == self.lanes else np.repeat(value, self.lanes)


Execute = Callable[[Machine, Any, Mask | None], None]
"""Type of a function (machine, statement, mask of active lanes or None for all) that executes a
statement."""


def _take(machine: Machine, statement: ir.Input, active: Mask | None) -> None:
    machine.write(statement.slot, machine.inputs[statement.port], active)


def _output(machine: Machine, statement: ir.Output, active: Mask | None) -> None:
    value = machine.read(statement.value)
    if active is not None:
        value = np.where(active, value, machine.outputs[statement.port])
    machine.outputs[statement.port] = value


def _assign(machine: Machine, statement: ir.Assign, active: Mask | None) -> None:
    value = OPS[statement.op].lanes(*map(machine.read, statement.operands))
    machine.write(statement.slot, value, active)


def _load(machine: Machine, statement: ir.Load, active: Mask | None) -> None:
    rows, address = machine.files[statement.file], statement.address
    if address.index is None and 0 <= address.offset < len(rows):
        # A copy: stores write rows in place, slots must not change with them.
        value = rows[address.offset].copy()
    else:
        index = machine.index(address)
        if machine.environment.watch is not None:
            machine.environment.watch(statement.file, index, active)
        value = _gather(rows, index)
    machine.write(statement.slot, value, active)


def _gather(rows: Lanes, index: I64) -> Lanes:
    """Load a scalar per lane from row ``index`` of a file; 0 out of range.

    A lane reads its own column, or the only column of a file that all lanes share.
    """
    inside = (index >= 0) & (index < len(rows))
    if not inside.any():
        return np.zeros(1, rows.dtype)
    # A uniform file has a single column, with which the index broadcasts.
    found: Lanes = rows[np.where(inside, index, 0), np.arange(rows.shape[1])]
    return np.where(inside, found, np.zeros(1, rows.dtype))


def _store(machine: Machine, statement: ir.Store, active: Mask | None) -> None:
    rows = machine.files[statement.file]
    index = machine.index(statement.address)
    stored = _within((index >= 0) & (index < len(rows)), active)
    lane = np.flatnonzero(np.broadcast_to(stored, machine.lanes))
    place = np.broadcast_to(index, machine.lanes)[lane]
    rows[place, lane] = machine.whole(statement.value)[lane]


_DIFFERENCES: dict[ir.Axis, Callable[[F32], F32]] = {
    ir.Axis.X: lambda quads: quads[:, :, -1:] - quads[:, :, :1],
    ir.Axis.Y: lambda quads: quads[:, -1:, :] - quads[:, :1, :],
    ir.Axis.X_COARSE: lambda quads: quads[:, :1, -1:] - quads[:, :1, :1],
    ir.Axis.Y_COARSE: lambda quads: quads[:, -1:, :1] - quads[:, :1, :1],
}
"""Functions that compute a derivative, by axis.  Argument and result have shape (quads, rows,
columns); rows and columns of the result are 2, or 1 where equal for all."""


def _derivative(machine: Machine, statement: ir.Derivative, active: Mask | None) -> None:
    value = machine.read(statement.value)
    quads = value.reshape(-1, 2, 2) if len(value) > 1 else value.reshape(1, 1, 1)
    difference = _DIFFERENCES[statement.axis](quads)
    result = np.broadcast_to(difference, quads.shape).reshape(-1)
    machine.write(statement.slot, result, active)


def _sample(machine: Machine, statement: ir.Sample, active: Mask | None) -> None:
    sampler = machine.environment.sampler
    if sampler is None:
        raise Unsupported("texture sampling")
    coordinates = tuple(map(machine.whole, statement.coordinates))
    arguments = tuple(map(machine.whole, statement.arguments))
    number, kind, lod = statement.sampler, statement.kind, statement.lod
    texels = sampler(number, kind, coordinates, lod, arguments, active)
    machine.write_all(statement.slots, texels, active)


def _fetch(machine: Machine, statement: ir.Fetch, active: Mask | None) -> None:
    if machine.environment.fetcher is None:
        raise Unsupported("fetches")
    operands = tuple(map(machine.whole, statement.operands))
    words = machine.environment.fetcher(statement.unit, operands, active)
    if active is None and machine.uniform(statement.operands):
        # What every lane asks alike is answered alike.
        words = words[0][:1], words[1][:1], words[2][:1], words[3][:1]
    machine.write_all(statement.slots, words, active)


def _access(machine: Machine, statement: ir.Access, active: Mask | None) -> None:
    if machine.environment.memory is None:
        raise Unsupported("accesses to memory")
    same = machine.uniform(statement.operands)
    operands = tuple(map(machine.read if same else machine.whole, statement.operands))
    words = machine.environment.memory.access(statement.unit, operands, active)
    machine.write_all(statement.slots, words, active)


def _kill(machine: Machine, statement: ir.Kill, active: Mask | None) -> None:
    machine.alive = machine.alive & ~_within(machine.read(statement.condition), active)


def _if(machine: Machine, statement: ir.If, active: Mask | None) -> Mask | None:
    condition = machine.read(statement.condition)
    taken, other = (_within(chosen, active) for chosen in (condition, ~condition))
    if not other.any():
        return machine.block(statement.then, active)
    if not taken.any():
        return machine.block(statement.otherwise, active)
    left = machine.block(statement.then, taken), machine.block(statement.otherwise, other)
    # Neither branch had a Break: the mask is unchanged.
    if left[0] is taken and left[1] is other:
        return active
    assert left[0] is not None and left[1] is not None
    return left[0] | left[1]


def _within(chosen: Mask, active: Mask | None) -> Mask:
    return chosen if active is None else chosen & active


def _loop(machine: Machine, statement: ir.Loop, active: Mask | None) -> Mask | None:
    inside, token = active, CURRENT.token
    for _ in range(statement.limit):
        if token.word.value:
            token.check()
        inside = machine.block(statement.body, inside)
        if inside is not None and not inside.any():
            break
    return active


_NO_LANE: Mask = np.zeros(1, np.bool_)
"""The mask of the active lanes after all have left a loop together."""


def _break(machine: Machine, statement: ir.Break, active: Mask | None) -> Mask | None:
    leaving = machine.read(statement.condition)
    if not leaving.any():
        return active
    if active is None and len(leaving) == 1:
        return _NO_LANE
    return np.broadcast_to(_within(~leaving, active), machine.lanes)


_EXECUTE: dict[type, Execute] = {
    ir.Input: _take,
    ir.Output: _output,
    ir.Assign: _assign,
    ir.Load: _load,
    ir.Store: _store,
    ir.Derivative: _derivative,
    ir.Sample: _sample,
    ir.Fetch: _fetch,
    ir.Access: _access,
    ir.Kill: _kill,
}
_NARROW: dict[type[ir.Statement], Callable[[Machine, Any, Mask | None], Mask | None]] = {
    ir.If: _if,
    ir.Loop: _loop,
    ir.Break: _break,
}
