/* What AFL++ runs: a driver's walk beside that of the kit; where they differ it aborts.
 *
 * fuzzed FILE, the file being the bytes of a command buffer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sample.h"

#define ROOM 4096
#define VERTEX_BYTES 28

int main(int count, char **arguments)
{
    static dp2_u8 bytes[ROOM];
    dp2_walk right, own;
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (!file)
        return 2;
    right.base = bytes;
    right.at = 0;
    right.end = fread(bytes, 1, ROOM, file);
    right.vertex_bytes = VERTEX_BYTES;
    fclose(file);
    own = right;
    while (right.at < right.end) {
        size_t next = dp2_token_end(&right);
        if (sample_token_end(&own) != next)
            abort();
        if (next == 0)
            break;
        right.at = own.at = next;
    }
    return 0;
}
