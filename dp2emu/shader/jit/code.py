"""Programs as functions in memory: compiled when first asked for, or by an earlier process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from dp2emu.shader.ir import Program
from dp2emu.shader.jit import batches
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.compiling import PASSES, Code, host
from dp2emu.shader.jit.store import Store
from dp2emu.shader.jit.writer import Target, module

_BODY = "body"


@lru_cache(maxsize=1 << 10)
def compiled(
    program: Program, arguments: tuple[str, ...], target: Target, *, masked: bool
) -> Code:
    """The body of a program (``bodies.body``), compiled now or by an earlier process."""
    text = module(body(program, arguments, target=target, masked=masked, name=_BODY))
    return loaded(text, _BODY)


@lru_cache
def batch_loop(target: Target) -> Callable[..., None]:
    """The loop over the lanes of a run (``batches``)."""
    code = loaded(batches.batches(target), batches.NAME)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer, number, pointer, pointer,
                            number, number, number)  # fmt: skip
    function = kind(code.address)
    function.code = code  # type: ignore[attr-defined]
    return function


def loaded(text: str, name: str, passes: tuple[str, ...] = PASSES) -> Code:
    """The function ``name`` of a module, compiled now or by an earlier process."""
    key, store = host().key(text, passes), objects()
    code = store.get(key)
    if code is None:
        code = host().compile(text, passes)
        store.put(key, code)
    return host().load(code, name)


@lru_cache(maxsize=1)
def objects() -> Store:
    """The objects of this user, where the platform wants caches."""
    from platformdirs import user_cache_path

    return Store(Path(user_cache_path("dp2emu", appauthor=False)) / "objects")
