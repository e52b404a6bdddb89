"""Whatever comes over a line, the stub answers, refuses or ends; it touches nothing else."""

from __future__ import annotations

import os
import struct
import subprocess
from random import Random

import pytest

from dp2emu.capture.payloads import Kind
from dp2emu.capture.rawlog import MAGIC, pack
from dp2emu.d3d.hal import BY_ABI
from dp2emu.dp2.generate import generate_stream
from dp2emu.rig import wire
from dp2emu.rig.wire import Ask
from tests.native.building import SAMPLE, built

CALL = BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](64)
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


def spoken(data: bytes) -> subprocess.CompletedProcess[bytes]:
    """What the sanitized stub with the sample driver makes of some bytes."""
    stub = built("sanitized", ("dp2stub.c", *SAMPLE), *SANITIZED)
    options = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run([stub], input=data, capture_output=True, env=options, timeout=60)


def surface(handle: int, size: int, parent: int = 0, offset: int = 0) -> bytes:
    row = (handle, parent, offset, size, 0, size, 1, 1, size, 1, 0, 0, 32, *[0] * 7)
    return pack(Ask.MAKE, 0, wire.MAKE.pack(*row))


def call(commands: bytes, **members: int) -> bytes:
    """A call of context 1 with surface 3 for its commands and surface 4 for vertices."""
    values = {member.name: 0 for member in CALL.subcons}
    values |= {"dwhContext": 1, "lpDDCommands": 3, "lpDDVertex": 4} | members
    values["dwCommandLength"] = members.get("dwCommandLength", len(commands))
    payload = struct.pack("<4I", 64, 1, len(commands), 0) + CALL.build(values) + commands
    return pack(Kind.CALL, 0, payload)


OPENED = (
    MAGIC
    + pack(Ask.HELLO, 0, struct.pack("<I", wire.VERSION))
    + surface(3, 4096)
    + surface(4, 640)
    + pack(Kind.CONTEXT, 0, struct.pack("<2I3Q", 1, 9, 1, 0, 0))
)


def random_record(random: Random) -> bytes:
    """A record that is nearly right."""
    tag = random.choice((*Ask, *Kind, 0x777))
    sizes = (0, 4, 8, 16, 20, 24, 32, 40, 80, wire.MAKE.size, 100, random.randrange(300))
    words = (0, 1, 3, 4, 8, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, random.getrandbits(32))
    size = random.choice(sizes)
    data = b"".join(struct.pack("<I", random.choice(words)) for _ in range(size // 4 + 1))
    return pack(tag, 0, data[:size])


def random_call(random: Random) -> bytes:
    """A call whose commands are tokens, some of their bytes being others."""
    commands = bytearray(generate_stream(random, 8, vertex_size=32)[:4000])
    for _ in range(random.choice((0, 3, 20))):
        commands[random.randrange(len(commands))] = random.choice((0, 1, 4, 0xFF))
    numbers = (0, 1, 20, 64, 4096, 0xFFFFFFFF)
    members = {
        name: random.choice(numbers)
        for name in ("dwVertexOffset", "dwVertexLength", "dwVertexSize", "dwCommandOffset")
    }
    return call(bytes(commands), **members)


@pytest.mark.parametrize("seed", range(4))
def test_records_and_calls_of_all_sorts_harm_nothing(seed: int) -> None:
    random = Random(seed)
    records = [random.choice((random_record, random_call))(random) for _ in range(250)]
    ran = spoken(OPENED + b"".join(records))
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(MAGIC)


def odd_texture(random: Random, handle: int) -> bytes:
    """A texture, often with a pitch or size that is not its own, a part of it, and their bytes."""
    width, height, levels = random.choice((1, 2, 5, 8)), random.choice((1, 4, 7)), 4
    pitch = 4 * width + random.choice((0, 0, 0, 1, 4, 400))
    sizes = [4 * max(width >> level, 1) * max(height >> level, 1) for level in range(levels)]
    size = sum(sizes) + random.choice((0, 0, 0, 4, -4))
    pixels = (32, 0x40, 0, 32, 0xFF0000, 0xFF00, 0xFF, 0)
    caps2 = random.choice((0, 0, 0x200))
    shape = (3, width, height, 1, pitch, levels, 0x401008, caps2, *pixels)
    part = (1, 1, 1, 1, random.choice((0, 1, 3, 0x7FFFFFFF)), 1, 0x1000, 0, *pixels)
    at, part_size = sizes[0], random.choice((sizes[1], 3))
    return b"".join((
        pack(Ask.MAKE, 0, wire.MAKE.pack(handle, 0, 0, size, *shape)),
        pack(Ask.MAKE, 0, wire.MAKE.pack(handle + 1, handle, 0, sizes[0], *part)),
        pack(Ask.MAKE, 0, wire.MAKE.pack(handle + 2, handle, at, part_size, *part)),
        *(pack(Kind.MEMORY, 0, struct.pack("<2Q", handle + part, 0) + bytes(bytes_))
          for part, bytes_ in enumerate((size, sizes[0], part_size))),
        pack(Ask.READ, 0, struct.pack("<3Q", handle, 0, size)),
        pack(Ask.READ, 0, struct.pack("<3Q", handle + 2, 1, part_size - 1)),
        pack(Kind.SURFACE, 0, struct.pack("<2I4Q", 0, 0, handle, 0, 0, 0)),
    ))  # fmt: skip


def test_textures_of_all_sorts_keep_to_their_memory() -> None:
    random = Random(1)
    ran = spoken(OPENED + b"".join(odd_texture(random, 100 + 3 * i) for i in range(100)))
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.count(struct.pack("<I", wire.CORRUPT)) == 0


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x89", MAGIC[:5], b"noise on the line", MAGIC + b"\0" * 7, MAGIC + b"\xff" * 40],
)
def test_what_is_no_conversation_ends_it(damage: bytes) -> None:
    ran = spoken(damage)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_noise_before_the_magic_is_passed_over() -> None:
    hello = MAGIC[1:] + pack(Ask.HELLO, 0, struct.pack("<I", wire.VERSION))
    ran = spoken(b"\x89\x89DP2LOG2 boot \x89" + hello)
    head, _, payload = ran.stdout.partition(MAGIC)
    assert head == b""
    assert payload[20:28] == struct.pack("<2I", wire.VERSION, 64)


def test_a_damaged_record_is_told_and_ends_it() -> None:
    damaged = bytearray(OPENED + pack(Ask.FINISH, 0, b""))
    damaged[-1] ^= 1
    ran = spoken(bytes(damaged) + pack(Ask.FINISH, 0, b""))
    assert ran.stdout.endswith(struct.pack("<I", wire.CORRUPT))
