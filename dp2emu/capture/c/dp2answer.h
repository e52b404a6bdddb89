/*
 * dp2answer.h: write the answers of queries over the command buffer of a call.  C89, no library.
 *
 * dp2_answers_begin, then dp2_answer for each query in the order in which they ended, while it
 * returns 1, then dp2_answers_end, whose result goes into dwErrorOffset.
 */
#ifndef DP2ANSWER_H
#define DP2ANSWER_H

#include "dp2log.h"
#include "dp2walk.h"

#define DP2_RESPONSE_BYTES 8 /* of D3DHAL_DP2RESPONSE, and of D3DHAL_DP2RESPONSEQUERY too */

typedef struct dp2_answers {
    dp2_u8 *buffer;
    size_t room, used;
    dp2_u32 count;
} dp2_answers;

DP2_FUNCTION void dp2_answers_begin(dp2_answers *answers,
                                    const DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data)
{
    answers->buffer = dp2_commands_of(data, &answers->room);
    answers->used = DP2_RESPONSE_BYTES;
    answers->count = 0;
}

/* Write a D3DHAL_DP2RESPONSEQUERY and its payload; 0 if there is no room.  With `further` answers
 * behind it, room for a RESPONSECONTINUE is kept. */
DP2_FUNCTION int dp2_answer(dp2_answers *answers, dp2_u32 query, const dp2_u8 *payload,
                            dp2_u32 bytes, int further)
{
    size_t needed = answers->used + DP2_RESPONSE_BYTES + bytes, i;
    dp2_u8 *to = answers->buffer + answers->used;
    if (needed + (further ? DP2_RESPONSE_BYTES : 0) > answers->room)
        return 0;
    to = dp2log_put32(dp2log_put32(to, query), bytes);
    for (i = 0; i < bytes; i++)
        to[i] = payload[i];
    answers->used = needed;
    answers->count++;
    return 1;
}

DP2_FUNCTION void dp2_put_response(dp2_u8 *to, dp2_u32 opcode, dp2_u32 count, size_t bytes)
{
    dp2log_put32(dp2log_put32(to, opcode | count << 16), (dp2_u32)bytes);
}

/* Write the heads, RESPONSECONTINUE if there are `further` answers; returns the size of it all, 0
 * without an answer. */
DP2_FUNCTION dp2_u32 dp2_answers_end(dp2_answers *answers, int further)
{
    if (!answers->count)
        return 0;
    dp2_put_response(answers->buffer, D3DDP2OP_RESPONSEQUERY, answers->count, answers->used);
    if (further) {
        dp2_put_response(answers->buffer + answers->used, D3DDP2OP_RESPONSECONTINUE, 0,
                         DP2_RESPONSE_BYTES);
        answers->used += DP2_RESPONSE_BYTES;
    }
    return (dp2_u32)answers->used;
}

#endif
