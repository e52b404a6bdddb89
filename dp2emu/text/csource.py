"""C source of a capture, which makes its calls to the driver it is linked with.

The file includes the headers of the kit, so it needs only a compiler and the driver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TextIO

from dp2emu.capture import records
from dp2emu.capture.headers import INCLUDES
from dp2emu.capture.records import Record
from dp2emu.dp2.call import Call
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.rig.describing import make_payload
from dp2emu.text.commands import Shown, command_lines, response_lines
from dp2emu.text.contexts import Contexts

HEADERS = ("dp2.h", "dp2log.h", "dp2stub.h", "dp2entry.h", "dp2play.h")
"""Header files of the driver kit, in the order in which the generated C source includes them."""

_INCLUDE = re.compile(r'^#include "dp2[a-z]*\.h"\n', re.MULTILINE)
_LINE_BYTES = 16
_COMMENT = 96
"""Largest number of characters of a token's text in a comment of the C source."""

_MEMBERS = (
    "dwhContext", "dwFlags", "dwVertexType", "lpDDCommands", "dwCommandOffset",
    "dwCommandLength", "lpDDVertex", "dwVertexOffset", "dwVertexLength", "dwVertexSize",
    "dwReqVertexBufSize", "dwReqCommandBufSize", "lpdwRStates",
)  # fmt: skip
"""Names of the D3DHAL_DRAWPRIMITIVES2DATA members that the caller sets."""


class CWriter:
    """A writer of records as a C89 program.  Mutable: it tracks contexts and surfaces.

    Each record becomes a function ``step_N``; ``main`` calls them in order, and returns 1 if an
    answer differs from the recorded one.  ``finish`` must be called at the end.
    """

    def __init__(self, out: TextIO, name: str = "a capture") -> None:
        """``name`` is the capture's name, for the comment at the start of the C source."""
        self._out = out
        self._contexts = Contexts()
        self._surfaces: dict[int, SurfaceDesc] = {}
        self._context = 0
        self._steps = 0
        out.write(f"/*\n * Calls of {comment(name)}, written by dp2emu convert.\n *\n")
        out.write(" *     gcc this.c mydriver.c -o reproducer\n */\n\n")
        for header in HEADERS:
            out.write(_INCLUDE.sub("", (INCLUDES / header).read_text("utf-8")))

    def write(self, record: Record) -> None:
        """Append the C code that repeats a record.

        Raises Unsupported for colour keys, flips, blits, and functions of the Direct3D 10/11
        interface, for which the C headers have nothing.
        """
        if what := _UNSUPPORTED.get(type(record)):
            raise Unsupported(f"{what} in C")
        self._contexts.see(record)
        if not isinstance(record, _UNSEEN):
            _WRITE[type(record)](self, record)

    def finish(self) -> None:
        """Append ``main``."""
        calls = "".join(f"    step_{number}();\n" for number in range(self._steps))
        self._out.write("\nint main(void)\n{\n    dp2play_begin();\n")
        self._out.write(f"{calls}    return dp2play_end();\n}}\n")

    # Records

    def _context_created(self, record: records.ContextCreated) -> None:
        handles = ", ".join(map(_number, (record.context, record.color, record.depth)))
        self._step(f"dp2play_context({record.interface}, {handles});")

    def _context_destroyed(self, record: records.ContextDestroyed) -> None:
        self._step(f"dp2play_no_context({_number(record.context)});")

    def _surface_created(self, record: records.SurfaceCreated) -> None:
        desc = record.desc
        payload = make_payload(desc, self._surfaces)
        self._surfaces[desc.handle] = desc
        what = f"surface {desc.handle}: {desc.kind.name} of {desc.width} x {desc.height}"
        self._step(f"dp2play_surface({self._bytes('made', _plain(payload), what)});")

    def _surface_destroyed(self, record: records.SurfaceDestroyed) -> None:
        self._surfaces.pop(record.handle, None)
        self._step(f"dp2play_no_surface({_number(record.handle)});")

    def _memory(self, record: records.MemoryWritten) -> None:
        what = f"{len(record.data)} bytes at {record.offset} of surface {record.handle}"
        place = f"{_number(record.handle)}, {_number(record.offset)}"
        data = self._bytes("memory", _plain(record.data), what)
        self._step(f"dp2play_memory({place}, {data}, {len(record.data)});")

    def _called(self, record: records.Called) -> None:
        call = record.call
        self._context = call.dwhContext
        commands = self._commands(call)
        vertices = "NULL"
        if call.vertices is not None:
            vertices = self._bytes("vertices", _plain(call.vertices), "what lpVertices points at")
        sizes = len(call.commands or b""), len(call.vertices or b"")
        members = {name: getattr(call, name) for name in _MEMBERS}
        given = [f"data.{name} = {_member(name, v)};" for name, v in members.items() if v]
        self._step(
            "DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) data;",
            "dp2stub_clear(&data, sizeof(data));",
            *given,
            f"dp2play_call(&data, {commands}, {sizes[0]}, {vertices}, {sizes[1]});",
        )

    def _commands(self, call: Call) -> str:
        if call.commands is None:
            return "NULL"
        lines = command_lines(call, self._contexts)
        rows = _rows(call.commands, lines, call.dwCommandOffset)
        return self._bytes("commands", rows, "the command buffer")

    def _answered(self, record: records.Answered) -> None:
        answer = record.answer
        lines = response_lines(answer.response, self._context, self._contexts)
        data = self._bytes("response", _rows(answer.response, lines, 0), "what was answered")
        head = f"{answer.ddrval:#010x}u, {answer.dwErrorOffset:#x}u"
        self._step(f"dp2play_expect({head}, {data}, {len(answer.response)});")

    def _annotation(self, record: records.Annotation) -> None:
        self._out.write(f"\n/* {comment(record.key)}: {comment(record.text)} */\n")

    def _frame(self, record: records.FrameMarker) -> None:
        self._out.write(f"\n/* frame {record.frame} */\n")

    # C

    def _bytes(self, noun: str, rows: Iterator[tuple[bytes, str]], what: str) -> str:
        """Write the bytes of ``rows`` as a C array; returns its name, ``""`` without rows."""
        name = f"{noun}_{self._steps}"
        first = next(rows, None)
        if first is None:
            return '(const dp2_u8 *)""'
        self._out.write(f"\n/* {comment(what)} */\nstatic const dp2_u8 {name}[] = {{\n")
        self._row(*first)
        for row in rows:
            self._row(*row)
        self._out.write("};\n")
        return name

    def _row(self, data: bytes, said: str) -> None:
        for at in range(0, len(data), _LINE_BYTES):
            line = "".join(f"0x{byte:02x}," for byte in data[at : at + _LINE_BYTES])
            beside = f" /* {comment(said)[:_COMMENT]} */" if said and at == 0 else ""
            self._out.write(f"    {line}{beside}\n")

    def _step(self, *statements: str) -> None:
        body = "".join(f"    {statement}\n" for statement in statements)
        self._out.write(f"\nstatic void step_{self._steps}(void)\n{{\n{body}}}\n")
        self._steps += 1


def comment(text: str) -> str:
    """Text for a comment in C: printable ASCII without comment marks and trigraphs.

    >>> comment("a */ b?\\n")
    'a * / b?\\\\n'
    """
    shown = text.encode("unicode_escape").decode("ascii")
    return re.sub(r"(?<=/)(?=\*)|(?<=\*)(?=/)|(?<=\?)(?=\?)", " ", shown).rstrip("\\")


def _number(value: int) -> str:
    return f"DP2PLAY_U64({value >> 32:#x}u, {value & 0xFFFFFFFF:#x}u)"


def _member(name: str, value: int) -> str:
    return f"(dp2_uptr){_number(value)}" if name.startswith("lp") else f"{value:#x}u"


def _plain(data: bytes) -> Iterator[tuple[bytes, str]]:
    """``data`` as a single row (bytes, "") of a C array, with no comment; none if empty."""
    if data:
        yield data, ""


def _rows(data: bytes, lines: Iterator[Shown], base: int) -> Iterator[tuple[bytes, str]]:
    """(bytes, text) of each line of a dump of ``data``, which begins at byte offset ``base``."""
    starts = [(s.line.at - base, s.line.text) for s in lines if s.line.sizes is not None]
    marks = [(0, ""), *starts, (len(data), "")]
    for (start, said), (stop, _) in pairwise(marks):
        if start < stop:
            yield data[start:stop], said


_UNSUPPORTED = {
    records.Blitted: "blits",
    records.ColorKeyRemoved: "colour keys",
    records.ColorKeySet: "colour keys",
    records.EntryCalled: "functions of the Direct3D 10/11 interface",
    records.Flipped: "flips",
}
_UNSEEN = (records.Locked, records.Observed, records.Pictured)
"""Types of record that the C source omits, since they call no driver: waits for the GPU (Locked),
and what the recorded program observed."""
_WRITE: dict[type[Any], Callable[[CWriter, Any], None]] = {
    records.Annotation: CWriter._annotation,
    records.Answered: CWriter._answered,
    records.Called: CWriter._called,
    records.ContextCreated: CWriter._context_created,
    records.ContextDestroyed: CWriter._context_destroyed,
    records.FrameMarker: CWriter._frame,
    records.MemoryWritten: CWriter._memory,
    records.SurfaceCreated: CWriter._surface_created,
    records.SurfaceDestroyed: CWriter._surface_destroyed,
}
