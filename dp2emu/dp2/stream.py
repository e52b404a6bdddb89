"""Walking the command bytes of one call, without a driver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from dp2emu.d3d.fvf import fvf_size
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import VERTEX_ALIGNMENT, Scan, scan
from dp2emu.shader.engines import compiles

LONG = 1 << 20
"""Commands of a call of at least this many bytes have their tokens counted by compiled code."""
_STRETCH = 4096
"""Maximum number of tokens in one ``Scan``, which bounds the memory."""


class CommandStream:
    """The commands of a call: ``data`` are the bytes at dwCommandOffset of the command surface.

    Offsets are from the start of that surface, as in dwErrorOffset; its other bytes read as zero.
    ``memory`` is the surface from byte ``base`` on, and the commands are its bytes from ``start``
    to ``end``.  ``scan`` is that function of a parser.
    """

    def __init__(self, call: Call, data: bytes, scan: Callable[..., Scan] = scan) -> None:
        self._call = call
        self._scan = scan
        # Inline vertices are aligned from the surface's start (wire format, "Inline vertices").
        lead = call.dwCommandOffset % VERTEX_ALIGNMENT
        self.base = call.dwCommandOffset - lead
        self.memory = bytes(lead) + data[: call.dwCommandLength] if lead else data
        self.start = lead
        self.end = lead + min(len(data), call.dwCommandLength)

    def census(self, interface: int = 9) -> Counter[str]:
        """The number of occurrences of each token, and of "(malformed)".

        Raises Fault as ``scans`` does.
        """
        found: Counter[str] = Counter()
        if self.end - self.start < LONG or not compiles():
            for each in self.scans(interface):
                found.update(command[1].name for command in each.commands)
                found["(malformed)"] += each.problem is not None
            return found
        # Imported here: for short streams importing the compiler takes longer than the walk.
        from dp2emu.dp2.header_scan import headers

        data, at, problem = np.frombuffer(self.memory, np.uint8), self.start, None
        while problem is None and at < self.end:
            offsets, at, problem = headers(self.memory, at, self.end, self._vertex_size(interface))
            ops = np.bincount(data[offsets], minlength=256)
            found.update({TABLE[op].name: int(ops[op]) for op in np.flatnonzero(ops).tolist()})
        found["(malformed)"] += problem is not None
        return found

    def scans(self, interface: int = 9) -> Iterator[Scan]:
        """Yield the tokens in scans of bounded size, for an application of DirectX ``interface``.

        Only the last scan may end at a malformed token.  Raises Fault for a bad vertex format.
        """
        stretches = self.stretches(self._vertex_size(interface))
        return map(self._moved, stretches) if self.base else stretches

    def _vertex_size(self, interface: int) -> int:
        return self._call.dwVertexSize or fvf_size(self._call.dwVertexType, interface)

    def stretches(self, vertex_size: int) -> Iterator[Scan]:
        """Yield the tokens in scans of bounded size, with offsets into ``memory``; ``vertex_size``
        is in bytes, of inline vertices.
        """
        at = self.start
        while True:
            found = self._scan(self.memory, at, self.end, vertex_size, limit=_STRETCH)
            at = found.stop
            yield found
            if found.wrong is not None or at >= self.end:
                return

    def payload(self, start: int, end: int) -> bytes:
        """Bytes ``start`` to ``end`` of the command surface, such as the payload of a token."""
        return self.memory[start - self.base : end - self.base]

    def _moved(self, found: Scan) -> Scan:
        """Return a scan with ``base`` added to its offsets: offsets into the surface."""
        base, wrong = self.base, found.wrong
        if wrong is not None:
            op, token, *places = wrong
            at, stop, end = (place + base for place in places)
            wrong = op, token, at, stop, end
        commands = [
            (offset + base, token, n, start + base, end + base)
            for offset, token, n, start, end in found.commands
        ]
        return Scan(commands, found.stop + base, wrong)
