"""Textures as an application describes them, and the sizes of their subresources.

Source: the Direct3D 11 documentation of D3D11_TEXTURE1D_DESC, D3D11_TEXTURE2D_DESC,
D3D11_TEXTURE3D_DESC and D3D11CalcSubresource.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntFlag
from typing import NamedTuple

from dp2emu.d3d.formats import FormatRow
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    DxgiSampleDesc,
    MipInfo,
    ResourceMisc,
    ResourceType,
    SubresourceUP,
    Usage,
    format_allows,
    is_valid,
)
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.subresources import CUBE_FACES, full_chain
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.signatures import texels_of


class CpuAccess(IntFlag):
    """D3D11_CPU_ACCESS_FLAG."""

    WRITE = 0x10000
    READ = 0x20000


class MiscFlag(IntFlag):
    """D3D11_RESOURCE_MISC_FLAG of textures."""

    GENERATE_MIPS = 0x1
    SHARED = 0x2
    TEXTURECUBE = 0x4
    RESOURCE_CLAMP = 0x80
    SHARED_KEYEDMUTEX = 0x100
    GDI_COMPATIBLE = 0x200
    SHARED_NTHANDLE = 0x800


_CHAIN = 32
"""More mip levels than any texture has."""
_KNOWN = sum(MiscFlag)


_MISC = {
    MiscFlag.GENERATE_MIPS: ResourceMisc.AUTO_GEN_MIP_MAP,
    MiscFlag.SHARED: ResourceMisc.SHARED,
    MiscFlag.SHARED_KEYEDMUTEX: ResourceMisc.SHARED,
}
"""The application's flags that a driver needs to know, and the DDI's flags."""


class TextureDesc(NamedTuple):
    """D3D11_TEXTURE1D_DESC, D3D11_TEXTURE2D_DESC and D3D11_TEXTURE3D_DESC in one.

    ``kind`` is a texture type of ``ResourceType``; ``slices`` of a cube counts faces.  ``levels``
    0 is all levels down to a single texel.  ``format`` is a DXGI_FORMAT; ``bind``, ``access`` and
    ``misc`` are D3D11_BIND_*, D3D11_CPU_ACCESS_* and D3D11_RESOURCE_MISC_* flags.
    """

    kind: ResourceType
    format: int
    width: int
    height: int = 1
    depth: int = 1
    levels: int = 1
    slices: int = 1
    samples: int = 1
    quality: int = 0
    bind: int = 0
    usage: int = Usage.DEFAULT
    access: int = 0
    misc: int = 0

    @property
    def level_count(self) -> int:
        """Number of mip levels, at least 1."""
        if self.samples > 1:
            return max(self.levels, 1)
        return self.levels or full_chain(*self.sides)

    @property
    def sides(self) -> tuple[int, int, int]:
        """Width, height and depth of the top level in texels."""
        return self.width, self.height, self.depth


class Part(NamedTuple):
    """A subresource: its level and slice, its size in texels, and its rows without padding.

    ``rows`` counts rows of texels, or of blocks of a compressed format; a buffer has one row of
    bytes.
    """

    level: int
    slice: int
    width: int
    height: int
    depth: int
    row_bytes: int
    rows: int

    @property
    def slice_bytes(self) -> int:
        """Number of bytes of a depth slice without padding."""
        return self.row_bytes * self.rows

    @property
    def size(self) -> int:
        """Number of bytes without padding."""
        return self.slice_bytes * self.depth


def part_count(desc: CreateResource) -> int:
    """The number of subresources of a resource."""
    return desc.ArraySize * len(desc.pMipInfoList)


def parts_of(desc: CreateResource) -> tuple[Part, ...]:
    """The subresources of a resource in the order of their numbers: the levels of slice 0 first.

    Raises Refused (E_INVALIDARG) for a format without texels.
    """
    infos = desc.pMipInfoList
    if desc.ResourceDimension == ResourceType.BUFFER:
        size = infos[0].TexelWidth
        return (Part(0, 0, size, 1, 1, size, 1),)
    return tuple(_parts(desc))


def part_of(desc: CreateResource, index: int) -> Part:
    """Subresource ``index`` of a resource, as in ``parts_of``.  Raises IndexError for another."""
    if desc.ResourceDimension == ResourceType.BUFFER:
        return parts_of(desc)[index]
    slice, level = divmod(index, len(desc.pMipInfoList))
    if not 0 <= slice < desc.ArraySize:
        raise IndexError(f"subresource {index}")
    return _part(desc, texels_of(desc.Format), slice, level)


def _parts(desc: CreateResource) -> Iterator[Part]:
    texels = texels_of(desc.Format)
    for slice in range(desc.ArraySize):
        for level in range(len(desc.pMipInfoList)):
            yield _part(desc, texels, slice, level)


def _part(desc: CreateResource, texels: FormatRow, slice: int, level: int) -> Part:
    info, (block_width, block_height) = desc.pMipInfoList[level], texels.block
    columns, rows = -(-info.TexelWidth // block_width), -(-info.TexelHeight // block_height)
    return Part(level, slice, *info, columns * texels.size, rows)


def box_part(desc: CreateResource, part: Part, box: DdiBox) -> Part:
    """``part`` cut down to a box of it, which is in texels, or in bytes of a buffer.

    Raises Refused (E_INVALIDARG) for a box that is empty, does not lie in the subresource, or
    cuts through blocks.
    """
    low, high = box[:3], box[3:]
    sides = part.width, part.height, part.depth
    if not all(0 <= a < b <= side for a, b, side in zip(low, high, sides, strict=True)):
        raise Refused(Result.E_INVALIDARG, f"a box {tuple(box)} of {sides}")
    width, height, depth = (b - a for a, b in zip(low, high, strict=True))
    if desc.ResourceDimension == ResourceType.BUFFER:
        return part._replace(width=width, row_bytes=width)
    texels = texels_of(desc.Format)
    units = (*texels.block, 1)
    ends = zip(low, high, sides, units, strict=True)
    if any(a % unit or (b % unit and b != side) for a, b, side, unit in ends):
        raise Refused(Result.E_INVALIDARG, f"a box {tuple(box)} through blocks")
    columns, rows = -(-width // units[0]), -(-height // units[1])
    return Part(part.level, part.slice, width, height, depth, columns * texels.size, rows)


def texture_resource(
    api: Api, desc: TextureDesc, data: Sequence[bytes] | None = None, *, shown: bool = False
) -> CreateResource:
    """The DDI structure that creates a texture; ``data`` has the rows of each subresource, and a
    back buffer is ``shown``.

    Raises Refused (E_INVALIDARG) for a description that Direct3D rejects, and Unsupported for
    formats and flags that are not implemented.
    """
    if desc.misc & ~_KNOWN:
        raise Unsupported(f"textures with MiscFlags {desc.misc:#x}")
    _check_cube(api, desc)
    bounded = min(desc.sides) > 0 < desc.level_count <= _CHAIN
    found = _described(desc, shown) if bounded else None
    if found is None or not is_valid(found) or not format_allows(found):
        raise Refused(Result.E_INVALIDARG, "the description of a texture")
    return found if data is None else _filled(found, data)


def _check_cube(api: Api, desc: TextureDesc) -> None:
    """Raise Refused for a number of faces that the interface does not have.

    Arrays of cubes need Direct3D 10.1; they may have faces behind the last whole cube.
    """
    if desc.kind != ResourceType.TEXTURECUBE:
        return
    if desc.slices < CUBE_FACES or (api is Api.D3D10 and desc.slices != CUBE_FACES):
        raise Refused(Result.E_INVALIDARG, f"{desc.slices} faces of cubes")


def _described(desc: TextureDesc, shown: bool) -> CreateResource:
    present = BindFlag.PRESENT if shown else 0
    levels = range(desc.level_count)
    return CreateResource(
        tuple(MipInfo(*(max(side >> level, 1) for side in desc.sides)) for level in levels),
        None,
        desc.kind,
        desc.usage,
        bind_flags(desc.bind) | present,
        map_flags(desc.access),
        sum(int(flag) for own, flag in _MISC.items() if desc.misc & own),
        desc.format,
        DxgiSampleDesc(desc.samples, desc.quality),
        len(levels),
        desc.slices,
    )


def _filled(desc: CreateResource, data: Sequence[bytes]) -> CreateResource:
    parts = parts_of(desc)
    if [len(each) for each in data] != [part.size for part in parts]:
        raise Refused(Result.E_INVALIDARG, "initial data of another size")
    given = (
        SubresourceUP(each, part.row_bytes, part.slice_bytes)
        for each, part in zip(data, parts, strict=True)
    )
    return desc._replace(pInitialDataUP=tuple(given))


_UNORDERED_ACCESS = 0x80
"""D3D11_BIND_UNORDERED_ACCESS, the application's flag; the DDI's flag is another bit."""


def bind_flags(bind: int) -> int:
    """The DDI's bind flags for ``bind``, flags of D3D11_BIND_FLAG."""
    unordered = BindFlag.UNORDERED_ACCESS if bind & _UNORDERED_ACCESS else 0
    return bind & ~_UNORDERED_ACCESS | unordered


def map_flags(access: int) -> int:
    """The DDI's map flags for ``access``, flags of D3D11_CPU_ACCESS_FLAG."""
    reads = Map.READ if access & CpuAccess.READ else 0
    return reads | (Map.WRITE if access & CpuAccess.WRITE else 0)
