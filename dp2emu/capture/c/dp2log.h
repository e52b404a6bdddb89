/*
 * dp2log.h: write a raw driver log for dp2emu from inside a display driver.
 *
 * C89, no library, no allocation, no floating point; a few hundred bytes of stack.  The format is
 * specified in streams/README.rst.  Everything goes out through one function of yours:
 *
 *     int my_write(void *to, const void *data, size_t size);      (0 is failure)
 *
 * After a failed write nothing more is written and log.failed stays set.  The log is not locked:
 * call it under the lock that serialises D3dDrawPrimitives2.  Log a call before executing it, and
 * its answer after; then a driver that crashes leaves the call that did it.
 *
 * Handles are what your records say consistently: surface handles for what tokens name by handle,
 * the address of the surface object for buffers only the call names.  In the structure given to
 * dp2log_call replace the three surface pointers (lpDDCommands, lpDDVertex, lpdwRStates) in a
 * copy by such handles; lpVertices becomes 0, its memory goes along as `vertices`.
 *
 * Times are ticks of any clock that does not run backwards, 0 if there is none.
 */
#ifndef DP2LOG_H
#define DP2LOG_H

#include <stddef.h>

#ifndef DP2LOG_FUNCTION
#if defined(__GNUC__)
#define DP2LOG_FUNCTION static __attribute__((unused))
#else
#define DP2LOG_FUNCTION static
#endif
#endif

#if defined(_MSC_VER)
typedef unsigned __int64 dp2log_u64;
#elif defined(__GNUC__)
/* C++98 has no long long, and __extension__ does not allow it there. */
typedef unsigned int dp2log_u64 __attribute__((mode(DI)));
#else
typedef unsigned long long dp2log_u64;
#endif
typedef unsigned int dp2log_u32;
typedef char dp2log_u64_has_64_bits[sizeof(dp2log_u64) == 8 ? 1 : -1];
typedef char dp2log_u32_has_32_bits[sizeof(dp2log_u32) == 4 ? 1 : -1];

#define DP2LOG_MAGIC "\x89" "DP2LOG1"
#define DP2LOG_MAGIC_SIZE 8
#define DP2LOG_RECORD_SIZE 20

#define DP2LOG_END 0
#define DP2LOG_CONTEXT 1
#define DP2LOG_SURFACE 2
#define DP2LOG_MEMORY 3
#define DP2LOG_CALL 4
#define DP2LOG_ANSWER 5
#define DP2LOG_FRAME 6
#define DP2LOG_ANNOTATION 7
#define DP2LOG_TEXTURE 8
#define DP2LOG_COLORKEY 9
#define DP2LOG_FLIP 10
#define DP2LOG_LOCK 11
#define DP2LOG_MANAGED 12
/* What an application saw; a driver has nothing to log of these. */
#define DP2LOG_PICTURE 13
#define DP2LOG_OBSERVATION 14
#define DP2LOG_BLIT 15
#define DP2LOG_ENTRY 16

#define DP2LOG_DESTROYED 0
#define DP2LOG_CREATED 1
#define DP2LOG_HAS_COMMANDS 1
#define DP2LOG_HAS_VERTICES 2

/* A longer memory write is logged in pieces; readers take 24 MiB at a time. */
#define DP2LOG_MEMORY_PIECE 0x1000000

/* sizeof(D3DHAL_DRAWPRIMITIVES2DATA) */
#define DP2LOG_DATA_SIZE_32 56
#define DP2LOG_DATA_SIZE_64 72

typedef int (*dp2log_write)(void *to, const void *data, size_t size);

typedef struct dp2log {
    dp2log_write write;
    void *to;
    dp2log_u64 calls;
    int failed;
} dp2log;

typedef struct dp2log_piece {
    const void *data;
    size_t size;
} dp2log_piece;

DP2LOG_FUNCTION unsigned char *dp2log_put32(unsigned char *at, dp2log_u32 value)
{
    at[0] = (unsigned char)(value & 0xff);
    at[1] = (unsigned char)(value >> 8 & 0xff);
    at[2] = (unsigned char)(value >> 16 & 0xff);
    at[3] = (unsigned char)(value >> 24 & 0xff);
    return at + 4;
}

DP2LOG_FUNCTION unsigned char *dp2log_put64(unsigned char *at, dp2log_u64 value)
{
    return dp2log_put32(dp2log_put32(at, (dp2log_u32)value), (dp2log_u32)(value >> 32));
}

/* CRC-32 of IEEE 802.3 (as in zlib), four bits at a time; start with 0. */
DP2LOG_FUNCTION dp2log_u32 dp2log_crc32(dp2log_u32 crc, const void *data, size_t size)
{
    static const dp2log_u32 table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu
    };
    const unsigned char *at = (const unsigned char *)data;
    crc = ~crc;
    while (size--) {
        crc ^= *at++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

DP2LOG_FUNCTION void dp2log_out(dp2log *log, const void *data, size_t size)
{
    if (!log->failed && size && !log->write(log->to, data, size))
        log->failed = 1;
}

/* One record: tag, length, time, CRC of those and the payload, payload. */
DP2LOG_FUNCTION void dp2log_record(dp2log *log, dp2log_u32 tag, dp2log_u64 time,
                                   const dp2log_piece *pieces, int count)
{
    unsigned char head[DP2LOG_RECORD_SIZE];
    unsigned char *at = head;
    size_t length = 0;
    dp2log_u32 crc;
    int i;
    for (i = 0; i < count; i++)
        length += pieces[i].size;
    at = dp2log_put32(at, tag);
    at = dp2log_put32(at, (dp2log_u32)length);
    at = dp2log_put64(at, time);
    crc = dp2log_crc32(0, head, (size_t)(at - head));
    for (i = 0; i < count; i++)
        crc = dp2log_crc32(crc, pieces[i].data, pieces[i].size);
    dp2log_put32(at, crc);
    dp2log_out(log, head, sizeof(head));
    for (i = 0; i < count; i++)
        dp2log_out(log, pieces[i].data, pieces[i].size);
}

DP2LOG_FUNCTION void dp2log_simple(dp2log *log, dp2log_u32 tag, dp2log_u64 time,
                                   const unsigned char *payload, size_t size)
{
    dp2log_piece piece;
    piece.data = payload;
    piece.size = size;
    dp2log_record(log, tag, time, &piece, 1);
}

DP2LOG_FUNCTION void dp2log_begin(dp2log *log, dp2log_write write, void *to)
{
    log->write = write;
    log->to = to;
    log->calls = 0;
    log->failed = 0;
    dp2log_out(log, DP2LOG_MAGIC, DP2LOG_MAGIC_SIZE);
}

/* A log without this still reads, with a remark that it was cut. */
DP2LOG_FUNCTION void dp2log_end(dp2log *log)
{
    unsigned char payload[8];
    dp2log_put64(payload, log->calls);
    dp2log_simple(log, DP2LOG_END, 0, payload, sizeof(payload));
}

DP2LOG_FUNCTION void dp2log_context(dp2log *log, dp2log_u64 time, dp2log_u32 event,
                                    dp2log_u32 interface_, dp2log_u64 context,
                                    dp2log_u64 color, dp2log_u64 depth)
{
    unsigned char payload[32];
    unsigned char *at = payload;
    at = dp2log_put32(at, event);
    at = dp2log_put32(at, interface_);
    at = dp2log_put64(at, context);
    at = dp2log_put64(at, color);
    dp2log_put64(at, depth);
    dp2log_simple(log, DP2LOG_CONTEXT, time, payload, sizeof(payload));
}

/* interface_ is the application's DirectX version, 6 to 9; color and depth may be 0. */
DP2LOG_FUNCTION void dp2log_context_created(dp2log *log, dp2log_u64 time, dp2log_u64 context,
                                            dp2log_u32 interface_, dp2log_u64 color,
                                            dp2log_u64 depth)
{
    dp2log_context(log, time, DP2LOG_CREATED, interface_, context, color, depth);
}

DP2LOG_FUNCTION void dp2log_context_destroyed(dp2log *log, dp2log_u64 time, dp2log_u64 context)
{
    dp2log_context(log, time, DP2LOG_DESTROYED, 0, context, 0, 0);
}

/* kind is a D3DRESOURCETYPE, 0 for plain memory such as a command buffer.  Buffers have a width
 * in bytes, height 1 and format 0.  samples is 1 without multisampling, pitch may be 0 (tight). */
typedef struct dp2log_surface_desc {
    dp2log_u64 handle;
    dp2log_u32 kind;
    dp2log_u32 width;
    dp2log_u32 height;
    dp2log_u32 format;
    dp2log_u32 pitch;
    dp2log_u32 samples;
    dp2log_u32 usage;
} dp2log_surface_desc;

DP2LOG_FUNCTION void dp2log_surface(dp2log *log, dp2log_u64 time, dp2log_u32 event,
                                    const dp2log_surface_desc *desc)
{
    unsigned char payload[40];
    unsigned char *at = payload;
    at = dp2log_put32(at, event);
    at = dp2log_put32(at, desc->kind);
    at = dp2log_put64(at, desc->handle);
    at = dp2log_put32(at, desc->width);
    at = dp2log_put32(at, desc->height);
    at = dp2log_put32(at, desc->format);
    at = dp2log_put32(at, desc->pitch);
    at = dp2log_put32(at, desc->samples);
    dp2log_put32(at, desc->usage);
    dp2log_simple(log, DP2LOG_SURFACE, time, payload, sizeof(payload));
}

DP2LOG_FUNCTION void dp2log_surface_created(dp2log *log, dp2log_u64 time,
                                            const dp2log_surface_desc *desc)
{
    dp2log_surface(log, time, DP2LOG_CREATED, desc);
}

DP2LOG_FUNCTION void dp2log_surface_destroyed(dp2log *log, dp2log_u64 time, dp2log_u64 handle)
{
    dp2log_surface_desc desc;
    desc.handle = handle;
    desc.kind = desc.width = desc.height = desc.format = 0;
    desc.pitch = desc.samples = desc.usage = 0;
    dp2log_surface(log, time, DP2LOG_DESTROYED, &desc);
}

DP2LOG_FUNCTION void dp2log_texture(dp2log *log, dp2log_u64 time,
                                    const dp2log_surface_desc *desc, dp2log_u32 depth,
                                    dp2log_u32 levels, dp2log_u32 index, dp2log_u64 parent)
{
    unsigned char payload[56];
    unsigned char *at = payload;
    at = dp2log_put64(at, desc->handle);
    at = dp2log_put32(at, desc->kind);
    at = dp2log_put32(at, desc->width);
    at = dp2log_put32(at, desc->height);
    at = dp2log_put32(at, desc->format);
    at = dp2log_put32(at, desc->pitch);
    at = dp2log_put32(at, desc->samples);
    at = dp2log_put32(at, desc->usage);
    at = dp2log_put32(at, depth);
    at = dp2log_put32(at, levels);
    at = dp2log_put32(at, index);
    dp2log_put64(at, parent);
    dp2log_simple(log, DP2LOG_TEXTURE, time, payload, sizeof(payload));
}

/* A texture with its mip levels; depth is 1 but for volumes. */
DP2LOG_FUNCTION void dp2log_texture_created(dp2log *log, dp2log_u64 time,
                                            const dp2log_surface_desc *desc, dp2log_u32 depth,
                                            dp2log_u32 levels)
{
    dp2log_texture(log, time, desc, depth, levels, 0, 0);
}

/* The handle of one level of a texture: face * levels + level is its index. */
DP2LOG_FUNCTION void dp2log_level_created(dp2log *log, dp2log_u64 time,
                                          const dp2log_surface_desc *desc, dp2log_u32 depth,
                                          dp2log_u64 texture, dp2log_u32 index)
{
    dp2log_texture(log, time, desc, depth, 1, index, texture);
}

/* A texture with DDSCAPS2_TEXTUREMANAGE; its levels are told by dp2log_level_created. */
DP2LOG_FUNCTION void dp2log_managed(dp2log *log, dp2log_u64 time,
                                    const dp2log_surface_desc *desc, dp2log_u32 depth,
                                    dp2log_u32 levels)
{
    unsigned char payload[44];
    unsigned char *at = payload;
    at = dp2log_put64(at, desc->handle);
    at = dp2log_put32(at, desc->kind);
    at = dp2log_put32(at, desc->width);
    at = dp2log_put32(at, desc->height);
    at = dp2log_put32(at, desc->format);
    at = dp2log_put32(at, desc->pitch);
    at = dp2log_put32(at, desc->samples);
    at = dp2log_put32(at, desc->usage);
    at = dp2log_put32(at, depth);
    dp2log_put32(at, levels);
    dp2log_simple(log, DP2LOG_MANAGED, time, payload, sizeof(payload));
}

DP2LOG_FUNCTION void dp2log_colorkey(dp2log *log, dp2log_u64 time, dp2log_u32 event,
                                     dp2log_u64 handle, dp2log_u32 low, dp2log_u32 high)
{
    unsigned char payload[20];
    unsigned char *at = payload;
    at = dp2log_put32(at, event);
    at = dp2log_put32(at, low);
    at = dp2log_put32(at, high);
    dp2log_put64(at, handle);
    dp2log_simple(log, DP2LOG_COLORKEY, time, payload, sizeof(payload));
}

/* DdSetColorKey for source blits: texels from low to high, as stored, are a texture's key. */
DP2LOG_FUNCTION void dp2log_colorkey_set(dp2log *log, dp2log_u64 time, dp2log_u64 handle,
                                         dp2log_u32 low, dp2log_u32 high)
{
    dp2log_colorkey(log, time, DP2LOG_CREATED, handle, low, high);
}

DP2LOG_FUNCTION void dp2log_colorkey_removed(dp2log *log, dp2log_u64 time, dp2log_u64 handle)
{
    dp2log_colorkey(log, time, DP2LOG_DESTROYED, handle, 0, 0);
}

/* DdFlip: two surfaces that are alike exchange what they hold.  A longer chain is several of these,
 * from its front on: front and first back buffer, first and second, and so on. */
DP2LOG_FUNCTION void dp2log_flip(dp2log *log, dp2log_u64 time, dp2log_u64 front, dp2log_u64 back)
{
    unsigned char payload[16];
    dp2log_put64(dp2log_put64(payload, front), back);
    dp2log_simple(log, DP2LOG_FLIP, time, payload, sizeof(payload));
}

/* DdBlt; `words` are the members from `left` on, without `source`: those of the target's rectangle,
 * then of the source's, flags, fx, fill, rop and the four words of the two colour keys. */
DP2LOG_FUNCTION void dp2log_blit(dp2log *log, dp2log_u64 time, dp2log_u64 target,
                                 dp2log_u64 source, const dp2log_u32 words[16])
{
    unsigned char payload[80];
    unsigned char *at = dp2log_put64(payload, target);
    int i;
    for (i = 0; i < 4; i++)
        at = dp2log_put32(at, words[i]);
    at = dp2log_put64(at, source);
    for (i = 4; i < 16; i++)
        at = dp2log_put32(at, words[i]);
    dp2log_simple(log, DP2LOG_BLIT, time, payload, sizeof(payload));
}

/* DdLock without DDLOCK_NOOVERWRITE; log it when the wait is over, and what the host stored when it
 * unlocks, with dp2log_memory. */
DP2LOG_FUNCTION void dp2log_lock(dp2log *log, dp2log_u64 time, dp2log_u64 handle)
{
    unsigned char payload[8];
    dp2log_put64(payload, handle);
    dp2log_simple(log, DP2LOG_LOCK, time, payload, sizeof(payload));
}

/* The host stored `size` bytes at `offset` of a surface. */
DP2LOG_FUNCTION void dp2log_memory(dp2log *log, dp2log_u64 time, dp2log_u64 handle,
                                   dp2log_u64 offset, const void *data, size_t size)
{
    unsigned char head[16];
    dp2log_piece pieces[2];
    const unsigned char *at = (const unsigned char *)data;
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    do {
        dp2log_put64(dp2log_put64(head, handle), offset);
        pieces[1].data = at;
        pieces[1].size = size < DP2LOG_MEMORY_PIECE ? size : DP2LOG_MEMORY_PIECE;
        dp2log_record(log, DP2LOG_MEMORY, time, pieces, 2);
        at += pieces[1].size;
        offset += pieces[1].size;
        size -= pieces[1].size;
    } while (size);
}

/* Before executing: `data` is a copy of the caller's D3DHAL_DRAWPRIMITIVES2DATA with handles for
 * pointers; `commands` the bytes at dwCommandOffset; `vertices` the user memory at lpVertices.
 * Either may be NULL where there is none. */
DP2LOG_FUNCTION void dp2log_call(dp2log *log, dp2log_u64 time, const void *data,
                                 const void *commands, size_t command_bytes,
                                 const void *vertices, size_t vertex_bytes)
{
    unsigned char head[16];
    unsigned char *at = head;
    dp2log_piece pieces[4];
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    pieces[1].data = data;
    pieces[1].size = sizeof(void *) == 8 ? DP2LOG_DATA_SIZE_64 : DP2LOG_DATA_SIZE_32;
    pieces[2].data = commands;
    pieces[2].size = commands ? command_bytes : 0;
    pieces[3].data = vertices;
    pieces[3].size = vertices ? vertex_bytes : 0;
    at = dp2log_put32(at, (dp2log_u32)(sizeof(void *) * 8));
    at = dp2log_put32(at, (commands ? DP2LOG_HAS_COMMANDS : 0u) |
                              (vertices ? DP2LOG_HAS_VERTICES : 0u));
    at = dp2log_put32(at, (dp2log_u32)pieces[2].size);
    dp2log_put32(at, (dp2log_u32)pieces[3].size);
    dp2log_record(log, DP2LOG_CALL, time, pieces, 4);
    log->calls++;
}

/* After executing: what the driver leaves in the structure, and the bytes it wrote over the
 * command buffer (dwErrorOffset of them if ddrval is D3D_OK, else none). */
DP2LOG_FUNCTION void dp2log_answer(dp2log *log, dp2log_u64 time, dp2log_u32 ddrval,
                                   dp2log_u32 error_offset, dp2log_u32 flags,
                                   const void *response, size_t response_bytes)
{
    unsigned char head[16];
    unsigned char *at = head;
    dp2log_piece pieces[2];
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    pieces[1].data = response;
    pieces[1].size = response ? response_bytes : 0;
    at = dp2log_put32(at, ddrval);
    at = dp2log_put32(at, error_offset);
    at = dp2log_put32(at, flags);
    dp2log_put32(at, (dp2log_u32)pieces[1].size);
    dp2log_record(log, DP2LOG_ANSWER, time, pieces, 2);
}

/* A function of the Direct3D 10/11 interface came back: its name without pfn, and the values of
 * its arguments and of what it answered as streams/README.rst describes them. */
DP2LOG_FUNCTION void dp2log_entry(dp2log *log, dp2log_u64 time, dp2log_u64 device,
                                  dp2log_u32 interface_version, const char *name,
                                  size_t name_bytes, const void *values, size_t value_bytes)
{
    unsigned char head[20];
    unsigned char *at = head;
    dp2log_piece pieces[3];
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    pieces[1].data = name;
    pieces[1].size = name_bytes;
    pieces[2].data = values;
    pieces[2].size = value_bytes;
    at = dp2log_put64(at, device);
    at = dp2log_put32(at, interface_version);
    at = dp2log_put32(at, (dp2log_u32)name_bytes);
    dp2log_put32(at, (dp2log_u32)value_bytes);
    dp2log_record(log, DP2LOG_ENTRY, time, pieces, 3);
}

/* A frame ended with `surface` shown, 0 if that is not known. */
DP2LOG_FUNCTION void dp2log_frame(dp2log *log, dp2log_u64 time, dp2log_u64 frame,
                                  dp2log_u64 surface)
{
    unsigned char payload[16];
    dp2log_put64(dp2log_put64(payload, frame), surface);
    dp2log_simple(log, DP2LOG_FRAME, time, payload, sizeof(payload));
}

/* Free text in UTF-8, by name: "title", "timing", "label.surface.5". */
DP2LOG_FUNCTION void dp2log_annotation(dp2log *log, dp2log_u64 time, const char *key,
                                       const char *text)
{
    unsigned char head[8];
    dp2log_piece pieces[3];
    pieces[0].data = head;
    pieces[0].size = sizeof(head);
    pieces[1].data = key;
    for (pieces[1].size = 0; key[pieces[1].size];)
        pieces[1].size++;
    pieces[2].data = text;
    for (pieces[2].size = 0; text[pieces[2].size];)
        pieces[2].size++;
    dp2log_put32(dp2log_put32(head, (dp2log_u32)pieces[1].size), (dp2log_u32)pieces[2].size);
    dp2log_record(log, DP2LOG_ANNOTATION, time, pieces, 3);
}

#endif
