"""Values of Direct3D 9 constants by full SDK name (d3d9types.h, d3d9.h), for text input."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag

from dp2emu.d3d import enums, flags, fvf
from dp2emu.d3d.sdk import SdkEnum

_FVF = {
    "XYZ": 0x002, "XYZRHW": fvf.XYZRHW, "XYZB1": 0x006, "XYZB2": 0x008, "XYZB3": 0x00A,
    "XYZB4": 0x00C, "XYZB5": 0x00E, "XYZW": 0x4002, "NORMAL": fvf.NORMAL, "PSIZE": fvf.PSIZE,
    "DIFFUSE": fvf.DIFFUSE, "SPECULAR": fvf.SPECULAR, "LASTBETA_UBYTE4": fvf.LASTBETA_UBYTE4,
    "LASTBETA_D3DCOLOR": fvf.LASTBETA_D3DCOLOR,
    **{f"TEX{count}": count << 8 for count in range(9)},
}  # fmt: skip

_WORDS: dict[str, dict[str, int]] = {
    "D3DFVF_": _FVF,
    "D3DWRAP": {"COORD_0": 1, "COORD_1": 2, "COORD_2": 4, "COORD_3": 8, "_U": 1, "_V": 2, "_W": 4},
    "D3DCLIPPLANE": {str(index): 1 << index for index in range(6)},
    "D3DVERTEXTEXTURESAMPLER": {str(index): 257 + index for index in range(4)},
}
"""SDK constants without an enumeration class here: prefix of the name -> rest of the name ->
value."""

_FLAGS: dict[str, type[IntFlag]] = {
    "D3DCLEAR_": flags.Clear,
    "D3DISSUE_": flags.Issue,
    "D3DCOLORWRITEENABLE_": flags.ColorWrite,
    "D3DSTREAMSOURCE_": flags.StreamSource,
    "D3DTA_": flags.ArgumentModifier,
    "D3DUSAGE_": flags.Usage,
}


def _pairs() -> Iterator[tuple[str, int]]:
    for enum in vars(enums).values():
        if isinstance(enum, type) and issubclass(enum, SdkEnum) and enum is not SdkEnum:
            yield from ((member.sdk, int(member)) for member in enum)
    for prefix, words in _FLAGS.items():
        yield from ((prefix + str(name), int(word)) for name, word in words.__members__.items())
    for prefix, names in _WORDS.items():
        yield from ((prefix + name, value) for name, value in names.items())


_VALUES = {**dict(_pairs()), "TRUE": 1, "FALSE": 0}


def sdk_constant(name: str) -> int | None:
    """The value of the DirectX 9 constant with SDK name ``name``, None for an unknown name.

    >>> sdk_constant("D3DCMP_LESS")
    2
    """
    return _VALUES.get(name)
