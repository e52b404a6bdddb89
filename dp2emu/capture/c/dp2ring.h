/*
 * dp2ring.h: pass the records of dp2log.h through a ring of fixed size, such as from a driver in
 * kernel mode to a program that writes them to a file.
 *
 * C89, no library, no allocation, no floating point, 32 and 64 bits.  The ring lies in memory that
 * both sides see, zeroed at first.  It has one writer, which its caller serialises, and one reader;
 * neither waits for the other, and the reader may come late, be slow, or not come at all.
 *
 * Records are passed whole.  One that finds no room is dropped and counted, and so is the answer
 * of a dropped call; the next one that is kept follows an annotation "lost" with the count.
 */
#ifndef DP2RING_H
#define DP2RING_H

#include "dp2log.h"

#ifndef DP2RING_BYTES
#define DP2RING_BYTES (1u << 20) /* a power of two */
#endif

/* No load or store moves past it.  Define it for other compilers, or as KeMemoryBarrier(). */
#ifndef DP2RING_BARRIER
#if defined(__GNUC__)
#define DP2RING_BARRIER() __sync_synchronize()
#elif defined(_MSC_VER) && (defined(_M_IX86) || defined(_M_X64))
#include <intrin.h>
#define DP2RING_BARRIER() _ReadWriteBarrier()
#else
#error define DP2RING_BARRIER() as a memory barrier of this compiler and processor
#endif
#endif

/* Both numbers count bytes and wrap at 32 bits; their difference is what waits to be taken. */
typedef struct dp2ring {
    volatile dp2log_u32 written; /* only the writer stores it, at the end of a record */
    volatile dp2log_u32 taken;   /* only the reader stores it, at the end of a record */
    unsigned char bytes[DP2RING_BYTES];
} dp2ring;

typedef char dp2ring_bytes_are_a_power_of_two[DP2RING_BYTES & (DP2RING_BYTES - 1) ? -1 : 1];

DP2LOG_FUNCTION dp2log_u32 dp2ring_u32(const unsigned char *at)
{
    return (dp2log_u32)at[0] | (dp2log_u32)at[1] << 8 | (dp2log_u32)at[2] << 16 |
           (dp2log_u32)at[3] << 24;
}

/* The writer: dp2ring_open, and then the functions of dp2log.h with &writer->log. */

typedef struct dp2ring_writer {
    dp2log log;
    dp2ring *ring;
    dp2log_u32 at;      /* where the next byte goes */
    dp2log_u32 left;    /* bytes of the current record that are to come */
    int dropping;       /* the current record */
    int call_dropped;   /* the last call, and so its answer */
    dp2log_u32 lost;    /* records, since the last that was kept */
} dp2ring_writer;

#define DP2RING_DIGITS 11
#define DP2RING_LOST_SIZE (DP2LOG_RECORD_SIZE + 8 + 4 + DP2RING_DIGITS)

/* An annotation of how many records are lost, which must fit. */
DP2LOG_FUNCTION void dp2ring_tell_lost(dp2ring_writer *writer, dp2log_u64 time)
{
    char text[DP2RING_DIGITS];
    char *first = text + sizeof(text) - 1;
    dp2log_u32 number = writer->lost;
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    writer->lost = 0;
    dp2log_annotation(&writer->log, time, "lost", first);
}

/* A record with this head begins. */
DP2LOG_FUNCTION void dp2ring_begin(dp2ring_writer *writer, const unsigned char *head)
{
    dp2log_u32 tag = dp2ring_u32(head), size = DP2LOG_RECORD_SIZE + dp2ring_u32(head + 4);
    dp2log_u64 time = (dp2log_u64)dp2ring_u32(head + 12) << 32 | dp2ring_u32(head + 8);
    dp2log_u32 room = DP2RING_BYTES - (writer->at - writer->ring->taken);
    dp2log_u32 more = writer->lost ? DP2RING_LOST_SIZE : 0;
    int dropping = size > room || more > room - size;
    DP2RING_BARRIER();
    if (tag == DP2LOG_CALL)
        writer->call_dropped = dropping;
    else if (tag == DP2LOG_ANSWER && writer->call_dropped)
        dropping = 1;
    if (!dropping && writer->lost)
        dp2ring_tell_lost(writer, time);
    writer->dropping = dropping;
    writer->lost += dropping;
    writer->left = size;
}

/* What dp2log calls for each part of a record; the first part is the record's head. */
DP2LOG_FUNCTION int dp2ring_put(void *to, const void *data, size_t size)
{
    dp2ring_writer *writer = (dp2ring_writer *)to;
    const unsigned char *from = (const unsigned char *)data;
    if (!writer->left)
        dp2ring_begin(writer, from);
    writer->left -= (dp2log_u32)size;
    while (!writer->dropping && size--)
        writer->ring->bytes[writer->at++ & (DP2RING_BYTES - 1)] = *from++;
    if (!writer->left && !writer->dropping) {
        DP2RING_BARRIER();
        writer->ring->written = writer->at;
    }
    return 1;
}

/* Begins or goes on with a ring; the reader writes the magic of the log. */
DP2LOG_FUNCTION void dp2ring_open(dp2ring_writer *writer, dp2ring *ring)
{
    writer->log.write = dp2ring_put;
    writer->log.to = writer;
    writer->log.calls = 0;
    writer->log.failed = 0;
    writer->ring = ring;
    writer->at = ring->written;
    writer->left = writer->lost = 0;
    writer->dropping = writer->call_dropped = 0;
}

/* The reader: dp2ring_start, dp2ring_take as often as may be, dp2ring_finish. */

typedef struct dp2ring_reader {
    dp2log log;
    dp2ring *ring;
} dp2ring_reader;

DP2LOG_FUNCTION void dp2ring_start(dp2ring_reader *reader, dp2ring *ring, dp2log_write write,
                                   void *to)
{
    reader->ring = ring;
    dp2log_begin(&reader->log, write, to);
}

/* Writes `size` bytes of the ring from number `at` on. */
DP2LOG_FUNCTION void dp2ring_copy(dp2ring_reader *reader, dp2log_u32 at, dp2log_u32 size)
{
    dp2log_u32 first = at & (DP2RING_BYTES - 1);
    dp2log_u32 before = DP2RING_BYTES - first < size ? DP2RING_BYTES - first : size;
    dp2log_out(&reader->log, reader->ring->bytes + first, before);
    dp2log_out(&reader->log, reader->ring->bytes, size - before);
}

/* Writes every whole record in the ring; returns 0 if writing failed or the ring is damaged. */
DP2LOG_FUNCTION int dp2ring_take(dp2ring_reader *reader)
{
    dp2ring *ring = reader->ring;
    dp2log_u32 end = ring->written;
    DP2RING_BARRIER();
    while (ring->taken != end && !reader->log.failed) {
        dp2log_u32 at = ring->taken, waiting = end - at, size, i;
        unsigned char head[8];
        for (i = 0; i < sizeof(head); i++)
            head[i] = ring->bytes[(at + i) & (DP2RING_BYTES - 1)];
        size = dp2ring_u32(head + 4);
        if (waiting > DP2RING_BYTES || waiting < DP2LOG_RECORD_SIZE ||
            size > waiting - DP2LOG_RECORD_SIZE)
            return 0;
        size += DP2LOG_RECORD_SIZE;
        dp2ring_copy(reader, at, size);
        reader->log.calls += dp2ring_u32(head) == DP2LOG_CALL;
        DP2RING_BARRIER();
        ring->taken = at + size;
    }
    return !reader->log.failed;
}

/* Ends the log.  Without it dp2emu reads the log too, with a remark that it was cut. */
DP2LOG_FUNCTION void dp2ring_finish(dp2ring_reader *reader)
{
    dp2log_end(&reader->log);
}

#endif
