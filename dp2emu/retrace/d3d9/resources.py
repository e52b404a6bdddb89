"""Creation of textures, surfaces and buffers, and their locks."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, Pool, TextureFilter
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.gpu.resource.subresources import Box
from dp2emu.retrace.arguments import Arguments, integer, member, members
from dp2emu.retrace.d3d9.held import (
    application,
    enumerator,
    format_of,
    hand_out,
    held,
    on,
    picture,
    pool_of,
    rect,
    silent,
)
from dp2emu.retrace.d3d9.root import DEVICES, EVERY_DEVICE
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.resources import Resource, Stored, clipped
from dp2emu.runtime.textures import TextureShape

READONLY, NOOVERWRITE, NO_DIRTY_UPDATE = 0x10, 0x1000, 0x8000
"""D3DLOCK_* that matter to a driver."""
_TEXTURES = (
    "IDirect3DTexture9 IDirect3DCubeTexture9 IDirect3DVolumeTexture9 IDirect3DBaseTexture9 "
    "IDirect3DTexture8 IDirect3DCubeTexture8 IDirect3DVolumeTexture8 IDirect3DBaseTexture8"
)
_SURFACES = "IDirect3DSurface9 IDirect3DSurface8"
_VOLUMES = "IDirect3DVolume9 IDirect3DVolume8"
_BUFFERS = (
    "IDirect3DVertexBuffer9 IDirect3DIndexBuffer9 IDirect3DVertexBuffer8 IDirect3DIndexBuffer8"
)
_WITHOUT_PITCH = (Format.ATI1N, Format.ATI2N)
"""Formats whose blocks lie without holes, whatever pitch a program was told."""
_ALL = f"{_TEXTURES} {_SURFACES} {_VOLUMES} {_BUFFERS}"
_SIDES = {
    "CreateTexture": ("Width", "Height"),
    "CreateCubeTexture": ("EdgeLength", "EdgeLength"),
    "CreateVolumeTexture": ("Width", "Height", "Depth"),
}

silent(_ALL, "SetPrivateData GetPrivateData FreePrivateData", "The program's own data.")
silent(_ALL, "GetType GetDesc", "A question; the driver is not told.")
silent(f"{_TEXTURES} {_SURFACES} {_BUFFERS}", "GetPriority", "A question; the driver is not told.")
silent(_TEXTURES, "GetLevelCount GetLOD GetLevelDesc GetAutoGenFilterType", "A question.")


# Creation


def _create(program: Program, call: Arguments, kind: SurfaceKind, out: str) -> None:
    sides = [call.integer(name) for name in _SIDES[call.call.name.partition("::")[2]]]
    app, pool = application(call), pool_of(call.integer("Pool"))
    depth = sides[2] if len(sides) > 2 else 1
    shape = TextureShape(
        kind, sides[0], sides[1], format_of(call.integer("Format")), depth,
        call.integer("Levels"), call.integer("Usage"), pool is Pool.MANAGED,
    )  # fmt: skip
    hand_out(program, call, out, app, app.create_texture(shape, pool))


@on(EVERY_DEVICE, "CreateTexture")
def create_texture(program: Program, call: Arguments) -> None:
    """A texture; of D3DPOOL_SCRATCH nothing reaches the driver."""
    _create(program, call, SurfaceKind.TEXTURE, "ppTexture")


@on(EVERY_DEVICE, "CreateCubeTexture")
def create_cube_texture(program: Program, call: Arguments) -> None:
    """A cube texture; of D3DPOOL_SCRATCH nothing reaches the driver."""
    _create(program, call, SurfaceKind.CUBETEXTURE, "ppCubeTexture")


@on(EVERY_DEVICE, "CreateVolumeTexture")
def create_volume_texture(program: Program, call: Arguments) -> None:
    """A volume texture; of D3DPOOL_SCRATCH nothing reaches the driver."""
    _create(program, call, SurfaceKind.VOLUMETEXTURE, "ppVolumeTexture")


@on(EVERY_DEVICE, "CreateVertexBuffer")
def create_vertex_buffer(program: Program, call: Arguments) -> None:
    """A buffer of zeros."""
    app = application(call)
    size, pool = call.integer("Length"), pool_of(call.integer("Pool"))
    made = app.create_buffer(SurfaceKind.VERTEXBUFFER, size, pool, call.integer("Usage"))
    made.vertices = call.integer("FVF")
    hand_out(program, call, "ppVertexBuffer", app, made)


@on(EVERY_DEVICE, "CreateIndexBuffer")
def create_index_buffer(program: Program, call: Arguments) -> None:
    """A buffer of zeros that remembers its indices' size."""
    app = application(call)
    size, pool = call.integer("Length"), pool_of(call.integer("Pool"))
    made = app.create_buffer(SurfaceKind.INDEXBUFFER, size, pool, call.integer("Usage"))
    made.format = enumerator(Format, call.integer("Format"))
    hand_out(program, call, "ppIndexBuffer", app, made)


# Levels


@on("IDirect3DTexture9 IDirect3DTexture8", "GetSurfaceLevel")
def get_surface_level(program: Program, call: Arguments) -> None:
    """A handle for one level, made when it is first asked for."""
    app, texture = held(call, Resource)
    level = app.level(texture, call.integer("Level"))
    hand_out(program, call, "ppSurfaceLevel", app, level)


@on("IDirect3DCubeTexture9 IDirect3DCubeTexture8", "GetCubeMapSurface")
def get_cube_map_surface(program: Program, call: Arguments) -> None:
    """A handle for one level of a face, made when it is first asked for."""
    app, texture = held(call, Resource)
    index = _index(call, texture)
    hand_out(program, call, "ppCubeMapSurface", app, app.level(texture, index))


@on("IDirect3DVolumeTexture9 IDirect3DVolumeTexture8", "GetVolumeLevel")
def get_volume_level(program: Program, call: Arguments) -> None:
    """The level has no handle of its own; its locks are the texture's."""
    app, texture = held(call, Resource)
    level = app.level(texture, call.integer("Level"))
    hand_out(program, call, "ppVolumeLevel", app, level)


def _index(call: Arguments, texture: Resource) -> int:
    """The subresource that a call on a texture names; on a surface it is the only one."""
    names = call.call.function.arguments
    level = call.integer("Level") if "Level" in names else 0
    if "FaceType" not in names or texture.desc is None:
        return level
    return call.integer("FaceType") * texture.desc.levels + level


# Locks


@on(_BUFFERS, "Lock")
def lock_buffer(program: Program, call: Arguments) -> None:
    """Without D3DLOCK_NOOVERWRITE the GPU is waited for."""
    app, buffer = held(call, Resource)
    if not call.integer("Flags") & (NOOVERWRITE | READONLY):
        app.lock(buffer)
    lock = Lock(buffer, 0, place=call.integer("OffsetToLock"))
    program.locks.begin(call.address("ppbData"), lock)


@on(_BUFFERS, "Unlock")
def unlock_buffer(program: Program, call: Arguments) -> None:
    """What is in the locked range now is written."""
    app, buffer = held(call, Resource)
    lock = program.locks.end(buffer, 0)
    if lock is not None and lock.data is not None:
        app.store_bytes(buffer, lock.place, lock.data)


@on(
    f"{_SURFACES} IDirect3DTexture9 IDirect3DTexture8 IDirect3DCubeTexture9 IDirect3DCubeTexture8",
    "LockRect",
)
def lock_rect(program: Program, call: Arguments) -> None:
    """The GPU is waited for; of what it has drawn, a picture shows what the program reads."""
    bounds = rect(call, "pRect")
    found = call.struct("pLockedRect")
    box = Box(*bounds) if bounds else None
    _lock(program, call, found, box, integer(member(found, "Pitch")), 0)


@on(f"{_VOLUMES} IDirect3DVolumeTexture9 IDirect3DVolumeTexture8", "LockBox")
def lock_box(program: Program, call: Arguments) -> None:
    """As LockRect, of a box."""
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
    app, resource = held(call, Resource)
    index, flags = _index(call, resource), call.integer("Flags")
    address = integer(member(found, "pBits"))
    program.locks.begin(
        address, Lock(resource.root, resource.index + index, pitch, slice, (box, flags))
    )
    if resource.root.desc is None:
        return
    if not flags & NOOVERWRITE:
        app.lock(resource)
    show_locked(call, app, resource, index)


def show_locked(call: Arguments, app: Application, resource: Resource, index: int) -> None:
    """A picture of what the GPU has drawn or blitted, since the program reads it."""
    root, number = resource.root, resource.index + index
    if root.written_by_gpu or number in root.drawn:
        root.drawn.discard(number)
        picture(call, app, PictureKind.LOCK, resource, index)


@on(
    f"{_SURFACES} IDirect3DTexture9 IDirect3DTexture8 IDirect3DCubeTexture9 IDirect3DCubeTexture8",
    "UnlockRect",
)
def unlock_rect(program: Program, call: Arguments) -> None:
    """What is in the locked rectangle now is written, as far as it lies in the surface."""
    _unlock(program, call)


@on(f"{_VOLUMES} IDirect3DVolumeTexture9 IDirect3DVolumeTexture8", "UnlockBox")
def unlock_box(program: Program, call: Arguments) -> None:
    """What is in the locked box now is written, as far as it lies in the volume."""
    _unlock(program, call)


def _unlock(program: Program, call: Arguments) -> None:
    app, resource = held(call, Resource)
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
    inside = clipped(format, whole, box or whole, stored)
    if inside is not None:
        app.store(resource, index, *inside, dirty=not flags & NO_DIRTY_UPDATE)


# Dirty regions, detail, generated levels


@on(f"{_TEXTURES}", "AddDirtyRect")
def add_dirty_rect(program: Program, call: Arguments) -> None:
    """What the next UpdateTexture copies, or the driver uploads of a managed texture."""
    app, texture = held(call, Resource)
    bounds = rect(call, "pDirtyRect")
    face = call.integer("FaceType") if "FaceType" in call.call.function.arguments else 0
    app.mark(texture, face, Box(*bounds) if bounds else None)


@on(f"{_TEXTURES}", "AddDirtyBox")
def add_dirty_box(program: Program, call: Arguments) -> None:
    """As AddDirtyRect, of a volume."""
    app, texture = held(call, Resource)
    app.mark(texture, 0, _box(call.struct("pDirtyBox")) if call.has("pDirtyBox") else None)


@on(_TEXTURES, "SetLOD")
def set_lod(program: Program, call: Arguments) -> None:
    """The most detailed level of a managed texture."""
    app, texture = held(call, Resource)
    if texture.pool is Pool.MANAGED and texture.desc is not None:
        app.session.emit(Op.SETTEXLOD, [(texture.desc.handle, call.integer("LODNew"))])


@on(f"{_TEXTURES} {_SURFACES} {_BUFFERS}", "SetPriority")
def set_priority(program: Program, call: Arguments) -> None:
    """The eviction priority of a managed texture."""
    app, texture = held(call, Resource)
    if texture.desc is not None and texture.desc.managed:
        app.session.emit(Op.SETPRIORITY, [(texture.desc.handle, call.integer("PriorityNew"))])


@on(_TEXTURES, "PreLoad")
def preload(program: Program, call: Arguments) -> None:
    """A managed texture is uploaded now."""
    app, texture = held(call, Resource)
    desc = texture.desc
    if desc is not None and desc.managed:
        rect = (0, 0, desc.width, desc.height)
        app.session.emit(Op.TEXBLT, [(0, desc.handle, (0, 0), rect, 0)])


silent(f"{_SURFACES} {_BUFFERS}", "PreLoad", "Where buffers and surfaces lie does not change.")


@on(DEVICES, "EvictManagedResources")
def evict_managed_resources(program: Program, call: Arguments) -> None:
    """Managed textures lose their place in video memory."""
    application(call).evict()


@on(_TEXTURES, "SetAutoGenFilterType")
def set_auto_gen_filter_type(program: Program, call: Arguments) -> None:
    """The filter that makes the generated levels."""
    app, texture = held(call, Resource)
    app.set_filter(texture, enumerator(TextureFilter, call.integer("FilterType")))


@on(_TEXTURES, "GenerateMipSubLevels")
def generate_mip_sub_levels(program: Program, call: Arguments) -> None:
    """The levels below the first are made now, if the texture has generated ones."""
    app, texture = held(call, Resource)
    if texture.texture is not None:
        app.device.textures.generate(texture.texture)
