"""Decoding of flexible vertex formats (FVF codes; wire format, "Vertex formats")."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from dp2emu.argument_check import check_contents
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import TYPE_BYTES, Element, VertexLayout
from dp2emu.errors import Fault

POSITION = 0x00E
"""Mask of the FVF code bits that hold the position type; 0 in them means no position."""
XYZ = 0x002
XYZRHW = 0x004
NORMAL = 0x010
PSIZE = 0x020
"""FVF flag of a reserved dword up to DirectX 7, of the point size from DirectX 8 on."""
DIFFUSE = 0x040
SPECULAR = 0x080
LASTBETA_UBYTE4 = 0x1000
FOG = 0x2000
LASTBETA_D3DCOLOR = 0x8000

_XYZB1, _XYZB5 = 0x006, 0x00E
_XYZW = 0x4002
_TEXCOUNT_SHIFT, _TEXCOUNT_MAX = 8, 8
_TEXCOORD_TYPES = (DeclType.FLOAT2, DeclType.FLOAT3, DeclType.FLOAT4, DeclType.FLOAT1)

_Attribute = tuple[DeclType, DeclUsage | None, int]
"""A vertex attribute of an FVF code: (type, usage, usage index); usage None is a reserved
DWORD."""


def fvf_size(fvf: int, interface: int = 9) -> int:
    """Bytes of a vertex of format ``fvf`` in an application of DirectX ``interface``.

    Raises Fault (DDERR_INVALIDPARAMS) for more than 8 texture coordinate sets.
    """
    try:
        return _size(fvf, interface)
    except TypeError:
        check_contents(fvf_size, fvf, interface)
        raise


@lru_cache(maxsize=256)
def _size(fvf: int, interface: int) -> int:
    return sum(TYPE_BYTES[type] for type, _, _ in _attributes(fvf, interface))


def fvf_layout(fvf: int, interface: int = 9) -> VertexLayout:
    """The layout of vertices of FVF code ``fvf``, all in stream 0, for DirectX ``interface``.

    Raises Fault as ``fvf_size`` does.
    """
    try:
        return _layout(fvf, interface)
    except TypeError:
        check_contents(fvf_layout, fvf, interface)
        raise


@lru_cache(maxsize=256)
def _layout(fvf: int, interface: int) -> VertexLayout:
    elements, offset = [], 0
    for type, usage, index in _attributes(fvf, interface):
        if usage is not None:
            elements.append(Element(0, offset, type, usage, index))
        offset += TYPE_BYTES[type]
    return VertexLayout(tuple(elements), transformed=fvf & POSITION == XYZRHW)


def _attributes(fvf: int, interface: int) -> Iterator[_Attribute]:
    yield from _position(fvf, interface)
    if fvf & NORMAL:
        yield DeclType.FLOAT3, DeclUsage.NORMAL, 0
    if fvf & PSIZE:
        yield DeclType.FLOAT1, DeclUsage.PSIZE if interface >= 8 else None, 0
    if fvf & DIFFUSE:
        yield DeclType.D3DCOLOR, DeclUsage.COLOR, 0
    if fvf & SPECULAR:
        yield DeclType.D3DCOLOR, DeclUsage.COLOR, 1
    if fvf & FOG and interface >= 9:
        yield DeclType.FLOAT1, DeclUsage.FOG, 0
    yield from _texture_coordinates(fvf)


def _position(fvf: int, interface: int) -> Iterator[_Attribute]:
    position = fvf & POSITION
    if position == XYZRHW:
        yield DeclType.FLOAT4, DeclUsage.POSITIONT, 0
    elif interface >= 9 and fvf & _XYZW == _XYZW and position == XYZ:
        yield DeclType.FLOAT4, DeclUsage.POSITION, 0
    elif position:
        yield DeclType.FLOAT3, DeclUsage.POSITION, 0
    if position >= _XYZB1:
        yield from _blending(fvf, (position - _XYZB1) // 2 + 1)


def _blending(fvf: int, betas: int) -> Iterator[_Attribute]:
    """Attributes of the ``betas`` blend values of a vertex: weights, and indices in the last value
    if a LASTBETA flag is set or the position is XYZB5.
    """
    indexed = fvf & (LASTBETA_UBYTE4 | LASTBETA_D3DCOLOR) or fvf & POSITION == _XYZB5
    weights = betas - 1 if indexed else betas
    if weights:
        yield DeclType(DeclType.FLOAT1 + weights - 1), DeclUsage.BLENDWEIGHT, 0
    if indexed:
        color = DeclType.D3DCOLOR if fvf & LASTBETA_D3DCOLOR else DeclType.FLOAT1
        type = DeclType.UBYTE4 if fvf & LASTBETA_UBYTE4 else color
        yield type, DeclUsage.BLENDINDICES, 0


def _texture_coordinates(fvf: int) -> Iterator[_Attribute]:
    count = fvf >> _TEXCOUNT_SHIFT & 0xF
    if count > _TEXCOUNT_MAX:
        what = f"FVF {fvf:#x} has {count} texture coordinate sets, limit {_TEXCOUNT_MAX}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)
    for index in range(count):
        yield _TEXCOORD_TYPES[fvf >> (16 + 2 * index) & 3], DeclUsage.TEXCOORD, index
