/*
 * dp2walk.h: where the tokens of a DrawPrimitives2 stream end.  C89, no library.
 *
 * There is no length in the stream, so a walker must know every token.  This one knows them from
 * the table in dp2.h; nothing it reads, and no sum it makes, goes past the end it is given.
 */
#ifndef DP2WALK_H
#define DP2WALK_H

#include "dp2.h"

#define DP2_HEADER_BYTES 4
#define DP2_VERTEX_ALIGNMENT 4

/* Where a walk is.  `base` is the start of the command surface, from which vertices in the
 * stream are aligned; `vertex_bytes` the size of one of those. */
typedef struct dp2_walk {
    const dp2_u8 *base;
    size_t at;
    size_t end;
    size_t vertex_bytes;
} dp2_walk;

/* Go on by number * each bytes, if there are so many. */
DP2_FUNCTION int dp2_pass(size_t *at, size_t end, size_t number, size_t each)
{
    if (each != 0 && number > (end - *at) / each)
        return 0;
    *at += number * each;
    return 1;
}

DP2_FUNCTION int dp2_pass_vertices(const dp2_walk *walk, const dp2_token *token, dp2_u32 n,
                                   size_t *at)
{
    size_t gap;
    if (!dp2_pass(at, walk->end, 1, (size_t)token->item))
        return 0;
    gap = (DP2_VERTEX_ALIGNMENT - *at % DP2_VERTEX_ALIGNMENT) % DP2_VERTEX_ALIGNMENT;
    return dp2_pass(at, walk->end, 1, gap) &&
           dp2_pass(at, walk->end, (size_t)token->base + (size_t)token->each * n,
                    walk->vertex_bytes);
}

DP2_FUNCTION int dp2_pass_tails(const dp2_walk *walk, const dp2_token *token, dp2_u32 n,
                                size_t *at)
{
    dp2_u32 number = (dp2_u32)token->base + (dp2_u32)token->each * n;
    while (number--) {
        const dp2_u8 *item = walk->base + *at;
        if (!dp2_pass(at, walk->end, 1, (size_t)token->item))
            return 0;
        if (!dp2_pass(at, walk->end, DP2_U32(item + token->field0), (size_t)token->bytes0))
            return 0;
        if (token->bytes1 &&
            !dp2_pass(at, walk->end, DP2_U32(item + token->field1), (size_t)token->bytes1))
            return 0;
    }
    return 1;
}

/* What lies behind an item of a token whose fields are flags, or that is one of a kind. */
DP2_FUNCTION int dp2_pass_other_tail(dp2_u32 opcode, const dp2_u8 *item, size_t *at, size_t end)
{
    dp2_u32 flags;
    switch (opcode) {
    case D3DDP2OP_UPDATEPALETTE:
        return dp2_pass(at, end, DP2_U16(item + 6), 4);
    case D3DDP2OP_SETLIGHT:
        return DP2_U32(item + 4) != 2 || dp2_pass(at, end, 1, 104);
    case D3DDP2OP_EXT:
        return DP2_U32(item + 4) <= 8 || dp2_pass(at, end, DP2_U32(item + 4) - 8, 1);
    case D3DDP2OP_DRAWRECTPATCH:
        flags = DP2_U32(item + 4);
        return dp2_pass(at, end, flags & RTPATCHFLAG_HASSEGS ? 1 : 0, 16) &&
               dp2_pass(at, end, flags & RTPATCHFLAG_HASINFO ? 1 : 0, 28);
    case D3DDP2OP_DRAWTRIPATCH:
        flags = DP2_U32(item + 4);
        return dp2_pass(at, end, flags & RTPATCHFLAG_HASSEGS ? 1 : 0, 12) &&
               dp2_pass(at, end, flags & RTPATCHFLAG_HASINFO ? 1 : 0, 16);
    case D3DDP2OP_SETCONVOLUTIONKERNELMONO:
        flags = DP2_U32(item + 8);
        return (!(flags & 1) || dp2_pass(at, end, DP2_U32(item), 4)) &&
               (!(flags & 2) || dp2_pass(at, end, DP2_U32(item + 4), 4));
    default:
        return 0;
    }
}

DP2_FUNCTION int dp2_pass_clear(const dp2_walk *walk, dp2_u32 n, size_t *at)
{
    const dp2_u8 *head = walk->base + *at;
    if (!dp2_pass(at, walk->end, 1, 16))
        return 0;
    if (n == 0)
        n = DP2_U32(head) & D3DCLEAR_COMPUTERECTS ? 1 : 0;
    return dp2_pass(at, walk->end, n, 16);
}

DP2_FUNCTION int dp2_pass_other(const dp2_walk *walk, dp2_u32 opcode, dp2_u32 n, size_t *at)
{
    size_t item_bytes = opcode == D3DDP2OP_SETCONVOLUTIONKERNELMONO ? 12 : 8;
    if (opcode == D3DDP2OP_CLEAR)
        return dp2_pass_clear(walk, n, at);
    if (opcode == D3DDP2OP_UPDATEPALETTE)
        n = 1;
    while (n--) {
        const dp2_u8 *item = walk->base + *at;
        if (!dp2_pass(at, walk->end, 1, item_bytes))
            return 0;
        if (!dp2_pass_other_tail(opcode, item, at, walk->end))
            return 0;
    }
    return 1;
}

/* Where the token at walk->at ends; 0 if it is none, or does not end before walk->end. */
DP2_FUNCTION size_t dp2_token_end(const dp2_walk *walk)
{
    size_t at = walk->at;
    const dp2_u8 *header = walk->base + at;
    const dp2_token *token;
    dp2_u32 n;
    int whole = 0;
    if (!dp2_pass(&at, walk->end, 1, DP2_HEADER_BYTES))
        return 0;
    token = dp2_token_of(header[0]);
    n = DP2_U16(header + 2);
    if (token->kind == DP2_LINEAR)
        whole = dp2_pass(&at, walk->end, 1, (size_t)token->base + (size_t)token->each * n);
    else if (token->kind == DP2_VERTICES)
        whole = dp2_pass_vertices(walk, token, n, &at);
    else if (token->kind == DP2_TAILS)
        whole = dp2_pass_tails(walk, token, n, &at);
    else if (token->kind == DP2_OTHER)
        whole = dp2_pass_other(walk, header[0], n, &at);
    return whole ? at : 0;
}

/* The command buffer of a call and its size, or NULL and 0. */
DP2_FUNCTION dp2_u8 *dp2_commands_of(const DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data,
                                     size_t *room)
{
    const DP2_NAME(DD_SURFACE_LOCAL) *local = (const DP2_NAME(DD_SURFACE_LOCAL) *)data->lpDDCommands;
    const DP2_NAME(DD_SURFACE_GLOBAL) *global;
    *room = 0;
    if (!local)
        return NULL;
    global = (const DP2_NAME(DD_SURFACE_GLOBAL) *)local->lpGbl;
    *room = (size_t)global->lPitch * global->wHeight;
    return (dp2_u8 *)global->fpVidMem;
}

/* The tokens of a call; 0 if they do not lie in its command buffer. */
DP2_FUNCTION int dp2_walk_call(dp2_walk *walk, const DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data)
{
    size_t room;
    walk->base = dp2_commands_of(data, &room);
    walk->at = data->dwCommandOffset;
    walk->end = walk->at + data->dwCommandLength;
    walk->vertex_bytes = data->dwVertexSize;
    return !data->dwCommandLength || (walk->end <= room && walk->end > walk->at);
}

#endif
