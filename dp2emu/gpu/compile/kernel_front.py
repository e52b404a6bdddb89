"""Kernels for triangles in two functions, of which the front is the same for all states.

    void front(ptr arguments, ptr results, i32 first, i32 end, ptr rows)
    void rows(ptr arguments, ptr results, ptr record, ptr runs, i32 y, i32 low, i32 high)

The first covers triangles and calls the second for each pair of rows; ``runs`` are four i32 of
each sample: where two rows begin and end.  A state has half as much to compile then, and
takes a little longer to draw.  The first is found through the arguments
(``setup_words.TRIANGLES``).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.gpu.code.block_writer import Code
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, TOGETHER, TRIANGLES, WORD
from dp2emu.gpu.compile.block_code import Blocks
from dp2emu.gpu.rasterizer.planes_code import Primitive
from dp2emu.gpu.rasterizer.spans_code import Bounds
from dp2emu.gpu.rasterizer.triangles_code import Pair, Records, Runs, places, triangles

FRONT, ROWS = "front", "rows"
_PARAMETERS = (
    *(("ptr", name) for name in ("arguments", "results", "record", "runs")),
    *(("i32", name) for name in ("y", "low", "high")),
)
"""Of rows."""
_PAIR = "<2 x i32>"
_SIDE = 8
"""Bytes of where two rows begin, and of where they end."""


class FrontKey(msgspec.Struct, frozen=True):
    """What the front depends on: see ``Key``."""

    samples: int
    by_sample: bool


def front(w: Code, key: FrontKey) -> None:
    """The text of a front."""
    setup = w.word("ptr", "%arguments", ARGUMENTS.index("setup"))
    size, corners = (
        w(f"mul i64 {w.word('i64', setup, TRIANGLES.index(name))}, {WORD}")
        for name in ("record", "corners")
    )
    records = Records(size, corners, ("0", str(TOGETHER * WORD), corners))
    lanes = places(key.samples, by_sample=key.by_sample)
    memory = w.allocate("i32", 4 * len(lanes))

    def rows(record: str, y: str, runs: Runs, ends: Pair) -> None:
        bounds = [column for low, high in runs for column in (*low, *high)]
        for number, column in enumerate(bounds):
            w.do(f"store i32 {column}, ptr {w.place(memory, str(4 * number))}")
        values = "%arguments", "%results", record, memory, y, *ends
        given = (f"{type} {value}"
                 for (type, _), value in zip(_PARAMETERS, values, strict=True))  # fmt: skip
        w.do(f"call void %rows({', '.join(given)})")

    triangles(w, lanes, records, rows)


def rows(blocks: Blocks) -> str:
    """The text that draws pairs of rows -> the header of the function."""
    w, key = blocks.w, blocks.key
    bounds = [
        Bounds(*(_lanes(w, _SIDE * (2 * number + side)) for side in range(2)))
        for number in range(len(places(key.samples, by_sample=key.by_sample)))
    ]
    blocks.rows(Primitive(w, blocks.layout, "%record"), "%y", bounds, ("%low", "%high"))
    blocks.finish()
    return f"define internal void @{ROWS}({parameters(_PARAMETERS)}) nounwind"


def _lanes(w: Code, at: int) -> str:
    """Two columns as lanes in MEMORY order."""
    pair = w(f"load {_PAIR}, ptr {w.place('%runs', str(at))}, align 4")
    return w.picked(_PAIR, pair, "poison", w.memory.rows)


def joined(w: Code) -> None:
    """The text of a kernel that calls the front, with ``rows`` of its own."""
    setup = w.word("ptr", "%arguments", ARGUMENTS.index("setup"))
    code = w.word("ptr", setup, TRIANGLES.index(FRONT))
    given = "ptr %arguments, ptr %results, i32 %first, i32 %end"
    w.do(f"call void {code}({given}, ptr @{ROWS})")


def parameters(named: Sequence[tuple[str, str]]) -> str:
    """Of a header, where no two pointers are to the same."""
    return ", ".join(f"{type}{' noalias' if type == 'ptr' else ''} %{name}"
                     for type, name in named)  # fmt: skip
