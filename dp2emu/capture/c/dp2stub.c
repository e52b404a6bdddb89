/*
 * dp2stub.c: serve the driver this is linked with over standard input and output, or over the
 * device that is named as its only argument, such as a serial line.
 *
 *     gcc dp2stub.c mydriver.c -o mydriver
 *     dp2emu replay CAPTURE --rig pipe:./mydriver
 *
 * dp2entry.h has the names of the entry points, and a macro for each that a driver may have or
 * lack.  -DDP2STUB_9X serves a driver for Windows 9x.
 *
 * Memory comes from the C library; with -DDP2STUB_ADDRESS=0x80000000u, on Linux, it has that
 * address or a higher one, and with -DDP2STUB_RESERVE=name -DDP2STUB_RELEASE=name it comes from
 * functions of the driver's: void *name(size_t), zeroed or NULL, and void name(void *).
 */
#if defined(__linux__)
#define _XOPEN_SOURCE 700   /* for sigaction */
#define _DEFAULT_SOURCE 1   /* for MAP_ANONYMOUS */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

#include "dp2entry.h"

#define ROOM (16u << 20)
#define SIGNAL_NAME 21 /* where the name of a signal begins, behind SIG, in the line on a fault */

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

#if defined(DP2STUB_RESERVE)
void *DP2STUB_RESERVE(size_t size);
void DP2STUB_RELEASE(void *memory);
#elif defined(DP2STUB_ADDRESS)
#define DP2STUB_RESERVE at_address
#define DP2STUB_RELEASE give_back
#define PAGE 4096u
#if !defined(__linux__)
#error "DP2STUB_ADDRESS is for Linux: define DP2STUB_RESERVE and DP2STUB_RELEASE instead"
#endif

/* Whole pages, behind one that has their size. */
static void *at_address(size_t size)
{
    static size_t next = DP2STUB_ADDRESS;
    size_t bytes = size / PAGE * PAGE + 2 * PAGE;
    size_t *made;
    if (bytes < size)
        return NULL;
    made = (size_t *)mmap((void *)next, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)made == MAP_FAILED)
        return NULL;
    if ((size_t)made < DP2STUB_ADDRESS) {
        munmap(made, bytes);
        return NULL;
    }
    *made = bytes;
    next = (size_t)made + bytes;
    return (dp2_u8 *)made + PAGE;
}

static void give_back(void *memory)
{
    size_t *made = (size_t *)((dp2_u8 *)memory - PAGE);
    munmap(made, *made);
}
#else
#define DP2STUB_RESERVE zeroed
#define DP2STUB_RELEASE free

static void *zeroed(size_t size)
{
    return calloc(size ? size : 1, 1);
}
#endif

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
    dp2stub_enter(&stub.driver);
    stub.read = from_stream;
    stub.write = to_stream;
    stub.stream = &both;
    stub.reserve = DP2STUB_RESERVE;
    stub.release = DP2STUB_RELEASE;
    stub.payload = (dp2_u8 *)malloc(ROOM);
    stub.room = stub.payload ? ROOM : 0;
    dp2stub_serve(&stub);
    return 0;
}
