"""Structures and constants of DXGI, by the SDK's names.

Source: the DXGI documentation of each structure and enumeration (dxgi.h, dxgi1_2.h to dxgi1_6.h).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple

import msgspec

from dp2emu.runtime10.descriptions import Rect, SampleDesc

_SINGLE = SampleDesc()


class SwapEffect(IntEnum):
    """DXGI_SWAP_EFFECT: what becomes of the back buffers when the first one is presented."""

    DISCARD = 0
    SEQUENTIAL = 1
    FLIP_SEQUENTIAL = 3
    FLIP_DISCARD = 4


class BufferUsage(IntFlag):
    """DXGI_USAGE: what a surface is used for."""

    SHADER_INPUT = 0x10
    RENDER_TARGET_OUTPUT = 0x20
    BACK_BUFFER = 0x40
    SHARED = 0x80
    READ_ONLY = 0x100
    DISCARD_ON_PRESENT = 0x200
    UNORDERED_ACCESS = 0x400


class Scaling(IntEnum):
    """DXGI_SCALING: how a back buffer of another size than the window is shown."""

    STRETCH = 0
    NONE = 1
    ASPECT_RATIO_STRETCH = 2


class AlphaMode(IntEnum):
    """DXGI_ALPHA_MODE."""

    UNSPECIFIED = 0
    PREMULTIPLIED = 1
    STRAIGHT = 2
    IGNORE = 3


class SwapChainFlag(IntFlag):
    """DXGI_SWAP_CHAIN_FLAG."""

    NONPREROTATED = 0x1
    ALLOW_MODE_SWITCH = 0x2
    GDI_COMPATIBLE = 0x4
    RESTRICTED_CONTENT = 0x8
    RESTRICT_SHARED_RESOURCE_DRIVER = 0x10
    DISPLAY_ONLY = 0x20
    FRAME_LATENCY_WAITABLE_OBJECT = 0x40
    FOREGROUND_LAYER = 0x80
    FULLSCREEN_VIDEO = 0x100
    YUV_VIDEO = 0x200
    HW_PROTECTED = 0x400
    ALLOW_TEARING = 0x800


class PresentFlag(IntFlag):
    """DXGI_PRESENT."""

    TEST = 0x1
    DO_NOT_SEQUENCE = 0x2
    RESTART = 0x4
    DO_NOT_WAIT = 0x8
    RESTRICT_TO_OUTPUT = 0x10
    STEREO_PREFER_RIGHT = 0x20
    STEREO_TEMPORARY_MONO = 0x40
    USE_DURATION = 0x100
    ALLOW_TEARING = 0x200


class WindowAssociation(IntFlag):
    """DXGI_MWA: messages of a window that DXGI does not watch."""

    NO_WINDOW_CHANGES = 0x1
    NO_ALT_ENTER = 0x2
    NO_PRINT_SCREEN = 0x4


class EnumModes(IntFlag):
    """DXGI_ENUM_MODES."""

    INTERLACED = 0x1
    SCALING = 0x2
    STEREO = 0x4
    DISABLED_STEREO = 0x8


class MapFlag(IntFlag):
    """DXGI_MAP."""

    READ = 0x1
    WRITE = 0x2
    DISCARD = 0x4


class Rotation(IntEnum):
    """DXGI_MODE_ROTATION."""

    UNSPECIFIED = 0
    IDENTITY = 1
    ROTATE90 = 2
    ROTATE180 = 3
    ROTATE270 = 4


class Window(msgspec.Struct, eq=False):
    """A window with a client area of ``width`` by ``height`` pixels.  Mutable: it has another size
    after ``SwapChain.resize_target``.
    """

    width: int
    height: int


class Rational(NamedTuple):
    """DXGI_RATIONAL; 0 by 0 is not specified."""

    Numerator: int = 0
    Denominator: int = 0


_UNSPECIFIED = Rational()
_IDENTITY = int(Rotation.IDENTITY)


class ModeDesc(NamedTuple):
    """DXGI_MODE_DESC: a display mode; 0 is a member that is not specified."""

    Width: int = 0
    Height: int = 0
    RefreshRate: Rational = _UNSPECIFIED
    Format: int = 0
    ScanlineOrdering: int = 0
    Scaling: int = 0


_MODE = ModeDesc()
_TARGET = int(BufferUsage.RENDER_TARGET_OUTPUT)
_DISCARD = int(SwapEffect.DISCARD)


class SwapChainDesc(NamedTuple):
    """DXGI_SWAP_CHAIN_DESC: width and height 0 are the size of the window's client area."""

    BufferDesc: ModeDesc = _MODE
    SampleDesc: SampleDesc = _SINGLE
    BufferUsage: int = _TARGET
    BufferCount: int = 1
    OutputWindow: Window | None = None
    Windowed: int = 1
    SwapEffect: int = _DISCARD
    Flags: int = 0


class SwapChainDesc1(NamedTuple):
    """DXGI_SWAP_CHAIN_DESC1: width and height 0 are the size of the window's client area."""

    Width: int = 0
    Height: int = 0
    Format: int = 0
    Stereo: int = 0
    SampleDesc: SampleDesc = _SINGLE
    BufferUsage: int = _TARGET
    BufferCount: int = 1
    Scaling: int = 0
    SwapEffect: int = _DISCARD
    AlphaMode: int = 0
    Flags: int = 0


class SwapChainFullscreenDesc(NamedTuple):
    """DXGI_SWAP_CHAIN_FULLSCREEN_DESC."""

    RefreshRate: Rational = _UNSPECIFIED
    ScanlineOrdering: int = 0
    Scaling: int = 0
    Windowed: int = 1


class Point(NamedTuple):
    """POINT, in pixels."""

    x: int = 0
    y: int = 0


class PresentParameters(NamedTuple):
    """DXGI_PRESENT_PARAMETERS: rectangles in pixels; without ``DirtyRects`` all is presented."""

    DirtyRects: tuple[Rect, ...] = ()
    ScrollRect: Rect | None = None
    ScrollOffset: Point | None = None


class FrameStatistics(NamedTuple):
    """DXGI_FRAME_STATISTICS: numbers of presentations and vertical blanks, and ticks of the
    performance counter.
    """

    PresentCount: int = 0
    PresentRefreshCount: int = 0
    SyncRefreshCount: int = 0
    SyncQPCTime: int = 0
    SyncGPUTime: int = 0


class Luid(NamedTuple):
    """LUID."""

    LowPart: int = 0
    HighPart: int = 0


class AdapterDesc(NamedTuple):
    """DXGI_ADAPTER_DESC2: memory sizes in bytes; GetDesc has the members up to AdapterLuid."""

    Description: str
    VendorId: int
    DeviceId: int
    SubSysId: int
    Revision: int
    DedicatedVideoMemory: int
    DedicatedSystemMemory: int
    SharedSystemMemory: int
    AdapterLuid: Luid
    Flags: int = 0
    GraphicsPreemptionGranularity: int = 0
    ComputePreemptionGranularity: int = 0


class OutputDesc(NamedTuple):
    """DXGI_OUTPUT_DESC: the rectangle of the desktop in pixels."""

    DeviceName: str
    DesktopCoordinates: Rect
    AttachedToDesktop: int = 1
    Rotation: int = _IDENTITY
    Monitor: int = 1


class SurfaceDesc(NamedTuple):
    """DXGI_SURFACE_DESC."""

    Width: int
    Height: int
    Format: int
    SampleDesc: SampleDesc = _SINGLE


class MappedRect(NamedTuple):
    """DXGI_MAPPED_RECT: bytes between rows, and the memory of the surface."""

    Pitch: int
    pBits: memoryview


class Rgb(NamedTuple):
    """DXGI_RGB."""

    Red: float
    Green: float
    Blue: float


class GammaControlCapabilities(NamedTuple):
    """DXGI_GAMMA_CONTROL_CAPABILITIES."""

    ScaleAndOffsetSupported: int
    MaxConvertedValue: float
    MinConvertedValue: float
    ControlPointPositions: tuple[float, ...]
