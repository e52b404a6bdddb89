/* What the walk of the kit finds, for a test to compare. */
#include "dp2walk.h"

/* Offsets of the tokens; `stop` is where the first that is none begins. */
size_t walk_tokens(const dp2_u8 *base, size_t start, size_t end, size_t vertex_bytes,
                   size_t *offsets, size_t room, size_t *stop)
{
    dp2_walk walk;
    size_t found = 0;
    walk.base = base;
    walk.at = start;
    walk.end = end;
    walk.vertex_bytes = vertex_bytes;
    while (found < room && walk.at < end) {
        size_t next = dp2_token_end(&walk);
        if (next == 0)
            break;
        offsets[found++] = walk.at;
        walk.at = next;
    }
    *stop = walk.at;
    return found;
}
