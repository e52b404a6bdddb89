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
 * On Linux and Windows the memory that the driver is handed ends at inaccessible pages, and a fault
 * is reported on standard error: the signal, the address, the buffer beside it, the stack.
 * -DDP2STUB_NO_PAGES takes memory from the C library.  With -DDP2STUB_ADDRESS=0x80000000u, on Linux,
 * memory has that address or a higher one, and with -DDP2STUB_RESERVE=name -DDP2STUB_RELEASE=name it
 * comes from functions of the driver's: void *name(size_t), zeroed or NULL, and void name(void *).
 */
#if defined(__linux__)
#define _XOPEN_SOURCE 700   /* for sigaction */
#define _DEFAULT_SOURCE 1   /* for MAP_ANONYMOUS */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <execinfo.h>
#endif
#endif

#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
#if !defined(DP2_NAME)
#define DP2_NAME(name) DP2STUB_##name /* windows.h has its own RECT */
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <signal.h>
#endif

#include "dp2entry.h"

#define ROOM (16u << 20)

static dp2stub served;

/* Words for standard error, in a handler that can call no library */

static char line[256];
static size_t written;

static void say(const char *words)
{
    while (*words && written < sizeof(line))
        line[written++] = *words++;
}

static void say_number(size_t number, unsigned base)
{
    char digits[24];
    int at = sizeof(digits) - 1;
    digits[at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    say(digits + at);
}

static void put_line(void)
{
#if defined(_WIN32)
    DWORD done;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), line, (DWORD)written, &done, NULL);
#elif defined(__linux__)
    if (write(2, line, written) < 0)
        _exit(127);
#else
    fwrite(line, 1, written, stderr);
#endif
    written = 0;
}

/* Memory */

#if defined(__SANITIZE_ADDRESS__) && !defined(DP2STUB_ADDRESS)
#define DP2STUB_NO_PAGES /* the sanitizer knows the C library's memory to the byte */
#elif defined(__has_feature) && !defined(DP2STUB_ADDRESS)
#if __has_feature(address_sanitizer)
#define DP2STUB_NO_PAGES
#endif
#endif

#if defined(DP2STUB_RESERVE)
void *DP2STUB_RESERVE(size_t size);
void DP2STUB_RELEASE(void *memory);

#elif !defined(DP2STUB_NO_PAGES) && (defined(__linux__) || defined(_WIN32))
#define DP2STUB_RESERVE in_pages
#define DP2STUB_RELEASE give_back
#define PAGES
#define AHEAD 0x10000u /* bytes of inaccessible memory before a buffer; a multiple of any page's */
#define BEHIND (sizeof(void *) > 4 ? 0x400000u : 0x10000u)
#define ALIGNMENT 4u
#define MARGIN 64u     /* bytes before a buffer, in its first page, that must not change */
#define FILLER 0xa5u

#if defined(DP2STUB_ADDRESS) && !defined(__linux__)
#error "DP2STUB_ADDRESS is for Linux: define DP2STUB_RESERVE and DP2STUB_RELEASE instead"
#endif

/* A buffer between inaccessible pages.  `margin` bytes before it and `rest` behind it are fillers. */
typedef struct buffer {
    struct buffer *next;
    dp2_u8 *whole, *start;
    size_t bytes, size, margin, rest;
} buffer;

static buffer *buffers;

#if defined(_WIN32)
static size_t page_bytes(void)
{
    return 0x1000;
}

/* `room` bytes of memory at AHEAD, the others of all `bytes` being inaccessible; or NULL. */
static dp2_u8 *map(size_t bytes, size_t room)
{
    dp2_u8 *whole = (dp2_u8 *)VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
    if (!whole || VirtualAlloc(whole + AHEAD, room, MEM_COMMIT, PAGE_READWRITE))
        return whole;
    VirtualFree(whole, 0, MEM_RELEASE);
    return NULL;
}

static void unmap(buffer *gone)
{
    VirtualFree(gone->whole, 0, MEM_RELEASE);
}
#else
static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static dp2_u8 *map(size_t bytes, size_t room)
{
#if defined(DP2STUB_ADDRESS)
    static size_t next = DP2STUB_ADDRESS;
#else
    static size_t next;
#endif
    size_t least = next;
    dp2_u8 *whole = (dp2_u8 *)mmap((void *)next, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                                   -1, 0);
    if ((void *)whole == MAP_FAILED)
        return NULL;
    if ((size_t)whole < least || mprotect(whole + AHEAD, room, PROT_READ | PROT_WRITE)) {
        munmap(whole, bytes);
        return NULL;
    }
#if defined(DP2STUB_ADDRESS)
    next = (size_t)whole + bytes;
#endif
    return whole;
}

static void unmap(buffer *gone)
{
    munmap(gone->whole, gone->bytes);
}
#endif

static void fill(dp2_u8 *at, size_t size)
{
    while (size--)
        *at++ = FILLER;
}

static void *in_pages(size_t size)
{
    size_t page = page_bytes(), room = size / page * page + (size % page || !size ? page : 0);
    size_t bytes = room + AHEAD + BEHIND, before;
    buffer *made = bytes > size ? (buffer *)calloc(1, sizeof(*made)) : NULL;
    dp2_u8 *whole = made ? map(bytes, room) : NULL;
    if (!whole) {
        free(made);
        return NULL;
    }
    before = (room - size) / ALIGNMENT * ALIGNMENT;
    made->whole = whole;
    made->bytes = bytes;
    made->start = whole + AHEAD + before;
    made->size = size;
    made->margin = before < MARGIN ? before : MARGIN;
    made->rest = room - size - before;
    fill(made->start - made->margin, made->margin);
    fill(made->start + size, made->rest);
    made->next = buffers;
    buffers = made;
    return made->start;
}

static void give_back(void *memory)
{
    buffer **at = &buffers, *gone;
    while (*at && (*at)->start != (dp2_u8 *)memory)
        at = &(*at)->next;
    gone = *at;
    if (!gone)
        return;
    *at = gone->next;
    unmap(gone);
    free(gone);
}

/* What findings call a buffer. */
static void say_name(const buffer *named)
{
    size_t i, level;
    for (i = 0; i < served.places; i++) {
        const dp2stub_surface *surface = &served.surfaces[i];
        for (level = 0; surface->handle && level < surface->count; level++)
            if (surface->level[level].block &&
                surface->level[level].block->memory == named->start) {
                say(surface->kind == 0 ? "command buffer " : surface->kind == 6 ? "vertex buffer " :
                    surface->kind == 7 ? "index buffer " : "surface ");
                say_number((size_t)surface->handle, 10);
                return;
            }
    }
    say(named->start == served.user ? served.user_name : "DirectDraw's structures");
}

/* The buffer beside which an address lies, or NULL. */
static const buffer *beside(size_t address)
{
    const buffer *each;
    for (each = buffers; each; each = each->next)
        if (address - (size_t)each->whole < each->bytes)
            return each;
    return NULL;
}

static void say_place(const buffer *found, size_t address)
{
    int before = address < (size_t)found->start;
    say_number(before ? (size_t)found->start - address
                      : address - (size_t)found->start - found->size, 10);
    say(before ? " bytes before " : " bytes behind ");
    say_name(found);
}

/* Ends the program if the driver has stored beside a buffer. */
static void check_buffers(void)
{
    const buffer *each;
    size_t i;
    for (each = buffers; each; each = each->next)
        for (i = 0; i < each->margin + each->rest; i++) {
            const dp2_u8 *at = i < each->margin ? each->start - 1 - i
                                                : each->start + each->size + (i - each->margin);
            if (*at == FILLER)
                continue;
            say("dp2emu-rig: overrun stored ");
            say_place(each, (size_t)at);
            say("\n");
            put_line();
            exit(1);
        }
}

#else
#define DP2STUB_RESERVE zeroed
#define DP2STUB_RELEASE free

static void *zeroed(size_t size)
{
    return calloc(size ? size : 1, 1);
}
#endif

/* Faults */

static void say_fault(const char *name, size_t address, int overflow)
{
#if defined(PAGES)
    const buffer *found = beside(address);
    say(found ? "dp2emu-rig: overrun " : "dp2emu-rig: crash ");
    say(name);
    say(" ");
    if (found)
        say_place(found, address);
    else
        say(overflow ? "stack overflow" : "outside of all buffers");
#else
    say("dp2emu-rig: crash ");
    say(name);
    say(overflow ? " stack overflow" : "");
#endif
    say(", address 0x");
    say_number(address, 16);
}

static void say_crash(const char *name, const char *reason)
{
    say("dp2emu-rig: crash ");
    say(name);
    say(reason);
}

#if defined(__linux__)
#define STACK_BYTES 0x10000u /* of the handler: after a stack overflow there is no other */
#define GAP 0x100000u        /* bytes below the stack that Linux keeps free */
#define NO_ADDRESS 0x80      /* SI_KERNEL: the processor gives none */

static const struct { int number; const char *name; } signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"}
};
static size_t bottom; /* the lowest address that the stack may have */

static const char *name_of(int number)
{
    size_t at = 0;
    while (signals[at].number != number)
        at++;
    return signals[at].name;
}

static void say_signal(int number, const siginfo_t *information)
{
    size_t address = (size_t)information->si_addr;
    if (number == SIGFPE)
        say_crash("SIGFPE", information->si_code == FPE_INTDIV ? " integer division by zero" :
                  information->si_code == FPE_INTOVF ? " integer overflow" :
                  information->si_code == FPE_FLTDIV ? " floating-point division by zero" : "");
    else if (number != SIGSEGV && number != SIGBUS)
        say_crash(name_of(number), "");
    else if (information->si_code == NO_ADDRESS)
        say_crash(name_of(number), " unaligned access or impossible address");
    else
        say_fault(name_of(number), address, bottom && address - bottom + GAP < 2 * GAP);
}

/* All functions on the stack, the handler's own first; none for a wild jump, whose stack cannot be
 * unwound. */
static void put_stack(void)
{
#if defined(__GLIBC__)
    void *frames[64];
    int count = backtrace(frames, 64);
    say("dp2emu-rig: frames\n");
    put_line();
    backtrace_symbols_fd(frames, count, 2);
#endif
}

static void report_fault(int number, siginfo_t *information, void *context)
{
    static volatile sig_atomic_t reporting;
    (void)context;
    if (reporting++)
        _exit(128 + number);
    say_signal(number, information);
    say("\n");
    put_line();
    put_stack();
    _exit(128 + number);
}

/* A sanitizer, or the driver itself, may have a handler already, which stays. */
static void report_faults(void)
{
    static dp2_u8 memory[STACK_BYTES];
    struct sigaction action, before;
    struct rlimit limit;
    stack_t stack;
    size_t at;
    stack.ss_sp = memory;
    stack.ss_size = sizeof(memory);
    stack.ss_flags = 0;
    sigaltstack(&stack, NULL);
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < (size_t)&limit)
        bottom = (size_t)&limit - (size_t)limit.rlim_cur;
#if defined(__GLIBC__)
    {
        void *frame;
        backtrace(&frame, 1); /* loads what a later call needs */
    }
#endif
    for (at = 0; at < sizeof(signals) / sizeof(signals[0]); at++) {
        if (sigaction(signals[at].number, NULL, &before) || before.sa_handler != SIG_DFL)
            continue;
        action = before;
        action.sa_sigaction = report_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(signals[at].number, &action, NULL);
    }
}

#elif defined(_WIN32)
static void say_exception(const EXCEPTION_RECORD *record)
{
    int known = record->ExceptionCode == EXCEPTION_ACCESS_VIOLATION &&
                record->NumberParameters > 1;
    if (known)
        say_fault("EXCEPTION_ACCESS_VIOLATION", (size_t)record->ExceptionInformation[1], 0);
    else if (record->ExceptionCode == EXCEPTION_STACK_OVERFLOW)
        say_crash("EXCEPTION_STACK_OVERFLOW", "");
    else if (record->ExceptionCode == EXCEPTION_INT_DIVIDE_BY_ZERO)
        say_crash("EXCEPTION_INT_DIVIDE_BY_ZERO", "");
    else if (record->ExceptionCode == EXCEPTION_ILLEGAL_INSTRUCTION)
        say_crash("EXCEPTION_ILLEGAL_INSTRUCTION", "");
    else {
        say_crash("exception 0x", "");
        say_number((size_t)record->ExceptionCode, 16);
    }
}

/* Where the code of the fault lies in the program's file; the rest of the stack is not told. */
static LONG WINAPI report_exception(EXCEPTION_POINTERS *fault)
{
    size_t code = (size_t)fault->ExceptionRecord->ExceptionAddress;
    MEMORY_BASIC_INFORMATION around;
    say_exception(fault->ExceptionRecord);
    if (VirtualQuery((void *)code, &around, sizeof(around)) &&
        around.AllocationBase == (void *)GetModuleHandleA(NULL)) {
        say("\ndp2emu-rig: stack program+0x");
        say_number(code - (size_t)around.AllocationBase, 16);
    }
    say("\n");
    put_line();
    TerminateProcess(GetCurrentProcess(), 3);
    return EXCEPTION_EXECUTE_HANDLER;
}

static void report_abort(int number)
{
    say_crash("SIGABRT", "\n");
    put_line();
    _exit(128 + number);
}

static void report_faults(void)
{
    SetUnhandledExceptionFilter(report_exception);
    signal(SIGABRT, report_abort);
}
#endif

/* Streams */

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
#if defined(PAGES)
    check_buffers();
#endif
    return fwrite(data, 1, size, out) == size && fflush(out) == 0;
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

int main(int count, char **arguments)
{
    streams both;
#if defined(__linux__) || defined(_WIN32)
    report_faults();
#endif
    if (!opened(&both, count, arguments)) {
        perror(arguments[1]);
        return 2;
    }
    dp2stub_enter(&served.driver);
    served.read = from_stream;
    served.write = to_stream;
    served.stream = &both;
    served.reserve = DP2STUB_RESERVE;
    served.release = DP2STUB_RELEASE;
    served.payload = (dp2_u8 *)malloc(ROOM);
    served.room = served.payload ? ROOM : 0;
    dp2stub_serve(&served);
    return 0;
}
