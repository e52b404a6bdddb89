"""DXBC containers: reading, writing and their hash (SM4-5 tokens, "Containers" and "Container
hash").
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.cursor import CODE_BYTES

_BLOCK = 64
_TAIL = 56
"""Maximum number of data bytes in a last block that also has room for both length words."""
_WORD = 0xFFFFFFFF
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_SINES = tuple(int(abs(math.sin(i + 1)) * (1 << 32)) for i in range(64))

_SHIFTS = tuple(
    shift
    for row in ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
    for shift in row * 4
)

_PLACES = tuple(
    (step * i + first) % 16 for step, first in ((1, 0), (5, 1), (3, 5), (7, 0)) for i in range(16)
)  # of the word that each of the 64 steps takes
_State = tuple[int, int, int, int]


def digest(data: bytes) -> bytes:
    """The 16-byte hash of a container: MD5 with nonstandard padding.

    ``data`` are the container's bytes from offset 20 on.
    """
    state: _State = _START
    whole = len(data) - len(data) % _BLOCK
    for block in struct.iter_unpack("<16I", data[:whole] + _ending(data[whole:], len(data))):
        state = _compressed(state, block)
    return struct.pack("<4I", *state)


def _ending(rest: bytes, length: int) -> bytes:
    """Pad ``rest``, the data after the last whole block, to one or two blocks for the hash.

    Two words of the padding encode ``length``, but not at the place where MD5 has it.
    """
    bits = struct.pack("<I", 8 * length & _WORD)
    odd = struct.pack("<I", 2 * length + 1 & _WORD)
    if len(rest) < _TAIL:
        return (bits + rest + b"\x80").ljust(_BLOCK - 4, b"\0") + odd
    return (rest + b"\x80").ljust(_BLOCK, b"\0") + bits + bytes(_BLOCK - 8) + odd


def _compressed(state: _State, block: tuple[int, ...]) -> _State:
    """Apply MD5's compression function to a state and a block."""
    a, b, c, d = state
    for i, (sine, shift, place) in enumerate(zip(_SINES, _SHIFTS, _PLACES, strict=True)):
        mixed = a + _mix(i // 16, b, c, d) + sine + block[place] & _WORD
        a, b, c, d = d, b + (mixed << shift | mixed >> 32 - shift) & _WORD, b, c
    p, q, r, s = state
    return a + p & _WORD, b + q & _WORD, c + r & _WORD, d + s & _WORD


def _mix(turn: int, b: int, c: int, d: int) -> int:
    if turn == 0:
        return b & c | ~b & d
    if turn == 1:
        return d & b | ~d & c
    return b ^ c ^ d if turn == 2 else c ^ (b | ~d & _WORD)


# Chunks: a program and the signatures of its inputs and outputs (SM4-5 tokens, "Containers").

MAGIC = b"DXBC"
PROGRAM_TAGS = ("SHDR", "SHEX")
LEVEL_9_TAG = "Aon9"
"""Tag of the chunk with the shader model 2 code of a shader for feature levels 9_1 to 9_3."""
EFFECT_TAG = "FX10"
_LEVEL_9 = struct.Struct("<IIII")
_HEADER = struct.Struct("<4s16sIII")
_HASHED = 20
"""Offset of the first byte of a container that the hash covers, just after the hash field."""
_CHUNK = struct.Struct("<4sI")
_VERSION = 1


class Chunk(msgspec.Struct, frozen=True):
    """A chunk of a container; ``pack`` ignores ``offset``, the position of its data."""

    tag: str
    data: bytes
    offset: int = 0


class ComponentType(IntEnum):
    """Data type of a signature element's components."""

    UNKNOWN = 0
    UINT = 1
    INT = 2
    FLOAT = 3


class Element(msgspec.Struct, frozen=True):
    """An element of a signature.

    ``system_value`` is a D3D_NAME (``SignatureName``).  ``register`` is None for vPrim, oDepth and
    oMask.  Bit 0 of a mask is x.  ``used`` is the mask of an input's components that are read, or
    of an output's components that are never written.
    """

    semantic: str
    index: int
    system_value: int
    component: ComponentType
    register: int | None
    mask: int
    used: int
    stream: int = 0
    precision: int = 0


Signature = tuple[Element, ...]


class Container(msgspec.Struct, frozen=True):
    """A container: its chunks in order, its program code, and its decoded signatures."""

    chunks: tuple[Chunk, ...]
    program: bytes
    """The code of the program from its version token on."""
    inputs: Signature = ()
    outputs: Signature = ()
    patch_constants: Signature = ()


@checked
def unpack(data: bytes, *, hashed: bool = True) -> Container:
    """Read a container.

    Raises ShaderError with the byte offset for sizes that do not fit, for a wrong hash if
    ``hashed`` is set, and for a missing program or duplicate programs and signatures; Unsupported
    for an effect.
    """
    chunks = tuple(_chunks(data, _table(data, hashed=hashed)))
    if any(chunk.tag == EFFECT_TAG for chunk in chunks):
        raise Unsupported("effects (fx_4_0)")
    programs = [chunk for chunk in chunks if chunk.tag in PROGRAM_TAGS]
    if len(programs) != 1:
        raise ShaderError(f"{len(programs)} programs in a container", offset=0)
    return Container(
        chunks,
        programs[0].data,
        _signature(chunks, INPUTS),
        _signature(chunks, OUTPUTS),
        _signature(chunks, PATCH_CONSTANTS),
    )


@checked
def pack(chunks: Iterable[Chunk]) -> bytes:
    """Write a container of chunks in order, with its hash."""
    parts = [
        _CHUNK.pack(each.tag.encode("latin-1"), len(each.data)) + each.data for each in chunks
    ]
    at = _HEADER.size + 4 * len(parts)
    offsets = []
    for part in parts:
        offsets.append(at)
        at += len(part)
    rest = struct.pack(f"<III{len(parts)}I", _VERSION, at, len(parts), *offsets)
    rest += b"".join(parts)
    return MAGIC + digest(rest) + rest


def _table(data: bytes, *, hashed: bool) -> tuple[int, ...]:
    """Check the header of a container and return the offsets of its chunks.

    Raises ShaderError.
    """
    if len(data) < _HEADER.size:
        raise ShaderError("the container ends in its header", offset=len(data))
    magic, hash, version, size, count = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise ShaderError("no DXBC container", offset=0)
    if version != _VERSION:
        raise ShaderError(f"{version} is no version of a container", offset=20)
    if size != len(data):
        raise ShaderError(f"the container has {len(data)} bytes, not {size}", offset=24)
    if size > CODE_BYTES:
        raise ShaderError(f"a container of more than {CODE_BYTES} bytes", offset=24)
    if count > (len(data) - _HEADER.size) // 4:
        raise ShaderError(f"no room for {count} chunks", offset=28)
    if hashed and digest(data[_HASHED:]) != hash:
        raise ShaderError("the hash of the container is wrong", offset=4)
    return struct.unpack_from(f"<{count}I", data, _HEADER.size)


def _chunks(data: bytes, offsets: tuple[int, ...]) -> Iterator[Chunk]:
    room = len(data)
    for place, at in enumerate(offsets):
        where = _HEADER.size + 4 * place
        if at + _CHUNK.size > len(data):
            raise ShaderError(f"no chunk at {at:#x}", offset=where)
        tag, size = _CHUNK.unpack_from(data, at)
        begin = at + _CHUNK.size
        if size > len(data) - begin:
            raise ShaderError(f"a chunk of {size} bytes goes past the end", offset=at + 4)
        room -= size
        if room < 0:
            raise ShaderError("chunks overlap", offset=where)
        yield Chunk(tag.decode("latin-1"), bytes(data[begin : begin + size]), begin)


def level_9_code(chunk: Chunk) -> bytes:
    """The shader model 2 code in a chunk ``LEVEL_9_TAG``, which begins with sizes and version.

    Raises ShaderError for a chunk that ends before its code does.
    """
    if len(chunk.data) < _LEVEL_9.size:
        raise ShaderError(f"{chunk.tag} ends in its header", offset=chunk.offset)
    _, _, size, begin = _LEVEL_9.unpack_from(chunk.data)
    if begin < _LEVEL_9.size or size > len(chunk.data) - begin:
        raise ShaderError(f"{chunk.tag} has no {size} bytes of code", offset=chunk.offset + 8)
    return chunk.data[begin : begin + size]


class Form(msgspec.Struct, frozen=True):
    """Layout of a signature's elements: whether they have a stream and a minimum precision."""

    stream: bool = False
    precision: bool = False

    @property
    def words(self) -> int:
        """Number of DWORDs of an element."""
        return 6 + self.stream + self.precision


_PLAIN, _STREAMED, _LONG = Form(), Form(stream=True), Form(stream=True, precision=True)
INPUTS = {"ISGN": _PLAIN, "ISG1": _LONG}
OUTPUTS = {"OSGN": _PLAIN, "OSG5": _STREAMED, "OSG1": _LONG}
PATCH_CONSTANTS = {"PCSG": _PLAIN, "PSG1": _LONG}
"""Layout of the elements of patch constant signatures, by tag of the chunk that holds one."""
_ELEMENTS = 8
"""Byte offset of the first element in a signature chunk; the chunk's second DWORD must have this
value."""
_NOWHERE = 0xFFFFFFFF
_NAME_BYTES = 1 << 10
"""Maximum length of a semantic name in bytes."""


def _signature(chunks: tuple[Chunk, ...], forms: Mapping[str, Form]) -> Signature:
    found = [chunk for chunk in chunks if chunk.tag in forms]
    if not found:
        return ()
    if len(found) > 1:
        raise ShaderError(f"{found[1].tag} is a second signature", offset=found[1].offset)
    return tuple(_elements(found[0], forms[found[0].tag]))


def _elements(chunk: Chunk, form: Form) -> Iterator[Element]:
    data, offset = chunk.data, chunk.offset
    if len(data) < _ELEMENTS:
        raise ShaderError(f"{chunk.tag} ends in its header", offset=offset + len(data))
    count, begin = struct.unpack_from("<II", data)
    if begin != _ELEMENTS:
        raise ShaderError(f"elements of {chunk.tag} do not begin at {begin}", offset=offset + 4)
    size = 4 * form.words
    if count > (len(data) - begin) // size:
        raise ShaderError(f"{chunk.tag} has no room for {count} elements", offset=offset)
    for at in range(begin, begin + count * size, size):
        yield _element(chunk, form, at)


def _element(chunk: Chunk, form: Form, at: int) -> Element:
    words = list(struct.unpack_from(f"<{form.words}I", chunk.data, at))
    stream = words.pop(0) if form.stream else 0
    precision = words.pop() if form.precision else 0
    name, index, system_value, component, register, masks = words
    if component > ComponentType.FLOAT:
        raise ShaderError(f"{component} is no component type", offset=chunk.offset + at)
    return Element(
        name_at(chunk, name, chunk.offset + at),
        index,
        system_value,
        ComponentType(component),
        None if register == _NOWHERE else register,
        masks & 0xF,
        masks >> 8 & 0xF,
        stream,
        precision,
    )


def name_at(chunk: Chunk, at: int, offset: int | None = None) -> str:
    """The zero-terminated string at byte ``at`` of a chunk.

    Raises ShaderError at ``offset``, the place that names it, by default the chunk.
    """
    offset = chunk.offset if offset is None else offset
    end = chunk.data.find(b"\0", at, at + _NAME_BYTES)
    if at >= len(chunk.data) or end < 0:
        raise ShaderError(f"no name at {at:#x} of {chunk.tag}", offset=offset)
    return chunk.data[at:end].decode("latin-1")
