"""Features of conformance cases: the tokens, states and formats that each uses."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.capture.records import Called, ContextCreated, SurfaceCreated
from dp2emu.conform.case import Case
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.sdk import sdk_name
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState
from dp2emu.dp2.call import Call
from dp2emu.dp2.walk import Command, decode, scan
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.text.remarks import remark

Feature = tuple[str, str]
"""What a case uses, such as a state, and its value, "" without one."""

_STATES = {
    Op.RENDERSTATE: (WireRenderState, lambda item: item),
    Op.TEXTURESTAGESTATE: (WireTextureStageState, lambda item: item[1:]),
}
"""By opcode of a token that sets states: their names, and a function from an item of the token to
the state's number and value."""


def tokens_of(call: Call) -> Iterator[Command]:
    """The tokens of a call up to a malformed one."""
    data = call.commands or b""
    for each in scan(data, 0, len(data), call.dwVertexSize).commands:
        yield Command(*each)


def draws(case: Case) -> bool:
    """Whether what a case draws is looked at, as pixels or by an occlusion query.

    Cases of token lengths draw to see that the next token is executed; they do not count.
    """
    if case.name.startswith("walk."):
        return False
    return bool(case.shown) or any(owed.type == QueryType.OCCLUSION for owed in case.owed)


def features(case: Case) -> frozenset[Feature]:
    """The tokens and states in a case's calls, its textures' formats and its depth surface."""
    return frozenset(_features(case))


def _features(case: Case) -> Iterator[Feature]:
    for record in case.records:
        if isinstance(record, Called):
            yield from _of_call(record.call)
        elif isinstance(record, ContextCreated) and record.depth:
            yield "a depth surface", ""
        elif isinstance(record, SurfaceCreated) and record.desc.kind is SurfaceKind.TEXTURE:
            yield "texture format", record.desc.format.sdk


def _of_call(call: Call) -> Iterator[Feature]:
    for command in tokens_of(call):
        op = command.token.op
        if op not in _STATES:
            yield op.sdk, ""
            continue
        names, parts = _STATES[op]
        body = decode(command.token, call.commands or b"", *command[2:], call.dwVertexSize)
        for item in body.items.tolist():
            state, value = parts(item)
            named = remark(op, item) or f"{value:#x}"
            yield sdk_name(names, state) or f"{op.sdk} {state}", named
