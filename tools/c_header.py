#!/usr/bin/env python3
"""Writes the C header of the driver interface, dp2emu/capture/c/dp2.h, from the declarations.

python tools/c_header.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntFlag
from pathlib import Path
from typing import Any

from construct import Array, Construct, FormatField

from dp2emu.d3d import capflags, caps, devinfo, dp2structs, hal, hal9x
from dp2emu.d3d.ddraw import PixelFlags
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, PrimitiveType, QueryType
from dp2emu.d3d.flags import (
    DDHAL_DRIVER_HANDLED,
    DDHAL_DRIVER_NOTHANDLED,
    Clear,
    Dp2Flags,
    Issue,
    PatchFlags,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.d3d.words import ByAbi
from dp2emu.dp2.header_scan import row_of
from dp2emu.dp2.table import TABLE

HEADER = Path(__file__).parents[1] / "dp2emu" / "capture" / "c" / "dp2.h"

_TYPES = {
    "B": "dp2_u8", "H": "dp2_u16", "L": "dp2_u32", "l": "dp2_i32", "f": "dp2_f32",
    "I": "dp2_u32", "i": "dp2_i32",
}  # fmt: skip

FLAGS: tuple[tuple[str, type[IntFlag]], ...] = (
    ("D3DISSUE_", Issue),
    ("D3DHALDP2_", Dp2Flags),
    ("D3DCLEAR_", Clear),
    ("RTPATCHFLAG_", PatchFlags),
)
RESULTS = (
    "D3D_OK",
    "D3DERR_COMMAND_UNPARSED",
    "D3DERR_DRIVERINVALIDCALL",
    "D3DHAL_CONTEXT_BAD",
    "D3DHAL_OUTOFCONTEXTS",
    "DDERR_INVALIDPARAMS",
    "DDERR_OUTOFMEMORY",
    "DDERR_GENERIC",
    "DDERR_UNSUPPORTED",
    "DDERR_WASSTILLDRAWING",
    "DDERR_SURFACELOST",
    "DDERR_EXCEPTION",
    "DDERR_CURRENTLYNOTAVAIL",
)  # fmt: skip

_TOP = """\
/*
 * dp2.h: the DrawPrimitives2 interface of DirectX 6 to 9 for drivers.
 *
 * Written by tools/c_header.py from the declarations dp2emu itself uses; do not edit.  C89, no
 * library.  The layout of every structure is asserted, for 32 and 64 bit.
 *
 * Names are those of the SDK.  To use this beside the SDK's own headers, define DP2_NAME(name)
 * before including it, to put something before the names of structures.  Of a union one member
 * is declared, and a comment tells its other names.  Pointers are unsigned numbers (dp2_uptr).
 *
 * With DP2STUB_9X it has the surface structures of Windows 95, 98 and ME, under their own names
 * (DDRAWI_DDRAWSURFACE_LCL) and under the names of Windows NT (DD_SURFACE_LOCAL).
 *
 * Tokens follow each other at even addresses: read them with DP2_U16 and DP2_U32, not through a
 * pointer to a structure.  dp2walk.h finds where they end.
 */
#ifndef DP2_H
#define DP2_H

#include <stddef.h>

#ifndef DP2_NAME
#define DP2_NAME(name) name
#endif

#ifndef DP2_FUNCTION
#if defined(__GNUC__)
#define DP2_FUNCTION static __attribute__((unused))
#else
#define DP2_FUNCTION static
#endif
#endif

typedef unsigned char dp2_u8;
typedef unsigned short dp2_u16;
typedef unsigned int dp2_u32;
typedef int dp2_i32;
typedef float dp2_f32;
typedef size_t dp2_uptr;

#define DP2_ASSERT(name, condition) typedef char dp2_assert_##name[(condition) ? 1 : -1]
#define DP2_BY_ABI(bits32, bits64) (sizeof(void *) == 8 ? (bits64) : (bits32))

DP2_ASSERT(u8, sizeof(dp2_u8) == 1);
DP2_ASSERT(u16, sizeof(dp2_u16) == 2);
DP2_ASSERT(u32, sizeof(dp2_u32) == 4);
DP2_ASSERT(i32, sizeof(dp2_i32) == 4);
DP2_ASSERT(f32, sizeof(dp2_f32) == 4);
DP2_ASSERT(uptr, sizeof(dp2_uptr) == sizeof(void *));

/* Little-endian numbers at any address, of unsigned characters. */
#define DP2_U16(at) ((dp2_u32)(at)[0] | (dp2_u32)(at)[1] << 8)
#define DP2_U32(at) (DP2_U16(at) | (dp2_u32)(at)[2] << 16 | (dp2_u32)(at)[3] << 24)
"""

_TABLE = """\
/* How many bytes follow the header of a token, n being the number in it.  Kinds: LINEAR is
 * base + each * n; VERTICES is item bytes, then, at a multiple of 4, base + each * n vertices;
 * TAILS is base + each * n items of item bytes, each with, for either field that is counted,
 * so many times the bytes given; OTHER is in dp2walk.h alone. */
#define DP2_NONE (-1)
#define DP2_OTHER 0
#define DP2_LINEAR 1
#define DP2_VERTICES 2
#define DP2_TAILS 3

typedef struct dp2_token {
    short kind, base, each, item, field0, bytes0, field1, bytes1;
} dp2_token;

DP2_FUNCTION const dp2_token *dp2_token_of(dp2_u32 opcode)
{
    static const dp2_token none = {DP2_NONE, 0, 0, 0, 0, 0, 0, 0};
    static const dp2_token table[] = {
"""

_NINE = """\
#ifdef DP2STUB_9X
/* DirectDraw of Windows 95, 98 and ME: ddrawi.h. */
"""
_NT = """\
#else
/* DirectDraw of Windows NT: ddrawint.h. */
"""

_END = """\
    };
    return opcode < sizeof(table) / sizeof(table[0]) ? &table[opcode] : &none;
}

#endif
"""


def header() -> str:
    """The whole header."""
    parts = (_TOP, *_constants(), *_plain(), *_by_abi())
    return "\n".join((*parts, _TABLE + "".join(_rows()) + _END))


def _constants() -> Iterator[str]:
    yield _defines((op.sdk, op) for op in Op)
    yield _defines((kind.sdk, kind) for kind in QueryType)
    yield _defines((kind.sdk, kind) for kind in PrimitiveType)
    for prefix, flags in FLAGS:
        yield _defines(((prefix + str(flag.name), flag) for flag in flags), base=16)
    yield _defines(((name, HResult[name]) for name in RESULTS), base=16)
    yield from _announcements()
    yield _defines(
        (
            ("DDHAL_DRIVER_NOTHANDLED", DDHAL_DRIVER_NOTHANDLED),
            ("DDHAL_DRIVER_HANDLED", DDHAL_DRIVER_HANDLED),
        )
    )


def _announcements() -> Iterator[str]:
    """Constants for DdGetDriverInfo: requests, GUIDs, flags of capabilities and formats."""
    magic = ("D3DGDI2_MAGIC", hal.D3DGDI2_MAGIC)
    yield _defines((magic, *((kind.sdk, int(kind)) for kind in hal.InfoType)), base=16)
    numbers = ((name, ", ".join(map(hex, guid))) for name, guid in hal.GUIDS.items())
    yield (
        "/* The 16 bytes of a GUID in memory, as an initializer of an array of characters. */\n"
        + "".join(f"#define {name.upper()}_BYTES \\\n    {{{bytes}}}\n" for name, bytes in numbers)
    )
    for kind in vars(capflags).values():
        if isinstance(kind, type) and issubclass(kind, SdkFlag) and kind is not SdkFlag:
            yield _defines(((flag.sdk, int(flag)) for flag in kind), base=16)
    yield _defines((("DDPF_D3DFORMAT", PixelFlags.D3DFORMAT),), base=16)
    yield _defines((format.sdk, format) for format in Format)


def _defines(rows: Iterable[tuple[str, int]], base: int = 10) -> str:
    lines = (f"#define {name} {value:#x}u" if base == 16 else f"#define {name} {value:d}"
             for name, value in rows)  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


_ALIASES = dp2structs.ALIASES | hal.ALIASES | hal.SURFACE_ALIASES | hal9x.ALIASES
_GEOMETRY = {name: getattr(dp2structs, name) for name in ("POINT", "RECT")}


def _structures() -> dict[str, Any]:
    """Structures that are the same on every host, each behind those it has inside."""
    listed = _GEOMETRY | hal.SURFACES
    for module in (dp2structs, devinfo, hal, caps):
        for name, value in vars(module).items():
            if isinstance(value, Construct) and name.startswith(("D3D", "DD_")):
                listed[name] = value
    return listed


def _plain() -> Iterator[str]:
    first: dict[int, str] = {}
    for name, declaration in _structures().items():
        same = first.setdefault(id(declaration), name)
        if same != name:
            yield f"typedef DP2_NAME({same}) DP2_NAME({name});\n"
        else:
            yield _structure(name, declaration, declaration)


def _by_abi() -> Iterator[str]:
    yield from _made_of(hal.BY_ABI | hal.CALLS_BY_ABI | caps.BY_ABI)
    yield _NINE
    yield from (_structure(name, each, each) for name, each in hal9x.PLAIN.items())
    yield from _made_of(hal9x.BY_ABI)
    yield "".join(
        f"typedef DP2_NAME({ours}) DP2_NAME({name});\n" for name, ours in hal9x.NAMES.items()
    )
    yield _NT
    yield from _made_of(hal.SURFACES_BY_ABI)
    yield "#endif\n"


def _made_of(listed: Mapping[str, ByAbi]) -> Iterator[str]:
    return (_structure(name, declare(32), declare(64)) for name, declare in listed.items())


def _members(declaration: Any) -> dict[str, tuple[int, Any]]:
    """Offset and construct of every member that has a name."""
    found, at = {}, 0
    for member in declaration.subcons:
        if member.name is not None:
            found[str(member.name)] = at, member.subcon
        at += member.sizeof()
    return found


def _structure(name: str, narrow: Any, wide: Any) -> str:
    members, wider = _members(narrow), _members(wide)
    lines = [
        f"    {_declared(member, declared, wider[member][1])}{_others(name, member)}\n"
        for member, (_, declared) in members.items()
    ]
    made = f"DP2_NAME({name})"
    asserts = [_assert(f"size_{name}", f"sizeof({made})", narrow.sizeof(), wide.sizeof())]
    asserts += [
        _assert(f"{name}_{member}", f"offsetof({made}, {member})", at, wider[member][0])
        for member, (at, _) in members.items()
    ]
    return f"typedef struct {{\n{''.join(lines)}}} {made};\n" + "".join(asserts)


def _assert(name: str, what: str, narrow: int, wide: int) -> str:
    value = str(narrow) if narrow == wide else f"DP2_BY_ABI({narrow}, {wide})"
    return f"DP2_ASSERT({name}, {what} == {value});\n"


def _others(structure: str, member: str) -> str:
    names = [
        other for (name, other), shown in _ALIASES.items() if (name, shown) == (structure, member)
    ]
    return f" /* also {', '.join(names)} */" if names else ""


def _declared(name: str, narrow: Any, wide: Any) -> str:
    if isinstance(narrow, Array):
        return f"{_type(narrow.subcon, narrow.subcon)} {name}[{narrow.count}];"
    return f"{_type(narrow, wide)} {name};"


def _type(narrow: Any, wide: Any) -> str:
    if isinstance(narrow, FormatField):
        return "dp2_uptr" if narrow is not wide else _TYPES[narrow.fmtstr[-1]]
    inside = hal.CALLS_BY_ABI | hal9x.BY_ABI
    listed = _structures() | hal9x.PLAIN | {name: made(32) for name, made in inside.items()}
    name = next(name for name, value in listed.items() if value is narrow)
    return f"DP2_NAME({name})"


def _rows() -> Iterator[str]:
    for op in range(max(TABLE) + 1):
        row = row_of(TABLE[op]) if op in TABLE else (-1,)
        cells = ", ".join(str(cell) for cell in (*row, *[0] * (8 - len(row))))
        name = TABLE[op].name if op in TABLE else "nothing"
        yield f"        {{{cells}}}{',' if op < max(TABLE) else ''} /* {op} {name} */\n"


def main() -> None:
    """Rewrite the header."""
    HEADER.write_text(header(), "ascii", newline="\n")


if __name__ == "__main__":
    main()
