"""Both decoders at once: construct (``dp2.parse``) and the compiled walk (``dp2.walk``).

Functions have the parameters and results of those of the walk.  They raise DecodingDisagreement
at the first token, field or byte that differs.  Source: wire format, "Opcodes" and "Responses".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from construct import ConstructError
from numpy.typing import NDArray

from dp2emu.dp2 import parse, walk
from dp2emu.dp2.table import Body, Token
from dp2emu.dp2.walk import Scan
from dp2emu.errors import DecodingDisagreement
from dp2emu.layout import Buffer

_Found = tuple[Token | None, str]
"""What a decoder finds at an offset: the token if any, and the description for the error."""


def scan(
    buffer: Buffer, start: int, end: int, vertex_size: int = 0, limit: int | None = None
) -> Scan:
    """Find the tokens in ``buffer[start:end]`` by both decoders.

    The tokens before one that differs are returned without it, because their fields, which are
    compared later, may differ too; a scan from there raises the error.
    """
    given = buffer, start, end, vertex_size, limit
    wanted, found = parse.scan(*given), walk.scan(*given)
    shorter = min(len(wanted.commands), len(found.commands))
    pairs = zip(_places(wanted), _places(found), strict=False)
    agreed = next((k for k, (one, other) in enumerate(pairs) if one != other), shorter)
    if agreed == len(wanted.commands) == len(found.commands) and _end_alike(wanted, found):
        return found
    at = wanted.commands[agreed - 1][4] if agreed else start
    if agreed and at < end:
        return Scan(wanted.commands[:agreed], at, None)
    (token, one), (other_token, other) = _at(wanted, agreed), _at(found, agreed)
    found_token = token or other_token
    name = None if found_token is None else found_token.name
    raise DecodingDisagreement(f"construct finds {one}, the walk {other}", offset=at, token=name)


def _places(found: Scan) -> Iterator[tuple[int, ...]]:
    """Offset, opcode, count, start and end of each token."""
    return ((offset, token.op, *rest) for offset, token, *rest in found.commands)


def _end_alike(wanted: Scan, found: Scan) -> bool:
    """Whether scans ended at one offset, with errors of the same text if any."""
    if wanted.stop != found.stop:
        return False
    # Few errors are described by different values, and their texts take longer to make.
    return wanted.wrong == found.wrong or str(wanted.problem) == str(found.problem)


def _at(found: Scan, index: int) -> _Found:
    """What a scan found where its token number ``index`` should be."""
    if index < len(found.commands):
        offset, token, n, _, stop = found.commands[index]
        return token, f"{token.name} with count {n}, {stop - offset} bytes"
    problem = found.problem
    if problem is None:
        return None, f"the end at {found.stop:#x}"
    return found.wrong and found.wrong[1], f"an error ({problem.what})"


def body_of(
    token: Token, buffer: Buffer, n: int, start: int, end: int, vertex_size: int = 0
) -> Body:
    """The payload of a token, read by both decoders."""
    given = token, buffer, n, start, end, vertex_size
    found = walk.body_of(*given)
    try:
        wanted = parse.body_of(*given)
    except ConstructError as error:
        raise DecodingDisagreement(f"construct cannot read it: {error}") from None
    what = next(_differences(wanted, found), None)
    if what is not None:
        raise DecodingDisagreement(what)
    return found


def write_responses(blocks: Sequence[Sequence[tuple[int, bytes]]], more: bool) -> bytes:
    """A response buffer, built by both decoders."""
    wanted, found = parse.write_responses(blocks, more), walk.write_responses(blocks, more)
    return _same("the responses", wanted, found)


def write_payload(kind: int, values: Sequence[Any]) -> bytes:
    """The payload of an answer, built by both decoders."""
    what = f"a payload of query type {kind}"
    return _same(what, parse.write_payload(kind, values), walk.write_payload(kind, values))


def _same(what: str, wanted: bytes, found: bytes) -> bytes:
    for difference in _bytes(what, wanted, found):
        raise DecodingDisagreement(difference)
    return found


# Differences


def _differences(wanted: Body, found: Body) -> Iterator[str]:
    """Describe the differences of two bodies, in the order of the payload."""
    if wanted.count != found.count:
        yield _told("the count", wanted.count, found.count)
    if (wanted.head is None) != (found.head is None):
        yield _told("the head", wanted.head, found.head)
    elif wanted.head is not None:
        yield from _records("head", np.array([wanted.head]), np.array([found.head]))
    yield from _records("items", wanted.items, found.items)
    if len(wanted.tails) != len(found.tails):
        yield _told("the number of items with data", len(wanted.tails), len(found.tails))
    for index, (one, other) in enumerate(zip(wanted.tails, found.tails, strict=False)):
        yield from _bytes(f"the data behind items[{index}]", bytes(one), bytes(other))
    yield from _bytes("the vertices", bytes(wanted.vertices), bytes(found.vertices))


def _records(name: str, wanted: NDArray[Any], found: NDArray[Any]) -> Iterator[str]:
    """Describe the first difference of two arrays of records, by item and field."""
    if len(wanted) != len(found):
        yield _told(f"the number of {name}", len(wanted), len(found))
    elif wanted.dtype != found.dtype:
        yield _told(f"the layout of {name}", wanted.dtype, found.dtype)
    elif wanted.tobytes() != found.tobytes():
        pairs = zip(wanted, found, strict=True)
        index = next(i for i, (one, other) in enumerate(pairs) if one.tobytes() != other.tobytes())
        place = name if name == "head" else f"{name}[{index}]"
        yield from _fields(place, wanted[index], found[index])


def _fields(place: str, wanted: Any, found: Any) -> Iterator[str]:
    """Describe the fields in which two records or numbers of one type differ."""
    names = wanted.dtype.names
    if names is None:
        yield _told(place, wanted, found)
        return
    for name in names:
        if wanted[name].tobytes() != found[name].tobytes():
            yield from _fields(f"{place}.{name}", wanted[name], found[name])


def _bytes(what: str, wanted: bytes, found: bytes) -> Iterator[str]:
    """Describe the first byte that differs."""
    if wanted == found:
        return
    if len(wanted) != len(found):
        yield _told(f"the size of {what}", len(wanted), len(found))
        return
    pairs = zip(wanted, found, strict=True)
    at = next(i for i, (one, other) in enumerate(pairs) if one != other)
    yield _told(f"byte {at} of {what}", f"{wanted[at]:#04x}", f"{found[at]:#04x}")


def _told(what: str, wanted: object, found: object) -> str:
    return f"{what} is {wanted} by construct and {found} by the walk"
