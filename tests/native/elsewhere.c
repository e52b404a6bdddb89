/* A driver that places surfaces itself and keeps their pictures elsewhere: DdLock fetches a
 * picture, DdUnlock takes it back, and what lies in between in the surface is rubbish.  A call
 * inverts all pictures.  Widths choose what DdCreateSurface does. */
#include <stdlib.h>
#include <string.h>

#include "dp2stub.h"

#define REFUSED 13u            /* this width is out of memory */
#define BLOCK 9u               /* of this width DirectDraw shall find a block */
#define LEFT 10u               /* this width is left to DirectDraw */
#define GAP 12u                /* bytes between rows */
#define READONLY 0x10u         /* DDLOCK_READONLY */
#define PLEASE_BLOCK 2u        /* DDHAL_PLEASEALLOC_BLOCKSIZE */

typedef DP2_NAME(DD_SURFACE_LOCAL) surface_local;
typedef DP2_NAME(DD_SURFACE_GLOBAL) surface_global;

typedef struct picture {
    struct picture *next;
    size_t row, rows;          /* bytes */
    int busy, readonly, own;
    dp2_u8 bytes[4096];
} picture;

static picture *pictures;
static int left;               /* surfaces that were made and not destroyed */

static surface_global *global_of(dp2_uptr local)
{
    return (surface_global *)((const surface_local *)local)->lpGbl;
}

static void rubbish(const surface_global *global, const picture *of)
{
    memset((void *)global->fpVidMem, 0xEE, (of->rows - 1) * (size_t)global->lPitch + of->row);
}

static void place(surface_global *global)
{
    picture *made = (picture *)calloc(1, sizeof(*made));
    made->row = (size_t)global->lPitch;
    made->rows = global->wHeight;
    made->next = pictures;
    made->busy = 2;
    made->own = global->wWidth != BLOCK;
    pictures = made;
    left++;
    global->dwReserved1 = (dp2_uptr)made;
    global->lPitch += GAP;
    if (made->own) {
        global->fpVidMem = (dp2_uptr)malloc(made->rows * (size_t)global->lPitch);
        rubbish(global, made);
        return;
    }
    global->fpVidMem = PLEASE_BLOCK;
    global->lpVidMemHeap = (dp2_uptr)global->lPitch; /* dwBlockSizeX */
    global->lSlicePitch = (dp2_i32)made->rows;       /* dwBlockSizeY */
}

dp2_u32 DP2_ENTRY DdCreateSurface(DP2_NAME(DD_CREATESURFACEDATA) *data)
{
    const dp2_uptr *list = (const dp2_uptr *)data->lplpSList;
    const DP2_NAME(DDSURFACEDESC2) *wanted =
        (const DP2_NAME(DDSURFACEDESC2) *)data->lpDDSurfaceDesc;
    dp2_u32 i;
    data->ddRVal = wanted->dwWidth == REFUSED ? DDERR_OUTOFMEMORY : 0;
    if (wanted->dwWidth == LEFT || wanted->dwSize != sizeof(*wanted))
        return DDHAL_DRIVER_NOTHANDLED;
    for (i = 0; !data->ddRVal && i < data->dwSCnt; i++)
        place(global_of(list[i]));
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY DdDestroySurface(DP2_NAME(DD_DESTROYSURFACEDATA) *data)
{
    surface_global *global = global_of(data->lpDDSurface);
    picture *gone = (picture *)global->dwReserved1, **at = &pictures;
    data->ddRVal = 0;
    if (!gone)
        return DDHAL_DRIVER_NOTHANDLED;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    left--;
    if (gone->own)
        free((void *)global->fpVidMem);
    free(gone);
    return DDHAL_DRIVER_HANDLED;
}

/* The first two tries find the picture still being drawn. */
dp2_u32 DP2_ENTRY DdLock(DP2_NAME(DD_LOCKDATA) *data)
{
    const surface_global *global = global_of(data->lpDDSurface);
    picture *of = (picture *)global->dwReserved1;
    size_t y;
    if (!of)
        return DDHAL_DRIVER_NOTHANDLED;
    data->ddRVal = of->busy > 0 ? DDERR_WASSTILLDRAWING : 0;
    if (of->busy-- > 0)
        return DDHAL_DRIVER_HANDLED;
    for (y = 0; y < of->rows; y++)
        memcpy((dp2_u8 *)global->fpVidMem + y * (size_t)global->lPitch, of->bytes + y * of->row,
               of->row);
    of->readonly = data->dwFlags & READONLY ? 1 : 0;
    data->lpSurfData = global->fpVidMem;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY DdUnlock(DP2_NAME(DD_UNLOCKDATA) *data)
{
    const surface_global *global = global_of(data->lpDDSurface);
    picture *of = (picture *)global->dwReserved1;
    size_t y;
    data->ddRVal = 0;
    if (!of)
        return DDHAL_DRIVER_NOTHANDLED;
    for (y = 0; !of->readonly && y < of->rows; y++)
        memcpy(of->bytes + y * of->row, (dp2_u8 *)global->fpVidMem + y * (size_t)global->lPitch,
               of->row);
    rubbish(global, of);
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data)
{
    data->ddRVal = 0;
    return DDHAL_DRIVER_HANDLED;
}

/* Answers with how many pictures there are. */
dp2_u32 DP2_ENTRY D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data)
{
    picture *each;
    size_t i;
    for (each = pictures; each; each = each->next)
        for (i = 0; i < sizeof(each->bytes); i++)
            each->bytes[i] ^= 0xFFu;
    data->dwErrorOffset = (dp2_u32)left;
    data->dwVertexSize = DDERR_GENERIC; /* where ddrval is: the offset is no size of an answer */
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextCreate(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data)
{
    data->ddrval = 0;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextDestroy(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data)
{
    data->ddrval = 0;
    return DDHAL_DRIVER_HANDLED;
}
