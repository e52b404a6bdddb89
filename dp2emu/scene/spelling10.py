"""Spellings of Direct3D 10 and 11 scenes: keys by other names, and numbers by SDK names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.ddi10.resources.views import BufferExFlag, DepthStencilFlag
from dp2emu.ddi10.states.state_objects import TextureAddress
from dp2emu.errors import SceneError
from dp2emu.runtime10.textures import CpuAccess, MiscFlag
from dp2emu.runtime10.views import VIEW_DIMENSIONS, ViewDimension
from dp2emu.scene.values import UINT, Spellings, plain_key

_WORDS: dict[str, str] = {
    "hex": "data initialdata content",
    "BindFlags": "bind",
    "CPUAccessFlags": "cpuaccess access",
    "StructureByteStride": "structurestride",
    "SampleCount": "samples",
    "SampleQuality": "quality",
    "MipLevels": "mips levels miplevelcount mipcount levelcount",
    "ArraySize": "array layers slices arraylayers layercount slicecount faces wsize",
    "Cube": "texturecube",
    "NumCubes": "cubes cubecount",
    "ViewDimension": "dimension",
    "MipSlice": "mip level miplevel",
    "MostDetailedMip": "firstmip firstlevel basemip baselevel",
    "Slice": "arrayslice layer face wslice",
    "FirstArraySlice": "firstslice firstlayer firstface firstwslice baseslice baselayer",
    "First2DArrayFace": "firstcubeface",
    "FirstElement": "first elementoffset",
    "NumElements": "elements count elementwidth elementcount",
    "MipLODBias": "lodbias bias",
    "MaxAnisotropy": "anisotropy",
    "ComparisonFunc": "comparison compare comparefunc",
    "BorderColor": "border",
    "MinLOD": "minlevel",
    "MaxLOD": "maxlevel",
    "TopLeftX": "x left",
    "TopLeftY": "y top",
    "MinDepth": "minz",
    "MaxDepth": "maxz",
    "viewports": "views",
    "rects": "scissors scissorrects rectangles",
    "texture": "resource",
    "buffer": "resource",
    "dst": "destination dstresource resource target texture",
    "src": "source srcresource",
    "Subresource": "dstsubresource",
    "DstMipSlice": "dstmip dstlevel",
    "DstSlice": "dstlayer dstface dstarrayslice",
    "SrcMipSlice": "srcmip srclevel",
    "SrcSlice": "srclayer srcface srcarrayslice",
    "Box": "dstbox rect",
    "SrcBox": "box",
}
SPELLINGS: Spellings = {key: frozenset(words.split()) for key, words in _WORDS.items()}
"""Other spellings of the keys of Direct3D 10 and 11 scenes, in lower case, without underscores."""


def number(names: Mapping[str, int], *prefixes: str) -> Callable[[object], int]:
    """A reader of a number: an integer, or names joined by ``|`` with or without a prefix.

    Case and underscores of names do not count.
    """
    known = {plain_key(name): value for name, value in names.items()}
    starts = [plain_key(f"{api}{prefix}") for prefix in prefixes for api in _APIS]

    def read(value: object) -> int:
        if not isinstance(value, str):
            return UINT(value)
        word = 0
        for part in value.split("|"):
            found = _find(known, plain_key(part.strip()), starts)
            if found is None:
                raise SceneError(f"expected a number or one of {_some(names)}, got {part!r}")
            word |= found
        return word

    return read


_APIS = "D3D11_", "D3D10_1_", "D3D10_", ""
_SHOWN = 8


def _find(known: Mapping[str, int], name: str, starts: list[str]) -> int | None:
    rests = (name.removeprefix(start) for start in starts)
    return next((known[each] for each in (name, *rests) if each in known), None)


def _some(names: Mapping[str, int]) -> str:
    shown = ", ".join(list(names)[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")


def _members(enum: type[Enum]) -> dict[str, int]:
    return {str(name): int(member.value) for name, member in enum.__members__.items()}


_POINT_TO_LINEAR = {
    "MIN_MAG_MIP_POINT": 0x00,
    "MIN_MAG_POINT_MIP_LINEAR": 0x01,
    "MIN_POINT_MAG_LINEAR_MIP_POINT": 0x04,
    "MIN_POINT_MAG_MIP_LINEAR": 0x05,
    "MIN_LINEAR_MAG_MIP_POINT": 0x10,
    "MIN_LINEAR_MAG_POINT_MIP_LINEAR": 0x11,
    "MIN_MAG_LINEAR_MIP_POINT": 0x14,
    "MIN_MAG_MIP_LINEAR": 0x15,
    "ANISOTROPIC": 0x55,
}
_COMPARISON = 0x80
_FILTERS = _POINT_TO_LINEAR | {
    f"COMPARISON_{name}": value | _COMPARISON for name, value in _POINT_TO_LINEAR.items()
}
_BINDS = {
    "VERTEX_BUFFER": 0x1, "INDEX_BUFFER": 0x2, "CONSTANT_BUFFER": 0x4, "SHADER_RESOURCE": 0x8,
    "STREAM_OUTPUT": 0x10, "RENDER_TARGET": 0x20, "DEPTH_STENCIL": 0x40, "UNORDERED_ACCESS": 0x80,
}  # fmt: skip
_BUFFER_MISC = {
    "DRAWINDIRECT_ARGS": 0x10, "BUFFER_ALLOW_RAW_VIEWS": 0x20, "BUFFER_STRUCTURED": 0x40,
}  # fmt: skip
_UNORDERED_FLAGS = {"RAW": 1, "APPEND": 2, "COUNTER": 4}

FORMAT = number(_members(DxgiFormat), "DXGI_FORMAT_")
BIND = number(_BINDS, "BIND_")
USAGE = number(_members(Usage), "USAGE_")
ACCESS = number(_members(CpuAccess), "CPU_ACCESS_")
MISC = number(_members(MiscFlag) | _BUFFER_MISC, "RESOURCE_MISC_")
FILTER = number(_FILTERS, "FILTER_")
ADDRESS = number(_members(TextureAddress), "TEXTURE_ADDRESS_")
COMPARISON = number(_members(CmpFunc), "COMPARISON_")

_VIEW_FLAGS: dict[str, Callable[[object], int]] = {
    "ShaderResourceView": number(_members(BufferExFlag), "BUFFEREX_SRV_FLAG_"),
    "UnorderedAccessView": number(_UNORDERED_FLAGS, "BUFFER_UAV_FLAG_"),
    "DepthStencilView": number(_members(DepthStencilFlag), "DSV_"),
    "RenderTargetView": number({}),
}


def view_flags(noun: str) -> Callable[[object], int]:
    """A reader of the flags of a kind of view."""
    return _VIEW_FLAGS[noun]


def view_dimension(noun: str) -> Callable[[object], ViewDimension]:
    """A reader of the dimension of a kind of view: its name, or its number in the SDK."""
    shift = 1 if noun == "DepthStencilView" else 0
    names = {each.name: int(each) - shift for each in VIEW_DIMENSIONS[noun]}
    short = "".join(letter for letter in noun if letter.isupper())
    read_number = number(names, f"{short}_DIMENSION_")

    def read(value: object) -> ViewDimension:
        found = read_number(value)
        if found not in names.values():
            raise SceneError(f"expected a dimension of a {noun}, got {found}")
        return ViewDimension(found + shift)

    return read
