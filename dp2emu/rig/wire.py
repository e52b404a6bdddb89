"""What a rig and a driver elsewhere say to each other: records, as in a raw driver log.

Both begin with the log's magic; every record of the rig's is answered by one.  The rig says
records of a log, and what ``Ask`` lists; it is given an ANSWER to a call, MEMORY where it reads,
and what ``Reply`` lists.  ``dp2emu/capture/c/dp2stub.h`` is the other side, ``host`` another.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from construct import Struct

from dp2emu.capture.payloads import Head
from dp2emu.capture.rawlog import MAGIC, RECORD, pack
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.errors import CaptureError

__all__ = ["MAGIC", "Ask", "Message", "Reply", "pack", "receive"]

VERSION = 1


class Ask(IntEnum):
    """Records of a rig that no log has."""

    HELLO = 0x101
    MAKE = 0x102
    READ = 0x103
    FINISH = 0x104


class Reply(IntEnum):
    """Records of a driver's that no log has."""

    WELCOME = 0x181
    DONE = 0x182


CORRUPT, UNKNOWN = 0xE0000001, 0xE0000002
"""Results of DONE that are no driver's: a record that cannot be read, or that nobody knows."""

HELLO = Head(Struct("version" / DWORD))
WELCOME = Head(Struct("version" / DWORD, "abi" / DWORD, "payload_bytes" / DWORD))
"""``abi`` is 32 or 64; payloads may have so many bytes."""
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
"""A surface: memory of its own, or ``bytes`` at ``offset`` of a parent's, and how it is described
to a driver (DDSCAPS, DDPIXELFORMAT)."""

LONGEST = 64 << 20
"""Bytes of a payload that anybody takes."""


class Message(NamedTuple):
    """One record: its tag, the sender's time in ticks of its clock, its payload."""

    tag: int
    time: int
    payload: bytes


def receive(take: Callable[[int], bytes]) -> Message:
    """The next record; ``take`` gives exactly as many bytes as it is asked for, or raises.

    Raises CaptureError for a record that is damaged or too long.
    """
    head = take(RECORD.size)
    tag, length, time, crc = RECORD.unpack(head)
    if length > LONGEST:
        raise CaptureError(f"record of {length} bytes")
    payload = take(length)
    if zlib.crc32(payload, zlib.crc32(head[:-4])) != crc:
        raise CaptureError("record checksum is wrong")
    return Message(tag, time, payload)
