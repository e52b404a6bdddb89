"""Shader traces: what each instruction of a shader read and wrote in one lane.

The reference engine runs the program, and an observer follows it (``shader.observed``).  The
program's statements are grouped by the instruction of the shader that they come from
(``shader.origins``); statements of generated programs, such as the fixed function, are
instructions themselves.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from dp2emu.errors import Disagreement, Unsupported
from dp2emu.explain.engine import Run
from dp2emu.explain.register_names import Listing, RegisterNames
from dp2emu.explain.texel_reads import Texel, texels_of
from dp2emu.shader import ir
from dp2emu.shader.observed import run_observed
from dp2emu.shader.origins import Origin, Origins, origins_of
from dp2emu.shader.reference import Machine, Result
from dp2emu.shader.text import dump, line_of
from dp2emu.shader.types import Lanes, Mask, Type

MOST_STEPS = 1 << 16
"""Most steps of a trace; a longer one raises Unsupported."""
SCHEMA = 1
"""Number of the form of a trace as JSON."""


class Value(msgspec.Struct, frozen=True):
    """The value of a register component in a lane.

    ``bits`` are unsigned; ``type`` is ``f32``, ``i32``, ``bool``, ``f64`` or ``i64``: how the
    value was computed, since registers of shader model 4 and later have no type.
    """

    name: str
    bits: int
    type: str

    @property
    def number(self) -> float:
        """The value as a float, of 64 bits if it has as many."""
        wide = self.type.endswith("64")
        found: float = struct.unpack("<d", struct.pack("<Q", self.bits))[0] if wide else _f32(self)
        return found

    @property
    def integer(self) -> int:
        """The value as a signed integer."""
        width = 64 if self.type.endswith("64") else 32
        return self.bits - (self.bits >> (width - 1) << width)

    @property
    def finite(self) -> bool:
        """Whether the value is no float, or one that is neither NaN nor infinite."""
        return not self.type.startswith("f") or math.isfinite(self.number)


def _f32(value: Value) -> float:
    found: float = struct.unpack("<f", struct.pack("<I", value.bits & 0xFFFFFFFF))[0]
    return found


class Read(msgspec.Struct, frozen=True):
    """A read or write of a resource: a sample, a fetch, or an access to memory.

    ``what`` is ``sample``, ``fetch`` or ``access``, ``unit`` the number of the sampler, unit or
    memory operation, ``kind`` the kind of texture or the operation.  ``coordinates`` and
    ``arguments`` are the operands; ``lod`` says how the level is chosen.  ``texels`` are those
    that were read, in order.
    """

    what: str
    unit: int
    kind: str
    coordinates: tuple[Value, ...]
    results: tuple[Value, ...]
    lod: str = ""
    arguments: tuple[Value, ...] = ()
    texels: tuple[Texel, ...] = ()

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels of the texels that were read, each once, in ascending order."""
        return tuple(sorted({texel.level for texel in self.texels}))


class Step(msgspec.Struct, frozen=True):
    """One execution of an instruction.

    ``offset`` is its byte in the shader's code, None for a generated statement; ``line`` its line
    in the disassembly, from 0, None for one that is not part of it.  ``reads`` are
    register components with their values before, ``writes`` those that it wrote.  ``killed``: it
    discarded the pixel.
    """

    number: int
    instruction: str
    offset: int | None
    line: int | None = None
    reads: tuple[Value, ...] = ()
    writes: tuple[Value, ...] = ()
    texels: tuple[Read, ...] = ()
    killed: bool = False


class Stored(msgspec.Struct, frozen=True):
    """What the output merger left at the place of a lane.

    ``target`` is ``target0`` and so on, or ``depth``.  ``before`` and ``after`` the lane's
    primitive, and at the ``end`` of the draw, are the bytes of the pixel or sample as hexadecimal
    digits, in memory order.
    """

    target: str
    sample: int
    before: str
    after: str
    end: str


class Final(msgspec.Struct, frozen=True):
    """The end of a lane: outputs of the program, and what was stored.

    ``verdict`` is ``written`` or why nothing was.
    """

    outputs: tuple[Value, ...]
    killed: bool = False
    verdict: str = ""
    stored: tuple[Stored, ...] = ()


class ShaderTrace(msgspec.Struct, frozen=True):
    """The trace of a lane.

    ``stage`` is the shader's stage, ``lane`` says which lane it is.  ``disassembly`` are the lines
    of the shader, or of the generated program.  ``inputs`` are the inputs and constants that it
    reads at the start.
    """

    stage: str
    lane: str
    disassembly: tuple[str, ...]
    inputs: tuple[Value, ...]
    steps: tuple[Step, ...]
    final: Final

    def not_finite(self) -> Step | None:
        """The first step that writes a NaN or an infinity; None if there is none."""
        return next((s for s in self.steps if not all(w.finite for w in s.writes)), None)

    def values(self, step: int) -> dict[str, Value]:
        """The registers by name after ``step`` steps from the start."""
        found = {value.name: value for value in self.inputs}
        for done in self.steps[:step]:
            found.update((value.name, value) for value in (*done.reads, *done.writes))
        return found

    def document(self) -> dict[str, Any]:
        """The trace as data for JSON, with the number of its form, ``schema``."""
        return {"schema": SCHEMA, **msgspec.to_builtins(self)}


def scalar(name: str, lanes: Lanes, lane: int, type: str = "") -> Value:
    """The value of a lane, from lanes of shape (lanes,) or (1,)."""
    one = lanes[lane if len(lanes) > 1 else 0 : (lane if len(lanes) > 1 else 0) + 1]
    return Value(name, int.from_bytes(one.tobytes(), "little"), type or _TYPES[one.dtype])


_TYPES = {type.dtype: type.value for type in Type}


class Recorder:
    """Observer that records the steps of one lane.  Mutable."""

    def __init__(self, program: ir.Program, origins: Origins | None, lane: int) -> None:
        self._lane = lane
        self._program, self._origins = program, origins
        self._names = RegisterNames.of(program, origins)
        reads = () if origins is None else origins.builder.reads
        self._starts = {slot for each in reads for slot in ir.written(each)}
        self._fresh: set[int] = set()
        self._opening = 0
        self._loops = {id(s.body) for s in ir.walk(program.statements) if isinstance(s, ir.Loop)}
        self._floats: set[int] = set()
        self._key: object = None
        self.listing = self._listed()
        self.steps: list[Step] = []
        self.start: list[Value] = []
        self._reads: dict[str, Value] = {}
        self._writes: dict[str, Value] = {}
        self._found: list[Read] = []
        self._killed = False
        self._operands: tuple[tuple[Lanes, ...], tuple[Lanes, ...]] = ((), ())

    # Steps

    def entered(self, statements: tuple[ir.Statement, ...]) -> None:
        """Begin a new step with each iteration of a loop."""
        if id(statements) in self._loops and id(statements) != self._opening:
            self._end()
        self._opening = 0

    def before(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """Record what a statement is about to read."""
        if not self._on(active):
            return
        if isinstance(statement, ir.Loop):
            self._opening = id(statement.body)
        origin = None if self._origins is None else self._origins.record.origin(statement)
        if origin is None and self._is_set_up(statement):
            return
        if origin is None or origin is not self._key:
            self._end()
            self._key = origin or statement
        for operand in ir.operands(statement):
            if isinstance(operand, ir.Slot):
                self._read(machine, operand.number, generated=origin is None)
        if isinstance(statement, ir.Load):
            self._loaded(machine, statement)
        elif isinstance(statement, ir.Sample):
            whole = (
                map(machine.whole, each) for each in (statement.coordinates, statement.arguments)
            )
            self._operands = tuple(next(whole)), tuple(next(whole))
        elif isinstance(statement, ir.Fetch | ir.Access):
            self._operands = tuple(map(machine.whole, statement.operands)), ()
        elif isinstance(statement, ir.Kill):
            self._killed |= bool(self._value("", machine.read(statement.condition)).bits)

    def after(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """Record what a statement wrote."""
        if not self._on(active):
            return
        self._flag(statement)
        self._fresh.update(ir.written(statement))
        if self._origins is not None and self._starts.issuperset(ir.written(statement)):
            self._started(machine, statement)
        if self._key is None:
            return
        generated = not isinstance(self._key, Origin)
        for slot in ir.written(statement):
            name = self._names.of_slot(slot, generated=generated)
            if name is not None:
                self._write(self._value(name, machine.slots[slot], self._type(slot)))
        record = _RECORDS.get(type(statement))
        if record is not None:
            record(self, machine, statement)

    def _is_set_up(self, statement: ir.Statement) -> bool:
        """Whether a statement that no instruction caused belongs to the start of a shader."""
        return (
            self._origins is not None
            and self._key is None
            and not self.steps
            and not isinstance(statement, ir.Output)
        )

    def finish(self) -> None:
        """End the last step."""
        self._end()

    def _on(self, active: Mask | None) -> bool:
        return active is None or bool(active[self._lane if len(active) > 1 else 0])

    def _end(self) -> None:
        """Close the current step, if there is one."""
        key = self._key
        if key is None:
            return
        if len(self.steps) == MOST_STEPS:
            raise Unsupported(f"traces of more than {MOST_STEPS:,} steps")
        text, offset = self._text(key)
        line = self.listing.places.get(id(key) if offset is None else offset)
        self.steps.append(Step(
            len(self.steps), text, offset, line, tuple(self._reads.values()),
            tuple(self._writes.values()), tuple(self._found), self._killed,
        ))  # fmt: skip
        self._reads, self._writes, self._found = {}, {}, []
        self._key, self._killed = None, False
        self._fresh.clear()

    def _text(self, key: object) -> tuple[str, int | None]:
        if isinstance(key, Origin):
            texts = (self._names.instruction(each) for each in key.instructions)
            return "  ".join(texts), int(key.instructions[0].offset)
        return line_of(self._program, key), None  # type: ignore[arg-type]

    # Values

    def _value(self, name: str, lanes: Lanes, type: str = "") -> Value:
        return scalar(name, lanes, self._lane, type)

    def _read(self, machine: Machine, slot: int, *, generated: bool) -> None:
        copies = slot not in self._fresh or slot in self._starts
        name = self._names.of_slot(slot, generated=generated, copies=copies)
        if name is not None and name not in self._reads and name not in self._writes:
            self._reads[name] = self._value(name, machine.slots[slot], self._type(slot))

    def _write(self, value: Value) -> None:
        self._writes[value.name] = value

    def _type(self, slot: int) -> str:
        return "f32" if slot in self._floats else ""

    def _flag(self, statement: ir.Statement) -> None:
        """Note which integer slots hold the bits of floats."""
        slots = ir.written(statement)
        if isinstance(statement, ir.Assign) and statement.op in _PASSING:
            given = [o.number for o in statement.operands if isinstance(o, ir.Slot)]
            moved = any(slot in self._floats for slot in given)
            is_float = statement.op == "asint" or moved
        else:
            is_float = False
        (self._floats.update if is_float else self._floats.difference_update)(slots)

    def _loaded(self, machine: Machine, statement: ir.Load) -> None:
        """Record the register that a Load reads from a file."""
        index = int(self._value("", machine.index(statement.address)).integer)
        name = self._names.of_file(statement.file, index)
        rows = machine.files[statement.file]
        if 0 <= index < len(rows) and name not in self._reads and name not in self._writes:
            self._reads[name] = self._value(name, rows[index])

    def stored(self, machine: Machine, statement: ir.Store) -> None:
        """Record the register of a file that a Store writes."""
        index = int(self._value("", machine.index(statement.address)).integer)
        if 0 <= index < len(machine.files[statement.file]):
            operand = statement.value
            slot = operand.number if isinstance(operand, ir.Slot) else -1
            name = self._names.of_file(statement.file, index)
            self._write(self._value(name, machine.read(operand), self._type(slot)))

    def output(self, machine: Machine, statement: ir.Output) -> None:
        """Record an output."""
        slot = statement.value.number if isinstance(statement.value, ir.Slot) else -1
        lanes = machine.read(statement.value)
        self._write(self._value(statement.port, lanes, self._type(slot)))

    def resource(self, machine: Machine, statement: ir.Sample | ir.Fetch | ir.Access) -> None:
        """Record a sample, a fetch or an access to memory."""
        given, more = self._operands
        results = tuple(
            self._value(letter, machine.slots[slot])
            for letter, slot in zip("xyzw", statement.slots, strict=True)
        )
        sample = isinstance(statement, ir.Sample)
        unit = statement.sampler if isinstance(statement, ir.Sample) else statement.unit
        texels = texels_of(machine.environment, statement, given, more, self._lane)
        self._found.append(Read(
            type(statement).__name__.lower(), unit,
            self._names.of_unit(statement),
            self._all(given), results,
            statement.lod.value if sample else "",  # type: ignore[union-attr]
            self._all(more), texels,
        ))  # fmt: skip

    def _all(self, lanes: Iterable[Lanes]) -> tuple[Value, ...]:
        return tuple(self._value(str(n), each) for n, each in enumerate(lanes))

    def _started(self, machine: Machine, statement: ir.Statement) -> None:
        """Record an input or constant that the program reads at its start."""
        for slot in ir.written(statement):
            name = self._names.of_slot(slot, generated=False, copies=True)
            if name is not None:
                self.start.append(self._value(name, machine.slots[slot]))

    def _listed(self) -> Listing:
        """The lines of the shader, or of the generated program."""
        if self._origins is not None:
            return self._names.listing(self._origins.code)
        statements = ir.walk(self._program.statements)
        shown = ((id(each), line_of(self._program, each)) for each in statements)
        return Listing.of(dump(self._program).splitlines(), shown)


_PASSING = frozenset({"asint", "imov", "iselect"})
"""Operations whose I32 result can be the bits of a float."""
_RECORDS: dict[type, Callable[[Recorder, Machine, Any], None]] = {
    ir.Store: Recorder.stored,
    ir.Output: Recorder.output,
    ir.Sample: Recorder.resource,
    ir.Fetch: Recorder.resource,
    ir.Access: Recorder.resource,
}


def trace(run: Run, lane: int, named: str, stage: str) -> tuple[ShaderTrace, Result]:
    """Run a program and record what it does in ``lane``; returns the trace and all results.

    ``named`` and ``stage`` describe the lane and its shader.  Raises Disagreement if the recorded
    run and the program of the draw differ, Unsupported for more than ``MOST_STEPS`` steps, and
    what ``reference.run`` raises.
    """
    origins = origins_of(run.program)
    program = run.program if origins is None else origins.program
    recorder = Recorder(program, origins, lane)
    memory = run.environment.memory
    before = memory.saved() if memory is not None else ()
    found = run_observed(program, run.inputs, run.uniforms, run.lanes, run.environment, recorder)
    if memory is not None:
        memory.restore(before)
    result = run.result()
    _check(run.program, result, found, named)
    recorder.finish()
    types = {value.name: value.type for step in recorder.steps for value in step.writes}
    outputs = tuple(
        scalar(name, lanes, lane, types.get(name, "")) for name, lanes in result.outputs.items()
    )
    final = Final(outputs, killed=not bool(result.alive[lane]))
    lines, start = recorder.listing.lines, tuple(recorder.start)
    return ShaderTrace(stage, named, lines, start, tuple(recorder.steps), final), result


def _check(program: ir.Program, wanted: Result, found: Result, named: str) -> None:
    """Raise Disagreement if the results of two runs differ."""
    pairs = {**wanted.outputs, "alive": wanted.alive}
    others = {**found.outputs, "alive": found.alive}
    for name, lanes in pairs.items():
        other = others.get(name)
        if other is None or lanes.tobytes() != other.tobytes():
            raise Disagreement(f"{named}: output {name} of the recorded run", dump(program), 0)
