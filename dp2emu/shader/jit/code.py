"""Compiled functions in memory, from LLVM or from the object cache."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property, lru_cache, partial

import msgspec

from dp2emu.shader.ir import Program
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.code_images import LoadedImage, image_of, images_supported, is_image
from dp2emu.shader.jit.compiling import PASSES, Code
from dp2emu.shader.jit.machine import llvm, machine
from dp2emu.shader.jit.object_cache import object_cache, source_stamps
from dp2emu.shader.jit.pending import begun
from dp2emu.shader.jit.writer import Target, module

_BODY = "body"

PENDING_LINES = 2_000
"""Number of lines of LLVM text above which a compilation has a thread of its own; shorter ones
take less than a tenth of a second."""


class Effort(Enum):
    """Compilation effort: ``QUICK`` compiles fastest, ``GOOD`` runs fastest.

    ``FAIR`` compiles a simpler text, if there is one, with full optimisation.
    """

    QUICK = "quick"
    FAIR = "fair"
    GOOD = "good"


class CodeSource(msgspec.Struct, frozen=True, dict=True):
    """A module of LLVM text, generated on demand, that exports the function ``name``.

    Equal values of ``record`` must generate equal texts, and their ``repr`` must be complete and
    identical in every process, since it enters the object cache's key.  ``first`` generates a text
    that compiles faster, used for all efforts but GOOD.
    """

    record: object
    write: Callable[[], str]
    name: str
    passes: tuple[str, ...] = PASSES
    first: Callable[[], str] | None = None

    @classmethod
    def of(cls, text: str, name: str) -> CodeSource:
        """Make a source of literal LLVM text, by which the object cache identifies it."""
        return cls(text, lambda: text, name)

    def good(self) -> Code:
        """Return optimised code, compiled now or loaded from the object cache."""
        return self.begin(Effort.GOOD)()

    def begin(self, effort: Effort) -> Callable[[], Code]:
        """Generate and parse the text; returns the rest of the compilation, which any thread may
        run once.

        A long text is compiled in a thread of its own; the result (``Pending``) waits for it.
        """
        key = self._key(effort)
        code = self._lookup(key)
        if code is not None:
            return partial(self._load, code)
        first = None if effort is Effort.GOOD else self.first
        # Without a simpler text FAIR means QUICK.
        quick = effort is Effort.QUICK or (effort is Effort.FAIR and first is None)
        text = self.write() if first is None else first()
        if text.count("\n") > PENDING_LINES:
            return begun(lambda: self._finish(key, llvm().begin(text, self.passes, quick)))
        return partial(self._finish, key, llvm().begin(text, self.passes, quick))

    def _finish(self, key: str, emit: Callable[[], bytes]) -> Code:
        code = emit()
        # An image loads without LLVM in later processes; other objects are linked each time.
        code = (image_of(code, self.name) if images_supported() else None) or code
        loaded = self._load(code)
        object_cache().put(key, code)
        return loaded

    def _load(self, code: bytes) -> Code:
        if not is_image(code):
            return llvm().load(code, self.name)
        running = LoadedImage(code)
        return Code(running, running.address)

    def _lookup(self, key: str) -> bytes | None:
        """Return code from the object cache that this process can run, None if there is none."""
        code = object_cache().get(key)
        return code if code is None or images_supported() or not is_image(code) else None

    def cached(self) -> Code | None:
        """Return optimised code from the object cache, None if it has none."""
        code = self._lookup(self._key(Effort.GOOD))
        return None if code is None else self._load(code)

    def _key(self, effort: Effort) -> str:
        return machine().key(self.name, *self.passes, effort.value, *self._record_key)

    @cached_property
    def _record_key(self) -> tuple[str, ...]:
        """The part of the cache key that identifies the text.  Cached: repr of a long program is
        slow.
        """
        written = source_stamps()
        return (self.write(),) if written is None else (written, repr(self.record))


@lru_cache(maxsize=1 << 10)
def compiled(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> Code:
    """Return the compiled body of a program (``bodies.body``)."""
    return body_source(program, arguments, target, masked=masked).good()


def body_source(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> CodeSource:
    """Return the ``CodeSource`` of the function of a program (``bodies.body``)."""

    def text() -> str:
        return module(body(program, arguments, target=target, masked=masked, name=_BODY))

    return CodeSource((program, arguments, target, masked), text, _BODY)


def prepare() -> None:
    """Find the object cache's folder and read the source stamps ahead of the first draw."""
    object_cache()
    source_stamps()
