"""The decoders of command buffers, by name; all of them read the same tokens.

=============  ============================================================================
``construct``  construct alone, from the declarations of the token table: the definition
``walk``       code compiled from the same rows, and NumPy views: the default
``checked``    both in lockstep, with an error at the first token, field or byte that differs
=============  ============================================================================

A decoder also builds the responses that the driver writes over the command buffer.  Source:
wire format, "Opcodes" and "Responses".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from dp2emu.dp2 import walk
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import Body
from dp2emu.dp2.walk import Scan
from dp2emu.errors import UsageError
from dp2emu.shader import engines

CONSTRUCT, WALK, CHECKED = PARSERS = ("construct", "walk", "checked")

_OF_ENGINE = {
    engines.REFERENCE: CONSTRUCT, engines.JIT: WALK, engines.CHECKED: CHECKED
}  # fmt: skip


class Parser(NamedTuple):
    """The functions of a decoder; ``dp2.walk`` documents them."""

    scan: Callable[..., Scan]
    body_of: Callable[..., Body]
    write_responses: Callable[[Sequence[Sequence[tuple[int, bytes]]], bool], bytes]
    write_payload: Callable[[int, Sequence[Any]], bytes]


def parser_name(options: Options) -> str:
    """The name of the decoder that ``options`` choose, by default the one of their engine.

    Raises UsageError for an unknown name.
    """
    name = options.parser or _OF_ENGINE.get(options.engine, WALK)
    if name not in PARSERS:
        raise UsageError(f"unknown parser {name!r}; expected {', '.join(PARSERS)}")
    return name


def parser_of(options: Options) -> Parser:
    """The decoder that ``options`` choose.  Raises UsageError for an unknown name."""
    name = parser_name(options)
    if name == WALK:
        return _functions(walk)
    # Imported on use: the default needs no declarations but those of the table.
    from dp2emu.dp2 import lockstep, parse

    return _functions(parse if name == CONSTRUCT else lockstep)


@cache
def _functions(module: Any) -> Parser:
    return Parser(*(getattr(module, name) for name in Parser._fields))
