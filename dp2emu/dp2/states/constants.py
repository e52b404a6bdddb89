"""Shader constant registers of one context (wire format, "Shaders and constants")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.errors import Fault


class _File(NamedTuple):
    """The size of a set of shader constants: registers, components of each, and their dtype."""

    registers: int
    width: int
    storage: str


VERTEX_FILES: Mapping[str, _File] = {
    "c": _File(256, 4, "<f4"),
    "i": _File(16, 4, "<i4"),
    "b": _File(16, 1, "<u4"),
}
PIXEL_FILES: Mapping[str, _File] = {**VERTEX_FILES, "c": _File(224, 4, "<f4")}
"""Name (c, i or b) -> constant registers of pixel shaders; the float registers are those of
ps_3_0, earlier versions can name fewer of them."""


@cache
def _unwritten(file: _File) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The values of a register file before the first write, and whether each was written; both
    are shared by all contexts.
    """
    values = np.zeros((file.registers, file.width), file.storage)
    written = np.zeros(file.registers, bool)
    values.flags.writeable = written.flags.writeable = False
    return values, written


class Registers:
    """One register file.  Mutable: tokens write it.

    ``values`` (registers, width) is a read-only array, copied on the next write, so that a queued
    draw keeps the values of its time.
    """

    def __init__(self, file: _File) -> None:
        self._values, self._written = _unwritten(file)
        self._shared = self._untouched = True

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> NDArray[Any]:
        """The current registers, as an immutable array."""
        self._shared = True
        self._values.flags.writeable = False
        return self._values

    def write(self, first: int, values: NDArray[Any]) -> None:
        """Store ``values`` (registers, width) from ``first`` on; any past the last are dropped."""
        count = min(len(values), max(len(self) - first, 0))
        if not count:
            return
        if self._shared:
            self._values, self._shared = self._values.copy(), False
        if self._untouched:
            self._written, self._untouched = self._written.copy(), False
        self._values[first : first + count] = values[:count]
        self._written[first : first + count] = True

    def raw(self, number: int) -> bytes:
        """The bytes of register ``number``, as the array stores them."""
        return bytes(self._values[number].data)

    def written(self) -> Iterator[tuple[int, list[Any]]]:
        """Number and values of each register that has been written."""
        for number in np.flatnonzero(self._written).tolist():
            yield number, self._values[number].tolist()


class Constants:
    """The ``c``, ``i`` and ``b`` registers of one kind of shader.  Mutable: tokens write them;
    ``version`` counts the writes.
    """

    def __init__(self, files: Mapping[str, _File], options: Options) -> None:
        self.files = {name: Registers(file) for name, file in files.items()}
        self._rows = files
        self._strict = options.strict
        self.version = 0

    def write(self, name: str, first: int, data: bytes | memoryview) -> None:
        """SET*SHADERCONST*: ``data`` has whole registers from ``first`` on, in the wire format.

        Registers beyond the last are dropped; with ``Options.strict`` they raise Fault
        (D3DERR_DRIVERINVALIDCALL), and nothing is written.
        """
        self.files[name].write(first, self._values(name, first, data))
        self.version += 1

    def split(
        self, name: str, first: int, data: bytes | memoryview
    ) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of each register that ``write`` would store; raises as it does."""
        values = self._values(name, first, data)
        for number, value in zip(range(first, len(self.files[name])), values, strict=False):
            yield number, value.tobytes()

    def register(self, name: str, number: int) -> bytes:
        """The bytes of a register in the wire format, as ``write`` takes them."""
        return self.files[name].raw(number)

    def _values(self, name: str, first: int, data: bytes | memoryview) -> NDArray[Any]:
        row, file = self._rows[name], self.files[name]
        values = np.frombuffer(data, row.storage).reshape(-1, row.width)
        if self._strict and first + len(values) > len(file):
            what = f"{name}{first} to {name}{first + len(values) - 1} of {len(file)}"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"registers {what}")
        return values
