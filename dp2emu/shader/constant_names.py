"""Names of shader constants, which compilers store beside the code.

Shaders of Direct3D 9 have them in a comment that begins with ``CTAB``, as D3DXSHADER_CONSTANTTABLE
(DirectX SDK, d3dx9shader.h), and containers of Direct3D 10 and 11 in the chunk ``RDEF``
(SM4-5 tokens, "Containers").  Drivers ignore both, so a damaged table is no damaged shader.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm4.container import MAGIC, unpack

MOST = 1 << 12
"""Largest number of constants, or of constant buffers, of a table."""
_NAME_BYTES = 1 << 10
"""Maximum length of a name in bytes."""

TABLE_TAG = int.from_bytes(b"CTAB", "little")
"""First DWORD of a comment that is a constant table."""
CHUNK_TAG = "RDEF"
"""Tag of the chunk of a container that has the names of its resources."""


class NamedConstant(msgspec.Struct, frozen=True):
    """A constant of a shader.

    ``file`` is ``c``, ``i``, ``b`` or ``s`` of Direct3D 9, or ``cb0`` and so on.  ``first`` is the
    register, or the byte offset in a constant buffer, and ``count`` the registers or bytes that it
    takes.  ``rows``, ``columns`` and ``elements`` describe its type.
    """

    name: str
    file: str
    first: int
    count: int
    rows: int = 1
    columns: int = 1
    elements: int = 1


_FILES = ("b", "i", "c", "s")
"""Register files by D3DXREGISTER_SET: BOOL, INT4, FLOAT4, SAMPLER."""


@checked
def named_constants(code: bytes) -> tuple[NamedConstant, ...]:
    """The constants that a shader names, by file and place; none without a table.

    ``code`` are tokens of Direct3D 9, or a container; other code has no table.  Raises ShaderError
    for a damaged table.
    """
    found = list(_of_container(code)) if code.startswith(MAGIC) else list(_of_comments(code))
    return tuple(sorted(found, key=lambda each: (each.file, each.first, each.name)))


class _Table:
    """Bounds-checked reading of a table, whose places are byte offsets."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._what = what

    def take(self, form: str, at: int) -> tuple[int, ...]:
        """The integers of the ``struct`` form at a place."""
        if at + struct.calcsize(form) > len(self._data):
            raise ShaderError(f"{self._what} ends before byte {at:#x}")
        return struct.unpack_from(form, self._data, at)

    def name(self, at: int) -> str:
        """The zero-terminated string at a place."""
        end = self._data.find(b"\0", at, at + _NAME_BYTES)
        if at >= len(self._data) or end < 0:
            raise ShaderError(f"no name at {at:#x} of {self._what}")
        return self._data[at:end].decode("latin-1")

    def most(self, count: int) -> int:
        """A number of entries.  Raises ShaderError if it is too large."""
        if count > MOST:
            raise ShaderError(f"{self._what} with {count:,} entries")
        return count

    def type(self, at: int) -> tuple[int, int, int]:
        """Rows, columns and elements of the type at a place; both kinds of tables begin so."""
        _, _, rows, columns, elements = self.take("<5H", at)
        return rows, columns, max(elements, 1)


def _of_comments(code: bytes) -> Iterator[NamedConstant]:
    try:
        comments = decode(code).comments
    except ShaderError:
        return
    for comment in comments:
        if comment.words[:1] == (TABLE_TAG,):
            words = comment.words[1:]
            table = _Table(struct.pack(f"<{len(words)}I", *words), "the constant table")
            yield from _registers(table)
            return


def _registers(table: _Table) -> Iterator[NamedConstant]:
    """The constants of a D3DXSHADER_CONSTANTTABLE."""
    _, _, _, count, begin = table.take("<5I", 0)
    for number in range(table.most(count)):
        name, kind, first, taken, _, type, _ = table.take("<I4H2I", begin + 20 * number)
        if kind >= len(_FILES):
            raise ShaderError(f"register set {kind} in the constant table")
        yield NamedConstant(table.name(name), _FILES[kind], first, taken, *table.type(type))


def _of_container(code: bytes) -> Iterator[NamedConstant]:
    chunks = unpack(code, hashed=False).chunks
    chunk = next((each for each in chunks if each.tag == CHUNK_TAG), None)
    if chunk is None:
        return
    table = _Table(chunk.data, CHUNK_TAG)
    buffers, begin, bindings, bound, version = table.take("<5I", 0)
    slots = dict(_slots(table, bound, bindings))
    size = _VARIABLE if version >> 8 & 0xFF < 5 else _VARIABLE_5
    left = MOST
    for number in range(table.most(buffers)):
        name, count, at = table.take("<3I", begin + 24 * number)
        left -= count
        table.most(MOST - left)
        slot = slots.get(table.name(name))
        if slot is not None:
            for variable in range(count):
                yield _variable(table, at + size * variable, f"cb{slot}")


_VARIABLE, _VARIABLE_5 = 24, 40
"""Bytes of the description of a variable before shader model 5 and from it on."""


def _slots(table: _Table, begin: int, count: int) -> Iterator[tuple[str, int]]:
    """Names of the constant buffers that a shader reads, and their slots."""
    for number in range(table.most(count)):
        name, kind, _, _, _, slot = table.take("<6I", begin + 32 * number)
        if kind == 0:  # D3D_SIT_CBUFFER
            yield table.name(name), slot


def _variable(table: _Table, at: int, file: str) -> NamedConstant:
    name, first, size, _, type = table.take("<5I", at)
    return NamedConstant(table.name(name), file, first, size, *table.type(type))
