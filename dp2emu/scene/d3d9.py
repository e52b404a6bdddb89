"""Direct3D 9 scenes: the player on ``Device9``, and the table of operations."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from dp2emu.capture.records import TIMING, Record
from dp2emu.d3d.enums import (
    Basis,
    DeclMethod,
    DeclType,
    DeclUsage,
    Degree,
    Format,
    LightType,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureFilter,
    TextureStageState,
    TransformState,
)
from dp2emu.d3d.flags import Clear, Issue
from dp2emu.d3d.formats import COLOR, DEPTH, FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.capabilities import capabilities
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Fault, SceneError, Unsupported, UsageError
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS, Surface, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import full_chain
from dp2emu.gpu.resource.texels import blocks
from dp2emu.picture import take_picture
from dp2emu.runtime import (
    Declaration,
    Device9,
    IndexBuffer,
    Light,
    Material,
    PixelShader,
    Query,
    QueryData,
    RectPatchInfo,
    Refused,
    Texture,
    TriPatchInfo,
    VertexElement,
    VertexShader,
)
from dp2emu.runtime.textures import check_format
from dp2emu.scene.document import PICTURE_PIXELS, Scene9, extent, sample_count
from dp2emu.scene.player import DATA, Action, Dialect, Missing, Player, Results, calling, hr_text
from dp2emu.scene.values import (
    INT,
    UINT,
    Argument,
    Default,
    Fields,
    PlayerReader,
    dword,
    file_name,
    floating,
    floats,
    list_of,
    listing,
    member,
    optional,
    record,
    rect,
    states,
    surface_format,
    text,
    truth,
    whole,
)

FINAL = "final"
"""Label of the back buffer's picture at the end of a scene; no file name contains it."""

_DIALECT = Dialect(
    kind="type",
    name="id",
    operation="command",
    failed=("command", "call"),
    refused=Refused,
    problems=(Fault, Unsupported),
    nouns={
        SurfaceDesc: "a surface",
        IndexBuffer: "an index buffer",
        Declaration: "a vertex declaration",
        VertexShader: "a vertex shader",
        PixelShader: "a pixel shader",
        Texture: "a texture",
        Query: "a query",
    },
)


class Player9(Player[Device9]):
    """A Direct3D 9 device with the resources of a scene.  Mutable.

    A query that could not be created is stored as None, and its operations have no effect.
    """

    def __init__(
        self,
        scene: Scene9,
        driver: Driver,
        command_bytes: int,
        record: Callable[[Record], None] | None,
    ) -> None:
        device = Device9(
            driver,
            scene.width,
            scene.height,
            format=scene.format,
            depth=scene.depth,
            samples=scene.samples,
            command_bytes=command_bytes,
            record=record,
        )
        title = f"{scene.category}/{scene.name}"
        sections: dict[str, Any] = {"schema": 1, "scene": title, "failed_calls": []}
        sections |= {name: {} for name in ("queries", "issues", "values", "images")}
        super().__init__(_DIALECT, device, Results(scene.name, sections))
        device.session.annotate("title", title)
        device.session.annotate(TIMING, driver.gpu.timing.name)
        self.driver = driver
        self.pixels = 2 * scene.width * scene.height
        self.resources["backbuffer"] = device.back_buffer
        if device.depth_buffer is not None:
            self.resources["depth"] = device.depth_buffer
        self._read_back = scene.read_back
        self._pictured = 0

    def make(self, kind: str, name: str, fields: Fields, maker: Action) -> bool:
        """Create a resource by ``maker``; True if the scene goes on, False if the driver failed.

        If the runtime refuses the creation, it is a failed call, and so is every later operation
        that uses the resource.
        """

        def act(player: Player9, fields: Fields) -> None:
            fields.ignore("pool")
            # Replaced below, unless the runtime refuses the creation.
            unusable = Refused(HResult.D3DERR_INVALIDCALL, f"{name} could not be created")
            player.resources[name] = Missing(unusable)
            player.resources[name] = maker(player, fields)

        return self.perform(kind, fields, act)

    def start(self) -> None:
        """BeginScene."""
        self.device.begin_scene()

    def finish(self) -> None:
        """EndScene, Present, and the picture of the back buffer."""
        if self.device.in_scene:
            self.device.end_scene()
        if self._read_back:
            self.observe(self.device.back_buffer, FINAL)
        self.device.present()
        self.driver.finish()

    def position(self) -> tuple[int, int]:
        """(number of the D3dDrawPrimitives2 call, byte offset in it) of the next token."""
        return self.device.session.position

    def surface(self, value: object) -> SurfaceDesc:
        """Read a surface name: ``id``, ``id@level`` of a texture, ``id@face@level`` of a cube."""
        name, *numbers = text(value).split("@")
        if not numbers:
            return self.find(SurfaceDesc)(name)
        texture = self.find(Texture)(name)
        cube = texture.desc.kind is SurfaceKind.CUBETEXTURE
        if len(numbers) != 1 + cube or not all(re.fullmatch("[0-9]{1,2}", n) for n in numbers):
            form = f"{name}@face@level" if cube else f"{name}@level"
            raise SceneError(f"expected {form} of the texture, got {value!r}")
        *face, level = map(int, numbers)
        return self.device.textures.surface(texture, level, *face)

    def query(self, value: object) -> tuple[str, Query | None]:
        """Read a query's name: returns (name, query), the latter None if creation was refused."""
        name = text(value)
        lost = name in self.resources and self.resources[name] is None
        return name, None if lost else self.find(Query)(name)

    def observe(self, surface: SurfaceDesc, label: str) -> None:
        """Take a picture of a surface when the GPU has done all work so far.

        Raises UsageError if the pictures, which are kept until the end, become too large.
        """
        self._pictured += surface.width * surface.height * surface.samples
        if self._pictured > PICTURE_PIXELS:
            raise UsageError(f"the scene's pictures have more than {PICTURE_PIXELS} pixels")
        if label in self.document["images"]:
            raise UsageError(f"label {label!r} is used twice")
        self.document["images"][label] = {}
        self.device.session.flush()
        self.driver.observe(surface.handle, lambda seen: self._add_image(label, seen))

    def _add_image(self, label: str, surface: Surface) -> None:
        """Add a picture file to the results: a PNG, or for formats that PNG lacks the surface's
        bytes without padding.
        """
        suffix = "" if label == FINAL else f".{label}"
        row = COLOR.get(surface.format)
        if row is not None and not row.floating:
            file = self.results.add_file(f"{suffix}.png", take_picture(surface).png)
        else:
            file = self.results.add_file(f"{suffix}.raw", blocks(surface, 0).tobytes())
        self.document["images"][label] = {
            "file": file,
            "width": surface.width,
            "height": surface.height,
            "d3dformat": surface.desc.format,
        }


# Arguments

_COORDINATE = whole(0, (1 << 31) - 1)
_STRIDE = whole(0, 0xFFFF)
_STREAM = whole(0, 15)
_STAGE = whole(0, 7)
_SAMPLER = whole(0, 260)
"""Function that checks and returns a sampler number, 0 to 260 (D3DVERTEXTEXTURESAMPLER3), of a
scene file."""
_BUFFER = whole(0, 1 << 16)
"""Function that checks and returns the size of a GetData buffer, 0 to 65536 bytes, of a scene
file."""
_WORLD = 256
"""D3DTS_WORLD."""

_DWORD_0 = Default(dword, 0)
_UINT_0 = Default(UINT, 0)
_FLOAT_0 = Default(floating, 0.0)
_COLOR = Default(floats(4), (0.0, 0.0, 0.0, 0.0))
_TRIPLE = Default(floats(3), (0.0, 0.0, 0.0))
_PRIMITIVE = member(PrimitiveType)
_SURFACE = PlayerReader(lambda player: player.surface)
_SURFACE_OR_NULL = PlayerReader(lambda player: optional(player.surface))
_RECT_OR_NULL = Default(optional(rect), None)

_CLEAR_FLAGS = {"target": Clear.TARGET, "zbuffer": Clear.ZBUFFER, "stencil": Clear.STENCIL}
_CLEAR_ALL = int(Clear.TARGET | Clear.ZBUFFER | Clear.STENCIL)
_ISSUE_FLAGS = {"BEGIN": Issue.BEGIN, "END": Issue.END}


def _named_or_null(kind: type) -> PlayerReader:
    """Converts the name of a resource of type ``kind`` to the resource, and null to None."""
    return PlayerReader(lambda player: optional(player.find(kind)))


def _transform_state(value: object) -> int:
    """Read WORLD, WORLDn, or a name of D3DTRANSFORMSTATETYPE."""
    name = text(value)
    number = name.removeprefix("WORLD") or "0"
    if name.startswith("WORLD") and number in {str(index) for index in range(256)}:
        return _WORLD + int(number)
    return member(TransformState)(name)


def _clear_flags(value: object) -> int:
    flags = 0
    for name in value if isinstance(value, list) else [value]:
        if not isinstance(name, str) or name not in _CLEAR_FLAGS:
            raise SceneError(f"expected some of {', '.join(_CLEAR_FLAGS)}, got {name!r}")
        flags |= _CLEAR_FLAGS[name]
    return flags


def _issue_flags(value: object) -> tuple[str, Issue]:
    """Read ``"BEGIN"``, ``"END"`` or ``"BEGIN|END"``: returns (that text in lower case, flags)."""
    flags = Issue(0)
    for name in text(value).split("|"):
        if name not in _ISSUE_FLAGS:
            raise SceneError(f"expected BEGIN or END, got {name!r}")
        flags |= _ISSUE_FLAGS[name]
    return text(value).lower(), flags


def _patch_info(build: Callable[..., Any], count: int) -> Callable[[object], Any]:
    """Reads a list of ``count`` integers, a basis and a degree, and passes these to ``build``."""

    def read(value: object) -> Any:
        *numbers, basis, degree = listing(value, count + 2)
        return build(*map(UINT, numbers), member(Basis)(basis), member(Degree)(degree))

    return read


def _resource_type(value: object) -> SurfaceKind:
    name = text(value)
    if name == SurfaceKind.MEMORY.name or name not in SurfaceKind.__members__:
        raise SceneError(f"expected a resource type such as TEXTURE, got {name!r}")
    return SurfaceKind[name]


# Operations


def _states(setter: Callable[..., None], enum: type[Any], **place: Argument) -> Action:
    """An operation that calls ``setter`` for each (state of ``enum``, value) of a JSON object,
    after the numbers (such as a stage) in the keys of ``place``.
    """

    def act(device: Device9, *values: Any) -> None:
        *numbers, pairs = values
        for state, value in pairs:
            setter(device, *numbers, state, value)

    return calling(act, **place, states=states(enum))


def _constants(setter: Callable[..., None], read: Callable[[object], Any]) -> Action:
    """An operation that calls ``setter`` with a first register and a list of values, each of which
    ``read`` converts from JSON.
    """
    return calling(setter, start=UINT, values=list_of(read))


def _set_light(device: Device9, index: int, *values: Any) -> None:
    """SetLight with the members of D3DLIGHT9 in order, then LightEnable of that light."""
    *others, attenuation, theta, phi = values
    members = (*others, *attenuation, theta, phi)
    device.set_light(index, Light(*members))
    device.light_enable(index, True)


def _read_back(player: Player9, fields: Fields) -> None:
    player.observe(fields.take("surface", player.surface), fields.take("label", file_name))


def _issue(player: Player9, fields: Fields) -> None:
    name, query = fields.take("id", player.query)
    word, flags = fields.take("flag", _issue_flags)
    label = fields.take("label", text, f"{name}.{word}.{player.index}")
    if query is not None:
        query.issue(flags)
        player.document["issues"][label] = hr_text(HResult.S_OK)


def _polling(poll: Callable[..., QueryData], **options: Argument) -> Action:
    """An operation that calls ``poll`` and stores the query's result by the operation's label.

    ``poll`` gets the query, the buffer size and the values of ``options``.  For a query that could
    not be created the result is null.
    """

    def act(player: Player9, fields: Fields) -> None:
        fields.ignore("varies", "informative")
        name, query = fields.take("id", player.query)
        label = fields.take("label", text)
        values = fields.take_all({"size": Default(_BUFFER, None), **options})
        found = poll(query, *values) if query is not None else None
        data = found.data if found is not None else None
        player.document["queries"][label] = {
            "query": name,
            "hr": hr_text(found.hr) if found is not None else None,
            "value": found.value if found is not None else None,
            "size": len(data) if data is not None else 0,
            "data_hex": data.hex() if data is not None else None,
        }

    return act


def _asking(function: Callable[..., Any], /, key: str = "value", **arguments: Argument) -> Action:
    """An operation that stores what ``function`` returns under ``key`` in the section ``values``,
    by the operation's label; 0 if the function raises Refused.
    """

    def act(player: Player9, fields: Fields) -> None:
        arguments_ = fields.take_all(arguments, player)
        hr, value = int(HResult.S_OK), 0
        try:
            value = function(player.device, *arguments_)
        except Refused as refusal:
            hr = refusal.hr
        player.document["values"][fields.take("label", text)] = {"hr": hr_text(hr), key: value}

    return act


def _about_adapter(function: Callable[[], Any]) -> Action:
    """An operation that adds what ``function`` returns to the section ``values`` of the results,
    and ignores its other keys.
    """

    def act(player: Player9, fields: Fields) -> None:
        fields.ignore_others()
        _asking(lambda device: function())(player, fields)

    return act


def _query_support(device: Device9, kind: QueryType | None) -> Any:
    """1 if the driver announces query type ``kind``; else raises Refused (D3DERR_NOTAVAILABLE).

    For None: 1 or 0 for every query type, by its name.
    """
    announced = device.query_types()
    if kind is None:
        return {each.name: int(each in announced) for each in QueryType}
    if kind not in announced:
        raise Refused(HResult.D3DERR_NOTAVAILABLE, f"{kind.sdk} queries")
    return 1


def _check_multisample(device: Device9, format: Format, samples: int) -> int:
    """CheckDeviceMultiSampleType: the number of quality levels."""
    drawn = format in COLOR or format in DEPTH
    if samples > 1 and not (samples in SAMPLE_COUNTS and drawn):
        raise Refused(HResult.D3DERR_NOTAVAILABLE, f"{samples} samples of {format.sdk}")
    return 1


def _viewport(device: Device9) -> list[Any]:
    view = device.viewport
    # A viewport's depth may be infinite, which JSON cannot express as a number.
    depth = [z if isfinite(z) else str(z) for z in (view.min_z, view.max_z)]
    return [view.x, view.y, view.width, view.height, *depth]


def _scissor(device: Device9) -> list[int]:
    box = device.scissor
    return [box.left, box.top, box.right, box.bottom]


OPERATIONS: dict[str, Action] = {
    # State
    "rs": _states(Device9.set_render_state, RenderState),
    "tss": _states(Device9.set_texture_stage_state, TextureStageState, stage=_STAGE),
    "ss": _states(Device9.set_sampler_state, SamplerState, sampler=_SAMPLER),
    "transform": calling(Device9.set_transform, state=_transform_state, matrix=floats(16)),
    "material": calling(
        lambda device, *values: device.set_material(Material(*values)), diffuse=_COLOR,
        ambient=_COLOR, specular=_COLOR, emissive=_COLOR, power=_FLOAT_0,
    ),
    "light": calling(
        _set_light, index=UINT, type=member(LightType), diffuse=_COLOR, specular=_COLOR,
        ambient=_COLOR, position=_TRIPLE, direction=_TRIPLE, range=_FLOAT_0, falloff=_FLOAT_0,
        attenuation=_TRIPLE, theta=_FLOAT_0, phi=_FLOAT_0,
    ),
    "lightenable": calling(Device9.light_enable, index=UINT, enable=truth),
    "setdecl": calling(Device9.set_vertex_declaration, id=_named_or_null(Declaration)),
    "setvs": calling(Device9.set_vertex_shader, id=_named_or_null(VertexShader)),
    "setps": calling(Device9.set_pixel_shader, id=_named_or_null(PixelShader)),
    "vsf": _constants(Device9.set_vertex_constants, floats(4)),
    "vsi": _constants(Device9.set_vertex_integers, list_of(INT, 4)),
    "vsb": _constants(Device9.set_vertex_booleans, truth),
    "psf": _constants(Device9.set_pixel_constants, floats(4)),
    "psi": _constants(Device9.set_pixel_integers, list_of(INT, 4)),
    "psb": _constants(Device9.set_pixel_booleans, truth),
    "viewport": calling(
        Device9.set_viewport, x=_COORDINATE, y=_COORDINATE, width=_COORDINATE, height=_COORDINATE,
        minz=_FLOAT_0, maxz=Default(floating, 1.0),
    ),
    "scissor": calling(lambda device, box: device.set_scissor(*box), rect=rect),
    "clipplane": calling(Device9.set_clip_plane, index=whole(0, 5), plane=floats(4)),
    "fvf": calling(Device9.set_fvf, fvf=dword),
    "stream": calling(
        Device9.set_stream_source, stream=_STREAM, id=_named_or_null(SurfaceDesc), offset=_UINT_0,
        stride=Default(_STRIDE, 0),
    ),
    "streamfreq": calling(Device9.set_stream_frequency, stream=_STREAM, value=dword),
    "indices": calling(Device9.set_indices, id=_named_or_null(IndexBuffer)),
    "settex": calling(Device9.set_texture, stage=_SAMPLER, id=_named_or_null(Texture)),
    "setrt": calling(
        Device9.set_render_target, index=Default(whole(0, 3), 0), surface=_SURFACE_OR_NULL,
    ),
    "setds": calling(Device9.set_depth_stencil, surface=_SURFACE_OR_NULL),
    # Drawing and copying
    "begin": calling(Device9.begin_scene),
    "end": calling(Device9.end_scene),
    "clear": calling(
        Device9.clear, flags=Default(_clear_flags, _CLEAR_ALL), color=_DWORD_0,
        z=Default(floating, 1.0), stencil=_DWORD_0, rects=Default(optional(list_of(rect)), None),
    ),
    "draw": calling(Device9.draw_primitive, prim=_PRIMITIVE, start=_UINT_0, count=UINT),
    "draw_indexed": calling(
        Device9.draw_indexed_primitive, prim=_PRIMITIVE, base=Default(INT, 0), min=_UINT_0,
        num_vertices=_UINT_0, start=_UINT_0, count=UINT,
    ),
    "draw_up": calling(
        Device9.draw_primitive_up, prim=_PRIMITIVE, count=UINT, vertices=DATA, stride=_STRIDE,
    ),
    "draw_indexed_up": calling(
        Device9.draw_indexed_primitive_up, prim=_PRIMITIVE, min=_UINT_0, num_vertices=UINT,
        count=UINT, indices=DATA, index_format=Default(surface_format, Format.INDEX16),
        vertices=DATA, stride=_STRIDE,
    ),
    "rectpatch": calling(
        Device9.draw_rect_patch, handle=_UINT_0, segments=Default(optional(floats(4)), None),
        info=Default(optional(_patch_info(RectPatchInfo, 5)), None),
    ),
    "tripatch": calling(
        Device9.draw_tri_patch, handle=_UINT_0, segments=Default(optional(floats(3)), None),
        info=Default(optional(_patch_info(TriPatchInfo, 2)), None),
    ),
    "deletepatch": calling(Device9.delete_patch, handle=UINT),
    "npatch": calling(Device9.set_npatch_mode, segments=floating),
    "stretch": calling(
        Device9.stretch_rect, src=_SURFACE, dst=_SURFACE, src_rect=_RECT_OR_NULL,
        dst_rect=_RECT_OR_NULL, filter=Default(member(TextureFilter), TextureFilter.NONE),
    ),
    "colorfill": calling(Device9.color_fill, surface=_SURFACE, rect=_RECT_OR_NULL, color=_DWORD_0),
    "readback": _read_back,
    # Queries
    "issue": _issue,
    "getdata": _polling(
        lambda query, size, flush: query.get_data(size, flush=flush), flush=Default(truth, False),
    ),
    "wait": _polling(Query.wait),
    # Values of the interface
    "querysupport": _asking(_query_support, query=Default(member(QueryType), None)),
    "checkfmt": _asking(
        lambda device, *values: int(check_format(*values)), usage=_DWORD_0, rtype=_resource_type,
        format=surface_format,
    ),
    "checkms": _asking(_check_multisample, format=surface_format, samples=whole(0, 16)),
    "getrs": _asking(Device9.render_state, state=member(RenderState)),
    "gettss": _asking(Device9.texture_stage_state, stage=_STAGE, state=member(TextureStageState)),
    "getss": _asking(Device9.sampler_state, sampler=_SAMPLER, state=member(SamplerState)),
    "getviewport": _asking(_viewport, "viewport"),
    "getscissor": _asking(_scissor, "rect"),
    "validate": _asking(Device9.validate_device),
    "adapter": _about_adapter(lambda: {"Driver": "dp2emu", "Description": "dp2emu"}),
    "caps": _about_adapter(capabilities),
}  # fmt: skip
"""Functions that perform the operations of Direct3D 9 scenes, by the operation's ``op``."""


# Resources

_LEVELS = 15
"""Maximum number of mip levels that a scene may give a texture."""


def _target(create: Callable[..., SurfaceDesc]) -> Action:
    def make(player: Player9, fields: Fields) -> SurfaceDesc:
        width, height = fields.take("width", extent), fields.take("height", extent)
        samples = max(fields.take("multisample", sample_count, 0), 1)
        format = fields.take("format", surface_format)
        fields.take("quality", whole(0, 15), 0)
        fields.take("usage", dword, 0)
        player.claim_pixels(width * height * samples)
        return create(player.device, width, height, format, samples)

    return make


def _texture(create: Callable[..., Texture], kind: SurfaceKind, *sides: str) -> Action:
    """A function that creates a scene's texture by ``create``; ``sides`` are the JSON keys of its
    width, height and depth.

    The JSON value ``data`` is a list of levels, for a cube such a list for each face.
    """
    cube = kind is SurfaceKind.CUBETEXTURE

    def make(player: Player9, fields: Fields) -> Texture:
        size = [fields.take(side, extent) for side in sides]
        format = fields.take("format", surface_format)
        levels = fields.take("levels", whole(0, _LEVELS), 1)
        usage = fields.take("usage", dword, 0)
        face: Callable[[object], list[Any]] = list_of(player.data)
        data = fields.take("data", list_of(face) if cube else face, [])
        if format in FORMATS:  # creation refuses other formats
            box = size * 2 if cube else size
            player.claim_pixels(_pixels(kind, format, box, chain=levels != 1 or usage != 0))
        return create(player.device, *size, format, data, levels=levels, usage=usage)

    return make


def _pixels(kind: SurfaceKind, format: Format, size: list[int], *, chain: bool) -> int:
    """Memory of a texture's level 0, with ``chain`` of all levels, in 4 bytes, rounded up."""
    width, height, depth = (*size, 1)[:3]
    levels = full_chain(width, height, depth) if chain else 1
    desc = SurfaceDesc(0, kind, width, height, format, depth=depth, levels=levels)
    return -(-sum(part.size for part in layout_of(desc)) // 4)


def _shader(create: Callable[..., Any]) -> Action:
    def make(player: Player9, fields: Fields) -> Any:
        fields.ignore("asm")
        return create(player.device, fields.take("dwords", list_of(dword)))

    return make


def _query(player: Player9, fields: Fields) -> Query | None:
    """CreateQuery: returns the query, None if it is refused.  Adds the HRESULT and the data size
    in bytes to the section ``values``.
    """
    kind = fields.take("query", member(QueryType))
    query, hr = None, int(HResult.S_OK)
    try:
        query = player.device.create_query(kind)
    except Refused as refusal:
        hr = refusal.hr
    size = query.data_size if query is not None else 0
    name = fields.take("id", text)
    player.document["values"][f"create:{name}"] = {"hr": hr_text(hr), "data_size": size}
    return query


_ELEMENT = record(
    VertexElement,
    stream=Default(whole(0, 0xFFFF), 0),
    offset=Default(whole(0, 0xFFFF), 0),
    type=member(DeclType),
    method=Default(member(DeclMethod), DeclMethod.DEFAULT),
    usage=member(DeclUsage),
    index=Default(whole(0, 0xFF), 0),
)

MAKERS: dict[str, Action] = {
    "rt": _target(Device9.create_render_target),
    "ds": _target(Device9.create_depth_stencil),
    "vb": calling(
        lambda device, fvf, usage, data: device.create_vertex_buffer(data), fvf=Default(dword, 0),
        usage=Default(dword, 0), data=DATA,
    ),
    "ib": calling(
        lambda device, usage, format, data: device.create_index_buffer(data, format),
        usage=Default(dword, 0), format=Default(surface_format, Format.INDEX16), data=DATA,
    ),
    "query": _query,
    "texture": _texture(Device9.create_texture, SurfaceKind.TEXTURE, "width", "height"),
    "cube": _texture(Device9.create_cube_texture, SurfaceKind.CUBETEXTURE, "edge"),
    "volume": _texture(
        Device9.create_volume_texture, SurfaceKind.VOLUMETEXTURE, "width", "height", "depth",
    ),
    "decl": calling(Device9.create_vertex_declaration, elements=list_of(_ELEMENT)),
    "vs": _shader(Device9.create_vertex_shader),
    "ps": _shader(Device9.create_pixel_shader),
}  # fmt: skip
"""Functions that create the resources of Direct3D 9 scenes, by the resource's ``type``."""
