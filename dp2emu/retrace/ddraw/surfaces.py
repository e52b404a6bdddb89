"""IDirectDrawSurface of any version."""

from __future__ import annotations

from dp2emu.capture.records import PictureKind
from dp2emu.d3d.ddraw import FastFlags, LockFlags
from dp2emu.retrace.arguments import Arguments, integer, member
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.ddraw.records import capabilities, color_key, description, effects, rectangle
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, lost, method
from dp2emu.runtime.drawblits import Side, blt, blt_fast
from dp2emu.runtime.drawsurfaces import Clipper, DrawSurface, Palette

SURFACES = tuple(f"IDirectDrawSurface{version}" for version in ("", "2", "3", "4", "7"))
_ASKED = "Only asks; nothing for the driver."


def rows(name: str) -> tuple[str, ...]:
    """A method of every version of IDirectDrawSurface."""
    return tuple(f"{interface}::{name}" for interface in SURFACES)


for _interface in SURFACES:
    inert(
        _interface,
        "AddRef EnumAttachedSurfaces EnumOverlayZOrders GetBltStatus GetCaps GetColorKey "
        "GetFlipStatus GetOverlayPosition GetPixelFormat IsLost GetDDInterface GetPrivateData "
        "GetUniquenessValue GetPriority GetLOD",
        _ASKED,
    )
    inert(
        _interface,
        "Initialize Restore PageLock PageUnlock SetPrivateData FreePrivateData "
        "ChangeUniquenessValue SetPriority GetClipper GetPalette",
        "Changes nothing that is drawn.",
    )
    lost(_interface, "GetDC ReleaseDC", "what GDI draws is not recorded")
    lost(_interface, "SetSurfaceDesc", "memory of the program is not recorded")
    lost(
        _interface,
        "AddOverlayDirtyRect SetOverlayPosition UpdateOverlay UpdateOverlayDisplay "
        "UpdateOverlayZOrder",
        "there are no overlays",
    )
    lost(_interface, "BltBatch", "no runtime has implemented it")


# Attachments


@method(*rows("AddAttachedSurface"))
def add_attached(program: Program, call: Arguments) -> None:
    """A depth buffer, or another surface that is found by GetAttachedSurface."""
    added = call.thing("lpDDSAttachedSurface", DrawSurface)
    attached = call.thing("this", DrawSurface).attached
    if added not in attached:
        attached.append(added)


@method(*rows("DeleteAttachedSurface"))
def delete_attached(program: Program, call: Arguments) -> None:
    """One attached surface, or with NULL all that were attached one by one."""
    surface = call.thing("this", DrawSurface)
    gone = call.optional("lpDDSurface", DrawSurface)
    kept = [each for each in surface.attached
            if (each.desc is surface.desc if gone is None else each is not gone)]  # fmt: skip
    surface.attached[:] = kept


@method(*rows("GetAttachedSurface"))
def get_attached(program: Program, call: Arguments) -> None:
    """A back buffer, a mip level, a face or a depth buffer of the chain."""
    caps, caps2 = capabilities(call.struct("lpDDSCaps"))
    found = call.thing("this", DrawSurface).find(caps, caps2)
    if found is None:
        raise Inexpressible(f"no attached surface with capabilities {caps:#x}, {caps2:#x}")
    bind_argument(program, call, "lplpDDAttachedSurface", found)


@method(*rows("GetSurfaceDesc"))
def get_description(program: Program, call: Arguments) -> None:
    """Tells the size of a primary surface."""
    _learn_size(program, call)


def _learn_size(program: Program, call: Arguments) -> None:
    """The display is as large as the program was told its primary surface is."""
    surface = call.thing("this", DrawSurface)
    told = description(call.struct("lpDDSurfaceDesc"))
    part = surface.part
    differs = (told.width, told.height) != (part.width, part.height)
    if differs and surface.primary and told.width and told.height:
        program.ddraw.resize(surface, told.width, told.height)


# Memory


@method(*rows("Lock"))
def lock(program: Program, call: Arguments) -> None:
    """Where the program will find the surface; what the GPU has written, it may look at."""
    surface = call.thing("this", DrawSurface)
    _learn_size(program, call)
    of, flags = call.struct("lpDDSurfaceDesc"), call.integer("dwFlags")
    place = rectangle(call, "lpDestRect")
    told = Lock(surface, 0, integer(member(of, "lPitch")), 0, place)
    program.locks.begin(integer(member(of, "lpSurface")), told)
    if surface.drawn or flags & LockFlags.READONLY:
        program.ddraw.picture(call.number, PictureKind.LOCK, surface)


@method(*rows("Unlock"))
def unlock(program: Program, call: Arguments) -> None:
    """What the program stored is written."""
    surface = call.thing("this", DrawSurface)
    held = program.locks.end(surface, 0)
    if held is not None and held.data is not None:
        program.ddraw.store(surface, held.place, held.pitch, held.data)


# Moves


@method(*rows("Blt"))
def blit(program: Program, call: Arguments) -> None:
    """A fill or a copy; onto the primary surface it ends a frame."""
    target = call.thing("this", DrawSurface)
    given = call.optional("lpDDSrcSurface", DrawSurface)
    source = Side(given, rectangle(call, "lpSrcRect")) if given else None
    there = Side(target, rectangle(call, "lpDestRect"))
    _before_frame(program, call, target, given)
    blt(program.ddraw, there, source, call.integer("dwFlags"), effects(call))
    _after_frame(program, target, given)


@method(*rows("BltFast"))
def blit_fast(program: Program, call: Arguments) -> None:
    """An unscaled copy; onto the primary surface it ends a frame."""
    target = call.thing("this", DrawSurface)
    given = call.thing("lpDDSrcSurface", DrawSurface)
    source = Side(given, rectangle(call, "lpSrcRect"))
    _before_frame(program, call, target, given)
    how = FastFlags(call.integer("dwTrans"))
    blt_fast(program.ddraw, call.integer("dwX"), call.integer("dwY"), target, source, how)
    _after_frame(program, target, given)


@method(*rows("Flip"))
def flip(program: Program, call: Arguments) -> None:
    """The buffers of a chain move up; that ends a frame."""
    front = call.thing("this", DrawSurface)
    override = call.optional("lpDDSurfaceTargetOverride", DrawSurface)
    shown = override or next(iter(front.flipped()), None)
    if shown is not None and front.primary:
        _show(program, call, shown)
    program.ddraw.flip(front, override)
    if front.primary:
        program.ddraw.mark_frame(front)


def _before_frame(
    program: Program, call: Arguments, target: DrawSurface, source: DrawSurface | None
) -> None:
    if target.primary and source is not None:
        _show(program, call, source)


def _after_frame(program: Program, target: DrawSurface, source: DrawSurface | None) -> None:
    if target.primary and source is not None:
        program.ddraw.mark_frame(target)


def _show(program: Program, call: Arguments, source: DrawSurface) -> None:
    """The picture of a frame: the render target, or without a device what comes on the screen."""
    devices = program.ddraw.devices
    shown = devices[-1].target if devices else source
    program.ddraw.picture(call.number, PictureKind.PRESENT, shown)


# What hangs on a surface


@method(*rows("SetClipper"))
def set_clipper(program: Program, call: Arguments) -> None:
    """Blits to the surface are cut by a clipper."""
    call.thing("this", DrawSurface).clipper = call.optional("lpDDClipper", Clipper)


@method(*rows("SetPalette"))
def set_palette(program: Program, call: Arguments) -> None:
    """The palette that a surface's indexes mean."""
    call.thing("this", DrawSurface).palette = call.optional("lpDDPalette", Palette)


@method(*rows("SetColorKey"))
def set_color_key(program: Program, call: Arguments) -> None:
    """A colour key for blits, and of textures for draws; NULL takes it away."""
    surface, name = call.thing("this", DrawSurface), "lpDDColorKey"
    key = color_key(call.struct(name)) if call.has(name) else None
    program.ddraw.set_color_key(surface, call.integer("dwFlags"), key)


@method("IDirectDrawSurface7::SetLOD")
def set_lod(program: Program, call: Arguments) -> None:
    """The most detailed level of a managed texture that is used, in every device there is."""
    surface, level = call.thing("this", DrawSurface), call.integer("dwMaxLOD")
    for device in program.ddraw.devices:
        device.set_lod(surface, level)
