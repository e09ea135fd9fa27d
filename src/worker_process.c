/* SPDX-License-Identifier: MIT */
/* Starting, killing and reaping one helper process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "scratch.h"
#include "status.h"

#define CHILD_SOCKET 3
#define OUTPUT_SHOWN 800 /* bytes of its last output in an error text */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* ------------------------------------------------------------------ start */

/* A descriptor above those that the child's file actions write to. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
    int error = errno;
    close(fd);
    errno = error;
    return moved;
}

/* An unlinked memory file: unlike a pipe it needs nobody to drain it. */
static int open_capture(void)
{
    int fd = memfd_create("mxgemm-cc output", MFD_CLOEXEC);
    if (fd >= 0) {
        fcntl(fd, F_SETFL, O_APPEND);
        fd = move_up(fd);
    }
    return fd;
}

/* Loader hooks of the host are not for the helper, which may run on another C library. */
static bool is_passed_on(const char *variable)
{
    return strncmp(variable, "LD_PRELOAD=", 11) != 0 &&
           strncmp(variable, "LD_AUDIT=", 9) != 0 &&
           strncmp(variable, SCRATCH_VARIABLE "=", sizeof SCRATCH_VARIABLE) != 0;
}

/*
 * The helper's environment: the host's, or next to nothing in a setuid program;
 * then `extra` if not empty.
 */
static char **make_environment(const struct mem *mem, char *extra)
{
    static char path[] = "PATH=/usr/bin:/bin";
    size_t count = 0, kept = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **env = mem_zalloc(mem, count + 3, sizeof *env);
    if (env == NULL) {
        return NULL;
    }
    if (getauxval(AT_SECURE) != 0) {
        env[kept++] = path;
        count = 0;
    }
    for (size_t i = 0; i < count && environ[i] != NULL; i++) {
        if (is_passed_on(environ[i])) {
            env[kept++] = environ[i];
        }
    }
    env[kept] = extra[0] != '\0' ? extra : NULL;
    return env;
}

/* 0 or an error number. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all;
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &all);
    if (error == 0) {
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        error = posix_spawnattr_setsigdefault(attributes, &all);
    }
    if (error == 0) {
        /*
         * A process group of its own: a SIGKILL to the host's whole group leaves
         * it alive for the moment it takes to remove its files and end.
         */
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
    if (error == 0) {
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETPGROUP);
    }
    return error;
}

static int set_descriptors(posix_spawn_file_actions_t *actions, int socket, int capture)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    for (int fd = 1; fd <= 2 && error == 0; fd++) {
        error = capture >= 0
                    ? posix_spawn_file_actions_adddup2(actions, capture, fd)
                    : posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_WRONLY, 0);
    }
    return error == 0 ? posix_spawn_file_actions_adddup2(actions, socket, CHILD_SOCKET) : error;
}

static int spawn(char *const *argv, char **env, int socket, int capture, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = set_attributes(&attributes);
        if (error == 0) {
            error = set_descriptors(&actions, socket, capture);
        }
        if (error == 0) {
            error = fault_hit(FAULT_SPAWN)
                        ? EAGAIN
                        : posix_spawn(pid, argv[0], &actions, &attributes, argv, env);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

mxg_status worker_process_start(const struct mem *mem, char *const *argv,
                                struct worker_process *process)
{
    static const struct worker_process none = WORKER_PROCESS_NONE;
    int pair[2] = { -1, -1 };
    int error = 0;
    char extra[sizeof process->scratch + sizeof SCRATCH_VARIABLE + 1] = "";
    *process = none;
    process->owner = getpid();
    if (!scratch_make(process->scratch, sizeof process->scratch)) {
        const char *base = secure_getenv("TMPDIR");
        return status_set(MXG_E_WORKER,
                          "the compiler needs a folder for temporary files, and none can be made "
                          "in %s (TMPDIR): %s",
                          base != NULL && base[0] == '/' ? base : "/tmp", strerror(errno));
    }
    snprintf(extra, sizeof extra, "%s=%s", SCRATCH_VARIABLE, process->scratch);
    char **env = make_environment(mem, extra);
    if (env == NULL) {
        worker_process_end(process, 0, NULL, 0);
        return status_set(MXG_E_HOST_MEMORY, "out of host memory for the helper's environment");
    }
    process->capture = open_capture();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        error = errno;
    } else {
        pair[1] = move_up(pair[1]);
        error =
            pair[1] < 0 ? errno : spawn(argv, env, pair[1], process->capture, &process->pid);
    }
    mem_free(mem, env);
    if (pair[1] >= 0) {
        close(pair[1]);
    }
    process->fd = pair[0];
    if (error != 0) {
        process->pid = 0;
        worker_process_end(process, 0, NULL, 0);
        return status_set(MXG_E_WORKER, "the helper process %s cannot be started: %s", argv[0],
                          strerror(error));
    }
#ifdef SYS_pidfd_open
    /* A handle rather than a number: it can never name another process. */
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
#endif
    return MXG_OK;
}

/* -------------------------------------------------------------------- end */

void worker_process_forget_output(const struct worker_process *process)
{
    if (process->capture >= 0 && ftruncate(process->capture, 0) != 0) {
        return; /* the text shown after a crash is then longer, no more */
    }
}

static const char *signal_name(int number)
{
    static const struct { int number; const char *name; } names[] = {
        { SIGSEGV, " (SIGSEGV)" }, { SIGABRT, " (SIGABRT)" }, { SIGKILL, " (SIGKILL)" },
        { SIGBUS, " (SIGBUS)" },   { SIGILL, " (SIGILL)" },   { SIGFPE, " (SIGFPE)" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return "";
}

static void append_output(const struct worker_process *process, char *how, size_t size)
{
    char text[OUTPUT_SHOWN + 1];
    off_t end = process->capture >= 0 ? lseek(process->capture, 0, SEEK_END) : 0;
    if (end <= 0) {
        return;
    }
    off_t start = end > OUTPUT_SHOWN ? end - OUTPUT_SHOWN : 0;
    ssize_t n = pread(process->capture, text, OUTPUT_SHOWN, start);
    if (n <= 0) {
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        text[i] = text[i] == '\n' || (text[i] >= ' ' && text[i] != 0x7f) ? text[i] : '?';
    }
    while (n > 0 && text[n - 1] == '\n') {
        n--;
    }
    text[n] = '\0';
    size_t used = strlen(how);
    snprintf(how + used, size - used, "; it printed:\n%s", text);
}

/* Reap without blocking; true once it is gone, however that came about. */
static bool try_reap(const struct worker_process *process, siginfo_t *info)
{
    int result;
    memset(info, 0, sizeof *info);
    do {
        result = process->pidfd >= 0
                     ? waitid((idtype_t)P_PIDFD, (id_t)process->pidfd, info, WEXITED | WNOHANG)
                     : waitid(P_PID, (id_t)process->pid, info, WEXITED | WNOHANG);
    } while (result != 0 && errno == EINTR);
    /*
     * ECHILD: the host ignores SIGCHLD or reaps all its children; then nothing
     * is left to reap.
     */
    return result != 0 || info->si_pid != 0;
}

static void send_kill(const struct worker_process *process)
{
#ifdef SYS_pidfd_send_signal
    if (process->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
        return;
    }
#endif
    kill(process->pid, SIGKILL);
}

/* Wait up to `ms` for it to end. */
static bool reap_within(const struct worker_process *process, int ms, siginfo_t *info)
{
    while (!try_reap(process, info)) {
        if (ms <= 0) {
            return false;
        }
        int step = process->pidfd >= 0 ? ms : 1;
        struct pollfd poller = { process->pidfd, POLLIN, 0 };
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        poll(&poller, process->pidfd >= 0 ? 1 : 0, step);
        clock_gettime(CLOCK_MONOTONIC, &end);
        long waited = (long)(end.tv_sec - start.tv_sec) * 1000 +
                      (end.tv_nsec - start.tv_nsec) / 1000000;
        ms -= waited > 0 ? (int)waited : 1;
    }
    return true;
}

static void describe_end(const siginfo_t *info, char *how, size_t size)
{
    if (info->si_pid == 0) {
        snprintf(how, size, "its exit status was taken by the host");
    } else if (info->si_code == CLD_EXITED) {
        snprintf(how, size, "exit code %d", info->si_status);
    } else {
        snprintf(how, size, "signal %d%s", info->si_status, signal_name(info->si_status));
    }
}

void worker_process_end(struct worker_process *process, int grace_ms, char *how, size_t size)
{
    static const struct worker_process none = WORKER_PROCESS_NONE;
    siginfo_t info;
    if (process->fd >= 0) {
        close(process->fd);
    }
    if (process->pid > 0 && process->owner == getpid()) {
        if (!reap_within(process, grace_ms, &info)) {
            send_kill(process);
            /* SIGKILL cannot be refused; only a stuck kernel call delays it. */
            reap_within(process, 10000, &info);
        }
        if (how != NULL) {
            describe_end(&info, how, size);
            append_output(process, how, size);
        }
    }
    if (process->owner == getpid()) {
        scratch_remove(process->scratch);
    }
    if (process->pidfd >= 0) {
        close(process->pidfd);
    }
    if (process->capture >= 0) {
        close(process->capture);
    }
    *process = none;
}
