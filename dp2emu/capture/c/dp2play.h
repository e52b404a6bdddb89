/*
 * dp2play.h: make calls of a capture to the driver this is linked with.
 *
 * What "dp2emu convert X.dp2 X.c" writes includes a copy of this and says the calls; the driver's
 * entry points are listed in dp2entry.h.  C89; of the library only what allocates and prints.
 */
#ifndef DP2PLAY_H
#define DP2PLAY_H

#include <stdio.h>
#include <stdlib.h>

#include "dp2entry.h"

#define DP2PLAY_U64(high, low) ((dp2log_u64)(high) << 32 | (dp2log_u64)(low))

/* What the stub writes before the bytes of a response: a record's head and an answer's. */
#define DP2PLAY_ANSWER (DP2LOG_RECORD_SIZE + 16)

static struct {
    dp2stub stub;
    dp2_u8 answer[DP2PLAY_ANSWER];
    size_t heard;
    dp2log_u64 commands;           /* the surface of the last call, where its response is */
    unsigned long calls;
    unsigned long differences;
} dp2play;

/* Keeps the head of an answer; the response is still in the command buffer. */
static int dp2play_hear(void *to, const void *data, size_t size)
{
    const dp2_u8 *at = (const dp2_u8 *)data;
    size_t left = DP2PLAY_ANSWER - dp2play.heard;
    size_t taken = size < left ? size : left;
    dp2stub_copy(dp2play.answer + dp2play.heard, at, taken);
    dp2play.heard += taken;
    return to == NULL;
}

static void *dp2play_reserve(size_t size)
{
    return calloc(size ? size : 1, 1);
}

DP2_FUNCTION void dp2play_begin(void)
{
    dp2stub_enter(&dp2play.stub.driver);
    dp2stub_ready(&dp2play.stub);
    dp2play.stub.reserve = dp2play_reserve;
    dp2play.stub.release = free;
    dp2log_begin(&dp2play.stub.log, dp2play_hear, NULL);
}

static void dp2play_result(const char *what, dp2_u32 result)
{
    if (result)
        printf("%s: 0x%08lx\n", what, (unsigned long)result);
    fflush(stdout);
}

DP2_FUNCTION void dp2play_context(dp2_u32 interface_version, dp2log_u64 context,
                                  dp2log_u64 color, dp2log_u64 depth)
{
    dp2_u8 payload[32];
    dp2_u8 *at = dp2log_put32(payload, DP2LOG_CREATED);
    at = dp2log_put32(at, interface_version);
    at = dp2log_put64(at, context);
    at = dp2log_put64(at, color);
    dp2log_put64(at, depth);
    dp2play_result("context", dp2stub_open(&dp2play.stub, payload));
}

DP2_FUNCTION void dp2play_no_context(dp2log_u64 context)
{
    dp2_u8 payload[32];
    dp2stub_clear(payload, sizeof(payload));
    dp2log_put64(payload + 8, context);
    dp2play_result("end of a context", dp2stub_close(&dp2play.stub, payload));
}

/* `payload` is the payload of a MAKE record (docs/rigs.rst). */
DP2_FUNCTION void dp2play_surface(const dp2_u8 *payload)
{
    dp2play_result("surface", dp2stub_make(&dp2play.stub, payload, DP2STUB_MAKE_BYTES));
}

DP2_FUNCTION void dp2play_no_surface(dp2log_u64 handle)
{
    dp2play_result("end of a surface", dp2stub_unmake(&dp2play.stub, handle));
}

DP2_FUNCTION void dp2play_memory(dp2log_u64 handle, dp2log_u64 offset, const dp2_u8 *bytes,
                                 size_t size)
{
    dp2_u32 result = dp2stub_transfer(&dp2play.stub, handle, offset, size, NULL, bytes);
    dp2play_result("memory", result);
}

/* NULL for `commands` or `vertices` is memory that is there already. */
DP2_FUNCTION void dp2play_call(const DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data,
                               const dp2_u8 *commands, size_t command_bytes,
                               const dp2_u8 *vertices, size_t vertex_bytes)
{
    size_t fixed = DP2STUB_CALL_BYTES + sizeof(*data);
    size_t size = fixed + command_bytes + vertex_bytes;
    dp2_u8 *payload = (dp2_u8 *)malloc(size);
    dp2_u8 *at;
    if (!payload) {
        printf("out of memory\n");
        exit(2);
    }
    at = dp2log_put32(payload, (dp2_u32)(sizeof(void *) * 8));
    at = dp2log_put32(at, (commands ? DP2LOG_HAS_COMMANDS : 0u) |
                          (vertices ? DP2LOG_HAS_VERTICES : 0u));
    at = dp2log_put32(at, (dp2_u32)command_bytes);
    at = dp2log_put32(at, (dp2_u32)vertex_bytes);
    dp2stub_copy(at, data, sizeof(*data));
    dp2stub_copy(payload + fixed, commands, command_bytes);
    dp2stub_copy(payload + fixed + command_bytes, vertices, vertex_bytes);
    printf("call %lu\n", dp2play.calls++);
    fflush(stdout);
    dp2play.heard = 0;
    dp2play.commands = data->lpDDCommands;
    dp2stub_call(&dp2play.stub, payload, size);
    free(payload);
}

static void dp2play_differ(const char *what, dp2_u32 got, dp2_u32 wanted)
{
    printf("  %s is 0x%08lx, was 0x%08lx\n", what, (unsigned long)got, (unsigned long)wanted);
    dp2play.differences++;
}

/* What the capture says the last call was answered. */
DP2_FUNCTION void dp2play_expect(dp2_u32 ddrval, dp2_u32 error_offset, const dp2_u8 *response,
                                 size_t size)
{
    const dp2_u8 *answer = dp2play.answer + DP2LOG_RECORD_SIZE;
    dp2stub_surface *commands = dp2stub_find(&dp2play.stub, dp2play.commands);
    size_t i;
    if (dp2play.heard < DP2PLAY_ANSWER) {
        printf("  not answered, was 0x%08lx\n", (unsigned long)ddrval);
        dp2play.differences++;
        return;
    }
    if (DP2_U32(answer) != ddrval)
        dp2play_differ("ddrval", DP2_U32(answer), ddrval);
    if (DP2_U32(answer + 4) != error_offset)
        dp2play_differ("dwErrorOffset", DP2_U32(answer + 4), error_offset);
    if (DP2_U32(answer + 12) != size)
        return;
    for (i = 0; commands && i < size; i++)
        if (commands->level->memory[i] != response[i]) {
            dp2play_differ("a byte of the response", commands->level->memory[i], response[i]);
            return;
        }
}

DP2_FUNCTION int dp2play_end(void)
{
    printf("%lu calls, %lu differences\n", dp2play.calls, dp2play.differences);
    return dp2play.differences != 0;
}

#endif
