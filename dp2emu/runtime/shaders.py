"""Declarations, shaders and their constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import astuple

from dp2emu.d3d.dp2structs import D3DVERTEXELEMENT9, Op
from dp2emu.layout import dtype_of
from dp2emu.runtime.arguments import words
from dp2emu.runtime.commands import pack
from dp2emu.runtime.objects import VertexElement
from dp2emu.runtime.session import Session

_TOGETHER = 1024
"""Constant registers in one token, so that any number of them fits command buffers."""

_HARDWARE = {0xFFFE02FF: 0xFFFE0201, 0xFFFE03FF: 0xFFFE0300,
             0xFFFF02FF: 0xFFFF0201, 0xFFFF03FF: 0xFFFF0300}  # fmt: skip
"""Versions of shaders for software -> those of hardware with the same instructions."""


def hardware_code(code: Sequence[int]) -> list[int]:
    """Shader code as drivers take it: vs_2_sw becomes vs_2_x, vs_3_sw vs_3_0, pixel shaders
    likewise, for the driver processes all vertices.
    """
    return [_HARDWARE.get(word, word) for word in code[:1]] + list(code[1:])


class Shaders:
    """Mutable: it numbers what it creates, and knows the vertex function that is set.

    Created handles are odd, since even ones are vertex formats (wire format, "Shaders and
    constants").
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._objects = 0
        self._function = 0

    def declaration(self, elements: Sequence[VertexElement]) -> int:
        """The handle of a new declaration."""
        records = [astuple(element) for element in elements]
        data = pack(dtype_of(D3DVERTEXELEMENT9), records, Op.CREATEVERTEXSHADERDECL)
        return self._create(Op.CREATEVERTEXSHADERDECL, len(elements), data)

    def shader(self, op: Op, code: Sequence[int]) -> int:
        """The handle of a new shader: CREATEVERTEXSHADERFUNC or CREATEPIXELSHADER."""
        data = words(code)
        return self._create(op, len(data), data)

    def program(self, declaration: Sequence[int], code: Sequence[int]) -> int:
        """The handle of a new vertex shader of Direct3D 8, declaration and code in one."""
        parts = words(declaration), words(code)
        return self._make(Op.CREATEVERTEXSHADER, tuple(map(len, parts)), b"".join(parts))

    def delete(self, op: Op, handle: int) -> None:
        """An object goes: a DELETE token."""
        self._session.emit(op, [(handle,)])

    def _create(self, op: Op, size: int, data: bytes) -> int:
        return self._make(op, (size,), data)

    def _make(self, op: Op, sizes: tuple[int, ...], data: bytes) -> int:
        """Make an object and flush: a failure of this call is a failure to create (wire format,
        "Shaders and constants")."""
        self._objects += 1
        handle = 2 * self._objects - 1
        self._session.flush()
        self._session.commands.emit_tailed(op, (handle, *sizes), data)
        self._session.flush()
        return handle

    def set_handle(self, handle: int) -> None:
        """SetVertexShader of Direct3D 8: a shader or a vertex format."""
        self._session.emit(Op.SETVERTEXSHADER, [(handle,)])

    def set_format(self, handle: int) -> None:
        """A declaration or vertex format; the vertex function stays."""
        self._session.emit(Op.SETVERTEXSHADERDECL, [(handle,)])
        self.set_function(self._function)

    def set_function(self, handle: int) -> None:
        """The vertex function, 0 for fixed-function processing."""
        self._function = handle
        self._session.emit(Op.SETVERTEXSHADERFUNC, [(handle,)])

    def set_constants(self, op: Op, first: int, rows: Sequence[Any], dtype: type[Any]) -> None:
        """Constant registers from ``first`` on, a row or a boolean each."""
        for start in range(0, len(rows), _TOGETHER):
            part = rows[start : start + _TOGETHER]
            data = np.array(part, dtype).tobytes()
            self._session.commands.emit_tailed(op, (first + start, len(part)), data)
