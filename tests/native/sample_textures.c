/* Texture stage 0 of the sample driver: the nearest texel, and what it becomes with a colour. */
#include "sample.h"

#define OUTSIDE (-1)
#define CLAMP 3
#define MIRROR 2
#define BORDER 4
#define ARGUMENT 0xfu
#define TEXEL 2u  /* D3DTA_TEXTURE; the other arguments are the vertex's colour at this stage */
#define ONE 65536

static dp2_i32 floor_of(dp2_i64 value, dp2_i64 by)
{
    return (dp2_i32)(value < 0 ? -((by - 1 - value) / by) : value / by);
}

/* The column or row that a coordinate means, or OUTSIDE. */
static dp2_i32 addressed(dp2_i32 coordinate, dp2_i32 size, dp2_u32 mode)
{
    dp2_i32 at = floor_of((dp2_i64)coordinate * size, ONE);
    if (at >= 0 && at < size)
        return at;
    switch (mode) {
    case CLAMP:
        return at < 0 ? 0 : size - 1;
    case BORDER:
        return OUTSIDE;
    case MIRROR:
#ifndef BUG_MIRROR_WRAPS
        at -= floor_of(at, 2 * size) * 2 * size;
        return at < size ? at : 2 * size - 1 - at;
#endif
    default:
        return at - floor_of(at, size) * size;
    }
}

/* A texel's bits of one channel, as 0 to 255. */
static dp2_u32 channel(dp2_u32 word, dp2_u32 mask)
{
    while (!(mask & 1)) {
        mask >>= 1;
        word >>= 1;
    }
    return (dp2_u32)(((dp2_i64)(word & mask) * 255 + mask / 2) / mask);
}

static dp2_u32 texel(const context *of, const texture *from, dp2_i32 u, dp2_i32 v)
{
    dp2_i32 x = addressed(u, from->width, of->stage[ADDRESSU]);
    dp2_i32 y = addressed(v, from->height, of->stage[ADDRESSV]);
    const dp2_u8 *at;
    dp2_u32 word = 0, color = from->missing, i;
    if (x == OUTSIDE || y == OUTSIDE)
        return of->stage[BORDERCOLOR];
    at = from->bytes + (size_t)y * from->pitch + (size_t)x * from->size;
    for (i = 0; i < from->size; i++)
        word |= (dp2_u32)at[i] << 8 * i;
    for (i = 0; i < 4; i++)
        if (from->masks[i])
            color = (color & ~(0xffu << 8 * i)) | channel(word, from->masks[i]) << 8 * i;
    return color;
}

static dp2_u32 limited(dp2_u32 value)
{
    return value > 255 ? 255 : value;
}

/* A D3DTEXTUREOP of two numbers from 0 to 255. */
static dp2_u32 operated(dp2_u32 operation, dp2_u32 one, dp2_u32 other)
{
    dp2_u32 product = (one * other + 127) / 255;
    switch (operation) {
    case 2:
        return one;
    case 4:
        return product;
    case 5:
        return limited(2 * product);
    case 6:
        return limited(4 * product);
    case 7:
        return limited(one + other);
    case 10:
        return one > other ? one - other : 0;
    case 11:
#ifdef BUG_ADDSMOOTH_TWICE
        return limited(one + other - 2 * product);
#else
        return one + other - product;
#endif
    default:
        return other;
    }
}

dp2_u32 sample_stage(const context *of, const texture *from, dp2_u32 color, dp2_i32 u, dp2_i32 v)
{
    dp2_u32 found, made = 0;
    int shift;
    if (!from->bytes || !from->width || !from->height || of->stage[COLOROP] <= 1)
        return color;
    found = texel(of, from, u, v);
    for (shift = 0; shift < 32; shift += 8) {
#ifdef BUG_ALPHAOP_IGNORED
        const dp2_u32 *said = of->stage + COLOROP;
#else
        const dp2_u32 *said = of->stage + (shift < 24 ? COLOROP : ALPHAOP);
#endif
        dp2_u32 one = (said[1] & ARGUMENT) == TEXEL ? found : color;
        dp2_u32 other = (said[2] & ARGUMENT) == TEXEL ? found : color;
        made |= operated(said[0], one >> shift & 0xff, other >> shift & 0xff) << shift;
    }
    return made;
}
