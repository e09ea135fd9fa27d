/* SPDX-License-Identifier: MIT */
/*
 * The on-disk cache of code objects: interface.  doc/cache-format.md states
 * the file format, the folder layout, the lock protocol and the trust model.
 *
 * Caveats
 *   Threads   Every function may be called from any thread at any time, except
 *             that dcache_close must be the last call on its cache.
 *   Fork      No file descriptor is kept between calls, a held dcache_lock
 *             excepted.  A child may go on using the cache; a lock held across
 *             fork is released by whichever of the two unlocks it first.
 *   Failure   A cache never makes its user fail: whatever is wrong with a
 *             folder, loads are misses and stores return a code.
 *   Memory    All of it comes from the hooks in the configuration.
 *   Logging   The callback runs on the calling thread, and no lock of the
 *             cache is held then.  Its detail text names path, value and rule.
 */
#ifndef MXG_DCACHE_H
#define MXG_DCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------- results */

/* One row a result: name, text. */
#define DCACHE_RESULTS(XX)                                                                     \
    XX(OK, "done")                                                                             \
    XX(MISS, "no valid entry of this key")                                                     \
    XX(TIMEOUT, "another holder kept the lock of this key for the whole wait")                 \
    XX(UNAVAILABLE, "there is no writable cache folder")                                       \
    XX(UNWRITABLE, "the cache folder cannot be made or written")                               \
    XX(UNSAFE, "the cache folder is not ours, or others may write to it")                      \
    XX(FULL, "the disk, the quota or the file size limit leaves no room")                      \
    XX(SETUID, "a setuid process ignores a folder that the environment names")                 \
    XX(IO, "the file system failed")                                                           \
    XX(NO_MEMORY, "out of memory")                                                             \
    XX(INVALID, "an argument breaks a rule of this interface")                                 \
    XX(TOO_LARGE, "the entry is larger than the format or the cache allows")                   \
    XX(STOPPED, "the callback ended the iteration")                                            \
    XX(BAD_FILE, "entry file of a wrong type, owner or mode")                                  \
    XX(BAD_LENGTH, "entry whose lengths do not add up to the file")                            \
    XX(BAD_MAGIC, "file that does not begin as an entry")                                      \
    XX(BAD_VERSION, "entry of another format version")                                         \
    XX(BAD_CHECKSUM, "entry whose checksum does not match")                                    \
    XX(BAD_KEY, "entry of another key")                                                        \
    XX(BAD_METADATA, "entry with malformed metadata")

enum dcache_result {
#define DCACHE_RESULT_ENUM(name, text) DCACHE_##name,
    DCACHE_RESULTS(DCACHE_RESULT_ENUM)
#undef DCACHE_RESULT_ENUM
        DCACHE_RESULT_COUNT
};

/* "BAD_KEY" and its sentence; a value outside the enum gives "?". */
const char *dcache_result_name(enum dcache_result result);
const char *dcache_result_text(enum dcache_result result);

/* ------------------------------------------------------- configuration */

enum dcache_level { DCACHE_LOG_ERROR, DCACHE_LOG_WARNING, DCACHE_LOG_INFO, DCACHE_LOG_DEBUG };

typedef void (*dcache_log_callback)(enum dcache_level level, enum dcache_result code,
                                    const char *text, void *user);

/* Both hooks or neither; `allocate` returns memory aligned as malloc's, or NULL. */
struct dcache_memory {
    void *(*allocate)(size_t size, void *user);
    void (*deallocate)(void *pointer, void *user);
    void *user;
};

#define DCACHE_DEFAULT_MAX_BYTES ((uint64_t)1 << 30)
#define DCACHE_DEFAULT_MAX_ENTRIES ((uint64_t)16384)
#define DCACHE_DEFAULT_LOCK_WAIT_MS ((uint64_t)60000)
#define DCACHE_DEFAULT_STAMP_INTERVAL_MS ((uint64_t)60000)
#define DCACHE_NO_BOUND UINT64_MAX

/* Zero-initialise, then set what is wanted; nothing in it is referenced after dcache_open. */
struct dcache_config {
    const char *folder;                   /* writable; NULL or "" = none */
    const char *const *read_only_folders; /* looked up first, in this order */
    size_t read_only_count;
    /* True where the value came from an environment variable: ignored when setuid. */
    bool folder_from_environment;
    bool read_only_from_environment;
    uint64_t max_bytes;         /* 0 = default, DCACHE_NO_BOUND = none; sum of file sizes */
    uint64_t max_entries;       /* 0 = default, DCACHE_NO_BOUND = none */
    uint64_t lock_wait_ms;      /* 0 = default; what dcache_lock waits when told -1 */
    uint64_t stamp_interval_ms; /* 0 = default; a hit rewrites a stamp older than this */
    dcache_log_callback log;    /* NULL = silent */
    void *log_user;
    struct dcache_memory memory; /* zeros = malloc and free */
};

typedef struct dcache dcache;

/*
 * Open a cache.  The writable folder is made when missing, parents included,
 * with mode 0700; temp and lock files of dead processes in it are removed.  A
 * folder that cannot be used is left out with one warning: see
 * dcache_stats.folder_state.  A writable folder that became usable later is
 * used from then on, except one left out as UNAVAILABLE or SETUID.
 *
 * [out] out  NULL on failure.
 * Returns OK, NO_MEMORY, or INVALID (NULL argument, one memory hook alone, or
 * a count without an array).
 */
enum dcache_result dcache_open(const struct dcache_config *config, dcache **out);

/* Frees the cache; NULL is a no-op.  Entries and keys outlive it. */
void dcache_close(dcache *cache);

/* ----------------------------------------------------------------- key */

#define DCACHE_KEY_BYTES 16
#define DCACHE_HEX_SIZE (2 * DCACHE_KEY_BYTES + 1)

/*
 * A key is the canonical encoding of its fields (the echo, which entries carry
 * and readers compare) and that encoding's XXH3-128 (which names the file).
 * Read the members, do not write them.
 */
struct dcache_key {
    unsigned char digest[DCACHE_KEY_BYTES];
    unsigned char *echo;
    size_t echo_size;
    size_t echo_room;
    enum dcache_result state; /* OK once dcache_key_end succeeded */
    struct dcache_memory memory;
};

/*
 * Build: begin, field..., end; release in any case, also after an error.  An
 * error (no memory, empty or too long tag, too large echo) is kept and comes
 * back from dcache_key_end: NO_MEMORY, INVALID or TOO_LARGE.  The first field,
 * the format version, is added by begin.  The order of fields matters.
 */
void dcache_key_begin(struct dcache_key *key, const struct dcache_memory *memory);
void dcache_key_field(struct dcache_key *key, const char *tag, const void *bytes, size_t size);
/* A field of text: the bytes of `text` without its NUL; NULL is the empty text. */
void dcache_key_text(struct dcache_key *key, const char *tag, const char *text);
enum dcache_result dcache_key_end(struct dcache_key *key);
void dcache_key_release(struct dcache_key *key);
/* The digest as 32 lower-case hexadecimal digits. */
void dcache_key_hex(const struct dcache_key *key, char hex[DCACHE_HEX_SIZE]);

/* ------------------------------------------------------------- entries */

/* Name: 1..64 of [a-z0-9_.-].  Value: any text. */
struct dcache_pair {
    const char *name;
    const char *value;
};

#define DCACHE_MAX_PAIRS 256
#define DCACHE_MAX_PAIR_NAME 64
#define DCACHE_MAX_METADATA_BYTES ((size_t)1 << 20)
#define DCACHE_MAX_ECHO_BYTES ((size_t)16 << 20)
#define DCACHE_MAX_PAYLOAD_BYTES ((size_t)256 << 20)

/* What a load gives: memory of its own, freed by dcache_entry_release. */
struct dcache_entry {
    const void *payload; /* 16-aligned where the allocator aligns so */
    size_t payload_size;
    const struct dcache_pair *pairs;
    size_t pair_count;
    bool is_read_only; /* came from a read-only folder: dcache_remove cannot drop it */
    unsigned char *storage;
    struct dcache_pair *pair_storage;
    struct dcache_memory memory;
};

/* NULL when the entry has no such pair. */
const char *dcache_entry_value(const struct dcache_entry *entry, const char *name);
/* A zeroed or released entry is a no-op. */
void dcache_entry_release(struct dcache_entry *entry);

/*
 * Look a key up in the read-only folders, then in the writable one, and verify
 * all of the entry found.  A bad one is counted, logged, removed if it lies in
 * the writable folder, and the search goes on.
 *
 * [out] entry  zeroed unless OK.
 * Returns OK, MISS, NO_MEMORY (the entry, if any, stays) or INVALID.
 */
enum dcache_result dcache_load(dcache *cache, const struct dcache_key *key,
                               struct dcache_entry *entry);

/*
 * Write an entry, replacing one of the same key, then evict if a bound is
 * passed.  Readers see the old or the new entry, never a part of one.
 *
 * Returns OK, INVALID (unfinished key, bad pair), TOO_LARGE, NO_MEMORY,
 * UNAVAILABLE, SETUID, UNWRITABLE, UNSAFE, FULL or IO.
 */
enum dcache_result dcache_store(dcache *cache, const struct dcache_key *key,
                                const struct dcache_pair *pairs, size_t pair_count,
                                const void *payload, size_t payload_size);

/* Drop the writable folder's entry.  Returns OK, MISS, INVALID or a folder's state. */
enum dcache_result dcache_remove(dcache *cache, const struct dcache_key *key);

/* --------------------------------------------------------------- locks */

/* Caller's storage of a held lock.  fd is -1 when nothing is held. */
struct dcache_lock {
    int fd;
    unsigned char digest[DCACHE_KEY_BYTES];
};

#define DCACHE_LOCK_INIT                                                                       \
    {                                                                                          \
        -1,                                                                                    \
        {                                                                                      \
            0                                                                                  \
        }                                                                                      \
    }

/*
 * Take the lock of a key against all threads and processes that use the same
 * folder.  It goes away with the process that holds it.  Having it, load once
 * more before compiling: an earlier holder may have stored the entry.
 *
 *   wait_ms  0 = try once (a concurrent clean-up can make that fail without a
 *            holder), -1 = the configured wait.
 * [out] lock
 * Returns OK; TIMEOUT or UNAVAILABLE (go on without: compile privately); INVALID.
 */
enum dcache_result dcache_lock(dcache *cache, const struct dcache_key *key, int64_t wait_ms,
                               struct dcache_lock *lock);
/* Release; a lock that holds nothing is a no-op. */
void dcache_unlock(dcache *cache, struct dcache_lock *lock);

/* --------------------------------------------------- statistics, care */

struct dcache_stats {
    uint64_t hits; /* read-only ones included */
    uint64_t read_only_hits;
    uint64_t misses; /* bad entries included */
    uint64_t bad_entries;
    uint64_t stores;
    uint64_t store_failures;
    uint64_t evictions;
    uint64_t stale_temps_removed;
    uint64_t stale_locks_removed;
    uint64_t lock_timeouts;
    enum dcache_result folder_state; /* of the writable folder: OK, UNAVAILABLE (none
                                        configured), SETUID, UNWRITABLE, UNSAFE, FULL, IO */
};

void dcache_stats(const dcache *cache, struct dcache_stats *stats);

enum dcache_iterate_flags {
    DCACHE_VERIFY = 1, /* read all of each entry and check it as a load does */
    DCACHE_REMOVE_BAD =
        2 /* drop bad entries of the writable folder, other versions' excepted */
};

/* One entry, valid during the callback. */
struct dcache_item {
    const char *folder;
    const char *hex;  /* the digest that the file name states */
    const char *path; /* relative to the folder */
    bool is_read_only;
    uint64_t file_bytes;
    uint64_t payload_bytes;
    int64_t used_s;            /* last use, seconds since 1970 */
    enum dcache_result result; /* OK or why the entry is bad; then there are no pairs */
    const struct dcache_pair *pairs;
    size_t pair_count;
};

/* Returns false to stop. */
typedef bool (*dcache_item_callback)(const struct dcache_item *item, void *user);

/*
 * Call back for each entry of each folder, read-only folders first, in no
 * particular order within one.  Entries that come or go meanwhile may be missed.
 * Returns OK, STOPPED, INVALID, NO_MEMORY or IO (a folder could not be read to its end).
 */
enum dcache_result dcache_iterate(dcache *cache, unsigned flags, dcache_item_callback callback,
                                  void *user);

/*
 * Remove dead processes' files, and the least recently used entries until both
 * bounds hold (0 = empty the folder, DCACHE_NO_BOUND = leave alone).  Waits up
 * to the configured lock wait for another process's eviction.
 *
 * [out] removed  entries removed; may be NULL.
 * Returns OK, TIMEOUT, NO_MEMORY, INVALID, UNAVAILABLE, SETUID or a folder's state.
 */
enum dcache_result dcache_prune(dcache *cache, uint64_t max_bytes, uint64_t max_entries,
                                uint64_t *removed);

#endif
