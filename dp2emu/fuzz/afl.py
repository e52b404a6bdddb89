"""Support for fuzzers of other drivers: a corpus, a dictionary, and a mutator for AFL++.

``AFL_PYTHON_MODULE=dp2emu.fuzz.afl`` selects the mutator; dp2emu must be in PYTHONPATH.  AFL++
calls ``init`` once and ``fuzz`` for every input.  Inputs are command buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate
from dp2emu.dp2.table import TABLE
from dp2emu.fuzz import grammar
from dp2emu.fuzz.mutations import BOUNDARIES
from dp2emu.outputs import write_file

STREAMS = 64
"""Number of random token streams in a seed corpus, which also has the samples of each opcode."""
DICTIONARY = "dp2.dict"


def dictionary() -> str:
    """Return words for libFuzzer and AFL++: headers, samples and boundary values.

    >>> 'ISSUEQUERY' in dictionary()
    True
    """
    return "".join(f'{name}="{_quoted(word)}"\n' for name, word in _words())


def _words() -> Iterator[tuple[str, bytes]]:
    for op in sorted(TABLE):
        token = TABLE[op]
        yield token.name, bytes((op, 0, 1, 0))
        for number, sample in enumerate(token.samples):
            if len(sample) <= 64:
                yield f"{token.name}_{number}", sample
    for width in (2, 4):
        for value in BOUNDARIES[width]:
            yield f"u{8 * width}_{value:x}", value.to_bytes(width, "little")


def _quoted(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


_BEHIND = TABLE[Op.CREATEQUERY].samples[0]


def export(folder: Path, seed: int = 0) -> int:
    """Write a corpus of command buffers and the dictionary; returns the number of buffers.

    Each opcode has two tokens, samples or else random ones, and a random one with a count of 2
    and another token behind it: most mistakes about lengths show there.  The same seed gives the
    same files.
    Raises OSError.
    """
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    rng = Random(seed)
    number = 0
    for op in sorted(TABLE):
        token = TABLE[op]
        for at in range(2):
            made = generate(token, rng, vertex_size=grammar.VERTEX_SIZE)
            data = token.samples[at] if at < len(token.samples) else made
            write_file(corpus / f"{token.name.lower()}-{at}", data)
            number += 1
        two = generate(token, rng, n=2, vertex_size=grammar.VERTEX_SIZE)
        write_file(corpus / f"{token.name.lower()}-2", two + _BEHIND)
        number += 1
    for at in range(STREAMS):
        write_file(corpus / f"stream-{at:02}", grammar.stream(rng))
        number += 1
    write_file(folder / DICTIONARY, dictionary().encode())
    return number


_random = Random(0)
_GROWN = 1 / 16
"""Probability that an input gets longer: mistakes about lengths show in tokens of several items,
and AFL++ without instrumentation changes only its seeds."""


def init(seed: int) -> None:
    """Seed the random numbers; AFL++ calls this first."""
    _random.seed(seed)


def deinit() -> None:
    """Do nothing; AFL++ calls this last."""


def fuzz(buf: bytearray, add_buf: bytearray, max_size: int) -> bytearray:
    """Return ``buf`` mutated, at most ``max_size`` bytes, some of which may be of ``add_buf``."""
    if _random.random() < _GROWN:
        changed = grammar.grow(_random, bytes(buf))
    else:
        changed = grammar.mutate(_random, bytes(buf), bytes(add_buf or b""))
    return bytearray(changed[:max_size] or bytes(1))
