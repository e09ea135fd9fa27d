/* SPDX-License-Identifier: MIT */
/* The disk cache's promises: round trips, damaged entries, layers, statistics, listing. */
#include "dcache_fmt.h"
#include "dcache_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(test_dcache_round_trip)
{
    dcache *cache = util_open();
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 2), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 2), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 3), DCACHE_MISS);
    dcache_close(cache);
    /* The next process finds both. */
    cache = util_open();
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 2), DCACHE_OK);
    const struct dcache_stats stats = util_stats(cache);
    ck_assert_uint_eq(stats.hits, 2);
    ck_assert_uint_eq(stats.misses, 0);
    ck_assert_uint_eq(stats.stores, 0);
    ck_assert_int_eq(stats.folder_state, DCACHE_OK);
    dcache_close(cache);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 2);
    ck_assert_uint_eq(util_count_files(util_folder, ".tmp"), 0);
    ck_assert_int_eq(util_seen.warnings, 0);
}
END_TEST

START_TEST(test_dcache_files_and_folders_are_private)
{
    char path[PATH_MAX];
    struct stat status;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    for (int level = 0; level < 3; level++) {
        *strrchr(path, '/') = '\0';
        ck_assert_int_eq(stat(path, &status), 0);
        ck_assert_uint_eq(status.st_mode & 07777, 0700);
    }
    ck_assert_str_eq(path, util_folder);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_makes_parents)
{
    char path[PATH_MAX];
    struct stat status;
    struct dcache_config config = util_config();
    ck_assert_int_gt(snprintf(path, sizeof(path), "%.4000s/a/b/c", util_root), 0);
    config.folder = path;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_relative_folder_survives_chdir)
{
    char path[PATH_MAX];
    struct dcache_config config = util_config();
    config.folder = "relative";
    ck_assert_int_eq(chdir(util_root), 0);
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_gt(snprintf(path, sizeof(path), "%.4000s/relative", util_root), 0);
    ck_assert_uint_eq(util_count_files(path, ".mxc"), 1);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_empty_and_large_payloads)
{
    const size_t size = (size_t)5 << 20;
    struct dcache_entry entry;
    struct dcache_key key = util_key(1);
    dcache *cache = util_open();
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    util_payload(9, bytes, size);
    ck_assert_int_eq(dcache_store(cache, &key, NULL, 0, NULL, 0), DCACHE_OK);
    ck_assert_int_eq(dcache_load(cache, &key, &entry), DCACHE_OK);
    ck_assert_uint_eq(entry.payload_size, 0);
    ck_assert_uint_eq(entry.pair_count, 0);
    dcache_entry_release(&entry);
    /* A second store replaces the first. */
    ck_assert_int_eq(dcache_store(cache, &key, NULL, 0, bytes, size), DCACHE_OK);
    ck_assert_int_eq(dcache_load(cache, &key, &entry), DCACHE_OK);
    dcache_close(cache);
    /* The entry outlives the cache. */
    ck_assert_uint_eq(entry.payload_size, size);
    ck_assert_mem_eq(entry.payload, bytes, size);
    ck_assert_uint_eq((uintptr_t)entry.payload % 16, 0);
    dcache_entry_release(&entry);
    dcache_entry_release(&entry);
    dcache_key_release(&key);
    free(bytes);
}
END_TEST

START_TEST(test_dcache_bad_arguments_are_refused)
{
    struct dcache_config config = util_config();
    struct dcache_key key = util_key(1);
    struct dcache_key unfinished;
    struct dcache_entry entry;
    struct dcache_lock lock;
    const struct dcache_pair bad = { "Bad Name", "x" };
    dcache *cache = NULL;
    ck_assert_int_eq(dcache_open(NULL, &cache), DCACHE_INVALID);
    ck_assert_ptr_null(cache);
    ck_assert_int_eq(dcache_open(&config, NULL), DCACHE_INVALID);
    config.read_only_count = 1;
    ck_assert_int_eq(dcache_open(&config, &cache), DCACHE_INVALID);
    config.read_only_count = 0;
    config.memory.deallocate = NULL;
    ck_assert_int_eq(dcache_open(&config, &cache), DCACHE_INVALID);
    cache = util_open();
    dcache_key_begin(&unfinished, &util_memory);
    ck_assert_int_eq(dcache_load(cache, &unfinished, &entry), DCACHE_INVALID);
    ck_assert_int_eq(dcache_load(cache, NULL, &entry), DCACHE_INVALID);
    ck_assert_int_eq(dcache_load(NULL, &key, &entry), DCACHE_INVALID);
    ck_assert_int_eq(dcache_load(cache, &key, NULL), DCACHE_INVALID);
    ck_assert_int_eq(dcache_store(cache, &unfinished, NULL, 0, "x", 1), DCACHE_INVALID);
    ck_assert_int_eq(dcache_store(cache, &key, NULL, 1, "x", 1), DCACHE_INVALID);
    ck_assert_int_eq(dcache_store(cache, &key, NULL, 0, NULL, 1), DCACHE_INVALID);
    ck_assert_int_eq(dcache_store(cache, &key, &bad, 1, "x", 1), DCACHE_INVALID);
    ck_assert_int_eq(dcache_store(NULL, &key, NULL, 0, "x", 1), DCACHE_INVALID);
    ck_assert_int_eq(dcache_remove(cache, &unfinished), DCACHE_INVALID);
    ck_assert_int_eq(dcache_lock(cache, &unfinished, 0, &lock), DCACHE_INVALID);
    ck_assert_int_eq(dcache_lock(cache, &key, 0, NULL), DCACHE_INVALID);
    ck_assert_int_eq(dcache_iterate(cache, 0, NULL, NULL), DCACHE_INVALID);
    ck_assert_int_eq(dcache_prune(NULL, 0, 0, NULL), DCACHE_INVALID);
    ck_assert_uint_eq(util_count_files(util_folder, ""), 0);
    dcache_key_release(&unfinished);
    dcache_key_release(&key);
    dcache_close(cache);
    dcache_close(NULL);
}
END_TEST

START_TEST(test_dcache_without_a_folder_misses_and_says_so)
{
    struct dcache_config config = util_config();
    struct dcache_key key = util_key(1);
    struct dcache_lock lock;
    config.folder = "";
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_UNAVAILABLE);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(dcache_remove(cache, &key), DCACHE_UNAVAILABLE);
    ck_assert_int_eq(dcache_lock(cache, &key, -1, &lock), DCACHE_UNAVAILABLE);
    ck_assert_int_eq(dcache_prune(cache, 0, 0, NULL), DCACHE_UNAVAILABLE);
    ck_assert_int_eq(util_stats(cache).folder_state, DCACHE_UNAVAILABLE);
    ck_assert_int_eq(util_seen.lines, 0);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

/* -------------------------------------------------------------- damage */

/* The damaged entry of key 1 is a miss, is removed, and the next store makes it good again. */
static void check_bad_then_good(dcache *cache, const char *path, const char *what, size_t at)
{
    const uint64_t bad = util_stats(cache).bad_entries;
    ck_assert_msg(util_load(cache, 1) == DCACHE_MISS, "%s %zu was taken", what, at);
    ck_assert_msg(util_stats(cache).bad_entries == bad + 1, "%s %zu not counted", what, at);
    ck_assert_msg(!util_exists(path), "%s %zu not removed", what, at);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).bad_entries, bad + 1);
}

START_TEST(test_dcache_every_flipped_byte_is_a_miss_then_rewritten)
{
    char path[PATH_MAX];
    size_t size;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    unsigned char *bytes = util_read_file(path, &size);
    ck_assert_uint_gt(size, DCACHE_FMT_HEADER_BYTES + UTIL_PAYLOAD_BYTES);
    for (size_t i = 0; i < size; i++) {
        const unsigned char good = bytes[i];
        const unsigned char flips[] = { 0xff, (unsigned char)(1u << (i % 8)) };
        for (size_t j = 0; j < 2; j++) {
            bytes[i] = good ^ flips[j];
            util_write_file(path, bytes, size, 0600);
            check_bad_then_good(cache, path, "flip of byte", i);
        }
        bytes[i] = good;
    }
    size_t again;
    unsigned char *rewritten = util_read_file(path, &again);
    ck_assert_uint_eq(again, size);
    ck_assert_mem_eq(rewritten, bytes, size);
    free(rewritten);
    free(bytes);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_every_truncation_is_a_miss_then_rewritten)
{
    char path[PATH_MAX];
    size_t size;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    unsigned char *bytes = util_read_file(path, &size);
    for (size_t length = 0; length < size; length++) {
        util_write_file(path, bytes, length, 0600);
        check_bad_then_good(cache, path, "truncation to", length);
    }
    free(bytes);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_trailing_bytes_are_a_miss_then_rewritten)
{
    char path[PATH_MAX];
    size_t size;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_entry_path(1, ".mxc", path);
    unsigned char *bytes = util_read_file(path, &size);
    for (size_t more = 1; more < 130; more++) {
        unsigned char *longer = calloc(1, size + more);
        ck_assert_ptr_nonnull(longer);
        memcpy(longer, bytes, size);
        util_write_file(path, longer, size + more, 0600);
        check_bad_then_good(cache, path, "trailing bytes", more);
        free(longer);
    }
    free(bytes);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_entry_of_another_key_is_a_miss_then_rewritten)
{
    char mine[PATH_MAX];
    char other[PATH_MAX];
    size_t size;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 2), DCACHE_OK);
    util_entry_path(1, ".mxc", mine);
    util_entry_path(2, ".mxc", other);
    unsigned char *bytes = util_read_file(other, &size);
    util_write_file(mine, bytes, size, 0600);
    check_bad_then_good(cache, mine, "entry of key", 2);
    ck_assert_int_eq(util_load(cache, 2), DCACHE_OK);
    free(bytes);
    dcache_close(cache);
}
END_TEST

/* A collision of digests cannot be made to order, so the key claims another echo's digest. */
START_TEST(test_dcache_same_digest_of_another_echo_is_a_miss)
{
    struct dcache_entry entry;
    struct dcache_key key = util_key(1);
    struct dcache_key impostor = util_key(2);
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(key.echo_size, impostor.echo_size);
    memcpy(impostor.digest, key.digest, DCACHE_KEY_BYTES);
    ck_assert_int_eq(dcache_load(cache, &impostor, &entry), DCACHE_MISS);
    ck_assert_int_eq(util_seen.last_code, DCACHE_BAD_KEY);
    ck_assert_uint_eq(util_stats(cache).bad_entries, 1);
    dcache_key_release(&key);
    dcache_key_release(&impostor);
    dcache_close(cache);
}
END_TEST

/* -------------------------------------------------------------- layers */

/* Make a cache in <util_root>/<name> that holds the entries first..last. */
static void make_layer(const char *name, unsigned first, unsigned last, char path[PATH_MAX])
{
    struct dcache_config config = util_config();
    ck_assert_int_gt(snprintf(path, PATH_MAX, "%.4000s/%s", util_root, name), 0);
    config.folder = path;
    dcache *cache = util_open_config(&config);
    for (unsigned i = first; i <= last; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
    }
    dcache_close(cache);
}

START_TEST(test_dcache_read_only_folders_come_first_and_stay_as_they_are)
{
    char one[PATH_MAX];
    char two[PATH_MAX];
    char path[PATH_MAX];
    struct stat before;
    struct stat after;
    make_layer("one", 1, 1, one);
    make_layer("two", 1, 2, two);
    const char *const folders[] = { one, two };
    struct dcache_config config = util_config();
    config.read_only_folders = folders;
    config.read_only_count = 2;
    config.stamp_interval_ms = 1;
    dcache *cache = util_open_config(&config);
    util_entry_path_in(one, 1, ".mxc", path);
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert_int_eq(usleep(5000), 0);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 2), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 3), DCACHE_MISS);
    ck_assert_int_eq(util_store(cache, 3), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 3), DCACHE_OK);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    const struct dcache_stats stats = util_stats(cache);
    ck_assert_uint_eq(stats.read_only_hits, 2);
    ck_assert_uint_eq(stats.hits, 3);
    struct dcache_entry entry;
    struct dcache_key key = util_key(1);
    ck_assert_int_eq(dcache_load(cache, &key, &entry), DCACHE_OK);
    ck_assert(entry.is_read_only);
    dcache_entry_release(&entry);
    ck_assert_int_eq(dcache_remove(cache, &key), DCACHE_MISS);
    ck_assert_int_eq(dcache_load(cache, &key, &entry), DCACHE_OK);
    dcache_entry_release(&entry);
    dcache_key_release(&key);
    ck_assert_uint_eq(util_count_files(one, ".mxc"), 1);
    ck_assert_uint_eq(util_count_files(two, ".mxc"), 2);
    ck_assert_uint_eq(util_count_files(util_folder, ".mxc"), 1);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_bad_read_only_entry_stays_and_the_next_layer_serves)
{
    char one[PATH_MAX];
    char path[PATH_MAX];
    make_layer("one", 1, 1, one);
    util_entry_path_in(one, 1, ".mxc", path);
    util_write_file(path, "damaged", 7, 0600);
    const char *const folders[] = { one };
    struct dcache_config config = util_config();
    config.read_only_folders = folders;
    config.read_only_count = 1;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert(util_exists(path));
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).bad_entries, 2);
    ck_assert_uint_eq(util_stats(cache).read_only_hits, 0);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_missing_read_only_folder_is_no_warning)
{
    const char *const folders[] = { "/nonexistent/mxgemm", "" };
    struct dcache_config config = util_config();
    config.read_only_folders = folders;
    config.read_only_count = 2;
    dcache *cache = util_open_config(&config);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_seen.warnings, 0);
    dcache_close(cache);
}
END_TEST

/* ------------------------------------------------- removal and listing */

START_TEST(test_dcache_remove_drops_one_entry)
{
    struct dcache_key key = util_key(1);
    dcache *cache = util_open();
    ck_assert_int_eq(dcache_remove(cache, &key), DCACHE_MISS);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 2), DCACHE_OK);
    ck_assert_int_eq(dcache_remove(cache, &key), DCACHE_OK);
    ck_assert_int_eq(dcache_remove(cache, &key), DCACHE_MISS);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_load(cache, 2), DCACHE_OK);
    ck_assert_uint_eq(util_stats(cache).bad_entries, 0);
    dcache_key_release(&key);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_folder_removed_while_in_use_is_made_again)
{
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    util_remove_tree(util_folder);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_MISS);
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_load(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_seen.warnings, 0);
    dcache_close(cache);
}
END_TEST

struct tally {
    unsigned items;
    unsigned bad;
    unsigned read_only;
    unsigned numbers; /* sum of the "number" pairs */
    unsigned limit;
};

static bool tally_item(const struct dcache_item *item, void *user)
{
    struct tally *tally = user;
    char path[PATH_MAX];
    tally->items++;
    tally->read_only += item->is_read_only;
    ck_assert_uint_eq(strlen(item->hex), 32);
    ck_assert_int_gt(snprintf(path, sizeof(path), "%s/%s", item->folder, item->path), 0);
    ck_assert_ptr_nonnull(strstr(item->path, item->hex));
    if (item->result == DCACHE_OK) {
        struct stat status;
        ck_assert_int_eq(stat(path, &status), 0);
        ck_assert_uint_eq((uint64_t)status.st_size, item->file_bytes);
        ck_assert_uint_eq(item->payload_bytes, UTIL_PAYLOAD_BYTES);
        ck_assert_int_gt(item->used_s, 1000000000);
        ck_assert_uint_eq(item->pair_count, 2);
        tally->numbers += (unsigned)atoi(item->pairs[1].value);
    } else {
        ck_assert_uint_eq(item->pair_count, 0);
        tally->bad++;
    }
    return tally->items != tally->limit;
}

START_TEST(test_dcache_iterate_lists_verifies_and_removes)
{
    char one[PATH_MAX];
    char path[PATH_MAX];
    size_t size;
    make_layer("one", 100, 101, one);
    const char *const folders[] = { one };
    struct dcache_config config = util_config();
    config.read_only_folders = folders;
    config.read_only_count = 1;
    dcache *cache = util_open_config(&config);
    for (unsigned i = 1; i <= 20; i++) {
        ck_assert_int_eq(util_store(cache, i), DCACHE_OK);
    }
    struct tally tally = { 0, 0, 0, 0, 0 };
    ck_assert_int_eq(dcache_iterate(cache, 0, tally_item, &tally), DCACHE_OK);
    ck_assert_uint_eq(tally.items, 22);
    ck_assert_uint_eq(tally.bad, 0);
    ck_assert_uint_eq(tally.read_only, 2);
    ck_assert_uint_eq(tally.numbers, 210 + 201);
    /* A damaged payload shows only to who reads it. */
    util_entry_path(7, ".mxc", path);
    unsigned char *bytes = util_read_file(path, &size);
    bytes[size - 1] ^= 1;
    util_write_file(path, bytes, size, 0600);
    free(bytes);
    tally = (struct tally){ 0, 0, 0, 0, 0 };
    ck_assert_int_eq(dcache_iterate(cache, 0, tally_item, &tally), DCACHE_OK);
    ck_assert_uint_eq(tally.bad, 0);
    tally = (struct tally){ 0, 0, 0, 0, 0 };
    ck_assert_int_eq(dcache_iterate(cache, DCACHE_VERIFY, tally_item, &tally), DCACHE_OK);
    ck_assert_uint_eq(tally.items, 22);
    ck_assert_uint_eq(tally.bad, 1);
    ck_assert(util_exists(path));
    tally = (struct tally){ 0, 0, 0, 0, 0 };
    ck_assert_int_eq(
        dcache_iterate(cache, DCACHE_VERIFY | DCACHE_REMOVE_BAD, tally_item, &tally),
        DCACHE_OK);
    ck_assert_uint_eq(tally.bad, 1);
    ck_assert(!util_exists(path));
    tally = (struct tally){ 0, 0, 0, 0, 3 };
    ck_assert_int_eq(dcache_iterate(cache, DCACHE_VERIFY, tally_item, &tally), DCACHE_STOPPED);
    ck_assert_uint_eq(tally.items, 3);
    ck_assert_int_eq(dcache_iterate(cache, 4, tally_item, &tally), DCACHE_INVALID);
    dcache_close(cache);
}
END_TEST

START_TEST(test_dcache_iterate_names_what_is_wrong)
{
    char path[PATH_MAX];
    char other[PATH_MAX];
    size_t size;
    dcache *cache = util_open();
    ck_assert_int_eq(util_store(cache, 1), DCACHE_OK);
    ck_assert_int_eq(util_store(cache, 2), DCACHE_OK);
    /* A sound entry under another entry's name, and an entry of a later version. */
    util_entry_path(1, ".mxc", path);
    util_entry_path(2, ".mxc", other);
    unsigned char *bytes = util_read_file(path, &size);
    util_write_file(other, bytes, size, 0600);
    bytes[8] = DCACHE_FMT_VERSION + 1;
    util_write_file(path, bytes, size, 0600);
    free(bytes);
    struct tally tally = { 0, 0, 0, 0, 0 };
    ck_assert_int_eq(dcache_iterate(cache, DCACHE_REMOVE_BAD, tally_item, &tally), DCACHE_OK);
    ck_assert_uint_eq(tally.items, 2);
    ck_assert_uint_eq(tally.bad, 2);
    ck_assert(!util_exists(other));
    ck_assert_msg(util_exists(path), "the other version's entry was removed");
    dcache_close(cache);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dcache");
    TCase *tests = tcase_create("dcache");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, util_setup, util_teardown);
    tcase_add_test(tests, test_dcache_round_trip);
    tcase_add_test(tests, test_dcache_files_and_folders_are_private);
    tcase_add_test(tests, test_dcache_makes_parents);
    tcase_add_test(tests, test_dcache_relative_folder_survives_chdir);
    tcase_add_test(tests, test_dcache_empty_and_large_payloads);
    tcase_add_test(tests, test_dcache_bad_arguments_are_refused);
    tcase_add_test(tests, test_dcache_without_a_folder_misses_and_says_so);
    tcase_add_test(tests, test_dcache_every_flipped_byte_is_a_miss_then_rewritten);
    tcase_add_test(tests, test_dcache_every_truncation_is_a_miss_then_rewritten);
    tcase_add_test(tests, test_dcache_trailing_bytes_are_a_miss_then_rewritten);
    tcase_add_test(tests, test_dcache_entry_of_another_key_is_a_miss_then_rewritten);
    tcase_add_test(tests, test_dcache_same_digest_of_another_echo_is_a_miss);
    tcase_add_test(tests, test_dcache_read_only_folders_come_first_and_stay_as_they_are);
    tcase_add_test(tests, test_dcache_bad_read_only_entry_stays_and_the_next_layer_serves);
    tcase_add_test(tests, test_dcache_missing_read_only_folder_is_no_warning);
    tcase_add_test(tests, test_dcache_remove_drops_one_entry);
    tcase_add_test(tests, test_dcache_folder_removed_while_in_use_is_made_again);
    tcase_add_test(tests, test_dcache_iterate_lists_verifies_and_removes);
    tcase_add_test(tests, test_dcache_iterate_names_what_is_wrong);
    suite_add_tcase(suite, tests);
    return util_run(suite);
}
