/* Queries, and the responses that a call writes over its command buffer. */
#include "driver.h"

#define RESPONSE_BYTES 8 /* D3DHAL_DP2RESPONSE, and D3DHAL_DP2RESPONSEQUERY too */
#define VCACHE_BYTES 16  /* D3DDEVINFO_VCACHE */

static query *find(context *in, dp2_u32 id)
{
    int i;
    for (i = 0; i < QUERIES; i++)
        if (in->queries[i].live && in->queries[i].id == id)
            return &in->queries[i];
    return NULL;
}

static dp2_u32 create(context *in, dp2_u32 id, dp2_u32 type)
{
    query *made = find(in, id);
    int i;
    if (type != D3DQUERYTYPE_VCACHE && type != D3DQUERYTYPE_EVENT &&
        type != D3DQUERYTYPE_OCCLUSION)
        return DDERR_INVALIDPARAMS;
    for (i = 0; !made && i < QUERIES; i++)
        if (!in->queries[i].live)
            made = &in->queries[i];
    if (!made)
        return DDERR_OUTOFMEMORY;
    dp2stub_clear(made, sizeof(*made));
    made->id = id;
    made->type = type;
    made->live = 1;
    return D3D_OK;
}

static void issue(context *in, query *asked, dp2_u32 flags)
{
    if (flags & D3DISSUE_BEGIN && asked->type == D3DQUERYTYPE_OCCLUSION) {
        asked->building = 1;
        asked->begun = in->pixels;
        asked->ended = 0;
    }
    if (flags & D3DISSUE_END) {
        asked->pixels = asked->building ? in->pixels - asked->begun : 0;
        asked->building = 0;
        asked->ended = ++in->ends;
    }
}

dp2_u32 execute_query(context *in, dp2_u32 opcode, dp2_u32 count, const dp2_u8 *at)
{
    dp2_u32 result = D3D_OK;
    for (; count && result == D3D_OK; count--) {
        query *asked = find(in, DP2_U32(at));
        if (opcode == D3DDP2OP_CREATEQUERY)
            result = create(in, DP2_U32(at), DP2_U32(at + 4));
        else if (!asked)
            result = DDERR_INVALIDPARAMS;
        else if (opcode == D3DDP2OP_ISSUEQUERY)
            issue(in, asked, DP2_U32(at + 4));
        else
            dp2stub_clear(asked, sizeof(*asked));
        at += opcode == D3DDP2OP_DELETEQUERY ? 4 : 8;
    }
    return result;
}

/* The first query to be answered whose END came after END number `after`, or NULL. */
static query *next_answer(context *in, dp2_u32 after)
{
    query *found = NULL;
    int i;
    for (i = 0; i < QUERIES; i++)
        if (in->queries[i].ended > after && (!found || in->queries[i].ended < found->ended))
            found = &in->queries[i];
    return found;
}

static void put_response(dp2_u8 *to, dp2_u32 opcode, dp2_u32 count, size_t bytes)
{
    dp2log_put32(dp2log_put32(to, opcode | count << 16), (dp2_u32)bytes);
}

/* Writes a D3DHAL_DP2RESPONSEQUERY and its payload; returns where it ends. */
static dp2_u8 *put_answer(dp2_u8 *to, const query *answered)
{
    int vcache = answered->type == D3DQUERYTYPE_VCACHE;
    to = dp2log_put32(dp2log_put32(to, answered->id), vcache ? VCACHE_BYTES : 4);
    if (vcache) /* "CACH", and 0: strips as long as possible */
        return dp2log_put64(dp2log_put64(to, 0x48434143u), 0);
    return dp2log_put32(to, answered->type == D3DQUERYTYPE_EVENT ? 1 : answered->pixels);
}

size_t respond(context *in, dp2_u8 *buffer, size_t room)
{
    dp2_u8 answer[RESPONSE_BYTES + VCACHE_BYTES];
    size_t used = RESPONSE_BYTES;
    dp2_u32 count = 0;
    query *next;
    while ((next = next_answer(in, 0)) != NULL) {
        size_t bytes = (size_t)(put_answer(answer, next) - answer);
        size_t kept = next_answer(in, next->ended) ? RESPONSE_BYTES : 0; /* for RESPONSECONTINUE */
        if (used + bytes + kept > room)
            break;
        dp2stub_copy(buffer + used, answer, bytes);
        used += bytes;
        next->ended = 0;
        count++;
    }
    if (!count)
        return 0;
    put_response(buffer, D3DDP2OP_RESPONSEQUERY, count, used);
    if (!next)
        return used;
    put_response(buffer + used, D3DDP2OP_RESPONSECONTINUE, 0, RESPONSE_BYTES);
    return used + RESPONSE_BYTES;
}
