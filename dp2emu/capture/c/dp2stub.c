/*
 * dp2stub.c: serve the driver this is linked with over standard input and output, or over the
 * device that is named as its only argument, such as a serial line.
 *
 *     gcc dp2stub.c mydriver.c -o mydriver
 *     dp2emu replay CAPTURE --rig pipe:./mydriver
 *
 * A driver that has DdFlip, DdBlt, DdSetColorKey or DdGetDriverInfo is compiled with
 * -DDP2STUB_HAS_FLIP, -DDP2STUB_HAS_BLT, -DDP2STUB_HAS_SETCOLORKEY or
 * -DDP2STUB_HAS_GETDRIVERINFO.
 */
#if defined(__linux__)
#define _XOPEN_SOURCE 700 /* for sigaction */
#include <signal.h>
#include <unistd.h>
#endif

#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

#include "dp2stub.h"

#define ROOM (16u << 20)
#define SIGNAL_NAME 21 /* where the name of a signal begins, behind SIG, in the line on a fault */

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data);
dp2_u32 DP2_ENTRY D3dContextCreate(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data);
dp2_u32 DP2_ENTRY D3dContextDestroy(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data);
dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data);
#if defined(DP2STUB_HAS_FLIP)
dp2_u32 DP2_ENTRY DdFlip(DP2_NAME(DD_FLIPDATA) *data);
#endif
#if defined(DP2STUB_HAS_BLT)
dp2_u32 DP2_ENTRY DdBlt(DP2_NAME(DD_BLTDATA) *data);
#endif
#if defined(DP2STUB_HAS_SETCOLORKEY)
dp2_u32 DP2_ENTRY DdSetColorKey(DP2_NAME(DD_DRVSETCOLORKEYDATA) *data);
#endif
#if defined(DP2STUB_HAS_GETDRIVERINFO)
dp2_u32 DP2_ENTRY DdGetDriverInfo(DP2_NAME(DD_GETDRIVERINFODATA) *data);
#endif

typedef struct streams {
    FILE *in;
    FILE *out;
} streams;

static int from_stream(void *stream, void *data, size_t size)
{
    return fread(data, 1, size, ((streams *)stream)->in) == size;
}

static int to_stream(void *stream, const void *data, size_t size)
{
    FILE *out = ((streams *)stream)->out;
    return fwrite(data, 1, size, out) == size && fflush(out) == 0;
}

static void *zeroed(size_t size)
{
    return calloc(size ? size : 1, 1);
}

static int opened(streams *both, int count, char **arguments)
{
    both->in = stdin;
    both->out = stdout;
#if defined(_WIN32)
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    if (count < 2)
        return 1;
    both->in = fopen(arguments[1], "rb");
    both->out = fopen(arguments[1], "wb");
    return both->in && both->out;
}

#if defined(__linux__)
/* Writes the address of a fault to standard error, as dp2emu reads it, and ends the program. */
static void report_fault(int number, siginfo_t *information, void *context)
{
    static char line[] = "dp2emu-rig: crash SIG____, address 0x0000000000000000\n";
    const char *name = number == SIGSEGV ? "SEGV" : number == SIGBUS ? "BUS " :
                       number == SIGFPE ? "FPE " : "ILL ";
    size_t address = (size_t)information->si_addr;
    int at;
    (void)context;
    for (at = 0; at < 4; at++)
        line[SIGNAL_NAME + at] = name[at];
    for (at = (int)sizeof(line) - 3; line[at] != 'x'; at--, address >>= 4)
        line[at] = "0123456789abcdef"[address & 15];
    if (write(2, line, sizeof(line) - 1) < 0)
        _exit(127);
    _exit(128 + number);
}

/* A sanitizer, or the driver itself, may have a handler already, which stays. */
static void report_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action, before;
    size_t at;
    for (at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++) {
        if (sigaction(numbers[at], NULL, &before) || before.sa_handler != SIG_DFL)
            continue;
        action = before;
        action.sa_sigaction = report_fault;
        action.sa_flags = SA_SIGINFO;
        sigaction(numbers[at], &action, NULL);
    }
}
#endif

int main(int count, char **arguments)
{
    static dp2stub stub;
    streams both;
#if defined(__linux__)
    report_faults();
#endif
    if (!opened(&both, count, arguments)) {
        perror(arguments[1]);
        return 2;
    }
    stub.driver.draw = D3dDrawPrimitives2;
    stub.driver.create = D3dContextCreate;
    stub.driver.destroy = D3dContextDestroy;
    stub.driver.surface = D3dCreateSurfaceEx;
#if defined(DP2STUB_HAS_FLIP)
    stub.driver.flip = DdFlip;
#endif
#if defined(DP2STUB_HAS_BLT)
    stub.driver.blit = DdBlt;
#endif
#if defined(DP2STUB_HAS_SETCOLORKEY)
    stub.driver.key = DdSetColorKey;
#endif
#if defined(DP2STUB_HAS_GETDRIVERINFO)
    stub.driver.info = DdGetDriverInfo;
#endif
    stub.read = from_stream;
    stub.write = to_stream;
    stub.stream = &both;
    stub.reserve = zeroed;
    stub.release = free;
    stub.payload = (dp2_u8 *)malloc(ROOM);
    stub.room = stub.payload ? ROOM : 0;
    dp2stub_serve(&stub);
    return 0;
}
