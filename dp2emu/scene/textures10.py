"""Buffers, textures and views of Direct3D 10 and 11 scenes, and their initial data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.errors import SceneError
from dp2emu.gpu.resource.subresources import CUBE_FACES
from dp2emu.runtime10 import DriverDevice, Handle, Resource
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.textures import MiscFlag, Part, TextureDesc, parts_of, texture_resource
from dp2emu.runtime10.views import RAW, Span, ViewDesc
from dp2emu.scene.document import extent, sample_count
from dp2emu.scene.player import Action, Player, calling
from dp2emu.scene.spelling10 import (
    ACCESS,
    BIND,
    FORMAT,
    MISC,
    SPELLINGS,
    USAGE,
    view_dimension,
    view_flags,
)
from dp2emu.scene.values import (
    DATA_BYTES,
    INT,
    UINT,
    Default,
    Fields,
    PlayerReader,
    list_of,
    spelled_record,
    truth,
    whole,
)

Content = bytes | list[Any]
"""Initial data: bytes of all subresources, or a list of the bytes of each; in lists of levels for
each slice, if wanted."""

_COUNT = whole(-1, 0xFFFFFFFF)
_WORD = 0xFFFFFFFF


# Initial data


def content_of(player: Player[DriverDevice]) -> Callable[[object], Content | None]:
    """A reader of initial data: hexadecimal digits, a data object, or a list of these; null is
    None.
    """

    def read(value: object) -> Content | None:
        if value is None:
            return None
        if isinstance(value, list):
            return [_present(read(each)) for each in value]
        return player.data({"hex": value} if isinstance(value, str) else value)

    return read


def _present(content: Content | None) -> Content:
    if content is None:
        raise SceneError("expected data of each subresource, got null")
    return content


def split(content: Content, parts: Sequence[Part]) -> list[bytes]:
    """The data of each of ``parts``.  Raises SceneError for another number or size of them."""
    if isinstance(content, bytes):
        return _cut(content, parts)
    pieces = [piece for each in content for piece in (each if isinstance(each, list) else [each])]
    if len(pieces) != len(parts):
        raise SceneError(f"expected data of {len(parts)} subresources, got {len(pieces)}")
    for piece, part in zip(pieces, parts, strict=True):
        if not isinstance(piece, bytes) or len(piece) != part.size:
            found = f"{len(piece)} bytes" if isinstance(piece, bytes) else "a list"
            place = f"level {part.level} of slice {part.slice}"
            raise SceneError(f"{place}: expected {part.size} bytes, got {found}")
    return pieces


def _cut(data: bytes, parts: Sequence[Part]) -> list[bytes]:
    wanted = sum(part.size for part in parts)
    if len(data) != wanted:
        raise SceneError(f"expected {wanted} bytes of all subresources, got {len(data)}")
    pieces, at = [], 0
    for part in parts:
        pieces.append(data[at : at + part.size])
        at += part.size
    return pieces


# Buffers and textures


def _bytes_of(player: Player[DriverDevice]) -> Callable[[object], bytes | None]:
    """A reader of the initial data of a buffer, which has one subresource."""
    read = content_of(player)

    def flat(value: object) -> bytes | None:
        found = read(value)
        if isinstance(found, list):
            if len(found) != 1 or not isinstance(found[0], bytes):
                raise SceneError("expected data of one subresource")
            return found[0]
        return found

    return flat


BYTES = PlayerReader(_bytes_of)


def _buffer(
    device: DriverDevice, size: int, data: bytes | None, bind: int, stride: int, *rest: int
) -> Resource:
    """CreateBuffer.  MiscFlags have no effect: the driver allows all that they ask for."""
    usage, access, _misc = rest
    filled = data and data.ljust(size, b"\0")
    return device.create_buffer(size, bind, filled, usage, stride, access)


def _texture(player: Player[DriverDevice], fields: Fields, kind: ResourceType) -> Resource:
    desc = _texture_desc(fields, kind)
    content = fields.take("hex", content_of(player), None)
    parts = parts_of(texture_resource(player.device.api, desc))
    player.claim_pixels(sum(part.size for part in parts) * desc.samples // 4)
    if content is None:
        return player.device.create_texture(desc)
    try:
        data = split(content, parts)
    except SceneError as error:
        raise SceneError(f"{fields.where}: hex: {error.what}") from None
    return player.device.create_texture(desc, data)


def _texture_desc(fields: Fields, kind: ResourceType) -> TextureDesc:
    """Read the description of a texture; keys may turn a 2D texture into a cube or a volume."""
    misc = fields.take("MiscFlags", MISC, 0)
    cube, slices = _slices(fields, bool(misc & MiscFlag.TEXTURECUBE))
    if kind is ResourceType.TEXTURE2D:
        volume = ResourceType.TEXTURE3D if "Depth" in fields else kind
        kind = ResourceType.TEXTURECUBE if cube else volume
    elif cube:
        raise SceneError(f"{fields.where}: only 2D textures are cubes")
    flat, deep = kind is ResourceType.TEXTURE1D, kind is ResourceType.TEXTURE3D
    return TextureDesc(
        kind,
        fields.take("Format", FORMAT),
        fields.take("Width", extent),
        1 if flat else fields.take("Height", extent),
        fields.take("Depth", extent) if deep else 1,
        fields.take("MipLevels", UINT, 1),
        slices,
        max(fields.take("SampleCount", sample_count, 1), 1),
        fields.take("SampleQuality", UINT, 0),
        fields.take("BindFlags", BIND),
        fields.take("Usage", USAGE, 0),
        fields.take("CPUAccessFlags", ACCESS, 0),
        misc,
    )


def _slices(fields: Fields, flagged: bool) -> tuple[bool, int]:
    """Read whether a texture is a cube, and its number of slices or faces.

    ``flagged`` tells that it has the flag of a cube, whose ArraySize counts faces.  Without the
    flag, an ArraySize of other than whole cubes counts cubes.
    """
    cubes = fields.take("NumCubes", whole(1, _WORD // CUBE_FACES), None)
    cube = fields.take("Cube", truth, flagged or cubes is not None)
    slices = fields.take("ArraySize", UINT, CUBE_FACES * (cubes or 1) if cube else 1)
    counts_cubes = cube and not flagged and cubes is None and slices % CUBE_FACES
    return cube, slices * CUBE_FACES if counts_cubes else slices


# Views


def _view(player: Player[DriverDevice], fields: Fields, noun: str) -> Handle:
    resource = fields.take("resource", player.find(Resource))
    desc = ViewDesc(
        fields.take("Format", FORMAT, None),
        fields.take("ViewDimension", view_dimension(noun), None),
        _levels(fields, noun),
        _span(fields, "Slice", "FirstArraySlice", "ArraySize"),
        _span(fields, None, "First2DArrayFace", "NumCubes"),
        _span(fields, None, "FirstElement", "NumElements") or Span(),
        _flags(fields, noun),
    )
    if fields.take("structured", truth, False):
        desc = desc._replace(format=0)
    return player.device.create_view(noun, resource, desc)


def _levels(fields: Fields, noun: str) -> Span:
    """The levels of a view; one for views that are not shader resource views."""
    count = "MipLevels" if noun == "ShaderResourceView" else None
    return _span(fields, "MipSlice", "MostDetailedMip", count) or Span()


def _span(fields: Fields, one: str | None, first: str, count: str | None) -> Span | None:
    """Read a range; None if no key of it is there.

    ``one`` is the key of a single item, ``first`` and ``count`` those of several.
    """
    number = None if count is None else fields.take(count, _COUNT, None)
    number = number if number is None else number & _WORD
    single = None if one is None else fields.take(one, UINT, None)
    if single is not None:
        return Span(single, 1 if number is None else number)
    if first not in fields and number is None:
        return None
    return Span(fields.take(first, UINT, 0), number)


_FLAG_KEYS = {
    "ShaderResourceView": {"raw": RAW},
    "UnorderedAccessView": {"raw": RAW, "append": 2, "counter": 4},
}
"""Keys that set a flag of a view if they are true, by the view's noun."""


def _flags(fields: Fields, noun: str) -> int:
    flags = fields.take("Flags", view_flags(noun), 0)
    for key, flag in _FLAG_KEYS.get(noun, {}).items():
        flags |= flag if fields.take(key, truth, False) else 0
    return flags


MAKERS: dict[str, Action] = {
    "CreateBuffer": calling(
        _buffer, ByteWidth=whole(1, DATA_BYTES), hex=Default(BYTES, None), BindFlags=BIND,
        StructureByteStride=Default(UINT, 0), Usage=Default(USAGE, 0),
        CPUAccessFlags=Default(ACCESS, 0), MiscFlags=Default(MISC, 0),
    ),
    **{
        f"CreateTexture{dimension}": partial(_texture, kind=kind)
        for dimension, kind in (
            ("1D", ResourceType.TEXTURE1D),
            ("2D", ResourceType.TEXTURE2D),
            ("3D", ResourceType.TEXTURE3D),
        )
    },
    **{
        f"Create{noun}": partial(_view, noun=noun)
        for noun in ("ShaderResourceView", "RenderTargetView", "DepthStencilView",
                     "UnorderedAccessView")
    },
}  # fmt: skip
"""Functions that create buffers, textures and views, by the resource's ``op``."""


# Subresources and boxes of operations


def subresource(fields: Fields, resource: Resource, side: str = "") -> int:
    """Read a subresource: its number, or level and slice (0 and 0); keys begin with ``side``.

    Raises SceneError for both, and Refused for a level that the resource does not have.
    """
    (index,) = subresources(fields, resource, side, default=0)
    return index


def subresources(
    fields: Fields, resource: Resource, side: str = "", default: int | None = None
) -> list[int]:
    """The numbers of the subresources of a level and slice; without ``default`` a missing one
    means each.
    """
    index = fields.take(f"{side}Subresource", UINT, None)
    level = fields.take(f"{side}MipSlice", UINT, default)
    slice = fields.take(f"{side}Slice", UINT, default)
    if index is not None:
        if (level, slice) != (default, default):
            raise SceneError(f"{fields.where}: a subresource and also a level or slice")
        return [index]
    count = resource.desc.MipLevels
    found = [
        number
        for number in range(count * resource.desc.ArraySize)
        if level in (None, number % count) and slice in (None, number // count)
    ]
    if not found:
        raise Refused(Result.E_INVALIDARG, f"level {level} of slice {slice}")
    return found


def _box_of(left: int, right: int, top: int, bottom: int, front: int, back: int) -> DdiBox:
    return DdiBox(left, top, front, right, bottom, back)


_BOX = spelled_record(
    _box_of,
    {"left": INT, "right": INT, "top": Default(INT, 0), "bottom": Default(INT, 1),
     "front": Default(INT, 0), "back": Default(INT, 1)},
    SPELLINGS,
)  # fmt: skip


def box(value: object) -> DdiBox:
    """Read a box: an object of D3D11_BOX, or [left, top, front, right, bottom, back]."""
    return DdiBox(*list_of(INT, 6)(value)) if isinstance(value, list) else _BOX(value)
