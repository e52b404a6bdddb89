/*
 * A display driver to start from.  It walks every token, answers queries, and counts the pixels of
 * triangles of transformed vertices.  It stores no pixel and has no state yet.
 */
#include "dp2answer.h"
#include "dp2stub.h"

#define CONTEXTS 8
#define QUERIES 256
#define XYZRHW(fvf) (((fvf) & 0x00eu) == 0x004u) /* D3DFVF_XYZRHW: x, y in pixels, z, rhw */
#define XYZRHW_BYTES 16

typedef struct query {
    dp2_u32 id, type;
    int building, due; /* begun and not ended; ended and not answered */
    dp2_u32 pixels;    /* the answer; while building, what was drawn before BEGIN */
} query;

typedef struct context {
    int used;
    dp2_i32 width, height; /* of the render target */
    dp2_u32 pixels;        /* drawn so far */
    int count;             /* of queries; the last of them is the last that ended */
    query queries[QUERIES];
} context;

static context contexts[CONTEXTS];

static context *context_of(dp2_uptr handle)
{
    return handle - 1 < CONTEXTS && contexts[handle - 1].used ? &contexts[handle - 1] : NULL;
}

/* Triangles: pixel centres are at integers; a centre on a top or left edge is inside. */

static int inside(const dp2_f32 *a, const dp2_f32 *b, dp2_f32 x, dp2_f32 y)
{
    dp2_f32 side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    return side > 0 || (side == 0 && (b[1] < a[1] || (b[1] == a[1] && b[0] > a[0])));
}

/* Counterclockwise triangles are culled: D3DCULL_CCW is the initial state. */
static void draw_triangle(context *in, const dp2_f32 *a, const dp2_f32 *b, const dp2_f32 *c)
{
    dp2_i32 x, y;
    for (y = 0; y < in->height; y++)
        for (x = 0; x < in->width; x++)
            in->pixels += inside(a, b, (dp2_f32)x, (dp2_f32)y) &&
                          inside(b, c, (dp2_f32)x, (dp2_f32)y) &&
                          inside(c, a, (dp2_f32)x, (dp2_f32)y);
}

static const dp2_f32 *vertex(const D3DHAL_DRAWPRIMITIVES2DATA *data, dp2_u32 index)
{
    return (const dp2_f32 *)(data->lpDDVertex + data->dwVertexOffset +
                             (dp2_uptr)index * data->dwVertexSize);
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
        draw_triangle(in, vertex(data, opcode == D3DDP2OP_TRIANGLEFAN ? start : first),
                      vertex(data, first + 1 + odd), vertex(data, first + 2 - odd));
    }
    return D3D_OK;
}

/* Queries */

static query *find(context *in, dp2_u32 id)
{
    int i;
    for (i = 0; i < in->count; i++)
        if (in->queries[i].id == id)
            return &in->queries[i];
    return NULL;
}

static void take_out(context *in, query *gone)
{
    for (in->count--; gone < in->queries + in->count; gone++)
        *gone = gone[1];
}

static dp2_u32 create(context *in, dp2_u32 id, dp2_u32 type)
{
    query made = {0, 0, 0, 0, 0};
    if (type != D3DQUERYTYPE_VCACHE && type != D3DQUERYTYPE_EVENT &&
        type != D3DQUERYTYPE_OCCLUSION)
        return DDERR_INVALIDPARAMS;
    if (find(in, id))
        take_out(in, find(in, id));
    if (in->count == QUERIES)
        return DDERR_OUTOFMEMORY;
    made.id = id;
    made.type = type;
    in->queries[in->count++] = made;
    return D3D_OK;
}

static void issue(context *in, query *asked, dp2_u32 flags)
{
    query ended;
    if (flags & D3DISSUE_BEGIN && asked->type == D3DQUERYTYPE_OCCLUSION) {
        asked->building = 1;
        asked->due = 0;
        asked->pixels = in->pixels;
    }
    if (flags & D3DISSUE_END) {
        ended = *asked;
        ended.pixels = ended.building ? in->pixels - ended.pixels : 0;
        ended.building = 0;
        ended.due = 1;
        take_out(in, asked);
        in->queries[in->count++] = ended;
    }
}

/* CREATEQUERY, ISSUEQUERY or DELETEQUERY of one query. */
static dp2_u32 execute_query(context *in, dp2_u32 opcode, const dp2_u8 *item)
{
    query *asked = find(in, DP2_U32(item));
    if (opcode == D3DDP2OP_CREATEQUERY)
        return create(in, DP2_U32(item), DP2_U32(item + 4));
    if (!asked)
        return DDERR_INVALIDPARAMS;
    if (opcode == D3DDP2OP_ISSUEQUERY)
        issue(in, asked, DP2_U32(item + 4));
    else
        take_out(in, asked);
    return D3D_OK;
}

/* Writes the answers that fit over the command buffer; returns their size. */
static dp2_u32 respond(context *in, const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    static const dp2_u8 vcache[16] = {'C', 'A', 'C', 'H'}; /* and 0: strips as long as possible */
    dp2_answers answers;
    dp2_u8 number[4];
    int i, due = 0, full = 0;
    dp2_answers_begin(&answers, data);
    for (i = 0; i < in->count; i++)
        due += in->queries[i].due;
    for (i = 0; i < in->count && !full; i++) {
        query *next = &in->queries[i];
        int cache = next->type == D3DQUERYTYPE_VCACHE;
        dp2log_put32(number, next->type == D3DQUERYTYPE_EVENT ? 1 : next->pixels);
        full = next->due && !dp2_answer(&answers, next->id, cache ? vcache : number,
                                        cache ? 16 : 4, due > 1);
        due -= next->due && !full;
        next->due = next->due && full;
    }
    return dp2_answers_end(&answers, due);
}

/* Calls */

static dp2_u32 execute(context *in, const D3DHAL_DRAWPRIMITIVES2DATA *data, const dp2_u8 *token)
{
    dp2_u32 opcode = token[0], count = DP2_U16(token + 2), result = D3D_OK;
    switch (opcode) {
    case D3DDP2OP_CREATEQUERY:
    case D3DDP2OP_ISSUEQUERY:
    case D3DDP2OP_DELETEQUERY:
        for (token += 4; count && result == D3D_OK; count--) {
            result = execute_query(in, opcode, token);
            token += opcode == D3DDP2OP_DELETEQUERY ? 4 : 8;
        }
        return result;
    case D3DDP2OP_TRIANGLELIST:
    case D3DDP2OP_TRIANGLESTRIP:
    case D3DDP2OP_TRIANGLEFAN:
        return draw(in, data, opcode, count, DP2_U16(token + 4));
    default: /* begin here: every other token is passed over */
        return D3D_OK;
    }
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    context *in = context_of(data->dwhContext);
    dp2_walk walk;
    dp2_u32 result = dp2_walk_call(&walk, data) ? D3D_OK : D3DERR_COMMAND_UNPARSED;
    while (in && result == D3D_OK && walk.at < walk.end) {
        size_t next = dp2_token_end(&walk);
        result = next ? execute(in, data, walk.base + walk.at) : D3DERR_COMMAND_UNPARSED;
        walk.at = result == D3D_OK ? next : walk.at;
    }
    data->dwErrorOffset = !in ? 0 : result == D3D_OK ? respond(in, data) : (dp2_u32)walk.at;
    data->dwVertexSize = in ? result : D3DHAL_CONTEXT_BAD; /* ddrval, which shares its place */
    return DDHAL_DRIVER_HANDLED;
}

/* Contexts and surfaces */

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    const DD_SURFACE_LOCAL *target = (const DD_SURFACE_LOCAL *)data->lpDDSLcl;
    context *made = contexts;
    while (made < contexts + CONTEXTS && made->used)
        made++;
    data->ddrval = made < contexts + CONTEXTS ? D3D_OK : D3DHAL_OUTOFCONTEXTS;
    if (data->ddrval != D3D_OK)
        return DDHAL_DRIVER_HANDLED;
    made->used = 1;
    made->count = 0;
    made->pixels = 0;
    made->width = target ? (dp2_i32)((const DD_SURFACE_GLOBAL *)target->lpGbl)->wWidth : 0;
    made->height = target ? (dp2_i32)((const DD_SURFACE_GLOBAL *)target->lpGbl)->wHeight : 0;
    data->dwhContext = (dp2_uptr)(made - contexts) + 1; /* was the version: 5 is DirectX 9 */
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
