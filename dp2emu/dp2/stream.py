"""The command bytes of one call, apart from the memory they were in."""

from __future__ import annotations

from dp2emu.d3d.fvf import fvf_size
from dp2emu.dp2.call import Call
from dp2emu.dp2.walk import HEADER_BYTES, VERTEX_ALIGNMENT, Scan, scan


class CommandStream:
    """``data`` is what lay at dwCommandOffset of the command surface when the call was made.

    Offsets are from the start of that surface, as in dwErrorOffset; bytes of it that are not
    command bytes read as zero.  ``memory`` is the surface from byte ``base`` on, and the commands
    are its bytes from ``start`` to ``end``.
    """

    def __init__(self, call: Call, data: bytes) -> None:
        self._call = call
        # Inline vertices are aligned from the surface's start (reference 3.2).
        lead = call.dwCommandOffset % VERTEX_ALIGNMENT
        self.base = call.dwCommandOffset - lead
        self.memory = bytes(lead) + data[: call.dwCommandLength] if lead else data
        self.start = lead
        self.end = lead + min(len(data), call.dwCommandLength)

    def scan(self, interface: int = 9) -> Scan:
        """The tokens, for an application of DirectX ``interface``.  Raises Fault: bad FVF."""
        size = self._call.dwVertexSize or fvf_size(self._call.dwVertexType, interface)
        found = scan(self.memory, self.start, self.end, size)
        if self.base == 0:
            return found
        base = self.base
        commands = [
            (offset + base, token, n, start + base, end + base)
            for offset, token, n, start, end in found.commands
        ]
        problem = found.problem
        if problem is not None:
            problem.offset = found.stop + base
        return Scan(commands, found.stop + base, problem)

    def body(self, offset: int) -> bytes:
        """Everything behind the header of the token at ``offset``."""
        return self.memory[offset - self.base + HEADER_BYTES : self.end]
