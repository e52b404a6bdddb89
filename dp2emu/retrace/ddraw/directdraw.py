"""IDirectDraw of any version, palettes and clippers."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.ddraw import PaletteCaps
from dp2emu.gpu.command.bindings import Rect
from dp2emu.retrace.arguments import Arguments, array, integer, member, members, structure
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.ddraw.records import description
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, lost, method
from dp2emu.runtime.drawsurfaces import Clipper, DrawSurface, Palette

DIRECTDRAWS = tuple(f"IDirectDraw{version}" for version in ("", "2", "4", "7"))
_ASKED = "Only asks; nothing for the driver."


def rows(name: str) -> tuple[str, ...]:
    """A method of every version of IDirectDraw."""
    return tuple(f"{interface}::{name}" for interface in DIRECTDRAWS)


for _interface in DIRECTDRAWS:
    inert(
        _interface,
        "AddRef Compact EnumDisplayModes EnumSurfaces GetCaps GetFourCCCodes "
        "GetMonitorFrequency GetScanLine GetVerticalBlankStatus GetAvailableVidMem "
        "GetSurfaceFromDC GetGDISurface TestCooperativeLevel GetDeviceIdentifier "
        "StartModeTest EvaluateMode",
        _ASKED,
    )
    inert(
        _interface,
        "Initialize FlipToGDISurface SetCooperativeLevel WaitForVerticalBlank "
        "RestoreAllSurfaces RestoreDisplayMode",
        "Of windows and displays; nothing for the driver.",
    )
inert("", "DirectDrawEnumerateA DirectDrawEnumerateW DirectDrawEnumerateExA "
      "DirectDrawEnumerateExW DllCanUnloadNow DllGetClassObject AcquireDDThreadLock "
      "ReleaseDDThreadLock D3DParseUnknownCommand", _ASKED)  # fmt: skip


@method("DirectDrawCreate", "DirectDrawCreateEx")
def create(program: Program, call: Arguments) -> None:
    """A DirectDraw object; all of a program share one memory."""
    bind_argument(program, call, "lplpDD", program.ddraw)


@method(*rows("CreateSurface"))
def create_surface(program: Program, call: Arguments) -> None:
    """A surface, with all that DDSCAPS_COMPLEX asks for."""
    asked = description(call.struct("lpDDSurfaceDesc"))
    bind_argument(program, call, "lplpDDSurface", program.ddraw.create(asked))


@method(*rows("DuplicateSurface"))
def duplicate_surface(program: Program, call: Arguments) -> None:
    """Another object of the same memory."""
    surface = call.thing("lpDDSurface", DrawSurface)
    bind_argument(program, call, "lplpDupDDSurface", surface)


@method(*rows("SetDisplayMode"))
def set_display_mode(program: Program, call: Arguments) -> None:
    """Primary surfaces made from now on have this size and format."""
    program.ddraw.set_display(
        call.integer("dwWidth"), call.integer("dwHeight"), call.integer("dwBPP")
    )


@method(*rows("GetDisplayMode"))
def get_display_mode(program: Program, call: Arguments) -> None:
    """Tells the size and format of primary surfaces."""
    told = description(call.struct("lpDDSurfaceDesc"))
    if told.pixels is not None:
        program.ddraw.set_display(told.width, told.height, told.pixels.bits)


# Palettes


inert("IDirectDrawPalette", "AddRef GetCaps GetEntries Initialize", _ASKED)


@method(*rows("CreatePalette"))
def create_palette(program: Program, call: Arguments) -> None:
    """A palette; a loss where the trace has less than all of its entries."""
    flags = call.integer("dwFlags")
    palette = program.ddraw.create_palette(alpha=bool(flags & PaletteCaps.ALPHA))
    bind_argument(program, call, "lplpDDPalette", palette)
    entries = _entries(call.value("lpDDColorArray"))
    program.ddraw.set_entries(palette, 0, entries)
    if len(entries) < _size(flags):
        raise Inexpressible(f"{len(entries)} of {_size(flags)} entries were recorded")


def _size(flags: int) -> int:
    """Entries of a palette by its capabilities."""
    sizes = {PaletteCaps.BIT1: 2, PaletteCaps.BIT2: 4, PaletteCaps.BIT4: 16}
    return next((size for flag, size in sizes.items() if flags & flag), 256)


@method("IDirectDrawPalette::SetEntries")
def set_entries(program: Program, call: Arguments) -> None:
    """Entries of a palette; surfaces that have it look different at once."""
    palette = call.thing("this", Palette)
    entries = _entries(call.value("lpEntries"))
    program.ddraw.set_entries(palette, call.integer("dwStartingEntry"), entries)
    if len(entries) < call.integer("dwCount"):
        raise Inexpressible(f"{len(entries)} of {call.integer('dwCount')} entries were recorded")


def _entries(value: object) -> list[tuple[int, int, int, int]]:
    names = "peRed", "peGreen", "peBlue", "peFlags"
    found = [members(structure(each), names, integer) for each in array(value)]
    return [(red & 255, green & 255, blue & 255, flags & 255) for red, green, blue, flags in found]


# Clippers


inert("IDirectDrawClipper", "AddRef GetClipList GetHWnd Initialize IsClipListChanged", _ASKED)


@method(*rows("CreateClipper"), "DirectDrawCreateClipper")
def create_clipper(program: Program, call: Arguments) -> None:
    """A clipper, which cuts off what is outside until it has a list of rectangles."""
    bind_argument(program, call, "lplpDDClipper", Clipper())


@method("IDirectDrawClipper::SetHWnd")
def set_window(program: Program, call: Arguments) -> None:
    """A window's region, which is not recorded: only the surface itself clips."""
    call.thing("this", Clipper).rects = None


@method("IDirectDrawClipper::SetClipList")
def set_clip_list(program: Program, call: Arguments) -> None:
    """Rectangles that blits are cut into."""
    clipper = call.thing("this", Clipper)
    if not call.has("lpClipList"):
        clipper.rects = None
        return
    clipper.rects = _region(call.struct("lpClipList"))


_SIDES = "left", "top", "right", "bottom"


def _region(region: Struct) -> tuple[Rect, ...]:
    """The rectangles of RGNDATA: one is its own bounds, more must have been recorded."""
    header = structure(member(region, "rdh"))
    count = integer(member(header, "nCount"))
    if count == 1:
        return (Rect(*members(structure(member(header, "rcBound")), _SIDES, integer)),)
    recorded = "Buffer" in region.signature.members
    found = array(member(region, "Buffer")) if recorded else ()
    if len(found) < count:
        raise Inexpressible(f"{len(found)} of {count} rectangles of the clip list were recorded")
    return tuple(Rect(*members(structure(each), _SIDES, integer)) for each in found)


# What hangs on surfaces


inert("IDirectDrawGammaControl", "AddRef GetGammaRamp SetGammaRamp",
      "Of what a monitor shows, not of what surfaces hold.")  # fmt: skip
inert("IDirectDrawColorControl", "AddRef GetColorControls SetColorControls",
      "Of what a monitor shows, not of what surfaces hold.")  # fmt: skip
lost("", "CompleteCreateSysmemSurface GetSurfaceFromDC DDInternalLock DDInternalUnlock "
     "DSoundHelp GetDDSurfaceLocal GetOLEThunkData RegisterSpecialCase "
     "DDGetAttachedSurfaceLcl", "an entry point that is not documented")  # fmt: skip
