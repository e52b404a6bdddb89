/* A driver that writes into surfaces what their structures say, for a test to read. */
#include "dp2stub.h"

#define LEVELS 16u             /* the width of a texture whose levels are described */
#define PLACED 3u              /* the width of a surface that is told where it lies */

typedef DP2_NAME(DD_SURFACE_LOCAL) surface_local;
typedef DP2_NAME(DD_SURFACE_GLOBAL) surface_global;
typedef DP2_NAME(DD_ATTACHLIST) attach_list;

static dp2_u8 arena[1u << 22];
static size_t used;

void *from_arena(size_t size)
{
    size_t at = used, end = at + (size + 15) / 16 * 16;
    if (end > sizeof(arena))
        return NULL;
    used = end;
    while (end-- > at)
        arena[end] = 0;
    return arena + at;
}

void to_arena(void *memory)
{
    (void)memory;
}

static const surface_global *global_of(const surface_local *local)
{
    return (const surface_global *)local->lpGbl;
}

/* Whether entries of attach lists name the same surfaces by their interfaces, which Windows 9x has. */
static int interfaces_match(const attach_list *each, const attach_list *from)
{
#ifdef DP2STUB_9X
    const DP2_NAME(DDRAWI_DDRAWSURFACE_INT) *to =
        (const DP2_NAME(DDRAWI_DDRAWSURFACE_INT) *)each->lpIAttached;
    const DP2_NAME(DDRAWI_DDRAWSURFACE_INT) *back =
        (const DP2_NAME(DDRAWI_DDRAWSURFACE_INT) *)from->lpIAttached;
    return to->lpLcl == each->lpAttached && back->lpLcl == from->lpAttached;
#else
    (void)each, (void)from;
    return 1;
#endif
}

/* Width, height, pitch, the number of attached surfaces, and the faces of a cube. */
static void describe(const surface_local *local)
{
    const surface_global *global = global_of(local);
    const DP2_NAME(DD_SURFACE_MORE) *more = (const DP2_NAME(DD_SURFACE_MORE) *)local->lpSurfMore;
    const attach_list *each = (const attach_list *)local->lpAttachList;
    dp2_u32 *words = (dp2_u32 *)global->fpVidMem;
    dp2_u32 attached = 0, next = 0;
    for (; each; each = (const attach_list *)each->lpLink) {
        const surface_local *other = (const surface_local *)each->lpAttached;
        const attach_list *from = (const attach_list *)other->lpAttachListFrom;
        attached += (const surface_local *)from->lpAttached == local && interfaces_match(each, from);
        next = next ? next : (dp2_u32)(global_of(other)->fpVidMem - global->fpVidMem);
        describe(other);
    }
    words[0] = (dp2_u32)global->wWidth | (dp2_u32)global->wHeight << 8 |
               (dp2_u32)global->lPitch << 16 | attached << 24;
    if (global->lPitch > 4)
        words[1] = next;
    if (global->lPitch > 8)
        words[2] = more->ddsCapsEx.dwCaps2;
}

dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data)
{
    const surface_local *local = (const surface_local *)data->lpDDSLcl;
    const surface_global *global = global_of(local);
    dp2_u32 *words = (dp2_u32 *)global->fpVidMem;
    if (words && global->wWidth == LEVELS)
        describe(local);
    if (words && global->wWidth == PLACED) {
        words[0] = (dp2_u32)(global->fpVidMem >> 31 != 0);
        words[1] = (dp2_u32)((dp2_uptr)local >> 31 != 0);
        words[2] = (dp2_u8 *)words >= arena && (dp2_u8 *)words < arena + sizeof(arena);
    }
    data->ddRVal = 0;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data)
{
    data->dwErrorOffset = 0;
    data->dwVertexSize = 0; /* where ddrval is */
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
