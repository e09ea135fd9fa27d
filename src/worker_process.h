/* SPDX-License-Identifier: MIT */
/*
 * One helper process: started with a socket as its descriptor 3 and its
 * output captured, killed and reaped by its own handle.  The host's signal
 * handlers, signal mask, working directory and other children are not touched.
 */
#ifndef MXG_WORKER_PROCESS_H
#define MXG_WORKER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mem.h"
#include "mxgemm.h"

struct worker_process {
    pid_t pid;    /* 0 = none */
    int pidfd;    /* -1 where the kernel has none */
    int fd;       /* our end of the socket */
    int capture;  /* what it printed; -1 = not captured */
    pid_t owner;  /* the process that started it: a forked child must leave it alone */
    char scratch[512]; /* its temporary folder; "" = none could be made */
};

#define WORKER_PROCESS_NONE { 0, -1, -1, -1, 0, "" }

/* Start argv[0] (a path).  E_WORKER with the reason, E_HOST_MEMORY. */
mxg_status worker_process_start(const struct mem *mem, char *const *argv,
                                struct worker_process *process);

/* Forget what the process printed so far. */
void worker_process_forget_output(const struct worker_process *process);

/*
 * End it (it gets `grace_ms` to end by itself, then SIGKILL), reap it, remove
 * its temporary files, close everything.  `how` becomes "exit code 4" or "signal 11 (SIGSEGV)",
 * with the last lines that it printed; NULL if nobody asks.  In a forked child only descriptors
 * are closed.
 */
void worker_process_end(struct worker_process *process, int grace_ms, char *how, size_t size);

#endif
