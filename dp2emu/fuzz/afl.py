"""A custom mutator for AFL++: ``AFL_PYTHON_MODULE=dp2emu.fuzz.afl``.

AFL++ calls ``init`` once and ``fuzz`` for every input; dp2emu must be in PYTHONPATH.
Inputs are command buffers.
"""

from __future__ import annotations

from random import Random

from dp2emu.fuzz import grammar

_random = Random(0)


def init(seed: int) -> None:
    """Seed the random numbers; AFL++ calls this first."""
    _random.seed(seed)


def deinit() -> None:
    """Do nothing; AFL++ calls this last."""


def fuzz(buf: bytearray, add_buf: bytearray, max_size: int) -> bytearray:
    """Return a mutation of ``buf`` of at most ``max_size`` bytes, with parts of ``add_buf``."""
    changed = grammar.mutate(_random, bytes(buf), bytes(add_buf or b""))
    return bytearray(changed[:max_size] or bytes(1))
