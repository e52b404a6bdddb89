"""Stream output declarations by semantic, translated to the registers of the DDI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.shaders.stream_output import (
    GAP,
    StreamOutputEntry,
    StreamOutputEntry11,
    StreamOutputShader,
    StreamOutputShader11,
    stream_output_layouts,
)
from dp2emu.errors import ContractError
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS, STREAMS
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.signatures import Code
from dp2emu.shader.sm4.container import Element
from dp2emu.shader.sm4.versions import BY_TOKEN, Stage

_STREAMING = (Stage.GEOMETRY, Stage.VERTEX, Stage.DOMAIN)
_COMPONENTS = 4
_MOST = 255
"""Largest ComponentCount of a gap that the application declares in stream output."""


class StreamDeclaration(NamedTuple):
    """D3D11_SO_DECLARATION_ENTRY; without a name it is a gap of any number of components."""

    Stream: int
    SemanticName: str | None
    SemanticIndex: int
    StartComponent: int
    ComponentCount: int
    OutputSlot: int


def stream_output_desc(
    api: Api,
    code: Code,
    declared: Sequence[StreamDeclaration],
    strides: Sequence[int],
    rasterized: int,
) -> StreamOutputShader | StreamOutputShader11:
    """The DDI structure with which a driver creates a shader with stream output.

    ``code`` is a geometry shader; a vertex or domain shader stands for none, and its outputs are
    streamed.  Direct3D 10 has one stride, 0 if entries are in several slots, and rasterizes its
    only stream.  Raises Refused (E_INVALIDARG) for outputs that the shader lacks and for invalid
    declarations.
    """
    program = code.program if _stage(code) is Stage.GEOMETRY else None
    entries = tuple(entry for each in declared for entry in _entries(code, each))
    desc: StreamOutputShader | StreamOutputShader11
    if api < Api.D3D11:
        desc = _described_10(program, entries, strides)
    else:
        desc = StreamOutputShader11(program, entries, tuple(strides), rasterized)
    try:
        stream_output_layouts(desc, Contract(checking=False))
    except ContractError as error:
        raise Refused(Result.E_INVALIDARG, str(error)) from None
    return desc


def check_declaration(
    api: Api, declared: Sequence[StreamDeclaration] | None, strides: Sequence[int]
) -> None:
    """Raise Refused (E_INVALIDARG) for a declaration, or strides, that Direct3D refuses although a
    driver could use them.

    A gap has no index, and its slot has more than gaps.  In Direct3D 11 the strides, if there are
    any, of all slots that are used are multiples of 4 and not 0.  Direct3D 10 has a stride for a
    declaration of slot 0 alone; otherwise a slot has one entry, and the stride is 0.  Source:
    Direct3D 10 and 11 documentation of CreateGeometryShaderWithStreamOutput and of
    D3D10_SO_DECLARATION_ENTRY.
    """
    rows = declared or ()
    gaps = [each for each in rows if each.SemanticName is None]
    slots = [each.OutputSlot for each in rows]
    filled = {each.OutputSlot for each in rows if each.SemanticName is not None}
    stride = strides[0] if strides else 0
    wrong = (
        declared is not None and not declared,
        any(each.SemanticIndex or each.OutputSlot not in filled for each in gaps),
        _wrong_strides(slots, strides) if api >= Api.D3D11 else _wrong_slots_10(slots, stride),
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, f"stream output to {slots} with {tuple(strides)}")


def _wrong_strides(slots: Sequence[int], strides: Sequence[int]) -> bool:
    given = dict(enumerate(strides))
    whole = all(given.get(slot) and given[slot] % 4 == 0 for slot in slots)
    return bool(strides) and not whole


def _wrong_slots_10(slots: Sequence[int], stride: int) -> bool:
    if any(slots):
        return bool(stride) or len(set(slots)) < len(slots)
    return bool(slots) != bool(stride) or stride % 4 != 0


def _described_10(
    program: bytes | None, entries: Sequence[StreamOutputEntry11], strides: Sequence[int]
) -> StreamOutputShader:
    if any(entry.Stream for entry in entries):
        raise Refused(Result.E_INVALIDARG, "several streams")
    single = all(entry.OutputSlot == 0 for entry in entries)
    without_stream = tuple(StreamOutputEntry(*entry[1:]) for entry in entries)
    return StreamOutputShader(program, without_stream, strides[0] if strides and single else 0)


def _stage(code: Code) -> Stage:
    version = BY_TOKEN.get(int.from_bytes(code.program[:4], "little"))
    if version is None or version.stage not in _STREAMING:
        raise Refused(
            Result.E_INVALIDARG, "stream output needs a vertex, domain or geometry shader"
        )
    return version.stage


def _entries(code: Code, given: StreamDeclaration) -> Iterator[StreamOutputEntry11]:
    """The DDI entries of a declaration: one, or several for a gap of more than 4 components."""
    if given.OutputSlot >= STREAM_TARGETS or given.Stream >= STREAMS:
        raise Refused(Result.E_INVALIDARG, f"slot {given.OutputSlot}, stream {given.Stream}")
    if given.SemanticName is None:
        yield from _gap(given)
        return
    element = _element(code, given)
    names = [bit for bit in range(_COMPONENTS) if element.mask >> bit & 1]
    chosen = names[given.StartComponent :][: given.ComponentCount]
    if not given.ComponentCount or len(chosen) < given.ComponentCount:
        raise Refused(Result.E_INVALIDARG, f"components of {given.SemanticName}")
    assert element.register is not None
    mask = sum(1 << bit for bit in chosen)
    yield StreamOutputEntry11(given.Stream, given.OutputSlot, element.register, mask)


def _gap(given: StreamDeclaration) -> Iterator[StreamOutputEntry11]:
    if given.StartComponent or not 0 < given.ComponentCount <= _MOST:
        raise Refused(Result.E_INVALIDARG, f"a gap of {given.ComponentCount} components")
    for start in range(0, given.ComponentCount, _COMPONENTS):
        mask = (1 << min(given.ComponentCount - start, _COMPONENTS)) - 1
        yield StreamOutputEntry11(given.Stream, given.OutputSlot, GAP, mask)


def _element(code: Code, given: StreamDeclaration) -> Element:
    for element in code.named_outputs:
        named = element.semantic.upper() == (given.SemanticName or "").upper()
        same = element.index == given.SemanticIndex and element.stream == given.Stream
        if named and same and element.register is not None:
            return element
    raise Refused(Result.E_INVALIDARG, f"no output {given.SemanticName}{given.SemanticIndex}")
