"""Textures of a device: creation and content, surfaces, generated levels, palettes, and
CheckDeviceFormat.

A texture has a handle, and each of its surfaces another, created with the first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from dp2emu.argument_check import checked
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.d3d.flags import DDRAWIPAL_ALPHA, Usage
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireTextureStageState
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import CUBE_FACES, full_chain
from dp2emu.runtime.arguments import handle_of, needed
from dp2emu.runtime.objects import Texture
from dp2emu.runtime.session import Refused, Session

PALETTE_ENTRIES = 256
PALETTES = 0xFFFF
"""The number of palettes: an application's palette numbers are less than this."""

_TEXTURE_BIND = sdk_value(WireTextureStageState, "D3DTSS_TEXTUREMAP") or 0
"""Number of the texture stage state by which the runtime binds a texture (wire format, "Texture
stages and samplers")."""
_PALETTISED = {Format.P8: DDRAWIPAL_ALPHA, Format.A8P8: 0}
"""Flags of the SETPALETTE token by format: a P8 texture takes alpha from its palette, A8P8 does
not."""

_NEEDS = {
    Usage.RENDERTARGET: Use.TARGET,
    Usage.DEPTHSTENCIL: Use.DEPTH,
    Usage.QUERY_LEGACYBUMPMAP: Use.BUMP,
    Usage.QUERY_SRGBREAD: Use.TEXTURE,
    Usage.QUERY_FILTER: Use.TEXTURE,
    Usage.QUERY_SRGBWRITE: Use.TARGET,
    Usage.QUERY_POSTPIXELSHADER_BLENDING: Use.TARGET,
    Usage.QUERY_VERTEXTEXTURE: Use.TEXTURE,
    Usage.QUERY_WRAPANDMIP: Use.TEXTURE,
}
"""By D3DUSAGE flag, the use that a format must have for CheckDeviceFormat to accept the flag."""

_BUFFERS = {
    SurfaceKind.VERTEXBUFFER: frozenset({Format.VERTEXDATA}),
    SurfaceKind.INDEXBUFFER: frozenset({Format.INDEX16, Format.INDEX32}),
}


def check_format(usage: int, kind: SurfaceKind, format: Format) -> HResult:
    """CheckDeviceFormat: D3D_OK, D3DERR_NOTAVAILABLE, or D3DOK_NOAUTOGEN if the levels of a
    texture cannot be generated.
    """
    if kind in _BUFFERS:
        return HResult.D3D_OK if format in _BUFFERS[kind] else HResult.D3DERR_NOTAVAILABLE
    if format not in FORMATS or not _has(usage, kind, FORMATS[format].uses):
        return HResult.D3DERR_NOTAVAILABLE
    if usage & Usage.AUTOGENMIPMAP and Use.TARGET not in FORMATS[format].uses:
        return HResult.D3DOK_NOAUTOGEN
    return HResult.D3D_OK


def _has(usage: int, kind: SurfaceKind, uses: Use) -> bool:
    needed = Use.NONE if kind is SurfaceKind.SURFACE else Use.TEXTURE
    for flag, use in _NEEDS.items():
        needed |= use if usage & flag else Use.NONE
    # Volumes are neither targets nor generated, and depth formats are two-dimensional.
    volume = kind in (SurfaceKind.VOLUME, SurfaceKind.VOLUMETEXTURE)
    written = volume and usage & (Usage.RENDERTARGET | Usage.AUTOGENMIPMAP)
    flat = kind in (SurfaceKind.SURFACE, SurfaceKind.TEXTURE)
    return needed in uses and not written and (Use.DEPTH not in uses or flat)


Entry = tuple[int, int, int, int]
"""PALETTEENTRY: red, green, blue and flags (here alpha), 0 to 255 each."""


class TextureShape(msgspec.Struct, frozen=True):
    """Arguments of a texture's creation; ``levels`` 0 is the whole chain down to one texel,
    ``managed`` is D3DPOOL_MANAGED under D3DCAPS2_CANMANAGERESOURCE.
    """

    kind: SurfaceKind
    width: int
    height: int
    format: Format
    depth: int = 1
    levels: int = 1
    usage: int = 0
    managed: bool = False


@checked
class Textures:
    """The textures of a session: what is bound, generated levels that are out of date, palettes.

    Mutable.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._surfaces: dict[tuple[int, int], SurfaceDesc] = {}
        self._bound: dict[int, Texture] = {}
        self._filters: dict[int, TextureFilter] = {}
        self._stale: set[int] = set()
        self._palette = 0
        self._attached: dict[int, int] = {}
        self._sent_palettes: set[int] = set()

    def create(self, shape: TextureShape, data: Sequence[Sequence[bytes]]) -> Texture:
        """Create a texture and fill it with ``data``, by face, then level.

        Raises Refused for invalid arguments, UsageError for data of another size, Unsupported or
        Fault as the rig does.
        """
        generated = _generated(shape)
        levels = _levels(shape, generated=generated)
        faces = CUBE_FACES if shape.kind is SurfaceKind.CUBETEXTURE else 1
        given = 1 if generated else levels
        if len(data) > faces or any(len(chain) > given for chain in data):
            raise UsageError(f"more data than {given} levels of {faces} faces")
        desc = self._session.create_surface(
            shape.kind, shape.width, shape.height, shape.format,
            usage=shape.usage, depth=shape.depth, levels=levels, managed=int(shape.managed),
        )  # fmt: skip
        texture = Texture(desc)
        if generated:
            self._filters[desc.handle] = TextureFilter.LINEAR
        for face, chain in enumerate(data):
            for level, texels in enumerate(chain):
                self.write(texture, level, texels, face)
        return texture

    def write(self, texture: Texture, level: int, data: bytes, face: int = 0) -> None:
        """Write packed rows (of blocks) to a level, slices from front to back, as through Lock;
        draws in progress may see it.
        """
        desc = texture.desc
        part = layout_of(desc)[_index(desc, level, face)]
        self._session.write(desc.handle, part.offset, needed(data, part.size, "a texture level"))
        if desc.managed:
            whole = 0, 0, desc.width, desc.height, 0, desc.depth
            self._session.emit(Op.ADDDIRTYBOX, [(desc.handle, whole)])
        if level == 0 and desc.handle in self._filters:
            self._stale.add(desc.handle)

    def surface(self, texture: Texture, level: int, face: int = 0) -> SurfaceDesc:
        """GetSurfaceLevel and GetCubeMapSurface.  Raises Refused for levels without a surface."""
        desc = texture.desc
        if desc.handle in self._filters and level:
            raise Refused(HResult.D3DERR_INVALIDCALL, "generated levels have no surfaces")
        if desc.kind is SurfaceKind.VOLUMETEXTURE:
            raise Refused(HResult.D3DERR_INVALIDCALL, "a volume texture has no surfaces")
        index = _index(desc, level, face)
        key = desc.handle, index
        if key not in self._surfaces:
            part = layout_of(desc)[index]
            self._surfaces[key] = self._session.create_surface(
                SurfaceKind.SURFACE, part.width, part.height, desc.format,
                usage=desc.usage, parent=desc.handle, index=index,
            )  # fmt: skip
        return self._surfaces[key]

    def bind(self, stage: int, texture: Texture | None) -> None:
        """SetTexture, sent as a stage state (wire format, "Texture stages and samplers")."""
        if texture is None:
            self._bound.pop(stage, None)
        else:
            self._bound[stage] = texture
        handle = handle_of(texture.desc if texture else None)
        self._session.emit(Op.TEXTURESTAGESTATE, [(stage, _TEXTURE_BIND, handle)])

    # Generated levels

    def generates(self, texture: Texture) -> bool:
        """Whether the driver generates the levels of a texture below the first."""
        return texture.desc.handle in self._filters

    def set_filter(self, texture: Texture, filter: TextureFilter) -> None:
        """SetAutoGenFilterType.  Raises Refused for a texture without generated levels."""
        if not self.generates(texture) or filter is TextureFilter.NONE:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"{filter.sdk} to generate levels")
        self._filters[texture.desc.handle] = filter
        self._stale.add(texture.desc.handle)

    def generate(self, texture: Texture) -> None:
        """GenerateMipSubLevels; nothing happens without D3DUSAGE_AUTOGENMIPMAP."""
        if self.generates(texture):
            self._generate(texture.desc.handle)

    def _generate(self, handle: int) -> None:
        self._session.emit(Op.GENERATEMIPSUBLEVELS, [(handle, self._filters[handle])])
        self._stale.discard(handle)

    def changed(self, surfaces: Iterable[SurfaceDesc]) -> None:
        """Mark levels generated from these surfaces, which the GPU writes, as out of date."""
        for surface in surfaces:
            owner = surface.parent or surface.handle
            if owner in self._filters:
                self._stale.add(owner)

    def prepare(self) -> None:
        """Before a draw: generate the out-of-date levels of bound textures, and attach the current
        palette to those of a palettised format.
        """
        for texture in self._bound.values():
            if texture.desc.handle in self._stale:
                self._generate(texture.desc.handle)
            if texture.desc.format in _PALETTISED:
                self._attach(texture.desc)

    # Palettes

    def set_palette(self, number: int, entries: Sequence[Entry]) -> None:
        """SetPaletteEntries.  Raises Refused unless there are 256 entries."""
        if not 0 <= number < PALETTES or len(entries) != PALETTE_ENTRIES:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"{len(entries)} entries of a palette")
        tail = b"".join(bytes(entry) for entry in entries)
        self._sent_palettes.add(number)
        item = (_palette_handle(number), 0, PALETTE_ENTRIES)
        self._session.commands.emit_tailed(Op.UPDATEPALETTE, item, tail)

    def choose_palette(self, number: int) -> None:
        """SetCurrentTexturePalette.  Raises Refused for a palette that was never set."""
        if not self.has_palette(number):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"no palette {number}")
        self._palette = number

    def has_palette(self, number: int) -> bool:
        """Whether the entries of palette ``number`` were ever set."""
        return number in self._sent_palettes

    def _attach(self, desc: SurfaceDesc) -> None:
        if self._palette not in self._sent_palettes:
            return
        handle = _palette_handle(self._palette)
        if self._attached.get(desc.handle) != handle:
            self._attached[desc.handle] = handle
            flags = int(_PALETTISED[Format(desc.format)])
            self._session.emit(Op.SETPALETTE, [(handle, flags, desc.handle)])


def _palette_handle(number: int) -> int:
    """The driver's handle of an application's palette; never 0, which means none."""
    return number + 1


def _generated(shape: TextureShape) -> bool:
    """Whether the driver is to generate the levels of a new texture.  Raises Refused for formats
    that textures cannot have.
    """
    hr = check_format(shape.usage, shape.kind, shape.format)
    if hr is HResult.D3DERR_NOTAVAILABLE:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"textures of {shape.format.sdk}")
    return bool(shape.usage & Usage.AUTOGENMIPMAP) and hr is HResult.D3D_OK


def _levels(shape: TextureShape, *, generated: bool) -> int:
    """The number of levels that a new texture gets.

    With D3DUSAGE_AUTOGENMIPMAP it is the whole chain if the driver generates levels
    (``generated``), else one.  Raises Refused for a size without texels or with cut blocks, and
    for too many levels.
    """
    sides = shape.width, shape.height, shape.depth
    width, height = FORMATS[shape.format].block
    # A side smaller than a block is stored as a whole block, as in a small level.
    whole = height == 1 or all(
        side < block or side % block == 0
        for side, block in zip(sides, (width, height), strict=False)
    )
    if min(sides) < 1 or not whole:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"a texture of {sides}")
    most = full_chain(*sides)
    if shape.usage & Usage.AUTOGENMIPMAP:
        if shape.levels > 1:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"{shape.levels} generated levels")
        return most if generated else 1
    if shape.levels > most:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"{shape.levels} levels of {sides}")
    return shape.levels or most


def _index(desc: SurfaceDesc, level: int, face: int) -> int:
    """The index of the subresource at a level and face.  Raises Refused for a level or face that
    does not exist.
    """
    faces = CUBE_FACES if desc.kind is SurfaceKind.CUBETEXTURE else 1
    if not (0 <= level < desc.levels and 0 <= face < faces):
        raise Refused(HResult.D3DERR_INVALIDCALL, f"no level {level} of face {face}")
    return face * desc.levels + level
