/*
 * A small display driver: it walks DrawPrimitives2 streams, answers the three queries that the
 * documents describe, and counts the pixels of triangles of transformed vertices.  It draws
 * nothing.  Each BUG_ macro plants one mistake, most of which drivers have really had.
 *
 * With SAMPLE_LOG it writes a raw driver log to the file of that name, each call before it.
 */
#include "sample.h"

#ifdef SAMPLE_LOG
#include <stdio.h>
#endif

static context contexts[CONTEXTS];
static struct {
    dp2_u32 handle;
    source memory;
    dp2_i32 width, height;
} surfaces[SURFACES];

source sample_surface(dp2_u32 handle)
{
    static const source none = {NULL, 0, 0};
    int i;
    for (i = 0; handle && i < SURFACES; i++)
        if (surfaces[i].handle == handle)
            return surfaces[i].memory;
    return none;
}

/* Surfaces and contexts */

static dp2_u32 handle_of(dp2_uptr local)
{
    const DD_SURFACE_LOCAL *surface = (const DD_SURFACE_LOCAL *)local;
    return ((const DD_SURFACE_MORE *)surface->lpSurfMore)->dwSurfaceHandle;
}

static source memory_of(dp2_uptr local)
{
    const DD_SURFACE_GLOBAL *global =
        (const DD_SURFACE_GLOBAL *)((const DD_SURFACE_LOCAL *)local)->lpGbl;
    source memory;
    memory.bytes = (const dp2_u8 *)global->fpVidMem;
    memory.size = (size_t)global->lPitch * global->wHeight;
    memory.stride = 0;
    return memory;
}

#ifdef SAMPLE_LOG
#include "sample_log.h"
#endif

static int slot_of(dp2_u32 handle)
{
    int i;
    for (i = 0; i < SURFACES; i++)
        if (surfaces[i].handle == handle)
            return i;
    return -1;
}

dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DD_CREATESURFACEEXDATA *data)
{
    const DD_SURFACE_LOCAL *local = (const DD_SURFACE_LOCAL *)data->lpDDSLcl;
    const DD_SURFACE_GLOBAL *global = (const DD_SURFACE_GLOBAL *)local->lpGbl;
    dp2_u32 handle = handle_of(data->lpDDSLcl);
    int slot = slot_of(handle);
    if (slot < 0)
        slot = slot_of(0);
    data->ddRVal = slot < 0 ? DDERR_OUTOFMEMORY : D3D_OK;
#ifdef SAMPLE_LOG
    log_surface(data);
#endif
    if (slot < 0)
        return DDHAL_DRIVER_HANDLED;
    surfaces[slot].handle = global->fpVidMem ? handle : 0;
    surfaces[slot].memory = memory_of(data->lpDDSLcl);
    surfaces[slot].width = (dp2_i32)global->wWidth;
    surfaces[slot].height = (dp2_i32)global->wHeight;
    return DDHAL_DRIVER_HANDLED;
}

static void target(context *of, dp2_u32 handle)
{
    int slot = handle ? slot_of(handle) : -1;
    of->width = slot < 0 ? 0 : surfaces[slot].width;
    of->height = slot < 0 ? 0 : surfaces[slot].height;
    of->viewport[0] = of->viewport[1] = of->scissor[0] = of->scissor[1] = 0;
    of->viewport[2] = of->scissor[2] = of->width;
    of->viewport[3] = of->scissor[3] = of->height;
}

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    int i;
    data->ddrval = D3DHAL_OUTOFCONTEXTS;
    for (i = 0; i < CONTEXTS; i++) {
        if (contexts[i].used)
            continue;
        dp2stub_clear(&contexts[i], sizeof(contexts[i]));
        contexts[i].used = 1;
        contexts[i].states[22] = 3;
        target(&contexts[i], data->lpDDSLcl ? handle_of(data->lpDDSLcl) : 0);
        data->dwhContext = (dp2_uptr)i + 1;
        data->ddrval = D3D_OK;
#ifdef SAMPLE_LOG
        log_context(data);
#endif
        break;
    }
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
    if (gone)
        gone->used = 0;
    return DDHAL_DRIVER_HANDLED;
}

/* State */

static void stream(context *of, dp2_u32 number, dp2_u32 handle, dp2_u32 offset, dp2_u32 stride)
{
    source found = sample_surface(handle);
    if (number >= STREAMS)
        return;
    of->streams[number] = found;
    of->streams[number].stride = stride;
    if (offset <= found.size) {
        of->streams[number].bytes += offset;
        of->streams[number].size -= offset;
    }
}

static void indices(context *of, dp2_u32 handle, dp2_u32 stride)
{
#ifdef BUG_STALE_INDICES
    if (!handle)
        return;
#endif
    of->indices = sample_surface(handle);
    of->indices.stride = stride;
}

#define FAR 0x10000  /* pixels, where no target reaches */

static void rectangle(dp2_i32 *to, const dp2_u8 *at, int sized)
{
    int i;
    for (i = 0; i < 4; i++) {
        dp2_i64 side = (dp2_i32)DP2_U32(at + 4 * i);
        if (sized && i > 1)
            side = (dp2_i64)DP2_U32(at + 4 * i) + to[i - 2];
        to[i] = (dp2_i32)(side < -FAR ? -FAR : side > FAR ? FAR : side);
    }
}

/* State blocks, of render states alone */

static block *block_of(context *of, dp2_u32 handle)
{
    int i;
    for (i = 0; i < BLOCKS; i++)
        if (of->blocks[i].handle == handle)
            return &of->blocks[i];
    return NULL;
}

static void begin_block(context *of, dp2_u32 handle)
{
    block *begun = block_of(of, handle);
    if (!begun)
        begun = block_of(of, 0);
    if (!begun)
        return;
    dp2stub_clear(begun, sizeof(*begun));
    begun->handle = handle;
    of->recording = begun;
}

static void apply_block(context *of, block *known, int capture)
{
    int i;
    for (i = 0; known && i < STATES; i++)
        if (known->has[i] && capture)
            known->states[i] = of->states[i];
        else if (known->has[i])
            of->states[i] = known->states[i];
}

static void state_set(context *of, dp2_u32 operation, dp2_u32 handle)
{
    switch (operation) {
    case 0:
        begin_block(of, handle);
        break;
    case 1:
        of->recording = NULL;
        break;
    case 2:
        if (block_of(of, handle))
            block_of(of, handle)->handle = 0;
        break;
    case 3:
        apply_block(of, block_of(of, handle), 0);
        break;
    case 4:
#ifndef BUG_CAPTURE_IGNORED
        apply_block(of, block_of(of, handle), 1);
#endif
        break;
    default:
        break;
    }
}

static void render_state(context *of, dp2_u32 number, dp2_u32 value)
{
    if (number >= STATES)
        return;
    if (of->recording) {
        of->recording->has[number] = 1;
        of->recording->states[number] = value;
#ifndef BUG_RECORDS_AND_SETS
        return;
#endif
    }
    of->states[number] = value;
}

/* One item of a token that sets something; others are passed over. */
static void state(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    context *of = made->context;
    switch (opcode) {
    case D3DDP2OP_RENDERSTATE:
        render_state(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_STATESET:
        state_set(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_VIEWPORTINFO:
        rectangle(of->viewport, at, 1);
        break;
    case D3DDP2OP_SETSCISSORRECT:
        rectangle(of->scissor, at, 0);
        break;
    case D3DDP2OP_SETSTREAMSOURCE:
        stream(of, DP2_U32(at), DP2_U32(at + 4), 0, DP2_U32(at + 8));
        break;
    case D3DDP2OP_SETSTREAMSOURCE2:
        stream(of, DP2_U32(at), DP2_U32(at + 4), DP2_U32(at + 8), DP2_U32(at + 12));
        break;
    case D3DDP2OP_SETINDICES:
        indices(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_SETRENDERTARGET:
        target(of, DP2_U32(at));
        break;
    default:
        break;
    }
}

static dp2_u32 execute(call *made, const dp2_u8 *token)
{
    dp2_u32 opcode = token[0], n = DP2_U16(token + 2), i;
    const dp2_token *row = dp2_token_of(opcode);
    if (opcode == D3DDP2OP_CREATEQUERY || opcode == D3DDP2OP_ISSUEQUERY ||
        opcode == D3DDP2OP_DELETEQUERY)
        return sample_query(made->context, opcode, n, token + 4);
    if (opcode == D3DDP2OP_SETRENDERTARGET)
        n = 1;
    for (i = 0; row->kind == DP2_LINEAR && i < n && row->each + row->base > 0; i++)
        state(made, opcode, token + 4 + i * (dp2_u32)row->each);
    return sample_draw(made, opcode, DP2_U16(token + 2), token + 4);
}

/* The call */

/* Where a token ends; here mistakes in lengths are planted. */
size_t sample_token_end(const dp2_walk *walk)
{
    size_t end = dp2_token_end(walk);
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
#elif defined(BUG_CLEAR_LENGTH)
    if (end && walk->base[walk->at] == D3DDP2OP_CLEAR && !DP2_U16(walk->base + walk->at + 2))
        return walk->at + 20;
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
    source none = {NULL, 0, 0};
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
    } else if (data->lpDDVertex) {
        made->vertices = memory_of(data->lpDDVertex);
    }
    made->vertices.stride = made->vertex_bytes;
    wanted = (size_t)data->dwVertexLength * made->vertex_bytes;
    if (data->dwVertexOffset > made->vertices.size) {
        made->vertices.size = 0;
    } else {
        made->vertices.bytes += made->vertices.bytes ? data->dwVertexOffset : 0;
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
#ifdef BUG_ERROR_OFFSET_FROM_FIRST
        data->dwErrorOffset = (dp2_u32)walk.at - data->dwCommandOffset;
#else
        data->dwErrorOffset = (dp2_u32)walk.at;
#endif
#ifdef BUG_CRASHES
    if (walk.at > data->dwCommandOffset)
        *(volatile dp2_u8 *)NULL = 1;
#endif
#ifdef BUG_HANGS
    while (walk.at > data->dwCommandOffset)
        *(volatile size_t *)&walk.at |= 1;
#endif
#ifdef BUG_ANSWERS_FAILURES
    result = D3D_OK;
#endif
    if (result == D3D_OK && made.base) {
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
