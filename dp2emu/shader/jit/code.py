"""Programs as functions in memory: compiled when first asked for, or by an earlier process."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property, lru_cache, partial

from dp2emu.records import dataclass
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.code_images import Running, image_of, is_image, runs
from dp2emu.shader.jit.compiling import PASSES, Code
from dp2emu.shader.jit.machine import llvm, machine
from dp2emu.shader.jit.source_cache import sources
from dp2emu.shader.jit.store import objects
from dp2emu.shader.jit.writer import Target, module

_BODY = "body"


class Effort(Enum):
    """How a function is compiled: ``QUICK`` code is there first, ``GOOD`` code is best, and takes
    longest.  ``FAIR`` is in between where there is a text that is made for that.
    """

    QUICK = "quick"
    FAIR = "fair"
    GOOD = "good"


@dataclass(frozen=True)
class Source:
    """A module, of which the function ``name`` is wanted: equal records have equal texts.

    ``repr`` of a record has to say all that is in it, in the same words in every process.
    ``first`` writes a text that is compiled in less time, unless good code is wanted.
    """

    record: object
    write: Callable[[], str]
    name: str
    passes: tuple[str, ...] = PASSES
    first: Callable[[], str] | None = None

    @classmethod
    def of(cls, text: str, name: str) -> Source:
        """A text that is there already, which is all the record there is."""
        return cls(text, lambda: text, name)

    def good(self) -> Code:
        """The function in good code, compiled now or by an earlier process."""
        return self.begun(Effort.GOOD)()

    def begun(self, effort: Effort) -> Callable[[], Code]:
        """What is left of it when the text is LLVM's, which any thread may do, once."""
        key = self._key(effort)
        code = self._held(key)
        if code is not None:
            return partial(self._loaded, code)
        first = None if effort is Effort.GOOD else self.first
        # What there is no other text for is compiled quickly or well.
        quick = effort is Effort.QUICK or (effort is Effort.FAIR and first is None)
        text = self.write() if first is None else first()
        return partial(self._finished, key, llvm().begun(text, self.passes, quick))

    def _finished(self, key: str, emit: Callable[[], bytes]) -> Code:
        code = emit()
        code = (image_of(code, self.name) if runs() else None) or code
        loaded = self._loaded(code)
        objects().put(key, code)
        return loaded

    def _loaded(self, code: bytes) -> Code:
        if not is_image(code):
            return llvm().load(code, self.name)
        running = Running(code)
        return Code(running, running.address)

    def _held(self, key: str) -> bytes | None:
        """Code of an earlier process that can be run in this one."""
        code = objects().get(key)
        return code if code is None or runs() or not is_image(code) else None

    def kept(self) -> Code | None:
        """Good code that an earlier process has compiled, if there is any."""
        code = self._held(self._key(Effort.GOOD))
        return None if code is None else self._loaded(code)

    def _key(self, effort: Effort) -> str:
        return machine().key(self.name, *self.passes, effort.value, *self._told)

    @cached_property
    def _told(self) -> tuple[str, ...]:
        """What the object depends on besides: it takes some time to say of a long program."""
        written = sources()
        return (self.write(),) if written is None else (written, repr(self.record))


@lru_cache(maxsize=1 << 10)
def compiled(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> Code:
    """The body of a program (``bodies.body``), compiled now or by an earlier process."""
    return body_source(program, arguments, target, masked=masked).good()


def body_source(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> Source:
    """The module of the same, to be compiled one way or the other."""

    def text() -> str:
        return module(body(program, arguments, target=target, masked=masked, name=_BODY))

    return Source((program, arguments, target, masked), text, _BODY)


def prepare() -> None:
    """Find out where objects are and what writes them, so that the first draw need not."""
    objects()
    sources()
