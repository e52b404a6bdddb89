"""Methods of IDirectDraw, IDirectDrawSurface, palettes and clippers of all versions."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.capture.records import PictureKind
from dp2emu.d3d.ddraw import FastFlags, LockFlags, PaletteCaps
from dp2emu.gpu.command.bindings import Rect
from dp2emu.retrace.arguments import Arguments, array, integer, member, members, structure
from dp2emu.retrace.ddraw.lifetimes import DIRECTDRAWS, SURFACES, bind_argument
from dp2emu.retrace.ddraw.records import capabilities, color_key, description, effects, rectangle
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, UNCHANGED, Program, inert, lost, method
from dp2emu.runtime.drawblits import Side, blt, blt_fast
from dp2emu.runtime.drawsurfaces import Clipper, DrawSurface, Palette

_MONITOR = "Affects the monitor, not the contents of surfaces."
_SIDES = "left", "top", "right", "bottom"

inert(
    DIRECTDRAWS,
    "AddRef Compact EnumDisplayModes EnumSurfaces GetCaps GetFourCCCodes GetMonitorFrequency "
    "GetScanLine GetVerticalBlankStatus GetAvailableVidMem GetSurfaceFromDC GetGDISurface "
    "TestCooperativeLevel GetDeviceIdentifier StartModeTest EvaluateMode",
    NO_EFFECT,
)
inert(
    DIRECTDRAWS,
    "Initialize FlipToGDISurface SetCooperativeLevel WaitForVerticalBlank RestoreAllSurfaces "
    "RestoreDisplayMode",
    "Affects windows and displays; nothing for the driver.",
)
inert(
    "",
    "DirectDrawEnumerateA DirectDrawEnumerateW DirectDrawEnumerateExA DirectDrawEnumerateExW "
    "DllCanUnloadNow DllGetClassObject AcquireDDThreadLock ReleaseDDThreadLock "
    "D3DParseUnknownCommand",
    NO_EFFECT,
)
inert("IDirectDrawPalette", "AddRef GetCaps GetEntries Initialize", NO_EFFECT)
inert("IDirectDrawClipper", "AddRef GetClipList GetHWnd Initialize IsClipListChanged", NO_EFFECT)
inert("IDirectDrawGammaControl", "AddRef GetGammaRamp SetGammaRamp", _MONITOR)
inert("IDirectDrawColorControl", "AddRef GetColorControls SetColorControls", _MONITOR)
lost(
    "",
    "CompleteCreateSysmemSurface GetSurfaceFromDC DDInternalLock DDInternalUnlock DSoundHelp "
    "GetDDSurfaceLocal GetOLEThunkData RegisterSpecialCase DDGetAttachedSurfaceLcl",
    "an entry point that is not documented",
)
inert(
    SURFACES,
    "AddRef EnumAttachedSurfaces EnumOverlayZOrders GetBltStatus GetCaps GetColorKey "
    "GetFlipStatus GetOverlayPosition GetPixelFormat IsLost GetDDInterface GetPrivateData "
    "GetUniquenessValue GetPriority GetLOD",
    NO_EFFECT,
)
inert(
    SURFACES,
    "Initialize Restore PageLock PageUnlock SetPrivateData FreePrivateData ChangeUniquenessValue "
    "SetPriority GetClipper GetPalette",
    UNCHANGED,
)
lost(SURFACES, "GetDC ReleaseDC", "what GDI draws is not recorded")
lost(SURFACES, "SetSurfaceDesc", "memory of the program is not recorded")
lost(
    SURFACES,
    "AddOverlayDirtyRect SetOverlayPosition UpdateOverlay UpdateOverlayDisplay "
    "UpdateOverlayZOrder",
    "there are no overlays",
)
lost(SURFACES, "BltBatch", "no runtime has implemented it")


def _surface(call: Arguments) -> DrawSurface:
    return call.thing("this", DrawSurface)


# IDirectDraw


@method("", "DirectDrawCreate DirectDrawCreateEx")
def create(program: Program, call: Arguments) -> None:
    """Creates a DirectDraw object; all of a program share one memory."""
    bind_argument(program, call, "lplpDD", program.ddraw)


@method(DIRECTDRAWS, "CreateSurface")
def create_surface(program: Program, call: Arguments) -> None:
    """Creates a surface with the attachments of DDSCAPS_COMPLEX."""
    asked = description(call.struct("lpDDSurfaceDesc"))
    bind_argument(program, call, "lplpDDSurface", program.ddraw.create(asked))


@method(DIRECTDRAWS, "DuplicateSurface")
def duplicate_surface(program: Program, call: Arguments) -> None:
    """Returns a new surface object that shares the memory of another."""
    surface = call.thing("lpDDSurface", DrawSurface)
    bind_argument(program, call, "lplpDupDDSurface", surface)


@method(DIRECTDRAWS, "SetDisplayMode")
def set_display_mode(program: Program, call: Arguments) -> None:
    """Sets the size and format of primary surfaces created from now on."""
    program.ddraw.set_display(*map(call.integer, ("dwWidth", "dwHeight", "dwBPP")))


@method(DIRECTDRAWS, "GetDisplayMode")
def get_display_mode(program: Program, call: Arguments) -> None:
    """Gives later primary surfaces the size and format that the call returned to the program."""
    told = description(call.struct("lpDDSurfaceDesc"))
    if told.pixels is not None:
        program.ddraw.set_display(told.width, told.height, told.pixels.bits)


# Palettes and clippers


@method(DIRECTDRAWS, "CreatePalette")
def create_palette(program: Program, call: Arguments) -> None:
    """Creates a palette; a loss if the trace lacks some of its entries."""
    flags = call.integer("dwFlags")
    palette = program.ddraw.create_palette(alpha=bool(flags & PaletteCaps.ALPHA))
    bind_argument(program, call, "lplpDDPalette", palette)
    sizes = {PaletteCaps.BIT1: 2, PaletteCaps.BIT2: 4, PaletteCaps.BIT4: 16}
    size = next((size for flag, size in sizes.items() if flags & flag), 256)
    _store_entries(program, palette, 0, call.value("lpDDColorArray"), size)


@method("IDirectDrawPalette", "SetEntries")
def set_entries(program: Program, call: Arguments) -> None:
    """Changes entries of a palette, and the look of surfaces with it; a loss if the trace lacks
    some of them.
    """
    palette, start = call.thing("this", Palette), call.integer("dwStartingEntry")
    _store_entries(program, palette, start, call.value("lpEntries"), call.integer("dwCount"))


def _store_entries(
    program: Program, palette: Palette, start: int, value: object, count: int
) -> None:
    names = "peRed", "peGreen", "peBlue", "peFlags"
    found = [members(structure(each), names, integer) for each in array(value)]
    entries = [(r & 255, g & 255, b & 255, flags & 255) for r, g, b, flags in found]
    program.ddraw.set_entries(palette, start, entries)
    if len(entries) < count:
        raise Inexpressible(f"{len(entries)} of {count} entries were recorded")


@method("", "DirectDrawCreateClipper")
@method(DIRECTDRAWS, "CreateClipper")
def create_clipper(program: Program, call: Arguments) -> None:
    """Creates a clipper, which clips to the surface until it has a list of rectangles."""
    bind_argument(program, call, "lplpDDClipper", Clipper())


@method("IDirectDrawClipper", "SetHWnd")
def set_window(program: Program, call: Arguments) -> None:
    """Clips to a window's visible region, which traces lack: only the surface's bounds clip."""
    call.thing("this", Clipper).rects = None


@method("IDirectDrawClipper", "SetClipList")
def set_clip_list(program: Program, call: Arguments) -> None:
    """Sets the rectangles that split blits."""
    clipper = call.thing("this", Clipper)
    clipper.rects = _region(call.struct("lpClipList")) if call.has("lpClipList") else None


def _region(region: Struct) -> tuple[Rect, ...]:
    """The rectangles of RGNDATA.  Raises Inexpressible if there are several and some were not
    recorded.
    """
    header = structure(member(region, "rdh"))
    count = integer(member(header, "nCount"))
    if count == 1:
        return (Rect(*members(structure(member(header, "rcBound")), _SIDES, integer)),)
    recorded = "Buffer" in region.signature.members
    found = array(member(region, "Buffer")) if recorded else ()
    if len(found) < count:
        raise Inexpressible(f"{len(found)} of {count} rectangles of the clip list were recorded")
    return tuple(Rect(*members(structure(each), _SIDES, integer)) for each in found)


# Attachments


@method(SURFACES, "AddAttachedSurface")
def add_attached(program: Program, call: Arguments) -> None:
    """Attaches a depth buffer or another surface."""
    added = call.thing("lpDDSAttachedSurface", DrawSurface)
    attached = _surface(call).attached
    if added not in attached:
        attached.append(added)


@method(SURFACES, "DeleteAttachedSurface")
def delete_attached(program: Program, call: Arguments) -> None:
    """Detaches a surface, or with NULL all surfaces that were attached one by one."""
    surface = _surface(call)
    detached = call.optional("lpDDSurface", DrawSurface)
    surface.attached[:] = [
        each for each in surface.attached
        if (each.desc is surface.desc if detached is None else each is not detached)
    ]  # fmt: skip


@method(SURFACES, "GetAttachedSurface")
def get_attached(program: Program, call: Arguments) -> None:
    """Returns a back buffer, mip level, face or depth buffer."""
    caps, caps2 = capabilities(call.struct("lpDDSCaps"))
    found = _surface(call).find(caps, caps2)
    if found is None:
        raise Inexpressible(f"no attached surface with capabilities {caps:#x}, {caps2:#x}")
    bind_argument(program, call, "lplpDDAttachedSurface", found)


@method(SURFACES, "GetSurfaceDesc")
def learn_size(program: Program, call: Arguments) -> None:
    """Gives a primary surface the size that the call returned to the program."""
    surface = _surface(call)
    told = description(call.struct("lpDDSurfaceDesc"))
    differs = (told.width, told.height) != (surface.part.width, surface.part.height)
    if differs and surface.primary and told.width and told.height:
        program.ddraw.resize(surface, told.width, told.height)


# Locks and transfers


@method(SURFACES, "Lock")
def lock(program: Program, call: Arguments) -> None:
    """Locks memory, and takes a picture of content that the GPU wrote."""
    surface = _surface(call)
    learn_size(program, call)
    of, flags = call.struct("lpDDSurfaceDesc"), call.integer("dwFlags")
    place = rectangle(call, "lpDestRect")
    told = Lock(surface, 0, integer(member(of, "lPitch")), 0, place)
    program.locks.begin(integer(member(of, "lpSurface")), told)
    if surface.drawn or flags & LockFlags.READONLY:
        program.ddraw.picture(call.number, PictureKind.LOCK, surface)


@method(SURFACES, "Unlock")
def unlock(program: Program, call: Arguments) -> None:
    """Writes the bytes that the program stored in the locked memory."""
    surface = _surface(call)
    ended = program.locks.end(surface, 0)
    if ended is not None and ended.data is not None:
        program.ddraw.store(surface, ended.place, ended.pitch, ended.data)


@method(SURFACES, "Blt")
def blit(program: Program, call: Arguments) -> None:
    """Fills or copies a rectangle; a copy to the primary surface ends a frame."""
    target = _surface(call)
    given = call.optional("lpDDSrcSurface", DrawSurface)
    source = Side(given, rectangle(call, "lpSrcRect")) if given else None
    there = Side(target, rectangle(call, "lpDestRect"))
    shows = target.primary and given is not None
    if shows:
        _show(program, call, given)
    blt(program.ddraw, there, source, call.integer("dwFlags"), effects(call))
    if shows:
        program.ddraw.mark_frame(target)


@method(SURFACES, "BltFast")
def blit_fast(program: Program, call: Arguments) -> None:
    """Copies a rectangle unscaled; a copy to the primary surface ends a frame."""
    target = _surface(call)
    given = call.thing("lpDDSrcSurface", DrawSurface)
    source = Side(given, rectangle(call, "lpSrcRect"))
    if target.primary:
        _show(program, call, given)
    how = FastFlags(call.integer("dwTrans"))
    blt_fast(program.ddraw, call.integer("dwX"), call.integer("dwY"), target, source, how)
    if target.primary:
        program.ddraw.mark_frame(target)


@method(SURFACES, "Flip")
def flip(program: Program, call: Arguments) -> None:
    """Rotates the buffers of a chain, which ends a frame."""
    front = _surface(call)
    override = call.optional("lpDDSurfaceTargetOverride", DrawSurface)
    shown = override or next(iter(front.flipped()), None)
    if shown is not None and front.primary:
        _show(program, call, shown)
    program.ddraw.flip(front, override)
    if front.primary:
        program.ddraw.mark_frame(front)


def _show(program: Program, call: Arguments, source: DrawSurface | None) -> None:
    """Record that a frame was shown: the newest device's render target, or without devices
    ``source``.
    """
    devices = program.ddraw.devices
    shown = devices[-1].target if devices else source
    assert shown is not None
    program.ddraw.picture(call.number, PictureKind.PRESENT, shown)


# Properties of surfaces


@method(SURFACES, "SetClipper")
def set_clipper(program: Program, call: Arguments) -> None:
    """Sets the clipper of blits to the surface."""
    _surface(call).clipper = call.optional("lpDDClipper", Clipper)


@method(SURFACES, "SetPalette")
def set_palette(program: Program, call: Arguments) -> None:
    """Sets the palette of the surface's pixels."""
    _surface(call).palette = call.optional("lpDDPalette", Palette)


@method(SURFACES, "SetColorKey")
def set_color_key(program: Program, call: Arguments) -> None:
    """Sets a surface's colour key for blits, and for draws if it is a texture; NULL removes it."""
    surface, name = _surface(call), "lpDDColorKey"
    key = color_key(call.struct(name)) if call.has(name) else None
    program.ddraw.set_color_key(surface, call.integer("dwFlags"), key)


@method("IDirectDrawSurface7", "SetLOD")
def set_lod(program: Program, call: Arguments) -> None:
    """Sets the most detailed level that all devices use of a managed texture."""
    surface, level = _surface(call), call.integer("dwMaxLOD")
    for device in program.ddraw.devices:
        device.set_lod(surface, level)
