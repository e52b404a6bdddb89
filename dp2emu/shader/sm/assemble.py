"""Assembler: text to shader code of Direct3D 8 and 9.

The first line is the version.  Every other line is an instruction or one of::

    dword 0x........, ...     literal tokens
    comment N                 token of a comment, whose N DWORDs follow as dword lines
    raw .. .. ..              bytes after the end token, which is implied

``//`` and ``;`` start a remark, ``/* */`` encloses one.  Text is case-insensitive; components may
be named x, y, z, w or r, g, b, a.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from dp2emu.argument_check import checked
from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.number_text import float_bits, integer
from dp2emu.shader import assembly
from dp2emu.shader.sm.decode import decode, has_usage
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.fields import COMMENT_LENGTH, COMMENT_OPCODE, END
from dp2emu.shader.sm.modifiers import (
    BY_SPELLING,
    MODIFIER_ALIASES,
    RESULT_SUFFIXES,
    SHIFT_SUFFIXES,
    Comparison,
    ResultModifier,
    Sampling,
    TextureType,
)
from dp2emu.shader.sm.opcodes import Control, Op
from dp2emu.shader.sm.program import (
    FULL_MASK,
    IDENTITY,
    Declaration,
    Destination,
    Instruction,
    Relative,
    Source,
    Swizzle,
)
from dp2emu.shader.sm.registers import File, Register, exists, named
from dp2emu.shader.sm.versions import BY_NAME, Version

COMPONENTS = "xyzw"
COLORS = "rgba"
COMMENT = "comment"
"""Keyword of the assembly line that begins a comment token."""
_SAMPLING_SUFFIXES = {Sampling.PLAIN: "", Sampling.PROJECT: "p", Sampling.BIAS: "b"}


class Mnemonic(NamedTuple):
    """An opcode together with its control bits, which share one mnemonic."""

    op: Op
    comparison: Comparison | None = None
    sampling: Sampling = Sampling.PLAIN


@cache
def mnemonics(version: Version) -> Mapping[str, Mnemonic]:
    """Every mnemonic of a version, without flags: ``mad``, ``if_gt``, ``texldp``."""
    return MappingProxyType({name: each for op in Op for name, each in _of(op, version)})


@cache
def spellings(version: Version) -> Mapping[Mnemonic, str]:
    """The mnemonic text of each opcode with control bits: the inverse of ``mnemonics``."""
    return MappingProxyType({each: name for name, each in mnemonics(version).items()})


def _of(op: Op, version: Version) -> Iterator[tuple[str, Mnemonic]]:
    form = op.row.form(version)
    if form is None:
        return
    if op.row.control is Control.COMPARISON:
        for comparison in Comparison:
            yield f"{form.name}_{comparison.name.lower()}", Mnemonic(op, comparison)
    elif op.row.control is Control.SAMPLING and version.has_lengths:
        for sampling, suffix in _SAMPLING_SUFFIXES.items():
            yield form.name + suffix, Mnemonic(op, sampling=sampling)
    else:
        yield form.name, Mnemonic(op)


# Parser of a line

_INSTRUCTION = re.compile(
    r"(?P<pair>\+)?\s*(?:\((?P<predicate>[^()]*)\)\s*)?(?P<mnemonic>\w+)\s*(?P<operands>.*)\Z",
    re.ASCII,
)
_OPERAND = re.compile(
    r"(?P<before>1\s*-|-|!)?\s*(?P<name>[a-z]+[0-9]*)\s*(?:\[(?P<index>[^\[\]]*)\])?"
    r"(?P<tail>(?:[._][a-z0-9]+)*)\Z",
    re.ASCII,
)
_TAIL = re.compile(r"([._])([a-z0-9]+)", re.ASCII)
_USAGE = re.compile(r"([a-z]+)([0-9]{0,2})\Z", re.ASCII)
_WHOLE = re.compile(r"-?[0-9]{1,64}\Z", re.ASCII)
_DWORD_MAX = 0xFFFFFFFF
_USAGES = {usage.name.lower(): usage for usage in DeclUsage}
_USAGE_INDEX_MAX = 15
_TEXTURES = {"": TextureType.D3DSTT_UNKNOWN} | {
    type.suffix: type for type in TextureType if type is not TextureType.D3DSTT_UNKNOWN
}


class _Operand(NamedTuple):
    """A parsed source or destination operand.

    ``before`` and ``after`` are the texts of modifiers before and after the register,
    ``components`` is the text of the mask or swizzle.
    """

    before: str
    register: Register
    relative: Relative | None
    after: str
    components: str


class _Suffixes(NamedTuple):
    """Suffixes of a mnemonic: result modifiers, result shift, ``others`` such as a usage."""

    modifiers: ResultModifier
    shift: int
    others: tuple[str, ...]


def instruction_of(text: str, version: Version) -> Instruction:
    """Parse an instruction line.

    Raises ShaderError for syntax errors; the rules of ``decode`` are not checked.
    """
    match = _INSTRUCTION.match(text.strip().lower())
    if match is None:
        raise ShaderError(f"{assembly.shown(text)} is no instruction")
    mnemonic, suffixes = _mnemonic(match["mnemonic"], version)
    row = mnemonic.op.row
    form = row.form(version)
    assert form is not None
    texts = [part.strip() for part in match["operands"].split(",")] if match["operands"] else []
    least = bool(form.destination) + len(form.sources) + row.raw
    if len(texts) not in (least, least + len(form.optional)):
        raise ShaderError(f"{form.name} has {least} operands, not {len(texts)}")
    written, rest = (texts[:1], texts[1:]) if form.destination else ([], texts)
    destination = _destination(written[0], suffixes, version) if written else None
    predicate = match["predicate"]
    return Instruction(
        op=mnemonic.op,
        destination=destination,
        sources=() if row.raw else tuple(_source(each, version) for each in rest),
        predicate=None if predicate is None else _source(predicate.strip(), version),
        comparison=mnemonic.comparison,
        sampling=mnemonic.sampling,
        coissue=match["pair"] is not None,
        constant=tuple(map(_CONSTANTS[mnemonic.op], rest)) if row.raw else (),
        declaration=_declaration(mnemonic.op, suffixes, destination, version),
    )


def _mnemonic(text: str, version: Version) -> tuple[Mnemonic, _Suffixes]:
    """Split a mnemonic from its suffixes; ``setp_gt_pp`` is setp_gt with a suffix.

    The longest known mnemonic wins.
    """
    parts = text.split("_")
    for taken in (2, 1):
        found = mnemonics(version).get("_".join(parts[:taken]))
        if found is not None:
            return found, _suffixes(found.op, parts[taken:])
    raise ShaderError(f"{version.name} has no {assembly.shown(text)}")


def _suffixes(op: Op, parts: list[str]) -> _Suffixes:
    modifiers, shift, others = ResultModifier(0), 0, []
    for part in parts:
        if part in RESULT_SUFFIXES:
            modifiers |= RESULT_SUFFIXES[part]
        elif part in SHIFT_SUFFIXES and op is not Op.DCL:
            shift = SHIFT_SUFFIXES[part]
        else:
            others.append(part)
    if others and op is not Op.DCL:
        raise ShaderError(f"no suffix {assembly.shown('_' + others[0])} is known")
    return _Suffixes(modifiers, shift, tuple(others))


def _declaration(
    op: Op, suffixes: _Suffixes, destination: Destination | None, version: Version
) -> Declaration | None:
    if destination is None:
        if suffixes.modifiers or suffixes.shift:
            raise ShaderError("without a destination there are no flags")
        return None
    if op is not Op.DCL:
        return None
    register = destination.register
    if len(suffixes.others) > 1:
        raise ShaderError(f"{register} is declared as two things")
    text = suffixes.others[0] if suffixes.others else ""
    if register.file is File.SAMPLER:
        if text not in _TEXTURES:
            raise ShaderError(f"{assembly.shown(text)} is no texture type")
        return Declaration(texture=_TEXTURES[text])
    if not has_usage(version, register):
        if text:
            raise ShaderError(f"{register} is declared without a usage in {version.name}")
        return Declaration()
    return _usage(text)


def _usage(text: str) -> Declaration:
    match = _USAGE.match(text)
    if match is None or match[1] not in _USAGES or int(match[2] or 0) > _USAGE_INDEX_MAX:
        raise ShaderError(f"{assembly.shown(text)} is no usage")
    return Declaration(_USAGES[match[1]], int(match[2] or 0))


def _destination(text: str, suffixes: _Suffixes, version: Version) -> Destination:
    operand = _operand(text, version)
    if operand.before or operand.after:
        raise ShaderError(f"{assembly.shown(text)} has a modifier and cannot be written")
    mask = _mask(operand.components)
    return Destination(
        operand.register, mask, suffixes.modifiers, suffixes.shift, operand.relative
    )


def _source(text: str, version: Version) -> Source:
    operand = _operand(text, version)
    spelling = operand.before, operand.after
    if spelling not in BY_SPELLING:
        raise ShaderError(f"{assembly.shown(text)} has modifiers that exclude each other")
    swizzle = _swizzle(operand.components)
    return Source(operand.register, swizzle, BY_SPELLING[spelling], operand.relative)


def _operand(text: str, version: Version) -> _Operand:
    match = _OPERAND.match(text)
    if match is None:
        raise ShaderError(f"{assembly.shown(text)} is no operand")
    register, relative = _register(match["name"], match["index"], version)
    tail = _TAIL.findall(match["tail"])
    components = "".join(part for mark, part in tail if mark == ".")
    after = "".join(mark + part for mark, part in tail if mark == "_")
    if len(tail) > bool(components) + bool(after):
        raise ShaderError(f"{assembly.shown(text)} has two swizzles or modifiers")
    before = "".join((match["before"] or "").split())
    return _Operand(before, register, relative, MODIFIER_ALIASES.get(after, after), components)


def _register(name: str, index: str | None, version: Version) -> tuple[Register, Relative | None]:
    """Parse a register: ``c4``, ``c[4]``, with an index ``c[a0.x + 4]`` or ``c4[a0.x]``."""
    numbered = name[-1].isdigit() or index is None
    register = _existing(name if numbered else f"{name}0", version)
    if index is None:
        return register, None
    terms = [term.strip() for term in index.split("+")]
    numbers = [int(term) for term in terms if _WHOLE.match(term)]
    names = [term for term in terms if not _WHOLE.match(term)]
    if len(numbers) > 1 or len(names) > 1:
        raise ShaderError(f"[{assembly.shown(index)}] is no index")
    register = _existing(f"{register.file.value}{register.number + sum(numbers)}", version)
    return register, _relative(names[0], version) if names else None


def _relative(text: str, version: Version) -> Relative:
    name, dot, component = text.partition(".")
    register = _existing(name.strip(), version)
    if not dot and register.file is not File.ADDR:
        return Relative(register)
    at = COMPONENTS.find(component or "x")
    if len(component) > 1 or at < 0 or register.file is not File.ADDR:
        raise ShaderError(f"{assembly.shown(text)} is no index")
    if at and not version.has_lengths:
        raise ShaderError(f"{version.name} indexes with a0.x only")
    return Relative(register, at)


def _existing(name: str, version: Version) -> Register:
    register = named(name)
    if register is None or not exists(version, register):
        raise ShaderError(f"{version.name} has no {assembly.shown(name)}")
    return register


def _letters(text: str) -> list[int]:
    for letters in (COMPONENTS, COLORS):
        if 0 < len(text) <= len(letters) and set(text) <= set(letters):
            return [letters.index(letter) for letter in text]
    raise ShaderError(f".{assembly.shown(text)} are no components")


def _swizzle(text: str) -> Swizzle:
    """Parse a swizzle; one with fewer than four components repeats its last one."""
    if not text:
        return IDENTITY
    read = _letters(text)
    x, y, z, w = read + read[-1:] * (len(IDENTITY) - len(read))
    return x, y, z, w


def _mask(text: str) -> int:
    if not text:
        return FULL_MASK
    written = _letters(text)
    if sorted(set(written)) != written:
        raise ShaderError(f".{text} is no mask: components are out of order")
    return sum(1 << component for component in written)


def _float(text: str) -> int:
    """Bits of a float literal; integers and an ``f`` suffix are accepted."""
    digits = text.removeprefix("+")
    for spelled in (digits, digits.removesuffix("f")):
        try:
            bits = float_bits(f"{spelled}.0" if _WHOLE.match(spelled) else spelled)
        except OverflowError:
            break
        if bits is not None:
            return bits
    raise ShaderError(f"{assembly.shown(text)} is no float")


def _integer(text: str) -> int:
    value = integer(text.removeprefix("+"))
    if value is None or not -(1 << 31) <= value <= _DWORD_MAX:
        raise ShaderError(f"{assembly.shown(text)} is no 32-bit integer")
    return value & _DWORD_MAX


def _truth(text: str) -> int:
    return _TRUTHS[text] if text in _TRUTHS else _integer(text)


_TRUTHS = {"false": 0, "true": 1}
_CONSTANTS: dict[Op, Callable[[str], int]] = {Op.DEF: _float, Op.DEFI: _integer, Op.DEFB: _truth}
"""Functions that parse a constant of def, defi or defb into a DWORD, by opcode."""


# Parser of a text

_COMMENT_MAX = (1 << COMMENT_LENGTH.width) - 1


@checked
def assemble(text: str, *, check: bool = True) -> bytes:
    """Assemble text into code.

    Raises ShaderError, which names the line, for syntax errors and, if ``check`` is set, for code
    that ``decode`` refuses.
    """
    lines = list(assembly.source_lines(text))
    # DirectX 8 wrote vs.1.1 for vs_1_1.
    version = assembly.version_of(lines, BY_NAME, lambda text: text.lower().replace(".", "_"))
    found = assembly.assemble_lines(lines, lambda line: _words(line, version), begin=4)
    return found.code((version.token, *found.words, END), decode if check else None)


def _words(text: str, version: Version) -> tuple[int, ...]:
    read = _DIRECTIVES.get(assembly.keyword(text))
    if read is None:
        return instruction_words(instruction_of(text, version), version)
    return read(text[len(assembly.keyword(text)) :])


def _comment(text: str) -> tuple[int, ...]:
    return (COMMENT_OPCODE | COMMENT_LENGTH.put(assembly.number(text.strip(), _COMMENT_MAX)),)


_DIRECTIVES: dict[str, Callable[[str], tuple[int, ...]]] = {
    assembly.WORDS: assembly.dwords,
    COMMENT: _comment,
}
