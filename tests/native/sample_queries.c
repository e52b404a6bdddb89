/* Queries of the sample driver, and the responses over the command buffer. */
#include "sample.h"

#define NO_QUERY DDERR_INVALIDPARAMS

static query *find(context *of, dp2_u32 id)
{
    int i;
    for (i = 0; i < QUERIES; i++)
        if (of->queries[i].live && of->queries[i].id == id)
            return &of->queries[i];
    return NULL;
}

static int answered(dp2_u32 type)
{
    return type == D3DQUERYTYPE_VCACHE || type == D3DQUERYTYPE_EVENT ||
           type == D3DQUERYTYPE_OCCLUSION;
}

static dp2_u32 create(context *of, dp2_u32 id, dp2_u32 type)
{
    query *made = find(of, id);
    int i;
    if (!answered(type))
        return NO_QUERY;
    for (i = 0; !made && i < QUERIES; i++)
        if (!of->queries[i].live)
            made = &of->queries[i];
    if (!made)
        return DDERR_OUTOFMEMORY;
    dp2stub_clear(made, sizeof(*made));
    made->id = id;
    made->type = type;
    made->live = 1;
    return D3D_OK;
}

static dp2_u32 drop(context *of, dp2_u32 id)
{
    query *gone = find(of, id);
    if (!gone)
        return NO_QUERY;
    gone->live = 0;
#ifndef BUG_DELETED_ANSWERS
    gone->ended = 0;
#endif
    return D3D_OK;
}

static void begin(context *of, query *asked)
{
    if (asked->type != D3DQUERYTYPE_OCCLUSION)
        return;
    asked->building = 1;
    asked->ended = 0;
#ifdef BUG_RESTART_ADDS
    if (asked->begun)
        return;
#endif
    asked->begun = of->pixels;
}

static void end(context *of, query *asked)
{
#ifndef BUG_END_COUNTS_ALL
    if (!asked->building)
        asked->begun = of->pixels;
#endif
    asked->pixels = of->pixels - asked->begun;
    asked->building = 0;
    asked->ended = ++of->ends;
}

static dp2_u32 issue(context *of, dp2_u32 id, dp2_u32 flags)
{
    query *asked = find(of, id);
#ifdef BUG_ISSUE_FLAGS
    flags = (flags & 1) << 1 | (flags & 2) >> 1;
#endif
    if (!asked)
        return NO_QUERY;
    if (flags & D3DISSUE_BEGIN)
        begin(of, asked);
    if (flags & D3DISSUE_END)
        end(of, asked);
    return D3D_OK;
}

dp2_u32 sample_query(context *of, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    dp2_u32 result = D3D_OK;
#ifdef BUG_FIRST_DELETED
    if (opcode == D3DDP2OP_DELETEQUERY && n)
        n = 1;
#endif
    while (result == D3D_OK && n--) {
        if (opcode == D3DDP2OP_CREATEQUERY)
            result = create(of, DP2_U32(at), DP2_U32(at + 4));
        else if (opcode == D3DDP2OP_ISSUEQUERY)
            result = issue(of, DP2_U32(at), DP2_U32(at + 4));
        else
            result = drop(of, DP2_U32(at));
        at += opcode == D3DDP2OP_DELETEQUERY ? 4 : 8;
    }
    return result;
}

/* Responses */

/* The answer that ended first; with skip, of those as large as a VCACHE's none. */
static query *first(context *of, int skip_large)
{
    query *found = NULL;
    int i;
    for (i = 0; i < QUERIES; i++) {
        query *each = &of->queries[i];
        if (!each->ended || (skip_large && each->type == D3DQUERYTYPE_VCACHE))
            continue;
#ifdef BUG_NEWEST_FIRST
        if (!found || each->ended > found->ended)
#else
        if (!found || each->ended < found->ended)
#endif
            found = each;
    }
    return found;
}

static size_t payload_of(const query *asked, dp2_u8 *to)
{
    dp2_u32 value = asked->type == D3DQUERYTYPE_EVENT ? 1 : asked->pixels;
    if (asked->type != D3DQUERYTYPE_VCACHE) {
        if (to)
            dp2log_put32(to, value);
        return 4;
    }
    if (to) {
        to = dp2log_put32(to, 0x48434143u);
        to = dp2log_put32(dp2log_put32(to, 0), 0);
        dp2log_put32(to, 0);
    }
    return 16;
}

static int more_than_one(context *of)
{
    int i, waiting = 0;
    for (i = 0; i < QUERIES; i++)
        waiting += of->queries[i].ended != 0;
    return waiting > 1;
}

static dp2_u8 *header(dp2_u8 *to, dp2_u32 opcode, dp2_u32 count, size_t total)
{
    return dp2log_put32(dp2log_put32(to, opcode | count << 16), (dp2_u32)total);
}

static int fits(context *of, const query *next, size_t used, size_t capacity)
{
    size_t reserve = more_than_one(of) ? 8 : 0;
#if defined(BUG_NO_RESERVE)
    reserve = 0;
#elif defined(BUG_OVERRUNS)
    return 1;
#endif
    return used + 8 + payload_of(next, NULL) + reserve <= capacity;
}

size_t sample_respond(context *of, dp2_u8 *to, size_t capacity)
{
    size_t used = 8;
    dp2_u32 count = 0;
    int skip_large = 0;
    query *next;
    while ((next = first(of, skip_large)) != NULL) {
        if (!fits(of, next, used, capacity)) {
            if (count || skip_large)
                break;
            skip_large = next->type == D3DQUERYTYPE_VCACHE;
            if (!skip_large)
                break;
            continue;
        }
        dp2log_put32(dp2log_put32(to + used, next->id), (dp2_u32)payload_of(next, NULL));
        used += 8 + payload_of(next, to + used + 8);
        next->ended = 0;
        count++;
    }
    if (!count)
#ifdef BUG_EMPTY_RESPONSE
        return header(to, D3DDP2OP_RESPONSEQUERY, 0, 8), 8;
#else
        return 0;
#endif
#ifdef BUG_TOTAL_WITHOUT_HEADER
    header(to, D3DDP2OP_RESPONSEQUERY, count, used - 8);
#else
    header(to, D3DDP2OP_RESPONSEQUERY, count, used);
#endif
    if (first(of, 0)) {
#ifdef BUG_LEFT_OVER_LOST
        int i;
        for (i = 0; i < QUERIES; i++)
            of->queries[i].ended = 0;
#elif !defined(BUG_NO_CONTINUE)
        header(to + used, D3DDP2OP_RESPONSECONTINUE, 0, 8);
        used += 8;
#endif
    }
    return used;
}
