"""Targets, surfaces and what is moved between them."""

from __future__ import annotations

from dp2emu.capture.records import PictureKind
from dp2emu.d3d.enums import ComposeRectsOp, Pool, TextureFilter
from dp2emu.d3d.flags import DP2BLT_LINEAR, DP2BLT_POINT, Usage
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d9.held import (
    application,
    enumerator,
    format_of,
    hand_out,
    held,
    on,
    optional,
    picture,
    point_of,
    pool_of,
    rect,
)
from dp2emu.retrace.d3d9.root import DEVICES, EVERY_DEVICE
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, lost
from dp2emu.runtime.chains import samples_of
from dp2emu.runtime.objects import Rects
from dp2emu.runtime.resources import Resource

_FILTERS = {
    TextureFilter.NONE: 0,
    TextureFilter.POINT: DP2BLT_POINT,
    TextureFilter.LINEAR: DP2BLT_LINEAR,
}

lost("IDirect3DSurface9", "GetDC ReleaseDC", "what GDI draws is not recorded")


def _target(program: Program, call: Arguments, usage: Usage, sizes: tuple[str, str]) -> None:
    app = application(call)
    quality = call.integer("MultisampleQuality") if call.has("MultisampleQuality") else 0
    made = app.create_surface(
        call.integer("Width"),
        call.integer("Height"),
        format_of(call.integer("Format")),
        Pool.DEFAULT,
        samples=samples_of(call.integer("MultiSample"), quality),
        usage=usage,
    )
    hand_out(program, call, next(name for name in sizes if call.has(name)), app, made)


@on(EVERY_DEVICE, "CreateRenderTarget CreateRenderTargetEx")
def create_render_target(program: Program, call: Arguments) -> None:
    """A surface that can be drawn to."""
    _target(program, call, Usage.RENDERTARGET, ("ppSurface", "ppRenderTarget"))


@on(EVERY_DEVICE, "CreateDepthStencilSurface CreateDepthStencilSurfaceEx")
def create_depth_stencil_surface(program: Program, call: Arguments) -> None:
    """A surface for depth and stencil."""
    _target(program, call, Usage.DEPTHSTENCIL, ("ppSurface", "ppDepthStencilSurface"))


@on(DEVICES, "CreateOffscreenPlainSurface CreateOffscreenPlainSurfaceEx")
def create_offscreen_plain_surface(program: Program, call: Arguments) -> None:
    """A surface in its pool; of D3DPOOL_SCRATCH one as well, since read-backs may go there."""
    app = application(call)
    pool = pool_of(call.integer("Pool"))
    made = app.create_surface(
        call.integer("Width"),
        call.integer("Height"),
        format_of(call.integer("Format")),
        Pool.SYSTEMMEM if pool is Pool.SCRATCH else pool,
    )
    hand_out(program, call, "ppSurface", app, made)


# What is bound


@on(DEVICES, "SetRenderTarget")
def set_render_target(program: Program, call: Arguments) -> None:
    """A colour target; a new first one has viewport and scissor all of it."""
    surface = optional(call, Resource, "pRenderTarget")
    application(call).set_target(call.integer("RenderTargetIndex"), surface)


@on(DEVICES, "SetDepthStencilSurface")
def set_depth_stencil_surface(program: Program, call: Arguments) -> None:
    """The depth surface or none."""
    surface = optional(call, Resource, "pNewZStencil")
    application(call).device.set_depth_stencil(surface.desc if surface else None)


@on(EVERY_DEVICE, "GetRenderTarget")
def get_render_target(program: Program, call: Arguments) -> None:
    """The address of a bound target."""
    app = application(call)
    indexed = "RenderTargetIndex" in call.call.function.arguments
    desc = app.device.targets.get(call.integer("RenderTargetIndex") if indexed else 0)
    hand_out(program, call, "ppRenderTarget", app, app.resource(desc))


@on(EVERY_DEVICE, "GetDepthStencilSurface")
def get_depth_stencil_surface(program: Program, call: Arguments) -> None:
    """The address of the bound depth surface."""
    app = application(call)
    surface = app.resource(app.device.depth_stencil)
    hand_out(program, call, "ppZStencilSurface", app, surface)


# Moves


@on(DEVICES, "StretchRect")
def stretch_rect(program: Program, call: Arguments) -> None:
    """A blit on the GPU."""
    app = application(call)
    filter = enumerator(TextureFilter, call.integer("Filter"))
    if filter not in _FILTERS:
        raise Inexpressible(f"StretchRect with {filter.sdk}")
    source, target = (held(call, Resource, name)[1] for name in ("pSourceSurface", "pDestSurface"))
    rects = rect(call, "pSourceRect"), rect(call, "pDestRect")
    app.blit(source, target, rects, _FILTERS[filter])


@on(DEVICES, "ColorFill")
def color_fill(program: Program, call: Arguments) -> None:
    """A fill on the GPU, or of what is no format of targets a store."""
    app = application(call)
    target = held(call, Resource, "pSurface")[1]
    app.fill(target, rect(call, "pRect"), call.dword("color"))


@on(DEVICES, "UpdateSurface")
def update_surface(program: Program, call: Arguments) -> None:
    """A rectangle goes from system to video memory."""
    app = application(call)
    names = ("pSourceSurface", "pDestinationSurface")
    source, target = (held(call, Resource, name)[1] for name in names)
    point = point_of(call.struct("pDestPoint")) if call.has("pDestPoint") else (0, 0)
    app.copy(source, target, rect(call, "pSourceRect"), point)


@on(EVERY_DEVICE, "UpdateTexture")
def update_texture(program: Program, call: Arguments) -> None:
    """The dirty parts of all levels go from system to video memory."""
    app = application(call)
    names = ("pSourceTexture", "pDestinationTexture")
    source, target = (held(call, Resource, name)[1] for name in names)
    app.update_texture(source, target)


@on(DEVICES, "GetRenderTargetData")
def get_render_target_data(program: Program, call: Arguments) -> None:
    """A copy to system memory, and a picture of it."""
    app = application(call)
    source, target = (held(call, Resource, name)[1] for name in ("pRenderTarget", "pDestSurface"))
    app.blit(source, target, (None, None), 0)
    target.root.drawn.discard(target.index)
    picture(call, app, PictureKind.TARGET_DATA, target)


@on("IDirect3DDevice9Ex", "ComposeRects")
def compose_rects(program: Program, call: Arguments) -> None:
    """Rectangles of one monochrome surface are combined with another."""
    names = ("pSrc", "pDst", "pSrcRectDescs", "pDstRectDescs")
    found = [held(call, Resource, name)[1].desc for name in names]
    source, target, sources, places = (_needed(desc) for desc in found)
    offset = call.integer("Xoffset"), call.integer("Yoffset")
    operation = enumerator(ComposeRectsOp, call.integer("Operation"))
    rects = Rects(sources, places, call.integer("NumRects"), operation, offset)
    application(call).device.compose_rects(source, target, rects)


def _needed(desc: SurfaceDesc | None) -> SurfaceDesc:
    if desc is None:
        raise Inexpressible("a surface without memory at the driver")
    return desc


@on("IDirect3DDevice9Ex", "SetConvolutionMonoKernel")
def set_convolution_mono_kernel(program: Program, call: Arguments) -> None:
    """The size of the kernel that D3DTEXF_CONVOLUTIONMONO filters with."""
    size = call.integer("width"), call.integer("height")
    application(call).device.set_convolution_mono_kernel(*size)
