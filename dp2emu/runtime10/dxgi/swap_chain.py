"""IDXGISwapChain: back buffers of a device and their presentation, in a window.

Source: the DXGI documentation of IDXGISwapChain to IDXGISwapChain4, DXGI_SWAP_EFFECT and
DXGI_PRESENT.
"""

from __future__ import annotations

from typing import Any

from dp2emu.argument_check import checked
from dp2emu.ddi10.dxgi import PresentArguments
from dp2emu.ddi10.dxgi import PresentFlag as DdiPresentFlag
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import Texture2DDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.descriptions import (
    BufferUsage,
    FrameStatistics,
    ModeDesc,
    PresentFlag,
    PresentParameters,
    Rotation,
    SwapChainDesc,
    SwapChainDesc1,
    SwapChainFlag,
    SwapChainFullscreenDesc,
    SwapEffect,
    Window,
)
from dp2emu.runtime10.dxgi.objects import DxgiObject
from dp2emu.runtime10.dxgi.output import PERFORMANCE_FREQUENCY, REFRESH_RATE, Output, is_shown
from dp2emu.runtime10.dxgi.partial import check_partial, complete
from dp2emu.runtime10.dxgi.surface import bind_flags_of
from dp2emu.runtime10.dxgi.unbinding import unbind
from dp2emu.runtime10.enums import FeatureLevel
from dp2emu.runtime10.feature_levels import can_show
from dp2emu.runtime10.objects import Texture2D

MOST_BUFFERS = 16
"""DXGI_MAX_SWAP_CHAIN_BUFFERS."""
MOST_INTERVALS = 4
"""The largest sync interval, in vertical blanks."""
FLIPPING = (SwapEffect.FLIP_SEQUENTIAL, SwapEffect.FLIP_DISCARD)
"""The swap effects of the flip model."""
_PARTIAL = (SwapEffect.SEQUENTIAL, SwapEffect.FLIP_SEQUENTIAL)
"""The swap effects that keep the frame before, of which a presentation can leave parts as they
are."""
_FLIP_FORMATS = (10, 24, 28, 87)
"""R16G16B16A16_FLOAT, R10G10B10A2_UNORM, R8G8B8A8_UNORM and B8G8R8A8_UNORM, the formats of the
flip model."""
_STEREO = PresentFlag.STEREO_PREFER_RIGHT | PresentFlag.STEREO_TEMPORARY_MONO
_SRGB = 0
"""DXGI_COLOR_SPACE_RGB_FULL_G22_NONE_P709, the color space of swap chains."""


def _refuse(what: str) -> Refused:
    return Refused(Result.DXGI_ERROR_INVALID_CALL, what)


def check_desc(api: Api, level: FeatureLevel, desc: SwapChainDesc1) -> None:
    """Raise Refused (DXGI_ERROR_INVALID_CALL) for a description of a swap chain that DXGI
    rejects for a device of an interface and a feature level, and Unsupported for stereo.
    """
    if desc.Stereo:
        raise Unsupported("stereo swap chains")
    flips, single = desc.SwapEffect in FLIPPING, desc.SampleDesc.Count == 1
    if desc.SwapEffect not in SwapEffect._value2member_map_:
        raise _refuse(f"swap effect {desc.SwapEffect}")
    if not 1 + flips <= desc.BufferCount <= MOST_BUFFERS:
        raise _refuse(f"{desc.BufferCount} buffers")
    shown = is_shown(desc.Format) and can_show(level, desc.Format)
    if not shown or (flips and desc.Format not in _FLIP_FORMATS):
        raise _refuse(f"back buffers of format {desc.Format}")
    if not single and desc.SwapEffect != SwapEffect.DISCARD:
        raise _refuse(f"{desc.SampleDesc.Count} samples, but not DXGI_SWAP_EFFECT_DISCARD")
    if desc.BufferUsage & BufferUsage.UNORDERED_ACCESS and (api < Api.D3D11 or not single):
        raise _refuse("back buffers for unordered access")


@checked
class SwapChain(DxgiObject):
    """IDXGISwapChain of a ``device`` in a ``window``; without a window, for composition.  Mutable:
    buffers exchange their contents.

    ``buffers`` are the back buffers, the current one first.  Raises Refused
    (DXGI_ERROR_INVALID_CALL) for a description that DXGI rejects.
    """

    def __init__(
        self,
        factory: DxgiObject,
        device: Device,
        desc: SwapChainDesc1,
        window: Window | None,
        output: Output,
        mode: SwapChainFullscreenDesc | None = None,
    ) -> None:
        super().__init__()
        self.factory = factory
        self.device = device
        self.window = window
        self.output = output
        self._mode = mode or SwapChainFullscreenDesc()
        self._presents = 0
        self._shown_at = 0
        self._latency = 1
        self._color = (0.0, 0.0, 0.0, 0.0)
        check_desc(device.api, device.feature_level, desc)
        self.desc = desc._replace(
            Width=desc.Width or self._side("width"), Height=desc.Height or self._side("height")
        )
        self._source = self.desc[:2]
        self.buffers = self._made(self.desc)

    @property
    def flips(self) -> bool:
        """Whether the swap chain presents by the flip model."""
        return self.desc.SwapEffect in FLIPPING

    def _side(self, name: str) -> int:
        """The width or height of the window's client area."""
        if self.window is None:
            raise _refuse(f"a swap chain for composition without a {name}")
        size: int = getattr(self.window, name)
        return size

    def _made(self, desc: SwapChainDesc1) -> list[Texture2D]:
        """New back buffers; the swap chain keeps them alive."""
        described = Texture2DDesc(
            desc.Width, desc.Height, 1, 1, desc.Format, desc.SampleDesc,
            BindFlags=bind_flags_of(desc.BufferUsage),
        )  # fmt: skip
        buffers = [self.device.create_back_buffer(described) for _ in range(desc.BufferCount)]
        for index, each in enumerate(buffers):
            each.read_only = index > 0
            each.users += 1
            each.release()
        return buffers

    # Objects around

    def get_parent(self) -> Any:
        """GetParent: the factory, with a reference more."""
        self.factory.add_ref()
        return self.factory

    def get_device(self) -> Device:
        """GetDevice; unlike in C++, without a reference more."""
        return self.device

    def get_containing_output(self) -> Output:
        """GetContainingOutput: the output that shows the window, with a reference more."""
        self.output.add_ref()
        return self.output

    def get_hwnd(self) -> Window:
        """GetHwnd: the window.  Raises Refused (DXGI_ERROR_INVALID_CALL) without one."""
        if self.window is None:
            raise _refuse("a swap chain without a window")
        return self.window

    def get_core_window(self) -> Any:
        """GetCoreWindow.  Raises Refused (DXGI_ERROR_INVALID_CALL): there is none."""
        raise _refuse("a swap chain without a CoreWindow")

    # Buffers

    def get_buffer(self, buffer: int) -> Texture2D:
        """GetBuffer: a back buffer, with a reference more.

        Only buffer 0 can be drawn to, others have no views for output; with
        DXGI_SWAP_EFFECT_DISCARD there is no access to them.
        Raises Refused (DXGI_ERROR_INVALID_CALL) for a buffer that does not exist.
        """
        self._check_there()
        discards = self.desc.SwapEffect == SwapEffect.DISCARD
        if not 0 <= buffer < (1 if discards else len(self.buffers)):
            raise _refuse(f"buffer {buffer}")
        self.buffers[buffer].add_ref()
        return self.buffers[buffer]

    def get_current_back_buffer_index(self) -> int:
        """GetCurrentBackBufferIndex: 0, since the buffers of Direct3D 10 and 11 exchange their
        contents.
        """
        return 0

    def resize_buffers(
        self, count: int = 0, width: int = 0, height: int = 0, format: int = 0, flags: int = 0
    ) -> None:
        """ResizeBuffers: new buffers.  A ``count`` or ``format`` of 0 stays as it is; a ``width``
        or ``height``, in pixels, of 0 is the side of the window's client area.  ``flags`` are
        ``SwapChainFlag``.

        Raises Refused (DXGI_ERROR_INVALID_CALL) while there are references to buffers, or views of
        them, and for a description that DXGI rejects.
        """
        self._check_there()
        used = [each for each in self.buffers if each.references or each.users > 1]
        if used:
            raise _refuse(f"ResizeBuffers while {len(used)} buffers are in use")
        changed = SwapChainFlag.ALLOW_TEARING | SwapChainFlag.FRAME_LATENCY_WAITABLE_OBJECT
        if (flags ^ self.desc.Flags) & changed and self.flips:
            raise _refuse(f"ResizeBuffers with other flags: {flags:#x}")
        desc = self.desc._replace(
            BufferCount=count or self.desc.BufferCount,
            Width=width or self._side("width"),
            Height=height or self._side("height"),
            Format=format or self.desc.Format,
            Flags=flags,
        )
        check_desc(self.device.api, self.device.feature_level, desc)
        before, self.buffers = self.buffers, self._made(desc)
        self.desc, self._source = desc, desc[:2]
        for each in before:
            each.drop()

    def resize_target(self, mode: ModeDesc) -> None:
        """ResizeTarget: give the window's client area the size of ``mode``."""
        window = self.get_hwnd()
        window.width, window.height = mode.Width or window.width, mode.Height or window.height

    def set_source_size(self, width: int, height: int) -> None:
        """SetSourceSize: ``width`` and ``height``, in pixels, of the part of the buffers that is
        shown.

        Raises Refused (DXGI_ERROR_INVALID_CALL) if it is empty or larger than the buffers, or
        without the flip model.
        """
        inside = 0 < width <= self.desc.Width and 0 < height <= self.desc.Height
        if not self.flips or not inside:
            raise _refuse(f"a source of {width} by {height}")
        self._source = width, height

    def get_source_size(self) -> tuple[int, int]:
        """GetSourceSize: width and height in pixels."""
        return self._source

    # Descriptions

    def get_desc(self) -> SwapChainDesc:
        """GetDesc."""
        desc, mode = self.desc, self._mode
        shown = ModeDesc(
            desc.Width, desc.Height, mode.RefreshRate, desc.Format, mode.ScanlineOrdering,
            mode.Scaling,
        )  # fmt: skip
        return SwapChainDesc(
            shown, desc.SampleDesc, desc.BufferUsage, desc.BufferCount, self.window,
            1, desc.SwapEffect, desc.Flags,
        )  # fmt: skip

    def get_desc1(self) -> SwapChainDesc1:
        """GetDesc1."""
        return self.desc

    def get_fullscreen_desc(self) -> SwapChainFullscreenDesc:
        """GetFullscreenDesc.  Raises Refused (DXGI_ERROR_INVALID_CALL) without a window."""
        self.get_hwnd()
        return self._mode

    def get_fullscreen_state(self) -> tuple[bool, Output | None]:
        """GetFullscreenState: not full-screen, and no output."""
        return False, None

    def set_fullscreen_state(self, fullscreen: bool, target: Output | None = None) -> None:
        """SetFullscreenState; a window stays a window.

        Raises Refused: DXGI_ERROR_NOT_CURRENTLY_AVAILABLE for ``fullscreen``,
        DXGI_ERROR_INVALID_CALL for a ``target`` without it.
        """
        if fullscreen:
            raise Refused(Result.DXGI_ERROR_NOT_CURRENTLY_AVAILABLE, "full-screen mode")
        if target is not None:
            raise _refuse("an output for a window")

    # Presentation

    def present(self, sync_interval: int = 0, flags: int = 0) -> None:
        """Present the first buffer, ``sync_interval`` vertical blanks after the one before.

        ``flags`` are ``PresentFlag``; with TEST nothing is presented, with DO_NOT_SEQUENCE the
        frame that is shown is presented again.  With other swap effects than DISCARD the buffers
        exchange their contents: each gets the contents of the next one, the last one the first's.
        In the flip model buffer 0 is unbound.  Raises Refused (DXGI_ERROR_INVALID_CALL).
        """
        self.present1(sync_interval, flags, PresentParameters())

    def present1(self, sync_interval: int, flags: int, parameters: PresentParameters) -> None:
        """Present1: ``sync_interval`` and ``flags`` as for ``present``; the frame before stays,
        scrolled, outside of the dirty rectangles.
        """
        self._check_there()
        self._check_present(sync_interval, flags)
        if parameters != PresentParameters():
            keeps = self.desc.SwapEffect in _PARTIAL and self._presents > 0
            check_partial(parameters, self.desc[:2], keeps)
        if flags & PresentFlag.TEST:
            return
        again = bool(flags & PresentFlag.DO_NOT_SEQUENCE)
        if again and not self._presents:
            return  # without a frame that is shown, DXGI ignores the call
        if parameters.DirtyRects and not again:
            complete(self.device, parameters, self.buffers[0], self.buffers[-1])
        self._show(self.buffers[-1 if again else 0], sync_interval)
        if not again:
            self._sequence()

    def _check_there(self) -> None:
        if not self.buffers:
            raise _refuse("a swap chain that was released")

    def _check_present(self, interval: int, flags: int) -> None:
        known = sum(PresentFlag)
        tears = flags & PresentFlag.ALLOW_TEARING
        tearing = self.desc.Flags & SwapChainFlag.ALLOW_TEARING and not interval
        if not 0 <= interval <= MOST_INTERVALS or flags & ~known:
            raise _refuse(f"Present with interval {interval} and flags {flags:#x}")
        if flags & (PresentFlag.RESTRICT_TO_OUTPUT | _STEREO):
            raise _refuse("Present to an output or in stereo of a swap chain without them")
        if tears and not (self.flips and tearing):
            raise _refuse("Present with tearing of a swap chain without it")
        if flags & PresentFlag.USE_DURATION:
            raise Unsupported("DXGI_PRESENT_USE_DURATION")

    def _show(self, buffer: Texture2D, interval: int) -> None:
        arguments = PresentArguments(buffer.memory, Flags=DdiPresentFlag.FLIP)
        self.device.driver.dxgi("Present", arguments._replace(FlipInterval=interval))
        self._presents += 1
        self.output.refreshes += interval
        self._shown_at = self.output.refreshes

    def _sequence(self) -> None:
        """Exchange the contents of the buffers after a presentation."""
        if self.flips:
            unbind(self.device.context, self.buffers[0])
        if self.desc.SwapEffect != SwapEffect.DISCARD and len(self.buffers) > 1:
            handles = tuple(each.memory for each in self.buffers)
            self.device.driver.dxgi("RotateResourceIdentities", handles)

    def get_last_present_count(self) -> int:
        """GetLastPresentCount: the number of presentations."""
        return self._presents

    def get_frame_statistics(self) -> FrameStatistics:
        """GetFrameStatistics of the flip model.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for other swap effects.
        """
        if not self.flips:
            raise _refuse("statistics of a swap chain without the flip model")
        refreshes = self.output.refreshes
        ticks = refreshes * PERFORMANCE_FREQUENCY // REFRESH_RATE.Numerator
        return FrameStatistics(self._presents, self._shown_at, refreshes, ticks)

    # Later interfaces

    def set_background_color(self, color: tuple[float, float, float, float]) -> None:
        """SetBackgroundColor: ``color`` is red, green, blue and alpha around the picture."""
        self._color = color

    def get_background_color(self) -> tuple[float, float, float, float]:
        """GetBackgroundColor."""
        return self._color

    def set_rotation(self, rotation: int) -> None:
        """SetRotation; ``rotation`` is a ``Rotation``.

        Raises Refused (DXGI_ERROR_INVALID_CALL) without the flip model, and Unsupported for a
        turn.
        """
        if not self.flips or not 0 < rotation <= Rotation.ROTATE270:
            raise _refuse(f"rotation {rotation}")
        if rotation != Rotation.IDENTITY:
            raise Unsupported("SetRotation: rotated swap chains")

    def get_rotation(self) -> int:
        """GetRotation: DXGI_MODE_ROTATION_IDENTITY."""
        return int(Rotation.IDENTITY)

    def get_restrict_to_output(self) -> Output | None:
        """GetRestrictToOutput: none."""
        return None

    def is_temporary_mono_supported(self) -> bool:
        """IsTemporaryMonoSupported: False, without stereo."""
        return False

    def _check_waitable(self) -> None:
        if not self.desc.Flags & SwapChainFlag.FRAME_LATENCY_WAITABLE_OBJECT:
            raise _refuse("a swap chain without FRAME_LATENCY_WAITABLE_OBJECT")

    def set_maximum_frame_latency(self, latency: int) -> None:
        """SetMaximumFrameLatency; ``latency`` is in frames.  Raises Refused
        (DXGI_ERROR_INVALID_CALL) for 0, more than 16, or without FRAME_LATENCY_WAITABLE_OBJECT.
        """
        self._check_waitable()
        if not 0 < latency <= MOST_BUFFERS:
            raise _refuse(f"a latency of {latency} frames")
        self._latency = latency

    def get_maximum_frame_latency(self) -> int:
        """GetMaximumFrameLatency, in frames.  Raises Refused (DXGI_ERROR_INVALID_CALL) without
        FRAME_LATENCY_WAITABLE_OBJECT.
        """
        self._check_waitable()
        return self._latency

    def get_frame_latency_waitable_object(self) -> Any:
        """GetFrameLatencyWaitableObject.  Raises Unsupported."""
        raise Unsupported("GetFrameLatencyWaitableObject")

    def set_matrix_transform(self, matrix: tuple[float, ...]) -> None:
        """SetMatrixTransform to a ``matrix`` of 3 x 2.  Raises Unsupported."""
        raise Unsupported("SetMatrixTransform of a swap chain")

    def check_color_space_support(self, color_space: int) -> int:
        """CheckColorSpaceSupport: 1 (PRESENT) for the ``color_space`` of sRGB, else 0."""
        return int(color_space == _SRGB)

    def set_color_space1(self, color_space: int) -> None:
        """SetColorSpace1.  Raises Refused (DXGI_ERROR_INVALID_CALL) for a ``color_space`` that is
        not supported.
        """
        if not self.check_color_space_support(color_space):
            raise _refuse(f"color space {color_space}")

    def set_hdr_meta_data(self, kind: int, data: bytes | None = None) -> None:
        """SetHDRMetaData; ``kind`` is only DXGI_HDR_METADATA_TYPE_NONE, without ``data``.  Raises
        Unsupported.
        """
        if kind:
            raise Unsupported("SetHDRMetaData")

    def _end(self) -> None:
        """The buffers live on only where they are used."""
        for each in self.buffers:
            each.drop()
        self.buffers = []
