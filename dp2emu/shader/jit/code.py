"""Programs as functions in memory: compiled when first asked for, or by an earlier process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from dp2emu.shader.ir import Program
from dp2emu.shader.jit import batches
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.compiling import PASSES, Code, host
from dp2emu.shader.jit.sources import sources
from dp2emu.shader.jit.store import Store
from dp2emu.shader.jit.writer import Target, module

_BODY = "body"


@dataclass(frozen=True, slots=True)
class Source:
    """A module, of which the function ``name`` is wanted: equal records have equal texts.

    ``repr`` of a record has to say all that is in it, in the same words in every process.
    """

    record: object
    write: Callable[[], str]
    name: str
    passes: tuple[str, ...] = PASSES

    @classmethod
    def of(cls, text: str, name: str) -> Source:
        """A text that is there already, which is all the record there is."""
        return cls(text, lambda: text, name)

    def good(self) -> Code:
        """The function in good code, compiled now or by an earlier process."""
        return self._loaded(quick=False)

    def quick(self) -> Code:
        """The same in code that is compiled quickly."""
        return self._loaded(quick=True)

    def kept(self) -> Code | None:
        """Good code that an earlier process has compiled, if there is any."""
        code = objects().get(self._key(quick=False))
        return None if code is None else host().load(code, self.name)

    def _loaded(self, *, quick: bool) -> Code:
        key, store = self._key(quick=quick), objects()
        code = store.get(key)
        if code is None:
            code = host().compile(self.write(), self.passes, quick)
            store.put(key, code)
        return host().load(code, self.name)

    def _key(self, *, quick: bool) -> str:
        written = sources()
        told = (self.write(),) if written is None else (written, repr(self.record))
        return host().key(self.name, *self.passes, str(quick), *told)


@lru_cache(maxsize=1 << 10)
def compiled(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> Code:
    """The body of a program (``bodies.body``), compiled now or by an earlier process."""

    def text() -> str:
        return module(body(program, arguments, target=target, masked=masked, name=_BODY))

    return Source((program, arguments, target, masked), text, _BODY).good()


@lru_cache
def batch_loop(target: Target) -> Callable[..., None]:
    """The loop over the lanes of a run (``batches``)."""
    code = Source(target, partial(batches.batches, target), batches.NAME).good()
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer, number, pointer, pointer,
                            number, number, number)  # fmt: skip
    function = kind(code.address)
    function.code = code  # type: ignore[attr-defined]
    return function


def prepare() -> None:
    """Find out where objects are and what writes them, so that the first draw need not."""
    objects()
    sources()


@lru_cache(maxsize=1)
def objects() -> Store:
    """The objects of this user, where the platform wants caches."""
    from platformdirs import user_cache_path

    return Store(Path(user_cache_path("dp2emu", appauthor=False)) / "objects")
