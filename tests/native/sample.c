/*
 * A small display driver of DirectX SAMPLE_DDI: it walks DrawPrimitives2 streams, draws points,
 * lines and triangles of transformed vertices into targets of 32 bits, with depth of 16 bits and
 * the nearest texels of one texture, and answers the three queries that the documents describe.
 * Each BUG_ macro plants one mistake, most of which drivers have really had.
 *
 * With SAMPLE_LOG it writes a raw driver log to the file of that name, each call before it.
 */
#include "sample.h"
#include "sample_surfaces.h"

#ifdef SAMPLE_LOG
#include <stdio.h>
#endif

static context contexts[CONTEXTS];
static struct {
    dp2_u32 handle;
    source memory;
    canvas pixels;
    canvas depths;
    texture texels;
} surfaces[SURFACES];

/* Surfaces and contexts.  Depth of 32 bits, and texels that the driver does not know, are taken and
 * have no effect. */

static int slot_of(dp2_u32 handle)
{
    int i;
    for (i = 0; i < SURFACES; i++)
        if (surfaces[i].handle == handle)
            return i;
    return -1;
}

source sample_surface(dp2_u32 handle)
{
    static const source none = {NULL, 0, 0, 0};
    int slot = handle ? slot_of(handle) : -1;
    return slot < 0 ? none : surfaces[slot].memory;
}

canvas sample_canvas(const context *of)
{
    static const canvas none = {NULL, 0, 0, 0};
    int slot;
#ifdef BUG_FIRST_TARGET
    of = contexts;
#endif
    slot = of->target ? slot_of(of->target) : -1;
    return slot < 0 ? none : surfaces[slot].pixels;
}

canvas sample_depth(const context *of)
{
    static const canvas none = {NULL, 0, 0, 0};
    int slot = of->depth ? slot_of(of->depth) : -1;
    return slot < 0 ? none : surfaces[slot].depths;
}

texture sample_texture(const context *of)
{
    static const texture none = {NULL, 0, 0, 0, 0, {0, 0, 0, 0}, 0};
    int slot = of->stage[TEXTUREMAP] ? slot_of(of->stage[TEXTUREMAP]) : -1;
    return slot < 0 ? none : surfaces[slot].texels;
}

static source memory_of(dp2_uptr local)
{
    source memory;
    memory.bytes = surface_bytes(local);
    memory.size = (size_t)surface_pitch(local) * surface_height(local);
    memory.stride = memory.format = 0;
    return memory;
}

/* The surface if it holds one kind of pixels, of so many bytes; else only its sides. */
static canvas canvas_of(dp2_uptr local, enum pixels kind, dp2_u32 bytes)
{
    canvas made;
    made.pitch = surface_pitch(local);
    made.width = (dp2_i32)surface_width(local);
    made.height = (dp2_i32)surface_height(local);
    made.bytes = NULL;
    if (surface_pixels(local) == kind && made.pitch / bytes >= (dp2_u32)made.width)
        made.bytes = surface_bytes(local);
    return made;
}

#ifdef SAMPLE_LOG
#include "sample_log.h"
#endif

/* The surface has this handle from now on; a result code. */
static dp2_u32 enter_surface(dp2_uptr local, dp2_u32 handle)
{
    int slot = slot_of(handle);
    if (slot < 0)
        slot = slot_of(0);
    if (slot < 0)
        return DDERR_OUTOFMEMORY;
    surfaces[slot].handle = handle;
    surfaces[slot].memory = memory_of(local);
    surfaces[slot].pixels = canvas_of(local, COLORS, 4);
    surfaces[slot].depths = canvas_of(local, DEPTHS, 2);
    surfaces[slot].texels = texture_of(local);
    return D3D_OK;
}

static void leave_surface(dp2_u32 handle)
{
    int slot = handle ? slot_of(handle) : -1;
    if (slot >= 0)
        surfaces[slot].handle = 0;
}

#ifdef SAMPLE_EARLY
/* A driver from before DirectX 7: it makes the handles itself, and is given interfaces. */
static dp2_u32 handles;

static dp2_u32 enter_interface(dp2_uptr face)
{
    if (!face || enter_surface(((const DDRAWI_DDRAWSURFACE_INT *)face)->lpLcl, ++handles) != D3D_OK)
        return 0;
    return handles;
}

dp2_u32 DP2_ENTRY D3dTextureCreate(D3DHAL_TEXTURECREATEDATA *data)
{
    dp2_u32 handle = enter_interface(data->lpDDS);
    data->dwHandle = handle;
    data->ddrval = handle ? D3D_OK : DDERR_OUTOFMEMORY;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dTextureDestroy(D3DHAL_TEXTUREDESTROYDATA *data)
{
    data->ddrval = slot_of((dp2_u32)data->dwHandle) < 0 ? DDERR_INVALIDPARAMS : D3D_OK;
    leave_surface((dp2_u32)data->dwHandle);
    return DDHAL_DRIVER_HANDLED;
}
#else
dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DD_CREATESURFACEEXDATA *data)
{
    dp2_u32 handle = surface_handle(data->lpDDSLcl);
    data->ddRVal = D3D_OK;
    if (surface_bytes(data->lpDDSLcl))
        data->ddRVal = surface_is_deeper(data->lpDDSLcl) ? DDERR_UNSUPPORTED
                                                         : enter_surface(data->lpDDSLcl, handle);
    else
        leave_surface(handle);
#ifdef SAMPLE_LOG
    log_surface(data);
#endif
    return DDHAL_DRIVER_HANDLED;
}
#endif

/* The handle of a target or depth surface that a context is created with. */
static dp2_u32 handle_of(dp2_uptr given)
{
#ifdef SAMPLE_EARLY
    return enter_interface(given);
#else
    return given ? surface_handle(given) : 0;
#endif
}

void sample_target(context *of, dp2_u32 handle, dp2_u32 depth)
{
    canvas on;
    of->target = handle;
    of->depth = depth;
    on = sample_canvas(of);
    of->viewport[0] = of->viewport[1] = of->scissor[0] = of->scissor[1] = 0;
    of->viewport[2] = of->scissor[2] = on.width;
    of->viewport[3] = of->scissor[3] = on.height;
}

static context *free_context(void)
{
    int i;
    for (i = 0; i < CONTEXTS; i++)
        if (!contexts[i].used)
            return &contexts[i];
    return NULL;
}

/* The states that a context begins with, where they are not 0. */
static void begin_states(context *made)
{
    made->stage[COLOROP] = 4;
    made->stage[ALPHAOP] = made->stage[COLORARG1] = made->stage[ALPHAARG1] = 2;
    made->stage[COLORARG2] = made->stage[ALPHAARG2] = 1;
    made->stage[ADDRESSU] = made->stage[ADDRESSV] = 1;
    made->states[ZWRITEENABLE] = 1;
    made->states[ZFUNC] = 4;
    made->states[SHADEMODE] = 2;
    made->states[SRCBLEND] = 2;
    made->states[DESTBLEND] = 1;
    made->states[CULLMODE] = 3;
    made->states[ALPHAFUNC] = 8;
    made->states[COLORWRITEENABLE] = 15;
    made->states[BLENDOP] = 1;
    made->states[BLENDFACTOR] = 0xffffffffu;
}

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    context *made = free_context();
    data->ddrval = made ? D3D_OK : D3DHAL_OUTOFCONTEXTS;
    if (!made)
        return DDHAL_DRIVER_HANDLED;
    dp2stub_clear(made, sizeof(*made));
    made->used = 1;
    begin_states(made);
    sample_target(made, handle_of(data->lpDDSLcl), handle_of(data->lpDDSZLcl));
    data->dwhContext = (dp2_uptr)(made - contexts) + 1;
#ifdef SAMPLE_LOG
    log_context(data);
#endif
    return DDHAL_DRIVER_HANDLED;
}

static context *context_of(dp2_uptr handle)
{
    return handle > 0 && handle <= CONTEXTS && contexts[handle - 1].used ? &contexts[handle - 1]
                                                                          : NULL;
}

dp2_u32 DP2_ENTRY D3dContextDestroy(D3DHAL_CONTEXTDESTROYDATA *data)
{
    context *gone = context_of(data->dwhContext);
    data->ddrval = gone ? D3D_OK : D3DHAL_CONTEXT_BAD;
#ifdef SAMPLE_EARLY
    if (gone) {
        leave_surface(gone->target);
        leave_surface(gone->depth);
    }
#endif
    if (gone)
        gone->used = 0;
    return DDHAL_DRIVER_HANDLED;
}

static dp2_u32 execute(call *made, const dp2_u8 *token)
{
    dp2_u32 opcode = token[0], n = DP2_U16(token + 2);
    if (opcode == D3DDP2OP_CREATEQUERY || opcode == D3DDP2OP_ISSUEQUERY ||
        opcode == D3DDP2OP_DELETEQUERY)
        return sample_query(made->context, opcode, n, token + 4);
    sample_set(made, opcode, n, token + 4);
    if (opcode == D3DDP2OP_CLEAR)
        sample_clear(made->context, n, token + 4);
    return sample_draw(made, opcode, n, token + 4);
}

/* The call */

/* The last token of each version; the driver of DirectX 8 has none of the runtime's own copies. */
static int known(dp2_u32 opcode)
{
    static const dp2_u32 last[4] = {
        D3DDP2OP_UPDATEPALETTE, D3DDP2OP_SETCLIPPLANE, D3DDP2OP_DRAWTRIPATCH, 255
    };
    return opcode <= last[SAMPLE_DDI - 6];
}

/* Where a token ends; here mistakes in lengths are planted. */
size_t sample_token_end(const dp2_walk *walk)
{
    size_t end = known(walk->base[walk->at]) ? dp2_token_end(walk) : 0;
#if defined(BUG_UNKNOWN_SKIPPED)
    if (!end && dp2_token_of(walk->base[walk->at])->kind == DP2_NONE)
        return walk->at + 4;
#elif defined(BUG_SETLIGHT_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_SETLIGHT)
        return walk->at + 4 + 8u * DP2_U16(walk->base + walk->at + 2);
#elif defined(BUG_SETPRIORITY_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_SETPRIORITY)
        return walk->at + 4 + 36u * DP2_U16(walk->base + walk->at + 2);
#elif defined(BUG_SETTEXLOD_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_SETTEXLOD)
        return walk->at + 4 + 4u * DP2_U16(walk->base + walk->at + 2);
#elif defined(BUG_CONSTB_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_SETVERTEXSHADERCONSTB)
        return walk->at + 4 + 8u * DP2_U16(walk->base + walk->at + 2);
#elif defined(BUG_CLEAR_WITHOUT_RECT)  /* none: documents disagree about the spare RECT */
    if (end && walk->base[walk->at] == D3DDP2OP_CLEAR && !DP2_U16(walk->base + walk->at + 2))
        return walk->at + 20;
#elif defined(BUG_CLEAR_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_CLEAR && DP2_U16(walk->base + walk->at + 2))
        return walk->at + 36;
#elif defined(BUG_SETRENDERTARGET_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_SETRENDERTARGET)
        return walk->at + 4 + 8u * DP2_U16(walk->base + walk->at + 2);
#elif defined(BUG_PATCH_TAILS)
    if (end && walk->base[walk->at] == D3DDP2OP_DRAWRECTPATCH) {
        const dp2_u8 *flags = walk->base + walk->at + 8;
        dp2_u32 n = DP2_U16(walk->base + walk->at + 2);
        return walk->at + 4 + n * (8u + (DP2_U32(flags) & 1 ? 16u : 0) + (DP2_U32(flags) & 2 ? 28u : 0));
    }
#endif
    return end;
}

static dp2_u32 walk_tokens(call *made, dp2_walk *walk)
{
    while (walk->at < walk->end) {
        size_t next = sample_token_end(walk);
        dp2_u32 result;
#ifdef BUG_SHORT_HEADER
        if (walk->end - walk->at < 4)
            return D3D_OK;
#endif
#ifdef BUG_CUT_PASSED
        if (next == 0 && known(walk->base[walk->at]) && walk->end - walk->at >= 4 &&
            dp2_token_of(walk->base[walk->at])->kind != DP2_NONE)
            return D3D_OK;
#endif
        if (next == 0 || next > walk->end)
            return D3DERR_COMMAND_UNPARSED;
        result = execute(made, walk->base + walk->at);
        if (result != D3D_OK)
            return result;
        walk->at = next;
    }
    return D3D_OK;
}

static void enter(call *made, D3DHAL_DRAWPRIMITIVES2DATA *data, context *of)
{
    source none = {NULL, 0, 0, 0};
    size_t wanted;
    made->context = of;
    made->data = data;
    made->base = data->lpDDCommands ? memory_of(data->lpDDCommands).bytes : NULL;
#ifdef BUG_VERTEX_SIZE_LATE
    data->dwVertexSize = D3D_OK;
#endif
    made->vertex_bytes = data->dwVertexSize;
    made->vertices = none;
    if (data->dwFlags & D3DHALDP2_USERMEMVERTICES) {
        made->vertices.bytes = (const dp2_u8 *)data->lpDDVertex;
        made->vertices.size = (size_t)data->dwVertexOffset +
                              (size_t)data->dwVertexLength * made->vertex_bytes;
#ifndef BUG_USER_MEMORY_ALONE
    } else if (data->lpDDVertex) {
        made->vertices = memory_of(data->lpDDVertex);
#endif
    }
    made->vertices.stride = made->vertex_bytes;
    made->vertices.format = data->dwVertexType;
    wanted = (size_t)data->dwVertexLength * made->vertex_bytes;
    if (data->dwVertexOffset > made->vertices.size) {
        made->vertices.size = 0;
    } else {
#ifndef BUG_VERTEX_OFFSET
        made->vertices.bytes += made->vertices.bytes ? data->dwVertexOffset : 0;
#endif
        made->vertices.size -= data->dwVertexOffset;
    }
    if (made->vertices.size > wanted)
        made->vertices.size = wanted;
}

/* Whether the commands lie within their surface. */
static int room_for(const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    size_t size = data->lpDDCommands ? memory_of(data->lpDDCommands).size : 0;
    return data->dwCommandLength == 0 ||
           (data->dwCommandOffset <= size && data->dwCommandLength <= size - data->dwCommandOffset);
}

static void run(D3DHAL_DRAWPRIMITIVES2DATA *data, context *of)
{
    call made;
    dp2_walk walk;
    dp2_u32 result;
    enter(&made, data, of);
    walk.base = made.base;
    walk.at = data->dwCommandOffset;
    walk.end = walk.at + data->dwCommandLength;
    walk.vertex_bytes = made.vertex_bytes;
    if (!room_for(data))
        result = D3DERR_COMMAND_UNPARSED;
    else
        result = walk_tokens(&made, &walk);
    data->dwVertexSize = result;
    data->dwErrorOffset = 0;
    if (result != D3D_OK)
#if defined(BUG_ERROR_OFFSET_FROM_FIRST)
        data->dwErrorOffset = (dp2_u32)walk.at - data->dwCommandOffset;
#elif defined(BUG_ERROR_OFFSET_BEHIND)
        data->dwErrorOffset = (dp2_u32)walk.at + 4;
#else
        data->dwErrorOffset = (dp2_u32)walk.at;
#endif
#ifdef BUG_CRASHES
    if (walk.at > data->dwCommandOffset)
        *(volatile dp2_u8 *)NULL = 1;
#endif
#ifdef BUG_HANGS
    while (walk.at > data->dwCommandOffset) {
        extern int pause(void); /* of POSIX: a loop would keep a processor from other tests */
        pause();
    }
#endif
#ifdef BUG_ANSWERS_FAILURES
    result = D3D_OK;
#endif
    if (SAMPLE_DDI > 8 && result == D3D_OK && made.base) {
        size_t capacity = memory_of(data->lpDDCommands).size;
#ifdef BUG_CAPACITY_OF_CALL
        capacity = data->dwCommandLength;
#endif
        capacity = sample_respond(of, (dp2_u8 *)made.base, capacity);
        if (capacity)
            data->dwErrorOffset = (dp2_u32)capacity;
    }
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    context *of = context_of(data->dwhContext);
#ifdef SAMPLE_LOG
    log_call(data);
#endif
    if (of) {
        run(data, of);
    } else {
        data->dwVertexSize = D3DHAL_CONTEXT_BAD;
        data->dwErrorOffset = 0;
    }
#ifdef SAMPLE_LOG
    log_answer(data);
#endif
    return DDHAL_DRIVER_HANDLED;
}
