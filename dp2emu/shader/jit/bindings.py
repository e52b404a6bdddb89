"""Bindings of a run: the array of 64-bit words through which compiled code reaches its data."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.cancellation import Cancellation, current
from dp2emu.errors import Unsupported
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.code import compiled
from dp2emu.shader.jit.layout import Callee, FetchCallee, layout_of
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import Fetcher, Sampler, uniform
from dp2emu.shader.sampling import BoundProgram, ports
from dp2emu.shader.types import Lanes, Mask, Type

Words = NDArray[np.uint64]

UNIFORM_CACHE_SIZE = 64
"""Maximum number of sets of uniforms whose converted form stays cached for later draws."""


def address(array: NDArray[Any]) -> int:
    """Return the address of an array's data.  The caller must keep the array alive."""
    # from_buffer is much faster than .ctypes but rejects empty, strided and read-only arrays.
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError, BufferError):
        found: int = array.ctypes.data
        return found


_CALLBACK_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32
)


class Bindings(msgspec.Struct):
    """Builds the bindings of one run and keeps the memory that they point to alive; hence mutable.

    Callees in ``direct`` are called by name and need no function pointer.  ``called``: some callee
    calls back into Python.  Loops of the programs end early once ``cancellation`` is cancelled.
    """

    target: Target
    sampler: Sampler | None
    fetcher: Fetcher | None
    keep_alive: list[Any] = msgspec.field(default_factory=list)
    errors: list[Exception] = msgspec.field(default_factory=list)
    direct: frozenset[Callee] = frozenset()
    called: bool = False
    cancellation: Cancellation = msgspec.field(default_factory=current)

    def of(self, program: Program, uniforms: Mapping[str, Lanes]) -> Words:
        """Return the binding words of a program, laid out by ``layout_of``.

        Raises KeyError and ValueError for files as the reference engine does.
        """
        return self._filled(program, _uniform_words(uniforms, program))

    def with_uniforms(
        self, program: Program, words: Words, uniforms: Mapping[str, Lanes]
    ) -> Words:
        """Return a copy of the binding ``words`` of a run, with other ``uniforms``.

        The caller must keep them alive.  Raises KeyError and ValueError as ``of`` does.
        """
        read = _uniform_words(uniforms, program)
        layout = layout_of(program)
        if layout.shared:
            return read.words
        made = words.copy()
        for file in program.files:
            if file.uniform:
                at = layout.files[file.name]
                made[at : at + 2] = read.words[at : at + 2]
        return made

    def _filled(self, program: Program, read: _UniformWords) -> Words:
        """Return ``read``, the words of uniform files, completed with those of local files and
        callees.
        """
        layout = layout_of(program)
        self.keep_alive.append(read)
        if layout.shared:
            return read.words
        words = read.words.copy()
        for file in layout.local:
            rows = np.empty((file.size + 1, self.target.width), np.uint32)
            self.keep_alive.append(rows)
            words[layout.files[file.name]] = address(rows)
        for callee, at in layout.callees.items():
            words[at : at + 2] = self._callee_words(callee)
        if layout.stop is not None:
            words[layout.stop] = self.cancellation.address
        self.keep_alive.append(words)
        return words

    def raise_errors(self) -> None:
        """Re-raise the first exception of a callback."""
        if self.errors:
            first = self.errors[0]
            self.errors.clear()
            raise first

    def _callee_words(self, callee: Callee) -> tuple[int, int]:
        """Return the two words of a callee: function address and first argument."""
        bound, names = self._bound_program(callee)
        if bound is None:
            function = _CALLBACK_TYPE(self._callback(callee))
            self.keep_alive.append(function)
            self.called = True
            return ctypes.cast(function, ctypes.c_void_p).value or 0, 0
        read = address(self._filled(bound.program, _bound_words(bound)))
        if callee in self.direct:
            return 0, read
        code = compiled(bound.program, names, self.target, masked=False)
        self.keep_alive.append(code)
        return code.address, read

    def _bound_program(self, callee: Callee) -> tuple[BoundProgram | None, tuple[str, ...]]:
        """Return the program of a callee and its inputs in order; None if it must call back."""
        # getattr instead of isinstance: runtime protocol checks are far slower.
        if isinstance(callee, FetchCallee):
            answered = getattr(self.fetcher, "answered", None)
            bound: BoundProgram | None = None if answered is None else answered(callee.unit)
            return bound, () if bound is None else bound.ports
        bind = getattr(self.sampler, "bound", None)
        bound = None if bind is None else bind(callee.sampler, callee.kind, callee.lod)
        return bound, ports(callee.kind, callee.lod)

    def _callback(self, callee: Callee) -> Callable[[int, int, int, int], int]:
        dtype = np.int32 if isinstance(callee, FetchCallee) else np.float32

        def answer(_: int, arguments: int, results_at: int, active: int) -> int:
            rows = _memory_rows(arguments, callee.rows, self.target.width).view(dtype)
            lanes = np.array([active >> lane & 1 for lane in range(self.target.width)], np.bool_)
            results = _memory_rows(results_at, 4, self.target.width).view(dtype)
            results[:] = 0
            # Exceptions cannot unwind through compiled code.
            try:
                values = self._call_back(callee, tuple(row.copy() for row in rows), lanes)
                for row, value in zip(results, values, strict=True):
                    row[:] = value
            except Exception as error:
                self.errors.append(error)
            return active

        return answer

    def _call_back(
        self, callee: Callee, operands: tuple[Lanes, ...], active: Mask
    ) -> Iterable[Lanes]:
        """Call the Python sampler or fetcher for a vector of lanes, and return its results."""
        if isinstance(callee, FetchCallee):
            if self.fetcher is None:
                raise Unsupported("fetches")
            return self.fetcher(callee.unit, operands, active)
        if self.sampler is None:
            raise Unsupported("texture sampling")
        count = callee.kind.coordinates
        return self.sampler(
            callee.sampler, callee.kind, operands[:count], callee.lod, operands[count:], active
        )


class _UniformWords(NamedTuple):
    """All binding words of a program, of which only those of uniform files are set and the others
    are 0; and the arrays that they point to.
    """

    words: Words
    kept: tuple[Lanes, ...]


@identity_cached(UNIFORM_CACHE_SIZE)
def _uniform_words(uniforms: Mapping[str, Lanes], program: Program) -> _UniformWords:
    return _pack_uniforms(program, uniforms)


@identity_cached()
def _bound_words(bound: BoundProgram) -> _UniformWords:
    return _pack_uniforms(bound.program, bound.uniforms)


def _pack_uniforms(program: Program, uniforms: Mapping[str, Lanes]) -> _UniformWords:
    layout = layout_of(program)
    words, kept = np.zeros(max(layout.size, 1), np.uint64), []
    for file in program.files:
        if file.uniform:
            at, scalars = layout.files[file.name], uniform(file, uniforms)
            kept.append(_padded(scalars, layout.fixed[file.name]))
            words[at : at + 2] = address(kept[-1]), len(scalars)
    return _UniformWords(words, tuple(kept))


def _memory_rows(start: int, rows: int, width: int) -> Lanes:
    """View rows of words in memory as uint32 of shape (rows, width)."""
    if not rows:
        return np.empty((0, width), np.uint32)
    held = ctypes.cast(start, ctypes.POINTER(ctypes.c_uint32))
    return np.ctypeslib.as_array(held, (rows, width))


def _padded(scalars: Lanes, size: int) -> Lanes:
    """Convert scalars to 32-bit words, padded with 0 to ``size`` words and to at least one."""
    words = scalars.astype(np.int32) if scalars.dtype == Type.BOOL.dtype else scalars
    # At least one word: loads out of range read the first and discard it.
    if len(words) >= max(size, 1):
        return np.ascontiguousarray(words)
    padded = np.zeros(max(size, 1), words.dtype)
    padded[: len(words)] = words
    return padded
