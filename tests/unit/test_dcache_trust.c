/* SPDX-License-Identifier: MIT */
/* Folders and files that the disk cache must not trust or cannot use. */
#include "dcache_util.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char self[PATH_MAX]; /* this program's file */

static void left_out(const char *what)
{
    (void)fprintf(stderr, "note: %s\n", what);
}

/* ------------------------------------------------------ entry files */

/* Store key 1, let `spoil` change its file, and see a miss, a removal and a rewrite. */
static void check_spoilt(void (*spoil)(const char *path))
{
    char path[PATH_MAX];
    struct stat status;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    spoil(path);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_seen.last_code, DCACHE_BAD_FILE);
    ck_assert_uint_eq(util_stats(cache).bad_entries, 1);
    ck_assert(!util_exists(path));
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert(S_ISREG(status.st_mode));
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_uint_eq(status.st_uid, geteuid());
    dcache_close(cache);
}

/* The link's target is a sound entry: only the link itself is wrong. */
static void make_symlink(const char *path)
{
    char target[PATH_MAX];
    ck_assert_int_gt(snprintf(target, sizeof(target), "%.4000s/target", util_root), 0);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
}

START_TEST(test_dcache_trust_symlink_is_not_followed)
{
    char target[PATH_MAX];
    check_spoilt(make_symlink);
    ck_assert_int_gt(snprintf(target, sizeof(target), "%.4000s/target", util_root), 0);
    ck_assert_msg(util_exists(target), "the link's target was removed");
}
END_TEST

static void make_dangling_symlink(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("nowhere", path), 0);
}

static void make_fifo(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_directory(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_group_writable(const char *path)
{
    ck_assert_int_eq(chmod(path, 0620), 0);
}

static void make_world_writable(const char *path)
{
    ck_assert_int_eq(chmod(path, 0602), 0);
}

static void make_foreign(const char *path)
{
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

static void (*const spoilers[])(const char *path) = { make_dangling_symlink, make_fifo,
                                                      make_directory, make_group_writable,
                                                      make_world_writable };

START_TEST(test_dcache_trust_file_of_wrong_type_or_mode)
{
    check_spoilt(spoilers[_i]);
}
END_TEST

START_TEST(test_dcache_trust_file_of_another_owner)
{
    if (!util_is_root()) {
        left_out("only root can give files away");
        return;
    }
    check_spoilt(make_foreign);
}
END_TEST

START_TEST(test_dcache_trust_empty_directory_under_the_name_is_replaced_by_a_store)
{
    char path[PATH_MAX];
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    make_directory(path);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_trust_full_directory_under_the_name_fails_cleanly)
{
    char path[PATH_MAX];
    char inner[PATH_MAX];
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    make_directory(path);
    ck_assert_int_lt(snprintf(inner, sizeof(inner), "%.4000s/x", path), (int)sizeof(inner));
    util_write_file(inner, "x", 1, 0600);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_ne(util_store(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_int_eq(util_store(cache, 2), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

/* ---------------------------------------------------------- folders */

/* Nothing is read from or written to util_folder, one warning of this code says so. */
static void check_left_out(enum dcache_result code)
{
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    dcache *cache = util_open();
    ck_assert_int_eq(util_stats(cache).folder_state, code);
    ck_assert_int_eq(util_seen.warnings, 1);
    ck_assert_int_eq(util_seen.last_code, code);
    ck_assert_ptr_nonnull(strstr(util_seen.last, util_folder));
    for (unsigned i = 1; i <= 3; i++) {
        ck_assert_int_eq(util_load(cache, i), DCACHE_MISS);
        ck_assert_int_eq(util_store(cache, i), code);
    }
    ck_assert_int_eq(dcache_lock(cache, &key, -1, &lock), DCACHE_UNAVAILABLE);
    ck_assert_int_eq(util_seen.warnings, 1);
    ck_assert_uint_eq(util_stats(cache).store_failures, 3);
    dcache_key_release(&key);
    dcache_close(cache);
}

START_TEST(test_dcache_trust_file_in_place_of_the_folder)
{
    util_write_file(util_folder, "x", 1, 0600);
    check_left_out(DCACHE_UNWRITABLE);
}
END_TEST

START_TEST(test_dcache_trust_file_in_place_of_a_parent)
{
    char path[PATH_MAX];
    util_write_file(util_folder, "x", 1, 0600);
    ck_assert_int_gt(snprintf(path, sizeof(path), "%.4000s/below", util_folder), 0);
    struct dcache_config config = util_config();
    config.folder = path;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_UNWRITABLE);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_UNWRITABLE);
    ck_assert_int_eq(util_seen.warnings, 1);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_trust_too_long_path)
{
    char path[3 * PATH_MAX];
    struct dcache_config config = util_config();
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    config.folder = path;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_UNWRITABLE);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_seen.warnings, 1);
    dcache_close(cache);
}
END_TEST

static const mode_t unsafe_modes[] = { 0777, 0770, 0702, 0720, 01777 };

START_TEST(test_dcache_trust_folder_that_others_may_write)
{
    ck_assert_int_eq(mkdir(util_folder, 0700), 0);
    ck_assert_int_eq(chmod(util_folder, unsafe_modes[_i]), 0);
    check_left_out(DCACHE_UNSAFE);
    ck_assert_uint_eq(util_count_files(util_folder, ""), 0);
}
END_TEST

START_TEST(test_dcache_trust_folder_of_another_owner)
{
    if (!util_is_root()) {
        left_out("only root can give folders away");
        return;
    }
    ck_assert_int_eq(mkdir(util_folder, 0700), 0);
    ck_assert_int_eq(chown(util_folder, NOBODY, NOBODY), 0);
    check_left_out(DCACHE_UNSAFE);
}
END_TEST

START_TEST(test_dcache_trust_folder_made_safe_later_is_used)
{
    ck_assert_int_eq(mkdir(util_folder, 0700), 0);
    ck_assert_int_eq(chmod(util_folder, 0777), 0);
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_UNSAFE);
    ck_assert_int_eq(chmod(util_folder, 0755), 0);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_OK);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_trust_level_that_is_a_link_or_open_to_others)
{
    char path[PATH_MAX];
    char moved[PATH_MAX];
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(chmod(path, 0777), 0);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_UNSAFE);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_gt(snprintf(moved, sizeof(moved), "%.4000s/moved", util_root), 0);
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(symlink(moved, path), 0);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_ne(util_store(cache, 1), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_trust_read_only_folder_that_others_may_write)
{
    char one[PATH_MAX];
    struct dcache_config config = util_config();
    ck_assert_int_gt(snprintf(one, sizeof(one), "%.4000s/one", util_root), 0);
    config.folder = one;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    dcache_close(cache);
    ck_assert_int_eq(chmod(one, 0777), 0);
    const char *const folders[] = { one };
    config = util_config();
    config.read_only_folders = folders;
    config.read_only_count = 1;
    cache = util_open_config(&config);
    ck_assert_int_eq(util_seen.warnings, 1);
    ck_assert_int_eq(util_seen.last_code, DCACHE_UNSAFE);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    dcache_close(cache);
}
END_TEST

/* ------------------------------------ folders that cannot be written */

/* An unprivileged user: modes count.  The folder is the user's own, but not writable. */
static int as_nobody(void *user)
{
    (void)user;
    CHILD(chmod(util_root, 0755) == 0);
    CHILD(mkdir(util_folder, 0700) == 0);
    CHILD(chown(util_folder, NOBODY, NOBODY) == 0);
    CHILD(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    dcache *cache = util_open();
    CHILD(util_store(cache, 1) == DCACHE_OK);
    dcache_close(cache);
    CHILD(chmod(util_folder, 0500) == 0);
    CHILD(util_seen.warnings == 0);
    cache = util_open();
    CHILD(util_stats(cache).folder_state == DCACHE_UNWRITABLE);
    CHILD(util_seen.warnings == 1);
    /* What is there is still read; what must be made is not. */
    CHILD(util_load(cache, 1) == DCACHE_OK);
    unsigned failed = 0;
    for (unsigned i = 2; i < 40; i++) {
        const enum dcache_result result = util_store(cache, i);
        failed += result == DCACHE_UNWRITABLE;
        CHILD(result == DCACHE_OK || result == DCACHE_UNWRITABLE);
    }
    CHILD(failed > 0);
    CHILD(util_seen.warnings == 1);
    dcache_close(cache);
    CHILD(chmod(util_folder, 0700) == 0);
    return 0;
}

START_TEST(test_dcache_trust_unwritable_folder_still_serves_reads)
{
    if (!util_is_root()) {
        left_out("only root can become nobody");
        return;
    }
    ck_assert_int_eq(util_in_child(as_nobody, NULL), 0);
}
END_TEST

/* Mount in a namespace of this process alone.  False where that is not allowed. */
static bool mount_private(const char *type, unsigned long flags, const char *options)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return false;
    }
    return mount("none", util_folder, type, flags | MS_NOSUID | MS_NODEV, options) == 0;
}

#define NO_MOUNT (-1000)

static int on_full_disk(void *user)
{
    unsigned stored = 0;
    (void)user;
    CHILD(mkdir(util_folder, 0700) == 0);
    if (!mount_private("tmpfs", 0, "size=64k,mode=0700")) {
        return NO_MOUNT;
    }
    dcache *cache = util_open();
    CHILD(util_stats(cache).folder_state == DCACHE_OK);
    for (unsigned i = 0; i < 64; i++) {
        const enum dcache_result result = util_store(cache, i);
        CHILD(result == (util_seen.warnings == 0 ? DCACHE_OK : DCACHE_FULL));
        stored += result == DCACHE_OK;
    }
    CHILD(stored > 4 && stored < 32);
    CHILD(util_stats(cache).folder_state == DCACHE_FULL);
    CHILD(util_seen.warnings == 1);
    CHILD(util_stats(cache).store_failures == 64 - stored);
    CHILD(util_count_files(util_folder, ".tmp") == 0);
    CHILD(util_count_files(util_folder, ".mxc") == stored);
    for (unsigned i = 0; i < stored; i++) {
        CHILD(util_load(cache, i) == DCACHE_OK);
    }
    dcache_close(cache);
    /* The next process sees it when it opens, and again when room has been made. */
    util_seen.warnings = 0;
    cache = util_open();
    CHILD(util_stats(cache).folder_state == DCACHE_FULL);
    CHILD(util_seen.warnings == 1);
    CHILD(dcache_prune(cache, DCACHE_NO_BOUND, stored / 2, NULL) == DCACHE_OK);
    CHILD(util_store(cache, 1) == DCACHE_OK);
    CHILD(util_stats(cache).folder_state == DCACHE_OK);
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_trust_full_disk)
{
    const int outcome = util_is_root() ? util_in_child(on_full_disk, NULL) : NO_MOUNT;
    if (outcome == NO_MOUNT) {
        left_out("a full disk needs the right to mount; RLIMIT_FSIZE stands in for it");
        return;
    }
    ck_assert_int_eq(outcome, 0);
}
END_TEST

static int on_read_only_mount(void *user)
{
    (void)user;
    CHILD(mkdir(util_folder, 0700) == 0);
    if (!mount_private("tmpfs", 0, "size=1m,mode=0700")) {
        return NO_MOUNT;
    }
    dcache *cache = util_open();
    CHILD(util_store(cache, 1) == DCACHE_OK);
    dcache_close(cache);
    CHILD(mount("none", util_folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    cache = util_open();
    CHILD(util_stats(cache).folder_state == DCACHE_UNWRITABLE);
    CHILD(util_load(cache, 1) == DCACHE_OK);
    CHILD(util_store(cache, 1) == DCACHE_UNWRITABLE);
    CHILD(util_store(cache, 2) == DCACHE_UNWRITABLE);
    CHILD(util_load(cache, 1) == DCACHE_OK);
    CHILD(util_seen.warnings == 1);
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_trust_read_only_mount_still_serves_reads)
{
    const int outcome = util_is_root() ? util_in_child(on_read_only_mount, NULL) : NO_MOUNT;
    if (outcome == NO_MOUNT) {
        left_out("a read-only file system needs the right to mount");
        return;
    }
    ck_assert_int_eq(outcome, 0);
}
END_TEST

static int under_size_limit(void *user)
{
    static unsigned char payload[100000];
    const struct rlimit limit = { sizeof(payload), sizeof(payload) };
    struct dcache_key key = util_key(1);
    (void)user;
    dcache *cache = util_open();
    /* SIGXFSZ keeps its default action, death: the cache must not raise it. */
    CHILD(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int i = 0; i < 2; i++) {
        CHILD(dcache_store(cache, &key, NULL, 0, payload, sizeof(payload)) == DCACHE_FULL);
    }
    dcache_key_release(&key);
    CHILD(util_seen.warnings == 1);
    CHILD(util_stats(cache).folder_state == DCACHE_FULL);
    CHILD(util_load(cache, 1) == DCACHE_MISS);
    CHILD(util_count_files(util_folder, "") == 0);
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_trust_file_size_limit)
{
    ck_assert_int_eq(util_in_child(under_size_limit, NULL), 0);
}
END_TEST

static int without_descriptors(void *user)
{
    struct rlimit limit;
    (void)user;
    dcache *cache = util_open();
    CHILD(util_store(cache, 1) == DCACHE_OK);
    CHILD(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 1;
    CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD(util_load(cache, 1) == DCACHE_MISS);
    CHILD(util_store(cache, 1) == DCACHE_IO);
    limit.rlim_cur = 256;
    CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD(util_load(cache, 1) == DCACHE_OK);
    CHILD(util_stats(cache).bad_entries == 0);
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_trust_no_descriptors_left)
{
    ck_assert_int_eq(util_in_child(without_descriptors, NULL), 0);
}
END_TEST

/* ------------------------------------------------------------ setuid */

/* Store and load one entry; no check of Check's, which does not run in that program. */
static bool secure_use(dcache *cache, enum dcache_result store, enum dcache_result load)
{
    struct dcache_entry entry;
    struct dcache_key key;
    dcache_key_begin(&key, NULL);
    bool is_right = dcache_key_end(&key) == DCACHE_OK &&
                    dcache_store(cache, &key, NULL, 0, "x", 1) == store &&
                    dcache_load(cache, &key, &entry) == load;
    dcache_entry_release(&entry);
    dcache_key_release(&key);
    return is_right;
}

/* What the setuid copy of this program does; returns 0 or which step failed. */
static int secure_child(const char *folder)
{
    struct dcache_stats stats;
    const char *const folders[] = { folder };
    struct dcache_config config;
    dcache *cache;
    memset(&config, 0, sizeof(config));
    memset(&util_seen, 0, sizeof(util_seen));
    config.folder = folder;
    config.folder_from_environment = true;
    config.read_only_folders = folders;
    config.read_only_count = 1;
    config.read_only_from_environment = true;
    config.log = util_log_line;
    config.log_user = &util_seen;
    if (dcache_open(&config, &cache) != DCACHE_OK) {
        return 2;
    }
    dcache_stats(cache, &stats);
    if (stats.folder_state != DCACHE_SETUID || util_seen.warnings != 2) {
        return 3;
    }
    if (!secure_use(cache, DCACHE_SETUID, DCACHE_MISS)) {
        return 4;
    }
    dcache_close(cache);
    /* A folder that the program itself names is its own business. */
    config.folder_from_environment = false;
    config.read_only_count = 0;
    if (dcache_open(&config, &cache) != DCACHE_OK || !secure_use(cache, DCACHE_OK, DCACHE_OK)) {
        return 5;
    }
    dcache_close(cache);
    return 0;
}

START_TEST(test_dcache_trust_setuid_ignores_the_environment)
{
    char program[PATH_MAX];
    char folder[PATH_MAX];
    int status;
    size_t size;
    if (!util_is_root()) {
        left_out("only root can make a setuid program of another user");
        return;
    }
    ck_assert_int_eq(chmod(util_root, 0755), 0);
    ck_assert_int_gt(snprintf(program, sizeof(program), "%.4000s/setuid", util_root), 0);
    ck_assert_int_gt(snprintf(folder, sizeof(folder), "%.4000s/nobodys", util_root), 0);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(chown(folder, NOBODY, NOBODY), 0);
    unsigned char *bytes = util_read_file(self, &size);
    util_write_file(program, bytes, size, 0755);
    free(bytes);
    ck_assert_int_eq(chown(program, NOBODY, NOBODY), 0);
    ck_assert_int_eq(chmod(program, 04755), 0);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)execl(program, program, "--secure-child", folder, (char *)NULL);
        _exit(126);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        left_out("setuid has no effect on this file system");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(test_dcache_trust_environment_counts_when_not_setuid)
{
    struct dcache_config config = util_config();
    config.folder_from_environment = true;
    config.read_only_from_environment = true;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    dcache_close(cache);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("dcache_trust");
    TCase *tests = tcase_create("trust");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_test(tests, test_dcache_trust_symlink_is_not_followed);
    tcase_add_loop_test(tests, test_dcache_trust_file_of_wrong_type_or_mode, 0,
                        (int)(sizeof(spoilers) / sizeof(spoilers[0])));
    tcase_add_test(tests, test_dcache_trust_file_of_another_owner);
    tcase_add_test(tests,
                   test_dcache_trust_empty_directory_under_the_name_is_replaced_by_a_store);
    tcase_add_test(tests, test_dcache_trust_full_directory_under_the_name_fails_cleanly);
    tcase_add_test(tests, test_dcache_trust_file_in_place_of_the_folder);
    tcase_add_test(tests, test_dcache_trust_file_in_place_of_a_parent);
    tcase_add_test(tests, test_dcache_trust_too_long_path);
    tcase_add_loop_test(tests, test_dcache_trust_folder_that_others_may_write, 0,
                        (int)(sizeof(unsafe_modes) / sizeof(unsafe_modes[0])));
    tcase_add_test(tests, test_dcache_trust_folder_of_another_owner);
    tcase_add_test(tests, test_dcache_trust_folder_made_safe_later_is_used);
    tcase_add_test(tests, test_dcache_trust_level_that_is_a_link_or_open_to_others);
    tcase_add_test(tests, test_dcache_trust_read_only_folder_that_others_may_write);
    tcase_add_test(tests, test_dcache_trust_unwritable_folder_still_serves_reads);
    tcase_add_test(tests, test_dcache_trust_full_disk);
    tcase_add_test(tests, test_dcache_trust_read_only_mount_still_serves_reads);
    tcase_add_test(tests, test_dcache_trust_file_size_limit);
    tcase_add_test(tests, test_dcache_trust_no_descriptors_left);
    tcase_add_test(tests, test_dcache_trust_setuid_ignores_the_environment);
    tcase_add_test(tests, test_dcache_trust_environment_counts_when_not_setuid);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--secure-child") == 0) {
        /* _exit: a leak checker's work at exit is refused in a setuid process. */
        _exit(getuid() == geteuid() ? 77 : secure_child(argv[2]));
    }
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0) {
        perror("/proc/self/exe");
        return EXIT_FAILURE;
    }
    self[length] = '\0';
    return util_run(make_suite());
}
