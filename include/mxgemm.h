/* SPDX-License-Identifier: MIT */
/*
 * mxgemm: bf16 activations times MXFP4 weights on AMD Instinct GPUs.
 *
 *     C[M,N] = MXFP4(A[M,K]) * B[N,K]^T
 *
 * The kernel for a shape is compiled the first time that shape is called,
 * and kept in memory and on disk.
 *
 * Caveats
 * -------
 * Threads   Every function may be called from any thread.  A context may be
 *           shared by any number of threads; mxg_context_destroy must be the
 *           last call that uses it.
 * Blocking  mxg_gemm only enqueues work, but the first call of a shape loads
 *           or compiles its kernels and blocks for that long (tens to hundreds
 *           of milliseconds).  Callers of the same shape wait for the one that
 *           compiles; callers of other shapes do not.
 * Streams   Work goes to the caller's stream.  All pointers handed to mxg_gemm
 *           must stay valid until that stream has passed the call.  A stream
 *           must outlive its last mxg_gemm; call mxg_stream_forget before
 *           hipStreamDestroy when the library's own workspace was used on it.
 * fork      A context cannot be used in a forked child: every call that takes
 *           it returns MXG_E_FORKED there.  Create the context after fork.
 * dlclose   The library is linked -z nodelete: dlclose leaves it mapped, so no
 *           thread can lose its code.  Destroy contexts before dlclose.
 * Signals   The library's helper process and threads block all signals.
 * Ownership Nothing passed in is kept after return, but for the device
 *           pointers above and the callbacks of mxg_context_options, which
 *           must stay valid until mxg_context_destroy has returned.
 * Errors    Functions return a status.  Negative is an error, and then
 *           mxg_last_error() holds a sentence for the calling thread.  The
 *           library never exits, aborts, or prints unless asked to.
 *
 * Terms
 * -----
 * MX block: 32 consecutive K elements that share one E8M0 scale byte (value
 * 2^(e-127), 0xFF = NaN), OCP Microscaling Formats (MX) v1.0, section 5.
 * MXFP4: E2M1 elements (0, .5, 1, 1.5, 2, 3, 4, 6; sign in bit 3), two a byte,
 * lower K in the low nibble.
 */
#ifndef MXGEMM_H
#define MXGEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MXG_API __attribute__((visibility("default")))
#else
#define MXG_API
#endif

/* Version of this header; mxg_version() gives the library's. */
#define MXG_VERSION_MAJOR 0
#define MXG_VERSION_MINOR 1
#define MXG_VERSION_PATCH 0
#define MXG_VERSION (MXG_VERSION_MAJOR * 10000 + MXG_VERSION_MINOR * 100 + MXG_VERSION_PATCH)

/*
 * Every status, its value and a one-line text.  0 is success, negative an
 * error.  Values never change between releases.
 */
#define MXG_STATUS_MAP(XX)                                                              \
    XX(OK, 0, "success")                                                                \
    XX(E_NULL, -1, "a required pointer is NULL")                                        \
    XX(E_ALIGNMENT, -2, "a pointer or leading dimension is not aligned")                \
    XX(E_SHAPE, -3, "M, N or K is out of range")                                        \
    XX(E_OVERFLOW, -4, "an extent does not fit 63 bits")                                \
    XX(E_LEADING_DIMENSION, -5, "a leading dimension is smaller than its row")          \
    XX(E_ENUM, -6, "an enumeration value is unknown")                                   \
    XX(E_VERSION, -7, "a structure is from another version of the header")              \
    XX(E_UNSUPPORTED, -8, "no kernel serves this combination")                          \
    XX(E_WORKSPACE, -9, "the caller's workspace is too small")                          \
    XX(E_OPTION, -10, "an option or environment variable has no meaning")               \
    XX(E_HOST_MEMORY, -11, "out of host memory")                                        \
    XX(E_DEVICE_MEMORY, -12, "out of device memory")                                    \
    XX(E_FORKED, -13, "the context was created by another process")                     \
    XX(E_NO_HIP, -20, "no HIP runtime library could be opened")                         \
    XX(E_HIP_SYMBOL, -21, "the HIP runtime library lacks functions")                    \
    XX(E_NO_DEVICE, -22, "the HIP runtime reports no such device")                      \
    XX(E_ARCH, -23, "the device's architecture has no kernels")                         \
    XX(E_HIP, -24, "a HIP runtime call failed")                                         \
    XX(E_LOAD, -25, "the code object could not be loaded")                              \
    XX(E_LAUNCH, -26, "the kernel could not be launched")                               \
    XX(E_NO_COMPILER, -30, "no compiler could be opened")                               \
    XX(E_COMPILE, -31, "the kernel did not compile")                                    \
    XX(E_WORKER, -32, "the compiler's helper process failed")                           \
    XX(E_CODE_OBJECT, -33, "the compiler's output is not a usable code object")         \
    XX(E_CACHE_UNWRITABLE, -40, "the disk cache folder cannot be written")              \
    XX(E_CACHE_UNSAFE, -41, "the disk cache folder is not safe to trust")               \
    XX(E_CACHE_FULL, -42, "the disk that holds the cache is full")                      \
    XX(E_CACHE_IO, -43, "the disk cache failed with an I/O error")                      \
    XX(E_INTERNAL, -99, "a rule inside the library was broken")

typedef enum mxg_status {
#define MXG_STATUS_ENUM(name, value, text) MXG_##name = value,
    MXG_STATUS_MAP(MXG_STATUS_ENUM)
#undef MXG_STATUS_ENUM
} mxg_status;

/* The library's version as MXG_VERSION.  Never fails. */
MXG_API int mxg_version(void);

/*
 * "MXG_E_SHAPE" and its one-line text; "unknown status" texts for other values.  Static
 * storage.
 */
MXG_API const char *mxg_status_name(mxg_status status);
MXG_API const char *mxg_status_string(mxg_status status);

/*
 * The calling thread's last error in one sentence or more: the value that was
 * refused and the rule, or the compiler's log.  Empty before the first error;
 * a successful call leaves it as it is.  Valid until the thread's next call
 * into the library.
 */
MXG_API const char *mxg_last_error(void);

/* ------------------------------------------------------------------ types */

typedef enum mxg_type {
    MXG_TYPE_BF16 = 1,  /* 16 bits: A, C, weights to quantise */
    MXG_TYPE_MXFP4 = 2, /* A and B: two elements a byte, with a scale byte per MX block */
    MXG_TYPE_F16 = 3,   /* C */
    MXG_TYPE_F32 = 4    /* C, weights to quantise */
} mxg_type;

typedef enum mxg_layout {
    MXG_LAYOUT_ROW_MAJOR = 1,
    MXG_LAYOUT_SHUFFLED = 2
} mxg_layout;

/*
 * How the product is computed.
 *   FUSED      one launch; A is quantised inside the GEMM.
 *   PREQUANT   two launches; A is quantised once into a workspace.
 *   QUANTIZED  one launch; the caller's A is MXFP4 already.
 */
typedef enum mxg_variant {
    MXG_VARIANT_AUTO = 0, /* let the chooser decide */
    MXG_VARIANT_FUSED = 1,
    MXG_VARIANT_PREQUANT = 2,
    MXG_VARIANT_QUANTIZED = 3
} mxg_variant;

typedef struct mxg_context mxg_context;

/* ---------------------------------------------------------------- context */

typedef enum mxg_log_level {
    MXG_LOG_ERROR = 1,
    MXG_LOG_WARNING = 2,
    MXG_LOG_INFO = 3,
    MXG_LOG_DEBUG = 4
} mxg_log_level;

/*
 * Called on the thread that logs; text is one line without a newline.  No library lock is
 * held.
 */
typedef void (*mxg_log_callback)(mxg_log_level level, const char *text, void *user);

/*
 * Options of mxg_context_create.  Start from MXG_CONTEXT_OPTIONS_INIT.  A NULL
 * or 0 member means "the environment variable, else the default"; an option
 * that is set beats its variable.  doc/environment.md lists the variables.
 */
typedef struct mxg_context_options {
    size_t struct_size;
    int device;                  /* HIP device ordinal, default 0 */
    int log_level;               /* mxg_log_level, 0 = MXG_LOG or warnings */
    const char *hip_library;     /* path or soname; MXG_HIP_LIBRARY, else the usual names */
    const char *compiler;        /* auto, comgr, hiprtc, worker, worker:comgr, worker:hiprtc;
                                    MXG_COMPILER */
    const char *rocm_path;       /* folder of ROCm; ROCM_PATH, else /opt/rocm */
    const char *rocm_prefix;     /* folder made by rocm-prefix; MXG_ROCM_PREFIX */
    const char *worker_path;     /* the mxgemm-cc program; MXG_WORKER, else the installed one */
    const char *cache_dir;       /* writable disk cache; MXG_CACHE_DIR, else
                                    $XDG_CACHE_HOME/mxgemm/kernels or
                                    ~/.cache/mxgemm/kernels; "" = none */
    const char *cache_read_dirs; /* colon-separated read-only caches, searched first;
                                    MXG_CACHE_READ_DIRS */
    uint64_t cache_max_bytes;    /* 0 = MXG_CACHE_MAX_BYTES or 1 GiB */
    uint64_t cache_max_entries;  /* 0 = MXG_CACHE_MAX_ENTRIES or 16384 */
    uint64_t compile_timeout_ms; /* helper process only; 0 = MXG_COMPILE_TIMEOUT_MS or 120000 */
    mxg_log_callback log;        /* NULL = lines on stderr */
    void *log_user;
    void *(*allocate)(size_t size, void *user); /* both or neither; NULL = malloc, free */
    void (*deallocate)(void *pointer, void *user);
    void *allocate_user;
} mxg_context_options;

#define MXG_CONTEXT_OPTIONS_INIT                                                    \
    { sizeof(mxg_context_options), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  \
      0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/*
 * Open the HIP runtime, look at the device, open the disk cache.  No compiler
 * is opened yet.  `options` may be NULL.  A cache folder that cannot be used
 * is a warning, not an error: the context then keeps kernels in memory only,
 * and mxg_stats.cache_status tells why.
 *
 * [out] context  NULL on failure.
 * Returns OK, E_NULL, E_VERSION, E_OPTION, E_HOST_MEMORY, E_NO_HIP,
 * E_HIP_SYMBOL, E_NO_DEVICE, E_ARCH, E_HIP.  Blocks for the runtime's start.
 */
MXG_API mxg_status mxg_context_create(const mxg_context_options *options,
                                      mxg_context **context);

/*
 * Wait for the device, unload every kernel, stop the helper process, free
 * everything.  NULL is a no-op.  In a forked child it frees host memory only.
 */
MXG_API void mxg_context_destroy(mxg_context *context);

/* ------------------------------------------------------------------- gemm */

/*
 * Arguments of one product.  Start from MXG_GEMM_ARGS_INIT.
 *
 * Layouts, in bytes (kb = k/32, the MX block):
 *   A bf16       row m at a + m*lda*2.  a: 16-byte aligned; lda >= K, lda % 8 == 0.
 *   A MXFP4      row m at a + m*lda/2, scales at a_scale + m*(K/32) + kb.
 *                a: 16-byte aligned; lda >= K, lda % 32 == 0.
 *   B row-major  row n at b + n*ldb/2; ldb >= K, ldb % 32 == 0.  b: 16-byte aligned.
 *   B shuffled   [ceil(N/16)][K/32][16 rows][16 bytes]; byte j of (n, kb) at
 *                (n/16)*K*8 + kb*256 + (n%16)*16 + j.  ldb must be 0 or K.
 *                This is aiter's shuffle_weight(16,16).
 *   S row-major  b_scale + n*(K/32) + kb.
 *   S shuffled   rows padded to 256, columns to 8 (sn of them); (r, c) at
 *                (r/32)*(sn/8)*256 + (c/8)*256 + (c%4)*64 + (r%16)*4 + ((c/4)%2)*2 + (r/16)%2.
 *                b_scale: 4-byte aligned.  This is aiter's e8m0_shuffle.
 *   C            row m at c + m*ldc*sizeof(element); ldc >= N; c aligned to its element.
 * Padding of shuffled buffers must be allocated and may hold anything; it is
 * never read as data.  A leading dimension of 0 means "dense".
 */
typedef struct mxg_gemm_args {
    size_t struct_size;
    int64_t m, n, k;            /* m >= 1, n >= 1, k >= 32, k % 32 == 0 */
    int64_t lda, ldb, ldc;      /* elements; 0 = K, K, N */
    mxg_type a_type;            /* BF16 or MXFP4 */
    mxg_type c_type;            /* BF16, F16 or F32 */
    mxg_layout b_layout;
    mxg_layout b_scale_layout;
    mxg_variant variant;        /* AUTO, or force one that applies to a_type */
    uint32_t reserved;          /* 0 */
    const void *a;              /* device */
    const void *a_scale;        /* device; A MXFP4 only, ignored otherwise */
    const void *b;              /* device */
    const void *b_scale;        /* device */
    void *c;                    /* device, [out] */
    void *workspace;            /* device, 256-byte aligned; NULL = the library's own,
                                   one per stream */
    size_t workspace_size;      /* bytes at workspace */
} mxg_gemm_args;

#define MXG_GEMM_ARGS_INIT                                                          \
    { sizeof(mxg_gemm_args), 0, 0, 0, 0, 0, 0, MXG_TYPE_BF16, MXG_TYPE_BF16,        \
      MXG_LAYOUT_SHUFFLED, MXG_LAYOUT_SHUFFLED, MXG_VARIANT_AUTO, 0,                \
      NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/*
 * Enqueue C = MXFP4(A) * B^T on `stream` (a hipStream_t of the context's
 * device; NULL is the default stream).
 *
 * A bf16 is quantised per row and MX block: amax = max|x|; the scale exponent
 * is floor(log2(amax)) - 2, one more where amax's mantissa is >= 1.75; elements
 * round to nearest even and saturate at 6.  A NaN or Inf in a block makes every
 * output of that row NaN, and touches no other row.  Accumulation is fp32, one
 * rounding to C's type; |C - exact| <= half an ulp + K * 2^-24 * sum|a*b|.  The
 * same call gives the same bits every time.
 *
 * C must not overlap an input.  Calls that share a caller's workspace must be ordered by the
 * caller, also on one stream: two threads' launches could interleave.  The library's own
 * workspace needs no such care.  Asynchronous but for the first call of a shape
 * (see Caveats).  A failed compile is remembered: later calls of that shape
 * return the same error and log at once, until mxg_forget_failures.
 *
 * Returns OK, E_NULL, E_ALIGNMENT, E_SHAPE, E_OVERFLOW, E_LEADING_DIMENSION,
 * E_ENUM, E_VERSION, E_UNSUPPORTED, E_WORKSPACE, E_FORKED, E_HOST_MEMORY,
 * E_DEVICE_MEMORY, E_NO_COMPILER, E_COMPILE, E_WORKER, E_CODE_OBJECT, E_LOAD,
 * E_LAUNCH, E_HIP.
 */
MXG_API mxg_status mxg_gemm(mxg_context *context, const mxg_gemm_args *args, void *stream);

/*
 * Load or compile what mxg_gemm with these sizes, types and layouts would
 * need, and launch nothing; pointers in args are ignored.  Blocks.  Statuses
 * as mxg_gemm, but for those about pointers and launches.
 */
MXG_API mxg_status mxg_prepare(mxg_context *context, const mxg_gemm_args *args);

/* Bytes that args.workspace must hold for this call (0 if none).  Does not block. */
MXG_API mxg_status mxg_workspace_size(mxg_context *context, const mxg_gemm_args *args,
                                      size_t *bytes);

/*
 * Free the workspace that the library keeps for `stream`, after waiting for
 * the stream.  Blocks.  Unknown streams are OK.
 */
MXG_API mxg_status mxg_stream_forget(mxg_context *context, void *stream);

/* Forget remembered failures, so that the next call tries again. */
MXG_API mxg_status mxg_forget_failures(mxg_context *context);

/* ------------------------------------------------------------------- plan */

typedef enum mxg_source {
    MXG_SOURCE_NONE = 0,     /* not loaded yet */
    MXG_SOURCE_DISK = 1,
    MXG_SOURCE_COMPILED = 2
} mxg_source;

/* Figures of one kernel, as its code object's metadata states them. */
typedef struct mxg_kernel_info {
    char name[64];           /* family and configuration */
    char provider[32];       /* who compiled it; empty until loaded */
    mxg_source source;
    uint32_t threads;        /* per workgroup */
    uint64_t workgroups;     /* for the M asked about */
    uint32_t vgprs, agprs, sgprs;
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t scratch_bytes;  /* per lane */
    uint32_t lds_bytes;      /* static and dynamic, per workgroup */
    uint32_t waves_per_cu;   /* that registers, LDS and the workgroup limit allow */
    uint32_t code_bytes;     /* machine code */
} mxg_kernel_info;

#define MXG_PLAN_MAX_KERNELS 2

/* What mxg_gemm does, or would do, for a shape.  Start from MXG_PLAN_INIT. */
typedef struct mxg_plan {
    size_t struct_size;
    mxg_variant variant;
    uint32_t num_kernels;    /* in launch order */
    mxg_kernel_info kernels[MXG_PLAN_MAX_KERNELS];
    int64_t m_class_min;     /* every M that these kernels serve, first */
    int64_t m_class_max;     /* and last; INT64_MAX = open */
    char reason[512];        /* why, in words and numbers */
} mxg_plan;

#define MXG_KERNEL_INFO_INIT { "", "", MXG_SOURCE_NONE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define MXG_PLAN_INIT                                                               \
    { sizeof(mxg_plan), MXG_VARIANT_AUTO, 0,                                        \
      { MXG_KERNEL_INFO_INIT, MXG_KERNEL_INFO_INIT }, 0, 0, "" }

/*
 * Tell the choice for these sizes, types and layouts (pointers are ignored)
 * without compiling.  Figures are filled in for kernels that are loaded.
 * Returns OK, E_UNSUPPORTED, or an argument status as mxg_gemm.
 */
MXG_API mxg_status mxg_explain(mxg_context *context, const mxg_gemm_args *args, mxg_plan *plan);

/* ------------------------------------------------------------- statistics */

typedef enum mxg_stage {
    MXG_STAGE_SELECT = 0, /* choose the variant and the configuration */
    MXG_STAGE_SOURCE,     /* write the kernel source and hash it */
    MXG_STAGE_LOOKUP,     /* search the disk cache, verify the entry */
    MXG_STAGE_COMPILE,    /* the compiler, the helper process included */
    MXG_STAGE_LOAD,       /* hipModuleLoadData and symbol */
    MXG_STAGE_LAUNCH,     /* pack the arguments, hipModuleLaunchKernel */
    MXG_STAGE_COUNT
} mxg_stage;

typedef struct mxg_stage_time {
    uint64_t count, total_ns, max_ns, last_ns;
} mxg_stage_time;

/* Counters since the context was created.  Start from MXG_STATS_INIT. */
typedef struct mxg_stats {
    size_t struct_size;
    mxg_stage_time stage[MXG_STAGE_COUNT];
    uint64_t calls;            /* mxg_gemm and mxg_prepare with valid arguments */
    uint64_t table_hits;       /* answered from memory */
    uint64_t table_misses;
    uint64_t waits;            /* calls that waited for another thread's compile */
    uint64_t disk_hits, disk_misses;
    uint64_t disk_bad_entries; /* damaged entries found, removed and rewritten */
    uint64_t disk_stores, disk_store_failures, disk_evictions;
    uint64_t compiles, compile_failures;
    uint64_t launches;         /* kernels, not calls */
    uint64_t worker_restarts;
    mxg_status cache_status;   /* OK, or why the writable folder is not used */
    char compiler[512];        /* provider and version; empty until first needed */
} mxg_stats;

#define MXG_STATS_INIT                                                              \
    { sizeof(mxg_stats), { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 },         \
                           { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },        \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, MXG_OK, "" }

MXG_API mxg_status mxg_get_stats(mxg_context *context, mxg_stats *stats);

/* ---------------------------------------------------- weights, on the host */

/*
 * Sizes in bytes.  Each returns OK, E_NULL, E_ENUM, E_SHAPE or E_OVERFLOW and sets
 * *bytes to 0 on failure.
 */
MXG_API mxg_status mxg_b_size(int64_t n, int64_t k, mxg_layout layout, size_t *bytes);
MXG_API mxg_status mxg_scale_size(int64_t rows, int64_t k, mxg_layout layout, size_t *bytes);

/*
 * Quantise [rows, k] bf16 or f32 (row r at src + r*ld elements; ld 0 = k) to
 * row-major MXFP4 and scales, by the rule at mxg_gemm.  A block with a NaN or
 * Inf gets scale 0xFF and zero elements.  f32 is quantised from f32, not by way of bf16.
 * [out] dst: rows*k/2 bytes; dst_scale: rows*k/32 bytes.
 * Returns OK, E_NULL, E_SHAPE, E_OVERFLOW, E_ENUM, E_LEADING_DIMENSION.
 */
MXG_API mxg_status mxg_quantize(int64_t rows, int64_t k, mxg_type src_type, const void *src,
                                int64_t ld, void *dst, void *dst_scale);

/*
 * Row-major to shuffled (see mxg_gemm_args).  dst has mxg_b_size or
 * mxg_scale_size bytes; padding is written as 0.  src and dst must not overlap.
 * Returns OK, E_NULL, E_SHAPE, E_OVERFLOW.
 */
MXG_API mxg_status mxg_shuffle_b(int64_t n, int64_t k, const void *src, void *dst);
MXG_API mxg_status mxg_shuffle_scale(int64_t rows, int64_t k, const void *src, void *dst);

/* ------------------------------------------------ device memory, for hosts
 * that do not use HIP themselves.  Thin calls of the context's runtime. */

MXG_API mxg_status mxg_device_allocate(mxg_context *context, size_t bytes, void **pointer);
MXG_API mxg_status mxg_device_free(mxg_context *context, void *pointer);
MXG_API mxg_status mxg_copy_to_device(mxg_context *context, void *dst, const void *src,
                                      size_t bytes);
MXG_API mxg_status mxg_copy_to_host(mxg_context *context, void *dst, const void *src,
                                    size_t bytes);
MXG_API mxg_status mxg_stream_create(mxg_context *context, void **stream);
/* Waits for the stream, forgets its workspace, destroys it. */
MXG_API mxg_status mxg_stream_destroy(mxg_context *context, void *stream);
/*
 * Wait for a stream; an error that a kernel raised comes back here as E_HIP.  NULL =
 * default stream.
 */
MXG_API mxg_status mxg_stream_synchronize(mxg_context *context, void *stream);

#ifdef __cplusplus
}
#endif

#endif
