"""The capabilities of a driver as text and as JSON, with the names of the SDK.

Sources: the documentation of D3DCAPS9 and D3DHAL_GLOBALDRIVERDATA.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from dp2emu.d3d.capabilities import Capabilities, format_name
from dp2emu.d3d.capflags import FLAGS, FormatOp
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.sdk import SdkFlag, sdk_name

_WIDTH = 99
_NUMBERS = 34
_VALUES = 12


def caps_table(capabilities: Capabilities) -> list[str]:
    """Return lines of text: version, members of the device with the names of their flags, formats
    with their operations, query types.
    """
    lines = [f"interface of DirectX {capabilities.ddi}"]
    for name, value in capabilities.device.items():
        lines += _row(name, _number(value), _flags(name, value))
    for format, operations in capabilities.formats:
        lines += _row(format_name(format), f"{operations:#x}", _names(FormatOp, operations))
    queries = capabilities.queries
    if queries is not None:
        lines += _row("queries", str(len(queries)), [_query(kind) for kind in queries])
    return lines


def caps_document(capabilities: Capabilities) -> dict[str, Any]:
    """Return a JSON object: ``ddi``, ``device`` by member, ``flags`` of the members that have
    flags, ``formats`` with operations, ``queries`` or null.
    """
    device = capabilities.device
    return {
        "ddi": capabilities.ddi,
        "device": {name: _json(value) for name, value in device.items()},
        "flags": {name: _flags(name, value) for name, value in device.items() if _has(name)},
        "formats": [
            {"format": format_name(format), "operations": _names(FormatOp, operations)}
            for format, operations in capabilities.formats
        ],
        "queries": None
        if capabilities.queries is None
        else list(map(_query, capabilities.queries)),
    }


def _row(name: str, value: str, names: list[str]) -> Iterator[str]:
    """Yield the lines of a table's row: name, value, then names in as many lines as they need."""
    start = f"{name:<{_NUMBERS}} {value:<{_VALUES}}"
    blank = " " * (len(start) + 1)
    texts = wrap(" ".join(names), _WIDTH - len(blank), break_long_words=False) or [""]
    for at, text in enumerate(texts):
        yield f"{blank if at else f'{start} '}{text}".rstrip()


def _word(name: str) -> str:
    """The key of ``FLAGS`` for a member of any version's structures."""
    return name if name in FLAGS else name.rpartition(".")[2].removeprefix("dw")


def _has(name: str) -> bool:
    return _word(name) in FLAGS


def _flags(name: str, value: float) -> list[str]:
    return _names(FLAGS[_word(name)], int(value)) if _has(name) else []


def _names(flags: type[SdkFlag], value: int) -> list[str]:
    """The names of the flags in a word; bits without a name as one number."""
    known = [each for each in flags if value & each]
    rest = value & ~sum(known)
    return [each.sdk for each in known] + ([f"{rest:#x}"] if rest else [])


def _number(value: float) -> str:
    return f"{value:#x}" if isinstance(value, int) and value > 0xFFFF else f"{value:g}"


def _json(value: float) -> float | str:
    """A number as JSON can have it: infinities and NaN as text."""
    return value if math.isfinite(value) else str(value)


def _query(kind: int) -> str:
    return sdk_name(QueryType, kind) or str(kind)
