/*
 * dp2stub.h: serve a display driver to dp2emu over any stream of bytes.
 *
 * C89, no library, no allocation of its own.  Both sides say DP2LOG_MAGIC and then records as in a
 * raw driver log (dp2log.h); to each of the rig's the stub gives one back.  What is asked, what is
 * answered and what the payloads hold is listed in docs/rigs.rst.
 *
 * Fill in the members of a dp2stub up to `room`, everything else being 0, and call dp2stub_serve.
 * With DP2STUB_9X the driver gets the surface structures of Windows 9x.
 */
#ifndef DP2STUB_H
#define DP2STUB_H

#include "dp2.h"
#include "dp2log.h"
#ifdef DP2STUB_9X
#include "dp2walk.h"
#endif

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
#define DP2STUB_SURFACES 64 /* places of the first table; each next one has twice as many */
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
#define DP2STUB_ATTACHED 0x1u           /* DDRAWISURF_ATTACHED */
#define DP2STUB_ATTACHED_FROM 0x8u      /* DDRAWISURF_ATTACHED_FROM */
#define DP2STUB_HASCKEYSRCBLT 0x800u    /* DDRAWISURF_HASCKEYSRCBLT */
#define DP2STUB_HASPIXELFORMAT 0x2000u  /* DDRAWISURF_HASPIXELFORMAT */
#define DP2STUB_FOURCC 0x4u             /* DDPF_FOURCC */
#define DP2STUB_EXECUTEBUFFER 0x800000u /* DDSCAPS_EXECUTEBUFFER */
#define DP2STUB_CUBEMAP 0x200u          /* DDSCAPS2_CUBEMAP */
#define DP2STUB_ALLFACES 0xFC00u        /* DDSCAPS2_CUBEMAP_ALLFACES */
#define DP2STUB_POSITIVEX 0x400u        /* DDSCAPS2_CUBEMAP_POSITIVEX; others follow */
#define DP2STUB_SUBLEVEL 0x10000u       /* DDSCAPS2_MIPMAPSUBLEVEL */
#define DP2STUB_DESCRIBED 0x21007u      /* DDSD_CAPS, HEIGHT, WIDTH, PIXELFORMAT, MIPMAPCOUNT */
#define DP2STUB_READONLY 0x10u          /* DDLOCK_READONLY */
/* What a driver says in fpVidMem instead of an address: DirectDraw shall find so much memory. */
#define DP2STUB_BLOCKSIZE 2u            /* DDHAL_PLEASEALLOC_BLOCKSIZE: dwBlockSizeX * Y bytes */
#define DP2STUB_USERMEM 4u              /* DDHAL_PLEASEALLOC_USERMEM: dwUserMemSize bytes */
#define DP2STUB_NO_ADDRESS 8u           /* addresses are above all of these */
#define DP2STUB_MOST_LEVELS 32u

typedef DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) dp2stub_call_data;

/* The driver's entry points; only drawing is a must.  From `flip` on: DdFlip, DdBlt,
 * DdSetColorKey, DdCreateSurface, DdDestroySurface, DdLock, DdUnlock and DdGetDriverInfo. */
typedef struct dp2stub_driver {
    dp2_u32 (DP2_ENTRY *draw)(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data);
    dp2_u32 (DP2_ENTRY *create)(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data);
    dp2_u32 (DP2_ENTRY *destroy)(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data);
    dp2_u32 (DP2_ENTRY *surface)(DP2_NAME(DD_CREATESURFACEEXDATA) *data);
    dp2_u32 (DP2_ENTRY *flip)(DP2_NAME(DD_FLIPDATA) *data);
    dp2_u32 (DP2_ENTRY *blit)(DP2_NAME(DD_BLTDATA) *data);
    dp2_u32 (DP2_ENTRY *key)(DP2_NAME(DD_DRVSETCOLORKEYDATA) *data);
    dp2_u32 (DP2_ENTRY *place)(DP2_NAME(DD_CREATESURFACEDATA) *data);
    dp2_u32 (DP2_ENTRY *remove)(DP2_NAME(DD_DESTROYSURFACEDATA) *data);
    dp2_u32 (DP2_ENTRY *lock)(DP2_NAME(DD_LOCKDATA) *data);
    dp2_u32 (DP2_ENTRY *unlock)(DP2_NAME(DD_UNLOCKDATA) *data);
    dp2_u32 (DP2_ENTRY *info)(DP2_NAME(DD_GETDRIVERINFODATA) *data);
    /* D3dTextureCreate and D3dTextureDestroy of drivers for Windows 9x from before DirectX 7. */
    dp2_u32 (DP2_ENTRY *texture)(DP2_NAME(D3DHAL_TEXTURECREATEDATA) *data);
    dp2_u32 (DP2_ENTRY *untexture)(DP2_NAME(D3DHAL_TEXTUREDESTROYDATA) *data);
} dp2stub_driver;

/* Memory that was reserved; it goes with the last level in it. */
typedef struct dp2stub_block {
    dp2_u8 *memory;
    size_t users;
} dp2stub_block;

/* A level of a texture, or a surface without levels. */
typedef struct dp2stub_level {
    size_t offset, size;  /* of its bytes among those that the rig counts */
    size_t pitch, rows;   /* bytes of each row there, and rows of a slice; lPitch is the memory's */
    dp2_u8 *memory;
    dp2stub_block *block; /* NULL: memory of the driver's */
    DP2_NAME(DD_SURFACE_LOCAL) local;
    DP2_NAME(DD_SURFACE_GLOBAL) global;
    DP2_NAME(DD_SURFACE_MORE) more;
    DP2_NAME(DD_ATTACHLIST) attached; /* in the list of the level above */
    DP2_NAME(DD_ATTACHLIST) from;     /* names the level above */
#ifdef DP2STUB_9X
    DP2_NAME(DDRAWI_DDRAWSURFACE_INT) face; /* by which early drivers know it */
#endif
} dp2stub_level;

/* All levels of a texture, or the one of another surface. */
typedef struct dp2stub_chain {
    size_t users; /* surfaces: the texture, and levels that have handles of their own */
    size_t count;
    dp2stub_level levels[1];
} dp2stub_chain;

typedef struct dp2stub_surface {
    dp2log_u64 handle;
    dp2stub_chain *chain;
    dp2stub_level *level; /* the first of `count` */
    dp2stub_level *alias; /* or NULL; is `level` where that is none of the chain's */
    size_t count, size;
    dp2_u32 kind; /* D3DRESOURCETYPE; 0 of a command buffer */
    dp2_uptr textures[DP2STUB_CONTEXTS]; /* the handle in each context that early drivers give */
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
    /* Zeroed memory at a multiple of 4, of 8 if the size is one, or NULL: for surfaces, their
     * structures and their table, and what else the driver is handed.  A driver that wants other
     * addresses than the C library's has them from here. */
    void *(*reserve)(size_t size);
    void (*release)(void *memory);
    dp2_u8 *payload;
    size_t room;

    dp2log log;
    dp2log_u64 time;
    int over;
    dp2_u8 *user; /* of `user_bytes`: what the driver is handed beside surfaces, called `user_name` */
    size_t user_bytes;
    const char *user_name;
    DP2_NAME(DD_DIRECTDRAW_LOCAL) directdraw;
#ifdef DP2STUB_9X
    DP2_NAME(DD_DIRECTDRAW_GLOBAL) adapter;
#else
    dp2_uptr adapter[512]; /* zeros, for drivers that look into DD_DIRECTDRAW_GLOBAL */
#endif
    dp2stub_surface *surfaces; /* of which `places` can be used; they grow */
    size_t places;
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

/* Memory of `size` bytes, beside surfaces, that the driver is handed for one call; or NULL. */
DP2_FUNCTION dp2_u8 *dp2stub_user(dp2stub *stub, const char *name, size_t size)
{
    stub->user_name = name;
    if (stub->user && stub->user_bytes == size)
        return stub->user;
    if (stub->user)
        stub->release(stub->user);
    stub->user = (dp2_u8 *)stub->reserve(size);
    stub->user_bytes = size;
    return stub->user;
}

/* Surfaces */

DP2_FUNCTION dp2stub_surface *dp2stub_find(dp2stub *stub, dp2log_u64 handle)
{
    size_t i;
    for (i = 0; handle && i < stub->places; i++)
        if (stub->surfaces[i].handle == handle)
            return &stub->surfaces[i];
    return NULL;
}

/* A place for one more, in a table twice as long where all are taken; NULL without memory. */
DP2_FUNCTION dp2stub_surface *dp2stub_free_surface(dp2stub *stub)
{
    dp2stub_surface *longer;
    size_t i, places = stub->places ? 2 * stub->places : DP2STUB_SURFACES;
    for (i = 0; i < stub->places; i++)
        if (!stub->surfaces[i].handle)
            return &stub->surfaces[i];
    longer = (dp2stub_surface *)stub->reserve(places * sizeof(*longer));
    if (!longer)
        return NULL;
    dp2stub_copy(longer, stub->surfaces, stub->places * sizeof(*longer));
    if (stub->surfaces)
        stub->release(stub->surfaces);
    stub->surfaces = longer;
    stub->places = places;
    return &longer[i];
}

/* Tell the driver that a handle means this memory, or nothing any more. */
DP2_FUNCTION dp2_u32 dp2stub_tell_surface(dp2stub *stub, dp2stub_surface *surface)
{
    DP2_NAME(DD_CREATESURFACEEXDATA) data;
    if (!stub->driver.surface)
        return 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDLcl = (dp2_uptr)&stub->directdraw;
    data.lpDDSLcl = (dp2_uptr)&surface->level->local;
    stub->driver.surface(&data);
    return data.ddRVal;
}

/* Early drivers: of Windows 9x, from before DirectX 7, which have no D3dCreateSurfaceEx.  They are
 * given interfaces of surfaces and the global object of DirectDraw, and give a texture a handle of
 * their own, which stands in tokens. */

DP2_FUNCTION int dp2stub_early(const dp2stub *stub)
{
#ifdef DP2STUB_9X
    return !stub->driver.surface;
#else
    (void)stub;
    return 0;
#endif
}

/* What a context is given of a surface; 0 if there is none. */
DP2_FUNCTION dp2_uptr dp2stub_named(dp2stub *stub, dp2stub_surface *surface)
{
#ifdef DP2STUB_9X
    if (surface && dp2stub_early(stub))
        return (dp2_uptr)&surface->level->face;
#endif
    (void)stub;
    return surface ? (dp2_uptr)&surface->level->local : 0;
}

DP2_FUNCTION void dp2stub_end_texture(dp2stub *stub, dp2stub_surface *surface, size_t context)
{
    DP2_NAME(D3DHAL_TEXTUREDESTROYDATA) data;
    if (!surface->handle || !surface->textures[context] || !stub->driver.untexture)
        return;
    dp2stub_clear(&data, sizeof(data));
    data.dwhContext = stub->contexts[context].driver;
    data.dwHandle = surface->textures[context];
    surface->textures[context] = 0;
    stub->driver.untexture(&data);
}

#ifdef DP2STUB_9X
/* Puts the driver's handle of a texture where a token has the rig's. */
DP2_FUNCTION void dp2stub_name_texture(dp2stub *stub, size_t context, dp2_u8 *at)
{
    dp2stub_surface *surface = dp2stub_find(stub, DP2_U32(at));
    DP2_NAME(D3DHAL_TEXTURECREATEDATA) data;
    if (!surface)
        return;
    if (!surface->textures[context]) {
        dp2stub_clear(&data, sizeof(data));
        data.dwhContext = stub->contexts[context].driver;
        data.lpDDS = dp2stub_named(stub, surface);
        stub->driver.texture(&data);
        surface->textures[context] = data.ddrval ? 0 : data.dwHandle;
    }
    dp2log_put32(at, (dp2_u32)surface->textures[context]);
}

/* The handles in the items of a token: TEXTUREMAP, TEXTUREHANDLE, and surfaces of palettes. */
DP2_FUNCTION void dp2stub_name_in(dp2stub *stub, size_t context, dp2_u8 *token)
{
    dp2_u32 n = DP2_U16(token + 2), i;
    for (i = 0; i < n; i++) {
        dp2_u8 *item = token + 4 + 8 * i;
        if (token[0] == D3DDP2OP_TEXTURESTAGESTATE && DP2_U16(item + 2) == 0)
            dp2stub_name_texture(stub, context, item + 4);
        else if (token[0] == D3DDP2OP_RENDERSTATE && DP2_U32(item) == 1)
            dp2stub_name_texture(stub, context, item + 4);
        else if (token[0] == D3DDP2OP_SETPALETTE)
            dp2stub_name_texture(stub, context, token + 4 + 12 * i + 8);
    }
}
#endif

/* The textures that a call names, before an early driver gets it. */
DP2_FUNCTION void dp2stub_name_textures(dp2stub *stub, dp2log_u64 number, dp2_u8 *base, size_t at,
                                        size_t end, size_t vertex_bytes)
{
#ifdef DP2STUB_9X
    size_t context = 0;
    dp2_walk walk;
    while (context < DP2STUB_CONTEXTS &&
           !(stub->contexts[context].used && stub->contexts[context].number == number))
        context++;
    walk.base = base;
    walk.at = at;
    walk.end = end;
    walk.vertex_bytes = vertex_bytes;
    while (stub->driver.texture && context < DP2STUB_CONTEXTS && walk.at < end) {
        size_t next = dp2_token_end(&walk);
        if (!next || next > end)
            return;
        dp2stub_name_in(stub, context, base + walk.at);
        walk.at = next;
    }
#else
    (void)stub, (void)number, (void)base, (void)at, (void)end, (void)vertex_bytes;
#endif
}

/* What a MAKE says, behind its first four numbers, and what follows from it. */
typedef struct dp2stub_made {
    dp2_u32 width, height, depth, pitch, levels, caps, caps2, faces;
    dp2_u32 wide, high;            /* texels of a block */
    size_t bytes;                  /* of the surface */
    DP2_NAME(DDPIXELFORMAT) pixels;
} dp2stub_made;

/* Formats that store blocks of texels have the bytes of a level in lPitch instead of a pitch. */
DP2_FUNCTION void dp2stub_sides_of_block(dp2stub_made *made)
{
    static const struct { dp2_u32 code, wide, high; } table[] = {
        {0x31545844u, 4, 4}, {0x32545844u, 4, 4}, {0x33545844u, 4, 4}, /* DXT1, DXT2, DXT3 */
        {0x34545844u, 4, 4}, {0x35545844u, 4, 4},                      /* DXT4, DXT5 */
        {0x31495441u, 4, 4}, {0x32495441u, 4, 4},                      /* ATI1, ATI2 */
        {0x32595559u, 2, 1}, {0x59565955u, 2, 1},                      /* YUY2, UYVY */
        {0x47424752u, 2, 1}, {0x42475247u, 2, 1},                      /* R8G8_B8G8, G8R8_G8B8 */
        {0x32315659u, 2, 2}, {0x3231564Eu, 2, 2},                      /* YV12, NV12 */
        {118, 8, 1}                                                    /* A1 */
    };
    size_t i;
    made->wide = made->high = 1;
    for (i = 0; made->pixels.dwFlags & DP2STUB_FOURCC && i < sizeof(table) / sizeof(*table); i++)
        if (table[i].code == made->pixels.dwFourCC) {
            made->wide = table[i].wide;
            made->high = table[i].high;
        }
}

DP2_FUNCTION dp2stub_made dp2stub_made_of(const dp2_u8 *at, size_t bytes)
{
    dp2stub_made made;
    made.width = DP2_U32(at + 4);
    made.height = DP2_U32(at + 8);
    made.depth = DP2_U32(at + 12) ? DP2_U32(at + 12) : 1;
    made.pitch = DP2_U32(at + 16);
    made.levels = DP2_U32(at + 20);
    made.caps = DP2_U32(at + 24);
    made.caps2 = DP2_U32(at + 28);
    made.faces = made.caps2 & DP2STUB_CUBEMAP ? 6 : 1;
    made.bytes = bytes;
    dp2stub_copy(&made.pixels, at + 32, sizeof(made.pixels));
    dp2stub_sides_of_block(&made);
    return made;
}

/* Whether all bytes lie in one row, as in buffers and in formats of blocks. */
DP2_FUNCTION int dp2stub_linear(const dp2stub_made *made)
{
    return made->caps & DP2STUB_EXECUTEBUFFER || made->wide > 1 || !made->pitch ||
           made->bytes % made->pitch != 0 || made->bytes / made->pitch % made->depth != 0;
}

DP2_FUNCTION dp2_u32 dp2stub_side(dp2_u32 side, dp2_u32 level)
{
    return side >> level ? side >> level : 1;
}

/* a * b, or more than `most` if that is less. */
DP2_FUNCTION dp2log_u64 dp2stub_times(dp2log_u64 a, dp2log_u64 b, dp2log_u64 most)
{
    return b && a > most / b ? most + 1 : a * b;
}

/* The bytes of a row of blocks of a level, and how many rows there are. */
DP2_FUNCTION void dp2stub_rows(dp2stub_level *level, const dp2stub_made *made, dp2_u32 number)
{
    dp2_u32 across = (made->width + made->wide - 1) / made->wide;
    dp2_u32 down = (made->height + made->high - 1) / made->high;
    dp2log_u64 top = (dp2log_u64)across * (made->wide > 1 ? down : 1);
    dp2log_u64 unit = made->pitch / (top ? top : 1);
    if (made->wide > 1)
        unit /= made->depth;
    across = (dp2stub_side(made->width, number) + made->wide - 1) / made->wide;
    down = (dp2stub_side(made->height, number) + made->high - 1) / made->high;
    level->pitch = (size_t)dp2stub_times(across, unit, made->bytes);
    level->rows = down;
}

/* Where level `number` of a face lies, the faces and levels before it having `before` bytes; 0 if
 * it does not end within the surface. */
DP2_FUNCTION int dp2stub_lay(dp2stub_level *level, const dp2stub_made *made, dp2_u32 number,
                             size_t before)
{
    dp2log_u64 size;
    level->offset = before;
    if (made->levels <= 1 && made->faces == 1) {
        level->size = made->bytes;
        level->pitch = dp2stub_linear(made) ? made->bytes : made->pitch;
        level->rows = level->pitch ? made->bytes / level->pitch / made->depth : 0;
        level->rows += !level->rows; /* of a surface without bytes, or of one row */
        return 1;
    }
    dp2stub_rows(level, made, number);
    size = dp2stub_times(level->pitch, level->rows, made->bytes);
    size = dp2stub_times(size, dp2stub_side(made->depth, number), made->bytes);
    level->size = (size_t)size;
    if (made->wide > 1) {
        level->pitch = level->size;
        level->rows = 1;
    }
    return size <= made->bytes - before && (before || level->pitch == made->pitch);
}

/* The structures of a level; `index` counts the levels of all faces. */
DP2_FUNCTION void dp2stub_describe(dp2stub *stub, dp2stub_level *level, const dp2stub_made *made,
                                   dp2_u32 index)
{
    dp2_u32 levels = made->levels ? made->levels : 1;
    dp2_u32 number = index % levels, depth = dp2stub_side(made->depth, number);
    dp2_u32 face = index / levels ? DP2STUB_POSITIVEX << index / levels : 0;
    level->local.lpGbl = (dp2_uptr)&level->global;
    level->local.lpSurfMore = (dp2_uptr)&level->more;
    level->local.ddsCaps.dwCaps = made->caps;
    level->local.dwFlags = made->pixels.dwFlags ? DP2STUB_HASPIXELFORMAT : 0;
    level->more.dwMipMapCount = made->levels > 1 ? made->levels - number : made->levels;
    level->more.ddsCapsEx.dwCaps2 = face ? (made->caps2 & ~DP2STUB_ALLFACES) | face : made->caps2;
    level->more.ddsCapsEx.dwCaps2 |= number ? DP2STUB_SUBLEVEL : 0;
    level->more.ddsCapsEx.dwCaps4 = depth > 1 ? depth : 0;
    level->global.ddpfSurface = made->pixels;
    level->global.lPitch = (dp2_i32)(index ? level->pitch : made->pitch);
    if (depth > 1)
        level->global.lSlicePitch = (dp2_i32)(level->size / depth);
#ifdef DP2STUB_9X
    level->global.wWidth = (dp2_u16)dp2stub_side(made->width, number);
    level->global.wHeight = (dp2_u16)dp2stub_side(made->height, number);
    level->global.lpDD = (dp2_uptr)&stub->adapter;
    level->global.dwRefCnt = level->local.dwLocalRefCnt = level->face.dwIntRefCnt = 1;
    level->face.lpLcl = (dp2_uptr)&level->local;
    level->more.dwSize = sizeof(level->more);
    level->more.lpDD_lcl = (dp2_uptr)&stub->directdraw;
#else
    level->global.wWidth = dp2stub_side(made->width, number);
    level->global.wHeight = dp2stub_side(made->height, number);
    (void)stub;
#endif
}

/* Puts a level at the end of the list of the one above it. */
DP2_FUNCTION void dp2stub_attach(dp2stub_level *above, dp2stub_level *level)
{
    dp2_uptr *end = &above->local.lpAttachList;
    while (*end)
        end = &((DP2_NAME(DD_ATTACHLIST) *)*end)->lpLink;
    *end = (dp2_uptr)&level->attached;
    level->attached.lpAttached = (dp2_uptr)&level->local;
    level->from.lpAttached = (dp2_uptr)&above->local;
#ifdef DP2STUB_9X
    level->attached.lpIAttached = (dp2_uptr)&level->face;
    level->from.lpIAttached = (dp2_uptr)&above->face;
#endif
    level->local.lpAttachListFrom = (dp2_uptr)&level->from;
    level->local.dwFlags |= DP2STUB_ATTACHED;
    above->local.dwFlags |= DP2STUB_ATTACHED_FROM;
}

/* The levels of a MAKE without their memory, or NULL with the reason. */
DP2_FUNCTION dp2stub_chain *dp2stub_lay_chain(dp2stub *stub, const dp2stub_made *made,
                                              dp2_u32 *result)
{
    dp2_u32 levels = made->levels ? made->levels : 1, count = levels * made->faces, i;
    dp2stub_chain *chain;
    size_t before = 0;
    *result = levels > DP2STUB_MOST_LEVELS ? DDERR_INVALIDPARAMS : DDERR_OUTOFMEMORY;
    if (levels > DP2STUB_MOST_LEVELS)
        return NULL;
    chain = (dp2stub_chain *)stub->reserve(sizeof(*chain) +
                                           (count - 1) * sizeof(chain->levels[0]));
    if (!chain)
        return NULL;
    chain->count = count;
    for (i = 0; i < count; i++) {
        dp2stub_level *level = &chain->levels[i];
        if (!dp2stub_lay(level, made, i % levels, before))
            break;
        before += level->size;
        dp2stub_describe(stub, level, made, i);
        if (i)
            dp2stub_attach(i % levels ? level - 1 : chain->levels, level);
    }
    if (i == count && before == made->bytes)
        return chain;
    *result = DDERR_INVALIDPARAMS;
    stub->release(chain);
    return NULL;
}

/* Memory */

DP2_FUNCTION dp2stub_block *dp2stub_reserve(dp2stub *stub, dp2log_u64 bytes)
{
    dp2stub_block *block = (dp2stub_block *)stub->reserve(sizeof(*block));
    if (!block)
        return NULL;
    block->memory = bytes > ((size_t)-1) / 2 ? NULL : (dp2_u8 *)stub->reserve((size_t)bytes);
    if (block->memory)
        return block;
    stub->release(block);
    return NULL;
}

DP2_FUNCTION void dp2stub_settle(dp2stub_level *level, dp2stub_block *block, dp2_u8 *memory)
{
    level->block = block;
    level->memory = memory;
    level->global.fpVidMem = (dp2_uptr)memory;
    if (block)
        block->users++;
}

DP2_FUNCTION void dp2stub_leave(dp2stub *stub, dp2stub_level *level)
{
    dp2stub_block *block = level->block;
    level->block = NULL;
    if (!block || --block->users)
        return;
    stub->release(block->memory);
    stub->release(block);
}

DP2_FUNCTION void dp2stub_free_chain(dp2stub *stub, dp2stub_chain *chain)
{
    size_t i;
    for (i = 0; i < chain->count; i++)
        dp2stub_leave(stub, &chain->levels[i]);
    stub->release(chain);
}

/* One block, in which the levels lie as the rig counts. */
DP2_FUNCTION dp2_u32 dp2stub_settle_all(dp2stub *stub, dp2stub_chain *chain, size_t bytes)
{
    dp2stub_block *block = dp2stub_reserve(stub, bytes);
    size_t i;
    if (!block)
        return DDERR_OUTOFMEMORY;
    for (i = 0; i < chain->count; i++)
        dp2stub_settle(&chain->levels[i], block, block->memory + chain->levels[i].offset);
    return 0;
}

/* Memory of the driver's, or as much as it asks for. */
DP2_FUNCTION dp2_u32 dp2stub_settle_one(dp2stub *stub, dp2stub_level *level, dp2_u32 depth)
{
    DP2_NAME(DD_SURFACE_GLOBAL) *global = &level->global;
    dp2_uptr said = global->fpVidMem;
    dp2log_u64 wanted, needed = (dp2log_u64)level->size;
    dp2stub_block *block;
    if (said >= DP2STUB_NO_ADDRESS) {
        dp2stub_settle(level, NULL, (dp2_u8 *)said);
        return 0;
    }
    wanted = said == DP2STUB_BLOCKSIZE
        ? (dp2log_u64)(dp2_u32)global->lpVidMemHeap * (dp2_u32)global->lSlicePitch
        : said == DP2STUB_USERMEM ? (dp2log_u64)(dp2_u32)global->lpVidMemHeap : 0;
    if (level->pitch != level->size && global->lPitch > 0)
        needed = (dp2log_u64)global->lPitch * level->rows * depth;
    global->lpVidMemHeap = 0;
    global->lSlicePitch = depth > 1 ? global->lPitch * (dp2_i32)level->rows : 0;
    block = dp2stub_reserve(stub, wanted > needed ? wanted : needed);
    if (!block)
        return DDERR_OUTOFMEMORY;
    dp2stub_settle(level, block, block->memory);
    return 0;
}

/* DdCreateSurface; returns what it returns. */
DP2_FUNCTION dp2_u32 dp2stub_ask_place(dp2stub *stub, dp2stub_chain *chain,
                                       const dp2stub_made *made, dp2_u32 *result)
{
    DP2_NAME(DD_CREATESURFACEDATA) data;
    DP2_NAME(DDSURFACEDESC2) wanted;
    dp2_uptr *list = (dp2_uptr *)stub->reserve(chain->count * sizeof(*list));
    dp2_u32 handled;
    size_t i;
    *result = DDERR_OUTOFMEMORY;
    if (!list)
        return DDHAL_DRIVER_HANDLED;
    for (i = 0; i < chain->count; i++)
        list[i] = (dp2_uptr)&chain->levels[i].local;
    dp2stub_clear(&wanted, sizeof(wanted));
    wanted.dwSize = sizeof(wanted);
    wanted.dwFlags = DP2STUB_DESCRIBED;
    wanted.dwWidth = made->width;
    wanted.dwHeight = made->height;
    wanted.dwMipMapCount = made->levels;
    wanted.ddpfPixelFormat = made->pixels;
    wanted.ddsCaps.dwCaps = made->caps;
    wanted.ddsCaps.dwCaps2 = made->caps2;
    wanted.ddsCaps.dwCaps4 = made->depth > 1 ? made->depth : 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDD = (dp2_uptr)&stub->adapter;
    data.lpDDSurfaceDesc = (dp2_uptr)&wanted;
    data.lplpSList = (dp2_uptr)list;
    data.dwSCnt = (dp2_u32)chain->count;
    handled = stub->driver.place(&data);
    *result = handled == DDHAL_DRIVER_NOTHANDLED ? 0 : data.ddRVal;
    stub->release(list);
    return handled;
}

/* Memory for all levels: where a driver that has DdCreateSurface says, else in one block.  The
 * chain has a user if the driver made it. */
DP2_FUNCTION dp2_u32 dp2stub_settle_chain(dp2stub *stub, dp2stub_chain *chain,
                                          const dp2stub_made *made)
{
    dp2_u32 result = 0, handled = DDHAL_DRIVER_NOTHANDLED, i;
    int silent = 1;
    if (stub->driver.place && !(made->caps & DP2STUB_EXECUTEBUFFER))
        handled = dp2stub_ask_place(stub, chain, made, &result);
    for (i = 0; i < chain->count; i++)
        silent &= chain->levels[i].global.fpVidMem == 0 &&
                  chain->levels[i].global.lPitch ==
                  (dp2_i32)(i ? chain->levels[i].pitch : made->pitch);
    chain->users = !result;
    if (!result && (handled == DDHAL_DRIVER_NOTHANDLED || silent))
        return dp2stub_settle_all(stub, chain, made->bytes);
    for (i = 0; !result && i < chain->count; i++)
        result = dp2stub_settle_one(stub, &chain->levels[i],
                                    dp2stub_side(made->depth, made->levels > 1
                                                              ? i % made->levels : 0));
    return result;
}

/* A level in the texture's own list where it is free, else the same memory once more. */
DP2_FUNCTION dp2_u32 dp2stub_part(dp2stub *stub, dp2stub_surface *surface,
                                  const dp2stub_surface *owner, dp2log_u64 offset,
                                  const dp2stub_made *made)
{
    dp2stub_chain *chain = owner->chain;
    dp2stub_level *first = chain->levels, *found = NULL, *alias;
    size_t start = owner->level->offset + (size_t)offset, i;
    for (i = 0; !found && i < chain->count; i++)
        if (chain->levels[i].offset == start && chain->levels[i].size == made->bytes)
            found = &chain->levels[i];
    surface->chain = chain;
    surface->level = found;
    if (found && found != first && !found->more.dwSurfaceHandle)
        return 0;
    if (!found && (!first->block || first->block != chain->levels[chain->count - 1].block))
        return DDERR_INVALIDPARAMS;
    alias = (dp2stub_level *)stub->reserve(sizeof(*alias));
    if (!alias)
        return DDERR_OUTOFMEMORY;
    dp2stub_lay(alias, made, 0, 0);
    dp2stub_describe(stub, alias, made, 0);
    alias->offset = start;
    if (found) {
        alias->pitch = found->pitch;
        alias->rows = found->rows;
        alias->global.lPitch = found->global.lPitch;
        alias->global.lSlicePitch = found->global.lSlicePitch;
    }
    dp2stub_settle(alias, found ? found->block : first->block,
                   found ? found->memory : owner->level->memory + offset);
    surface->level = surface->alias = alias;
    return 0;
}

/* DdDestroySurface of every level, then the memory goes. */
DP2_FUNCTION void dp2stub_end_chain(dp2stub *stub, dp2stub_chain *chain)
{
    DP2_NAME(DD_DESTROYSURFACEDATA) data;
    size_t i;
    int asked = stub->driver.remove &&
                !(chain->levels[0].local.ddsCaps.dwCaps & DP2STUB_EXECUTEBUFFER);
    if (--chain->users)
        return;
    for (i = chain->count; asked && i-- > 0;) {
        dp2stub_clear(&data, sizeof(data));
        data.lpDD = (dp2_uptr)&stub->adapter;
        data.lpDDSurface = (dp2_uptr)&chain->levels[i].local;
        stub->driver.remove(&data);
    }
    dp2stub_free_chain(stub, chain);
}

DP2_FUNCTION dp2_u32 dp2stub_make_levels(dp2stub *stub, dp2stub_surface *surface,
                                         const dp2stub_made *made)
{
    dp2_u32 result;
    dp2stub_chain *chain = dp2stub_lay_chain(stub, made, &result);
    if (!chain)
        return result;
    result = dp2stub_settle_chain(stub, chain, made);
    if (result && !chain->users)
        dp2stub_free_chain(stub, chain);
    else if (result)
        dp2stub_end_chain(stub, chain);
    if (result)
        return result;
    surface->chain = chain;
    surface->level = chain->levels;
    surface->count = chain->count;
    return 0;
}

DP2_FUNCTION void dp2stub_forget(dp2stub *stub, dp2stub_surface *surface)
{
    surface->level->more.dwSurfaceHandle = 0;
    surface->handle = 0;
    if (surface->alias) {
        dp2stub_leave(stub, surface->alias);
        stub->release(surface->alias);
    }
    dp2stub_end_chain(stub, surface->chain);
}

DP2_FUNCTION dp2_u32 dp2stub_make(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    dp2stub_surface *surface, made, *owner = NULL;
    dp2stub_made wanted;
    dp2log_u64 parent, offset, bytes;
    dp2_u32 result;
    if (size != DP2STUB_MAKE_BYTES)
        return DP2STUB_CORRUPT;
    parent = dp2stub_u64(at + 8);
    offset = dp2stub_u64(at + 16);
    bytes = dp2stub_u64(at + 24);
    if (!dp2stub_u64(at) || dp2stub_find(stub, dp2stub_u64(at)))
        return DDERR_INVALIDPARAMS;
    surface = dp2stub_free_surface(stub);
    if (!surface || bytes > ((size_t)-1) / 2)
        return DDERR_OUTOFMEMORY;
    if (parent) {
        owner = dp2stub_find(stub, parent);
        if (!owner || offset > owner->size || bytes > owner->size - offset)
            return DDERR_INVALIDPARAMS;
    }
    wanted = dp2stub_made_of(at + 32, (size_t)bytes);
    dp2stub_clear(&made, sizeof(made));
    made.count = 1;
    made.size = (size_t)bytes;
    result = owner ? dp2stub_part(stub, &made, owner, offset, &wanted)
                   : dp2stub_make_levels(stub, &made, &wanted);
    if (result)
        return result;
    made.handle = dp2stub_u64(at);
    made.kind = DP2_U32(at + 32);
    made.level->more.dwSurfaceHandle = (dp2_u32)made.handle;
    made.chain->users += made.chain->users == 0 || owner;
    *surface = made;
    result = dp2stub_tell_surface(stub, surface);
    if (result)
        dp2stub_forget(stub, surface); /* a surface that the driver refuses is none */
    return result;
}

DP2_FUNCTION dp2_u32 dp2stub_unmake(dp2stub *stub, dp2log_u64 handle)
{
    dp2stub_surface *surface = dp2stub_find(stub, handle);
    dp2_uptr address;
    dp2_u32 result;
    size_t context;
    if (!surface)
        return DDERR_INVALIDPARAMS;
    for (context = 0; context < DP2STUB_CONTEXTS; context++)
        dp2stub_end_texture(stub, surface, context);
    address = surface->level->global.fpVidMem;
    surface->level->global.fpVidMem = 0;
    result = dp2stub_tell_surface(stub, surface);
    surface->level->global.fpVidMem = address;
    dp2stub_forget(stub, surface);
    return result;
}

/* Locks */

DP2_FUNCTION int dp2stub_locked(const dp2stub_level *level)
{
    return !(level->local.ddsCaps.dwCaps & DP2STUB_EXECUTEBUFFER);
}

/* DdLock, until the driver has drawn; `memory` is where the surface can be used then. */
DP2_FUNCTION dp2_u32 dp2stub_lock(dp2stub *stub, dp2stub_level *level, dp2_u32 flags,
                                  dp2_u8 **memory)
{
    DP2_NAME(DD_LOCKDATA) data;
    dp2_u32 handled;
    *memory = level->memory;
    if (!stub->driver.lock || !dp2stub_locked(level))
        return 0;
    do {
        dp2stub_clear(&data, sizeof(data));
        data.lpDD = (dp2_uptr)&stub->adapter;
        data.lpDDSurface = (dp2_uptr)&level->local;
        data.dwFlags = flags;
        handled = stub->driver.lock(&data);
    } while (handled != DDHAL_DRIVER_NOTHANDLED && data.ddRVal == DDERR_WASSTILLDRAWING);
    if (handled == DDHAL_DRIVER_NOTHANDLED)
        return 0;
    if (data.lpSurfData)
        *memory = (dp2_u8 *)data.lpSurfData;
    return data.ddRVal;
}

DP2_FUNCTION dp2_u32 dp2stub_unlock(dp2stub *stub, dp2stub_level *level)
{
    DP2_NAME(DD_UNLOCKDATA) data;
    if (!stub->driver.unlock || !dp2stub_locked(level))
        return 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDD = (dp2_uptr)&stub->adapter;
    data.lpDDSurface = (dp2_uptr)&level->local;
    return stub->driver.unlock(&data) == DDHAL_DRIVER_NOTHANDLED ? 0 : data.ddRVal;
}

/* Whether the rows of a level lie as close as the rig counts them. */
DP2_FUNCTION int dp2stub_tight(const dp2stub_level *level)
{
    return level->pitch == level->size ||
           (level->global.lPitch == (dp2_i32)level->pitch &&
            (!level->global.lSlicePitch ||
             (dp2_u32)level->global.lSlicePitch == (dp2_u32)(level->pitch * level->rows)));
}

/* The address of a byte of a level in memory that was locked. */
DP2_FUNCTION dp2_u8 *dp2stub_byte(const dp2stub_level *level, dp2_u8 *memory, size_t at)
{
    size_t row, slice;
    if (dp2stub_tight(level))
        return memory + at;
    row = at / level->pitch % level->rows;
    slice = at / level->pitch / level->rows;
    return memory + (ptrdiff_t)slice * (ptrdiff_t)level->global.lSlicePitch +
           (ptrdiff_t)row * level->global.lPitch + at % level->pitch;
}

/* Copies bytes [from, to) of a level into or out of `bytes`. */
DP2_FUNCTION dp2_u32 dp2stub_move(dp2stub *stub, dp2stub_level *level, size_t from, size_t to,
                                  dp2_u8 *in, const dp2_u8 *out)
{
    dp2_u8 *memory;
    dp2_u32 result = dp2stub_lock(stub, level, in ? DP2STUB_READONLY : 0, &memory);
    if (result)
        return result;
    while (from < to) {
        size_t rest = level->pitch - from % level->pitch;
        size_t piece = to - from < rest ? to - from : rest;
        if (in)
            dp2stub_copy(in, dp2stub_byte(level, memory, from), piece);
        else
            dp2stub_copy(dp2stub_byte(level, memory, from), out, piece);
        in += in ? piece : 0;
        out += out ? piece : 0;
        from += piece;
    }
    return dp2stub_unlock(stub, level);
}

/* Loads bytes of a surface to `in`, or stores those at `out`, where `in` is NULL. */
DP2_FUNCTION dp2_u32 dp2stub_transfer(dp2stub *stub, dp2log_u64 handle, dp2log_u64 offset,
                                      dp2log_u64 bytes, dp2_u8 *in, const dp2_u8 *out)
{
    dp2stub_surface *surface = dp2stub_find(stub, handle);
    size_t at, end, i;
    dp2_u32 result = 0;
    if (!surface || offset > surface->size || bytes > surface->size - offset)
        return DDERR_INVALIDPARAMS;
    at = (size_t)offset;
    end = at + (size_t)bytes;
    for (i = 0; !result && at < end && i < surface->count; i++) {
        dp2stub_level *level = &surface->level[i];
        size_t start = level->offset - surface->level->offset;
        size_t stop = end - start < level->size ? end - start : level->size;
        if (at - start >= level->size)
            continue;
        result = dp2stub_move(stub, level, at - start, stop, in, out);
        in += in ? stop + start - at : 0;
        out += out ? stop + start - at : 0;
        at = stop + start;
    }
    return result;
}

DP2_FUNCTION dp2_u32 dp2stub_store(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    if (size < 16)
        return DDERR_INVALIDPARAMS;
    return dp2stub_transfer(stub, dp2stub_u64(at), dp2stub_u64(at + 8), size - 16, NULL, at + 16);
}

/* The answer to a READ begins as the READ does, and lies where that lay. */
DP2_FUNCTION void dp2stub_load(dp2stub *stub, dp2_u8 *at, size_t size)
{
    dp2log_u64 bytes = size == 24 ? dp2stub_u64(at + 16) : 0;
    dp2_u32 result = DDERR_INVALIDPARAMS;
    if (size == 24 && bytes <= stub->room - 16)
        result = dp2stub_transfer(stub, dp2stub_u64(at), dp2stub_u64(at + 8), bytes, at + 16, NULL);
    if (result)
        dp2stub_done(stub, result);
    else
        dp2log_simple(&stub->log, DP2LOG_MEMORY, stub->time, at, 16 + (size_t)bytes);
}

/* A wait for what was drawn into a surface; of none there is none. */
DP2_FUNCTION dp2_u32 dp2stub_wait(dp2stub *stub, const dp2_u8 *at, size_t size)
{
    dp2stub_surface *surface = size == 8 ? dp2stub_find(stub, dp2stub_u64(at)) : NULL;
    dp2_u8 *memory;
    dp2_u32 result = surface ? dp2stub_lock(stub, surface->level, 0, &memory) : 0;
    return surface && !result ? dp2stub_unlock(stub, surface->level) : result;
}

DP2_FUNCTION dp2_uptr dp2stub_local(dp2stub *stub, dp2log_u64 handle)
{
    dp2stub_surface *surface = dp2stub_find(stub, handle);
    return surface ? (dp2_uptr)&surface->level->local : 0;
}

/* What DirectDraw asks about surfaces.  Whoever has no function for it, or does not handle it, is
 * one who does not know the record. */

DP2_FUNCTION dp2_u32 dp2stub_handled(dp2_u32 handled, dp2_u32 result)
{
    return handled == DDHAL_DRIVER_NOTHANDLED ? DP2STUB_UNKNOWN : result;
}

/* Each has the other's memory from now on, as DirectDraw does it behind a flip. */
DP2_FUNCTION void dp2stub_exchange(dp2stub_level *one, dp2stub_level *two)
{
    dp2stub_block *block = one->block;
    dp2_u8 *memory = one->memory;
    dp2_uptr address = one->global.fpVidMem;
    dp2_i32 pitch = one->global.lPitch;
    one->block = two->block;
    one->memory = two->memory;
    one->global.fpVidMem = two->global.fpVidMem;
    one->global.lPitch = two->global.lPitch;
    two->block = block;
    two->memory = memory;
    two->global.fpVidMem = address;
    two->global.lPitch = pitch;
}

/* A level that lies in the memory of a texture cannot leave it. */
DP2_FUNCTION int dp2stub_flippable(const dp2stub_surface *surface)
{
    return surface->count == 1 && (surface->chain->count == 1 || surface->alias);
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
    if (front->size != back->size || !dp2stub_flippable(front) || !dp2stub_flippable(back))
        return DDERR_INVALIDPARAMS;
    dp2stub_clear(&data, sizeof(data));
    data.lpDD = (dp2_uptr)&stub->adapter;
    data.lpSurfCurr = (dp2_uptr)&front->level->local;
    data.lpSurfTarg = (dp2_uptr)&back->level->local;
    handled = stub->driver.flip(&data);
    if (handled != DDHAL_DRIVER_NOTHANDLED && data.ddRVal == 0)
        dp2stub_exchange(front->level, back->level);
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
    data.lpDD = (dp2_uptr)&stub->adapter;
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
    surface->level->local.dwFlags &= ~DP2STUB_HASCKEYSRCBLT;
    if (DP2_U32(at) == DP2LOG_DESTROYED)
        return 0;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDSurface = (dp2_uptr)&surface->level->local;
    data.dwFlags = DP2STUB_SRCBLT;
    data.ckNew.dwColorSpaceLowValue = DP2_U32(at + 4);
    data.ckNew.dwColorSpaceHighValue = DP2_U32(at + 8);
    surface->level->local.ddckCKSrcBlt = data.ckNew;
    surface->level->local.dwFlags |= DP2STUB_HASCKEYSRCBLT;
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

/* The payload is the GUID and the driver's data, which go back behind the results. */
DP2_FUNCTION void dp2stub_info(dp2stub *stub, dp2_u8 *at, size_t size)
{
    DP2_NAME(DD_GETDRIVERINFODATA) data;
    DP2_NAME(D3DHAL_GLOBALDRIVERDATA) known;
    dp2_u8 head[16], *to = head, *lent;
    dp2log_piece pieces[2];
    if (size < DP2STUB_GUID_BYTES || !stub->driver.info) {
        dp2stub_done(stub, size < DP2STUB_GUID_BYTES ? DP2STUB_CORRUPT : DP2STUB_UNKNOWN);
        return;
    }
    lent = dp2stub_user(stub, "the data of DdGetDriverInfo", size - DP2STUB_GUID_BYTES);
    if (!lent) {
        dp2stub_done(stub, DDERR_OUTOFMEMORY);
        return;
    }
    dp2stub_copy(lent, at + DP2STUB_GUID_BYTES, size - DP2STUB_GUID_BYTES);
    dp2stub_clear(&data, sizeof(data));
#ifdef DP2STUB_9X
    data.dwContext = (dp2_uptr)&stub->adapter;
#else
    data.dhpdev = (dp2_uptr)&stub->adapter;
#endif
    data.dwSize = sizeof(data);
    dp2stub_copy(&data.guidInfo, at, DP2STUB_GUID_BYTES);
    data.dwExpectedSize = (dp2_u32)(size - DP2STUB_GUID_BYTES);
    data.lpvData = (dp2_uptr)lent;
    to = dp2log_put32(to, stub->driver.info(&data));
    dp2stub_copy(at + DP2STUB_GUID_BYTES, lent, size - DP2STUB_GUID_BYTES);
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

/* The dwPID of D3DHAL_CONTEXTCREATEDATA: any number of a process, of which there is one. */
#define DP2STUB_PROCESS 1u

/* dwhContext tells the interface before it takes the handle: 2 is DirectX 6. */
DP2_FUNCTION dp2_u32 dp2stub_open(dp2stub *stub, const dp2_u8 *at)
{
    DP2_NAME(D3DHAL_CONTEXTCREATEDATA) data;
    dp2stub_context *context = dp2stub_context_of(stub, 0, 0);
    if (!context || dp2stub_context_of(stub, 1, dp2stub_u64(at + 8)))
        return D3DHAL_OUTOFCONTEXTS;
    dp2stub_clear(&data, sizeof(data));
    data.lpDDLcl = dp2stub_early(stub) ? (dp2_uptr)&stub->adapter : (dp2_uptr)&stub->directdraw;
    data.lpDDSLcl = dp2stub_named(stub, dp2stub_find(stub, dp2stub_u64(at + 16)));
    data.lpDDSZLcl = dp2stub_named(stub, dp2stub_find(stub, dp2stub_u64(at + 24)));
    data.dwrstates = DP2STUB_PROCESS; /* dwPID of the union */
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
    size_t i;
    if (!context)
        return D3DHAL_CONTEXT_BAD;
    for (i = 0; i < stub->places; i++)
        dp2stub_end_texture(stub, &stub->surfaces[i], (size_t)(context - stub->contexts));
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
    data->lpdwRStates = states ? (dp2_uptr)states->level->memory : 0;
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
    dp2stub_copy(commands->level->memory + data->dwCommandOffset, bytes, size);
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
    vertices = NULL;
    if (DP2_U32(at + 4) & DP2LOG_HAS_VERTICES) {
        vertices = dp2stub_user(stub, "the user's vertices", vertex_bytes);
        if (!vertices) {
            dp2stub_done(stub, DDERR_OUTOFMEMORY);
            return;
        }
        dp2stub_copy(vertices, at + fixed + command_bytes, vertex_bytes);
    }
    if (command_bytes)
        dp2stub_name_textures(stub, data.dwhContext, commands->level->memory, data.dwCommandOffset,
                              data.dwCommandOffset + command_bytes, data.dwVertexSize);
    dp2stub_point(stub, &data, vertices);
    stub->driver.draw(&data);
    written = data.dwVertexSize == 0 && commands ? data.dwErrorOffset : 0;
    if (commands && written > commands->size)
        written = 0;
    dp2log_answer(&stub->log, stub->time, data.dwVertexSize, data.dwErrorOffset, data.dwFlags,
                  commands ? commands->level->memory : NULL, written);
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
        return dp2stub_wait(stub, at, size);
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

DP2_FUNCTION void dp2stub_ready(dp2stub *stub)
{
    stub->directdraw.lpGbl = (dp2_uptr)&stub->adapter;
}

/* Serve until the other side is done or gone. */
DP2_FUNCTION void dp2stub_serve(dp2stub *stub)
{
    if (!dp2stub_find_magic(stub))
        return;
    dp2stub_ready(stub);
    dp2log_begin(&stub->log, stub->write, stub->stream);
    while (dp2stub_next(stub))
        continue;
}

#endif
