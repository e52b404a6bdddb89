"""A custom mutator for AFL++: ``AFL_PYTHON_MODULE=dp2emu.fuzz.afl``.

AFL++ calls ``init`` once and ``fuzz`` for every input; PYTHONPATH must lead to dp2emu.  The
inputs are command buffers, whatever the program that is tried does with them.
"""

from __future__ import annotations

from random import Random

from dp2emu.fuzz import grammar

_random = Random(0)


def init(seed: int) -> None:
    """AFL++ says hello, with the seed of the run."""
    _random.seed(seed)


def deinit() -> None:
    """AFL++ says goodbye."""


def fuzz(buf: bytearray, add_buf: bytearray, max_size: int) -> bytearray:
    """Another command buffer, of at most ``max_size`` bytes; ``add_buf`` is one to take from."""
    changed = grammar.mutate(_random, bytes(buf), bytes(add_buf or b""))
    return bytearray(changed[:max_size] or bytes(1))
