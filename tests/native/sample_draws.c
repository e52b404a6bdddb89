/* Drawing of the sample driver: which vertices each token draws. */
#include "sample.h"

#define MOST 0xffffff  /* primitives of a draw */
#define WHITE 0xffffffffu
#define FORMAT_PLACE 0x400eu   /* where a vertex format tells the kind of position */
#define FORMAT_XYZRHW 0x4u
#define FORMAT_PSIZE 0x20u
#define FORMAT_DIFFUSE 0x40u
#define FORMAT_SPECULAR 0x80u
#define FORMAT_TEXTURED 0xf00u /* how many texture coordinates */
#define FARTHEST 0x1fffff      /* of places in 1/256 */
#define DEEPEST 0xffff         /* of depth in 1/65536 */
#define WIDEST 0x7ffff         /* of texture coordinates in 1/65536 */

/* What is drawn: vertices, and NULL or the indices that choose them. */
typedef struct drawn {
    source from;
    const dp2_u8 *indices;
    int wide;                  /* indices of 32 bits */
    dp2_i64 base;              /* added to each index, or to the numbers 0, 1, ... */
} drawn;

/* The number a float holds, to the nearest 1 / 2^`scale`, and no larger than `most`. */
dp2_i32 sample_fixed(const dp2_u8 *at, int scale, dp2_u32 most)
{
    dp2_u32 bits = DP2_U32(at);
    int exponent = (int)(bits >> 23 & 0xff) - 127 - 23 + scale;
    dp2_u32 mantissa = (bits & 0x7fffff) | 0x800000;
    dp2_u32 value;
    if (exponent < -24)
        value = 0;
    else if (exponent < 0)
        value = (mantissa + (1u << (-exponent - 1))) >> -exponent;
    else
        value = exponent > 6 ? 0x1fffffff : mantissa << exponent;
    if (value > most)
        value = most;
    return bits >> 31 ? -(dp2_i32)value : (dp2_i32)value;
}

/* Vertices */

static dp2_u32 color_offset(dp2_u32 format)
{
    return format & FORMAT_PSIZE ? 20 : 16;
}

static dp2_u32 texture_offset(dp2_u32 format)
{
    return color_offset(format) + (format & FORMAT_DIFFUSE ? 4 : 0) +
           (format & FORMAT_SPECULAR ? 4 : 0);
}

static dp2_u32 bytes_read(dp2_u32 format)
{
    if (format & FORMAT_TEXTURED)
        return texture_offset(format) + 8;
    return format & FORMAT_DIFFUSE ? color_offset(format) + 4 : 16;
}

/* A vertex, or NULL where there is none. */
static const dp2_u8 *vertex(const context *of, const source *from, dp2_i64 number)
{
    dp2_u32 least = bytes_read(from->format), stride = from->stride;
#ifdef BUG_PREVIOUS_STRIDE
    stride = of->bounded && stride ? of->bounded : stride;
#endif
    (void)of;
    if (number < 0 || from->size < least)
        return NULL;
    if (stride && number > (dp2_i64)((from->size - least) / stride))
        return NULL;
    return from->bytes + (size_t)number * from->stride;
}

static point point_of(const source *from, const dp2_u8 *at)
{
    point made;
    const dp2_u8 *texel = at + texture_offset(from->format);
    int textured = (from->format & FORMAT_TEXTURED) != 0;
    made.x = sample_fixed(at, 8, FARTHEST);
    made.y = sample_fixed(at + 4, 8, FARTHEST);
    made.z = sample_fixed(at + 8, 16, DEEPEST);
    made.z = made.z < 0 ? 0 : made.z;
    made.u = textured ? sample_fixed(texel, 16, WIDEST) : 0;
    made.v = textured ? sample_fixed(texel + 4, 16, WIDEST) : 0;
#ifdef BUG_HALF_PIXEL
    made.x += 128;
    made.y += 128;
#endif
    made.color = WHITE;
    if (from->format & FORMAT_DIFFUSE)
#ifdef BUG_DIFFUSE_OFFSET
        made.color = DP2_U32(at + 12);
#else
        made.color = DP2_U32(at + color_offset(from->format));
#endif
    return made;
}

static dp2_u32 index_at(const drawn *what, dp2_u32 i)
{
    if (!what->indices)
        return i;
#ifndef BUG_INDEX_16_BITS
    if (what->wide)
        return DP2_U32(what->indices + 4 * i);
#endif
    return DP2_U16(what->indices + 2 * i);
}

/* The address of corner i, or NULL. */
static const dp2_u8 *corner(const context *of, const drawn *what, dp2_u32 i)
{
    dp2_i64 number = what->base + (dp2_i64)index_at(what, i);
#ifdef BUG_INDEX_WRAPS
    if (what->indices && !what->wide)
        number &= 0xffff;
#endif
#ifdef BUG_INDICES_UNCHECKED
    if (what->indices)
        return what->from.bytes + (size_t)number * what->from.stride;
#endif
    return vertex(of, &what->from, number);
}

/* Primitives */

static int corners_each(int kind)
{
    return kind == D3DPT_POINTLIST ? 1 : kind <= D3DPT_LINESTRIP ? 2 : 3;
}

/* Which corners triangle i of a primitive has. */
static void corners_of_triangle(int kind, dp2_u32 i, dp2_u32 *corners)
{
    if (kind == D3DPT_TRIANGLELIST) {
        corners[0] = 3 * i, corners[1] = 3 * i + 1, corners[2] = 3 * i + 2;
    } else if (kind == D3DPT_TRIANGLESTRIP) {
#ifdef BUG_STRIP_WINDING
        corners[0] = i, corners[1] = i + 1, corners[2] = i + 2;
#else
        corners[0] = i, corners[1] = i + 1 + (i & 1), corners[2] = i + 2 - (i & 1);
#endif
    } else {
        corners[0] = i + 1, corners[1] = i + 2, corners[2] = 0;
#if defined(BUG_FAN_DOUBLES_FIRST)
        corners[0] = i, corners[1] = i + 1;
#elif defined(BUG_FAN_CENTRE)
        corners[2] = i;
#endif
    }
}

static void corners_of(int kind, dp2_u32 i, dp2_u32 *corners)
{
    if (kind == D3DPT_POINTLIST)
        corners[0] = i;
    else if (kind == D3DPT_LINELIST)
        corners[0] = 2 * i, corners[1] = 2 * i + 1;
    else if (kind == D3DPT_LINESTRIP)
        corners[0] = i, corners[1] = i + 1;
    else
        corners_of_triangle(kind, i, corners);
}

static void draw_one(context *of, int each, const point *corners)
{
    if (each == 1)
        sample_point(of, corners[0]);
    else if (each == 2)
        sample_line(of, corners[0], corners[1]);
    else
        sample_triangle(of, corners);
}

/* Primitive i, of transformed vertices. */
static dp2_u32 primitive(context *of, const drawn *what, int kind, dp2_u32 i)
{
    dp2_u32 numbers[3];
    const dp2_u8 *found[3];
    point corners[3];
    int j, there = 0, each = corners_each(kind);
    corners_of(kind, i, numbers);
    for (j = 0; j < each; j++) {
        found[j] = corner(of, what, numbers[j]);
        there += found[j] != NULL;
    }
#ifdef BUG_INDEX_CHECK
    if (!there)
#else
    if (there < each)
#endif
        return D3DERR_DRIVERINVALIDCALL;
    for (j = 0; j < each; j++)
        corners[j] = point_of(&what->from, found[j]);
    if ((what->from.format & FORMAT_PLACE) == FORMAT_XYZRHW)
        draw_one(of, each, corners);
    return D3D_OK;
}

static dp2_u32 draw(context *of, const drawn *what, int kind, dp2_u32 count)
{
    dp2_u32 i, result = D3D_OK;
    if (count > MOST || kind < D3DPT_POINTLIST || kind > D3DPT_TRIANGLEFAN)
        return D3DERR_DRIVERINVALIDCALL;
#ifdef BUG_STRIP_LAST
    if (kind == D3DPT_TRIANGLESTRIP && count)
        count--;
#endif
    for (i = 0; i < count && result == D3D_OK; i++)
        result = primitive(of, what, kind, i);
    of->bounded = what->from.stride;
    return result;
}

/* Tokens of DirectX 6 and 7 */

static int kind_of(dp2_u32 opcode)
{
    switch (opcode) {
    case D3DDP2OP_LINELIST:
    case D3DDP2OP_INDEXEDLINELIST:
    case D3DDP2OP_INDEXEDLINELIST2:
    case D3DDP2OP_LINELIST_IMM:
        return D3DPT_LINELIST;
    case D3DDP2OP_LINESTRIP:
    case D3DDP2OP_INDEXEDLINESTRIP:
        return D3DPT_LINESTRIP;
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

static drawn of_call(call *made)
{
    drawn what;
    what.from = made->vertices;
    what.indices = NULL;
    what.wide = 0;
    what.base = 0;
    return what;
}

static dp2_u32 draw_plain(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    drawn what = of_call(made);
    what.base = DP2_U16(at);
#ifdef BUG_START_IGNORED
    what.base = 0;
#endif
    return draw(made->context, &what, kind_of(opcode), n);
}

static dp2_u32 draw_points(call *made, dp2_u32 n, const dp2_u8 *at)
{
    drawn what = of_call(made);
    dp2_u32 result = D3D_OK;
    for (; result == D3D_OK && n--; at += 4) {
        what.base = DP2_U16(at + 2);
        result = draw(made->context, &what, D3DPT_POINTLIST, DP2_U16(at));
    }
    return result;
}

/* Indices that count from wVStart. */
static dp2_u32 draw_from_start(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    drawn what = of_call(made);
#ifndef BUG_INDEX_START_IGNORED
    what.base = DP2_U16(at);
#endif
    what.indices = at + 2;
    return draw(made->context, &what, kind_of(opcode), n);
}

/* Indices that count from 0, and of triangles flags behind the three. */
static dp2_u32 draw_absolute(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    drawn what = of_call(made);
    dp2_u32 result = D3D_OK, each = opcode == D3DDP2OP_INDEXEDLINELIST ? 4 : 8;
#ifdef BUG_FIRST_TRIANGLE
    n = n ? 1 : 0;
#endif
    for (; result == D3D_OK && n--; at += each) {
        what.indices = at;
        result = draw(made->context, &what, kind_of(opcode), 1);
    }
    return result;
}

static dp2_u32 draw_imm(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    drawn what = of_call(made);
    int fan = opcode == D3DDP2OP_TRIANGLEFAN_IMM;
    size_t offset = (size_t)(at - made->base) + (fan ? 4 : 0);
#ifndef BUG_IMM_NOT_ALIGNED
    offset = (offset + 3) & ~(size_t)3;
#endif
    what.from.bytes = made->base + offset;
    what.from.size = (fan ? (size_t)n + 2 : (size_t)n * 2) * made->vertex_bytes;
    return draw(made->context, &what, kind_of(opcode), n);
}

/* Tokens of DirectX 8 and 9 */

static drawn of_stream(context *of)
{
    drawn what;
    what.from = of->streams[0];
    what.from.format = of->format;
    what.indices = NULL;
    what.wide = 0;
    what.base = 0;
    return what;
}

/* Let vertices begin some bytes further; 0 if there is no such place. */
static int move(source *from, dp2_i64 bytes)
{
    if (bytes < 0 || bytes > (dp2_i64)from->size)
        return 0;
    from->bytes += bytes;
    from->size -= (size_t)bytes;
    return 1;
}

/* DRAWPRIMITIVE and DRAWPRIMITIVE2: the second counts bytes. */
static dp2_u32 draw_stream(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    drawn what = of_stream(made->context);
    int bytes = opcode == D3DDP2OP_DRAWPRIMITIVE2;
#ifdef BUG_OFFSET_IN_VERTICES
    bytes = 0;
#endif
    if (bytes && !move(&what.from, DP2_U32(at + 4)))
        return D3DERR_DRIVERINVALIDCALL;
    what.base = bytes ? 0 : DP2_U32(at + 4);
    return draw(made->context, &what, (int)DP2_U32(at), DP2_U32(at + 8));
}

static dp2_u32 draw_clipped(call *made, const dp2_u8 *at)
{
    drawn what = of_stream(made->context);
    if (!move(&what.from, DP2_U32(at)))
        return D3DERR_DRIVERINVALIDCALL;
    return draw(made->context, &what, D3DPT_TRIANGLEFAN, DP2_U32(at + 8));
}

static dp2_u32 needed(int kind, dp2_u32 count)
{
    int each = corners_each(kind);
    int list = kind == D3DPT_POINTLIST || kind == D3DPT_LINELIST || kind == D3DPT_TRIANGLELIST;
    return list ? (dp2_u32)each * count : count + (dp2_u32)each - 1;
}

static dp2_i64 base_of(const dp2_u8 *at)
{
#if defined(BUG_BASE_IGNORED)
    (void)at;
    return 0;
#elif defined(BUG_BASE_UNSIGNED)
    return DP2_U32(at);
#else
    return (dp2_i32)DP2_U32(at);
#endif
}

/* Let indices begin where a token says, in bytes or indices; 0 if they are not all there. */
static int choose_indices(const context *of, drawn *what, int bytes, dp2_u32 first, dp2_u32 number)
{
    dp2_u32 each = of->indices.stride;
    dp2_i64 start;
    if (!of->indices.bytes || (each != 2 && each != 4))
        return 0;
    start = (dp2_i64)first * (bytes ? 1 : each);
    if (start + (dp2_i64)each * number > (dp2_i64)of->indices.size)
        return 0;
#ifdef BUG_START_INDEX_IGNORED
    start = 0;
#endif
    what->wide = each == 4;
    what->indices = of->indices.bytes + start;
    return 1;
}

/* DRAWINDEXEDPRIMITIVE and DRAWINDEXEDPRIMITIVE2: the second counts bytes. */
static dp2_u32 draw_indexed(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    context *of = made->context;
    drawn what = of_stream(of);
    int kind = (int)DP2_U32(at), bytes = opcode == D3DDP2OP_DRAWINDEXEDPRIMITIVE2;
    dp2_u32 count = DP2_U32(at + 20);
    if (count > MOST || !choose_indices(of, &what, bytes, DP2_U32(at + 16), needed(kind, count)))
        return D3DERR_DRIVERINVALIDCALL;
    if (bytes && !move(&what.from, (dp2_i32)DP2_U32(at + 4)))
        return D3DERR_DRIVERINVALIDCALL;
    what.base = bytes ? 0 : base_of(at + 4);
#ifdef BUG_MIN_INDEX_ADDED
    what.base += DP2_U32(at + 8);
#endif
    return draw(of, &what, kind, count);
}

static dp2_u32 draw_item(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    switch (opcode) {
    case D3DDP2OP_DRAWPRIMITIVE:
    case D3DDP2OP_DRAWPRIMITIVE2:
        return draw_stream(made, opcode, at);
    case D3DDP2OP_CLIPPEDTRIANGLEFAN:
        return draw_clipped(made, at);
    case D3DDP2OP_DRAWINDEXEDPRIMITIVE:
    case D3DDP2OP_DRAWINDEXEDPRIMITIVE2:
        return draw_indexed(made, opcode, at);
    default:
        return D3D_OK;
    }
}

static dp2_u32 draw_items(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    dp2_u32 result = D3D_OK, each = (dp2_u32)dp2_token_of(opcode)->each;
#ifdef BUG_FIRST_DRAW
    n = n ? 1 : 0;
#endif
    for (; result == D3D_OK && n--; at += each)
        result = draw_item(made, opcode, at);
    return result;
}

dp2_u32 sample_draw(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    switch (opcode) {
    case D3DDP2OP_POINTS:
        return draw_points(made, n, at);
    case D3DDP2OP_LINELIST:
    case D3DDP2OP_LINESTRIP:
    case D3DDP2OP_TRIANGLELIST:
    case D3DDP2OP_TRIANGLESTRIP:
    case D3DDP2OP_TRIANGLEFAN:
        return draw_plain(made, opcode, n, at);
    case D3DDP2OP_INDEXEDLINELIST2:
    case D3DDP2OP_INDEXEDLINESTRIP:
    case D3DDP2OP_INDEXEDTRIANGLELIST2:
    case D3DDP2OP_INDEXEDTRIANGLESTRIP:
    case D3DDP2OP_INDEXEDTRIANGLEFAN:
        return draw_from_start(made, opcode, n, at);
    case D3DDP2OP_INDEXEDLINELIST:
    case D3DDP2OP_INDEXEDTRIANGLELIST:
        return draw_absolute(made, opcode, n, at);
    case D3DDP2OP_TRIANGLEFAN_IMM:
    case D3DDP2OP_LINELIST_IMM:
        return draw_imm(made, opcode, n, at);
    default:
        return draw_items(made, opcode, n, at);
    }
}
