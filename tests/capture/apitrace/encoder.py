"""Traces made by hand: events, values and signatures as bytes, and the containers around them."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from functools import partial

import cramjam
import zstandard

from dp2emu.capture.apitrace.values import (
    MISSING,
    Bitmask,
    Double,
    Enum,
    Pointer,
    Repr,
    StackFrame,
    Struct,
    TraceCall,
    Value,
    WideString,
)


def uint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return uint(len(data)) + data


def signed(value: int) -> bytes:
    return bytes([3 if value < 0 else 4]) + uint(abs(value))


class Encoder:
    """Writes calls, each signature in full where it is first used."""

    def __init__(self, version: int = 6) -> None:
        self.version = version
        self._known: dict[object, int] = {}

    def _id(self, signature: object, full: bytes) -> bytes:
        key = (type(signature), signature)
        if key in self._known:
            return uint(self._known[key])
        # Ids have gaps and are not dense, which the format allows.
        self._known[key] = number = 3 * len(self._known)
        return uint(number) + full

    def value(self, value: Value) -> bytes:
        if value is None:
            return b"\0"
        if isinstance(value, bool):
            return bytes([1 + value])
        if isinstance(value, int):
            return signed(value)
        if isinstance(value, Double):
            return b"\x06" + struct.pack("<d", value)
        if isinstance(value, float):
            return b"\x05" + struct.pack("<f", value)
        if isinstance(value, WideString):
            units = value.encode("utf-16-le", "surrogatepass")
            words = struct.unpack(f"<{len(units) // 2}H", units)
            return b"\x0f" + uint(len(words)) + b"".join(map(uint, words))
        if isinstance(value, str):
            return b"\x07" + string(value)
        if isinstance(value, bytes):
            return b"\x08" + uint(len(value)) + value
        if isinstance(value, tuple):
            return b"\x0b" + uint(len(value)) + b"".join(map(self.value, value))
        if isinstance(value, Pointer):
            return b"\x0d" + uint(value.value)
        if isinstance(value, Repr):
            return b"\x0e" + self.value(value.human) + self.value(value.machine)
        return self._signed_value(value)

    def _signed_value(self, value: Enum | Bitmask | Struct) -> bytes:
        signature = value.signature
        if isinstance(value, Enum):
            names = [string(name) + signed(number) for name, number in value.signature.names]
            if self.version < 3:
                return b"\x09" + self._id(signature, names[0])
            full = uint(len(names)) + b"".join(names)
            return b"\x09" + self._id(signature, full) + signed(value.value)
        if isinstance(value, Bitmask):
            flags = [string(name) + uint(bits) for name, bits in value.signature.flags]
            full = uint(len(flags)) + b"".join(flags)
            return b"\x0a" + self._id(signature, full) + uint(value.value)
        full = string(value.signature.name) + _names(value.signature.members)
        head = b"\x0c" + self._id(signature, full)
        return head + b"".join(map(self.value, value.members))

    def enter(self, call: TraceCall, arguments: Sequence[int] = ()) -> bytes:
        """The enter event, with the arguments of those indexes."""
        thread = uint(call.thread)
        full = string(call.function.name) + _names(call.function.arguments)
        head = (thread if self.version >= 4 else b"") + self._id(call.function, full)
        details = b"" if self.version >= 4 else b"\x03" + thread
        if call.flags:
            details += b"\x05" + uint(call.flags)
        if call.backtrace:
            frames = b"".join(map(self._frame, call.backtrace))
            details += b"\x04" + uint(len(call.backtrace)) + frames
        return b"\0" + head + details + self._arguments(call, arguments) + b"\0"

    def leave(self, call: TraceCall, arguments: Sequence[int] = ()) -> bytes:
        """The leave event, with the arguments of those indexes and the result."""
        result = b"" if call.result is MISSING else b"\x02" + self.value(call.result)
        return b"\x01" + uint(call.number) + self._arguments(call, arguments) + result + b"\0"

    def both(self, call: TraceCall) -> bytes:
        """A call entered with its even arguments and left with its odd ones."""
        count = len(call.arguments)
        return self.enter(call, range(0, count, 2)) + self.leave(call, range(1, count, 2))

    def _arguments(self, call: TraceCall, indexes: Sequence[int]) -> bytes:
        return b"".join(
            b"\x01" + uint(index) + self.value(call.arguments[index])
            for index in indexes
            if call.arguments[index] is not MISSING
        )

    def _frame(self, frame: StackFrame) -> bytes:
        full = b""
        for kind, text in enumerate((frame.module, frame.function, frame.file), 1):
            full += b"" if text is None else bytes([kind]) + string(text)
        for kind, number in enumerate((frame.line, frame.offset), 4):
            full += b"" if number is None else bytes([kind]) + uint(number)
        return self._id(frame, full + b"\0")


def header(version: int = 6, **properties: str) -> bytes:
    if version < 6:
        return uint(version)
    named = b"".join(string(name) + string(text) for name, text in properties.items())
    return uint(version) + uint(version) + named + string("")


def snappy(stream: bytes, size: int = 1 << 20) -> bytes:
    """The container that tracers write, cut into chunks of ``size`` bytes."""
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    packed = [bytes(cramjam.snappy.compress_raw(chunk)) for chunk in chunks]
    return b"at" + b"".join(len(data).to_bytes(4, "little") + data for data in packed)


CONTAINERS = {
    "snappy": snappy,
    "gzip": partial(gzip.compress, mtime=0),
    "zstd": zstandard.ZstdCompressor().compress,
    "brotli": lambda stream: bytes(cramjam.brotli.compress(stream)),
}


def _names(names: Sequence[str]) -> bytes:
    return uint(len(names)) + b"".join(map(string, names))
