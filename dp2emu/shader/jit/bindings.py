"""What a run of a program reads, as compiled code finds it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.errors import Unsupported
from dp2emu.identity_cache import by_identity, while_it_lives
from dp2emu.records import dataclass
from dp2emu.shader.ir import File, Program
from dp2emu.shader.jit.code import compiled
from dp2emu.shader.jit.layout import Asked, Fetched, layout_of
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.reference import Fetcher, Sampler, uniform
from dp2emu.shader.sampling import Bound, ports
from dp2emu.shader.types import Lanes, Mask, Type

Words = NDArray[np.uint64]

UNIFORMS_KEPT = 64
"""Of how many draws lately uniforms stay in memory: those of the next are often the same."""


def address(array: NDArray[Any]) -> int:
    """Where an array lies, which must outlive the use."""
    # The quick way is not there for what is empty, in pieces or only to be read.
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError, BufferError):
        found: int = array.ctypes.data
        return found


_CALLED_BACK = ctypes.CFUNCTYPE(
    ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32
)


@dataclass(slots=True)
class Bindings:
    """What programs of one run read; it keeps all of that in memory, hence mutable.

    What is asked ``direct`` needs no function here.  ``called``: there is somebody to call back.
    """

    target: Target
    sampler: Sampler | None
    fetcher: Fetcher | None
    kept: list[Any] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    direct: frozenset[Asked] = frozenset()
    called: bool = False

    def of(self, program: Program, uniforms: Mapping[str, Lanes]) -> Words:
        """The words that ``layout`` lays out.

        Raises KeyError and ValueError for files as the reference engine does.
        """
        return self._filled(program, _read(uniforms, program))

    def again(self, program: Program, words: Words, uniforms: Mapping[str, Lanes]) -> Words:
        """The words of a run that differs from the one that ``words`` are of in uniforms only.

        They have to be kept.  Raises KeyError and ValueError as ``of`` does.
        """
        read = _read(uniforms, program)
        layout = layout_of(program)
        if not layout.asked and not layout.local:
            return read.words
        made = words.copy()
        for file in program.files:
            if file.uniform:
                at = layout.files[file.name]
                made[at : at + 2] = read.words[at : at + 2]
        return made

    def _filled(self, program: Program, read: _Read) -> Words:
        """With what is this run's own."""
        layout = layout_of(program)
        self.kept.append(read)
        if not layout.asked and not layout.local:
            return read.words
        words = read.words.copy()
        for file in layout.local:
            words[layout.files[file.name]] = self._keep(self._rows(file))
        for asked, at in layout.asked.items():
            words[at : at + 2] = self._answer(asked)
        self.kept.append(words)
        return words

    def complain(self) -> None:
        """Raise what a sampler or fetcher that was called back raised."""
        if self.errors:
            first = self.errors[0]
            self.errors.clear()
            raise first

    def _keep(self, array: NDArray[Any]) -> int:
        self.kept.append(array)
        return address(array)

    def _rows(self, file: File) -> NDArray[np.uint32]:
        return np.empty((file.size + 1, self.target.width), np.uint32)

    def _answer(self, asked: Asked) -> tuple[int, int]:
        """A function that answers, and what it is given first."""
        bound, names = self._bound(asked)
        if bound is None:
            function = _CALLED_BACK(self._callback(asked))
            self.kept.append(function)
            self.called = True
            return ctypes.cast(function, ctypes.c_void_p).value or 0, 0
        read = address(self._filled(bound.program, _sampled(bound)))
        if asked in self.direct:
            return 0, read
        code = compiled(bound.program, names, self.target, masked=False)
        self.kept.append(code)
        return code.address, read

    def _bound(self, asked: Asked) -> tuple[Bound | None, tuple[str, ...]]:
        """The program that answers, and its inputs in order; None if whoever is asked has none."""
        # Whether they are Answering or Bindable: asking as protocols do takes far longer.
        if isinstance(asked, Fetched):
            answered = getattr(self.fetcher, "answered", None)
            bound: Bound | None = None if answered is None else answered(asked.unit)
            return bound, () if bound is None else bound.ports
        bind = getattr(self.sampler, "bound", None)
        bound = None if bind is None else bind(asked.sampler, asked.kind, asked.lod)
        return bound, ports(asked.kind, asked.lod)

    def _callback(self, asked: Asked) -> Callable[[int, int, int, int], int]:
        dtype = np.int32 if isinstance(asked, Fetched) else np.float32

        def answer(_: int, given: int, found: int, active: int) -> int:
            rows = _vectors(given, asked.rows, self.target.width).view(dtype)
            lanes = np.array([active >> lane & 1 for lane in range(self.target.width)], np.bool_)
            results = _vectors(found, 4, self.target.width).view(dtype)
            results[:] = 0
            # Nothing can be raised through compiled code.
            try:
                values = self._asked(asked, tuple(row.copy() for row in rows), lanes)
                for row, value in zip(results, values, strict=True):
                    row[:] = value
            except Exception as error:
                self.errors.append(error)
            return active

        return answer

    def _asked(self, asked: Asked, operands: tuple[Lanes, ...], active: Mask) -> Iterable[Lanes]:
        """What the caller of the engine answers."""
        if isinstance(asked, Fetched):
            if self.fetcher is None:
                raise Unsupported("fetches")
            return self.fetcher(asked.unit, operands, active)
        if self.sampler is None:
            raise Unsupported("texture sampling")
        count = asked.kind.coordinates
        return self.sampler(
            asked.sampler, asked.kind, operands[:count], asked.lod, operands[count:], active
        )


class _Read(NamedTuple):
    """The words of a program's uniform files, all others 0, and what they point to."""

    words: Words
    kept: tuple[Lanes, ...]


@by_identity(UNIFORMS_KEPT)
def _read(uniforms: Mapping[str, Lanes], program: Program) -> _Read:
    return _reading(program, uniforms)


@while_it_lives
def _sampled(bound: Bound) -> _Read:
    return _reading(bound.program, bound.uniforms)


def _reading(program: Program, uniforms: Mapping[str, Lanes]) -> _Read:
    layout = layout_of(program)
    words, kept = np.zeros(max(layout.size, 1), np.uint64), []
    for file in program.files:
        if file.uniform:
            at, scalars = layout.files[file.name], uniform(file, uniforms)
            kept.append(_padded(scalars, layout.fixed[file.name]))
            words[at : at + 2] = address(kept[-1]), len(scalars)
    return _Read(words, tuple(kept))


def _vectors(start: int, rows: int, width: int) -> Lanes:
    """Rows of words in memory, uint32 of shape (rows, width)."""
    if not rows:
        return np.empty((0, width), np.uint32)
    held = ctypes.cast(start, ctypes.POINTER(ctypes.c_uint32))
    return np.ctypeslib.as_array(held, (rows, width))


def _padded(scalars: Lanes, size: int) -> Lanes:
    """Words, at least ``size`` and one."""
    words = scalars.astype(np.int32) if scalars.dtype == Type.BOOL.dtype else scalars
    if len(words) >= max(size, 1):
        return np.ascontiguousarray(words)
    padded = np.zeros(max(size, 1), words.dtype)
    padded[: len(words)] = words
    return padded
