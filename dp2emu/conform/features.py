"""Features of conformance cases: the tokens, states and formats that each uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from dp2emu.capture.records import Called, ContextCreated, SurfaceCreated
from dp2emu.conform.case import Case
from dp2emu.conform.operands import (
    ABSENT,
    BUFFERED,
    COLOURS,
    FACTOR,
    LARGER,
    OFFSET,
    SMALLER,
    VERTEX_SIZE,
    Feature,
    absent,
    malformed,
    operands,
    primitives,
    queries,
)
from dp2emu.conform.script import box_vertices
from dp2emu.conform.target import BACK, FIRST_BOX
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, Format, QueryType, RenderState
from dp2emu.d3d.fvf import DIFFUSE
from dp2emu.d3d.sdk import SdkEnum, sdk_name
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import Since
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.dp2.walk import Command, decode, scan
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.text.remarks import remark

_STATES: dict[int, tuple[type[SdkEnum], Callable[[tuple[int, ...]], tuple[int, ...]]]] = {
    Op.RENDERSTATE: (WireRenderState, lambda item: item),
    Op.TEXTURESTAGESTATE: (WireTextureStageState, lambda item: item[1:]),
}
"""By opcode of a token that sets states: their names, and a function from an item of the token to
the state's number and value."""
_DEFAULTS = {sdk_name(WireRenderState, RenderState.CULLMODE) or "": Cull.CCW.sdk}
"""The states before they are set, of those by whose defaults triangles are not drawn."""
_FACTORS = [
    sdk_name(WireRenderState, state) or ""
    for state in (RenderState.SRCBLEND, RenderState.DESTBLEND)
]
"""The states that are factors of blending."""
_FIRST = box_vertices(*FIRST_BOX, BACK)
"""The vertices of the box that is drawn before a case where there is no CLEAR token."""
_FOLLOWED = "walk.", "announced.state."
"""How the names begin of cases that are judged by what is drawn after the token or state that they
try: they tell nothing of its effect.
"""
_PLACES: dict[str, Callable[[Call], int]] = {
    BUFFERED: lambda call: call.lpDDVertex, OFFSET: lambda call: call.dwVertexOffset,
}  # fmt: skip
"""Features of a call's vertices that are elsewhere than at the start of the caller's memory."""
_DRAW = re.compile("POINTS|LINE|TRIANGLE|DRAW")
"""In the names of the tokens that draw."""


def tokens_of(call: Call) -> Iterator[Command]:
    """The tokens of a call up to a malformed one."""
    data = call.commands or b""
    for each in scan(data, 0, len(data), call.dwVertexSize).commands:
        yield Command(*each)


def token_names(case: Case) -> frozenset[str]:
    """The names of the tokens of a case, of one that is cut off, too."""
    found = set()
    for record in case.calls:
        data = record.call.commands or b""
        scanned = scan(data, 0, len(data), record.call.dwVertexSize)
        found |= {Command(*each).token.op.sdk for each in scanned.commands}
        if scanned.wrong is not None and scanned.wrong[1] is not None:
            found.add(scanned.wrong[1].op.sdk)
    return frozenset(found)


def draws(case: Case) -> bool:
    """Whether what a case draws is looked at, as pixels or by an occlusion query.

    Cases that draw to see that the next token is executed do not count.
    """
    counts = any(owed.type == QueryType.OCCLUSION and any(owed.begins) for owed in case.owed)
    return (bool(case.shown) or counts) and not case.name.startswith(_FOLLOWED)


def features(case: Case) -> frozenset[Feature]:
    """What a case uses: its tokens and what is out of the ordinary in them, the states that are
    set when it draws, the types of its primitives, its textures' formats, a depth surface.
    """
    play = _Play()
    calls = 0
    for record in case.records:
        if isinstance(record, Called):
            play.call(record.call, absent(case, calls))
            calls += 1
        elif isinstance(record, ContextCreated) and record.depth:
            play.found.add(("a depth surface", ""))
        elif isinstance(record, SurfaceCreated) and record.desc.kind is SurfaceKind.TEXTURE:
            format = record.desc.format
            play.found.add(("texture format", sdk_name(Format, format) or str(format)))
    return frozenset(play.found)


class _Play:
    """The states of a case as its tokens set them.  Mutable: ``found`` grows by what is used."""

    def __init__(self) -> None:
        self.found: set[Feature] = set()
        self._states = dict(_DEFAULTS)
        self._blocks: dict[int, dict[str, str]] = {}
        self._recording: int | None = None
        self._stream = (0, 0)
        self._drawn_size = 0

    def call(self, call: Call, absent: bool) -> None:
        """Follow the tokens of a call, which may draw what does not exist if ``absent``."""
        self.found |= {*malformed(call)}
        for command in tokens_of(call):
            op = command.token.op
            body = decode(command.token, call.commands or b"", *command[2:], call.dwVertexSize)
            self.found |= {*operands(command, body), *queries(op, body)}
            if op in _STATES:
                self._set(op, body.items.tolist())
                continue
            self.found.add((op.sdk, ""))
            if op in _SETS:
                _SETS[op](self, body.items)
            elif _DRAW.search(op.name) and command.n:
                self.found |= {*self._vertices(op, call)}
                if call.vertices != _FIRST:
                    self.found |= {*self._states.items(), *primitives(command, body)}
                    self.found |= {*self._factors()}
                self.found |= {(ABSENT, "")} if absent else set()

    def _vertices(self, op: Op, call: Call) -> Iterator[Feature]:
        """The features of the vertices that a token draws."""
        own = Since.of(op) < Since.DX8
        size, format = (call.dwVertexSize, call.dwVertexType) if own else self._stream
        if own:
            yield VERTEX_SIZE, ""
            yield from ((name, "") for name, there in _PLACES.items() if there(call))
        if format & DIFFUSE:
            yield COLOURS, ""
        if self._drawn_size not in (0, size):
            yield LARGER if size > self._drawn_size else SMALLER, ""
        self._drawn_size = size

    def _factors(self) -> Iterator[Feature]:
        """The factors of blending, whether of source or target."""
        yield from ((FACTOR, self._states[name]) for name in _FACTORS if name in self._states)

    def _set(self, op: Op, items: list[tuple[int, ...]]) -> None:
        names, parts = _STATES[op]
        block = self._recording
        states = self._states if block is None else self._blocks.setdefault(block, {})
        for item in items:
            number, value = parts(item)
            name = sdk_name(names, number) or f"{op.sdk} {number}"
            states[name] = remark(op, item) or f"{value:#x}"

    def _format(self, items: Any) -> None:
        for format in items["dwHandle"].tolist():
            self._stream = self._stream[0], format

    def _source(self, items: Any) -> None:
        for stream, stride in items[["dwStream", "dwStride"]].tolist():
            if stream == 0:
                self._stream = stride, self._stream[1]

    def _blocks_set(self, items: Any) -> None:
        for operation, handle, _ in items.tolist():
            self._block(operation, handle)

    def _block(self, operation: int, handle: int) -> None:
        block = self._blocks.setdefault(handle, {})
        if operation == StateSetOperation.BEGIN:
            self._recording = handle
        elif operation == StateSetOperation.END:
            self._recording = None
        elif operation == StateSetOperation.EXECUTE:
            self._states |= block
        elif operation == StateSetOperation.CAPTURE:
            block |= {name: self._states[name] for name in block.keys() & self._states.keys()}


_SETS: dict[int, Callable[[_Play, Any], None]] = {
    Op.STATESET: _Play._blocks_set,
    Op.SETVERTEXSHADER: _Play._format,
    Op.SETSTREAMSOURCE: _Play._source,
    Op.SETSTREAMSOURCE2: _Play._source,
}
"""By opcode, methods that follow the items of tokens that set anything else than single states."""
