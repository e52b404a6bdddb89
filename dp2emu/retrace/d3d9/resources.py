"""Textures, surfaces and buffers of Direct3D 9 and 8: creation, binding, locks and transfers."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import ComposeRectsOp, Format, Pool, TextureFilter
from dp2emu.d3d.flags import Usage
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.gpu.resource.planar import PLANAR
from dp2emu.gpu.resource.subresources import Box
from dp2emu.retrace.arguments import Arguments, integer, member, members, pointee
from dp2emu.retrace.d3d9.objects import (
    DEVICES,
    EVERY_DEVICE,
    application,
    described,
    device_of,
    enumerator,
    format_of,
    hand_out,
    object_of,
    optional,
    picture,
    point_of,
    pool_of,
    rect,
    rect_of,
    resources_of,
)
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, Program, forward, inert, lost, method, method_of
from dp2emu.runtime.application import Application
from dp2emu.runtime.chains import samples_of
from dp2emu.runtime.device9 import BLT_FILTERS
from dp2emu.runtime.objects import Rects
from dp2emu.runtime.resources import Resource, Stored, clipped
from dp2emu.runtime.textures import TextureShape

READONLY, NOOVERWRITE, NO_DIRTY_UPDATE = 0x10, 0x1000, 0x8000
"""D3DLOCK_READONLY, D3DLOCK_NOOVERWRITE and D3DLOCK_NO_DIRTY_UPDATE, flags of Lock."""
_CUBES = "IDirect3DCubeTexture9 IDirect3DCubeTexture8"
_FLAT_TEXTURES = "IDirect3DTexture9 IDirect3DTexture8"
_VOLUME_TEXTURES = "IDirect3DVolumeTexture9 IDirect3DVolumeTexture8"
_TEXTURES = (
    f"{_FLAT_TEXTURES} {_CUBES} {_VOLUME_TEXTURES} IDirect3DBaseTexture9 IDirect3DBaseTexture8"
)
_SURFACES = "IDirect3DSurface9 IDirect3DSurface8"
_VOLUMES = "IDirect3DVolume9 IDirect3DVolume8"
_BUFFERS = (
    "IDirect3DVertexBuffer9 IDirect3DIndexBuffer9 IDirect3DVertexBuffer8 IDirect3DIndexBuffer8"
)
_WITH_RECTS = f"{_SURFACES} {_FLAT_TEXTURES} {_CUBES}"
_WITH_BOXES = f"{_VOLUMES} {_VOLUME_TEXTURES}"
_ALL = f"{_TEXTURES} {_SURFACES} {_VOLUMES} {_BUFFERS}"
_WITHOUT_PITCH = (Format.ATI1N, Format.ATI2N)
"""Compressed formats whose rows of blocks follow each other without gaps in locked memory, even if
Lock returned a larger pitch."""
_COPIED = "pSourceSurface", "pDestinationSurface"

inert(_ALL, "SetPrivateData GetPrivateData FreePrivateData", "The program's own data.")
inert(_ALL, "GetType GetDesc", NO_EFFECT)
inert(f"{_TEXTURES} {_SURFACES} {_BUFFERS}", "GetPriority", NO_EFFECT)
inert(_TEXTURES, "GetLevelCount GetLOD GetLevelDesc GetAutoGenFilterType", NO_EFFECT)
inert(f"{_SURFACES} {_BUFFERS}", "PreLoad", "Buffers and surfaces do not move.")
lost("IDirect3DSurface9", "GetDC ReleaseDC", "what GDI draws is not recorded")


# Textures and buffers


def _texture_method(kind: SurfaceKind, name: str, *sides: str) -> None:
    """Register the traced method Create... that ends in ``name`` and creates textures of a
    ``kind``; ``sides`` are the names of its width, height and depth arguments.
    """

    @method(EVERY_DEVICE, f"Create{name}")
    def create(program: Program, call: Arguments) -> None:
        """Creates a texture; of D3DPOOL_SCRATCH nothing reaches the driver.  Memory that the
        program gave by pSharedHandle, in D3DPOOL_SYSTEMMEM, is the content; other handles are
        ignored.
        """
        width, height, depth = (*map(call.integer, sides), 1)[:3]
        app, pool = application(call), pool_of(call)
        shape = TextureShape(
            kind, width, height, format_of(call), depth,
            call.integer("Levels"), call.integer("Usage"), pool is Pool.MANAGED,
        )  # fmt: skip
        made = app.create_texture(shape, pool)
        hand_out(program, call, f"pp{name}", app, made)
        _fill_from_program(call, app, made)


def _fill_from_program(call: Arguments, app: Application, made: Resource) -> None:
    """Store the memory that pSharedHandle gives a new resource of D3DPOOL_SYSTEMMEM, whose rows
    are packed.  Raises Inexpressible if the trace lacks its bytes.
    """
    name = "pSharedHandle"
    if made.pool is not Pool.SYSTEMMEM or not call.has(name):
        return
    given = pointee(call.value(name))
    if isinstance(given, bytes):
        app.store(made, 0, made.whole, Stored(given))
    elif integer(given):
        raise Inexpressible(f"the memory at {integer(given):#x}, its content, is not recorded")


_texture_method(SurfaceKind.TEXTURE, "Texture", "Width", "Height")
_texture_method(SurfaceKind.CUBETEXTURE, "CubeTexture", "EdgeLength", "EdgeLength")
_texture_method(SurfaceKind.VOLUMETEXTURE, "VolumeTexture", "Width", "Height", "Depth")


def _create_buffer(call: Arguments, kind: SurfaceKind) -> tuple[Application, Resource]:
    app, size, pool = application(call), call.integer("Length"), pool_of(call)
    return app, app.create_buffer(kind, size, pool, call.integer("Usage"))


@method(EVERY_DEVICE, "CreateVertexBuffer")
def create_vertex_buffer(program: Program, call: Arguments) -> None:
    """Creates a buffer of zeros."""
    app, made = _create_buffer(call, SurfaceKind.VERTEXBUFFER)
    made.vertices = call.integer("FVF")
    hand_out(program, call, "ppVertexBuffer", app, made)


@method(EVERY_DEVICE, "CreateIndexBuffer")
def create_index_buffer(program: Program, call: Arguments) -> None:
    """Creates a buffer of zeros with an index format."""
    app, made = _create_buffer(call, SurfaceKind.INDEXBUFFER)
    made.format = format_of(call)
    hand_out(program, call, "ppIndexBuffer", app, made)


@method(_FLAT_TEXTURES, "GetSurfaceLevel")
@method(_CUBES, "GetCubeMapSurface")
@method(_VOLUME_TEXTURES, "GetVolumeLevel")
def get_level(program: Program, call: Arguments) -> None:
    """Returns a level as an object; the first call creates a surface's driver handle."""
    app, texture = object_of(call, Resource)
    out = call.spelled("ppSurfaceLevel", "ppCubeMapSurface", "ppVolumeLevel")
    hand_out(program, call, out, app, app.level(texture, _index(call, texture)))


def _index(call: Arguments, texture: Resource) -> int:
    """The index of the subresource that a call's Level and FaceType select; 0 without them."""
    level = call.integer("Level") if call.declares("Level") else 0
    if not call.declares("FaceType") or texture.desc is None:
        return level
    return call.integer("FaceType") * texture.desc.levels + level


# Locks


@method(_BUFFERS, "Lock")
def lock_buffer(program: Program, call: Arguments) -> None:
    """Waits for the GPU, unless with D3DLOCK_NOOVERWRITE."""
    app, buffer = object_of(call, Resource)
    if not call.integer("Flags") & (NOOVERWRITE | READONLY):
        app.lock(buffer)
    lock = Lock(buffer, 0, place=call.integer("OffsetToLock"))
    program.locks.begin(call.address("ppbData"), lock)


@method(_BUFFERS, "Unlock")
def unlock_buffer(program: Program, call: Arguments) -> None:
    """Writes the bytes that the program stored in the locked range."""
    app, buffer = object_of(call, Resource)
    lock = program.locks.end(buffer, 0)
    if lock is not None and lock.data is not None:
        app.store_bytes(buffer, lock.place, lock.data)


@method(_WITH_RECTS, "LockRect")
def lock_rect(program: Program, call: Arguments) -> None:
    """Waits for the GPU, and takes a picture of drawn content, since the program reads it."""
    bounds = rect(call, "pRect")
    found = call.struct("pLockedRect")
    box = Box(*bounds) if bounds else None
    _lock(program, call, found, box, integer(member(found, "Pitch")), 0)


@method(_WITH_BOXES, "LockBox")
def lock_box(program: Program, call: Arguments) -> None:
    """Locks a box of a volume as LockRect does a rectangle."""
    found = call.struct("pLockedVolume")
    box = _box(call.struct("pBox")) if call.has("pBox") else None
    row, slice = members(found, ("RowPitch", "SlicePitch"), integer)
    _lock(program, call, found, box, row, slice)


def _box(found: Struct) -> Box:
    names = ("Left", "Top", "Right", "Bottom", "Front", "Back")
    return Box(*members(found, names, integer))


def _lock(
    program: Program, call: Arguments, found: Struct, box: Box | None, pitch: int, slice: int
) -> None:
    app, resource = object_of(call, Resource)
    index, flags, root = _index(call, resource), call.integer("Flags"), resource.root
    number = resource.index + index
    lock = Lock(root, number, pitch, slice, (box, flags))
    program.locks.begin(integer(member(found, "pBits")), lock)
    if root.desc is None:
        return
    if not flags & NOOVERWRITE:
        app.lock(resource)
    if root.written_by_gpu or number in root.drawn:
        root.drawn.discard(number)
        picture(call, app, PictureKind.LOCK, resource, index)


@method(_WITH_RECTS, "UnlockRect")
@method(_WITH_BOXES, "UnlockBox")
def unlock(program: Program, call: Arguments) -> None:
    """Writes the locked area, clipped to the surface or volume."""
    app, resource = object_of(call, Resource)
    index = _index(call, resource)
    lock = program.locks.end(resource.root, resource.index + index)
    if lock is None or lock.data is None or resource.root.desc is None:
        return
    box, flags = lock.place
    part = resource.part(index)
    whole = Box(0, 0, part.width, part.height, 0, part.depth)
    format = Format(resource.root.desc.format)
    pitch = 0 if format in _WITHOUT_PITCH else lock.pitch
    stored = Stored(lock.data, pitch, lock.slice)
    if format in PLANAR and box not in (None, whole):
        raise Inexpressible(f"a part of a {format.sdk} surface: where its chroma is, is unknown")
    inside = clipped(format, whole, box or whole, stored)
    if inside is not None:
        app.store(resource, index, *inside, dirty=not flags & NO_DIRTY_UPDATE)


# Dirty regions, level of detail, generated levels


@method(_TEXTURES, "AddDirtyRect")
def add_dirty_rect(program: Program, call: Arguments) -> None:
    """Adds to the region that UpdateTexture, or the upload of a managed texture, copies."""
    app, texture = object_of(call, Resource)
    bounds = rect(call, "pDirtyRect")
    face = call.integer("FaceType") if call.declares("FaceType") else 0
    app.mark(texture, face, Box(*bounds) if bounds else None)


@method(_TEXTURES, "AddDirtyBox")
def add_dirty_box(program: Program, call: Arguments) -> None:
    """Adds a box to the region that UpdateTexture or an upload copies."""
    app, texture = object_of(call, Resource)
    app.mark(texture, 0, _box(call.struct("pDirtyBox")) if call.has("pDirtyBox") else None)


@method(_TEXTURES, "SetLOD")
def set_lod(program: Program, call: Arguments) -> None:
    """Sets the most detailed level of a managed texture."""
    app, texture = object_of(call, Resource)
    if texture.pool is Pool.MANAGED and texture.desc is not None:
        app.session.emit(Op.SETTEXLOD, [(texture.desc.handle, call.integer("LODNew"))])


@method(f"{_TEXTURES} {_SURFACES} {_BUFFERS}", "SetPriority")
def set_priority(program: Program, call: Arguments) -> None:
    """Sets the eviction priority of a managed texture."""
    app, texture = object_of(call, Resource)
    if texture.desc is not None and texture.desc.managed:
        app.session.emit(Op.SETPRIORITY, [(texture.desc.handle, call.integer("PriorityNew"))])


@method(_TEXTURES, "PreLoad")
def preload(program: Program, call: Arguments) -> None:
    """Uploads a managed texture."""
    app, texture = object_of(call, Resource)
    desc = texture.desc
    if desc is not None and desc.managed:
        rect = (0, 0, desc.width, desc.height)
        app.session.emit(Op.TEXBLT, [(0, desc.handle, (0, 0), rect, 0)])


@method(DEVICES, "EvictManagedResources")
@method("IDirect3DDevice8", "ResourceManagerDiscardBytes")
def evict_managed_resources(program: Program, call: Arguments) -> None:
    """Evicts managed textures from video memory."""
    application(call).evict()


@method(_TEXTURES, "SetAutoGenFilterType")
def set_auto_gen_filter_type(program: Program, call: Arguments) -> None:
    """Sets the filter of generated levels."""
    app, texture = object_of(call, Resource)
    app.set_filter(texture, enumerator(TextureFilter, call.integer("FilterType")))


@method(_TEXTURES, "GenerateMipSubLevels")
def generate_mip_sub_levels(program: Program, call: Arguments) -> None:
    """Generates the levels below the first, if the texture has generated levels."""
    app, texture = object_of(call, Resource)
    if texture.texture is not None:
        app.device.textures.generate(texture.texture)


# Targets and other surfaces


def _create_target(program: Program, call: Arguments, usage: Usage, out: str) -> None:
    app = application(call)
    quality = call.integer("MultisampleQuality") if call.has("MultisampleQuality") else 0
    made = app.create_surface(
        call.integer("Width"), call.integer("Height"), format_of(call), Pool.DEFAULT,
        samples=samples_of(call.integer("MultiSample"), quality), usage=usage,
    )  # fmt: skip
    hand_out(program, call, call.spelled("ppSurface", out), app, made)


@method(EVERY_DEVICE, "CreateRenderTarget CreateRenderTargetEx")
def create_render_target(program: Program, call: Arguments) -> None:
    """Creates a render target."""
    _create_target(program, call, Usage.RENDERTARGET, "ppRenderTarget")


@method(EVERY_DEVICE, "CreateDepthStencilSurface CreateDepthStencilSurfaceEx")
def create_depth_stencil_surface(program: Program, call: Arguments) -> None:
    """Creates a depth-stencil surface."""
    _create_target(program, call, Usage.DEPTHSTENCIL, "ppDepthStencilSurface")


@method(DEVICES, "CreateOffscreenPlainSurface CreateOffscreenPlainSurfaceEx")
@method("IDirect3DDevice8", "CreateImageSurface")
def create_plain_surface(program: Program, call: Arguments) -> None:
    """Creates a surface in its pool; in system memory for Direct3D 8, and for D3DPOOL_SCRATCH,
    since it may receive read-backs.  pSharedHandle is as in CreateTexture.
    """
    app = application(call)
    pool = pool_of(call) if call.declares("Pool") else Pool.SYSTEMMEM
    size = call.integer("Width"), call.integer("Height")
    pool = Pool.SYSTEMMEM if pool is Pool.SCRATCH else pool
    made = app.create_surface(*size, format_of(call), pool)
    hand_out(program, call, "ppSurface", app, made)
    _fill_from_program(call, app, made)


@method(DEVICES, "SetRenderTarget")
def set_render_target(program: Program, call: Arguments) -> None:
    """Sets a colour target; a new first target resets viewport and scissor."""
    surface = optional(call, Resource, "pRenderTarget")
    application(call).set_target(call.integer("RenderTargetIndex"), surface)


@method(DEVICES, "SetDepthStencilSurface")
def set_depth_stencil_surface(program: Program, call: Arguments) -> None:
    """Sets the depth surface, or none."""
    surface = optional(call, Resource, "pNewZStencil")
    device_of(call).set_depth_stencil(surface.desc if surface else None)


# Transfers


@method(DEVICES, "StretchRect")
def stretch_rect(program: Program, call: Arguments) -> None:
    """Blits a rectangle on the GPU."""
    app = application(call)
    filter = enumerator(TextureFilter, call.integer("Filter"))
    if filter not in BLT_FILTERS:
        raise Inexpressible(f"StretchRect with {filter.sdk}")
    source, target = resources_of(call, "pSourceSurface", "pDestSurface")
    rects = rect(call, "pSourceRect"), rect(call, "pDestRect")
    app.blit(source, target, rects, BLT_FILTERS[filter])


@method(DEVICES, "ColorFill")
def color_fill(program: Program, call: Arguments) -> None:
    """Fills a rectangle on the GPU, or by a write if the format is not a render target's."""
    (target,) = resources_of(call, "pSurface")
    application(call).fill(target, rect(call, "pRect"), call.dword("color"))


@method(DEVICES, "UpdateSurface")
def update_surface(program: Program, call: Arguments) -> None:
    """Copies a rectangle from system to video memory."""
    source, target = resources_of(call, *_COPIED)
    point = point_of(call.struct("pDestPoint")) if call.has("pDestPoint") else (0, 0)
    application(call).copy(source, target, rect(call, "pSourceRect"), point)


@method("IDirect3DDevice8", "CopyRects")
def copy_rects(program: Program, call: Arguments) -> None:
    """Copies rectangles to points of another surface, or unmoved if there are no points."""
    app = application(call)
    source, target = resources_of(call, *_COPIED)
    if not call.has("pSourceRectsArray"):
        app.copy(source, target)
        return
    rects = [rect_of(each) for each in call.structs("pSourceRectsArray")]
    given = call.structs("pDestPointsArray") if call.has("pDestPointsArray") else []
    points = [point_of(each) for each in given] or [(r[0], r[1]) for r in rects]
    for each, point in zip(rects, points, strict=False):
        app.copy(source, target, each, point)


@method(EVERY_DEVICE, "UpdateTexture")
def update_texture(program: Program, call: Arguments) -> None:
    """Copies the dirty parts of all levels from system to video memory."""
    source, target = resources_of(call, "pSourceTexture", "pDestinationTexture")
    application(call).update_texture(source, target)


@method(DEVICES, "GetRenderTargetData")
def get_render_target_data(program: Program, call: Arguments) -> None:
    """Copies a target to system memory, and takes a picture of it."""
    app = application(call)
    source, target = resources_of(call, "pRenderTarget", "pDestSurface")
    app.blit(source, target, (None, None), 0)
    target.root.drawn.discard(target.index)
    picture(call, app, PictureKind.TARGET_DATA, target)


@method("IDirect3DDevice9Ex", "ComposeRects")
def compose_rects(program: Program, call: Arguments) -> None:
    """Combines rectangles of a monochrome surface with another."""
    names = ("pSrc", "pDst", "pSrcRectDescs", "pDstRectDescs")
    source, target, sources, places = map(described, resources_of(call, *names))
    offset = call.integer("Xoffset"), call.integer("Yoffset")
    operation = enumerator(ComposeRectsOp, call.integer("Operation"))
    rects = Rects(sources, places, call.integer("NumRects"), operation, offset)
    device_of(call).compose_rects(source, target, rects)


forward(
    "IDirect3DDevice9Ex", "SetConvolutionMonoKernel",
    "Sets the kernel size of D3DTEXF_CONVOLUTIONMONO.",
    method_of(device_of, "set_convolution_mono_kernel"),
    (Arguments.integer, "width"), (Arguments.integer, "height"),
)  # fmt: skip
