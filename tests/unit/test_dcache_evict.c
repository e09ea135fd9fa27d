/* SPDX-License-Identifier: MIT */
/* The cache's bounds: order of eviction, stamps of use, pruning, several processes at once. */
#include "dcache_fmt.h"
#include "dcache_util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

/* Set an entry's stamp to so many seconds from now. */
static void set_stamp(unsigned number, long offset)
{
    char path[PATH_MAX];
    struct timespec times[2];
    ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
    times[0].tv_sec += offset;
    times[1] = times[0];
    util_entry_path(number, ".mxc", path);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static long long stamp_ns(unsigned number)
{
    char path[PATH_MAX];
    struct stat status;
    util_entry_path(number, ".mxc", path);
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec;
}

static bool has(unsigned number)
{
    char path[PATH_MAX];
    util_entry_path(number, ".mxc", path);
    return util_exists(path);
}

/* Store first..last, each stamped a second later than the one before, all in the past. */
static void fill(dcache *cache, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
        set_stamp(i, -100000 + (long)i);
    }
}

static dcache *open_bounded(uint64_t bytes, uint64_t entries)
{
    struct dcache_config config = util_config();
    config.max_bytes = bytes;
    config.max_entries = entries;
    return util_open_config(&config);
}

static uint64_t entry_bytes(void)
{
    struct dcache_config config = util_config();
    char folder[PATH_MAX];
    char path[PATH_MAX];
    struct stat status;
    ck_assert_int_gt(snprintf(folder, sizeof(folder), "%.4000s/sample", util_root), 0);
    config.folder = folder;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 100), DCACHE_OK);
    dcache_close(cache);
    util_entry_path_in(folder, 100, ".mxc", path);
    ck_assert_int_eq(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

START_TEST(test_dcache_evict_by_count_takes_the_oldest)
{
    dcache *cache = open_bounded(0, 10);
    fill(cache, 1, 10);
    ck_assert_uint_eq(util_stats(cache).evictions, 0);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK); /* a use: now the youngest */
    ck_assert_int_eq(util_store(cache, 11), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).evictions, 1);
    ck_assert(has(1));
    ck_assert(!has(2));
    ck_assert_int_eq(util_store(cache, 12), DCACHE_OK);
    ck_assert(!has(3));
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 10);
    for (unsigned i = 4; i <= 12; i++) {
        ck_assert_int_eq(util_load(cache, i), DCACHE_OK);
    }
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_by_bytes_takes_the_oldest)
{
    const uint64_t size = entry_bytes();
    dcache *cache = open_bounded(size * 10 + size / 2, 0);
    fill(cache, 100, 109);
    ck_assert_uint_eq(util_stats(cache).evictions, 0);
    ck_assert_int_eq(util_load(cache, 100), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 110), DCACHE_OK);
    ck_assert_uint_ge(util_stats(cache).evictions, 1);
    ck_assert(has(100) && !has(101) && has(109) && has(110));
    ck_assert_uint_le(util_count_files(util_folder, ".mxc"), 10);
    ck_assert_uint_ge(util_count_files(util_folder, ".mxc"), 9);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_spares_the_entry_just_written)
{
    dcache *cache = open_bounded(0, 4);
    fill(cache, 1, 4);
    for (unsigned i = 1; i <= 4; i++) {
        set_stamp(i, 1000); /* ahead, but within what clocks differ by */
    }
    ck_assert_int_eq(util_store(cache, 5), DCACHE_OK);
    ck_assert(has(5));
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 4);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_one_entry_is_the_smallest_cache)
{
    dcache *cache = open_bounded(0, 1);
    for (unsigned i = 1; i <= 5; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
        ck_assert_int_eq(util_load(cache, i), DCACHE_OK);
    }
    ck_assert(has(5));
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 1);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_entry_larger_than_the_cache_is_refused)
{
    const uint64_t size = entry_bytes();
    dcache *cache = open_bounded(size - 1, 0);
    ck_assert_int_eq(util_store(cache, 100), DCACHE_TOO_LARGE);
    ck_assert_uint_eq(util_stats(cache).store_failures, 1);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_OK);
    dcache_close(cache);
    cache = open_bounded(size, 0);
    ck_assert_int_eq(util_store(cache, 100), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 101), DCACHE_OK);
    ck_assert(!has(100) && has(101));
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_finds_what_earlier_processes_left)
{
    dcache *cache = open_bounded(0, DCACHE_NO_BOUND);
    fill(cache, 1, 100);
    dcache_close(cache);
    cache = open_bounded(0, 20);
    ck_assert_int_eq(util_store(cache, 101), DCACHE_OK);
    ck_assert_uint_le(util_count_files(util_folder, ".mxc"), 20);
    ck_assert_uint_ge(util_count_files(util_folder, ".mxc"), 18);
    ck_assert(has(101) && has(100) && !has(80));
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_a_hit_renews_an_old_stamp_only)
{
    struct dcache_config config = util_config();
    config.stamp_interval_ms = 3600 * 1000;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    set_stamp(1, -3000);
    const long long recent = stamp_ns(1);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_msg(stamp_ns(1) == recent, "a recent stamp was written again");
    set_stamp(1, -4000);
    const long long old = stamp_ns(1);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_ge(stamp_ns(1) - old, 3999 * NS_PER_S);
    /* One from a clock that was ahead would otherwise never age. */
    set_stamp(1, 500000);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_le(stamp_ns(1) - old, 4100 * NS_PER_S);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_stamps_far_ahead_go_first)
{
    dcache *cache = open_bounded(0, 4);
    fill(cache, 1, 4);
    set_stamp(3, 10000000);
    ck_assert_int_eq(util_store(cache, 5), DCACHE_OK);
    ck_assert(!has(3) && has(1) && has(2) && has(4) && has(5));
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_reads_do_not_depend_on_access_times)
{
    char path[PATH_MAX];
    struct timespec times[2] = { { 1, 0 }, { 0, UTIME_OMIT } };
    dcache *cache = open_bounded(0, 4);
    fill(cache, 1, 4);
    util_entry_path(4, ".mxc", path);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert_int_eq(util_store(cache, 5), DCACHE_OK);
    ck_assert(has(4) && !has(1));
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_prune_to_bounds_and_to_nothing)
{
    uint64_t removed = 99;
    dcache *cache = util_open();
    ck_assert_int_eq(dcache_prune(cache, 0, 0, &removed), DCACHE_OK);
    ck_assert_uint_eq(removed, 0);
    fill(cache, 1, 20);
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, DCACHE_NO_BOUND, &removed),
                     DCACHE_OK);
    ck_assert_uint_eq(removed, 0);
    ck_assert_int_eq(dcache_prune(cache, DCACHE_NO_BOUND, 15, &removed), DCACHE_OK);
    ck_assert_uint_eq(removed, 5);
    ck_assert(!has(5) && has(6));
    ck_assert_int_eq(dcache_prune(cache, 0, DCACHE_NO_BOUND, &removed), DCACHE_OK);
    ck_assert_uint_eq(removed, 15);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 0);
    ck_assert_uint_eq(util_stats(cache).evictions, 20);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_evict_another_process_at_it_is_left_alone)
{
    char path[PATH_MAX];
    struct flock lock;
    struct dcache_config config = util_config();
    config.max_entries = 4;
    config.lock_wait_ms = 30;
    dcache *cache = util_open_config(&config);
    fill(cache, 1, 4);
    ck_assert_int_gt(snprintf(path, sizeof(path), "%.4000s/evict.lock", util_folder), 0);
    const int fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    memset(&lock, 0, sizeof(lock));
    lock.l_type = F_WRLCK;
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &lock), 0);
    ck_assert_int_eq(util_store(cache, 5), DCACHE_OK);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 5);
    ck_assert_int_eq(dcache_prune(cache, 0, 0, NULL), DCACHE_TIMEOUT);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(util_store(cache, 6), DCACHE_OK);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 4);
    dcache_close(cache);
}
END_TEST

enum { WRITERS = 4, STORES = 150, BOUND = 40 };

static int write_many(unsigned first)
{
    unsigned char payload[UTIL_PAYLOAD_BYTES] = { 0 };
    struct dcache_config config = util_config();
    dcache *cache;
    config.log = NULL;
    config.max_entries = BOUND;
    CHILD(dcache_open(&config, &cache) == DCACHE_OK);
    for (unsigned i = 0; i < STORES; i++) {
        struct dcache_entry entry;
        struct dcache_key key = util_key(first + i);
        CHILD(dcache_store(cache, &key, NULL, 0, payload, sizeof(payload)) == DCACHE_OK);
        const enum dcache_result result = dcache_load(cache, &key, &entry);
        CHILD(result == DCACHE_OK || result == DCACHE_MISS);
        dcache_entry_release(&entry);
        dcache_key_release(&key);
    }
    struct dcache_stats stats;
    dcache_stats(cache, &stats);
    CHILD(stats.bad_entries == 0 && stats.folder_state == DCACHE_OK);
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_evict_with_many_processes_holds_the_bound)
{
    pid_t pids[WRITERS];
    int status;
    for (unsigned i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            _exit(write_many(i * STORES) == 0 ? 0 : 1);
        }
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
    /* Each process looks at least at every (bound / 8 + 1)th of its stores. */
    ck_assert_uint_le(util_count_files(util_folder, ".mxc"), BOUND + WRITERS * (BOUND / 8 + 1));
    ck_assert_uint_ge(util_count_files(util_folder, ".mxc"), BOUND / 2);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    dcache *cache = open_bounded(0, BOUND);
    ck_assert_int_eq(util_store(cache, 100000), DCACHE_OK);
    ck_assert_uint_le(util_count_files(util_folder, ".mxc"), BOUND);
    dcache_close(cache);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dcache_evict");
    TCase *tests = tcase_create("evict");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_test(tests, test_dcache_evict_by_count_takes_the_oldest);
    tcase_add_test(tests, test_dcache_evict_by_bytes_takes_the_oldest);
    tcase_add_test(tests, test_dcache_evict_spares_the_entry_just_written);
    tcase_add_test(tests, test_dcache_evict_one_entry_is_the_smallest_cache);
    tcase_add_test(tests, test_dcache_evict_entry_larger_than_the_cache_is_refused);
    tcase_add_test(tests, test_dcache_evict_finds_what_earlier_processes_left);
    tcase_add_test(tests, test_dcache_evict_a_hit_renews_an_old_stamp_only);
    tcase_add_test(tests, test_dcache_evict_stamps_far_ahead_go_first);
    tcase_add_test(tests, test_dcache_evict_reads_do_not_depend_on_access_times);
    tcase_add_test(tests, test_dcache_evict_prune_to_bounds_and_to_nothing);
    tcase_add_test(tests, test_dcache_evict_another_process_at_it_is_left_alone);
    tcase_add_test(tests, test_dcache_evict_with_many_processes_holds_the_bound);
    suite_add_tcase(suite, tests);
    return util_run(suite);
}
