"""The driver that inputs are executed on, and the calls that an input encodes.

An input is a byte that chooses the DirectX version, then the command bytes of calls, separated by
``CALL``.  Surfaces and the context have small handles, so that random handles often exist.
"""

from __future__ import annotations

import io
from collections.abc import Hashable, Iterable, Iterator, Sequence
from random import Random
from struct import pack

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import Called, ContextCreated, MemoryWritten, Record, SurfaceCreated
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import WALK
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.errors import Dp2Error, Unsupported
from dp2emu.fuzz import grammar
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.gpu.resource.heap import BUFFERS, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.limits import FUZZING
from dp2emu.shader.engines import REFERENCE
from dp2emu.text.dump import TextWriter

CALL = b"\xffDP2"
"""Bytes that separate the calls of a fuzzing input; no command has their first byte as opcode."""
INTERFACES = (9, 8, 7, 6)
COLOR, DEPTH, COMMANDS = 1, 2, 3
ROOM = 4096
"""Size of the command surface in bytes."""
FVF = 0x144
VERTICES = 64
MOST_CALLS = 8
LONGEST = MOST_CALLS * (ROOM + len(CALL))
"""Bytes of an input that is all executed."""
_WORK = ("vertices", "primitives", "entered", "clipped", "fragments", "samples", "vertex_bytes",
         "pixel_bytes", "upload_bytes", "texture_cache_lookups")  # fmt: skip
"""Names of the GPU counters whose values are features of a stream."""
_KIND = SurfaceKind
SURFACES = (
    SurfaceDesc(COLOR, _KIND.SURFACE, 64, 64, Format.X8R8G8B8),
    SurfaceDesc(DEPTH, _KIND.SURFACE, 64, 64, Format.D24S8),
    SurfaceDesc(COMMANDS, _KIND.MEMORY, ROOM),
    SurfaceDesc(4, _KIND.VERTEXBUFFER, 2048),
    SurfaceDesc(5, _KIND.VERTEXBUFFER, 256),
    SurfaceDesc(6, _KIND.INDEXBUFFER, 512),
    SurfaceDesc(7, _KIND.TEXTURE, 16, 16, Format.A1),
    SurfaceDesc(8, _KIND.TEXTURE, 32, 32, Format.A8R8G8B8, levels=6),
    SurfaceDesc(9, _KIND.CUBETEXTURE, 16, 16, Format.R5G6B5, levels=2),
    SurfaceDesc(10, _KIND.VOLUMETEXTURE, 8, 8, Format.A8R8G8B8, depth=4, levels=2),
    SurfaceDesc(11, _KIND.TEXTURE, 16, 16, Format.P8),
    SurfaceDesc(12, _KIND.TEXTURE, 16, 16, Format.DXT1, levels=3),
    SurfaceDesc(13, _KIND.SURFACE, 64, 64, Format.X8R8G8B8, samples=4),
    SurfaceDesc(14, _KIND.TEXTURE, 64, 64, Format.A16B16G16R16F),
)
"""Descriptions of the surfaces that exist for every fuzzing input: at least one of each kind."""


def _vertices() -> bytes:
    rng = Random(0)
    return b"".join(
        pack("<4fI2f", rng.uniform(-8, 72), rng.uniform(-8, 72), rng.random(), 1.0,
             rng.getrandbits(32), rng.uniform(-1, 2), rng.random())
        for _ in range(VERTICES)
    )  # fmt: skip


USER_VERTICES = _vertices()
"""Bytes of vertices on and around the screen: the user memory of every fuzzed call."""
_BUFFERS = tuple(MemoryWritten(handle, 0, USER_VERTICES[: 1 << 8]) for handle in (4, 5, 6))
_SIZES = {
    desc.handle: desc.width
    if desc.kind in BUFFERS
    else sum(level.size for level in layout_of(desc))
    for desc in SURFACES
}


def program(rng: Random) -> bytes:
    """Return a random input: a DirectX version, and one to three calls of random tokens."""
    calls = [grammar.stream(rng) for _ in range(rng.randrange(1, 4))]
    return bytes((rng.choice((0, 0, 1, 2, 3)),)) + CALL.join(calls)


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate, insert, repeat or remove one call of an input, or change its DirectX version."""
    head, calls = data[:1] or b"\0", data[1:].split(CALL)
    others = other[1:].split(CALL)
    at, kind = rng.randrange(len(calls)), rng.randrange(12)
    if kind == 0:
        calls.insert(at, rng.choice(others))
    elif kind == 1:
        calls.append(calls[at])
    elif kind == 2:
        del calls[at]
    elif kind == 3:
        head = bytes((rng.randrange(len(INTERFACES)),))
    else:
        calls[at] = grammar.mutate(rng, calls[at], rng.choice(others))
    return head + CALL.join(calls[:MOST_CALLS])


def grow(rng: Random, data: bytes) -> bytes:
    """Make an input about twice as long: more calls, or longer ones, up to ``LONGEST`` bytes."""
    head, calls = data[:1] or b"\0", data[1:].split(CALL)
    if rng.random() < 0.3:
        calls = [call for call in calls for _ in range(2)]
    else:
        calls = [grammar.grow(rng, call)[:ROOM] for call in calls]
    return head + CALL.join(calls[:MOST_CALLS])


def calls_of(data: bytes, context: int = 1) -> Iterator[Call]:
    """Yield the calls of an input, and an empty one that fetches the remaining responses."""
    for commands in (*data[1:].split(CALL)[:MOST_CALLS], b""):
        commands = commands[:ROOM]
        yield Call(
            context, COMMANDS, dwCommandLength=len(commands), commands=commands,
            dwFlags=int(Dp2Flags.USERMEMVERTICES), dwVertexType=FVF, dwVertexLength=VERTICES,
            vertices=USER_VERTICES,
        )  # fmt: skip


def shortened(call: Call, commands: bytes) -> Call:
    """Return the call with ``commands`` instead of its own."""
    return replace(call, commands=commands, dwCommandLength=len(commands))


def interface_of(data: bytes) -> int:
    """Return the DirectX version of an input."""
    return INTERFACES[data[0] % len(INTERFACES)] if data else INTERFACES[0]


def setting(data: bytes) -> Sequence[Record]:
    """Return the records before the first call of an input: surfaces, memory and the context."""
    made = tuple(SurfaceCreated(desc) for desc in SURFACES)
    return (*made, *_BUFFERS, ContextCreated(1, interface_of(data), COLOR, DEPTH))


def records(data: bytes) -> Sequence[Record]:
    """Return the records of a capture that executes an input: surfaces, context, calls."""
    return (*setting(data), *map(Called, calls_of(data)))


def text_of(records: Iterable[Record]) -> str:
    """Return records as capture text."""
    text = io.StringIO()
    writer = TextWriter(text)
    for record in records:
        writer.write(record)
    return text.getvalue()


class Outcome(msgspec.Struct, frozen=True):
    """The result of a call; ``raised`` is the error as text if the call raised one, else empty."""

    ddrval: int
    offset: int
    response: bytes
    raised: str = ""


class Stage:
    """A driver that executes inputs.  Mutable: inputs change its state.

    ``parser`` is the name of its decoder; the default is faster than the reference's.
    """

    def __init__(self, engine: str = REFERENCE, parser: str = WALK) -> None:
        # Threads would compete with other jobs for the processors.
        options = Options(engine=engine, threads=1, parser=parser)
        self.driver = Driver(parse_timing("fixed:call=10,packet=10,delivery=5"), options, FUZZING)

    def enter(self, data: bytes) -> None:
        """Create the surfaces and the context of an input."""
        for desc in SURFACES:
            self.driver.create_surface(desc)
        self._begin(data)

    def enter_again(self, data: bytes) -> None:
        """Reset the driver, and create the context of an input on the surfaces of the last."""
        self.driver.reset()
        self._begin(data)

    def _begin(self, data: bytes) -> None:
        heap = self.driver.gpu.heap  # nothing is queued that a host write would have to wait for
        for written in _BUFFERS:
            heap.write(written.handle, written.offset, written.data)
        self.driver.create_context(1, interface=interface_of(data), color=COLOR, depth=DEPTH)

    def leave(self) -> None:
        """Destroy the context and the surfaces."""
        self.driver.destroy_context(1)
        for desc in SURFACES:
            if self.driver.gpu.heap.get(desc.handle) is not None:
                self.driver.destroy_surface(desc.handle)

    def play(self, data: bytes) -> list[Outcome]:
        """Execute the calls of an input; return the outcome of each."""
        return [self.call(call) for call in calls_of(data)]

    def call(self, call: Call) -> Outcome:
        """Execute a call; return its result or, as an outcome too, the error it raised."""
        try:
            answer: Answer = self.driver.submit(call)
        except Unsupported as error:
            return Outcome(0, error.offset or 0, b"", error.what)
        except Dp2Error as error:
            return Outcome(0, error.offset or 0, b"", type(error).__name__)
        return Outcome(answer.ddrval, answer.dwErrorOffset, answer.response)

    def memory(self) -> list[bytes]:
        """Return the contents of all surfaces once the GPU is idle."""
        self.driver.finish()
        return [self.driver.read(handle, 0, size) for handle, size in _SIZES.items()]

    def work(self) -> frozenset[tuple[str, int]]:
        """Return the nonzero counters of the GPU, rounded to powers of two."""
        counters = self.driver.gpu.counters
        done = ((name, int(getattr(counters, name))) for name in _WORK)
        return frozenset((name, number.bit_length()) for name, number in done if number)

    def state(self) -> Hashable:
        """Return the contents of all surfaces but the command buffer, and the context's state."""
        memory = self.memory()
        del memory[COMMANDS - 1]
        context = self.driver.context(1)
        facts = facts_of(context) if context else {}
        return (*memory, *(f"{k}: {v}" for k, v in facts.items() if k != "queries"))
