/* Members of a surface's structures, as the sample driver needs them; no other file reads them. */
#ifndef SAMPLE_SURFACES_H
#define SAMPLE_SURFACES_H

#include "sample.h"

#define HAS_ALPHA 0x1u
#define ALPHA_PIXELS 0x2u
#define INDEXED_PIXELS 0x20u
#define RGB_PIXELS 0x40u
#define ZBUFFER_PIXELS 0x400u
#define LUMINANCE_PIXELS 0x20000u

/* What a surface holds, as far as the driver tells it apart. */
enum pixels { NO_PIXELS, COLORS, DEPTHS, OTHER_PIXELS };

static const DD_SURFACE_GLOBAL *surface_global(dp2_uptr local)
{
    return (const DD_SURFACE_GLOBAL *)((const DD_SURFACE_LOCAL *)local)->lpGbl;
}

#ifndef SAMPLE_EARLY /* such drivers make handles themselves */
static dp2_u32 surface_handle(dp2_uptr local)
{
    const DD_SURFACE_LOCAL *surface = (const DD_SURFACE_LOCAL *)local;
    return ((const DD_SURFACE_MORE *)surface->lpSurfMore)->dwSurfaceHandle;
}

/* Depth of more than 16 bits, which no draw could use. */
static int surface_is_deeper(dp2_uptr local)
{
    const DDPIXELFORMAT *format = &surface_global(local)->ddpfSurface;
    return (format->dwFlags & ZBUFFER_PIXELS) && format->dwRGBBitCount != 16;
}
#endif

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

/* Which bits of a texel are blue, green, red and alpha; 0 if the driver does not know them. */
static int texel_masks(const DDPIXELFORMAT *format, texture *made)
{
    int i;
    made->size = format->dwRGBBitCount / 8;
    made->missing = 0xff000000u;
    made->masks[3] = format->dwFlags & HAS_ALPHA ? format->dwRGBAlphaBitMask : 0;
    if (format->dwFlags & RGB_PIXELS && !(format->dwFlags & INDEXED_PIXELS)) {
        made->masks[0] = format->dwBBitMask;
        made->masks[1] = format->dwGBitMask;
        made->masks[2] = format->dwRBitMask;
    } else if (format->dwFlags & LUMINANCE_PIXELS) {
        for (i = 0; i < 3; i++)
            made->masks[i] = format->dwRBitMask;
    } else if (format->dwFlags & ALPHA_PIXELS) {
        made->masks[0] = made->masks[1] = made->masks[2] = made->missing = 0;
        made->masks[3] = 0xff;
    } else {
        return 0;
    }
    return made->size > 0 && made->size <= 4;
}

static texture texture_of(dp2_uptr local)
{
    texture made;
    made.bytes = NULL;
    made.width = (dp2_i32)surface_width(local);
    made.height = (dp2_i32)surface_height(local);
    made.pitch = surface_pitch(local);
    if (texel_masks(&surface_global(local)->ddpfSurface, &made))
        made.bytes = surface_bytes(local);
    return made;
}

#endif
