"""Assembly of a block of text into the bytes of a token, with consistency checks."""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.text.codec import HEADER, Codec, aligned
from dp2emu.text.memory import bytes_of
from dp2emu.text.shape import Leaf, Shape, scalar
from dp2emu.text.syntax import Block, Fields, Item, Parts, TextError, Value

_N = Leaf("H", "n", None, alone=True)
_RESERVED = Leaf("B", "reserved", None, alone=True)
_VERTICES = "vertices"


def build(codec: Codec, block: Block, at: int, vertex_size: int) -> bytes:
    """The bytes of a token and its header, for byte ``at`` of the command surface.

    ``n`` may be omitted where the items determine it.  Raises TextError for unknown fields, values
    that do not fit and numbers that contradict each other.
    """
    given = block.fields
    n = reserved = None
    if _N.name in given.values or _RESERVED.name in given.values:
        fields = dict(given.values)
        n, reserved = _pop(fields, _N), _pop(fields, _RESERVED)
        given = Fields(fields, block.line)
    head = _head(codec, given)
    if codec.vertices:
        n = _needed(block, n)
        end = at + HEADER.size + len(head)
        body = bytes(aligned(end) - end) + _vertices(codec.vertices(n) * vertex_size, block)
    else:
        body, number = _items(codec, block)
        n = codec.inferred(number) if n is None else n
        n = _needed(block, n)
        if (expected := codec.number(n, head)) != number:
            raise block.error(f"n={n} stands for {expected} items, {number} follow")
    return HEADER.pack(codec.op, reserved or 0, n) + head + body


def _pop(fields: dict[str, Value], leaf: Leaf) -> int | None:
    value = fields.pop(leaf.name, None)
    return None if value is None else scalar(leaf, value)


def _needed(block: Block, n: int | None) -> int:
    if n is None:
        raise block.error(f"{block.name} does not say n, the number in its header")
    return n


def _head(codec: Codec, fields: Fields) -> bytes:
    if codec.head is not None:
        return codec.head.build(fields)
    if fields.values:
        raise TextError(fields.line, f"{codec.name} has no field {next(iter(fields.values))}")
    return b""


def _vertices(size: int, block: Block) -> bytes:
    _nothing_else(block, parts=(_VERTICES,), items=False)
    data = bytes_of(block.parts.get(_VERTICES, ()))
    if len(data) != size:
        raise block.error(f"the vertices take {size} bytes, {len(data)} follow")
    return data


def _items(codec: Codec, block: Block) -> tuple[bytes, int]:
    """The bytes of all items of a token with the arrays behind each; also the number of items."""
    if codec.item is None:
        _nothing_else(block, parts=(), items=False)
        return b"", 0
    if codec.item_name:
        _nothing_else(block, parts=(codec.item_name,), items=False)
        values = block.parts.get(codec.item_name, ())
        return _list(codec.item, values), len(values)
    _nothing_else(block, parts=(), items=True)
    return b"".join(_item(codec, codec.item, item) for item in block.items), len(block.items)


def _item(codec: Codec, shape: Shape, item: Item) -> bytes:
    if not codec.tail and not item.parts:
        return shape.build(item.fields)
    data = [shape.build(item.fields)]
    parts: Parts = dict(item.parts)
    for run in codec.runs(data[0], 0):
        values = parts.pop(run.name, [])
        number = (run.end - run.start) // run.shape.size
        if len(values) != number:
            what = f"{run.name} has {len(values)} elements, the item speaks of {number}"
            raise TextError(item.fields.line, what)
        data.append(_list(run.shape, values))
    if parts:
        raise TextError(item.fields.line, f"{codec.name} has no part {next(iter(parts))}")
    return b"".join(data)


def _list(shape: Shape, values: Sequence[Value]) -> bytes:
    return b"".join(map(shape.build, values))


def _nothing_else(block: Block, *, parts: tuple[str, ...], items: bool) -> None:
    """Raise TextError for a part not in ``parts``, or for items if ``items`` is False."""
    if block.items and not items:
        raise block.error(f"{block.name} has no items")
    for name in block.parts:
        if name not in parts:
            raise block.error(f"{block.name} has no part {name}")
