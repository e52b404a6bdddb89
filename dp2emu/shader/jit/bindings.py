"""What a run of a program reads, as compiled code finds it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.errors import Unsupported
from dp2emu.shader.ir import File, Program
from dp2emu.shader.jit.code import compiled
from dp2emu.shader.jit.layout import Sampled, layout_of
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import Sampler, uniform
from dp2emu.shader.sampling import Bindable, ports
from dp2emu.shader.types import F32, Lanes, Type

Words = NDArray[np.uint64]


def address(array: NDArray[Any]) -> int:
    """Where an array lies, which must outlive the use."""
    found: int = array.ctypes.data
    return found


_CALLED_BACK = ctypes.CFUNCTYPE(
    ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32
)


@dataclass(slots=True)
class Bindings:
    """What programs of one run read; it keeps all of that in memory, hence mutable."""

    target: Target
    sampler: Sampler | None
    kept: list[Any] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def of(self, program: Program, uniforms: Mapping[str, Lanes]) -> Words:
        """The words that ``layout`` lays out.

        Raises KeyError and ValueError for files as the reference engine does.
        """
        layout = layout_of(program)
        words = np.zeros(max(layout.size, 1), np.uint64)
        for file in program.files:
            at = layout.files[file.name]
            if file.uniform:
                scalars = uniform(file, uniforms)
                words[at + 1] = len(scalars)
                words[at] = self._keep(_padded(scalars, layout.fixed[file.name]))
            else:
                words[at] = self._keep(self._rows(file))
        for sampled, at in layout.sampled.items():
            words[at : at + 2] = self._sampled(sampled)
        self.kept.append(words)
        return words

    def complain(self) -> None:
        """Raise what a sampler that was called back raised."""
        if self.errors:
            raise self.errors[0]

    def _keep(self, array: NDArray[Any]) -> int:
        self.kept.append(array)
        return address(array)

    def _rows(self, file: File) -> NDArray[np.uint32]:
        return np.empty((file.size + 1, self.target.width), np.uint32)

    def _sampled(self, sampled: Sampled) -> tuple[int, int]:
        """A function that samples, and what it is given."""
        number, kind, lod = sampled
        sampler: object = self.sampler
        if not isinstance(sampler, Bindable):
            function = _CALLED_BACK(self._callback(sampled))
            self.kept.append(function)
            return ctypes.cast(function, ctypes.c_void_p).value or 0, 0
        bound = sampler.bound(number, kind, lod)
        code = compiled(bound.program, ports(kind, lod), self.target, masked=False)
        self.kept.append(code)
        return code.address, address(self.of(bound.program, bound.uniforms))

    def _callback(self, sampled: Sampled) -> Callable[[int, int, int, int], int]:
        number, kind, lod = sampled
        count, coordinates = len(ports(kind, lod)), kind.coordinates

        def sample(_: int, given: int, found: int, active: int) -> int:
            rows = _vectors(given, count, self.target.width)
            lanes = np.array([active >> lane & 1 for lane in range(self.target.width)], np.bool_)
            results = _vectors(found, 4, self.target.width)
            results[:] = 0
            # Nothing can be raised through compiled code.
            try:
                if self.sampler is None:
                    raise Unsupported("texture sampling")
                places = tuple(row.copy() for row in rows)
                texel = self.sampler(
                    number, kind, places[:coordinates], lod, places[coordinates:], lanes
                )
                for row, value in zip(results, texel, strict=True):
                    row[:] = value
            except Exception as error:
                self.errors.append(error)
            return active

        return sample


def _vectors(start: int, rows: int, width: int) -> F32:
    """Rows of floats in memory, shape (rows, width)."""
    held = ctypes.cast(start, ctypes.POINTER(ctypes.c_float))
    return np.ctypeslib.as_array(held, (rows, width))


def _padded(scalars: Lanes, size: int) -> Lanes:
    """Words, at least ``size`` and one."""
    words = scalars.astype(np.int32) if scalars.dtype == Type.BOOL.dtype else scalars
    if len(words) >= max(size, 1):
        return np.ascontiguousarray(words)
    padded = np.zeros(max(size, 1), words.dtype)
    padded[: len(words)] = words
    return padded
