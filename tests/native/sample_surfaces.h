/* Members of a surface's structures, as the sample driver needs them; no other file reads them. */
#ifndef SAMPLE_SURFACES_H
#define SAMPLE_SURFACES_H

#include "dp2stub.h"

#define RGB_PIXELS 0x40u
#define ZBUFFER_PIXELS 0x400u
#define TEXTURE 0x1000u
#define TEXTURE_MANAGED 0x10u

/* What a surface holds, as far as the driver tells it apart. */
enum pixels { NO_PIXELS, COLORS, DEPTHS, OTHER_PIXELS };

static const DD_SURFACE_GLOBAL *surface_global(dp2_uptr local)
{
    return (const DD_SURFACE_GLOBAL *)((const DD_SURFACE_LOCAL *)local)->lpGbl;
}

static dp2_u32 surface_handle(dp2_uptr local)
{
    const DD_SURFACE_LOCAL *surface = (const DD_SURFACE_LOCAL *)local;
    return ((const DD_SURFACE_MORE *)surface->lpSurfMore)->dwSurfaceHandle;
}

/* NULL of a surface that is being destroyed. */
static dp2_u8 *surface_bytes(dp2_uptr local)
{
    return (dp2_u8 *)surface_global(local)->fpVidMem;
}

static dp2_u32 surface_pitch(dp2_uptr local)
{
    return (dp2_u32)surface_global(local)->lPitch;
}

static dp2_u32 surface_width(dp2_uptr local)
{
    return surface_global(local)->wWidth;
}

static dp2_u32 surface_height(dp2_uptr local)
{
    return surface_global(local)->wHeight;
}

#define LEAST_SIDE 2  /* of textures, which must have more texels */

/* Whether a surface is a texture of the driver's own that is too small for it. */
static int surface_is_small_texture(dp2_uptr local)
{
    const DD_SURFACE_LOCAL *surface = (const DD_SURFACE_LOCAL *)local;
    const DD_SURFACE_MORE *more = (const DD_SURFACE_MORE *)surface->lpSurfMore;
    return (surface->ddsCaps.dwCaps & TEXTURE) && !(more->ddsCapsEx.dwCaps2 & TEXTURE_MANAGED) &&
           surface_width(local) == LEAST_SIDE;
}

/* COLORS are A8R8G8B8 and X8R8G8B8 alone, DEPTHS of 16 bits. */
static enum pixels surface_pixels(dp2_uptr local)
{
    const DDPIXELFORMAT *format = &surface_global(local)->ddpfSurface;
    if (!format->dwFlags)
        return NO_PIXELS;
    if (format->dwFlags & ZBUFFER_PIXELS)
        return format->dwRGBBitCount == 16 ? DEPTHS : OTHER_PIXELS;  /* dwZBufferBitDepth */
    if (!(format->dwFlags & RGB_PIXELS) || format->dwRGBBitCount != 32 ||
        format->dwRBitMask != 0xff0000 || format->dwBBitMask != 0xff)
        return OTHER_PIXELS;
    return COLORS;
}

#endif
