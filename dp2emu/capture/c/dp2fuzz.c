/*
 * dp2fuzz.c: fuzz the driver this is linked with.  An input is the bytes of a command buffer.
 *
 *     afl-clang-fast -g dp2fuzz.c mydriver.c -o fuzzed          AFL++, persistent mode
 *     clang -g -DDP2FUZZ_LIBFUZZER -fsanitize=fuzzer,address dp2fuzz.c mydriver.c -o fuzzed
 *     gcc -g dp2fuzz.c mydriver.c -o fuzzed                     ./fuzzed FILE... tries files
 *
 * Each input has a context of its own; surfaces stay.  The commands end where memory ends: at a
 * page without access, or at the sanitizer's poison, in the smallest of a few surfaces that has
 * room for them.  Beside crashes it finds, and aborts at,
 *   - a dwErrorOffset that is not the start of a token,
 *   - success for a stream that is cut off or has an invalid opcode,
 *     and whole streams are tried once more with invalid tokens behind them,
 *   - responses that are longer than the command surface or malformed,
 *   - an empty call that fails,
 *   - memory stored to beside a surface.
 *
 * Define DP2FUZZ_DDI (6 to 9) as the DirectX version of the driver, and DP2PLAY_NO_CREATE or
 * DP2PLAY_NO_SURFACE for a driver without D3dContextCreate and D3dContextDestroy, or without
 * D3dCreateSurfaceEx.
 */
#if defined(__unix__) || defined(__APPLE__)
#define _DEFAULT_SOURCE 1
#include <sys/mman.h>
#include <unistd.h>
#define DP2FUZZ_PAGES
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dp2stub.h"
#include "dp2walk.h"

#ifndef DP2FUZZ_DDI
#define DP2FUZZ_DDI 9
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DP2FUZZ_POISON
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define DP2FUZZ_POISON
#endif

#define COMMANDS 8 /* and the handles behind it */
#define TARGET 2
#define VERTICES 3
#define INDICES 4
#define COMMAND_BYTES 4096
#define SIDE 32
#define VERTEX_BYTES 20
#define VERTEX_COUNT 24
#define FORMAT 0x44 /* D3DFVF_XYZRHW | D3DFVF_DIFFUSE */
#define POLLS 4
#define FILLER 0xA5
#define TAIL 64 /* bytes of invalid tokens */

#ifdef __cplusplus
extern "C" {
#endif
dp2_u32 DP2_ENTRY D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data);
dp2_u32 DP2_ENTRY D3dContextCreate(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data);
dp2_u32 DP2_ENTRY D3dContextDestroy(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data);
dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data);
#ifdef __cplusplus
}
#endif

static dp2stub stub;
/* Sizes of the command surfaces: the smallest that holds an input gets it, and its answers. */
static const dp2_u32 rooms[] = {64, 128, 512, COMMAND_BYTES};
#define ROOMS (int)(sizeof(rooms) / sizeof(rooms[0]))
/* Filler bytes ahead of each surface, to be found unchanged. */
static struct {
    dp2_u8 *from;
    size_t size;
} margins[DP2STUB_SURFACES];
static int reserved;

static void broken(const char *what, unsigned long number)
{
    fprintf(stderr, "dp2fuzz: %s (%lu)\n", what, number);
    abort();
}

/* Memory that ends where nothing can be accessed, on systems that have it. */
static void *reserve(size_t size)
{
    dp2_u8 *memory;
#if defined(DP2FUZZ_PAGES) && !defined(DP2FUZZ_POISON)
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (size + page - 1) / page * page;
    memory = (dp2_u8 *)mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1,
                            0);
    if (memory == (dp2_u8 *)MAP_FAILED || mprotect(memory + room, page, PROT_NONE))
        return NULL;
    memset(memory, FILLER, room - size);
    margins[reserved].from = memory;
    margins[reserved++].size = room - size;
    memory += room - size;
#else
    memory = (dp2_u8 *)calloc(size, 1);
#endif
    return memory;
}

static void check_margins(void)
{
    int i;
    size_t at;
    for (i = 0; i < reserved; i++)
        for (at = 0; at < margins[i].size; at++)
            if (margins[i].from[at] != FILLER)
                broken("memory stored to before a surface", (unsigned long)i);
}

/* The setting */

static void make(dp2_u32 handle, dp2_u32 kind, dp2_u32 width, dp2_u32 height, dp2_u32 bytes)
{
    dp2_u8 payload[DP2STUB_MAKE_BYTES];
    static const dp2_u32 argb[8] = {32, 0x41, 0, 32, 0xff0000, 0xff00, 0xff, 0xff000000u};
    int i;
    dp2stub_clear(payload, sizeof(payload));
    dp2log_put64(payload, handle);
    dp2log_put64(payload + 24, bytes);
    dp2log_put32(payload + 32, kind);
    dp2log_put32(payload + 36, width);
    dp2log_put32(payload + 40, height);
    dp2log_put32(payload + 44, 1);
    dp2log_put32(payload + 48, bytes / height);
    dp2log_put32(payload + 52, 1);
    for (i = 0; kind && i < 8; i++)
        dp2log_put32(payload + 64 + 4 * i, argb[i]);
    if (dp2stub_make(&stub, payload, sizeof(payload)))
        broken("a surface is refused", handle);
}

/* Corners on and around the target, in halves of the bits that floats of 1 to 63 have. */
static void fill_vertices(dp2_u8 *to)
{
    int i;
    for (i = 0; i < VERTEX_COUNT; i++, to += VERTEX_BYTES) {
        dp2log_put32(to, 0x3f800000u + (dp2_u32)(i * 7 % 24) * 0x200000u);
        dp2log_put32(to + 4, 0x3f800000u + (dp2_u32)(i * 11 % 24) * 0x200000u);
        dp2log_put32(to + 8, 0x3f000000u);
        dp2log_put32(to + 12, 0x3f800000u);
        dp2log_put32(to + 16, 0xff000000u + (dp2_u32)i * 0x0a0505u);
    }
}

static void begin(void)
{
    int i;
    dp2stub_surface *indices;
    stub.driver.draw = D3dDrawPrimitives2;
#ifndef DP2PLAY_NO_CREATE
    stub.driver.create = D3dContextCreate;
    stub.driver.destroy = D3dContextDestroy;
#endif
#ifndef DP2PLAY_NO_SURFACE
    stub.driver.surface = D3dCreateSurfaceEx;
#endif
    stub.reserve = reserve;
    stub.release = free;
    stub.directdraw.lpGbl = (dp2_uptr)stub.adapter;
    for (i = 0; i < ROOMS; i++)
        make(COMMANDS + (dp2_u32)i, 0, rooms[i], 1, rooms[i]);
    make(TARGET, 1, SIDE, SIDE, 4 * SIDE * SIDE);
    make(VERTICES, 0, VERTEX_COUNT * VERTEX_BYTES, 1, VERTEX_COUNT * VERTEX_BYTES);
    make(INDICES, 0, 2 * VERTEX_COUNT, 1, 2 * VERTEX_COUNT);
    fill_vertices(dp2stub_find(&stub, VERTICES)->level->memory);
    indices = dp2stub_find(&stub, INDICES);
    for (i = 0; i < VERTEX_COUNT; i++)
        indices->level->memory[2 * i] = (dp2_u8)(i * 5 % VERTEX_COUNT);
}

static void context(int created)
{
    dp2_u8 payload[32];
    dp2stub_clear(payload, sizeof(payload));
    dp2log_put32(payload, created ? DP2LOG_CREATED : DP2LOG_DESTROYED);
    dp2log_put32(payload + 4, DP2FUZZ_DDI);
    dp2log_put64(payload + 8, 1);
    dp2log_put64(payload + 16, TARGET);
    if (created ? dp2stub_open(&stub, payload) : dp2stub_close(&stub, payload))
        broken("a context is refused", (unsigned long)created);
}

/* Judging */

/* Whether documents disagree about what follows a token, or are silent. */
static int disputed(const dp2_u8 *token)
{
    return token[0] == D3DDP2OP_EXT || (token[0] == D3DDP2OP_CLEAR && DP2_U16(token + 2) == 0);
}

/* Whether `offset` is where a token begins, or where no whole token does.  For success offset is
 * the end, which only a stream of whole tokens reaches. */
static int token_begins(const dp2_walk *from, size_t offset)
{
    dp2_walk walk = *from;
    int formats = 0;
    while (walk.at < walk.end && walk.at < offset) {
        dp2_u32 opcode = walk.base[walk.at];
        size_t next = dp2_token_end(&walk);
        if (formats && dp2_token_of(opcode)->kind == DP2_VERTICES)
            return 1; /* the size of its vertices depends on states */
        formats |= opcode == D3DDP2OP_SETVERTEXSHADER || opcode == D3DDP2OP_SETVERTEXSHADERDECL;
        if (next == 0)
            return 0;
        if (disputed(walk.base + walk.at))
            return 1;
        walk.at = next;
    }
    return walk.at == offset;
}

static void check_responses(const dp2_u8 *at, size_t size, size_t room)
{
    size_t left = size;
    if (size > room)
        broken("a response longer than the command surface", (unsigned long)size);
    while (left) {
        size_t total = left < 8 ? 0 : DP2_U32(at + 4);
        if (total < 8 || total > left ||
            (at[0] != D3DDP2OP_RESPONSEQUERY && at[0] != D3DDP2OP_RESPONSECONTINUE))
            broken("a malformed response", (unsigned long)(size - left));
        at += total;
        left -= total;
    }
}

/* A call of `size` bytes at the end of a command surface, by its number in `rooms`; whether it
 * consists of whole tokens. */
static int draw(const dp2_u8 *bytes, size_t size, int number)
{
    static dp2_u8 sent[COMMAND_BYTES];
    dp2stub_call_data data;
    dp2stub_surface *commands = dp2stub_find(&stub, COMMANDS + (dp2_u32)number);
    dp2_walk walk;
    dp2stub_clear(&data, sizeof(data));
    data.dwhContext = 1;
    data.lpDDCommands = COMMANDS + (dp2_u32)number;
    data.dwCommandOffset = size ? (dp2_u32)(rooms[number] - size) & ~3u : 0;
    data.dwCommandLength = (dp2_u32)size;
    data.lpDDVertex = VERTICES;
    data.dwVertexType = FORMAT;
    data.dwVertexLength = VERTEX_COUNT;
    data.dwVertexSize = VERTEX_BYTES;
    walk.base = sent;
    walk.at = data.dwCommandOffset;
    walk.end = walk.at + size;
    walk.vertex_bytes = VERTEX_BYTES;
    memcpy(sent + walk.at, bytes, size);
    memcpy(commands->level->memory + walk.at, bytes, size);
    dp2stub_point(&stub, &data, NULL);
    stub.driver.draw(&data);
    check_margins();
    if (data.dwVertexSize == 0) { /* where ddrval is */
        if (!token_begins(&walk, walk.end))
            broken("D3D_OK for a stream that cannot be decoded", data.dwErrorOffset);
        check_responses(commands->level->memory, data.dwErrorOffset, rooms[number]);
    } else if (size == 0) {
        broken("an empty call fails", data.dwVertexSize);
    } else if (data.dwErrorOffset >= walk.end || data.dwErrorOffset < walk.at ||
               !token_begins(&walk, data.dwErrorOffset)) {
        broken("dwErrorOffset is not the start of a token", data.dwErrorOffset);
    }
    return token_begins(&walk, walk.end);
}

static int room_for(size_t size)
{
    int number = 0;
    while (rooms[number] < size)
        number++;
    return number;
}

/* The commands once more, before invalid tokens: a driver that mistakes the length of the last
 * token does not stop at the first of these. */
static void draw_with_tail(const dp2_u8 *bytes, size_t size)
{
    static dp2_u8 longer[COMMAND_BYTES];
    size_t i;
    if (size > COMMAND_BYTES - TAIL)
        return;
    memcpy(longer, bytes, size);
    for (i = 0; i < TAIL; i++)
        longer[size + i] = (dp2_u8)(i % 4 ? 0 : 0xff);
    context(1);
    draw(longer, size + TAIL, room_for(size + TAIL));
    context(0);
}

static int try_input(const dp2_u8 *bytes, size_t size)
{
    static const dp2_u8 none[1] = {0};
    int i, number, whole;
    if (!stub.driver.draw)
        begin();
    if (size > COMMAND_BYTES)
        size = COMMAND_BYTES;
    number = room_for(size);
    context(1);
    whole = size && draw(bytes, size, number);
    for (i = 0; i < POLLS; i++)
        draw(none, 0, number);
    context(0);
    if (whole)
        draw_with_tail(bytes, size);
    return 0;
}

/* The fuzzers */

#if defined(DP2FUZZ_LIBFUZZER)

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const dp2_u8 *bytes, size_t size);
int LLVMFuzzerTestOneInput(const dp2_u8 *bytes, size_t size)
{
    return try_input(bytes, size);
}

#elif defined(__AFL_FUZZ_TESTCASE_LEN)

__AFL_FUZZ_INIT();

int main(void)
{
    unsigned char *bytes;
    begin();
    __AFL_INIT();
    bytes = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(10000))
        try_input(bytes, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    return 0;
}

#else

int main(int count, char **files)
{
    static dp2_u8 bytes[COMMAND_BYTES];
    int i;
    for (i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
        if (!file) {
            perror(files[i]);
            return 2;
        }
        fclose(file);
        try_input(bytes, size);
    }
    return 0;
}

#endif
