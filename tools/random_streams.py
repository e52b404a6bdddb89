#!/usr/bin/env python3
"""Play random streams over all tokens, each twice, and compare what comes of them.

    python tools/random_streams.py [--seeds N] [--calls N] [--first SEED] [--engine NAME]

A stream is calls of a few tokens each, valid as the walk sees them, with fields that are boundary
values, names or anything; most handles name something.  Every call must be answered, and both
plays must give the same answers and leave the same memory; the second may be by another engine.
Prints how often each token was executed and exits with 1 if two plays differ.  The default, 200
streams of 1,000 calls, takes a few minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.generate import generate
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE, Token
from dp2emu.errors import Unsupported
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.shader.engines import REFERENCE

COLOR, DEPTH, COMMANDS = 1, 2, 3
BUFFER, VERTEX, FVF = 8192, 28, 0x144
"""Bytes of the command buffer and of a vertex: XYZRHW, DIFFUSE and a texture coordinate."""
VERTICES = 64
NEW_CONTEXT = 50
"""Calls after which a context makes room for a new one, that has not been set so much."""

_A8, _KIND = int(Format.A8R8G8B8), SurfaceKind
SURFACES = (
    SurfaceDesc(COLOR, _KIND.SURFACE, 64, 64, int(Format.X8R8G8B8)),
    SurfaceDesc(DEPTH, _KIND.SURFACE, 64, 64, int(Format.D24S8)),
    SurfaceDesc(COMMANDS, _KIND.MEMORY, BUFFER),
    SurfaceDesc(4, _KIND.VERTEXBUFFER, 2048),
    SurfaceDesc(5, _KIND.VERTEXBUFFER, 256),
    SurfaceDesc(6, _KIND.INDEXBUFFER, 512),
    SurfaceDesc(7, _KIND.TEXTURE, 16, 16, int(Format.A1)),
    SurfaceDesc(8, _KIND.TEXTURE, 16, 16, int(Format.A1)),
    SurfaceDesc(9, _KIND.TEXTURE, 32, 32, _A8, levels=6),
    SurfaceDesc(10, _KIND.TEXTURE, 16, 16, _A8, levels=5),
    SurfaceDesc(11, _KIND.CUBETEXTURE, 16, 16, int(Format.R5G6B5), levels=2),
    SurfaceDesc(12, _KIND.VOLUMETEXTURE, 8, 8, _A8, depth=4, levels=2),
    SurfaceDesc(13, _KIND.TEXTURE, 16, 16, int(Format.P8)),
    SurfaceDesc(14, _KIND.TEXTURE, 16, 16, int(Format.DXT1), levels=3),
    SurfaceDesc(15, _KIND.SURFACE, 64, 64, int(Format.X8R8G8B8), samples=4),
    SurfaceDesc(16, _KIND.TEXTURE, 64, 64, int(Format.A16B16G16R16F)),
)
"""What there is, with the small numbers that handles mostly are."""

_TOKENS = [TABLE[op] for op in sorted(TABLE)]


class Played(msgspec.Struct):
    """What came of a stream.  Mutable: it grows as the stream is played.

    ``executed`` counts tokens that did what they say, ``refused`` those that ended their call
    with a failure; ``missing`` are things that are not built.
    """

    executed: Counter[Op] = msgspec.field(default_factory=Counter)
    refused: Counter[Op] = msgspec.field(default_factory=Counter)
    missing: Counter[str] = msgspec.field(default_factory=Counter)
    digest: str = ""


def play(seed: int, calls: int, engine: str = REFERENCE) -> Played:
    """A whole stream, on a driver of its own."""
    return _Stage(seed, engine).play(calls)


class _Stage:
    """A driver and the random numbers that steer it.  Mutable: the play goes on."""

    def __init__(self, seed: int, engine: str) -> None:
        self.rng = Random(seed)
        limits = Limits(extent=256, surface_bytes=1 << 20, total_bytes=1 << 24, surfaces=64)
        timing, options = parse_timing(f"seeded:{seed}"), Options(engine=engine)
        self.driver = Driver(timing, options, limits)
        self.played = Played()
        self.seen: list[tuple[int, Op]] = []
        self.driver.command_taps.append(
            lambda call, number, token, offset: self.seen.append((offset, token.op))
        )
        self.tokens = self._shuffled()
        for desc in SURFACES:
            self.driver.create_surface(desc)
            self.driver.write(desc.handle, 0, self.rng.randbytes(self._bytes(desc.handle)))
        self.context = 0

    def play(self, calls: int) -> Played:
        digest = hashlib.sha256()
        for number in range(calls):
            if number % NEW_CONTEXT == 0:
                self._new_context()
            digest.update(repr((self._call(), self.driver.time)).encode())
        self.driver.finish()
        for desc in SURFACES:
            digest.update(self.driver.read(desc.handle, 0, self._bytes(desc.handle)))
        self.played.digest = digest.hexdigest()
        return self.played

    def _new_context(self) -> None:
        if self.context:
            self.driver.destroy_context(self.context)
        self.context += 1
        interface = self.rng.choice((7, 8, 9, 9))
        self.driver.create_context(self.context, interface=interface, color=COLOR, depth=DEPTH)

    def _bytes(self, handle: int) -> int:
        surface = self.driver.gpu.heap.get(handle)
        return 0 if surface is None else surface.data.nbytes

    def _call(self) -> tuple[object, ...]:
        """One call of up to four tokens; the answer, or what is not built."""
        commands = b""
        for _ in range(self.rng.randrange(5)):
            commands += self._token(next(self.tokens), len(commands))
        commands = commands if len(commands) <= BUFFER else b""
        self.seen.clear()
        call = Call(
            self.context, lpDDCommands=COMMANDS, dwCommandLength=len(commands), commands=commands,
            dwFlags=1, dwVertexType=FVF, dwVertexLength=VERTICES,
            vertices=self._vertices(),
        )  # fmt: skip
        try:
            answer = self.driver.submit(call)
        except Unsupported as error:
            self.played.missing[error.what] += 1
            self.played.executed.update(op for _, op in self.seen[:-1])
            return (error.what,)
        self._note(failed=answer.fault is not None)
        return answer.ddrval, answer.dwErrorOffset, answer.response

    def _vertices(self) -> bytes:
        """Anything, or what lies around the screen."""
        if self.rng.random() < 0.25:
            return self.rng.randbytes(VERTICES * VERTEX)
        return b"".join(
            struct.pack(
                "<4fI2f", self.rng.uniform(-8, 72), self.rng.uniform(-8, 72), self.rng.random(),
                1.0, self.rng.getrandbits(32), self.rng.uniform(-1, 2), self.rng.random(),
            )
            for _ in range(VERTICES)
        )  # fmt: skip

    def _note(self, *, failed: bool) -> None:
        done = self.seen[:-1] if failed else self.seen
        self.played.executed.update(op for _, op in done)
        self.played.refused.update(op for _, op in self.seen[len(done) :])

    def _token(self, token: Token, at: int) -> bytes:
        """Anything of the token's shape, or its sample, which mostly means something."""
        if token.samples and token.vertices is None and self.rng.random() < 0.5:
            return self.rng.choice(token.samples)
        return generate(token, self.rng, at=at, vertex_size=VERTEX)

    def _shuffled(self) -> Iterator[Token]:
        """All tokens, again and again, each time in another order."""
        while True:
            yield from self.rng.sample(_TOKENS, len(_TOKENS))


def differ(seed: int, calls: int, engine: str, total: Played) -> bool:
    """Whether two plays of a stream differ; adds what the first was to ``total``."""
    first, second = play(seed, calls), play(seed, calls, engine)
    total.executed += first.executed
    total.refused += first.refused
    total.missing += first.missing
    return first.digest != second.digest


def main() -> int:
    """Play, print and say whether all is well."""
    parser = argparse.ArgumentParser(description="Play random streams twice.")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--engine", default=REFERENCE, help="of the second play")
    asked = parser.parse_args()
    total = Played()
    seeds = range(asked.first, asked.first + asked.seeds)
    different = [seed for seed in seeds if differ(seed, asked.calls, asked.engine, total)]
    for token in _TOKENS:
        print(f"{token.name:26} {total.executed[token.op]:8} {total.refused[token.op]:8} refused")
    for what, times in sorted(total.missing.items()):
        print(f"not built: {what}, {times} times")
    print(f"{len(seeds)} streams of {asked.calls} calls, {len(different)} differ: {different}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
