"""The protocol between a rig and a driver in another process: records, as in a raw driver log.

Both sides begin with the log's magic, and each record of the rig has one reply.  The rig sends
records of a log and those of ``Ask``; the driver replies with ANSWER to a call, MEMORY to a read,
and a record of ``Reply`` to others.  ``dp2emu/capture/c/dp2stub.h`` implements the driver's side
in C, ``host`` in Python.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from construct import Struct

from dp2emu.capture.payloads import Head
from dp2emu.capture.rawlog import RECORD
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.errors import CaptureError

VERSION = 1


class Ask(IntEnum):
    """Tags of the records that only a rig sends to a driver."""

    HELLO = 0x101
    MAKE = 0x102
    READ = 0x103
    FINISH = 0x104
    INFO = 0x105


class Reply(IntEnum):
    """Tags of records that only a driver sends: its greeting, and the result of a request."""

    WELCOME = 0x181
    DONE = 0x182
    INFO = 0x183


CORRUPT, UNKNOWN = 0xE0000001, 0xE0000002
"""Results in DONE by which a stub refuses a damaged record, and one that it does not support."""

HELLO = Head(Struct("version" / DWORD))
WELCOME = Head(Struct("version" / DWORD, "abi" / DWORD, "payload_bytes" / DWORD))
"""Payload of the record WELCOME, a driver's greeting: protocol version, ``abi`` (bits of a
pointer, 32 or 64), and the most bytes that a payload sent to it may have."""
DONE = Head(Struct("result" / DWORD))
ASK_INFO = Head(Struct("guid_low" / QWORD, "guid_high" / QWORD))
"""Head of the record INFO to a driver, before the data of DdGetDriverInfo: the GUID's 16 bytes."""
INFO = Head(Struct("handled" / DWORD, "ddRVal" / DWORD, "dwActualSize" / DWORD, "bytes" / DWORD))
"""Head of the record INFO from a driver: DDHAL_DRIVER_*, results, size of the data behind it.
After the data there is a DDPIXELFORMAT for each texture format of D3DHAL_GLOBALDRIVERDATA."""
READ = Head(Struct("handle" / QWORD, "offset" / QWORD, "size" / QWORD))
MAKE = Head(
    Struct(
        "handle" / QWORD, "parent" / QWORD, "offset" / QWORD, "bytes" / QWORD,
        "kind" / DWORD, "width" / DWORD, "height" / DWORD, "depth" / DWORD,
        "pitch" / DWORD, "levels" / DWORD, "caps" / DWORD, "caps2" / DWORD,
        "dwSize" / DWORD, "dwFlags" / DWORD, "dwFourCC" / DWORD, "dwRGBBitCount" / DWORD,
        "dwRBitMask" / DWORD, "dwGBitMask" / DWORD, "dwBBitMask" / DWORD,
        "dwRGBAlphaBitMask" / DWORD,
    )
)  # fmt: skip
"""Payload of the record MAKE, which creates a surface: size, levels, DDSCAPS, DDPIXELFORMAT, and
its memory: ``bytes`` bytes, separate or from ``offset`` of surface ``parent`` on."""

MOST_FORMATS = 1024
"""Maximum number of formats that are asked of a driver; more are not read."""

LONGEST = 64 << 20
"""Maximum size in bytes of the payload of a record between rig and driver."""


class Message(NamedTuple):
    """A record as sent: its tag, the sender's clock in ticks, and its payload."""

    tag: int
    time: int
    payload: bytes


def receive(take: Callable[[int], bytes]) -> Message:
    """Read and return the next record; ``take(n)`` must return exactly n bytes, or raise.

    Raises CaptureError if the record is damaged or longer than ``LONGEST``.
    """
    head = take(RECORD.size)
    tag, length, time, crc = RECORD.unpack(head)
    if length > LONGEST:
        raise CaptureError(f"record of {length} bytes")
    payload = take(length)
    if zlib.crc32(payload, zlib.crc32(head[:-4])) != crc:
        raise CaptureError("record checksum is wrong")
    return Message(tag, time, payload)
