/* Drawing of the sample driver: triangles of transformed vertices, whose pixels are counted. */
#include "sample.h"

#define CULLMODE 22
#define SCISSORTEST 174
#define MOST 0xffffff  /* triangles of a draw */
#define CULL_CW 2
#define CULL_CCW 3

typedef struct point {
    dp2_i32 x, y;  /* 1/256 of a pixel */
} point;

/* The number a float holds, to the nearest 1/256; beyond 8192 nothing is drawn anyway. */
static dp2_i32 fixed(const dp2_u8 *at)
{
    dp2_u32 bits = DP2_U32(at);
    int exponent = (int)(bits >> 23 & 0xff) - 127 - 23 + 8;
    dp2_u32 mantissa = (bits & 0x7fffff) | 0x800000;
    dp2_u32 value;
    if (exponent < -24)
        value = 0;
    else if (exponent < 0)
        value = (mantissa + (1u << (-exponent - 1))) >> -exponent;
    else
        value = exponent > 6 ? 0x1fffffff : mantissa << exponent;
    if (value > 0x1fffff)
        value = 0x1fffff;
    return bits >> 31 ? -(dp2_i32)value : (dp2_i32)value;
}

/* Twice the area of a triangle: positive if it is clockwise on the screen. */
static dp2_i64 side(point a, point b, dp2_i32 x, dp2_i32 y)
{
    return (dp2_i64)(b.x - a.x) * (y - a.y) - (dp2_i64)(b.y - a.y) * (x - a.x);
}

/* An edge of a clockwise triangle that owns the pixel centres on it. */
static int owns(point a, point b)
{
    return a.y == b.y ? b.x > a.x : b.y < a.y;
}

static int inside(point a, point b, dp2_i32 x, dp2_i32 y)
{
    dp2_i64 where = side(a, b, x, y);
    return where > 0 || (where == 0 && owns(a, b));
}

static int culled(context *of, int clockwise)
{
    return of->states[CULLMODE] == (clockwise ? CULL_CW : CULL_CCW);
}

static dp2_i32 least(dp2_i32 a, dp2_i32 b)
{
    return a < b ? a : b;
}

static dp2_i32 most(dp2_i32 a, dp2_i32 b)
{
    return a > b ? a : b;
}

static void bounds(context *of, dp2_i32 *box)
{
    int i;
    for (i = 0; i < 4; i++)
        box[i] = of->viewport[i];
    if (of->states[SCISSORTEST])
        for (i = 0; i < 2; i++) {
            box[i] = most(box[i], of->scissor[i]);
            box[i + 2] = least(box[i + 2], of->scissor[i + 2]);
        }
    box[0] = most(box[0], 0);
    box[1] = most(box[1], 0);
    box[2] = least(box[2], of->width);
    box[3] = least(box[3], of->height);
}

void sample_triangle(context *of, const dp2_u8 *a, const dp2_u8 *b, const dp2_u8 *c)
{
    point corners[3], swapped;
    dp2_i32 box[4], x, y;
    dp2_i64 area;
    corners[0].x = fixed(a), corners[0].y = fixed(a + 4);
    corners[1].x = fixed(b), corners[1].y = fixed(b + 4);
    corners[2].x = fixed(c), corners[2].y = fixed(c + 4);
    area = side(corners[0], corners[1], corners[2].x, corners[2].y);
    if (area == 0 || culled(of, area > 0))
        return;
    if (area < 0)
        swapped = corners[1], corners[1] = corners[2], corners[2] = swapped;
    bounds(of, box);
    for (y = box[1]; y < box[3]; y++)
        for (x = box[0]; x < box[2]; x++)
            of->pixels += inside(corners[0], corners[1], x * 256, y * 256) &&
                          inside(corners[1], corners[2], x * 256, y * 256) &&
                          inside(corners[2], corners[0], x * 256, y * 256);
}

/* A vertex, or NULL where there is none. */
static const dp2_u8 *vertex(const source *from, dp2_i64 number)
{
    if (number < 0 || from->size < 16)
        return NULL;
    if (from->stride && number > (dp2_i64)((from->size - 16) / from->stride))
        return NULL;
    return from->bytes + (size_t)number * from->stride;
}

static dp2_u32 corner(const dp2_u8 *indices, int wide, dp2_u32 i)
{
    if (!indices)
        return i;
    return wide ? DP2_U32(indices + 4 * i) : DP2_U16(indices + 2 * i);
}

/* Which corners triangle i of a primitive has. */
static void corners_of(int kind, dp2_u32 i, dp2_u32 *corners)
{
    if (kind == D3DPT_TRIANGLELIST) {
        corners[0] = 3 * i, corners[1] = 3 * i + 1, corners[2] = 3 * i + 2;
    } else if (kind == D3DPT_TRIANGLESTRIP) {
        corners[0] = i, corners[1] = i + 1 + (i & 1), corners[2] = i + 2 - (i & 1);
    } else {
#ifdef BUG_FAN_DOUBLES_FIRST
        corners[0] = i, corners[1] = i + 1, corners[2] = 0;
#else
        corners[0] = i + 1, corners[1] = i + 2, corners[2] = 0;
#endif
    }
}

/* Draws; vertex numbers are base plus what the indices say. */
static dp2_u32 draw(context *of, const source *from, int kind, dp2_u32 count, dp2_i64 base,
                    const dp2_u8 *indices, int wide)
{
    dp2_u32 i;
    int j;
    if (count > MOST || kind < D3DPT_TRIANGLELIST || kind > D3DPT_TRIANGLEFAN)
        return D3DERR_DRIVERINVALIDCALL;
    for (i = 0; i < count; i++) {
        dp2_u32 corners[3];
        const dp2_u8 *found[3];
        corners_of(kind, i, corners);
        for (j = 0; j < 3; j++) {
            dp2_i64 number = base + (dp2_i64)corner(indices, wide, corners[j]);
#ifdef BUG_INDEX_WRAPS
            if (indices && !wide)
                number &= 0xffff;
#endif
            found[j] = vertex(from, number);
        }
#ifdef BUG_INDEX_CHECK
        if (!found[0] && !found[1] && !found[2])
#else
        if (!found[0] || !found[1] || !found[2])
#endif
            return D3DERR_DRIVERINVALIDCALL;
        sample_triangle(of, found[0], found[1], found[2]);
    }
    return D3D_OK;
}

static int kind_of(dp2_u32 opcode)
{
    switch (opcode) {
    case D3DDP2OP_TRIANGLELIST:
    case D3DDP2OP_INDEXEDTRIANGLELIST:
    case D3DDP2OP_INDEXEDTRIANGLELIST2:
        return D3DPT_TRIANGLELIST;
    case D3DDP2OP_TRIANGLESTRIP:
    case D3DDP2OP_INDEXEDTRIANGLESTRIP:
        return D3DPT_TRIANGLESTRIP;
    default:
        return D3DPT_TRIANGLEFAN;
    }
}

static dp2_u32 draw_imm(call *made, dp2_u32 n, const dp2_u8 *at)
{
    source from;
    size_t offset = (size_t)(at - made->base) + 4;
#ifndef BUG_IMM_NOT_ALIGNED
    offset = (offset + 3) & ~(size_t)3;
#endif
    from.bytes = made->base + offset;
    from.stride = made->vertex_bytes;
    from.size = ((size_t)n + 2) * made->vertex_bytes;
    return draw(made->context, &from, D3DPT_TRIANGLEFAN, n, 0, NULL, 0);
}

static dp2_u32 draw_absolute(call *made, dp2_u32 n, const dp2_u8 *at)
{
    dp2_u32 result = D3D_OK;
    for (; result == D3D_OK && n--; at += 8)
        result = draw(made->context, &made->vertices, D3DPT_TRIANGLELIST, 1, 0, at, 0);
    return result;
}

/* DRAWPRIMITIVE and DRAWPRIMITIVE2: the second counts bytes. */
static dp2_u32 draw_stream(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    source from = made->context->streams[0];
    dp2_u32 start = DP2_U32(at + 4);
    dp2_i64 base = start;
#ifndef BUG_OFFSET_IN_VERTICES
    if (opcode == D3DDP2OP_DRAWPRIMITIVE2) {
        if (start > from.size)
            return D3DERR_DRIVERINVALIDCALL;
        from.bytes += start;
        from.size -= start;
        base = 0;
    }
#endif
    (void)opcode;
    return draw(made->context, &from, (int)DP2_U32(at), DP2_U32(at + 8), base, NULL, 0);
}

static dp2_u32 needed(int kind, dp2_u32 count)
{
    return kind == D3DPT_TRIANGLELIST ? 3 * count : count + 2;
}

static dp2_u32 draw_indexed(call *made, const dp2_u8 *at)
{
    context *of = made->context;
    int kind = (int)DP2_U32(at), wide = of->indices.stride == 4;
    dp2_u32 start = DP2_U32(at + 16), count = DP2_U32(at + 20);
    dp2_i64 room;
    if (!of->indices.bytes || count > MOST || (of->indices.stride != 2 && !wide))
        return D3DERR_DRIVERINVALIDCALL;
    room = (dp2_i64)(of->indices.size / of->indices.stride);
    if ((dp2_i64)start + needed(kind, count) > room)
        return D3DERR_DRIVERINVALIDCALL;
    return draw(of, &of->streams[0], kind, count, (dp2_i32)DP2_U32(at + 4),
                of->indices.bytes + (size_t)start * of->indices.stride, wide);
}

dp2_u32 sample_draw(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    switch (opcode) {
    case D3DDP2OP_TRIANGLELIST:
    case D3DDP2OP_TRIANGLESTRIP:
    case D3DDP2OP_TRIANGLEFAN:
        return draw(made->context, &made->vertices, kind_of(opcode), n, DP2_U16(at), NULL, 0);
    case D3DDP2OP_INDEXEDTRIANGLELIST2:
    case D3DDP2OP_INDEXEDTRIANGLESTRIP:
    case D3DDP2OP_INDEXEDTRIANGLEFAN:
        return draw(made->context, &made->vertices, kind_of(opcode), n, DP2_U16(at), at + 2, 0);
    case D3DDP2OP_INDEXEDTRIANGLELIST:
        return draw_absolute(made, n, at);
    case D3DDP2OP_TRIANGLEFAN_IMM:
        return draw_imm(made, n, at);
    case D3DDP2OP_DRAWPRIMITIVE:
    case D3DDP2OP_DRAWPRIMITIVE2:
        return n ? draw_stream(made, opcode, at) : D3D_OK;
    case D3DDP2OP_DRAWINDEXEDPRIMITIVE:
        return n ? draw_indexed(made, at) : D3D_OK;
    default:
        return D3D_OK;
    }
}
