/* The sample driver: what its files share.  It answers queries and counts pixels of triangles. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "dp2log.h"
#include "dp2stub.h"
#include "dp2walk.h"

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
} source;

typedef struct block {
    dp2_u32 handle;
    dp2_u8 has[STATES];            /* which render states are in it */
    dp2_u32 states[STATES];
} block;

typedef struct context {
    int used;
    dp2_i32 width, height;         /* of the target */
    dp2_i32 viewport[4];           /* left, top, right, bottom */
    dp2_i32 scissor[4];
    dp2_u32 states[STATES];
    block blocks[BLOCKS];
    block *recording;              /* NULL unless a block is being recorded */
    source streams[STREAMS];
    source indices;
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

/* A surface by its handle; size 0 if there is none. */
source sample_surface(dp2_u32 handle);

/* Payload from `at` to `end`; a result code. */
dp2_u32 sample_query(context *of, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at);
dp2_u32 sample_draw(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at);

/* Responses over `capacity` bytes; how many were written. */
size_t sample_respond(context *of, dp2_u8 *to, size_t capacity);

void sample_triangle(context *of, const dp2_u8 *a, const dp2_u8 *b, const dp2_u8 *c);

/* Where a token ends, or 0; here mistakes in lengths are planted. */
size_t sample_token_end(const dp2_walk *walk);

#endif
