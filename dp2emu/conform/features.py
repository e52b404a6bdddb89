"""Features of conformance cases: the tokens, states and formats that each uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dp2emu.capture.records import Called, ContextCreated, SurfaceCreated
from dp2emu.conform.case import Case
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, PrimitiveType, QueryType
from dp2emu.d3d.sdk import SdkEnum, sdk_name
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import Body
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.dp2.walk import Command, decode, scan
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.text.remarks import remark

Feature = tuple[str, str]
"""What a case uses, such as a state, and its value, "" without one."""

_STATES: dict[int, tuple[type[SdkEnum], Callable[[tuple[int, ...]], tuple[int, ...]]]] = {
    Op.RENDERSTATE: (WireRenderState, lambda item: item),
    Op.TEXTURESTAGESTATE: (WireTextureStageState, lambda item: item[1:]),
}
"""By opcode of a token that sets states: their names, and a function from an item of the token to
the state's number and value."""
_DRAW = re.compile("POINTS|LINE|TRIANGLE|DRAW")
"""In the names of the tokens that draw."""


def tokens_of(call: Call) -> Iterator[Command]:
    """The tokens of a call up to a malformed one."""
    data = call.commands or b""
    for each in scan(data, 0, len(data), call.dwVertexSize).commands:
        yield Command(*each)


def draws(case: Case) -> bool:
    """Whether what a case draws is looked at, as pixels or by an occlusion query.

    Cases of token lengths draw to see that the next token is executed; they do not count.
    """
    counts = any(owed.type == QueryType.OCCLUSION for owed in case.owed)
    return (bool(case.shown) or counts) and not case.name.startswith("walk.")


def features(case: Case) -> frozenset[Feature]:
    """The tokens of a case, the states set when it draws, the types of its primitives, its
    textures' formats, and whether it has a depth surface.
    """
    play = _Play()
    for record in case.records:
        if isinstance(record, Called):
            play.call(record.call)
        elif isinstance(record, ContextCreated) and record.depth:
            play.found.add(("a depth surface", ""))
        elif isinstance(record, SurfaceCreated) and record.desc.kind is SurfaceKind.TEXTURE:
            format = record.desc.format
            play.found.add(("texture format", sdk_name(Format, format) or str(format)))
    return frozenset(play.found)


def _primitives(op: Op, body: Body) -> Iterator[Feature]:
    """The types of the primitives that a token draws."""
    numbers = []
    if "primType" in (body.items.dtype.names or ()):
        numbers = body.items["primType"].tolist()
    for kind in PrimitiveType:
        if kind in numbers or kind.name in op.name:
            yield "primitive type", kind.sdk


class _Play:
    """The states of a case as its tokens set them.  Mutable: ``found`` grows by what is used."""

    def __init__(self) -> None:
        self.found: set[Feature] = set()
        self._states: dict[str, str] = {}
        self._blocks: dict[int, dict[str, str]] = {}
        self._recording: int | None = None

    def call(self, call: Call) -> None:
        """Follow the tokens of a call."""
        for command in tokens_of(call):
            op = command.token.op
            body = decode(command.token, call.commands or b"", *command[2:], call.dwVertexSize)
            if op in _STATES:
                self._set(op, body.items.tolist())
                continue
            self.found.add((op.sdk, ""))
            if op is Op.STATESET:
                for operation, handle, _ in body.items.tolist():
                    self._block(operation, handle)
            elif _DRAW.search(op.name):
                self.found |= {*self._states.items(), *_primitives(op, body)}

    def _set(self, op: Op, items: list[tuple[int, ...]]) -> None:
        names, parts = _STATES[op]
        block = self._recording
        states = self._states if block is None else self._blocks.setdefault(block, {})
        for item in items:
            number, value = parts(item)
            name = sdk_name(names, number) or f"{op.sdk} {number}"
            states[name] = remark(op, item) or f"{value:#x}"

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
