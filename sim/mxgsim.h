/* SPDX-License-Identifier: MIT */
/*
 * What the simulator's library exports beside the HIP names: findings and counters,
 * for tests and tools.  A program finds these with dlsym; a real HIP runtime has none.
 *
 * The environment, read when the runtime starts (at the first HIP call, and again after
 * mxgsim_shutdown):
 *   MXGSIM_DEVICES=n      number of devices, 0..64; default 1; 0: hipErrorNoDevice
 *   MXGSIM_ARCH=name      what the devices claim to be; default gfx950:sramecc+:xnack-.  With
 *                         any other processor no module loads (hipErrorNoBinaryForGpu)
 *   MXGSIM_MEMORY=bytes   memory of each device; default 288 GiB
 *   MXGSIM_POISON=byte    fills fresh memory; default 0xff (NaN as bf16 and as an E8M0 scale);
 *                         "none" leaves zeros
 *   MXGSIM_TRACK=1        report kernels that read device memory never written
 *   MXGSIM_FAIL=list      "name:n:error,...": the n-th call of name returns error; "n+": and
 *                         all after it.  See mxgsim_fail
 *   MXGSIM_DELAY=list     "name:microseconds,...".  See mxgsim_delay
 *   MXGSIM_QUIET=1        no "hipsim: ..." lines on stderr
 *   MXGSIM_THREADS=n      host threads that run kernels; default: the CPUs that are online
 *   MXGSIM_MAX_INSTS=n    instructions of one wave after which a kernel counts as endless;
 *                         default 200000000
 *   MXGSIM_REPORT=where   "off" or a file for findings; default stderr
 */
#ifndef MXGSIM_H
#define MXGSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MXGSIM_API __attribute__((visibility("default")))

struct mxgsim_counters {
    uint64_t launches, workgroups, waves;
    uint64_t instructions;       /* wave instructions of all classes */
    uint64_t salu, valu, trans, mfma, smem, vmem, ds, branch, other;
    uint64_t mfma_passes;        /* passes of 4 clocks */
    uint64_t bytes_loaded, bytes_stored; /* by vector memory instructions, active lanes */
    uint64_t bytes_scalar;       /* by SMEM */
    uint64_t bytes_lds_direct;   /* loaded from memory straight to LDS; in bytes_loaded too */
    uint64_t lines;              /* distinct 128-byte lines of each memory instruction, summed */
    uint64_t atomics;            /* lanes */
    uint64_t bytes_scratch;
    uint64_t lds_bytes_read, lds_bytes_written;
    uint64_t lds_bank_conflicts; /* extra passes over the 64 banks */
    uint64_t barriers;           /* waves that reached s_barrier */
    uint64_t waits;              /* s_waitcnt */
    uint64_t reports;            /* findings, with repeats */
};

MXGSIM_API size_t mxgsim_reports_count(void);
/* Copies finding i as text; returns its length without the end, 0 when there is no such. */
MXGSIM_API size_t mxgsim_report_text(size_t i, char *buf, size_t size);
/* Short kind name of finding i ("waitcnt", "mem-bounds", ...), NULL when there is no such. */
MXGSIM_API const char *mxgsim_report_kind(size_t i);
MXGSIM_API void mxgsim_reports_reset(void);
/* All findings as a JSON array; free() it. */
MXGSIM_API char *mxgsim_reports_json(void);
MXGSIM_API void mxgsim_counters(struct mxgsim_counters *out);
MXGSIM_API void mxgsim_counters_reset(void);

/*
 * Fault injection.  `name` is an entry point that the simulator implements
 * ("hipModuleLaunchKernel"), or "kernel": the execution of a kernel on its stream, whose
 * error is therefore asynchronous.  Errors are hipError_t values; a result other than 0
 * means that there is no such name.
 */

/* Call nth from now (1 = the next one) fails, and with `onward` all after it; 0 = none. */
MXGSIM_API int mxgsim_fail(const char *name, unsigned long nth, int onward, int error);
/* Every call first sleeps so long. */
MXGSIM_API int mxgsim_delay(const char *name, unsigned microseconds);
/* Calls since the start, the last mxgsim_fail for this name, or mxgsim_clear_faults. */
MXGSIM_API unsigned long mxgsim_call_count(const char *name);
MXGSIM_API void mxgsim_clear_faults(void);

/*
 * A kernel that faults leaves its device unusable: every later call that needs the device
 * returns the fault's error, and what was queued is dropped.  This waits for the device's
 * streams, makes it usable again and returns the fault (0: there was none).  Memory, streams
 * and modules stay.
 */
MXGSIM_API int mxgsim_reset_device(int device);

/*
 * End all streams (what is queued is dropped), free all memory, modules and handles.  The
 * next HIP call starts anew and reads the environment again.  No other thread may be in a
 * HIP call.  Unloading the library does the same.
 */
MXGSIM_API void mxgsim_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
