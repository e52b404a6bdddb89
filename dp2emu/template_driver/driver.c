/*
 * A display driver to start from.  It walks every token, answers queries (queries.c) and counts
 * the pixels of triangles of transformed vertices.  It stores no pixel and has no state yet.
 */
#include "driver.h"
#include "dp2walk.h"

#define XYZRHW(fvf) (((fvf) & 0x00eu) == 0x004u) /* D3DFVF_XYZRHW: x, y in pixels, z, rhw */
#define XYZRHW_BYTES 16

typedef struct point {
    dp2_f32 x, y;
} point;

static context contexts[CONTEXTS];

static const DD_SURFACE_GLOBAL *surface_of(dp2_uptr local)
{
    return (const DD_SURFACE_GLOBAL *)((const DD_SURFACE_LOCAL *)local)->lpGbl;
}

static context *context_of(dp2_uptr handle)
{
    return handle - 1 < CONTEXTS && contexts[handle - 1].used ? &contexts[handle - 1] : NULL;
}

/* Triangles: pixel centres are at integers; a centre on a top or left edge is inside. */

static int inside(const point *a, const point *b, dp2_f32 x, dp2_f32 y)
{
    dp2_f32 side = (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
    int owned = b->y < a->y || (b->y == a->y && b->x > a->x);
    return side > 0 || (side == 0 && owned);
}

/* Counterclockwise triangles are culled: D3DCULL_CCW is the initial state. */
static void draw_triangle(context *in, const point *a, const point *b, const point *c)
{
    dp2_i32 x, y;
    for (y = 0; y < in->height; y++)
        for (x = 0; x < in->width; x++)
            in->pixels += inside(a, b, (dp2_f32)x, (dp2_f32)y) &&
                          inside(b, c, (dp2_f32)x, (dp2_f32)y) &&
                          inside(c, a, (dp2_f32)x, (dp2_f32)y);
}

static dp2_f32 float_at(const dp2_u8 *at)
{
    union {
        dp2_u32 bits;
        dp2_f32 value;
    } number;
    number.bits = DP2_U32(at);
    return number.value;
}

static point vertex(const D3DHAL_DRAWPRIMITIVES2DATA *data, dp2_u32 index)
{
    const dp2_u8 *at = (const dp2_u8 *)data->lpDDVertex + data->dwVertexOffset +
                       (size_t)index * data->dwVertexSize;
    point found;
    found.x = float_at(at);
    found.y = float_at(at + 4);
    return found;
}

/* TRIANGLELIST, TRIANGLESTRIP and TRIANGLEFAN, from vertices in user memory. */
static dp2_u32 draw(context *in, const D3DHAL_DRAWPRIMITIVES2DATA *data, dp2_u32 opcode,
                    dp2_u32 count, dp2_u32 start)
{
    dp2_u32 i, last = start + (opcode == D3DDP2OP_TRIANGLELIST ? 3 * count : count + 2);
    if (!(data->dwFlags & D3DHALDP2_USERMEMVERTICES) || !XYZRHW(data->dwVertexType))
        return D3D_OK;
    if (last > data->dwVertexLength || data->dwVertexSize < XYZRHW_BYTES)
        return D3DERR_DRIVERINVALIDCALL;
    for (i = 0; i < count; i++) {
        dp2_u32 first = start + (opcode == D3DDP2OP_TRIANGLELIST ? 3 * i : i);
        dp2_u32 odd = opcode == D3DDP2OP_TRIANGLESTRIP ? i & 1 : 0;
        point a = vertex(data, opcode == D3DDP2OP_TRIANGLEFAN ? start : first);
        point b = vertex(data, first + 1 + odd);
        point c = vertex(data, first + 2 - odd);
        draw_triangle(in, &a, &b, &c);
    }
    return D3D_OK;
}

/* Calls */

static dp2_u32 execute(context *in, const D3DHAL_DRAWPRIMITIVES2DATA *data, const dp2_u8 *token)
{
    dp2_u32 opcode = token[0], count = DP2_U16(token + 2);
    switch (opcode) {
    case D3DDP2OP_CREATEQUERY:
    case D3DDP2OP_ISSUEQUERY:
    case D3DDP2OP_DELETEQUERY:
        return execute_query(in, opcode, count, token + 4);
    case D3DDP2OP_TRIANGLELIST:
    case D3DDP2OP_TRIANGLESTRIP:
    case D3DDP2OP_TRIANGLEFAN:
        return draw(in, data, opcode, count, DP2_U16(token + 4));
    default: /* begin here: every other token is passed over */
        return D3D_OK;
    }
}

/* Executes the tokens up to walk->end; leaves walk->at where it stopped, returns a result code. */
static dp2_u32 execute_tokens(context *in, const D3DHAL_DRAWPRIMITIVES2DATA *data, dp2_walk *walk)
{
    while (walk->at < walk->end) {
        size_t next = dp2_token_end(walk);
        dp2_u32 result = next ? execute(in, data, walk->base + walk->at) : D3DERR_COMMAND_UNPARSED;
        if (result != D3D_OK)
            return result;
        walk->at = next;
    }
    return D3D_OK;
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    context *in = context_of(data->dwhContext);
    const DD_SURFACE_GLOBAL *buffer = data->lpDDCommands ? surface_of(data->lpDDCommands) : NULL;
    size_t room = buffer ? (size_t)buffer->lPitch * buffer->wHeight : 0;
    dp2_walk walk;
    dp2_u32 result = D3DHAL_CONTEXT_BAD;
    walk.base = buffer ? (const dp2_u8 *)buffer->fpVidMem : NULL;
    walk.at = data->dwCommandOffset;
    walk.end = walk.at + data->dwCommandLength;
    walk.vertex_bytes = data->dwVertexSize;
    if (in && data->dwCommandLength && (walk.end > room || walk.end < walk.at))
        result = D3DERR_COMMAND_UNPARSED;
    else if (in)
        result = execute_tokens(in, data, &walk);
    data->dwErrorOffset = in && result != D3D_OK ? (dp2_u32)walk.at : 0;
    if (result == D3D_OK && buffer)
        data->dwErrorOffset = (dp2_u32)respond(in, (dp2_u8 *)buffer->fpVidMem, room);
    data->dwVertexSize = result; /* ddrval, which shares its place; it is written last */
    return DDHAL_DRIVER_HANDLED;
}

/* Contexts and surfaces */

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    const DD_SURFACE_GLOBAL *target = data->lpDDSLcl ? surface_of(data->lpDDSLcl) : NULL;
    dp2_uptr i;
    for (i = 0; i < CONTEXTS && contexts[i].used; i++)
        continue;
    data->ddrval = i < CONTEXTS ? D3D_OK : D3DHAL_OUTOFCONTEXTS;
    if (i == CONTEXTS)
        return DDHAL_DRIVER_HANDLED;
    dp2stub_clear(&contexts[i], sizeof(contexts[i]));
    contexts[i].used = 1;
    contexts[i].width = target ? (dp2_i32)target->wWidth : 0;
    contexts[i].height = target ? (dp2_i32)target->wHeight : 0;
    data->dwhContext = i + 1; /* until here the interface's version: 5 is DirectX 9 */
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextDestroy(D3DHAL_CONTEXTDESTROYDATA *data)
{
    context *gone = context_of(data->dwhContext);
    data->ddrval = gone ? D3D_OK : D3DHAL_CONTEXT_BAD;
    if (gone)
        gone->used = 0;
    return DDHAL_DRIVER_HANDLED;
}

/* Tokens name surfaces by dwSurfaceHandle: keep it with fpVidMem, which is 0 when the handle ends. */
dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DD_CREATESURFACEEXDATA *data)
{
    data->ddRVal = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}
