/* SPDX-License-Identifier: MIT */
/* Many processes and threads on one cold folder: one compile a key, whoever dies meanwhile. */
#include "dcache_util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 8, THREADS = 8, KEYS = 20, PAYLOAD = 20000 };

/* What all processes see. */
struct board {
    atomic_int compiles[KEYS];
    atomic_int right[KEYS]; /* results that were what they should be */
    atomic_int wrong;
    atomic_int timeouts;
    atomic_int temps_cleaned;
    atomic_int is_waiting_to_die; /* the victim holds a lock, in mid-compile */
};

struct worker {
    struct board *board;
    dcache *cache;
    unsigned index;
    bool is_victim; /* its process stops in the compile of key 0, and waits to be killed */
};

static void check_result(struct worker *worker, unsigned number, const void *bytes, size_t size)
{
    unsigned char expected[PAYLOAD];
    util_payload(number, expected, sizeof(expected));
    if (size == sizeof(expected) && memcmp(bytes, expected, size) == 0) {
        atomic_fetch_add(&worker->board->right[number], 1);
    } else {
        atomic_fetch_add(&worker->board->wrong, 1);
    }
}

/* True if the cache had the entry. */
static bool use_entry(struct worker *worker, const struct dcache_key *key, unsigned number)
{
    struct dcache_entry entry;
    if (dcache_load(worker->cache, key, &entry) != DCACHE_OK) {
        return false;
    }
    check_result(worker, number, entry.payload, entry.payload_size);
    dcache_entry_release(&entry);
    return true;
}

/* What the library does for a key that is not in memory. */
static void obtain(struct worker *worker, unsigned number)
{
    unsigned char code[PAYLOAD];
    struct dcache_lock lock = DCACHE_LOCK_INIT;
    struct dcache_key key = util_key(number);
    const struct dcache_pair pair = { "arch", "gfx950" };
    if (!use_entry(worker, &key, number)) {
        if (dcache_lock(worker->cache, &key, -1, &lock) != DCACHE_OK) {
            atomic_fetch_add(&worker->board->timeouts, 1);
        }
        if (!use_entry(worker, &key, number)) {
            atomic_fetch_add(&worker->board->compiles[number], 1);
            if (worker->is_victim && number == 0) {
                atomic_store(&worker->board->is_waiting_to_die, 1);
                for (;;) {
                    (void)pause();
                }
            }
            (void)usleep(2000); /* the compile */
            util_payload(number, code, sizeof(code));
            (void)dcache_store(worker->cache, &key, &pair, 1, code, sizeof(code));
            check_result(worker, number, code, sizeof(code));
        }
        dcache_unlock(worker->cache, &lock);
    }
    dcache_key_release(&key);
}

static void *work(void *user)
{
    struct worker *worker = user;
    /* Each thread goes through the keys in an order of its own. */
    for (unsigned i = 0; i < KEYS; i++) {
        obtain(worker, (i * 7 + worker->index * 3) % KEYS);
    }
    return NULL;
}

static int work_in_threads(struct board *board, unsigned process, bool is_victim)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    struct dcache_stats stats;
    struct dcache_config config = util_config();
    dcache *cache;
    config.log = NULL;
    CHILD(dcache_open(&config, &cache) == DCACHE_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ board, cache, process * THREADS + i, is_victim };
        CHILD(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHILD(pthread_join(threads[i], NULL) == 0);
    }
    dcache_stats(cache, &stats);
    atomic_fetch_add(&board->temps_cleaned, (int)stats.stale_temps_removed);
    CHILD(stats.bad_entries == 0 && stats.store_failures == 0);
    dcache_close(cache);
    return 0;
}

static pid_t start_process(struct board *board, unsigned process, bool is_victim)
{
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        _exit(work_in_threads(board, process, is_victim) == 0 ? 0 : 1);
    }
    return pid;
}

static void expect_success(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

START_TEST(test_dcache_process_8_by_8_compile_each_key_once)
{
    struct board *board = util_shared(sizeof(*board));
    pid_t pids[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++) {
        pids[i] = start_process(board, i, false);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        expect_success(pids[i]);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        ck_assert_msg(atomic_load(&board->compiles[i]) == 1, "key %u was compiled %d times", i,
                      atomic_load(&board->compiles[i]));
        ck_assert_int_eq(atomic_load(&board->right[i]), PROCESSES * THREADS);
    }
    ck_assert_int_eq(atomic_load(&board->wrong), 0);
    ck_assert_int_eq(atomic_load(&board->timeouts), 0);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), KEYS);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 1); /* evict.lock */
}
END_TEST

START_TEST(test_dcache_process_killed_in_mid_compile_holds_nobody_up)
{
    struct board *board = util_shared(sizeof(*board));
    pid_t pids[PROCESSES];
    int status;
    int extra = 0;
    /* The victim goes first, so that it is sure to hold a lock that the others want. */
    pids[0] = start_process(board, 0, true);
    while (!atomic_load(&board->is_waiting_to_die)) {
        (void)usleep(500);
    }
    for (unsigned i = 1; i < PROCESSES; i++) {
        pids[i] = start_process(board, i, false);
    }
    (void)usleep(50000);
    ck_assert_int_eq(kill(pids[0], SIGKILL), 0);
    ck_assert_int_eq(waitpid(pids[0], &status, 0), pids[0]);
    ck_assert(WIFSIGNALED(status));
    for (unsigned i = 1; i < PROCESSES; i++) {
        expect_success(pids[i]);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        /* The keys that the victim's threads were at are compiled once more, by one other. */
        ck_assert_int_ge(atomic_load(&board->compiles[i]), 1);
        ck_assert_int_le(atomic_load(&board->compiles[i]), 2);
        extra += atomic_load(&board->compiles[i]) - 1;
        ck_assert_int_ge(atomic_load(&board->right[i]), (PROCESSES - 1) * THREADS);
    }
    ck_assert_int_eq(atomic_load(&board->compiles[0]), 2);
    ck_assert_int_le(extra, THREADS);
    ck_assert_int_eq(atomic_load(&board->wrong), 0);
    ck_assert_int_eq(atomic_load(&board->timeouts), 0);
    dcache_close(util_open());
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), KEYS);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_uint_eq(util_count_files(util_folder, ".lock"), 1);
}
END_TEST

/* A process that does nothing but store, for SIGKILL to hit at any point of it. */
static void store_for_ever(unsigned seed, atomic_int *stores)
{
    static unsigned char payload[1 << 18];
    struct dcache_config config = util_config();
    dcache *cache;
    config.log = NULL;
    if (dcache_open(&config, &cache) != DCACHE_OK) {
        _exit(1);
    }
    for (unsigned i = 0;; i++) {
        struct dcache_lock lock;
        struct dcache_key key = util_key((seed + i) % 4);
        (void)dcache_lock(cache, &key, -1, &lock);
        (void)dcache_store(cache, &key, NULL, 0, payload, sizeof(payload));
        dcache_unlock(cache, &lock);
        dcache_key_release(&key);
        atomic_fetch_add(stores, 1);
    }
}

START_TEST(test_dcache_process_killed_at_any_point_leaves_no_damage)
{
    unsigned temps_seen = 0;
    atomic_int *stores = util_shared(sizeof(*stores));
    for (unsigned round = 0; round < 40; round++) {
        int status;
        const int before = atomic_load(stores);
        const pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            store_for_ever(round, stores);
        }
        while (atomic_load(stores) == before) {
            (void)usleep(200);
        }
        if (round % 2 == 0) {
            (void)usleep(round * 777 % 5000);
        } else {
            /* A file that is being written is there: now. */
            for (int i = 0; i < 20000 && util_count_files(util_folder, ".tmp") == 0; i++) {
            }
        }
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        temps_seen += util_count_files(util_folder, ".tmp");
        dcache *cache = util_open();
        ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
        for (unsigned i = 0; i < 4; i++) {
            struct dcache_entry entry;
            struct dcache_lock lock;
            struct dcache_key key = util_key(i);
            const enum dcache_result result = dcache_load(cache, &key, &entry);
            ck_assert(result == DCACHE_OK || result == DCACHE_MISS);
            ck_assert_int_eq(dcache_lock(cache, &key, 0, &lock), DCACHE_OK);
            dcache_unlock(cache, &lock);
            dcache_entry_release(&entry);
            dcache_key_release(&key);
        }
        ck_assert_uint_eq(util_stats(cache).bad_entries, 0);
        dcache_close(cache);
    }
    ck_assert_msg(temps_seen > 0, "no kill hit a write: the test shows nothing");
    ck_assert_int_eq(util_seen.warnings, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dcache_process");
    TCase *tests = tcase_create("process");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_test(tests, test_dcache_process_8_by_8_compile_each_key_once);
    tcase_add_test(tests, test_dcache_process_killed_in_mid_compile_holds_nobody_up);
    tcase_add_test(tests, test_dcache_process_killed_at_any_point_leaves_no_damage);
    suite_add_tcase(suite, tests);
    return util_run(suite);
}
