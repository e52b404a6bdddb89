/* The sample driver: what its files share.  SAMPLE_DDI is the DirectX version whose driver it is. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "dp2log.h"
#include "dp2stub.h"
#include "dp2walk.h"

#ifndef SAMPLE_DDI
#define SAMPLE_DDI 9
#endif

#if defined(_MSC_VER)
typedef __int64 dp2_i64;
#elif defined(__GNUC__)
__extension__ typedef long long dp2_i64;
#else
typedef long long dp2_i64;
#endif

#define CONTEXTS 8
#define SURFACES 256
#define QUERIES 256
#define STATES 256
#define STREAMS 16
#define BLOCKS 8

enum render_state {
    ZENABLE = 7,
    SHADEMODE = 9,
    ZWRITEENABLE = 14,
    ALPHATESTENABLE = 15,
    SRCBLEND = 19,
    DESTBLEND = 20,
    CULLMODE = 22,
    ZFUNC = 23,
    ALPHAREF = 24,
    ALPHAFUNC = 25,
    ALPHABLENDENABLE = 27,
    COLORWRITEENABLE = 168,
    BLENDOP = 171,
    SCISSORTESTENABLE = 174,
    BLENDFACTOR = 193
};

/* States of texture stage 0; those of samplers have the numbers of the interface. */
enum stage_state {
    TEXTUREMAP = 0,
    COLOROP = 1,
    COLORARG1 = 2,
    COLORARG2 = 3,
    ALPHAOP = 4,
    ALPHAARG1 = 5,
    ALPHAARG2 = 6,
    ADDRESSU = 13,
    ADDRESSV = 14,
    BORDERCOLOR = 15,
    STAGE_STATES = 33
};

typedef struct query {
    dp2_u32 id;
    dp2_u32 type;
    int live;
    int building;
    dp2_u32 begun;   /* pixels counted before BEGIN */
    dp2_u32 pixels;  /* the answer */
    dp2_u32 ended;   /* when END came, counted from 1; 0 if no answer waits */
} query;

typedef struct source {
    const dp2_u8 *bytes;
    size_t size;
    dp2_u32 stride;
    dp2_u32 format;  /* of vertices, an FVF code */
} source;

typedef struct block {
    dp2_u32 handle;
    dp2_u8 has[STATES];            /* which render states are in it */
    dp2_u32 states[STATES];
} block;

typedef struct context {
    int used;
    dp2_u32 target;                /* a surface handle */
    dp2_u32 depth;                 /* another, or 0 */
    dp2_i32 viewport[4];           /* left, top, right, bottom */
    dp2_i32 scissor[4];
    dp2_u32 states[STATES];
    dp2_u32 stage[STAGE_STATES];
    block blocks[BLOCKS];
    block *recording;              /* NULL unless a block is being recorded */
    source streams[STREAMS];
    source indices;
    dp2_u32 format;                /* of the vertices in streams, an FVF code */
    dp2_u32 bounded;               /* the stride of the draw before */
    dp2_u32 pixels;                /* counted so far; only grows */
    dp2_u32 ends;
    query queries[QUERIES];
} context;

/* One call being executed. */
typedef struct call {
    context *context;
    D3DHAL_DRAWPRIMITIVES2DATA *data;
    const dp2_u8 *base;
    source vertices;               /* of the tokens of DirectX 6 and 7 */
    dp2_u32 vertex_bytes;
} call;

/* The target of a context; `bytes` is NULL if its pixels can be counted but not be written. */
typedef struct canvas {
    dp2_u8 *bytes;
    dp2_i32 width, height;
    dp2_u32 pitch;
} canvas;

/* A texture whose texels are numbers with a mask for each of blue, green, red and alpha, 0 for one
 * that is not there; those have their bits of `missing`.  `bytes` is NULL if there is none. */
typedef struct texture {
    const dp2_u8 *bytes;
    dp2_i32 width, height;
    dp2_u32 pitch, size;           /* bytes of a row, and of a texel */
    dp2_u32 masks[4];
    dp2_u32 missing;
} texture;

/* A vertex on the screen: place in 1/256 of a pixel, depth and texture coordinates in 1/65536,
 * colour as A8R8G8B8. */
typedef struct point {
    dp2_i32 x, y, z, u, v;
    dp2_u32 color;
} point;

/* A surface by its handle; size 0 if there is none. */
source sample_surface(dp2_u32 handle);
canvas sample_canvas(const context *of);
canvas sample_depth(const context *of);
texture sample_texture(const context *of);

/* sample_states.c */
void sample_target(context *of, dp2_u32 handle, dp2_u32 depth);
void sample_set(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at);

/* Payload from `at` to `end`; a result code. */
dp2_u32 sample_query(context *of, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at);
/* The number a float holds in 1 / 2^`scale`, no larger than `most`. */
dp2_i32 sample_fixed(const dp2_u8 *at, int scale, dp2_u32 most);
dp2_u32 sample_draw(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at);

/* Responses over `capacity` bytes; how many were written. */
size_t sample_respond(context *of, dp2_u8 *to, size_t capacity);

/* sample_textures.c: a colour after stage 0. */
dp2_u32 sample_stage(const context *of, const texture *from, dp2_u32 color, dp2_i32 u, dp2_i32 v);

/* sample_pixels.c */
void sample_clear(context *of, dp2_u32 n, const dp2_u8 *at);
void sample_point(context *of, point at);
void sample_line(context *of, point start, point end);
void sample_triangle(context *of, const point *corners);

/* Where a token ends, or 0; here mistakes in lengths are planted. */
size_t sample_token_end(const dp2_walk *walk);

#endif
