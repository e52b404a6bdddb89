"""The protocol between a served rig and its driver: records, as in a raw driver log.

Both sides begin with the log's magic, and each record of the rig has one reply.  The rig sends
records of a log and those of ``Ask``; the driver replies with ANSWER to a call, MEMORY to a read,
and else with those of ``Reply``.  ``dp2emu/capture/c/dp2stub.h`` implements the driver's side in
C, ``host`` in Python.
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


class Reply(IntEnum):
    """Tags of the records that only a driver sends to a rig."""

    WELCOME = 0x181
    DONE = 0x182


CORRUPT, UNKNOWN = 0xE0000001, 0xE0000002
"""Results in DONE by which a stub refuses a damaged record, and one that it does not support."""

HELLO = Head(Struct("version" / DWORD))
WELCOME = Head(Struct("version" / DWORD, "abi" / DWORD, "payload_bytes" / DWORD))
"""Payload of WELCOME: ``abi`` is 32 or 64, ``payload_bytes`` the length of the longest payload
that the driver accepts."""
DONE = Head(Struct("result" / DWORD))
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
"""Payload of MAKE, a surface: its memory, ``bytes`` of its own or at ``offset`` of a parent's, and
its DDSCAPS and DDPIXELFORMAT."""

LONGEST = 64 << 20
"""Maximum size in bytes of the payload of a record between rig and driver."""


class Message(NamedTuple):
    """A record: its tag, the sender's time in ticks of its clock, its payload."""

    tag: int
    time: int
    payload: bytes


def receive(take: Callable[[int], bytes]) -> Message:
    """Return the next record; ``take`` returns the number of bytes asked for, or raises.

    Raises CaptureError if the record is damaged or too long.
    """
    head = take(RECORD.size)
    tag, length, time, crc = RECORD.unpack(head)
    if length > LONGEST:
        raise CaptureError(f"record of {length} bytes")
    payload = take(length)
    if zlib.crc32(payload, zlib.crc32(head[:-4])) != crc:
        raise CaptureError("record checksum is wrong")
    return Message(tag, time, payload)
