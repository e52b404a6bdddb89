"""Parser of program text: ``parse(dump(p)) == p`` for every program."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import TypeVar

import msgspec

from dp2emu.shader import ir
from dp2emu.shader.types import Type
from dp2emu.shader.verify import verify

_SLOT = re.compile(r"([fibdl])(\d{1,9})")
_INTEGER = re.compile(r"-?\d{1,10}")
_LONG = re.compile(r"(-?\d{1,19})l")
_FLOAT = re.compile(r"(-?(?:\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan))(d?)")
_BITS = re.compile(r"f32:([0-9a-f]{8})|f64:([0-9a-f]{16})")
_PLACE = re.compile(r"([^\[\]]+)\[(-?\d{1,10})(?:\+(\d{1,10})\*([^\[\]]+))?\]")

Words = list[str]


def parse(text: str) -> ir.Program:
    """Parse and verify a program.  Raises ProgramError with the number of the line, from 1."""
    parser = _Parser()
    try:
        for parser.number, line in enumerate(text.splitlines(), 1):
            if words := line.partition(";")[0].split():
                parser.line(words)
        program = parser.program()
    except ir.ProgramError as error:
        raise ir.ProgramError(f"line {parser.number}: {error}") from None
    verify(program)
    return program


class _Frame(msgspec.Struct):
    """A block being parsed; ``then`` holds the first branch after an ``else``."""

    opening: str
    condition: ir.Operand | None = None
    limit: int = 0
    statements: list[ir.Statement] = msgspec.field(default_factory=list)
    then: list[ir.Statement] | None = None

    def close(self) -> ir.Statement:
        inside = tuple(self.statements)
        if self.condition is None:
            return ir.Loop(inside, self.limit)
        if self.then is None:
            return ir.If(self.condition, inside)
        return ir.If(self.condition, tuple(self.then), inside)


class _Parser(msgspec.Struct):
    """Parser state: the line's number, declarations so far, and the stack of open blocks."""

    number: int = 0
    stage: ir.Stage | None = None
    slots: tuple[Type, ...] | None = None
    files: list[ir.File] = msgspec.field(default_factory=list)
    inputs: list[ir.Port] = msgspec.field(default_factory=list)
    outputs: list[ir.Port] = msgspec.field(default_factory=list)
    frames: list[_Frame] = msgspec.field(default_factory=lambda: [_Frame("program")])

    def line(self, words: Words) -> None:
        if self.stage is None:
            self.stage = _member(ir.Stage, _only(words, 1)[0])
        elif self.slots is None:
            _entry(_DECLARATIONS, words[0])(self, words)
        elif words[0] in _BLOCKS:
            _BLOCKS[words[0]](self, words)
        else:
            self.frames[-1].statements.append(self.statement(words))

    def statement(self, words: Words) -> ir.Statement:
        if "=" not in words:
            return _entry(_ACTIONS, words[0])(self, words[1:])
        sign = words.index("=")
        targets = [self.slot(word) for word in words[:sign]]
        if len(words) == sign + 1:
            raise ir.ProgramError("nothing after =")
        name, rest = words[sign + 1], words[sign + 2 :]
        if name in _RESULTS:
            return _RESULTS[name](self, targets, rest)
        return ir.Assign(_target(targets), name, tuple(map(self.operand, rest)))

    def program(self) -> ir.Program:
        if self.stage is None or self.slots is None:
            raise ir.ProgramError("no " + ("stage" if self.stage is None else "slots"))
        if len(self.frames) > 1:
            raise ir.ProgramError(f"{self.frames[-1].opening} without end")
        return ir.Program(
            self.stage,
            self.slots,
            tuple(self.files),
            tuple(self.inputs),
            tuple(self.outputs),
            tuple(self.frames[0].statements),
        )

    def slot(self, word: str) -> int:
        match = _SLOT.fullmatch(word)
        slots = self.slots or ()
        if not match or int(match[2]) >= len(slots) or slots[int(match[2])].letter != match[1]:
            raise ir.ProgramError(f"no slot {word}")
        return int(match[2])

    def operand(self, word: str) -> ir.Operand:
        if _SLOT.fullmatch(word):
            return ir.Slot(self.slot(word))
        if word in ("true", "false"):
            return ir.Constant.of(Type.BOOL, word == "true")
        if match := _BITS.fullmatch(word):
            return ir.Constant(Type.F32 if match[1] else Type.F64, int(match[1] or match[2], 16))
        if _INTEGER.fullmatch(word):
            return ir.Constant.of(Type.I32, _within(int(word), 32))
        if match := _LONG.fullmatch(word):
            return ir.Constant.of(Type.I64, _within(int(match[1]), 64))
        if match := _FLOAT.fullmatch(word):
            return ir.Constant.of(Type.F64 if match[2] else Type.F32, float(match[1]))
        raise ir.ProgramError(f"{word} is no operand")

    def place(self, word: str) -> tuple[str, ir.Address]:
        match = _PLACE.fullmatch(word)
        if not match:
            raise ir.ProgramError(f"{word} is no place in a file")
        file, offset, stride, index = match.groups()
        if index is None:
            return file, ir.Address(int(offset))
        return file, ir.Address(int(offset), self.operand(index), int(stride))


def _declare_port(parser: _Parser, words: Words) -> None:
    word, name, type = _only(words, 3)
    ports = parser.inputs if word == "input" else parser.outputs
    ports.append(ir.Port(name, _member(Type, type)))


def _declare_file(parser: _Parser, words: Words) -> None:
    word, name, type, size = _only(words, 4)
    parser.files.append(ir.File(name, _member(Type, type), _integer(size), word == "uniform"))


def _declare_slots(parser: _Parser, words: Words) -> None:
    letters = "".join(words[1:])
    parser.slots = tuple(_entry(_LETTERS, letter) for letter in letters)


def _open_if(parser: _Parser, words: Words) -> None:
    parser.frames.append(_Frame("if", parser.operand(_only(words, 2)[1])))


def _open_loop(parser: _Parser, words: Words) -> None:
    parser.frames.append(_Frame("loop", limit=_integer(_only(words, 2)[1])))


def _else(parser: _Parser, words: Words) -> None:
    _only(words, 1)
    frame = parser.frames[-1]
    if frame.condition is None or frame.then is not None:
        raise ir.ProgramError("else without if")
    frame.then, frame.statements = frame.statements, []


def _end(parser: _Parser, words: Words) -> None:
    _only(words, 1)
    if len(parser.frames) == 1:
        raise ir.ProgramError("end of nothing")
    statement = parser.frames.pop().close()
    parser.frames[-1].statements.append(statement)


Result = Callable[[_Parser, list[int], Words], ir.Statement]
"""Parses a statement with result slots, from the words after its name."""


def _output(parser: _Parser, words: Words) -> ir.Statement:
    port, value = _only(words, 2)
    return ir.Output(port, parser.operand(value))


def _store(parser: _Parser, words: Words) -> ir.Statement:
    place, value = _only(words, 2)
    return ir.Store(*parser.place(place), parser.operand(value))


def _derivative(axis: ir.Axis) -> Result:
    return lambda parser, targets, words: ir.Derivative(
        _target(targets), axis, parser.operand(_only(words, 1)[0])
    )


def _sample(parser: _Parser, targets: list[int], words: Words) -> ir.Statement:
    if len(targets) != 4 or len(words) < 3:
        raise ir.ProgramError("a sample has four results, a kind, a sampler and coordinates")
    red, green, blue, alpha = targets
    kind = _member(ir.TextureKind, words[0])
    last = 2 + kind.coordinates
    if len(words) <= last:
        raise ir.ProgramError(f"a sample of {kind.value} has {kind.coordinates} coordinates")
    return ir.Sample(
        (red, green, blue, alpha),
        _integer(words[1]),
        kind,
        tuple(map(parser.operand, words[2:last])),
        _member(ir.Lod, words[last]),
        tuple(map(parser.operand, words[last + 1 :])),
    )


def _four_words(kind: type[ir.Fetch | ir.Access]) -> Result:
    def read(parser: _Parser, targets: list[int], words: Words) -> ir.Statement:
        if len(targets) != 4 or not words:
            raise ir.ProgramError("four results and a unit expected")
        first, second, third, fourth = targets
        operands = tuple(map(parser.operand, words[1:]))
        return kind((first, second, third, fourth), _integer(words[0]), operands)

    return read


def _only(words: Words, count: int) -> Words:
    if len(words) != count:
        raise ir.ProgramError(f"{count} word{'s' * (count > 1)} expected, not {len(words)}")
    return words


def _target(targets: list[int]) -> int:
    if len(targets) != 1:
        raise ir.ProgramError("one result expected")
    return targets[0]


def _integer(word: str) -> int:
    if not _INTEGER.fullmatch(word):
        raise ir.ProgramError(f"{word} is no number")
    return int(word)


def _within(number: int, bits: int) -> int:
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise ir.ProgramError(f"{number} has more than {bits} bits")
    return number


Found = TypeVar("Found")
Chosen = TypeVar("Chosen", bound=Enum)


def _entry(table: dict[str, Found], word: str) -> Found:
    if word not in table:
        raise ir.ProgramError(f"{word} where one of {', '.join(table)} is expected")
    return table[word]


def _member(kind: type[Chosen], word: str) -> Chosen:
    return _entry({each.value: each for each in kind}, word)


_LETTERS = {type.letter: type for type in Type}
_DECLARATIONS: dict[str, Callable[[_Parser, Words], None]] = {
    "input": _declare_port,
    "output": _declare_port,
    "uniform": _declare_file,
    "local": _declare_file,
    "slots": _declare_slots,
}
_BLOCKS: dict[str, Callable[[_Parser, Words], None]] = {
    "if": _open_if,
    "else": _else,
    "loop": _open_loop,
    "end": _end,
}
_ACTIONS: dict[str, Callable[[_Parser, Words], ir.Statement]] = {
    "output": _output,
    "store": _store,
    "break": lambda parser, words: ir.Break(parser.operand(_only(words, 1)[0])),
    "kill": lambda parser, words: ir.Kill(parser.operand(_only(words, 1)[0])),
}
_RESULTS: dict[str, Result] = {
    "input": lambda parser, targets, words: ir.Input(_target(targets), _only(words, 1)[0]),
    "load": lambda parser, targets, words: ir.Load(
        _target(targets), *parser.place(_only(words, 1)[0])
    ),
    "sample": _sample,
    "fetch": _four_words(ir.Fetch),
    "access": _four_words(ir.Access),
    **{axis.value: _derivative(axis) for axis in ir.Axis},
}
