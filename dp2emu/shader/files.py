"""Translation of shader files between code, containers, assembly text and quoted DWORDs.

The text of a container packs to the same bytes.  Its first line is ``dxbc``.  Each chunk begins
with ``chunk TAG``, followed by the program's assembly text or, for other chunks, by ``raw`` lines;
remarks list signatures, class linkage and the code for feature levels 9_1 to 9_3.  A container
whose layout ``pack`` cannot reproduce is written as ``raw`` lines without chunks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader import assembly, sm, sm4
from dp2emu.shader.cursor import CODE_BYTES
from dp2emu.shader.sm4.assemble import assemble
from dp2emu.shader.sm4.container import (
    INPUTS,
    LEVEL_9_TAG,
    MAGIC,
    OUTPUTS,
    PATCH_CONSTANTS,
    PROGRAM_TAGS,
    Chunk,
    Container,
    Element,
    level_9_code,
    pack,
    unpack,
)
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.disassemble import lines_of
from dp2emu.shader.sm4.enums import SignatureName
from dp2emu.shader.sm4.interfaces import INTERFACES_TAG, interfaces_in
from dp2emu.shader.sm4.spelling import COMPONENTS
from dp2emu.shader.sm4.versions import BY_NAME, Stage

CONTAINER = "dxbc"
_CHUNK = "chunk"
_TAG_BYTES = 4
_NAMES = {each.value: each.text for each in SignatureName}


def container_text(data: bytes) -> str:
    """Return the text of a container.  Raises ShaderError where ``unpack`` and ``decode`` do."""
    return "".join(line + "\n" for line in _lines(data))


def packed(text: str) -> bytes:
    """Assemble text into a container.  Raises ShaderError, which names the line."""
    lines = list(assembly.source_lines(text))
    head, parts = _parts(lines)
    source = text.split("\n")
    chunks = (_chunk(part, source) for part in parts)
    data = b"".join(map(assembly.raw_bytes, head)) if head else pack(chunks)
    try:
        unpack(data)
    except ShaderError as error:
        raise assembly.located(lines[0][0], error) from None
    return data


def _lines(data: bytes) -> Iterator[str]:
    container = unpack(data)
    program = _program_lines(container)
    yield CONTAINER
    if not _can_be_packed(container, data):
        yield from (f"// {line}" for line in program)
        yield from assembly.raw_lines(data)
        return
    for chunk in container.chunks:
        yield f"{_CHUNK} {chunk.tag}"
        if chunk.tag in PROGRAM_TAGS:
            yield from program
            continue
        told = _REMARKS.get(chunk.tag)
        remarks = _signature(container, chunk.tag) if told is None else told(chunk)
        yield from (f"    // {line}" for line in remarks)
        yield from (f"    {line}" for line in assembly.raw_lines(chunk.data))


def _can_be_packed(container: Container, data: bytes) -> bool:
    """Whether ``pack`` reproduces the same bytes from the container's chunks."""
    spelled = all(chunk.tag.isascii() and chunk.tag.isalnum() for chunk in container.chunks)
    return spelled and pack(container.chunks) == data


def _program_lines(container: Container) -> list[str]:
    """Disassemble the container's program into lines.

    Byte offsets in errors are relative to the container.
    """
    (chunk,) = (chunk for chunk in container.chunks if chunk.tag in PROGRAM_TAGS)
    try:
        return list(lines_of(decode(chunk.data)))
    except ShaderError as error:
        raise ShaderError(error.what, offset=(error.offset or 0) + chunk.offset) from None


def _level_9(chunk: Chunk) -> Iterator[str]:
    """Disassemble the code for feature levels 9_1 to 9_3, which the driver of 10 and 11 ignores.

    Byte offsets in errors are those of the chunk.
    """
    code = level_9_code(chunk)
    try:
        yield from sm.disassemble(code).splitlines()
    except ShaderError as error:
        raise ShaderError(f"{chunk.tag}: {error.what}", offset=chunk.offset) from None


def _interfaces(chunk: Chunk) -> Iterator[str]:
    """Lines with the classes, the instances and the interfaces of a chunk IFCE."""
    found = interfaces_in(chunk)
    for type in found.types:
        sizes = f"{type.constants} bytes, {type.textures} textures, {type.samplers} samplers"
        yield f"class {type.number} {assembly.shown(type.name)}: {sizes}"
    for each in found.instances:
        places = zip(("cb", "offset", "t", "s"), each[2:], strict=True)
        known = ", ".join(f"{name} {place}" for name, place in places if place is not None)
        yield f"instance {assembly.shown(each.name)} of class {each.type}: {known}"
    for slot in found.slots:
        tables = ", ".join(f"class {type} ft{table}" for type, table in slot.tables.items())
        yield f"interface fp{slot.first}[{slot.length}]: {tables}"


_REMARKS: dict[str, Callable[[Chunk], Iterator[str]]] = {
    LEVEL_9_TAG: _level_9,
    INTERFACES_TAG: _interfaces,
}
"""Functions that return the remarks on a chunk, by its tag; other chunks are signatures or have
none."""


def _signature(container: Container, tag: str) -> Iterator[str]:
    """Comments that list the elements of a signature, one a line; ``tag`` is its chunk's tag."""
    for tags, signature, used in (
        (INPUTS, container.inputs, "reads"),
        (OUTPUTS, container.outputs, "leaves out"),
        (PATCH_CONSTANTS, container.patch_constants, "uses"),
    ):
        if tag in tags:
            yield from (_element(element, used) for element in signature)


def _element(element: Element, used: str) -> str:
    """Format an element as ``COLOR1: register 2.xy float, undefined, USED .x``."""
    register = "no register" if element.register is None else f"register {element.register}"
    parts = [
        f"{assembly.shown(element.semantic)}{element.index}: {register}.{_mask(element.mask)} "
        f"{element.component.name.lower()}",
        _NAMES.get(element.system_value, str(element.system_value)),
    ]
    parts += [f"{used} .{_mask(element.used)}"] if element.used else []
    parts += [f"stream {element.stream}"] if element.stream else []
    return ", ".join(parts)


def _mask(mask: int) -> str:
    return "".join(letter for i, letter in enumerate(COMPONENTS) if mask >> i & 1)


def _parts(lines: list[assembly.Line]) -> tuple[list[assembly.Line], list[list[assembly.Line]]]:
    """Split a container's lines into those before the first chunk and those of each chunk."""
    head: list[assembly.Line] = []
    parts: list[list[assembly.Line]] = []
    for line in lines[1:]:
        if assembly.keyword(line[1]) == _CHUNK:
            parts.append([line])
        else:
            (parts[-1] if parts else head).append(line)
    if head and parts:
        raise ShaderError(f"line {parts[0][0][0]}: only raw bytes may follow raw bytes")
    return head, parts


def _chunk(part: list[assembly.Line], source: list[str]) -> Chunk:
    place, text = part[0]
    tag = text[len(_CHUNK) :].strip()
    if len(tag) != _TAG_BYTES or not tag.isascii():
        raise ShaderError(f"line {place}: {assembly.shown(tag)} is no tag of a chunk")
    if tag not in PROGRAM_TAGS:
        return Chunk(tag, b"".join(map(assembly.raw_bytes, part[1:])))
    # The lines keep their numbers, for errors that name them.
    last = part[-1][0]
    return Chunk(tag, assemble("\n" * place + "\n".join(source[place:last])))


# Files

FILE_BYTES = 1 << 24
"""Maximum size in bytes of a shader file, binary code or text."""
_SM_KINDS = (b"\xfe\xff", b"\xff\xff")
_SM4_KINDS = tuple(bytes((kind, 0)) for kind in range(len(Stage)))
"""Bytes 2 and 3 of the version tokens of shader model 4 and 5, one entry per stage."""
_WORD = re.compile(r"[^\s,;\"'{}\[\]]+")
_DWORD = re.compile(r"0x[0-9a-f]{1,8}\Z", re.IGNORECASE | re.ASCII)


def translate(data: bytes, *, as_text: bool = False) -> str | bytes:
    """Disassemble code or quoted DWORDs to text, or assemble text to code.

    The first bytes decide which it is; with ``as_text`` the data is always read as text.  Raises
    ShaderError.
    """
    disassemble = None if as_text else _disassembler(data)
    if disassemble is not None:
        return disassemble(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"neither shader code nor UTF-8 text: {error.reason}"
        raise ShaderError(what, offset=error.start) from None
    code = _quoted(text)
    if code is None:
        return _assembler(text)(text)
    return (_disassembler(code) or sm.disassemble)(code)


def _disassembler(data: bytes) -> Callable[[bytes], str] | None:
    """Return the disassembler for data, chosen by its first bytes; None if it is not code."""
    if data[:4] == MAGIC:
        return container_text
    if data[2:4] in _SM_KINDS:
        return sm.disassemble
    # Byte 1 of an SM4 version token is 0, which no text has there.
    return sm4.disassemble if data[1:2] == b"\0" and data[2:4] in _SM4_KINDS else None


def _assembler(text: str) -> Callable[[str], bytes]:
    """Return the assembler for a text, chosen by its first line."""
    _, first = next(assembly.source_lines(text), (1, "none"))
    if assembly.keyword(first) == CONTAINER:
        return packed
    return sm4.assemble if assembly.keyword(first) in BY_NAME else sm.assemble


def _quoted(text: str) -> bytes | None:
    """Return the code of a list of DWORDs such as ``{ 0xfffe0101, 0x0000ffff }``, None for other
    text.
    """
    code = bytearray()
    for word in _WORD.finditer(text):
        if not _DWORD.match(word[0]):
            return None
        code += int(word[0], 16).to_bytes(4, "little")
        if len(code) > CODE_BYTES:
            break
    return bytes(code) or None
