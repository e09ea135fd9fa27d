/* SPDX-License-Identifier: MIT */
/* What the disk-cache tests share. */
#include "dcache_util.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

char util_root[PATH_MAX];
char util_folder[PATH_MAX];
atomic_long util_live_blocks;
atomic_long util_allocations;
struct util_log util_seen;

static void *allocate(size_t size, void *user)
{
    atomic_long *live = user;
    void *pointer = malloc(size);
    atomic_fetch_add(&util_allocations, 1);
    if (pointer != NULL) {
        atomic_fetch_add(live, 1);
    }
    return pointer;
}

static void deallocate(void *pointer, void *user)
{
    atomic_long *live = user;
    atomic_fetch_sub(live, 1);
    free(pointer);
}

/*
 * For what child processes and threads use as well: they would write into the
 * one message file that Check's own checks report to.
 */
static void must(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "dcache_util: %s\n", what);
        abort();
    }
}

const struct dcache_memory util_memory = { allocate, deallocate, &util_live_blocks };

void util_setup(void)
{
    /* A memory file system where there is one: thousands of fsync calls take seconds on a disk.
     */
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0') {
        base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    ck_assert_int_lt(snprintf(util_root, sizeof(util_root), "%s/mxg-dcache-XXXXXX", base),
                     PATH_MAX - 256);
    ck_assert_ptr_nonnull(mkdtemp(util_root));
    ck_assert_int_lt(snprintf(util_folder, sizeof(util_folder), "%.4000s/cache", util_root),
                     (int)sizeof(util_folder));
    memset(&util_seen, 0, sizeof(util_seen));
    atomic_store(&util_live_blocks, 0);
    atomic_store(&util_allocations, 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void util_remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

void util_teardown(void)
{
    util_remove_tree(util_root);
    ck_assert_int_eq(atomic_load(&util_live_blocks), 0);
}

void util_log_line(enum dcache_level level, enum dcache_result code, const char *text,
                   void *user)
{
    struct util_log *seen = user;
    seen->warnings += level <= DCACHE_LOG_WARNING;
    seen->lines++;
    seen->last_code = code;
    (void)snprintf(seen->last, sizeof(seen->last), "%s", text);
}

struct dcache_config util_config(void)
{
    struct dcache_config config;
    memset(&config, 0, sizeof(config));
    config.folder = util_folder;
    config.log = util_log_line;
    config.log_user = &util_seen;
    config.memory = util_memory;
    return config;
}

dcache *util_open_config(const struct dcache_config *config)
{
    dcache *cache = NULL;
    must(dcache_open(config, &cache) == DCACHE_OK && cache != NULL, "the cache does not open");
    return cache;
}

dcache *util_open(void)
{
    const struct dcache_config config = util_config();
    return util_open_config(&config);
}

struct dcache_key util_key(unsigned number)
{
    struct dcache_key key;
    dcache_key_begin(&key, &util_memory);
    dcache_key_text(&key, "arch", "gfx950:sramecc+:xnack-");
    dcache_key_field(&key, "number", &number, sizeof(number));
    must(dcache_key_end(&key) == DCACHE_OK, "no key");
    return key;
}

void util_payload(unsigned number, unsigned char *bytes, size_t size)
{
    uint32_t state = number * 2654435761u + 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

enum dcache_result util_store(dcache *cache, unsigned number)
{
    unsigned char payload[UTIL_PAYLOAD_BYTES];
    char text[16];
    struct dcache_key key = util_key(number);
    (void)snprintf(text, sizeof(text), "%u", number);
    const struct dcache_pair pairs[] = { { "arch", "gfx950" }, { "number", text } };
    util_payload(number, payload, sizeof(payload));
    const enum dcache_result result =
        dcache_store(cache, &key, pairs, 2, payload, sizeof(payload));
    dcache_key_release(&key);
    return result;
}

enum dcache_result util_load(dcache *cache, unsigned number)
{
    unsigned char payload[UTIL_PAYLOAD_BYTES];
    char text[16];
    struct dcache_entry entry;
    struct dcache_key key = util_key(number);
    enum dcache_result result = dcache_load(cache, &key, &entry);
    if (result == DCACHE_OK) {
        (void)snprintf(text, sizeof(text), "%u", number);
        util_payload(number, payload, sizeof(payload));
        const char *arch = dcache_entry_value(&entry, "arch");
        const char *stored = dcache_entry_value(&entry, "number");
        if (entry.payload_size != sizeof(payload) ||
            memcmp(entry.payload, payload, sizeof(payload)) != 0 || entry.pair_count != 2 ||
            arch == NULL || strcmp(arch, "gfx950") != 0 || stored == NULL ||
            strcmp(stored, text) != 0 || dcache_entry_value(&entry, "none") != NULL) {
            result = UTIL_WRONG_ENTRY;
        }
    } else {
        must(entry.payload == NULL && entry.storage == NULL, "a miss left an entry");
    }
    dcache_entry_release(&entry);
    dcache_key_release(&key);
    return result;
}

void util_entry_path_in(const char *folder, unsigned number, const char *suffix,
                        char path[PATH_MAX])
{
    char hex[DCACHE_HEX_SIZE];
    struct dcache_key key = util_key(number);
    dcache_key_hex(&key, hex);
    dcache_key_release(&key);
    must(snprintf(path, PATH_MAX, "%.4000s/%c/%c/%s%s", folder, hex[0], hex[1], hex, suffix) <
             PATH_MAX,
         "too long a path");
}

void util_entry_path(unsigned number, const char *suffix, char path[PATH_MAX])
{
    util_entry_path_in(util_folder, number, suffix, path);
}

bool util_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

unsigned char *util_read_file(const char *path, size_t *size)
{
    struct stat status;
    const int fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(fstat(fd, &status), 0);
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(read(fd, bytes, *size), (ssize_t)*size);
    ck_assert_int_eq(close(fd), 0);
    return bytes;
}

void util_write_file(const char *path, const void *bytes, size_t size, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    ck_assert_int_eq(close(fd), 0);
}

static struct {
    const char *suffix;
    unsigned count;
} counting;

static int count_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)where;
    const size_t length = strlen(path);
    const size_t suffix = strlen(counting.suffix);
    if (kind != FTW_D && length >= suffix &&
        strcmp(path + length - suffix, counting.suffix) == 0) {
        counting.count++;
    }
    return 0;
}

unsigned util_count_files(const char *folder, const char *suffix)
{
    counting.suffix = suffix;
    counting.count = 0;
    (void)nftw(folder, count_one, 32, FTW_PHYS);
    return counting.count;
}

struct dcache_stats util_stats(const dcache *cache)
{
    struct dcache_stats stats;
    dcache_stats(cache, &stats);
    return stats;
}

void *util_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    return memory;
}

int util_in_child(int (*work)(void *user), void *user)
{
    int status;
    int *outcome = util_shared(sizeof(*outcome));
    *outcome = -1;
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        *outcome = work(user);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    const int result = WIFSIGNALED(status) ? -WTERMSIG(status) : *outcome;
    ck_assert_int_eq(munmap(outcome, sizeof(*outcome)), 0);
    return result;
}

bool util_is_root(void)
{
    return geteuid() == 0;
}

int util_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
