"""Stream output declarations, resolved to the buffer offset of every stored word.

Source: SM4-5 tokens, "Stream output".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS, STREAMS, StreamLayout, Word
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.sampling import COMPONENTS

GAP = 0xFFFFFFFF
"""RegisterIndex of a gap, whose memory is not written."""

NO_RASTERIZED_STREAM = 0xFFFFFFFF
"""RasterizedStream value that means: no stream of the geometry shader is rasterized."""

STRIDE = 2048
"""Maximum stride of a stream output buffer in bytes (D3D11_SO_BUFFER_MAX_STRIDE_IN_BYTES)."""

COMPONENTS_OF_STREAM = 128
"""Maximum number of components stored of a stream, gaps included."""

_REGISTERS = 32
_WORD = 4


class StreamOutputEntry(NamedTuple):
    """D3D10DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY."""

    OutputSlot: int
    RegisterIndex: int
    RegisterMask: int


class StreamOutputEntry11(NamedTuple):
    """D3D11DDIARG_STREAM_OUTPUT_DECLARATION_ENTRY."""

    Stream: int
    OutputSlot: int
    RegisterIndex: int
    RegisterMask: int


class StreamOutputShader(NamedTuple):
    """D3D10DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT."""

    pShaderCode: bytes | None
    pOutputStreamDecl: Sequence[StreamOutputEntry]
    StreamOutputStrideInBytes: int = 0


class StreamOutputShader11(NamedTuple):
    """D3D11DDIARG_CREATEGEOMETRYSHADERWITHSTREAMOUTPUT."""

    pShaderCode: bytes | None
    pOutputStreamDecl: Sequence[StreamOutputEntry11]
    BufferStridesInBytes: Sequence[int] = ()
    RasterizedStream: int = 0


class StreamOutputLayouts(msgspec.Struct, frozen=True):
    """Stream output ``layouts`` by stream number; ``rasterized`` is a stream number or None."""

    layouts: Mapping[int, StreamLayout]
    rasterized: int | None = 0


def stream_output_layouts(
    desc: StreamOutputShader | StreamOutputShader11, contract: Contract
) -> StreamOutputLayouts:
    """The stream output layouts that a description declares.

    The default stride of a slot is the size of its entries.  Direct3D 10 uses it whenever entries
    are in several slots.  Raises ContractError for an invalid description.
    """
    entries, strides, rasterized = _normalized(desc)
    packed = _packed_sizes(entries)
    sizes = {slot: strides.get(slot) or size for slot, size in packed.items()}
    valid = (
        all(map(_valid, entries))
        and _disjoint(entries)
        and (rasterized is None or 0 <= rasterized < STREAMS)
        and (desc.pShaderCode is not None or {each.Stream for each in entries} == {0})
        and all(packed[slot] <= stride <= STRIDE for slot, stride in sizes.items())
    )
    contract.check(valid, Rule.STREAMED, "CreateGeometryShaderWithStreamOutput")
    layouts = {
        stream: _layout([each for each in entries if each.Stream == stream], sizes)
        for stream in sorted({each.Stream for each in entries})
    }
    return StreamOutputLayouts(layouts, rasterized)


def _normalized(
    desc: StreamOutputShader | StreamOutputShader11,
) -> tuple[Sequence[StreamOutputEntry11], dict[int, int], int | None]:
    """Entries, strides by slot and the rasterized stream of a Direct3D 10 or 11 description."""
    if isinstance(desc, StreamOutputShader11):
        rasterized = desc.RasterizedStream
        strides = dict(enumerate(desc.BufferStridesInBytes))
        none = rasterized == NO_RASTERIZED_STREAM
        return desc.pOutputStreamDecl, strides, None if none else rasterized
    entries = [StreamOutputEntry11(0, *entry) for entry in desc.pOutputStreamDecl]
    alone = all(entry.OutputSlot == 0 for entry in entries)
    return entries, {0: desc.StreamOutputStrideInBytes} if alone else {}, 0


def _valid(entry: StreamOutputEntry11) -> bool:
    lowest = entry.RegisterMask & -entry.RegisterMask
    gap = entry.RegisterIndex == GAP
    # Adding the lowest bit to a run of ones carries to a power of two.
    contiguous = 0 < entry.RegisterMask < 16 and entry.RegisterMask + lowest in (2, 4, 8, 16)
    return (
        0 <= entry.Stream < STREAMS
        and 0 <= entry.OutputSlot < STREAM_TARGETS
        and (gap or 0 <= entry.RegisterIndex < _REGISTERS)
        and contiguous
        and not (gap and lowest > 1)
    )


def _disjoint(entries: Sequence[StreamOutputEntry11]) -> bool:
    """Whether the entries of a declaration do not conflict.

    A slot must belong to one stream, and a stream may store a component only once and no more than
    ``COMPONENTS_OF_STREAM``.
    """
    slots = {(each.OutputSlot, each.Stream) for each in entries}
    stored = [(each.Stream, *place) for each in entries for place in _components(each)]
    named = [each for each in stored if each[1] != GAP]
    sizes = [sum(each[0] == stream for each in stored) for stream in range(STREAMS)]
    return (
        len(slots) == len({slot for slot, _ in slots})
        and len(named) == len(set(named))
        and max(sizes) <= COMPONENTS_OF_STREAM
    )


def _components(entry: StreamOutputEntry11) -> Iterator[tuple[int, int]]:
    """(register, component) for each bit of the entry's component mask."""
    for component in range(len(COMPONENTS)):
        if entry.RegisterMask >> component & 1:
            yield entry.RegisterIndex, component


def _packed_sizes(entries: Sequence[StreamOutputEntry11]) -> dict[int, int]:
    """Bytes that the entries of each slot take when packed, by slot."""
    sizes: dict[int, int] = {}
    for entry in entries:
        size = _WORD * entry.RegisterMask.bit_count()
        sizes[entry.OutputSlot] = sizes.get(entry.OutputSlot, 0) + size
    return sizes


def _layout(entries: Sequence[StreamOutputEntry11], strides: Mapping[int, int]) -> StreamLayout:
    """The layout of the entries of one stream, packed without padding in each slot."""
    words: list[Word] = []
    ends: dict[int, int] = {}
    for entry in entries:
        for register, component in _components(entry):
            offset = ends.get(entry.OutputSlot, 0)
            ends[entry.OutputSlot] = offset + _WORD
            if register != GAP:
                port = f"{CONSTANT}v{register}.{COMPONENTS[component]}"
                words.append(Word(port, entry.OutputSlot, offset))
    return StreamLayout(tuple(words), tuple((slot, strides[slot]) for slot in ends))
