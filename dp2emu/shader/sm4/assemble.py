"""Assembler: text to programs of Direct3D 10 and 11.

The first line is the version.  Every other line is an instruction or one of::

    dword 0x........, ...     literal tokens
    raw .. .. ..              bytes after the end of the program

``//`` and ``;`` start a remark, ``/* */`` encloses one.  Text is case-insensitive.  A line
continues while a brace is open.  The length of the program is implied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError
from dp2emu.number_text import double_bits, integer
from dp2emu.shader import assembly
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import spelling
from dp2emu.shader.sm4.declarations import FIELD, fits
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.enums import CustomClass, Precision
from dp2emu.shader.sm4.fields import VIEW_STRIDE
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Declaration, Index, Instruction, Operand, Selection, View
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import BY_NAME

_INSTRUCTION = re.compile(
    r"(?P<name>\w+)(?P<groups>(?:\([^()]*\))*)\s*"
    r"(?:\[precise\((?P<precise>[xyzw]+)\)\])?\s*(?P<operands>.*)\Z",
    re.ASCII | re.DOTALL,
)
_OPERAND = re.compile(
    r"(?P<minus>-)?\s*(?P<bar>\|)?\s*(?P<body>[^|{}]*?)\s*(?P<end>\|)?\s*"
    r"(?:\{(?P<precision>\w+)\})?\Z",
    re.ASCII,
)
_IMMEDIATE = re.compile(r"(?P<kind>[ld])\((?P<values>.*)\)\Z", re.ASCII)
_NAME = re.compile(r"(?P<name>[a-z]+)(?P<number>[0-9]{1,10})?", re.ASCII)
_LETTERS = re.compile(r"\.(?P<letters>[xyzw]{1,4})\Z", re.ASCII)
_STRIDE = re.compile(r"stride\s*=\s*(.*)\Z", re.ASCII)
_WORD_MAX, _LONG_MAX = 0xFFFFFFFF, (1 << 64) - 1
_OFFSETS = range(-8, 8)
_INDICES = 3
_BRACKETS = 2
"""Maximum nesting depth of square brackets in an operand, 2 as in cb0[x1[r0.x].y]."""
_FILES = {file.value.lower(): file for file in File}
_UNNAMED = frozenset("tapRywlmFuU")
"""Letters (of the opcode table) of operands that have no components unless the text names some."""


def instruction_of(text: str) -> Instruction:
    """Parse an instruction line.

    Raises ShaderError for syntax errors; the rules of ``decode`` are not checked.
    """
    text = " ".join(text.lower().split())
    if text.startswith("dcl_"):
        return _declaration(text + " ")
    match = _INSTRUCTION.match(text)
    if match is None:
        raise ShaderError(f"{assembly.shown(text)} is no instruction")
    head = _head(match["name"], match["groups"])
    op = head.mnemonic.op
    texts = list(_split(match["operands"], ",", "()[]")) if match["operands"] else []
    data: tuple[int, ...] = ()
    if op is Op.FCALL and texts:
        data = (spelling.read_count(texts.pop(0)),)
    letters = op.row.operands
    if len(texts) != len(letters):
        raise ShaderError(f"{op.text} has {len(letters)} operands, not {len(texts)}")
    return Instruction(
        op=op,
        operands=tuple(map(operand_of, texts, letters)),
        saturate=head.saturate,
        nonzero=head.mnemonic.nonzero,
        precise=sum(1 << spelling.COMPONENTS.index(each) for each in set(match["precise"] or "")),
        sizes=head.mnemonic.sizes,
        sync=head.mnemonic.sync,
        texel=head.texel,
        view=head.view,
        data=data,
    )


class _Head(NamedTuple):
    """The parsed start of an instruction line: mnemonic, suffixes, and groups in parentheses."""

    mnemonic: spelling.Mnemonic
    saturate: bool
    texel: tuple[int, int, int]
    view: View | None


def _head(name: str, groups: str) -> _Head:
    parts = re.findall(r"\(([^()]*)\)", groups)
    viewed = name.endswith(spelling.VIEW)
    base = name.removesuffix(spelling.VIEW)
    moved = base.endswith(spelling.TEXEL)
    base = base.removesuffix(spelling.TEXEL)
    texel = _texel(parts) if moved else (0, 0, 0)
    view = _view(parts) if viewed else None
    mnemonic = spelling.mnemonics().get(base)
    plain = spelling.mnemonics().get(base.removesuffix(spelling.SATURATE))
    saturate = mnemonic is None and plain is not None and plain.op.row.saturates
    found = plain if saturate else mnemonic
    if found is None or parts:
        raise ShaderError(f"there is no {assembly.shown(name + groups)}")
    return _Head(found, saturate, texel, view)


def _texel(parts: list[str]) -> tuple[int, int, int]:
    """Parse texel offsets, ``u,v,w``, from the first group of ``parts``, which is removed.

    ``parts`` are the contents of parentheses.  Raises ShaderError.
    """
    numbers = [integer(part.strip()) for part in parts.pop(0).split(",")] if parts else []
    found = [number for number in numbers if number is not None and number in _OFFSETS]
    if len(numbers) != len(found) or len(found) != 3:
        raise ShaderError(f"three texel offsets from {_OFFSETS[0]} to {_OFFSETS[-1]} are missing")
    u, v, w = found
    return u, v, w


def _view(parts: list[str]) -> View:
    """Parse the copied resource declaration of an instruction from the groups ``parts``.

    Removes its groups: the dimension, optionally with a stride, and the component types.
    Raises ShaderError.
    """
    if not parts:
        raise ShaderError("the dimension of the resource is missing")
    dimension, _, rest = parts.pop(0).partition(",")
    stride = _STRIDE.match(rest.strip()) if rest else None
    if rest and stride is None:
        raise ShaderError(f"{assembly.shown(rest)} is no stride")
    try:
        returns = spelling.read_returns(parts.pop(0)) if parts else None
    except ValueError:
        raise ShaderError("a resource has four types") from None
    named = spelling.member(Dimension, dimension.strip()) if dimension.strip() else None
    bytes = spelling.read_count(stride[1]) if stride else 0
    if VIEW_STRIDE.of(VIEW_STRIDE.put(bytes)) != bytes:
        raise ShaderError(f"{bytes} bytes do not fit as a stride here")
    return View(named, bytes, returns)


def _split(text: str, separator: str, brackets: str) -> Iterator[str]:
    """Split text at separators outside of ``brackets``, pairs of an opening and a closing one."""
    depth = start = 0
    for at, letter in enumerate(text):
        depth += (letter in brackets[::2]) - (letter in brackets[1::2])
        if letter == separator and not depth:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


@cache
def _patterns() -> tuple[tuple[Op, tuple[str, ...], re.Pattern[str]], ...]:
    """(opcode, field names, regular expression of the assembly text) of each declaration."""
    return tuple((op, *_pattern(op.phrase.lower())) for op in Op if op.phrase)


def _pattern(phrase: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    names, pattern = [], ""
    for place, part in enumerate(FIELD.split(phrase)):
        if place % 2:
            names.append(part)
            pattern += f"({spelling.FIELDS[part].pattern if part in spelling.FIELDS else '.+?'})"
        else:
            literal = re.escape(part).replace(r"\ ", r"\s+").replace(",", r"\s*,")
            pattern += literal
    return tuple(names), re.compile(pattern + r"\s*\Z", re.ASCII | re.DOTALL)


def _declaration(text: str) -> Instruction:
    for op, names, pattern in _patterns():
        match = pattern.match(text)
        if match is not None:
            return _declared(op, dict(zip(names, match.groups(), strict=True)))
    raise ShaderError(f"{assembly.shown(text)} is no declaration")


def _declared(op: Op, texts: dict[str, str]) -> Instruction:
    found: dict[str, Any] = {}
    operands: tuple[Operand, ...] = ()
    for name, text in texts.items():
        if name == "operand":
            operands = (operand_of(text.strip(), "D"),)
            continue
        try:
            found[spelling.FIELDS[name].name] = spelling.FIELDS[name].read(text.strip())
        except ValueError:
            raise ShaderError(f"{assembly.shown(text)} is no {name}") from None
    data = found.pop("data", ())
    if op is Op.CUSTOMDATA:
        found["custom"] = CustomClass.IMMEDIATE_CONSTANT_BUFFER
    declaration = Declaration(**found)
    if not fits(op, declaration):
        raise ShaderError(f"a number does not fit into {op.text}")
    return Instruction(op, operands, declaration=declaration, data=data)


def operand_of(text: str, letter: str) -> Operand:
    """Parse an operand; ``letter`` decides its components if the text names none.

    ``letter`` is the operand's letter in the opcode table.  Raises ShaderError.
    """
    match = _OPERAND.match(text)
    if match is None or bool(match["bar"]) != bool(match["end"]):
        raise ShaderError(f"{assembly.shown(text)} is no operand")
    precision = Precision.DEFAULT
    if match["precision"] is not None:
        if match["precision"] not in spelling.PRECISIONS:
            raise ShaderError(f"{assembly.shown(match['precision'])} is no precision")
        precision = spelling.PRECISIONS[match["precision"]]
    immediate = _IMMEDIATE.match(match["body"])
    file, indices, selection, components, words = (
        _immediate(immediate) if immediate else _register(match["body"], letter)
    )
    return Operand(
        file,
        indices,
        selection,
        components,
        negate=match["minus"] is not None,
        absolute=match["bar"] is not None,
        precision=precision,
        words=words,
    )


class _Body(NamedTuple):
    """A parsed operand without its modifiers (negation, absolute value, minimum precision)."""

    file: File
    indices: tuple[Index, ...]
    selection: Selection
    components: tuple[int, ...] = ()
    words: tuple[int, ...] = ()


def _immediate(match: re.Match[str]) -> _Body:
    texts = [part.strip() for part in match["values"].split(",")]
    long = match["kind"] == "d"
    file = File.IMMEDIATE64 if long else File.IMMEDIATE
    if len(texts) not in ((1, 2) if long else (1, 4)):
        raise ShaderError(f"{len(texts)} numbers are no immediate")
    words = tuple(
        word for text in texts for word in (_long(text) if long else (spelling.value_of(text),))
    )
    if len(texts) == 1:
        return _Body(file, (), Selection.ONE, (), words)
    return _Body(file, (), Selection.SWIZZLE, (0, 1, 2, 3), words)


def _long(text: str) -> tuple[int, int]:
    """Parse ``1.5l``, or an unsigned integer for the bits, into a low and a high word."""
    try:
        value = double_bits(text)
    except OverflowError:
        value = None
    else:
        value = integer(text) if value is None else value
    if value is None or not 0 <= value <= _LONG_MAX:
        raise ShaderError(f"{assembly.shown(text)} is no 64-bit number")
    return value & _WORD_MAX, value >> 32


def _register(text: str, letter: str) -> _Body:
    name = _NAME.match(text)
    if name is None or name["name"] not in _FILES:
        raise ShaderError(f"{assembly.shown(text)} is no register")
    file = _FILES[name["name"]]
    brackets, rest = _brackets(text[name.end() :])
    first = () if name["number"] is None else (Index(spelling.read_count(name["number"])),)
    indices = (*first, *map(_index, brackets))
    if len(indices) > _INDICES:
        raise ShaderError(f"{assembly.shown(text)} has more than {_INDICES} indices")
    letters = _LETTERS.match(rest)
    if rest and letters is None:
        raise ShaderError(f"{assembly.shown(rest)} are no components")
    chosen = [spelling.COMPONENTS.index(each) for each in letters["letters"]] if letters else []
    return _Body(file, indices, *_selection(file, letter, chosen))


def _brackets(text: str) -> tuple[list[str], str]:
    """Return the contents of all pairs of brackets, and the text without them."""
    found: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if not depth and letter != "[":
            return found, text[at:]
        depth += (letter == "[") - (letter == "]")
        if depth > _BRACKETS:
            raise ShaderError(f"{assembly.shown(text)} is indexed too often")
        if letter == "[" and depth == 1:
            start = at + 1
        if not depth:
            found.append(text[start:at].strip())
    if depth:
        raise ShaderError(f"{assembly.shown(text)} is not closed")
    return found, ""


def _index(text: str) -> Index:
    """Parse an index: ``3``, ``r0.x + 3`` or ``3 + r0.x``."""
    number, relative = 0, None
    for term in _split(text, "+", "[]"):
        if integer(term) is not None:
            number += spelling.read_count(term)
        elif relative is None:
            relative = operand_of(term, "s")
        else:
            raise ShaderError(f"[{assembly.shown(text)}] is no index")
    if number > _WORD_MAX:
        raise ShaderError(f"[{assembly.shown(text)}] is no index")
    return Index(number, relative)


def _selection(file: File, letter: str, chosen: list[int]) -> tuple[Selection, tuple[int, ...]]:
    if letter in "dDuU" and chosen:
        if sorted(set(chosen)) != chosen:
            raise ShaderError("components of a mask are out of order")
        return Selection.MASK, tuple(chosen)
    if chosen:
        if len(chosen) == 1:
            return Selection.SELECT, tuple(chosen)
        return Selection.SWIZZLE, tuple(chosen + chosen[-1:] * (4 - len(chosen)))
    return _default(file, letter)


def _default(file: File, letter: str) -> tuple[Selection, tuple[int, ...]]:
    """Selection mode and components of an operand whose text names no components."""
    if file in spelling.SCALARS and not (file in spelling.DECLARED_WITHOUT and letter == "D"):
        return Selection.ONE, ()
    if letter in _UNNAMED or file is File.NULL:
        return Selection.NONE, ()
    if letter == "D":
        full = (0, 1, 2, 3)
        return (Selection.SWIZZLE, full) if file is File.CONSTANT_BUFFER else (Selection.NONE, ())
    return (Selection.MASK if letter == "d" else Selection.SWIZZLE), (0, 1, 2, 3)


# Parser of a text

_HEAD = 8
"""Size in bytes of the two tokens that precede a program's instructions: version and length."""


@checked
def assemble(text: str, *, check: bool = True) -> bytes:
    """Assemble text into a program.

    Raises ShaderError, which names the line, for syntax errors and, if ``check`` is set, for a
    program that ``decode`` refuses.
    """
    lines = list(_joined(assembly.source_lines(text)))
    version = assembly.version_of(lines, BY_NAME)
    found = assembly.assemble_lines(lines, _words, _HEAD)
    words = version.token, _HEAD // 4 + len(found.words), *found.words
    return found.code(words, decode if check else None)


def _joined(lines: Iterator[assembly.Line]) -> Iterator[assembly.Line]:
    """Join each line that has an open brace with the lines up to its closing brace.

    A joined line has the number of its first line.
    """
    parts: list[str] = []
    begin = depth = 0
    for place, text in lines:
        begin = begin if parts else place
        parts.append(text)
        depth += text.count("{") - text.count("}")
        if depth <= 0:
            yield begin, " ".join(parts)
            parts, depth = [], 0
    if parts:
        yield begin, " ".join(parts)


def _words(text: str) -> tuple[int, ...]:
    if assembly.keyword(text) == assembly.WORDS:
        return assembly.dwords(text[len(assembly.WORDS) :])
    return instruction_words(instruction_of(text))
