/* A driver of nothing but surfaces: DdFlip, DdBlt and DdSetColorKey, for a test to see what comes. */
#include "accepting.h"

#define FILL 0x400u            /* DDBLT_COLORFILL */
#define HAS_KEY 0x800u         /* DDRAWISURF_HASCKEYSRCBLT */
#define HANDLED 1u
#define NOT_HANDLED 0u
#define INVALID 0x80070057u

static dp2_u32 *row(dp2_uptr local, dp2_i32 y)
{
    const DP2_NAME(DD_SURFACE_LOCAL) *surface = (const DP2_NAME(DD_SURFACE_LOCAL) *)local;
    const DP2_NAME(DD_SURFACE_GLOBAL) *memory =
        (const DP2_NAME(DD_SURFACE_GLOBAL) *)surface->lpGbl;
    return (dp2_u32 *)(memory->fpVidMem + (size_t)y * (size_t)memory->lPitch);
}

/* Puts its mark into what is shown, before the two are exchanged. */
dp2_u32 DdFlip(DP2_NAME(DD_FLIPDATA) *data)
{
    row(data->lpSurfCurr, 0)[0] = 0xF11Fu;
    data->ddRVal = data->lpSurfCurr == data->lpSurfTarg ? INVALID : 0;
    return HANDLED;
}

/* Fills and plain copies without stretching; the rest is left to others. */
dp2_u32 DdBlt(DP2_NAME(DD_BLTDATA) *data)
{
    dp2_i32 x, y;
    if (data->bltFX.dwSize != sizeof data->bltFX || data->dwFlags & ~FILL)
        return NOT_HANDLED;
    for (y = data->rDest.top; y < data->rDest.bottom; y++)
        for (x = data->rDest.left; x < data->rDest.right; x++)
            row(data->lpDDDestSurface, y)[x] =
                data->dwFlags & FILL
                    ? (dp2_u32)data->bltFX.lpDDSPattern
                    : row(data->lpDDSrcSurface, y - data->rDest.top + data->rSrc.top)
                          [x - data->rDest.left + data->rSrc.left];
    data->ddRVal = 0;
    return HANDLED;
}

/* Writes the key into the surface, from the call and from the surface's description. */
dp2_u32 DdSetColorKey(DP2_NAME(DD_DRVSETCOLORKEYDATA) *data)
{
    const DP2_NAME(DD_SURFACE_LOCAL) *surface =
        (const DP2_NAME(DD_SURFACE_LOCAL) *)data->lpDDSurface;
    if (data->dwFlags != 8 || !(surface->dwFlags & HAS_KEY))
        return NOT_HANDLED;
    row(data->lpDDSurface, 0)[0] = data->ckNew.dwColorSpaceLowValue;
    row(data->lpDDSurface, 0)[1] = surface->ddckCKSrcBlt.dwColorSpaceHighValue;
    data->ddRVal = 0;
    return HANDLED;
}
