/* System calls and allocations that fail, by their number: for LD_PRELOAD.
 *
 * A process arms the library with failing_arm; a forked one inherits what is armed.  Counts are in
 * memory that forked processes share.  Calls from other libraries than those that `places` names
 * (call, begin, end, and least size that fails) allocate and map as ever, and nothing fails that concerns
 * descriptor 2. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum call { OPEN, READ, WRITE, RENAME, SYNC, MAP, ALLOCATE, FORK, CLOSE, REMOVE, MAKE, MODE, CALLS };

#define PLACES 64

struct plan {
    int call;      /* the one that fails; -1: not armed */
    int error;     /* errno; 0: reads and writes take one byte alone */
    int lasting;   /* all later ones fail too */
    int changing;  /* of OPEN: only what opens for writing counts */
    long number;   /* of the one that fails, from 1 */
    long seen[CALLS]; /* calls so far */
    long failed;   /* of them */
    int process;   /* that alone counts */
    int count;     /* of numbers in places */
    char under[512]; /* the start of the paths that count */
    unsigned long places[4 * PLACES];
};

static struct plan *plan;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void)
{
    struct plan *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    made->call = -1;
    plan = made;
}

void failing_arm(int call, long number, int error, int lasting, int changing, const char *under,
                 const unsigned long *places, int count)
{
    plan->call = -1;
    plan->number = number;
    plan->error = error;
    plan->lasting = lasting;
    plan->changing = changing;
    memset(plan->seen, 0, sizeof plan->seen);
    plan->failed = 0;
    plan->process = getpid();
    strncpy(plan->under, under, sizeof plan->under - 1);
    plan->count = count < 4 * PLACES ? count : 4 * PLACES;
    memcpy(plan->places, places, (size_t)plan->count * sizeof *places);
    plan->call = call;
}

long failing_seen(int call)
{
    return plan->seen[call];
}

long failing_failed(void)
{
    return plan->failed;
}

static int concerns(const char *path)
{
    char whole[2048];
    size_t size = strlen(path);
    if (!plan->under[0])
        return 1;
    if (path[0] != '/' && getcwd(whole, sizeof whole / 2) && size < sizeof whole / 2 - 1) {
        strcat(whole, "/");
        path = strcat(whole, path);
    }
    return !strncmp(path, plan->under, strlen(plan->under));
}

static int descriptor_concerns(enum call call, int file)
{
    char link[64], path[1024];
    struct stat status;
    ssize_t size;
    if (file == 2)
        return 0;
    if (call == CLOSE && (fstat(file, &status) || !S_ISREG(status.st_mode)))
        return 0; /* only files lose anything */
    if (!plan->under[0])
        return 1;
    sprintf(link, "/proc/self/fd/%d", file);
    size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return concerns(path);
}

static int armed(void)
{
    return plan && plan->call >= 0 && plan->process == getpid();
}

/* Whether this call is the one. */
static int fails(enum call call)
{
    long now = __sync_add_and_fetch(&plan->seen[call], 1);
    if (plan->call == (int)call && plan->number && (now == plan->number || (plan->lasting && now > plan->number))) {
        __sync_add_and_fetch(&plan->failed, 1);
        errno = plan->error;
        return 1;
    }
    return 0;
}

static int placed(enum call call, void *at, size_t size)
{
    int each;
    for (each = 0; each < plan->count; each += 4)
        if (plan->places[each] == (unsigned long)call && (unsigned long)at >= plan->places[each + 1]
            && (unsigned long)at < plan->places[each + 2])
            return size >= plan->places[each + 3];
    return 0;
}

static int opening(const char *path, int flags)
{
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    return armed() && (writes || !plan->changing) && concerns(path) && fails(OPEN);
}

#define OPENS(name)                                                                               \
    int name(const char *path, int flags, ...)                                                    \
    {                                                                                             \
        static int (*next)(const char *, int, ...);                                               \
        va_list given;                                                                            \
        int mode;                                                                                 \
        va_start(given, flags);                                                                   \
        mode = va_arg(given, int);                                                                \
        va_end(given);                                                                            \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        return opening(path, flags) ? -1 : next(path, flags, mode);                               \
    }
OPENS(open)
OPENS(open64)

#define BYTES(name, type, kind)                                                                   \
    ssize_t name(int file, type data, size_t size)                                                \
    {                                                                                             \
        static ssize_t (*next)(int, type, size_t);                                                \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        if (armed() && descriptor_concerns(kind, file) && fails(kind)) {                                \
            if (plan->error)                                                                      \
                return -1;                                                                        \
            size = size > 1 ? 1 : size;                                                           \
        }                                                                                         \
        return next(file, data, size);                                                            \
    }
BYTES(read, void *, READ)
BYTES(write, const void *, WRITE)

#define PATHS(name, kind)                                                                         \
    int name(const char *path)                                                                    \
    {                                                                                             \
        static int (*next)(const char *);                                                         \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        return armed() && concerns(path) && fails(kind) ? -1 : next(path);                        \
    }
PATHS(unlink, REMOVE)
PATHS(rmdir, REMOVE)

#define FILES(name, kind)                                                                         \
    int name(int file)                                                                            \
    {                                                                                             \
        static int (*next)(int);                                                                  \
        int failed;                                                                               \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        failed = armed() && descriptor_concerns(kind, file) && fails(kind);                             \
        if (failed) {                                                                             \
            if (kind == CLOSE) /* the descriptor is gone all the same */                          \
                next(file);                                                                       \
            errno = plan->error;                                                                  \
            return -1;                                                                            \
        }                                                                                         \
        return next(file);                                                                        \
    }
FILES(fsync, SYNC)
FILES(fdatasync, SYNC)
FILES(close, CLOSE)

#define MODES(name, kind)                                                                         \
    int name(const char *path, mode_t mode)                                                       \
    {                                                                                             \
        static int (*next)(const char *, mode_t);                                                 \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        return armed() && concerns(path) && fails(kind) ? -1 : next(path, mode);                  \
    }
MODES(mkdir, MAKE)
MODES(chmod, MODE)

int rename(const char *from, const char *to)
{
    static int (*next)(const char *, const char *);
    if (!next)
        *(void **)&next = real("rename");
    return armed() && concerns(to) && fails(RENAME) ? -1 : next(from, to);
}

pid_t fork(void)
{
    static pid_t (*next)(void);
    if (!next)
        *(void **)&next = real("fork");
    return armed() && fails(FORK) ? -1 : next();
}

#define MAPS(name)                                                                                \
    void *name(void *at, size_t size, int access, int flags, int file, off_t offset)              \
    {                                                                                             \
        static void *(*next)(void *, size_t, int, int, int, off_t);                               \
        if (!next)                                                                                \
            *(void **)&next = real(#name);                                                        \
        if (armed() && placed(MAP, __builtin_return_address(0), size) && fails(MAP))              \
            return MAP_FAILED;                                                                    \
        return next(at, size, access, flags, file, offset);                                       \
    }
MAPS(mmap)
MAPS(mmap64)

static int refused(size_t size, void *at)
{
    return armed() && placed(ALLOCATE, at, size) && fails(ALLOCATE);
}

void *malloc(size_t size)
{
    return refused(size, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused(count * size, __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refused(size, __builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
