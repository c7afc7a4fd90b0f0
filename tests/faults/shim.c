/* Stands between a process and its disk: loaded by LD_PRELOAD, into its children too (see shim.py).
 *
 * A step is a call that changes a file below FAULT_ROOT, or speaks to a pipe or a socket. Steps are counted in
 * FAULT_STATE, which all processes share. At the chosen ones the process is killed, or the call fails. What was done is
 * written to FAULT_JOURNAL, where there is one, so that disk.py can say what a power cut would have left.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOM = 1, SYNC = 2, NAME = 4, SPEAK = 8 }; /* what a call does: takes room, waits for the disk, ... */
enum { DIES = -1 };

static struct {
    int64_t count, from, until, fails, kinds, journal;
} idle, *state = &idle;
static char root[PATH_MAX], where[PATH_MAX];
static size_t root_length;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAULT_STATE"), *below = getenv("FAULT_ROOT"), *journal = getenv("FAULT_JOURNAL");
    if (!file || !below) return;
    int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) syscall(SYS_close, fd);
    if (shared == MAP_FAILED) abort();
    state = shared;
    root_length = snprintf(root, sizeof root, "%s", below);
    snprintf(where, sizeof where, "%s", journal ? journal : "");
}

/* 0, or the error with which the call fails. */
static int step(int kind) {
    if (!(kind & state->kinds)) return 0;
    int64_t now = __atomic_add_fetch(&state->count, 1, __ATOMIC_SEQ_CST);
    if (now < state->from || now > state->until || !state->fails) return 0;
    if (state->fails == DIES) {
        kill(getpid(), SIGKILL);
        pause();
    }
    return (int)state->fails;
}

static int below_root(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length >= 0 && below_root(path);
}

static int full_path(int folder, const char *name, char *path) {
    if (!root_length || !name) return 0;
    if (name[0] == '/')
        snprintf(path, PATH_MAX, "%s", name);
    else {
        char own[PATH_MAX];
        if (folder == AT_FDCWD)
            syscall(SYS_getcwd, own, sizeof own);
        else
            path_of(folder, own);
        if (snprintf(path, PATH_MAX, "%s/%s", own, name) >= PATH_MAX) abort();
    }
    return below_root(path);
}

/* What an fd leads to: 0 nothing of ours, ROOM a file below the root, SPEAK a pipe or socket. */
static int sort_of(int fd, char *path) {
    struct stat found;
    if (!root_length || syscall(SYS_fstat, fd, &found)) return 0;
    if (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode)) return SPEAK;
    return path_of(fd, path) ? ROOM : 0;
}

static uint64_t number_of(int fd, const char *path) {
    struct stat found = {0};
    if (fd >= 0)
        syscall(SYS_fstat, fd, &found);
    else
        syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW);
    return found.st_ino;
}

static void note(char what, uint64_t number, uint64_t at, const char *one, const char *two, const void *data, size_t n) {
    if (!state->journal || !where[0]) return;
    struct __attribute__((packed)) {
        char what;
        uint64_t number, at;
        uint32_t one, two, data;
    } head = {what, number, at, strlen(one), strlen(two), n};
    struct iovec parts[] = {
        {&head, sizeof head}, {(void *)one, head.one}, {(void *)two, head.two}, {(void *)data, n}};
    int before = errno, fd = syscall(SYS_openat, AT_FDCWD, where, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
        syscall(SYS_writev, fd, parts, 4);
        syscall(SYS_close, fd);
    }
    errno = before;
}

#define FAIL_IF(problem) \
    do { \
        int error = (problem); \
        if (error) return errno = error, -1; \
    } while (0)

/* ------------------------------------------------------------------------------------------------ files made, opened */

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    int ours = (flags & (O_CREAT | O_TRUNC)) && full_path(folder, name, path), new = 0;
    if (ours) {
        new = !number_of(-1, path) && (flags & O_CREAT);
        if (new || flags & O_TRUNC) FAIL_IF(step(new ? ROOM : NAME));
    }
    int fd = syscall(SYS_openat, folder, name, flags, mode);
    if (fd >= 0 && ours && new) note('C', number_of(fd, ""), 0, path, "", "", 0);
    if (fd >= 0 && ours && !new && flags & O_TRUNC) note('T', number_of(fd, ""), 0, path, "", "", 0);
    return fd;
}

#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int ours = full_path(folder, name, path);
    if (ours) FAIL_IF(step(ROOM));
    int done = syscall(SYS_mkdirat, folder, name, mode);
    if (ours && !done) note('D', number_of(-1, path), 0, path, "", "", 0);
    return done;
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

/* ------------------------------------------------------------------------------------------------------------ writes */

static ssize_t written(int fd, const void *data, size_t n, int64_t at) {
    char path[PATH_MAX] = "";
    int sort = sort_of(fd, path), error = sort ? step(sort) : 0;
    if (error && sort == ROOM && error == ENOSPC && n > 1 && state->count == state->from) {
        error = 0; /* what is left of the disk takes the first half */
        n /= 2;
    }
    FAIL_IF(error);
    ssize_t done = at < 0 ? syscall(SYS_write, fd, data, n) : syscall(SYS_pwrite64, fd, data, n, at);
    if (done > 0 && sort == ROOM)
        note('W', number_of(fd, ""), at < 0 ? lseek(fd, 0, SEEK_CUR) - done : at, path, "", data, done);
    struct stat found;
    if (done > 0 && sort == SPEAK && !syscall(SYS_fstat, fd, &found) && S_ISFIFO(found.st_mode))
        note('A', 0, 0, "", "", data, done);
    return done;
}

ssize_t write(int fd, const void *data, size_t n) { return written(fd, data, n, -1); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return written(fd, data, n, at); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return written(fd, data, n, at); }

int ftruncate(int fd, off_t length) {
    char path[PATH_MAX] = "";
    int sort = sort_of(fd, path);
    if (sort == ROOM) FAIL_IF(step(ROOM));
    int done = syscall(SYS_ftruncate, fd, length);
    if (sort == ROOM && !done) note('T', number_of(fd, ""), length, path, "", "", 0);
    return done;
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

/* ------------------------------------------------------------------------------------------------ waits for the disk */

static int synced(int fd, long call) {
    char path[PATH_MAX] = "";
    int ours = sort_of(fd, path) == ROOM;
    if (ours) FAIL_IF(step(SYNC));
    int done = syscall(call, fd);
    if (ours && !done) note('S', number_of(fd, ""), 0, path, "", "", 0);
    return done;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

/* ------------------------------------------------------------------------------------------------------------- names */

static int moved(long call, int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char one[PATH_MAX], two[PATH_MAX];
    int ours = full_path(from_folder, from, one) | full_path(to_folder, to, two);
    if (ours) FAIL_IF(step(call == SYS_linkat ? ROOM : NAME));
    int done = syscall(call, from_folder, from, to_folder, to, flags);
    if (ours && !done) note(call == SYS_linkat ? 'L' : 'R', 0, 0, one, two, "", 0);
    return done;
}

int rename(const char *from, const char *to) { return moved(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return moved(SYS_renameat2, a, from, b, to, 0); }
int link(const char *from, const char *to) { return moved(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int a, const char *from, int b, const char *to, int f) { return moved(SYS_linkat, a, from, b, to, f); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    int ours = full_path(folder, name, path);
    if (ours) FAIL_IF(step(NAME));
    int done = syscall(SYS_unlinkat, folder, name, flags);
    if (ours && !done) note('U', 0, 0, path, "", "", 0);
    return done;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) {
    int done = unlinkat(AT_FDCWD, name, 0);
    return done && errno == EISDIR ? rmdir(name) : done;
}

/* -------------------------------------------------------------------------------------------- children are watched too */

int execve(const char *file, char *const arguments[], char *const environment[]) {
    static const char *const taken[] = {"LD_PRELOAD", "FAULT_ROOT", "FAULT_STATE", "FAULT_JOURNAL"};
    char own[4][PATH_MAX + 32], *given[256];
    int n = 0;
    for (int i = 0; environment && environment[i] && n < 250; i++) given[n++] = environment[i];
    for (int i = 0; i < 4; i++) {
        const char *value = getenv(taken[i]);
        if (!value) continue;
        snprintf(own[i], sizeof own[i], "%s=%s", taken[i], value);
        given[n++] = own[i];
    }
    given[n] = NULL;
    return syscall(SYS_execve, file, arguments, given);
}
