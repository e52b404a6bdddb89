"""Lines of text of a token: its statement, items, and their parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dp2emu.layout import Buffer
from dp2emu.text.codec import Codec, Place, aligned
from dp2emu.text.contexts import VertexFormat
from dp2emu.text.memory import LINE_BYTES, vertex_line
from dp2emu.text.shape import Shape

_HEADER_SIZES = (1, 1, 2)


class Line(NamedTuple):
    """A line of a dump.

    ``depth`` is its indentation below the statement, ``at`` the byte offset of the bytes that it
    shows, ``sizes`` the sizes in bytes of their fields; None if it shows no bytes.
    """

    text: str
    depth: int
    at: int = 0
    sizes: tuple[int, ...] | None = None


def token_lines(
    codec: Codec, buffer: Buffer, place: Place, vertex: VertexFormat
) -> Iterator[Line]:
    """The lines that show the token at ``place``; ``build`` assembles them into the same bytes.

    Padding is not shown, so non-zero padding is lost.
    """
    yield _statement(codec, buffer, place)
    at = place.start + (codec.head.size if codec.head else 0)
    if codec.vertices:
        yield from _vertex_lines(buffer, aligned(at), place.end, vertex)
    elif codec.item_name and codec.item:
        yield from _list_lines(codec.item_name, codec.item, buffer, at, place.end, 1)
    elif codec.item:
        yield from _item_lines(codec, codec.item, buffer, at, place.end)


def _statement(codec: Codec, buffer: Buffer, place: Place) -> Line:
    reserved = buffer[place.offset + 1]
    head_bytes = codec.head.size if codec.head else 0
    number = codec.number(place.n, buffer[place.start : place.start + head_bytes])
    words = [codec.name]
    if reserved:
        words.append(f"reserved={reserved:#04x}")
    if place.n != codec.inferred(number):
        words.append(f"n={place.n}")
    if codec.head:
        words.append(codec.head.text(codec.head.unpack(buffer, place.start)))
    sizes = codec.head.sizes if codec.head else ()
    return Line(" ".join(words), 0, place.offset, _HEADER_SIZES + sizes)


def _item_lines(codec: Codec, shape: Shape, buffer: Buffer, at: int, end: int) -> Iterator[Line]:
    while at < end:
        yield Line("- " + shape.text(shape.unpack(buffer, at)), 1, at, shape.sizes)
        stop = at + shape.size
        for name, part, start, stop in codec.runs(buffer, at):
            yield from _list_lines(name, part, buffer, start, stop, 2)
        at = stop


def _list_lines(
    name: str, shape: Shape, buffer: Buffer, at: int, end: int, depth: int
) -> Iterator[Line]:
    step = max(LINE_BYTES // shape.size, 1) * shape.size
    for start in range(at, end, step):
        places = range(start, min(start + step, end), shape.size)
        values = shape.list_text([shape.unpack(buffer, place) for place in places])
        yield Line(f"{name}: {values}", depth, start, shape.sizes * len(places))


def _vertex_lines(buffer: Buffer, at: int, end: int, vertex: VertexFormat) -> Iterator[Line]:
    step = vertex.line or LINE_BYTES
    for start in range(at, end, step):
        data = buffer[start : min(start + step, end)]
        words, rest = divmod(len(data), 4)
        sizes = (4,) * words + ((rest,) if rest else ())
        yield Line(f"vertices: {vertex_line(data, vertex.floats)}", 1, start, sizes)
