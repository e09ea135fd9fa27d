/* SPDX-License-Identifier: MIT */
/*
 * Every system call and allocation of the disk cache made to fail, or to kill
 * the process, in turn.  This program is built with its own copy of the cache
 * in which fault points are on.
 */
#include "dcache_fault.h"
#include "dcache_internal.h"
#include "dcache_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *stream = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(stream);
    while (readdir(stream) != NULL) {
        count++;
    }
    ck_assert_int_eq(closedir(stream), 0);
    return count;
}

struct trial {
    struct dcache_key key;
    struct dcache_key other;
    unsigned char payload[UTIL_PAYLOAD_BYTES];
};

static bool accept_item(const struct dcache_item *item, void *user)
{
    (void)item;
    (void)user;
    return true;
}

static bool is_one_of(enum dcache_result result, uint32_t allowed)
{
    return (allowed >> (unsigned)result & 1u) != 0;
}

#define BIT(name) (1u << DCACHE_##name)
#define FOLDER_FAILS (BIT(UNWRITABLE) | BIT(FULL) | BIT(IO) | BIT(NO_MEMORY))

/* Returns 0 or the line of the first result that is not a clean one. */
static int use_cache(dcache *cache, const struct trial *trial)
{
    const struct dcache_pair pair = { "arch", "gfx950" };
    struct dcache_entry entry;
    struct dcache_lock lock;
    enum dcache_result result = dcache_load(cache, &trial->key, &entry);
    dcache_entry_release(&entry);
    CHILD(is_one_of(result, BIT(OK) | BIT(MISS) | BIT(NO_MEMORY)));
    result = dcache_lock(cache, &trial->key, 20, &lock);
    CHILD(is_one_of(result, BIT(OK) | BIT(TIMEOUT) | BIT(UNAVAILABLE)));
    CHILD((result == DCACHE_OK) == (lock.fd >= 0));
    result = dcache_store(cache, &trial->key, &pair, 1, trial->payload, sizeof(trial->payload));
    CHILD(is_one_of(result, BIT(OK) | FOLDER_FAILS));
    dcache_unlock(cache, &lock);
    CHILD(lock.fd < 0);
    /* The bound is one entry: this evicts the first. */
    result =
        dcache_store(cache, &trial->other, &pair, 1, trial->payload, sizeof(trial->payload));
    CHILD(is_one_of(result, BIT(OK) | FOLDER_FAILS));
    result = dcache_load(cache, &trial->other, &entry);
    CHILD(is_one_of(result, BIT(OK) | BIT(MISS) | BIT(NO_MEMORY)));
    if (result == DCACHE_OK) {
        CHILD(entry.payload_size == sizeof(trial->payload));
        CHILD(memcmp(entry.payload, trial->payload, entry.payload_size) == 0);
    }
    dcache_entry_release(&entry);
    result = dcache_iterate(cache, DCACHE_VERIFY, accept_item, NULL);
    CHILD(is_one_of(result, BIT(OK) | BIT(IO) | BIT(NO_MEMORY)));
    result = dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, NULL);
    CHILD(is_one_of(result, BIT(OK) | BIT(TIMEOUT) | FOLDER_FAILS));
    result = dcache_remove(cache, &trial->other);
    CHILD(is_one_of(result, BIT(OK) | BIT(MISS) | FOLDER_FAILS));
    return 0;
}

static int run_trial(const struct trial *trial)
{
    struct dcache_config config = util_config();
    dcache *cache;
    config.max_entries = 1;
    config.lock_wait_ms = 20;
    const enum dcache_result result = dcache_open(&config, &cache);
    if (result != DCACHE_OK) {
        CHILD(result == DCACHE_NO_MEMORY && cache == NULL);
        return 0;
    }
    const int line = use_cache(cache, trial);
    dcache_close(cache);
    return line;
}

static void make_trial(struct trial *trial)
{
    trial->key = util_key(1);
    trial->other = util_key(2);
    util_payload(1, trial->payload, sizeof(trial->payload));
}

static void free_trial(struct trial *trial)
{
    dcache_key_release(&trial->key);
    dcache_key_release(&trial->other);
}

/* After whatever happened, the next process finds a cache that works and has no leftovers. */
static void check_recovery(void)
{
    dcache *cache = util_open();
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_uint_le(util_count_files(util_folder, ".lock"), 1); /* evict.lock */
    for (unsigned i = 1; i <= 2; i++) {
        struct dcache_entry entry;
        struct dcache_key key = util_key(i);
        const enum dcache_result result = dcache_load(cache, &key, &entry);
        ck_assert(result == DCACHE_OK || result == DCACHE_MISS);
        dcache_entry_release(&entry);
        dcache_key_release(&key);
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
        ck_assert_int_eq(util_load(cache, i), DCACHE_OK);
    }
    ck_assert_uint_eq(util_stats(cache).bad_entries, 0);
    dcache_close(cache);
}

struct fault_row {
    enum dcache_fault_point point;
    const char *name;
    int error;
};

static const struct fault_row failing[] = {
    { DCACHE_FAULT_ALLOC, "alloc", ENOMEM },   { DCACHE_FAULT_OPEN, "open", EMFILE },
    { DCACHE_FAULT_OPEN, "open", ENOSPC },     { DCACHE_FAULT_OPEN, "open", EACCES },
    { DCACHE_FAULT_OPEN, "open", ENOENT },     { DCACHE_FAULT_MKDIR, "mkdir", EDQUOT },
    { DCACHE_FAULT_MKDIR, "mkdir", EACCES },   { DCACHE_FAULT_STAT, "stat", EIO },
    { DCACHE_FAULT_LIST, "list", ENOMEM },     { DCACHE_FAULT_LIST, "list", EIO },
    { DCACHE_FAULT_READ, "read", EIO },        { DCACHE_FAULT_WRITE, "write", ENOSPC },
    { DCACHE_FAULT_WRITE, "write", EDQUOT },   { DCACHE_FAULT_WRITE, "write", EIO },
    { DCACHE_FAULT_FSYNC, "fsync", EIO },      { DCACHE_FAULT_FSYNC, "fsync", ENOSPC },
    { DCACHE_FAULT_STAMP, "stamp", EPERM },    { DCACHE_FAULT_RENAME, "rename", EIO },
    { DCACHE_FAULT_RENAME, "rename", EISDIR }, { DCACHE_FAULT_LOCK, "lock", ENOLCK },
    { DCACHE_FAULT_LOCK, "lock", EAGAIN },     { DCACHE_FAULT_UNLINK, "unlink", EIO },
};

/* Let the n-th hit fail, for n = 0, 1, ... until a run gets through without a hit. */
START_TEST(test_dcache_fault_each_failure_is_clean)
{
    const struct fault_row *row = &failing[_i];
    struct trial trial;
    const unsigned descriptors = open_descriptors();
    long n = 0;
    for (;; n++) {
        make_trial(&trial);
        const long blocks = atomic_load(&util_live_blocks);
        dcache_fault_arm(row->point, n, row->error);
        const int line = run_trial(&trial);
        const long fired = dcache_fault_fired();
        dcache_fault_disarm();
        ck_assert_msg(line == 0, "%s %ld (%s): line %d", row->name, n, strerror(row->error),
                      line);
        ck_assert_msg(atomic_load(&util_live_blocks) == blocks, "%s %ld leaks", row->name, n);
        ck_assert_msg(open_descriptors() == descriptors, "%s %ld leaks a file", row->name, n);
        if (row->point != DCACHE_FAULT_UNLINK) {
            ck_assert_msg(util_count_files(util_folder, ".tmp") == 0, "%s %ld: temp file left",
                          row->name, n);
        }
        free_trial(&trial);
        check_recovery();
        util_remove_tree(util_folder);
        if (fired == 0) {
            break;
        }
        ck_assert_int_eq(fired, 1);
    }
    ck_assert_msg(n >= 1, "%s was never hit", row->name);
}
END_TEST

START_TEST(test_dcache_fault_persistent_failure_is_one_warning)
{
    const struct fault_row *row = &failing[_i];
    struct trial trial;
    make_trial(&trial);
    dcache_fault_arm(row->point, DCACHE_FAULT_ALWAYS, row->error);
    const int line = run_trial(&trial);
    ck_assert_int_gt(dcache_fault_fired(), 0);
    dcache_fault_disarm();
    ck_assert_msg(line == 0, "%s (%s): line %d", row->name, strerror(row->error), line);
    if (row->point != DCACHE_FAULT_READ) {
        ck_assert_int_le(util_seen.warnings, 1);
    }
    free_trial(&trial);
    check_recovery();
}
END_TEST

/* ------------------------------------------------ killed at each call */

static const struct fault_row killing[] = {
    { DCACHE_FAULT_OPEN, "open", 0 },     { DCACHE_FAULT_MKDIR, "mkdir", 0 },
    { DCACHE_FAULT_STAT, "stat", 0 },     { DCACHE_FAULT_WRITE, "write", 0 },
    { DCACHE_FAULT_FSYNC, "fsync", 0 },   { DCACHE_FAULT_STAMP, "stamp", 0 },
    { DCACHE_FAULT_RENAME, "rename", 0 }, { DCACHE_FAULT_UNLINK, "unlink", 0 },
    { DCACHE_FAULT_LOCK, "lock", 0 },     { DCACHE_FAULT_ALLOC, "alloc", 0 },
};

struct killing {
    struct trial trial;
    enum dcache_fault_point point;
    long n;
};

static int run_killed(void *user)
{
    struct killing *killing_run = user;
    dcache_fault_arm(killing_run->point, killing_run->n, DCACHE_FAULT_KILL);
    return run_trial(&killing_run->trial);
}

START_TEST(test_dcache_fault_killed_at_each_call_leaves_a_working_cache)
{
    const struct fault_row *row = &killing[_i];
    struct killing run;
    int outcome;
    run.point = row->point;
    run.n = 0;
    do {
        make_trial(&run.trial);
        outcome = util_in_child(run_killed, &run);
        ck_assert_msg(outcome == 0 || outcome == -SIGKILL, "%s %ld: %d", row->name, run.n,
                      outcome);
        free_trial(&run.trial);
        check_recovery();
        util_remove_tree(util_folder);
        run.n++;
    } while (outcome == -SIGKILL);
    ck_assert_msg(run.n >= 2, "%s was never hit", row->name);
}
END_TEST

/* ------------------------------------------------------ single points */

static const enum dcache_fault_point partial[] = { DCACHE_FAULT_SHORT_READ,
                                                   DCACHE_FAULT_SHORT_WRITE };

START_TEST(test_dcache_fault_short_reads_and_writes_are_gone_on_with)
{
    dcache *cache = util_open();
    dcache_fault_arm(partial[_i], DCACHE_FAULT_ALWAYS, 0);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_gt(dcache_fault_fired(), UTIL_PAYLOAD_BYTES);
    dcache_fault_disarm();
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

static const enum dcache_fault_point interrupted[] = { DCACHE_FAULT_OPEN, DCACHE_FAULT_READ,
                                                       DCACHE_FAULT_WRITE, DCACHE_FAULT_FSYNC };

START_TEST(test_dcache_fault_interrupted_calls_are_made_again)
{
    long n = 0;
    dcache *cache = util_open();
    do {
        dcache_fault_arm(interrupted[_i], n++, EINTR);
        ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
        ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    } while (dcache_fault_fired() > 0);
    dcache_fault_disarm();
    ck_assert_int_ge(n, 2);
    ck_assert_int_eq(util_seen.warnings, 0);
    dcache_close(cache);
}
END_TEST

static const int full_errors[] = { ENOSPC, EDQUOT, EFBIG };

START_TEST(test_dcache_fault_full_disk_is_told_once_and_gets_over)
{
    dcache *cache = util_open();
    dcache_fault_arm(DCACHE_FAULT_WRITE, DCACHE_FAULT_ALWAYS, full_errors[_i]);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_FULL);
        ck_assert_int_eq(util_load(cache, i), DCACHE_MISS);
    }
    dcache_fault_disarm();
    ck_assert_int_eq(util_seen.warnings, 1);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_FULL);
    ck_assert_uint_eq(util_count_files(util_folder, ""), 0);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_OK);
    ck_assert_int_eq(util_seen.warnings, 1);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_fault_failed_read_keeps_the_entry)
{
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    dcache_fault_arm(DCACHE_FAULT_READ, 0, EIO);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    struct dcache_entry entry;
    struct dcache_key key = util_key(1);
    dcache_fault_arm(DCACHE_FAULT_ALLOC, 0, ENOMEM);
    ck_assert_int_eq(dcache_load(cache, &key, &entry), DCACHE_NO_MEMORY);
    dcache_fault_disarm();
    dcache_key_release(&key);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).bad_entries, 0);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_fault_file_system_without_locks)
{
    struct dcache_config config = util_config();
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    config.max_entries = 4;
    dcache_fault_arm(DCACHE_FAULT_LOCK, DCACHE_FAULT_ALWAYS, ENOLCK);
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(dcache_lock(cache, &key, -1, &lock), DCACHE_UNAVAILABLE);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
        ck_assert_int_eq(util_load(cache, i), DCACHE_OK);
    }
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 4);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 0);
    /* Nothing tells whether a young temp file is alive, so it stays; an old one goes. */
    char path[PATH_MAX];
    const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
    util_entry_path(9, ".1-0000000000000001.tmp", path);
    util_write_file(path, "part", 4, 0600);
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, NULL), DCACHE_OK);
    ck_assert(util_exists(path));
    ck_assert_int_eq(utimensat(-1, path, old, 0), 0);
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, NULL), DCACHE_OK);
    ck_assert(!util_exists(path));
    dcache_fault_disarm();
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

/* ----------------------------- what another process might do in between */

struct intruder {
    char path[PATH_MAX];
    int fd;
};

/* The file goes, and another process makes it anew and locks it. */
static void replace_and_lock(void *user)
{
    struct intruder *intruder = user;
    struct flock lock;
    memset(&lock, 0, sizeof(lock));
    lock.l_type = F_WRLCK;
    (void)unlink(intruder->path);
    intruder->fd = open(intruder->path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(intruder->fd, 0);
    ck_assert_int_eq(fcntl(intruder->fd, F_OFD_SETLK, &lock), 0);
}

/* Between opening and locking, the holder releases and a third one takes the lock. */
START_TEST(test_dcache_fault_lock_of_a_replaced_file_is_no_lock)
{
    struct intruder intruder = { "", -1 };
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    dcache *cache = util_open();
    util_entry_path(1, ".lock", intruder.path);
    dcache_fault_call(DCACHE_FAULT_LOCK, 0, replace_and_lock, &intruder);
    ck_assert_int_eq(dcache_lock(cache, &key, 20, &lock), DCACHE_TIMEOUT);
    ck_assert_int_eq(dcache_fault_fired(), 1);
    ck_assert_int_eq(close(intruder.fd), 0);
    ck_assert_int_eq(dcache_lock(cache, &key, 20, &lock), DCACHE_OK);
    dcache_unlock(cache, &lock);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

/* The cleaner opens a dead process's file, which by then gives way to a live one's. */
START_TEST(test_dcache_fault_cleaner_spares_a_replaced_file)
{
    struct intruder intruder = { "", -1 };
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".lock", intruder.path);
    util_write_file(intruder.path, "", 0, 0600);
    dcache_fault_call(DCACHE_FAULT_LOCK, 1, replace_and_lock, &intruder); /* 0: evict.lock */
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, NULL), DCACHE_OK);
    ck_assert_int_eq(dcache_fault_fired(), 1);
    ck_assert_int_ge(intruder.fd, 0);
    ck_assert_msg(util_exists(intruder.path), "a held lock file was removed");
    ck_assert_uint_eq(util_stats(cache).stale_locks_removed, 0);
    ck_assert_int_eq(close(intruder.fd), 0);
    dcache_close(cache);
}
END_TEST

/* What a cleaner does to a temp file that was made, but not locked yet. */
static void clean(void *user)
{
    dcache_remove_stale(user);
}

START_TEST(test_dcache_fault_temp_file_taken_by_a_cleaner_is_made_again)
{
    dcache *cache = util_open();
    dcache *cleaner = util_open();
    dcache_fault_call(DCACHE_FAULT_LOCK, 0, clean, cleaner);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(dcache_fault_fired(), 1);
    ck_assert_uint_eq(util_stats(cleaner).stale_temps_removed, 1);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    dcache_close(cleaner);
    dcache_close(cache);
}
END_TEST

/* The tries of a wait are few: the 101st would be answered with an error. */
START_TEST(test_dcache_fault_waiting_is_no_busy_loop)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock first;
    struct dcache_lock second;
    dcache *cache = util_open();
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &first), DCACHE_OK);
    dcache_fault_arm(DCACHE_FAULT_LOCK, 100, ENOLCK);
    ck_assert_int_eq(dcache_lock(cache, &key, 300, &second), DCACHE_TIMEOUT);
    ck_assert_int_eq(dcache_fault_fired(), 0);
    dcache_fault_disarm();
    dcache_unlock(cache, &first);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_fault_setuid_ignores_the_environment)
{
    const char *const folders[] = { util_root };
    struct dcache_config config = util_config();
    config.folder_from_environment = true;
    config.read_only_folders = folders;
    config.read_only_count = 1;
    config.read_only_from_environment = true;
    dcache_fault_arm(DCACHE_FAULT_SECURE, DCACHE_FAULT_ALWAYS, 0);
    dcache *cache = util_open_config(&config);
    dcache_fault_disarm();
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_SETUID);
    ck_assert_int_eq(util_seen.warnings, 2);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_SETUID);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert(!util_exists(util_folder));
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_fault_key_without_memory)
{
    static unsigned char text[20000];
    enum dcache_result result;
    long n = 0;
    do {
        struct dcache_key key;
        dcache_fault_arm(DCACHE_FAULT_ALLOC, n++, ENOMEM);
        dcache_key_begin(&key, &util_memory);
        dcache_key_text(&key, "arch", "gfx950");
        dcache_key_field(&key, "source", text, sizeof(text));
        result = dcache_key_end(&key);
        ck_assert(result == DCACHE_OK || result == DCACHE_NO_MEMORY);
        dcache_key_release(&key);
        ck_assert_int_eq(atomic_load(&util_live_blocks), 0);
    } while (result != DCACHE_OK);
    dcache_fault_disarm();
    ck_assert_int_ge(n, 3);
}
END_TEST

#define LENGTH(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

int main(void)
{
    Suite *suite = suite_create("dcache_fault");
    TCase *tests = tcase_create("fault");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_loop_test(tests, test_dcache_fault_each_failure_is_clean, 0, LENGTH(failing));
    tcase_add_loop_test(tests, test_dcache_fault_persistent_failure_is_one_warning, 0,
                        LENGTH(failing));
    tcase_add_loop_test(tests, test_dcache_fault_killed_at_each_call_leaves_a_working_cache, 0,
                        LENGTH(killing));
    tcase_add_loop_test(tests, test_dcache_fault_short_reads_and_writes_are_gone_on_with, 0,
                        LENGTH(partial));
    tcase_add_loop_test(tests, test_dcache_fault_interrupted_calls_are_made_again, 0,
                        LENGTH(interrupted));
    tcase_add_loop_test(tests, test_dcache_fault_full_disk_is_told_once_and_gets_over, 0,
                        LENGTH(full_errors));
    tcase_add_test(tests, test_dcache_fault_failed_read_keeps_the_entry);
    tcase_add_test(tests, test_dcache_fault_file_system_without_locks);
    tcase_add_test(tests, test_dcache_fault_lock_of_a_replaced_file_is_no_lock);
    tcase_add_test(tests, test_dcache_fault_cleaner_spares_a_replaced_file);
    tcase_add_test(tests, test_dcache_fault_temp_file_taken_by_a_cleaner_is_made_again);
    tcase_add_test(tests, test_dcache_fault_waiting_is_no_busy_loop);
    tcase_add_test(tests, test_dcache_fault_setuid_ignores_the_environment);
    tcase_add_test(tests, test_dcache_fault_key_without_memory);
    suite_add_tcase(suite, tests);
    return util_run(suite);
}
