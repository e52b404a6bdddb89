"""Maps of Direct3D 10 and 11, and the bytes that a traced program stores in mapped memory."""

from __future__ import annotations

from typing import Any

import msgspec

from dp2emu.argument_check import trusted_function
from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import Pictured, PictureKind
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.retrace.arguments import Arguments, integer, pointee
from dp2emu.retrace.d3d11.objects import CONTEXT, context_of, number_of, owner_of, perform
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, method
from dp2emu.runtime10.codes import Refused
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.deferred import DeferredContext, write_rows
from dp2emu.runtime10.mapping import mapping
from dp2emu.runtime10.objects import Resource
from dp2emu.runtime10.textures import Part, part_of

_READING = (Map.READ, Map.READWRITE)
_WRITING = (Map.WRITE, Map.WRITE_NOOVERWRITE, Map.WRITE_DISCARD)
"""Maps for writing, those before others that keep more of the contents."""
_MAPPED10 = "ID3D10Buffer ID3D10Texture1D ID3D10Texture2D ID3D10Texture3D"


class MappedPart(msgspec.Struct, frozen=True):
    """A map that the program holds: where its memory was, and with which pitches in bytes, while
    the trace was recorded, and our memory of it.
    """

    address: int
    size: int
    pitches: tuple[int, int]
    part: Part
    buffer: bool
    mapped: MappedSubresource

    def store(self, address: int, data: bytes) -> None:
        """Store the bytes that the program wrote at an address; without effect on memory that the
        program may only read.
        """
        memory, start = self.mapped.pData, address - self.address
        if memory.readonly:
            return
        if self.buffer:
            count = max(0, min(len(data), len(memory) - start))
            memory[start : start + count] = data[:count]
        elif start == 0:
            write_rows(self.mapped, self.part, data, *self.pitches)


@method(CONTEXT, "Map")
def map_resource(program: Program, call: Arguments) -> None:
    """Maps a resource; a picture record if the program reads it."""
    given = call.struct("pMappedResource")
    address, *pitches = (integer(given[name]) for name in ("pData", "RowPitch", "DepthPitch"))
    resource = call.thing("pResource", Resource)
    place = address, (pitches[0], pitches[1])
    begin_map(program, call, context_of(call), resource, _kind(call), *place)


@method(_MAPPED10, "Map")
def map_old_resource(program: Program, call: Arguments) -> None:
    """Maps a resource; a picture record if the program reads it."""
    resource = call.thing("this", Resource)
    given: Any = pointee(call.value(call.call.function.arguments[-1]))
    pitches = (0, 0)
    if isinstance(given, Struct):
        names = given.signature.members
        address, row = integer(given["pData"]), integer(given["RowPitch"])
        pitches = row, integer(given["DepthPitch"]) if "DepthPitch" in names else 0
    else:
        address = integer(given)
    begin_map(program, call, owner_of(resource).context, resource, _kind(call), address, pitches)


def _index(call: Arguments) -> int:
    """The argument Subresource, which buffers of Direct3D 10 do not have."""
    return call.integer("Subresource") if call.declares("Subresource") else 0


def begin_map(
    program: Program,
    call: Arguments,
    context: Context,
    resource: Resource,
    kind: Map,
    address: int,
    pitches: tuple[int, int],
) -> None:
    """Map a subresource, which the program saw at an address with pitches in bytes; a picture
    record if it reads there.
    """
    index = _index(call)
    map = trusted_function(type(context), "map")
    try:
        mapped = map(context, resource, index, kind, 0)
    except Refused:
        granted = _granted(resource, index, kind)
        if granted is kind:
            raise
        mapped = map(context, resource, index, granted, 0)
    part = part_of(resource.ddi, index)
    row, slice = pitches[0] or part.row_bytes, pitches[1] or pitches[0] * part.rows
    size = part.size if resource.is_buffer else (part.depth - 1) * slice + row * part.rows
    found = MappedPart(address, size, (row, slice), part, resource.is_buffer, mapped)
    program.maps.begin((id(context), id(resource), index), found)
    if kind in _READING and not isinstance(context, DeferredContext):
        number = number_of(program, resource.memory)
        program.recorder.put(Pictured(call.number, PictureKind.MAP, number, index))


def _granted(resource: Resource, index: int, kind: Map) -> Map:
    """The map for writing by which Direct3D's runtime lets a program write to a resource, instead
    of another that the traced runtime let it make; ``kind`` itself if there is none.
    """
    for each in _WRITING if kind in _WRITING else ():
        try:
            mapping(resource, index, each)
        except Refused:
            continue
        return each
    return kind


def _kind(call: Arguments) -> Map:
    number = call.integer("MapType")
    if number not in Map._value2member_map_:
        raise Inexpressible(f"MapType {number}")
    return Map(number)


@method(CONTEXT, "Unmap")
def unmap_resource(program: Program, call: Arguments) -> None:
    """Unmaps a resource, which writes the stored bytes."""
    end_map(program, call, context_of(call), call.thing("pResource", Resource))


@method(_MAPPED10, "Unmap")
def unmap_old_resource(program: Program, call: Arguments) -> None:
    """Unmaps a resource, which writes the stored bytes."""
    resource = call.thing("this", Resource)
    end_map(program, call, owner_of(resource).context, resource)


def end_map(program: Program, call: Arguments, context: Context, resource: Resource) -> None:
    """Unmap a subresource, which writes the stored bytes."""
    index = _index(call)
    program.maps.end((id(context), id(resource), index))
    unmap = trusted_function(type(context), "unmap")
    perform(program, call, context, lambda context, call: unmap(context, resource, index))
