/* SPDX-License-Identifier: MIT */
/* The entry format and the keys: bytes only, no files. */
#include "dcache_fmt.h"
#include "dcache_util.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char payload[5] = { 0x7f, 'E', 'L', 'F', 2 };

/* Encode an entry of this echo, these pairs and the payload above. */
static unsigned char *encode(const char *echo, const struct dcache_pair *pairs, size_t count,
                             struct dcache_fmt_layout *layout)
{
    static unsigned char digest[DCACHE_KEY_BYTES];
    dcache_fmt_digest(echo, strlen(echo), digest);
    const struct dcache_fmt_parts parts = { digest,         (const unsigned char *)echo,
                                            strlen(echo),   pairs,
                                            count,          payload,
                                            sizeof(payload) };
    ck_assert_int_eq(dcache_fmt_measure(&parts, layout), DCACHE_OK);
    unsigned char *file = malloc(layout->file_size);
    ck_assert_ptr_nonnull(file);
    dcache_fmt_encode(&parts, layout, file);
    return file;
}

/* The document's worked example: a reader in another language can check itself against it. */
START_TEST(test_dcache_fmt_bytes_are_as_documented)
{
    static const unsigned char head[80] = {
        'M', 'X', 'G', 'C', '\r', '\n', 0x1a, '\n', /* magic */
        1, 0, 0, 0,                                 /* version */
        96, 0, 0, 0,                                /* header bytes */
        /* XXH3-128 of the empty input, canonical; published in xxHash's specification. */
        0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8, 0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d,
        0x49, 0x7f, 133, 0, 0, 0, 0, 0, 0, 0, /* file */
        0, 0, 0, 0, 0, 0, 0, 0,               /* echo */
        4, 0, 0, 0, 0, 0, 0, 0,               /* metadata */
        5, 0, 0, 0, 0, 0, 0, 0,               /* payload */
        128, 0, 0, 0, 0, 0, 0, 0,             /* payload offset */
        1, 0, 0, 0,                           /* pairs */
        0, 0, 0, 0                            /* reserved */
    };
    const struct dcache_pair pair = { "a", "b" };
    struct dcache_fmt_layout layout;
    unsigned char *file = encode("", &pair, 1, &layout);
    ck_assert_uint_eq(layout.file_size, 133);
    ck_assert_mem_eq(file, head, sizeof(head));
    ck_assert_mem_eq(file + 96, "a=b", 4);
    for (size_t i = 100; i < 128; i++) {
        ck_assert_uint_eq(file[i], 0);
    }
    ck_assert_mem_eq(file + 128, payload, sizeof(payload));
    ck_assert_int_eq(dcache_fmt_decode(file, layout.file_size, &layout), DCACHE_OK);
    /* The checksum is the digest of all bytes but its own. */
    unsigned char rest[133 - 16];
    unsigned char sum[16];
    memcpy(rest, file, 80);
    memcpy(rest + 80, file + 96, sizeof(rest) - 80);
    dcache_fmt_digest(rest, sizeof(rest), sum);
    ck_assert_mem_eq(file + 80, sum, sizeof(sum));
    free(file);
}
END_TEST

START_TEST(test_dcache_fmt_pairs_come_back)
{
    const struct dcache_pair pairs[] = { { "compiler", "comgr 3.0" },
                                         { "empty", "" },
                                         { "log", "line 1\nline=2\n" } };
    struct dcache_pair got[3];
    struct dcache_fmt_layout layout;
    unsigned char *file = encode("an echo", pairs, 3, &layout);
    ck_assert_int_eq(dcache_fmt_decode(file, layout.file_size, &layout), DCACHE_OK);
    ck_assert_uint_eq(layout.pair_count, 3);
    ck_assert_int_eq(
        dcache_fmt_split_pairs(file + layout.metadata_offset, layout.metadata_size, got, 3),
        DCACHE_OK);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(got[i].name, pairs[i].name);
        ck_assert_str_eq(got[i].value, pairs[i].value);
    }
    free(file);
}
END_TEST

START_TEST(test_dcache_fmt_every_flip_and_length_is_refused)
{
    const struct dcache_pair pair = { "arch", "gfx950" };
    struct dcache_fmt_layout layout;
    struct dcache_fmt_layout got;
    unsigned char *file = encode("some echo", &pair, 1, &layout);
    for (size_t i = 0; i < layout.file_size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            file[i] ^= (unsigned char)(1u << bit);
            const enum dcache_result result = dcache_fmt_decode(file, layout.file_size, &got);
            ck_assert_msg(result >= DCACHE_BAD_LENGTH, "byte %zu bit %u: %s", i, bit,
                          dcache_result_name(result));
            file[i] ^= (unsigned char)(1u << bit);
        }
    }
    for (size_t size = 0; size < layout.file_size; size++) {
        /* A copy of just that size lets a sanitizer see a read past the end. */
        unsigned char *part = malloc(size + 1);
        ck_assert_ptr_nonnull(part);
        part = realloc(part, size == 0 ? 1 : size);
        memcpy(part, file, size);
        ck_assert_int_eq(dcache_fmt_decode(part, size, &got), DCACHE_BAD_LENGTH);
        free(part);
    }
    free(file);
}
END_TEST

START_TEST(test_dcache_fmt_key_is_compared_in_full)
{
    static const unsigned char echo[] = "some echo!";
    struct dcache_fmt_layout layout;
    unsigned char digest[DCACHE_KEY_BYTES];
    unsigned char *file = encode("some echo", NULL, 0, &layout);
    memcpy(digest, dcache_fmt_digest_of(file), sizeof(digest));
    ck_assert(dcache_fmt_is_of_key(file, &layout, digest, echo, 9));
    ck_assert(!dcache_fmt_is_of_key(file, &layout, digest, echo, 10));
    ck_assert(!dcache_fmt_is_of_key(file, &layout, digest, echo, 8));
    ck_assert(!dcache_fmt_is_of_key(file, &layout, digest, echo, 0));
    ck_assert(!dcache_fmt_is_of_key(file, &layout, digest, echo + 1, 9));
    digest[15] ^= 1;
    ck_assert(!dcache_fmt_is_of_key(file, &layout, digest, echo, 9));
    free(file);
}
END_TEST

struct damage {
    size_t at;
    unsigned char value;
    enum dcache_result result;
};

/* One byte changed and the checksum made right again: the rules behind the checksum hold too.
 */
static const struct damage damages[] = {
    { 0, 'N', DCACHE_BAD_MAGIC },     { 7, 0, DCACHE_BAD_MAGIC },
    { 8, 2, DCACHE_BAD_VERSION },     { 11, 1, DCACHE_BAD_VERSION },
    { 12, 95, DCACHE_BAD_LENGTH },    { 16, 0, DCACHE_BAD_KEY },
    { 32, 134, DCACHE_BAD_LENGTH },   { 39, 1, DCACHE_BAD_LENGTH },
    { 40, 1, DCACHE_BAD_METADATA },   { 47, 0xff, DCACHE_BAD_LENGTH },
    { 48, 3, DCACHE_BAD_METADATA },   { 55, 0xff, DCACHE_BAD_LENGTH },
    { 56, 4, DCACHE_BAD_LENGTH },     { 63, 0xff, DCACHE_BAD_LENGTH },
    { 64, 127, DCACHE_BAD_LENGTH },   { 71, 1, DCACHE_BAD_LENGTH },
    { 72, 0, DCACHE_BAD_METADATA },   { 72, 2, DCACHE_BAD_METADATA },
    { 73, 2, DCACHE_BAD_LENGTH },     { 76, 1, DCACHE_BAD_LENGTH },
    { 96, 'A', DCACHE_BAD_METADATA }, { 96, 0, DCACHE_BAD_METADATA },
    { 96, '=', DCACHE_BAD_METADATA }, { 97, 0, DCACHE_BAD_METADATA },
    { 98, 0, DCACHE_BAD_METADATA },   { 99, 'c', DCACHE_BAD_METADATA },
    { 100, 1, DCACHE_BAD_LENGTH },    { 127, 1, DCACHE_BAD_LENGTH },
};

START_TEST(test_dcache_fmt_sealed_damage_is_named)
{
    const struct damage *damage = &damages[_i];
    const struct dcache_pair pair = { "a", "b" };
    struct dcache_fmt_layout layout;
    unsigned char *file = encode("", &pair, 1, &layout);
    ck_assert_uint_ne(file[damage->at], damage->value);
    file[damage->at] = damage->value;
    dcache_fmt_seal(file, layout.file_size);
    const enum dcache_result result = dcache_fmt_decode(file, layout.file_size, &layout);
    ck_assert_msg(result == damage->result, "byte %zu = %u: %s, expected %s", damage->at,
                  damage->value, dcache_result_name(result),
                  dcache_result_name(damage->result));
    free(file);
}
END_TEST

START_TEST(test_dcache_fmt_pairs_that_break_a_rule_are_refused)
{
    char name[DCACHE_MAX_PAIR_NAME + 2];
    char *value = malloc(DCACHE_MAX_METADATA_BYTES + 1);
    ck_assert_ptr_nonnull(value);
    memset(name, 'n', sizeof(name));
    name[DCACHE_MAX_PAIR_NAME + 1] = '\0';
    memset(value, 'v', DCACHE_MAX_METADATA_BYTES);
    value[DCACHE_MAX_METADATA_BYTES] = '\0';
    const struct {
        struct dcache_pair pair;
        enum dcache_result result;
    } rows[] = {
        { { "", "v" }, DCACHE_INVALID },          { { "A", "v" }, DCACHE_INVALID },
        { { "a=b", "v" }, DCACHE_INVALID },       { { "a b", "v" }, DCACHE_INVALID },
        { { NULL, "v" }, DCACHE_INVALID },        { { "a", NULL }, DCACHE_INVALID },
        { { name, "v" }, DCACHE_INVALID },        { { name + 1, "v" }, DCACHE_OK },
        { { "a", value }, DCACHE_TOO_LARGE },     { { "a", value + 3 }, DCACHE_OK },
        { { "a", value + 2 }, DCACHE_TOO_LARGE },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char digest[DCACHE_KEY_BYTES] = { 0 };
        struct dcache_fmt_layout layout;
        const struct dcache_fmt_parts parts = { digest, NULL, 0, &rows[i].pair, 1, NULL, 0 };
        ck_assert_msg(dcache_fmt_measure(&parts, &layout) == rows[i].result, "row %zu", i);
    }
    free(value);
}
END_TEST

START_TEST(test_dcache_fmt_sizes_over_the_limits_are_refused)
{
    unsigned char digest[DCACHE_KEY_BYTES] = { 0 };
    struct dcache_fmt_layout layout;
    struct dcache_fmt_parts parts = {
        digest, NULL, DCACHE_MAX_ECHO_BYTES + 1, NULL, 0, NULL, 0
    };
    ck_assert_int_eq(dcache_fmt_measure(&parts, &layout), DCACHE_TOO_LARGE);
    parts.echo_size = 0;
    parts.payload_size = DCACHE_MAX_PAYLOAD_BYTES + 1;
    ck_assert_int_eq(dcache_fmt_measure(&parts, &layout), DCACHE_TOO_LARGE);
    parts.payload_size = SIZE_MAX;
    ck_assert_int_eq(dcache_fmt_measure(&parts, &layout), DCACHE_TOO_LARGE);
    parts.payload_size = 0;
    parts.pair_count = DCACHE_MAX_PAIRS + 1;
    ck_assert_int_eq(dcache_fmt_measure(&parts, &layout), DCACHE_TOO_LARGE);
}
END_TEST

/* ----------------------------------------------------------------- keys */

static void digest_of(const char *tag1, const char *text1, const char *tag2, const char *text2,
                      unsigned char digest[DCACHE_KEY_BYTES])
{
    struct dcache_key key;
    dcache_key_begin(&key, &util_memory);
    dcache_key_text(&key, tag1, text1);
    dcache_key_text(&key, tag2, text2);
    ck_assert_int_eq(dcache_key_end(&key), DCACHE_OK);
    memcpy(digest, key.digest, DCACHE_KEY_BYTES);
    dcache_key_release(&key);
}

START_TEST(test_dcache_key_fields_do_not_run_into_each_other)
{
    static const char *const fields[][4] = {
        { "a", "bc", "d", "e" }, { "a", "b", "cd", "e" },  { "ab", "c", "d", "e" },
        { "d", "e", "a", "bc" }, { "a", "bc", "d", "" },   { "a", "", "d", "bce" },
        { "a", "bcd", "e", "" }, { "a", "bc", "d", "e " }, { "A", "bc", "d", "e" },
    };
    enum { COUNT = sizeof(fields) / sizeof(fields[0]) };
    unsigned char digests[COUNT][DCACHE_KEY_BYTES];
    for (size_t i = 0; i < COUNT; i++) {
        digest_of(fields[i][0], fields[i][1], fields[i][2], fields[i][3], digests[i]);
        for (size_t j = 0; j < i; j++) {
            ck_assert_mem_ne(digests[i], digests[j], DCACHE_KEY_BYTES);
        }
    }
    unsigned char again[DCACHE_KEY_BYTES];
    digest_of("a", "bc", "d", "e", again);
    ck_assert_mem_eq(again, digests[0], DCACHE_KEY_BYTES);
}
END_TEST

START_TEST(test_dcache_key_echo_is_as_documented)
{
    static const unsigned char echo[] = { 6, 'f', 'o', 'r', 'm', 'a', 't', 1,   0,   0,   0,
                                          0, 0,   0,   0,   1,   4,   'a', 'r', 'c', 'h', 3,
                                          0, 0,   0,   0,   0,   0,   0,   'x', 'y', 'z' };
    unsigned char digest[DCACHE_KEY_BYTES];
    char hex[DCACHE_HEX_SIZE];
    struct dcache_key key;
    dcache_key_begin(&key, NULL);
    dcache_key_text(&key, "arch", "xyz");
    ck_assert_int_eq(dcache_key_end(&key), DCACHE_OK);
    ck_assert_uint_eq(key.echo_size, sizeof(echo));
    ck_assert_mem_eq(key.echo, echo, sizeof(echo));
    dcache_fmt_digest(echo, sizeof(echo), digest);
    ck_assert_mem_eq(key.digest, digest, sizeof(digest));
    dcache_key_hex(&key, hex);
    ck_assert_uint_eq(strlen(hex), 32);
    ck_assert_uint_eq(strtoul((char[3]){ hex[0], hex[1], 0 }, NULL, 16), digest[0]);
    ck_assert_uint_eq(strtoul(hex + 30, NULL, 16), digest[15]);
    dcache_key_release(&key);
}
END_TEST

START_TEST(test_dcache_key_errors_are_kept_until_the_end)
{
    char tag[66];
    struct dcache_key key;
    memset(tag, 't', sizeof(tag));
    tag[65] = '\0';
    const struct {
        const char *tag;
        const void *bytes;
        size_t size;
        enum dcache_result result;
    } rows[] = {
        { "", "x", 1, DCACHE_INVALID },
        { NULL, "x", 1, DCACHE_INVALID },
        { tag, "x", 1, DCACHE_INVALID },
        { "t", NULL, 1, DCACHE_INVALID },
        { "t", "x", SIZE_MAX, DCACHE_TOO_LARGE },
        { "t", "x", DCACHE_MAX_ECHO_BYTES, DCACHE_TOO_LARGE },
        { tag + 1, "x", 1, DCACHE_OK },
        { "t", NULL, 0, DCACHE_OK },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        dcache_key_begin(&key, &util_memory);
        dcache_key_field(&key, rows[i].tag, rows[i].bytes, rows[i].size);
        dcache_key_text(&key, "later", "text");
        ck_assert_msg(dcache_key_end(&key) == rows[i].result, "row %zu", i);
        dcache_key_release(&key);
        dcache_key_release(&key);
    }
    dcache_key_release(NULL);
}
END_TEST

START_TEST(test_dcache_key_takes_a_large_source_text)
{
    const size_t size = 300000;
    struct dcache_key key;
    unsigned char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    util_payload(1, text, size);
    dcache_key_begin(&key, &util_memory);
    for (int i = 0; i < 5; i++) {
        dcache_key_field(&key, "source", text, size);
    }
    ck_assert_int_eq(dcache_key_end(&key), DCACHE_OK);
    ck_assert_uint_eq(key.echo_size, 16 + 5 * (1 + 6 + 8 + size));
    ck_assert_mem_eq(key.echo + key.echo_size - size, text, size);
    dcache_key_release(&key);
    free(text);
}
END_TEST

START_TEST(test_dcache_result_each_has_a_name_and_a_text)
{
    for (int i = 0; i < DCACHE_RESULT_COUNT; i++) {
        ck_assert_str_ne(dcache_result_name((enum dcache_result)i), "?");
        ck_assert_uint_gt(strlen(dcache_result_text((enum dcache_result)i)), 3);
    }
    ck_assert_str_eq(dcache_result_name(DCACHE_BAD_KEY), "BAD_KEY");
    ck_assert_str_eq(dcache_result_name((enum dcache_result)999), "?");
    ck_assert_str_eq(dcache_result_text((enum dcache_result)(-1)), "?");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dcache_fmt");
    TCase *format = tcase_create("format");
    TCase *keys = tcase_create("keys");
    tcase_add_test(format, test_dcache_fmt_bytes_are_as_documented);
    tcase_add_test(format, test_dcache_fmt_pairs_come_back);
    tcase_add_test(format, test_dcache_fmt_every_flip_and_length_is_refused);
    tcase_add_test(format, test_dcache_fmt_key_is_compared_in_full);
    tcase_add_loop_test(format, test_dcache_fmt_sealed_damage_is_named, 0,
                        (int)(sizeof(damages) / sizeof(damages[0])));
    tcase_add_test(format, test_dcache_fmt_pairs_that_break_a_rule_are_refused);
    tcase_add_test(format, test_dcache_fmt_sizes_over_the_limits_are_refused);
    suite_add_tcase(suite, format);
    tcase_add_checked_fixture(keys, util_setup, util_teardown);
    tcase_add_test(keys, test_dcache_key_fields_do_not_run_into_each_other);
    tcase_add_test(keys, test_dcache_key_echo_is_as_documented);
    tcase_add_test(keys, test_dcache_key_errors_are_kept_until_the_end);
    tcase_add_test(keys, test_dcache_key_takes_a_large_source_text);
    tcase_add_test(keys, test_dcache_result_each_has_a_name_and_a_text);
    suite_add_tcase(suite, keys);
    return util_run(suite);
}
