/* SPDX-License-Identifier: MIT */
/* Locks of keys over threads and processes, and files that dead processes leave behind. */
#include "dcache_util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

START_TEST(test_dcache_lock_excludes_and_times_out)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock first;
    struct dcache_lock second;
    dcache *cache = util_open();
    dcache *other = util_open();
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &first), DCACHE_OK);
    ck_assert_int_eq(dcache_lock(other, &key, 0, &second), DCACHE_TIMEOUT);
    ck_assert_int_eq(second.fd, -1);
    /* The same cache in the same process excludes as well: threads are held apart. */
    const double start = seconds();
    ck_assert_int_eq(dcache_lock(cache, &key, 300, &second), DCACHE_TIMEOUT);
    ck_assert_double_ge(seconds() - start, 0.299);
    ck_assert_double_le(seconds() - start, 10.0);
    ck_assert_uint_eq(util_stats(cache).lock_timeouts, 1);
    ck_assert_uint_eq(util_stats(other).lock_timeouts, 1);
    dcache_unlock(cache, &first);
    ck_assert_int_eq(first.fd, -1);
    ck_assert_int_eq(dcache_lock(other, &key, 0, &second), DCACHE_OK);
    dcache_unlock(other, &second);
    dcache_unlock(other, &second);
    dcache_unlock(other, NULL);
    ck_assert_uint_eq(util_count_files(util_folder, ""), 0);
    dcache_key_release(&key);
    dcache_close(cache);
    dcache_close(other);
}
END_TEST

START_TEST(test_dcache_lock_default_wait_is_the_configured_one)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock first;
    struct dcache_lock second;
    struct dcache_config config = util_config();
    config.lock_wait_ms = 60;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(dcache_lock(cache, &key, -1, &first), DCACHE_OK);
    const double start = seconds();
    ck_assert_int_eq(dcache_lock(cache, &key, -1, &second), DCACHE_TIMEOUT);
    ck_assert_double_ge(seconds() - start, 0.059);
    ck_assert_double_le(seconds() - start, 5.0);
    dcache_unlock(cache, &first);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_lock_of_other_keys_is_free)
{
    enum { COUNT = 200 };
    struct dcache_lock locks[COUNT];
    dcache *cache = util_open();
    for (unsigned i = 0; i < COUNT; i++) {
        struct dcache_key key = util_key(i);
        ck_assert_int_eq(dcache_lock(cache, &key, 0, &locks[i]), DCACHE_OK);
        dcache_key_release(&key);
    }
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        dcache_unlock(cache, &locks[i]);
    }
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 0);
    dcache_close(cache);
}
END_TEST

/* A child that waits for the lock of key 1; its exit status is 0 if it got it. */
static pid_t start_waiter(void)
{
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct dcache_key key = util_key(1);
        struct dcache_lock lock;
        dcache *cache = util_open();
        const enum dcache_result result = dcache_lock(cache, &key, 20000, &lock);
        dcache_unlock(cache, &lock);
        _exit(result == DCACHE_OK ? 0 : 1);
    }
    return pid;
}

/* The child shares the open file, so that closing it here would not free the lock. */
START_TEST(test_dcache_lock_unlock_frees_it_though_a_child_inherited_it)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock first;
    struct dcache_lock second;
    int wake[2];
    int status;
    dcache *cache = util_open();
    ck_assert_int_eq(pipe(wake), 0);
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &first), DCACHE_OK);
    const pid_t waiter = start_waiter();
    const pid_t heir = fork();
    ck_assert_int_ge(heir, 0);
    if (heir == 0) {
        char byte;
        (void)close(wake[1]);
        _exit(read(wake[0], &byte, 1) == 0 ? 0 : 1);
    }
    (void)usleep(
        100000); /* the waiter has the file open by now, and waits for this very file */
    dcache_unlock(cache, &first);
    ck_assert_int_eq(waitpid(waiter, &status, 0), waiter);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &second), DCACHE_OK);
    dcache_unlock(cache, &second);
    ck_assert_int_eq(close(wake[1]), 0);
    ck_assert_int_eq(waitpid(heir, &status, 0), heir);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(close(wake[0]), 0);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

/* ------------------------------------------------- two holders, never */

struct contest {
    atomic_int holders;
    atomic_int violations;
    atomic_int acquired;
    atomic_int is_over;
};

static void *contend(void *user)
{
    struct contest *contest = user;
    struct dcache_config config = util_config();
    struct dcache_key key = util_key(1);
    dcache *cache = NULL;
    config.log = NULL;
    if (dcache_open(&config, &cache) != DCACHE_OK) {
        return NULL;
    }
    for (int i = 0; i < 100; i++) {
        struct dcache_lock lock;
        if (dcache_lock(cache, &key, 60000, &lock) == DCACHE_OK) {
            if (atomic_fetch_add(&contest->holders, 1) != 0) {
                atomic_fetch_add(&contest->violations, 1);
            }
            atomic_fetch_add(&contest->acquired, 1);
            if (i % 8 == 0) {
                (void)usleep(200);
            }
            atomic_fetch_sub(&contest->holders, 1);
            dcache_unlock(cache, &lock);
        }
    }
    dcache_close(cache);
    dcache_key_release(&key);
    return NULL;
}

static int contend_in_threads(void *user)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHILD(pthread_create(&threads[i], NULL, contend, user) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHILD(pthread_join(threads[i], NULL) == 0);
    }
    return 0;
}

/* A process that looks for dead processes' files without pause, as opening a cache does. */
static int clean_without_pause(void *user)
{
    struct contest *contest = user;
    struct dcache_config config = util_config();
    config.log = NULL;
    while (!atomic_load(&contest->is_over)) {
        dcache *cache = NULL;
        CHILD(dcache_open(&config, &cache) == DCACHE_OK);
        dcache_close(cache);
    }
    return 0;
}

START_TEST(test_dcache_lock_never_has_two_holders)
{
    struct contest *contest = util_shared(sizeof(*contest));
    pid_t pids[4];
    int status;
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            _exit((i == 3 ? clean_without_pause(contest) : contend_in_threads(contest)) != 0);
        }
    }
    for (int i = 0; i < 4; i++) {
        if (i == 3) {
            atomic_store(&contest->is_over, 1);
        }
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(atomic_load(&contest->violations), 0);
    ck_assert_int_eq(atomic_load(&contest->acquired), 3 * 4 * 100);
    ck_assert_uint_eq(util_count_files(util_folder, ""), 0);
}
END_TEST

/* --------------------------------------------------- dead processes */

/* A child that takes the lock of key 1, tells so, and lives until it is killed. */
static pid_t start_holder(void)
{
    int told[2];
    char byte = 0;
    ck_assert_int_eq(pipe(told), 0);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct dcache_key key = util_key(1);
        struct dcache_lock lock;
        dcache *cache = util_open();
        byte = dcache_lock(cache, &key, 0, &lock) == DCACHE_OK ? 'y' : 'n';
        (void)!write(told[1], &byte, 1);
        for (;;) {
            (void)pause();
        }
    }
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    ck_assert_int_eq(close(told[0]), 0);
    ck_assert_int_eq(close(told[1]), 0);
    return pid;
}

static void kill_holder(pid_t pid)
{
    int status;
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
}

START_TEST(test_dcache_lock_of_a_killed_holder_goes_to_the_next)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    const pid_t pid = start_holder();
    dcache *cache = util_open();
    ck_assert_int_eq(dcache_lock(cache, &key, 20, &lock), DCACHE_TIMEOUT);
    kill_holder(pid);
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 1);
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &lock), DCACHE_OK);
    dcache_unlock(cache, &lock);
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 0);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_lock_file_of_a_dead_process_is_removed_at_open)
{
    char path[PATH_MAX];
    struct stat before;
    struct stat after;
    const pid_t pid = start_holder();
    util_entry_path(1, ".lock", path);
    ck_assert_int_eq(stat(path, &before), 0);
    dcache *cache = util_open();
    ck_assert_uint_eq(util_stats(cache).stale_locks_removed, 0);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    dcache_close(cache);
    kill_holder(pid);
    cache = util_open();
    ck_assert_uint_eq(util_stats(cache).stale_locks_removed, 1);
    ck_assert(!util_exists(path));
    dcache_close(cache);
}
END_TEST

/* A live writer's temp file is one whose lock is held; a dead one's is free. */
START_TEST(test_dcache_lock_tells_live_temp_files_from_dead_ones)
{
    char live[PATH_MAX];
    char dead[PATH_MAX];
    char foreign[PATH_MAX];
    struct flock lock;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    dcache_close(cache);
    util_entry_path(1, ".1-0000000000000001.tmp", live);
    util_entry_path(1, ".1-0000000000000002.tmp", dead);
    util_entry_path(1, ".note", foreign);
    util_write_file(live, "part", 4, 0600);
    util_write_file(dead, "part", 4, 0600);
    util_write_file(foreign, "mine", 4, 0600);
    const int fd = open(live, O_WRONLY);
    ck_assert_int_ge(fd, 0);
    memset(&lock, 0, sizeof(lock));
    lock.l_type = F_WRLCK;
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &lock), 0);
    cache = util_open();
    ck_assert_uint_eq(util_stats(cache).stale_temps_removed, 1);
    ck_assert(util_exists(live));
    ck_assert(!util_exists(dead));
    ck_assert_msg(util_exists(foreign), "a file that is none of the cache's was removed");
    ck_assert_int_eq(close(fd), 0);
    /* Eviction cleans as well. */
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, NULL), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).stale_temps_removed, 2);
    ck_assert(!util_exists(live));
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_lock_symlink_in_its_place_is_not_followed)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".lock", path);
    ck_assert_int_gt(snprintf(target, sizeof(target), "%.4000s/target", util_root), 0);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(dcache_lock(cache, &key, 0, &lock), DCACHE_UNAVAILABLE);
    ck_assert(!util_exists(target));
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dcache_lock");
    TCase *tests = tcase_create("lock");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_test(tests, test_dcache_lock_excludes_and_times_out);
    tcase_add_test(tests, test_dcache_lock_default_wait_is_the_configured_one);
    tcase_add_test(tests, test_dcache_lock_of_other_keys_is_free);
    tcase_add_test(tests, test_dcache_lock_unlock_frees_it_though_a_child_inherited_it);
    tcase_add_test(tests, test_dcache_lock_never_has_two_holders);
    tcase_add_test(tests, test_dcache_lock_of_a_killed_holder_goes_to_the_next);
    tcase_add_test(tests, test_dcache_lock_file_of_a_dead_process_is_removed_at_open);
    tcase_add_test(tests, test_dcache_lock_tells_live_temp_files_from_dead_ones);
    tcase_add_test(tests, test_dcache_lock_symlink_in_its_place_is_not_followed);
    suite_add_tcase(suite, tests);
    return util_run(suite);
}
