/* Pixels of the sample driver: coverage of triangles, lines and points, alpha test, blending. */
#include "sample.h"

#define CULL_CW 2
#define CULL_CCW 3
#define SHADE_FLAT 1
#define PIXEL 256  /* steps of a coordinate */

typedef struct drawing {
    context *of;
    canvas on;
    canvas depth;
    texture from;
    dp2_i32 box[4];  /* left, top, right, bottom: where pixels may be drawn */
} drawing;

static dp2_i32 least(dp2_i32 a, dp2_i32 b)
{
    return a < b ? a : b;
}

static dp2_i32 most(dp2_i32 a, dp2_i32 b)
{
    return a > b ? a : b;
}

static void clip(dp2_i32 *box, const dp2_i32 *to)
{
    int i;
    for (i = 0; i < 2; i++) {
        box[i] = most(box[i], to[i]);
        box[i + 2] = least(box[i + 2], to[i + 2]);
    }
}

static int scissored(const context *of)
{
#ifdef BUG_SCISSOR_ALWAYS
    (void)of;
    return 1;
#else
    return of->states[SCISSORTESTENABLE] != 0;
#endif
}

static drawing begin_drawing(context *of)
{
    drawing made;
    made.of = of;
    made.on = sample_canvas(of);
    made.depth = sample_depth(of);
    if (!of->states[ZENABLE])
        made.depth.bytes = NULL;
    made.from = sample_texture(of);
    made.box[0] = made.box[1] = 0;
    made.box[2] = made.on.width;
    made.box[3] = made.on.height;
#ifndef BUG_VIEWPORT_IGNORED
    clip(made.box, of->viewport);
#endif
    if (scissored(of))
        clip(made.box, of->scissor);
    return made;
}

/* Merging */

static dp2_u32 lane(dp2_u32 color, int shift)
{
    return color >> shift & 0xff;
}

/* Whether a comparison lets a value pass: `kept` has bits for less, equal and greater. */
static int compares(dp2_u32 kept, dp2_u32 value, dp2_u32 reference)
{
    return kept >> (value < reference ? 0 : value == reference ? 1 : 2) & 1;
}

static int passes(const context *of, dp2_u32 alpha)
{
    dp2_u32 kept = of->states[ALPHAFUNC] - 1;
    if (!of->states[ALPHATESTENABLE])
        return 1;
#ifdef BUG_ALPHA_STRICT
    kept = kept == 2 ? 2 : kept & 5;
#endif
    return compares(kept, alpha, of->states[ALPHAREF] & 0xff);
}

/* Depth test and write of a pixel; those outside of the depth surface pass. */
static int nearer(const drawing *made, dp2_i32 x, dp2_i32 y, dp2_u32 z)
{
    dp2_u32 kept = made->of->states[ZFUNC] - 1;
    dp2_u8 *at;
    if (!made->depth.bytes || x >= made->depth.width || y >= made->depth.height)
        return 1;
    at = made->depth.bytes + (size_t)y * made->depth.pitch + 2 * (size_t)x;
#ifdef BUG_DEPTH_EQUAL
    kept = kept == 2 ? 0 : kept;
#endif
    if (!compares(kept, z, DP2_U16(at)))
        return 0;
#ifndef BUG_DEPTH_ALWAYS_WRITTEN
    if (!made->of->states[ZWRITEENABLE])
        return 1;
#endif
    at[0] = (dp2_u8)z;
    at[1] = (dp2_u8)(z >> 8);
    return 1;
}

/* A factor of D3DBLEND for one channel: 0 to 255. */
static dp2_u32 factor(const context *of, dp2_u32 kind, dp2_u32 source, dp2_u32 target, int shift)
{
    dp2_u32 value;
    switch (kind) {
    case 1:
        return 0;
    case 3: case 4:
        value = lane(source, shift);
        break;
    case 5: case 6:
        value = lane(source, 24);
        break;
    case 7: case 8:
#ifdef BUG_DEST_ALPHA
        value = lane(source, 24);
#else
        value = lane(target, 24);
#endif
        break;
    case 9: case 10:
        value = lane(target, shift);
        break;
    case 11:
        value = 255 - lane(target, 24);
        return shift == 24 ? 255 : value < lane(source, 24) ? value : lane(source, 24);
    case 14: case 15:
        value = lane(of->states[BLENDFACTOR], shift);
        break;
    default:
        return 255;
    }
    return kind == 15 || (kind < 14 && !(kind & 1)) ? 255 - value : value;
}

static dp2_u32 combined(dp2_u32 operation, dp2_u32 source, dp2_u32 target)
{
    switch (operation) {
    case 2:
        return source > target ? source - target : 0;
    case 3:
#ifdef BUG_REVSUBTRACT
        return source > target ? source - target : 0;
#else
        return target > source ? target - source : 0;
#endif
    case 4:
        return source < target ? source : target;
    case 5:
        return source > target ? source : target;
    default:
        return source + target > 255 ? 255 : source + target;
    }
}

static dp2_u32 scaled(dp2_u32 value, dp2_u32 by)
{
    return (value * by + 127) / 255;
}

static dp2_u32 blended(const context *of, dp2_u32 source, dp2_u32 target)
{
    dp2_u32 color = 0, operation = SAMPLE_DDI > 7 ? of->states[BLENDOP] : 1;
    int shift;
    if (!of->states[ALPHABLENDENABLE])
        return source;
    for (shift = 0; shift < 32; shift += 8) {
        dp2_u32 one = lane(source, shift), other = lane(target, shift);
        if (operation < 4) {
            one = scaled(one, factor(of, of->states[SRCBLEND], source, target, shift));
            other = scaled(other, factor(of, of->states[DESTBLEND], source, target, shift));
        }
        color |= combined(operation, one, other) << shift;
    }
    return color;
}

/* The bits of a pixel that COLORWRITEENABLE lets through. */
static dp2_u32 writable(const context *of)
{
    static const dp2_u32 lanes[4] = {0xff0000u, 0xff00u, 0xffu, 0xff000000u};
    dp2_u32 mask = 0, enabled = of->states[COLORWRITEENABLE];
    int i;
#ifdef BUG_MASK_IGNORED
    enabled = 15;
#endif
    for (i = 0; i < 4; i++)
#ifdef BUG_MASK_ORDER
        if (enabled >> (i < 3 ? 2 - i : i) & 1)
#else
        if (enabled >> i & 1)
#endif
            mask |= lanes[i];
    return SAMPLE_DDI > 7 ? mask : 0xffffffffu;
}

static dp2_u8 *pixel_at(const canvas *on, dp2_i32 x, dp2_i32 y)
{
    return on->bytes + (size_t)y * on->pitch + 4 * (size_t)x;
}

static dp2_u32 stored(dp2_u32 color)
{
#ifdef BUG_CHANNEL_ORDER
    return (color & 0xff00ff00u) | lane(color, 0) << 16 | lane(color, 16);
#else
    return color;
#endif
}

/* A pixel inside of the box. */
static void merge(const drawing *made, dp2_i32 x, dp2_i32 y, dp2_u32 z, dp2_u32 color)
{
    dp2_u32 before, mask;
    dp2_u8 *at;
#ifdef BUG_DEPTH_FIRST
    if (!nearer(made, x, y, z) || !passes(made->of, color >> 24))
        return;
#else
    if (!passes(made->of, color >> 24) || !nearer(made, x, y, z))
        return;
#endif
    made->of->pixels++;
    if (!made->on.bytes)
        return;
    at = pixel_at(&made->on, x, y);
    before = DP2_U32(at);
    mask = writable(made->of);
    dp2log_put32(at, (blended(made->of, stored(color), before) & mask) | (before & ~mask));
}

static void put(const drawing *made, dp2_i32 x, dp2_i32 y, const point *from)
{
    if (x >= made->box[0] && x < made->box[2] && y >= made->box[1] && y < made->box[3])
        merge(made, x, y, (dp2_u32)from->z,
              sample_stage(made->of, &made->from, from->color, from->u, from->v));
}

/* Triangles */

/* Twice the area of a triangle: positive if it is clockwise on the screen. */
static dp2_i64 side(const point *a, const point *b, dp2_i32 x, dp2_i32 y)
{
    return (dp2_i64)(b->x - a->x) * (y - a->y) - (dp2_i64)(b->y - a->y) * (x - a->x);
}

/* An edge of a clockwise triangle that owns the pixel centres on it. */
static int owns(const point *a, const point *b)
{
#if defined(BUG_BOTTOM_RIGHT_RULE)
    return a->y == b->y ? b->x < a->x : b->y > a->y;
#elif defined(BUG_EDGES_DRAWN)
    (void)a, (void)b;
    return 1;
#else
    return a->y == b->y ? b->x > a->x : b->y < a->y;
#endif
}

static int culled(const context *of, int clockwise)
{
#ifdef BUG_CULL_INVERTED
    clockwise = !clockwise;
#endif
    return of->states[CULLMODE] == (dp2_u32)(clockwise ? CULL_CW : CULL_CCW);
}

static dp2_u32 mixed(const point *corners, const dp2_i64 *weights)
{
    dp2_i64 sum = weights[0] + weights[1] + weights[2];
    dp2_u32 color = 0;
    int shift, i;
    for (shift = 0; shift < 32; shift += 8) {
        dp2_i64 total = sum / 2;
        for (i = 0; i < 3; i++)
            total += weights[i] * (dp2_i64)lane(corners[i].color, shift);
        color |= (dp2_u32)(total / sum) << shift;
    }
    return color;
}

/* What a number is between the corners, rounded down. */
static dp2_i32 between(const dp2_i64 *weights, dp2_i32 a, dp2_i32 b, dp2_i32 c)
{
    dp2_i64 sum = weights[0] + weights[1] + weights[2];
    dp2_i64 total = weights[0] * a + weights[1] * b + weights[2] * c;
    return (dp2_i32)(total < 0 ? -((sum - 1 - total) / sum) : total / sum);
}

/* A pixel of a clockwise triangle, if its centre is inside or on an edge that owns it. */
static void fragment(const drawing *made, const point *corners, dp2_i32 x, dp2_i32 y)
{
    dp2_i64 weights[3];
    point at;
    int i;
    for (i = 0; i < 3; i++) {
        const point *a = &corners[(i + 1) % 3], *b = &corners[(i + 2) % 3];
        weights[i] = side(a, b, x * PIXEL, y * PIXEL);
        if (weights[i] < 0 || (weights[i] == 0 && !owns(a, b)))
            return;
    }
    at.color = mixed(corners, weights);
    at.z = between(weights, corners[0].z, corners[1].z, corners[2].z);
    at.u = between(weights, corners[0].u, corners[1].u, corners[2].u);
    at.v = between(weights, corners[0].v, corners[1].v, corners[2].v);
    put(made, x, y, &at);
}

/* The pixels that may be in a triangle. */
static void bound(dp2_i32 *box, const point *corners)
{
    dp2_i32 around[4];
    around[0] = least(least(corners[0].x, corners[1].x), corners[2].x);
    around[1] = least(least(corners[0].y, corners[1].y), corners[2].y);
    around[2] = most(most(corners[0].x, corners[1].x), corners[2].x);
    around[3] = most(most(corners[0].y, corners[1].y), corners[2].y);
    around[0] = around[0] / PIXEL - 1;
    around[1] = around[1] / PIXEL - 1;
    around[2] = around[2] / PIXEL + 2;
    around[3] = around[3] / PIXEL + 2;
    clip(box, around);
}

void sample_triangle(context *of, const point *given)
{
    drawing made = begin_drawing(of);
    point corners[3];
    dp2_i64 area = side(&given[0], &given[1], given[2].x, given[2].y);
    dp2_i32 x, y;
    int i;
    if (area == 0 || culled(of, area > 0))
        return;
    for (i = 0; i < 3; i++) {
        corners[i] = given[area < 0 && i ? 3 - i : i];
        if (of->states[SHADEMODE] == SHADE_FLAT)
#ifdef BUG_FLAT_LAST
            corners[i].color = given[2].color;
#else
            corners[i].color = given[0].color;
#endif
    }
    bound(made.box, corners);
    for (y = made.box[1]; y < made.box[3]; y++)
        for (x = made.box[0]; x < made.box[2]; x++)
            fragment(&made, corners, x, y);
}

/* Points and lines */

/* The pixel whose centre is nearest, of two the one on the left or above. */
static dp2_i32 nearest(dp2_i32 at)
{
    dp2_i32 up = at + PIXEL / 2 - 1;
    return up < 0 ? -((PIXEL - 1 - up) / PIXEL) : up / PIXEL;
}

void sample_point(context *of, point at)
{
    drawing made = begin_drawing(of);
    put(&made, nearest(at.x), nearest(at.y), &at);
}

/* Where a line is after some of its steps. */
static dp2_i32 along(dp2_i32 from, dp2_i32 to, dp2_i32 step, dp2_i32 steps)
{
    dp2_i64 moved = 2 * (dp2_i64)step * (to - from) + steps;
    dp2_i64 whole = moved / (2 * steps);
    return from + (dp2_i32)(moved < 0 && moved % (2 * steps) ? whole - 1 : whole);
}

static dp2_i32 size_of(dp2_i32 change)
{
    return change < 0 ? -change : change;
}

/* A line between the pixels of its ends, without the last. */
void sample_line(context *of, point start, point end)
{
    drawing made = begin_drawing(of);
    dp2_i32 x = nearest(start.x), y = nearest(start.y), step;
    dp2_i32 to_x = nearest(end.x), to_y = nearest(end.y);
    dp2_i32 steps = most(size_of(to_x - x), size_of(to_y - y));
    for (step = 0; step < steps; step++)
        put(&made, along(x, to_x, step, steps), along(y, to_y, step, steps), &start);
}

/* Clearing */

/* What a CLEAR stores: a colour, or a depth. */
typedef struct filling {
    const canvas *on;
    dp2_u32 size, value;  /* bytes of a pixel */
} filling;

static void fill(const filling *with, const dp2_i32 *box)
{
    dp2_i32 x, y, right = least(box[2], with->on->width), bottom = least(box[3], with->on->height);
    dp2_u32 i;
    for (y = box[1]; y < bottom; y++)
        for (x = box[0]; x < right; x++) {
            dp2_u8 *at = with->on->bytes + (size_t)y * with->on->pitch;
            for (i = 0; i < with->size; i++)
                at[with->size * (size_t)x + i] = (dp2_u8)(with->value >> 8 * i);
        }
}

static void fill_rectangle(const drawing *made, const dp2_u8 *at, const filling *with)
{
    dp2_i32 box[4], sides[4];
    int i;
    for (i = 0; i < 4; i++) {
        box[i] = made->box[i];
        sides[i] = (dp2_i32)DP2_U32(at + 4 * i);
#ifdef BUG_CLEAR_IGNORES_RECTS
        sides[i] = made->box[i];
#endif
    }
#ifdef BUG_CLEAR_INCLUSIVE
    sides[2] += sides[2] < 0x7fffffff;
    sides[3] += sides[3] < 0x7fffffff;
#endif
    clip(box, sides);
    fill(with, box);
}

static void clear(drawing made, const filling *with, dp2_u32 n, const dp2_u8 *at)
{
    dp2_u32 i;
    if (!with->on->bytes)
        return;
    if (!(DP2_U32(at) & D3DCLEAR_COMPUTERECTS)) {
        made.box[0] = made.box[1] = 0;
        made.box[2] = made.on.width;
        made.box[3] = made.on.height;
    } else if (n == 0) {
        fill(with, made.box);
    }
#ifdef BUG_CLEAR_FIRST_RECT
    n = n ? 1 : 0;
#endif
    for (i = 0; i < n; i++)
        fill_rectangle(&made, at + 16 + 16 * i, with);
}

void sample_clear(context *of, dp2_u32 n, const dp2_u8 *at)
{
    drawing made = begin_drawing(of);
    dp2_i32 z = sample_fixed(at + 8, 16, 0xffff);
    filling with;
    made.depth = sample_depth(of);  /* whether there is a depth test or not */
    with.on = &made.on;
    with.size = 4;
    with.value = stored(DP2_U32(at + 4));
    if (DP2_U32(at) & D3DCLEAR_TARGET)
        clear(made, &with, n, at);
    with.on = &made.depth;
    with.size = 2;
    with.value = (dp2_u32)(z < 0 ? 0 : z);
    if (DP2_U32(at) & D3DCLEAR_ZBUFFER)
        clear(made, &with, n, at);
}
