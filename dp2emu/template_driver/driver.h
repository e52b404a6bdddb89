/* The driver's contexts, and what its two files call of each other. */
#ifndef DRIVER_H
#define DRIVER_H

#include "dp2stub.h"

#define CONTEXTS 8
#define QUERIES 256

typedef struct query {
    dp2_u32 id, type;
    int live, building;
    dp2_u32 begun;  /* pixels drawn before BEGIN */
    dp2_u32 pixels; /* the answer of an occlusion query */
    dp2_u32 ended;  /* number of the END to be answered, from 1 on; 0: no answer is due */
} query;

typedef struct context {
    int used;
    dp2_i32 width, height; /* of the render target */
    dp2_u32 pixels;        /* drawn so far */
    dp2_u32 ends;          /* ISSUEQUERY with END so far */
    query queries[QUERIES];
} context;

/* Executes CREATEQUERY, ISSUEQUERY or DELETEQUERY with `count` items at `at`; a result code. */
dp2_u32 execute_query(context *in, dp2_u32 opcode, dp2_u32 count, const dp2_u8 *at);

/* Writes the answers that fit over a command buffer of `room` bytes; returns their size. */
size_t respond(context *in, dp2_u8 *buffer, size_t room);

#endif
