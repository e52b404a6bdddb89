/*
 * dp2stub.h: serve a display driver to dp2emu over any stream of bytes.
 *
 * C89, no library, no allocation of its own.  Both sides say DP2LOG_MAGIC and then records as in a
 * raw driver log (dp2log.h); to each of the rig's the stub gives one back.  What is asked, what is
 * answered and what the payloads hold is listed in docs/rigs.rst.
 *
 * Fill in the members of a dp2stub up to `room`, everything else being 0, and call dp2stub_serve.
 */
#ifndef DP2STUB_H
#define DP2STUB_H

#include "dp2.h"
#include "dp2log.h"

#ifndef DP2_ENTRY
#if defined(_WIN32) && defined(__GNUC__)
#define DP2_ENTRY __attribute__((stdcall))
#elif defined(_WIN32)
#define DP2_ENTRY __stdcall
#else
#define DP2_ENTRY
#endif
#endif

#ifndef DP2STUB_SURFACES
#define DP2STUB_SURFACES 256
#endif
#ifndef DP2STUB_CONTEXTS
#define DP2STUB_CONTEXTS 16
#endif

#define DP2STUB_VERSION 1

/* What a rig asks, beside records of a log. */
#define DP2STUB_HELLO 0x101
#define DP2STUB_MAKE 0x102
#define DP2STUB_READ 0x103
#define DP2STUB_FINISH 0x104
#define DP2STUB_ASK_INFO 0x105
/* What it is given back, beside DP2LOG_ANSWER and DP2LOG_MEMORY. */
#define DP2STUB_WELCOME 0x181
#define DP2STUB_DONE 0x182
#define DP2STUB_INFO 0x183
/* Results of the stub's own. */
#define DP2STUB_CORRUPT 0xE0000001u
#define DP2STUB_UNKNOWN 0xE0000002u

#define DP2STUB_MAKE_BYTES 96
#define DP2STUB_CALL_BYTES 16
#define DP2STUB_FLIP_BYTES 16
#define DP2STUB_BLIT_BYTES 80
#define DP2STUB_COLORKEY_BYTES 20
#define DP2STUB_GUID_BYTES 16
#define DP2STUB_MOST_FORMATS 1024u

#define DP2STUB_SRCBLT 0x8u             /* DDCKEY_SRCBLT */
#define DP2STUB_HASCKEYSRCBLT 0x800u    /* DDRAWISURF_HASCKEYSRCBLT */

typedef DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) dp2stub_call_data;

/* The driver's entry points; only drawing is a must.  The last four are DdFlip, DdBlt,
 * DdSetColorKey and DdGetDriverInfo. */
typedef struct dp2stub_driver {
    dp2_u32 (DP2_ENTRY *draw)(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data);
    dp2_u32 (DP2_ENTRY *create)(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data);
    dp2_u32 (DP2_ENTRY *destroy)(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data);
    dp2_u32 (DP2_ENTRY *surface)(DP2_NAME(DD_CREATESURFACEEXDATA) *data);
    dp2_u32 (DP2_ENTRY *flip)(DP2_NAME(DD_FLIPDATA) *data);
    dp2_u32 (DP2_ENTRY *blit)(DP2_NAME(DD_BLTDATA) *data);
    dp2_u32 (DP2_ENTRY *key)(DP2_NAME(DD_DRVSETCOLORKEYDATA) *data);
    dp2_u32 (DP2_ENTRY *info)(DP2_NAME(DD_GETDRIVERINFODATA) *data);
} dp2stub_driver;

typedef struct dp2stub_surface {
    dp2log_u64 handle;
    dp2_u8 *block; /* what was reserved, for this surface or for one it is a part of */
    dp2_u8 *memory;
    size_t size;
    DP2_NAME(DD_SURFACE_LOCAL) local;
    DP2_NAME(DD_SURFACE_GLOBAL) global;
    DP2_NAME(DD_SURFACE_MORE) more;
} dp2stub_surface;

typedef struct dp2stub_context {
    dp2log_u64 number;
    dp2_uptr driver;
    int used;
} dp2stub_context;

typedef struct dp2stub {
    dp2stub_driver driver;
    /* All of `size` bytes, or 0. */
    int (*read)(void *stream, void *data, size_t size);
    int (*write)(void *stream, const void *data, size_t size);
    void *stream;
    /* Zeroed memory for surfaces, at a multiple of 8, or NULL. */
    void *(*reserve)(size_t size);
    void (*release)(void *memory);
    dp2_u8 *payload;
    size_t room;

    dp2log log;
    dp2log_u64 time;
    int over;
    DP2_NAME(DD_DIRECTDRAW_LOCAL) directdraw;
    dp2_uptr adapter[512]; /* zeros, for drivers that look into DD_DIRECTDRAW_GLOBAL */
    dp2stub_surface surfaces[DP2STUB_SURFACES];
    dp2stub_context contexts[DP2STUB_CONTEXTS];
} dp2stub;

DP2_FUNCTION dp2log_u64 dp2stub_u64(const dp2_u8 *at)
{
    return (dp2log_u64)DP2_U32(at) | (dp2log_u64)DP2_U32(at + 4) << 32;
}

DP2_FUNCTION void dp2stub_copy(void *to, const void *from, size_t size)
{
    dp2_u8 *out = (dp2_u8 *)to;
    const dp2_u8 *in = (const dp2_u8 *)from;
    while (size--)
        *out++ = *in++;
}

DP2_FUNCTION void dp2stub_clear(void *to, size_t size)
{
    dp2_u8 *out = (dp2_u8 *)to;
    while (size--)
        *out++ = 0;
}

/* What is given back */

DP2_FUNCTION void dp2stub_done(dp2stub *stub, dp2_u32 result)
{
    dp2_u8 payload[4];
    dp2log_put32(payload, result);
    dp2log_simple(&stub->log, DP2STUB_DONE, stub->time, payload, sizeof(payload));
}

DP2_FUNCTION void dp2stub_welcome(dp2stub *stub)
{
    dp2_u8 payload[12];
    dp2_u8 *at = dp2log_put32(payload, DP2STUB_VERSION);
    at = dp2log_put32(at, (dp2_u32)(sizeof(void *) * 8));
    dp2log_put32(at, (dp2_u32)stub->room);
    dp2log_simple(&stub->log, DP2STUB_WELCOME, stub->time, payload, sizeof(payload));
}

/* Surfaces */

DP2_FUNCTION dp2stub_surface *dp2stub_find(dp2stub *stub, dp2log_u64 handle)
{
    int i;
    for (i = 0; handle && i < DP2STUB_SURFACES; i++)
        if (stub->surfaces[i].handle == handle)
            return &stub->surfaces[i];
    return NULL;
}

DP2_FUNCTION dp2stub_surface *dp2stub_free_surface(dp2stub *stub)
{
    int i;
    for (i = 0; i < DP2STUB_SURFACES; i++)
        if (!stub->surfaces[i].handle)
            return &stub->surfaces[i];
    return NULL;
}

/* Tell the driver that a handle means this memory, or nothing any more. */
DP2_FUNCTION dp2_u32 dp2stub_tell_surface(dp2stub *stub, dp2stub_surface *surface)
{
    DP2_NAME(DD_CREATESURFACEEXDATA) data;
    if (!stub->driver.surface)
        return 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDLcl = (dp2_uptr)&stub->directdraw;
    data.lpDDSLcl = (dp2_uptr)&surface->local;
    stub->driver.surface(&data);
    return data.ddRVal;
}

/* The structures of a surface; `at` is the payload of a MAKE behind its first four numbers. */
DP2_FUNCTION void dp2stub_describe(dp2stub_surface *surface, const dp2_u8 *at)
{
    surface->local.lpGbl = (dp2_uptr)&surface->global;
    surface->local.lpSurfMore = (dp2_uptr)&surface->more;
    surface->more.dwSurfaceHandle = (dp2_u32)surface->handle;
    surface->global.fpVidMem = (dp2_uptr)surface->memory;
    surface->global.wWidth = DP2_U32(at + 4);
    surface->global.wHeight = DP2_U32(at + 8);
    surface->global.lPitch = (dp2_i32)DP2_U32(at + 16);
    surface->more.dwMipMapCount = DP2_U32(at + 20);
    surface->local.ddsCaps.dwCaps = DP2_U32(at + 24);
    surface->more.ddsCapsEx.dwCaps2 = DP2_U32(at + 28);
    dp2stub_copy(&surface->global.ddpfSurface, at + 32, 32);
}

DP2_FUNCTION dp2_u32 dp2stub_make(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    dp2stub_surface *surface = dp2stub_free_surface(stub);
    dp2log_u64 parent, offset, bytes;
    if (size != DP2STUB_MAKE_BYTES)
        return DP2STUB_CORRUPT;
    parent = dp2stub_u64(at + 8);
    offset = dp2stub_u64(at + 16);
    bytes = dp2stub_u64(at + 24);
    if (dp2stub_find(stub, dp2stub_u64(at)))
        return DDERR_INVALIDPARAMS;
    if (!surface || bytes > ((size_t)-1) / 2)
        return DDERR_OUTOFMEMORY;
    dp2stub_clear(surface, sizeof(*surface));
    if (parent) {
        dp2stub_surface *owner = dp2stub_find(stub, parent);
        if (!owner || offset > owner->size || bytes > owner->size - offset)
            return DDERR_INVALIDPARAMS;
        surface->block = owner->block;
        surface->memory = owner->memory + offset;
    } else {
        surface->block = surface->memory = (dp2_u8 *)stub->reserve((size_t)bytes);
    }
    if (!surface->memory)
        return DDERR_OUTOFMEMORY;
    surface->handle = dp2stub_u64(at);
    surface->size = (size_t)bytes;
    dp2stub_describe(surface, at + 32);
    return dp2stub_tell_surface(stub, surface);
}

/* Memory goes with the last surface that lies in it. */
DP2_FUNCTION void dp2stub_release(dp2stub *stub, dp2_u8 *block)
{
    int i;
    for (i = 0; i < DP2STUB_SURFACES; i++)
        if (stub->surfaces[i].handle && stub->surfaces[i].block == block)
            return;
    stub->release(block);
}

DP2_FUNCTION dp2_u32 dp2stub_unmake(dp2stub *stub, dp2log_u64 handle)
{
    dp2stub_surface *surface = dp2stub_find(stub, handle);
    dp2_u32 result;
    if (!surface)
        return DDERR_INVALIDPARAMS;
    surface->global.fpVidMem = 0;
    result = dp2stub_tell_surface(stub, surface);
    surface->handle = 0;
    dp2stub_release(stub, surface->block);
    return result;
}

/* `size` bytes at an offset of a surface, or NULL if they are not all in it. */
DP2_FUNCTION dp2_u8 *dp2stub_bytes(dp2stub *stub, const dp2_u8 *at, dp2log_u64 size)
{
    dp2stub_surface *surface = dp2stub_find(stub, dp2stub_u64(at));
    dp2log_u64 offset = dp2stub_u64(at + 8);
    if (!surface || offset > surface->size || size > surface->size - offset)
        return NULL;
    return surface->memory + offset;
}

DP2_FUNCTION dp2_u32 dp2stub_store(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    dp2_u8 *memory = size < 16 ? NULL : dp2stub_bytes(stub, at, size - 16);
    if (!memory)
        return DDERR_INVALIDPARAMS;
    dp2stub_copy(memory, at + 16, size - 16);
    return 0;
}

DP2_FUNCTION void dp2stub_load(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    dp2log_piece pieces[2];
    dp2log_u64 bytes = size == 24 ? dp2stub_u64(at + 16) : 0;
    dp2_u8 *memory = size == 24 ? dp2stub_bytes(stub, at, bytes) : NULL;
    if (!memory) {
        dp2stub_done(stub, DDERR_INVALIDPARAMS);
        return;
    }
    pieces[0].data = at;
    pieces[0].size = 16;
    pieces[1].data = memory;
    pieces[1].size = (size_t)bytes;
    dp2log_record(&stub->log, DP2LOG_MEMORY, stub->time, pieces, 2);
}

DP2_FUNCTION dp2_uptr dp2stub_local(dp2stub *stub, dp2log_u64 handle)
{
    dp2stub_surface *surface = dp2stub_find(stub, handle);
    return surface ? (dp2_uptr)&surface->local : 0;
}

/* What DirectDraw asks about surfaces.  Whoever has no function for it, or does not handle it, is
 * one who does not know the record. */

DP2_FUNCTION dp2_u32 dp2stub_handled(dp2_u32 handled, dp2_u32 result)
{
    return handled == DDHAL_DRIVER_NOTHANDLED ? DP2STUB_UNKNOWN : result;
}

/* Each has the other's memory from now on, as DirectDraw does it behind a flip. */
DP2_FUNCTION void dp2stub_exchange(dp2stub_surface *one, dp2stub_surface *two)
{
    dp2_u8 *block = one->block, *memory = one->memory;
    dp2_uptr address = one->global.fpVidMem;
    one->block = two->block;
    one->memory = two->memory;
    one->global.fpVidMem = two->global.fpVidMem;
    two->block = block;
    two->memory = memory;
    two->global.fpVidMem = address;
}

DP2_FUNCTION dp2_u32 dp2stub_flip(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    DP2_NAME(DD_FLIPDATA) data;
    dp2stub_surface *front, *back;
    dp2_u32 handled;
    if (size != DP2STUB_FLIP_BYTES)
        return DP2STUB_CORRUPT;
    front = dp2stub_find(stub, dp2stub_u64(at));
    back = dp2stub_find(stub, dp2stub_u64(at + 8));
    if (!front || !back)
        return DDERR_INVALIDPARAMS;
    if (!stub->driver.flip)
        return DP2STUB_UNKNOWN;
    if (front->size != back->size)
        return DDERR_INVALIDPARAMS;
    dp2stub_clear(&data, sizeof(data));
    data.lpDD = stub->directdraw.lpGbl;
    data.lpSurfCurr = (dp2_uptr)&front->local;
    data.lpSurfTarg = (dp2_uptr)&back->local;
    handled = stub->driver.flip(&data);
    if (handled != DDHAL_DRIVER_NOTHANDLED && data.ddRVal == 0)
        dp2stub_exchange(front, back);
    return dp2stub_handled(handled, data.ddRVal);
}

DP2_FUNCTION void dp2stub_rect(DP2_NAME(RECT) *rect, DP2_NAME(RECT) *original, const dp2_u8 *at)
{
    rect->left = (dp2_i32)DP2_U32(at);
    rect->top = (dp2_i32)DP2_U32(at + 4);
    rect->right = (dp2_i32)DP2_U32(at + 8);
    rect->bottom = (dp2_i32)DP2_U32(at + 12);
    *original = *rect;
}

/* `at` is the payload of a BLIT behind its rectangles. */
DP2_FUNCTION void dp2stub_effects(DP2_NAME(DD_BLTDATA) *data, const dp2_u8 *at)
{
    data->dwFlags = DP2_U32(at);
    data->dwROPFlags = DP2_U32(at + 12);
    data->bltFX.dwSize = sizeof(data->bltFX);
    data->bltFX.dwDDFX = DP2_U32(at + 4);
    data->bltFX.dwROP = DP2_U32(at + 12);
    data->bltFX.lpDDSPattern = DP2_U32(at + 8); /* the union's dwFillColor */
    data->bltFX.ddckSrcColorkey.dwColorSpaceLowValue = DP2_U32(at + 16);
    data->bltFX.ddckSrcColorkey.dwColorSpaceHighValue = DP2_U32(at + 20);
    data->bltFX.ddckDestColorkey.dwColorSpaceLowValue = DP2_U32(at + 24);
    data->bltFX.ddckDestColorkey.dwColorSpaceHighValue = DP2_U32(at + 28);
}

DP2_FUNCTION dp2_u32 dp2stub_blit(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    DP2_NAME(DD_BLTDATA) data;
    dp2_u32 handled;
    if (size != DP2STUB_BLIT_BYTES)
        return DP2STUB_CORRUPT;
    dp2stub_clear(&data, sizeof(data));
    data.lpDD = stub->directdraw.lpGbl;
    data.lpDDDestSurface = dp2stub_local(stub, dp2stub_u64(at));
    data.lpDDSrcSurface = dp2stub_local(stub, dp2stub_u64(at + 24));
    if (!data.lpDDDestSurface || (dp2stub_u64(at + 24) && !data.lpDDSrcSurface))
        return DDERR_INVALIDPARAMS;
    if (!stub->driver.blit)
        return DP2STUB_UNKNOWN;
    dp2stub_rect(&data.rDest, &data.rOrigDest, at + 8);
    dp2stub_rect(&data.rSrc, &data.rOrigSrc, at + 32);
    dp2stub_effects(&data, at + 48);
    handled = stub->driver.blit(&data);
    return dp2stub_handled(handled, data.ddRVal);
}

/* The surface has the key when the driver is told; of one that goes no driver is told. */
DP2_FUNCTION dp2_u32 dp2stub_colorkey(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    DP2_NAME(DD_DRVSETCOLORKEYDATA) data;
    dp2stub_surface *surface = size == DP2STUB_COLORKEY_BYTES
        ? dp2stub_find(stub, dp2stub_u64(at + 12)) : NULL;
    dp2_u32 handled;
    if (size != DP2STUB_COLORKEY_BYTES || DP2_U32(at) > DP2LOG_CREATED)
        return DP2STUB_CORRUPT;
    if (!surface)
        return DDERR_INVALIDPARAMS;
    surface->local.dwFlags &= ~DP2STUB_HASCKEYSRCBLT;
    if (DP2_U32(at) == DP2LOG_DESTROYED)
        return 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDSurface = (dp2_uptr)&surface->local;
    data.dwFlags = DP2STUB_SRCBLT;
    data.ckNew.dwColorSpaceLowValue = DP2_U32(at + 4);
    data.ckNew.dwColorSpaceHighValue = DP2_U32(at + 8);
    surface->local.ddckCKSrcBlt = data.ckNew;
    surface->local.dwFlags |= DP2STUB_HASCKEYSRCBLT;
    if (!stub->driver.key)
        return DP2STUB_UNKNOWN;
    handled = stub->driver.key(&data);
    return dp2stub_handled(handled, data.ddRVal);
}

/* What the driver tells of itself */

DP2_FUNCTION int dp2stub_is_d3dcaps(const dp2_u8 *guid)
{
    static const dp2_u8 d3dcaps[] = GUID_D3DCAPS_BYTES;
    int i;
    for (i = 0; i < DP2STUB_GUID_BYTES; i++)
        if (guid[i] != d3dcaps[i])
            return 0;
    return 1;
}

/* The texture formats that a D3DHAL_GLOBALDRIVERDATA points at, moved together behind `at`, which
 * has `room` bytes; how many bytes they are. */
DP2_FUNCTION size_t dp2stub_texture_formats(const DP2_NAME(D3DHAL_GLOBALDRIVERDATA) *known,
                                            dp2_u8 *at, size_t room)
{
    const DP2_NAME(DDSURFACEDESC) *listed =
        (const DP2_NAME(DDSURFACEDESC) *)known->lpTextureFormats;
    size_t i, each = sizeof(listed->ddpfPixelFormat);
    for (i = 0; listed && i < known->dwNumTextureFormats && i < DP2STUB_MOST_FORMATS; i++) {
        if ((i + 1) * each > room)
            break;
        dp2stub_copy(at + i * each, &listed[i].ddpfPixelFormat, each);
    }
    return i * each;
}

/* The payload is the GUID and the driver's data, which go back behind the results; `at` is at a
 * multiple of 8, so that they are too. */
DP2_FUNCTION void dp2stub_info(dp2stub *stub, dp2_u8 *at, size_t size)
{
    DP2_NAME(DD_GETDRIVERINFODATA) data;
    DP2_NAME(D3DHAL_GLOBALDRIVERDATA) known;
    dp2_u8 head[16], *to = head;
    dp2log_piece pieces[2];
    if (size < DP2STUB_GUID_BYTES || !stub->driver.info) {
        dp2stub_done(stub, size < DP2STUB_GUID_BYTES ? DP2STUB_CORRUPT : DP2STUB_UNKNOWN);
        return;
    }
    dp2stub_clear(&data, sizeof(data));
    data.dhpdev = (dp2_uptr)stub->adapter;
    data.dwSize = sizeof(data);
    dp2stub_copy(&data.guidInfo, at, DP2STUB_GUID_BYTES);
    data.dwExpectedSize = (dp2_u32)(size - DP2STUB_GUID_BYTES);
    data.lpvData = (dp2_uptr)(at + DP2STUB_GUID_BYTES);
    to = dp2log_put32(to, stub->driver.info(&data));
    to = dp2log_put32(to, data.ddRVal);
    to = dp2log_put32(to, data.dwActualSize);
    dp2log_put32(to, (dp2_u32)(size - DP2STUB_GUID_BYTES));
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    pieces[1].data = at + DP2STUB_GUID_BYTES;
    pieces[1].size = size - DP2STUB_GUID_BYTES;
    if (dp2stub_is_d3dcaps(at) && data.dwActualSize >= sizeof(known) &&
        pieces[1].size >= sizeof(known)) {
        dp2stub_copy(&known, pieces[1].data, sizeof(known));
        pieces[1].size += dp2stub_texture_formats(&known, at + size, stub->room - size);
    }
    dp2log_record(&stub->log, DP2STUB_INFO, stub->time, pieces, 2);
}

/* Contexts */

DP2_FUNCTION dp2stub_context *dp2stub_context_of(dp2stub *stub, int used, dp2log_u64 number)
{
    int i;
    for (i = 0; i < DP2STUB_CONTEXTS; i++)
        if (stub->contexts[i].used == used && (!used || stub->contexts[i].number == number))
            return &stub->contexts[i];
    return NULL;
}

/* dwhContext tells the interface before it takes the handle: 2 is that of DirectX 6. */
DP2_FUNCTION dp2_u32 dp2stub_open(dp2stub *stub, const dp2_u8 *at)
{
    DP2_NAME(D3DHAL_CONTEXTCREATEDATA) data;
    dp2stub_context *context = dp2stub_context_of(stub, 0, 0);
    if (!context || dp2stub_context_of(stub, 1, dp2stub_u64(at + 8)))
        return D3DHAL_OUTOFCONTEXTS;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDLcl = (dp2_uptr)&stub->directdraw;
    data.lpDDSLcl = dp2stub_local(stub, dp2stub_u64(at + 16));
    data.lpDDSZLcl = dp2stub_local(stub, dp2stub_u64(at + 24));
    data.dwhContext = DP2_U32(at + 4) - 4;
    context->number = dp2stub_u64(at + 8);
    if (stub->driver.create)
        stub->driver.create(&data);
    context->driver = data.dwhContext;
    context->used = data.ddrval == 0;
    return data.ddrval;
}

DP2_FUNCTION dp2_u32 dp2stub_close(dp2stub *stub, const dp2_u8 *at)
{
    DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) data;
    dp2stub_context *context = dp2stub_context_of(stub, 1, dp2stub_u64(at + 8));
    if (!context)
        return D3DHAL_CONTEXT_BAD;
    dp2stub_clear(&data, sizeof(data));
    data.dwhContext = context->driver;
    if (stub->driver.destroy)
        stub->driver.destroy(&data);
    context->used = 0;
    return data.ddrval;
}

/* Calls */

/* Handles become pointers; of contexts that are none, and of surfaces that are none, what is
 * neither stays. */
DP2_FUNCTION void dp2stub_point(dp2stub *stub, dp2stub_call_data *data, dp2_u8 *vertices)
{
    dp2stub_context *context = dp2stub_context_of(stub, 1, data->dwhContext);
    dp2stub_surface *states = dp2stub_find(stub, data->lpdwRStates);
    data->dwhContext = context ? context->driver : data->dwhContext | 0x0BAD0000u;
    data->lpDDCommands = dp2stub_local(stub, data->lpDDCommands);
    data->lpDDVertex = vertices ? (dp2_uptr)vertices : dp2stub_local(stub, data->lpDDVertex);
    data->lpdwRStates = states ? (dp2_uptr)states->memory : 0;
    data->dwErrorOffset = 0;
}

/* The bytes of a call lie where the driver will look for them; 0 if there is no room there. */
DP2_FUNCTION int dp2stub_place(dp2stub_surface *commands, const dp2stub_call_data *data,
                               const dp2_u8 *bytes, size_t size)
{
    if (size == 0)
        return 1;
    if (!commands || data->dwCommandOffset > commands->size ||
        size > commands->size - data->dwCommandOffset)
        return 0;
    dp2stub_copy(commands->memory + data->dwCommandOffset, bytes, size);
    return 1;
}

DP2_FUNCTION void dp2stub_call(dp2stub *stub, dp2_u8 *at, size_t size)
{
    dp2stub_call_data data;
    dp2stub_surface *commands;
    dp2_u8 *vertices;
    size_t written, command_bytes, vertex_bytes, fixed = DP2STUB_CALL_BYTES + sizeof(data);
    if (size < fixed || DP2_U32(at) != sizeof(void *) * 8 ||
        DP2_U32(at + 8) > size - fixed || DP2_U32(at + 12) != size - fixed - DP2_U32(at + 8)) {
        dp2stub_done(stub, DP2STUB_CORRUPT);
        return;
    }
    command_bytes = DP2_U32(at + 8);
    vertex_bytes = DP2_U32(at + 12);
    dp2stub_copy(&data, at + DP2STUB_CALL_BYTES, sizeof(data));
    commands = dp2stub_find(stub, data.lpDDCommands);
    if (!dp2stub_place(commands, &data, at + fixed, command_bytes)) {
        dp2stub_done(stub, DDERR_INVALIDPARAMS);
        return;
    }
    /* Where the call lay there is room to align the vertices. */
    vertices = DP2_U32(at + 4) & DP2LOG_HAS_VERTICES ? at : NULL;
    if (vertices)
        dp2stub_copy(vertices, at + fixed + command_bytes, vertex_bytes);
    dp2stub_point(stub, &data, vertices);
    stub->driver.draw(&data);
    written = data.dwVertexSize == 0 && commands ? data.dwErrorOffset : 0;
    if (commands && written > commands->size)
        written = 0;
    dp2log_answer(&stub->log, stub->time, data.dwVertexSize, data.dwErrorOffset, data.dwFlags,
                  commands ? commands->memory : NULL, written);
}

/* The conversation */

DP2_FUNCTION dp2_u32 dp2stub_change(dp2stub *stub, dp2_u32 tag, const dp2_u8 *at, size_t size)
{
    switch (tag) {
    case DP2STUB_MAKE:
        return dp2stub_make(stub, at, size);
    case DP2LOG_SURFACE:
        return size == 40 ? dp2stub_unmake(stub, dp2stub_u64(at + 8)) : DP2STUB_CORRUPT;
    case DP2LOG_MEMORY:
        return dp2stub_store(stub, at, size);
    case DP2LOG_CONTEXT:
        if (size != 32)
            return DP2STUB_CORRUPT;
        return DP2_U32(at) == DP2LOG_CREATED ? dp2stub_open(stub, at) : dp2stub_close(stub, at);
    case DP2LOG_FLIP:
        return dp2stub_flip(stub, at, size);
    case DP2LOG_BLIT:
        return dp2stub_blit(stub, at, size);
    case DP2LOG_COLORKEY:
        return dp2stub_colorkey(stub, at, size);
    case DP2LOG_LOCK:
    case DP2STUB_FINISH:
        return 0;
    default:
        return DP2STUB_UNKNOWN;
    }
}

DP2_FUNCTION void dp2stub_answer(dp2stub *stub, dp2_u32 tag, dp2_u8 *at, size_t size)
{
    stub->time++;
    if (tag == DP2STUB_HELLO)
        dp2stub_welcome(stub);
    else if (tag == DP2STUB_READ)
        dp2stub_load(stub, at, size);
    else if (tag == DP2LOG_CALL)
        dp2stub_call(stub, at, size);
    else if (tag == DP2STUB_ASK_INFO)
        dp2stub_info(stub, at, size);
    else if (tag == DP2LOG_END)
        stub->over = 1;
    else
        dp2stub_done(stub, dp2stub_change(stub, tag, at, size));
}

/* Pass over whatever comes before the magic, as serial lines have it. */
DP2_FUNCTION int dp2stub_find_magic(dp2stub *stub)
{
    static const char magic[] = DP2LOG_MAGIC;
    size_t matched = 0;
    while (matched < DP2LOG_MAGIC_SIZE) {
        char next;
        if (!stub->read(stub->stream, &next, 1))
            return 0;
        matched = next == magic[matched] ? matched + 1 : next == magic[0] ? 1 : 0;
    }
    return 1;
}

/* One record and its answer; 0 when the conversation is over. */
DP2_FUNCTION int dp2stub_next(dp2stub *stub)
{
    dp2_u8 head[DP2LOG_RECORD_SIZE];
    dp2_u32 length, crc;
    if (!stub->read(stub->stream, head, sizeof(head)))
        return 0;
    length = DP2_U32(head + 4);
    if (length > stub->room || (length && !stub->read(stub->stream, stub->payload, length))) {
        dp2stub_done(stub, DP2STUB_CORRUPT);
        return 0;
    }
    crc = dp2log_crc32(0, head, sizeof(head) - 4);
    if (dp2log_crc32(crc, stub->payload, length) != DP2_U32(head + 16)) {
        dp2stub_done(stub, DP2STUB_CORRUPT);
        return 0;
    }
    dp2stub_answer(stub, DP2_U32(head), stub->payload, length);
    return !stub->over && !stub->log.failed;
}

/* Serve until the other side is done or gone. */
DP2_FUNCTION void dp2stub_serve(dp2stub *stub)
{
    if (!dp2stub_find_magic(stub))
        return;
    stub->directdraw.lpGbl = (dp2_uptr)stub->adapter;
    dp2log_begin(&stub->log, stub->write, stub->stream);
    while (dp2stub_next(stub))
        continue;
}

#endif
