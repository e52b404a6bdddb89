"""Events: everything in a capture that changes what can be seen, each with one address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from dp2emu.gpu.command import packets
from dp2emu.gpu.command.packets import Draw, Packet, Part
from dp2emu.gpu.resource.heap import Surface
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.ir import Program

_DIGITS = 8
"""Number of hexadecimal digits of a program's name."""


class EventKind(StrEnum):
    """Kinds of events; a value is the kind's name in tables and JSON."""

    DRAW = "draw"
    CLEAR = "clear"
    COPY = "copy"
    BLIT = "blit"
    WRITE = "write"
    DISPATCH = "dispatch"
    RESOLVE = "resolve"
    GENERATE = "generate"
    PRESENT = "present"
    FLIP = "flip"
    QUERY_BEGIN = "query_begin"
    QUERY_END = "query_end"
    MARKER = "marker"


class Origin(msgspec.Struct, frozen=True):
    """The place in a capture from which an event came.

    ``name`` is the token, the DDI function or the record.  ``call`` counts calls of
    D3dDrawPrimitives2 or, in a capture of Direct3D 10/11, calls of the DDI, from 0; what happens
    between calls has the number of the next one.  ``token`` counts the tokens of the call that
    were executed; None for a DDI call and for what is no call.  ``api_call`` is the number of the
    recorded program's API call, None if unknown.  ``device`` is the context or the device.
    """

    name: str
    frame: int = 0
    call: int | None = None
    token: int | None = None
    api_call: int | None = None
    device: int = 0
    markers: tuple[str, ...] = ()


class Event(msgspec.Struct, frozen=True):
    """Something that changes what can be seen.

    ``number`` counts events in the order of their execution, from 0.  ``item`` counts the events
    of one origin, from 0.  ``time`` is the tick at which it started.  ``primitives`` are all of a
    draw, instances included; ``shaders`` the names of its programs, from the vertex to the pixel
    stage, "-" for a missing one.  ``targets`` are the handles of the surfaces that it writes, or
    that are bound to a draw that does nothing, the depth surface last.  ``pixels`` are the samples
    of a draw that passed all tests, or the texels that another event wrote; 0 before it is
    executed.  ``query`` is the id of a query in its context or device.  ``text`` is the name of a
    marker, or why a draw or dispatch does nothing.
    """

    number: int
    kind: EventKind
    origin: Origin
    item: int = 0
    time: int = 0
    primitives: int = 0
    topology: str = ""
    shaders: tuple[str, ...] = ()
    targets: tuple[int, ...] = ()
    pixels: int = 0
    query: int | None = None
    text: str = ""

    @property
    def name(self) -> str:
        """Name of the token, the DDI function or the record."""
        return self.origin.name

    @property
    def frame(self) -> int:
        """Number of the frame, from 0."""
        return self.origin.frame

    @property
    def call(self) -> int | None:
        """Number of the call of D3dDrawPrimitives2 or of the DDI, from 0."""
        return self.origin.call

    @property
    def token(self) -> int | None:
        """Number of the token in its call, from 0; None for what is no token."""
        return self.origin.token

    @property
    def api_call(self) -> int | None:
        """Number of the recorded program's API call, None if unknown."""
        return self.origin.api_call

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the program's marks around the event, the outermost first."""
        return self.origin.markers

    @property
    def address(self) -> str:
        """The address by running number, such as ``E12``."""
        return f"E{self.number}"

    @property
    def title(self) -> str:
        """Address, place, API call if known, and name, such as ``E4 1:7 @52 CLEAR``."""
        api = "" if self.api_call is None else f" @{self.api_call}"
        return f"{self.address} {self.place}{api} {self.name}"

    @property
    def place(self) -> str:
        """The address by call, such as ``7:3`` (call and token), ``7:3.1`` (its item) or ``7``."""
        if self.call is None:
            return "-"
        token = "" if self.token is None else f":{self.token}"
        return f"{self.call}{token}" + (f".{self.item}" if self.item else "")


@identity_cached()
def program_name(program: Program) -> str:
    """Name of a program: the first hexadecimal digits of the SHA-256 of its text."""
    # Imported here: only explanations name programs.
    from dp2emu.shader.text import dump

    return sha256(dump(program).encode()).hexdigest()[:_DIGITS]


def kind_of(packet: Packet) -> EventKind | None:
    """The kind of event that a packet's execution is; None for one without a visible effect."""
    if isinstance(packet, packets.Copy):
        fewer = packet.source.surface.samples > packet.target.surface.samples
        return EventKind.RESOLVE if fewer else EventKind.COPY
    return _KINDS.get(type(packet))


_KINDS: dict[type[Any], EventKind] = {
    Draw: EventKind.DRAW,
    packets.IndirectDraw: EventKind.DRAW,
    packets.Dispatch: EventKind.DISPATCH,
    packets.Clear: EventKind.CLEAR,
    packets.ClearUnordered: EventKind.CLEAR,
    packets.CopyBytes: EventKind.COPY,
    packets.Blit: EventKind.BLIT,
    packets.Compose: EventKind.COPY,
    packets.Write: EventKind.WRITE,
    packets.WriteBytes: EventKind.WRITE,
    packets.Swap: EventKind.FLIP,
    packets.GenerateLevels: EventKind.GENERATE,
    packets.BeginQuery: EventKind.QUERY_BEGIN,
    packets.EndQuery: EventKind.QUERY_END,
}


def written_surfaces(packet: Packet) -> tuple[Surface, ...]:
    """The surfaces whose memory the execution of a packet may change, each once.

    Colour targets come first, depth surfaces last.
    """
    found = _WRITTEN.get(type(packet))
    surfaces = () if found is None else found(packet)
    return tuple(dict.fromkeys(surface for surface in surfaces if surface is not None))


def _drawn(draw: Draw) -> Iterable[Surface | None]:
    output, later = draw.output, draw.post_vertex
    layers = () if later is None else later.layers
    yield from output.colors
    yield from (surface for layer in layers for surface in layer.colors)
    yield from _viewed(output.unordered.values())
    if later is not None:
        yield from (target.surface for target in later.output.targets.values())
    yield output.depth
    yield from (layer.depth for layer in layers)


def _viewed(views: Iterable[packets.Unordered]) -> Iterable[Surface | None]:
    return (surface for view in views for surface in (view.surface, view.counter))


_WRITTEN: dict[type[Any], Callable[[Any], Iterable[Surface | None]]] = {
    Draw: _drawn,
    packets.IndirectDraw: lambda packet: _drawn(packet.draw),
    packets.Dispatch: lambda packet: _viewed(packet.unordered.values()),
    packets.Clear: lambda packet: (*packet.colors, packet.depth),
    packets.ClearUnordered: lambda packet: _viewed((packet.view,)),
    packets.Copy: lambda packet: (packet.target.surface,),
    packets.CopyBytes: lambda packet: (packet.target,),
    packets.Blit: lambda packet: (packet.target.surface,),
    packets.Compose: lambda packet: (packet.target.surface,),
    packets.Write: lambda packet: (packet.target.surface,),
    packets.WriteBytes: lambda packet: (packet.target,),
    packets.Swap: lambda packet: (packet.one, packet.other),
    packets.GenerateLevels: lambda packet: (packet.surface,),
}
"""Functions that return the surfaces that a packet writes, by the packet's type."""


def texels_written(packet: Packet) -> int:
    """The number of texels, or bytes of a buffer, that a packet other than a draw writes."""
    count = _AREAS.get(type(packet))
    return 0 if count is None else count(packet)


def _cleared(packet: packets.Clear) -> int:
    area = sum((r.right - r.left) * (r.bottom - r.top) for r in packet.rects)
    return area * sum(each is not None for each in (*packet.colors, packet.depth))


def _boxed(part: Part) -> int:
    box = part.box
    return (box.right - box.left) * (box.bottom - box.top) * (box.back - box.front)


_AREAS: dict[type[Any], Callable[[Any], int]] = {
    packets.Clear: _cleared,
    packets.Copy: lambda packet: _boxed(packet.target),
    packets.Blit: lambda packet: _boxed(packet.target),
    packets.Write: lambda packet: _boxed(packet.target),
    packets.CopyBytes: lambda packet: packet.size,
    packets.WriteBytes: lambda packet: len(packet.data),
}


def shaders_of(packet: Packet) -> tuple[str, ...]:
    """Names of the programs of a draw or dispatch, in the order of the pipeline."""
    programs = (program for _, program in programs_of(packet))
    return tuple("-" if program is None else program_name(program) for program in programs)


def programs_of(packet: Packet | None) -> Iterator[tuple[str, Program | None]]:
    """Pairs of stage and program of a draw or dispatch, in the order of the pipeline; None for a
    draw without vertex or pixel program.

    The program of a hull stage is the one of its control points.
    """
    if isinstance(packet, packets.Dispatch):
        yield "compute", packet.stage.program
    elif isinstance(packet, Draw):
        yield "vertex", packet.pipeline.vertex
        yield from _later_programs(packet)
        yield "pixel", packet.pipeline.pixel


def _later_programs(draw: Draw) -> Iterator[tuple[str, Program]]:
    """The programs of hull, domain and geometry stages that a draw has, by stage."""
    later = draw.post_vertex
    if later is None:
        return
    patches = later.tessellation
    if patches is not None:
        if patches.hull.points is not None:
            yield "hull", patches.hull.points.program
        yield "domain", patches.domain.program
    if later.geometry is not None:
        yield "geometry", later.geometry.bound.program


def primitives_of(packet: Packet) -> tuple[int, str]:
    """The number of primitives of a draw over all instances, and its topology; (0, "")."""
    if not isinstance(packet, Draw):
        return 0, ""
    instances = packet.input.instances
    count = packet.input.count * (1 if instances is None else instances.count)
    return count, packet.input.topology.name
