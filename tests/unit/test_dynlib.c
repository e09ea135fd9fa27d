/* SPDX-License-Identifier: MIT */
/*
 * Opening libraries, resolving symbols, and telling a library's build from
 * memory and from its file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynlib.h"
#include "fault.h"
#include "libfile.h"

struct math_table {
    double (*cosine)(double);
    void (*missing)(void);
    double (*sine)(double);
};

static void expect_text(const char *text)
{
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

START_TEST(test_dynlib_open_names_all_that_was_tried)
{
    const char *const names[] = { "libmxg-none-1.so", "/nowhere/libmxg-none-2.so", NULL };
    const char *const nothing[] = { NULL };
    void *handle = &handle;
    const char *opened = "x";
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, &opened), MXG_E_NO_HIP);
    ck_assert_ptr_null(handle);
    ck_assert_ptr_null(opened);
    expect_text("libmxg-none-1.so: cannot open");
    expect_text("/nowhere/libmxg-none-2.so: cannot open");
    ck_assert_int_eq(dynlib_open(nothing, MXG_E_NO_COMPILER, &handle, NULL), MXG_E_NO_COMPILER);
}
END_TEST

START_TEST(test_dynlib_open_takes_the_first_that_opens)
{
    const char *const names[] = { "libmxg-none-1.so", "libm.so.6", "libc.so.6", NULL };
    void *handle;
    const char *opened;
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, &opened), MXG_OK);
    ck_assert_ptr_eq(opened, names[1]);
    dynlib_close(handle);
    dynlib_close(NULL);
}
END_TEST

START_TEST(test_dynlib_open_of_a_file_that_is_no_library)
{
    const char *const names[] = { "/etc/passwd", NULL };
    void *handle;
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, NULL), MXG_E_NO_HIP);
    expect_text("/etc/passwd");
}
END_TEST

/* libhiprtc and libamdhip64 need static TLS, of which a host may have too little left. */
START_TEST(test_dynlib_open_tells_of_too_little_static_tls)
{
    char path[1024];
    const char *const names[] = { path, NULL };
    const char *top = getenv("abs_top_builddir");
    void *handle;
    snprintf(path, sizeof path, "%s/tests/unit/.libs/libstatic_tls.so",
             top != NULL ? top : ".");
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_COMPILER, &handle, NULL), MXG_E_NO_COMPILER);
    ck_assert_ptr_null(handle);
    expect_text("static TLS");
}
END_TEST

START_TEST(test_dynlib_resolve_names_every_missing_symbol)
{
    static const struct dynlib_symbol symbols[] = {
        { "cos", offsetof(struct math_table, cosine), 0 },
        { "mxg_no_such_a", offsetof(struct math_table, missing), 0 },
        { "mxg_no_such_b", offsetof(struct math_table, missing), 0 },
        { "mxg_no_such_c", offsetof(struct math_table, missing), 1 },
        { "sin", offsetof(struct math_table, sine), 0 },
    };
    const char *const names[] = { "libm.so.6", NULL };
    struct math_table table;
    void *handle;
    memset(&table, 0xff, sizeof table);
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, NULL), MXG_OK);
    ck_assert_int_eq(dynlib_resolve(handle, "libm", symbols, 5, MXG_E_HIP_SYMBOL, &table),
                     MXG_E_HIP_SYMBOL);
    ck_assert_str_eq(mxg_last_error(), "libm lacks mxg_no_such_a, mxg_no_such_b");
    ck_assert_ptr_null((void *)(uintptr_t)table.missing);
    ck_assert(table.cosine(0.0) == 1.0);
    ck_assert(table.sine(0.0) == 0.0);
    ck_assert_int_eq(dynlib_resolve(handle, "libm", symbols + 3, 2, MXG_E_HIP_SYMBOL, &table),
                     MXG_OK);
    dynlib_close(handle);
}
END_TEST

/* The C library's file, its build-id, and the same told from the file. */
START_TEST(test_dynlib_memory_and_file_agree)
{
    char path[1024], id[LIBFILE_BUILD_ID_SIZE], memory[1024], file[1024], expected[1024];
    void *symbol = dlsym(RTLD_DEFAULT, "fopen");
    dynlib_identity(symbol, path, sizeof path, id, sizeof id);
    if (strstr(path, "libc.so") == NULL) {
        return; /* a sanitizer's fopen, or a C library of another name */
    }
    ck_assert_uint_ge(strlen(id), 16);
    ck_assert_uint_eq(strspn(id, "0123456789abcdef"), strlen(id));
    ck_assert(dynlib_closure(symbol, memory, sizeof memory));
    ck_assert(libfile_closure(path, NULL, file, sizeof file));
    ck_assert_str_eq(memory, file);
    snprintf(expected, sizeof expected, "libc.so.6=%s", id);
    ck_assert_str_eq(memory, expected);
    ck_assert(!libfile_closure(path, NULL, file, 12)); /* does not fit */
    ck_assert(!dynlib_closure(symbol, memory, 12));
}
END_TEST

START_TEST(test_dynlib_identity_of_no_library_is_empty)
{
    char path[64], id[64], text[64];
    int on_stack = 0;
    dynlib_identity(&on_stack, path, sizeof path, id, sizeof id);
    ck_assert_str_eq(path, "");
    ck_assert_str_eq(id, "");
    ck_assert(!dynlib_closure(&on_stack, text, sizeof text));
}
END_TEST

START_TEST(test_libfile_build_id_notes_are_bounded)
{
    /*
     * name size 4, descriptor size 5, type 3, "GNU", 5 bytes and padding;
     * another note before it
     */
    static const uint8_t notes[] = {
        4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0,   0,   'G', 'N', 'U',  0,    9,    9,    9,    9, 4, 0,
        0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,   0xab, 0x01, 0xff, 0x10, 0x7e, 0, 0, 0,
    };
    uint8_t damaged[sizeof notes];
    char hex[LIBFILE_BUILD_ID_SIZE];
    libfile_build_id_of_notes(notes, sizeof notes, hex);
    ck_assert_str_eq(hex, "ab01ff107e");
    for (size_t n = 0; n < sizeof notes; n++) {
        uint8_t *exact = malloc(n + 1);
        memcpy(exact, notes, n);
        libfile_build_id_of_notes(exact, n, hex);
        ck_assert_str_eq(hex, "");
        free(exact);
    }
    for (size_t i = 0; i < sizeof notes; i++) {
        memcpy(damaged, notes, sizeof notes);
        damaged[i] ^= 0xff;
        libfile_build_id_of_notes(damaged, sizeof damaged, hex);
        ck_assert_uint_lt(strlen(hex), sizeof hex);
    }
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Its own program file, cut and damaged in its headers. */
START_TEST(test_libfile_damaged_files_are_survived)
{
    char path[] = "/tmp/mxg-test-libfile-XXXXXX", text[1024];
    static uint8_t bytes[1 << 16];
    FILE *self = fopen("/proc/self/exe", "rb");
    ck_assert_ptr_nonnull(self);
    size_t size = fread(bytes, 1, sizeof bytes, self);
    fclose(self);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (size_t n = 0; n < 1024; n += 7) {
        write_file(path, bytes, n);
        ck_assert(!libfile_closure(path, NULL, text, sizeof text));
    }
    for (size_t i = 0; i < 1024; i += 3) {
        bytes[i] ^= 0xff;
        write_file(path, bytes, size);
        libfile_closure(path, NULL, text, sizeof text);
        bytes[i] ^= 0xff;
    }
    unlink(path);
    ck_assert(!libfile_closure(path, NULL, text, sizeof text));
    ck_assert(!libfile_closure("relative-without-slash", NULL, text, sizeof text));
    ck_assert(!libfile_closure("/tmp", NULL, text, sizeof text));
}
END_TEST

START_TEST(test_libfile_without_build_id_tells_size_and_time)
{
    char text[256] = "first=1";
    struct stat st;
    ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
    ck_assert(libfile_append_identity("libx.so", "", &st, text, sizeof text));
    char expected[256];
    snprintf(expected, sizeof expected, "first=1,libx.so=file:%lld:", (long long)st.st_size);
    ck_assert(strncmp(text, expected, strlen(expected)) == 0);
    ck_assert(!libfile_append_identity("liby.so", "", NULL, text, sizeof text));
}
END_TEST

START_TEST(test_libfile_contains_finds_text_across_chunks)
{
    char path[] = "/tmp/mxg-test-libfile-XXXXXX";
    static char bytes[200000];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (size_t at = 65520; at < 65560; at++) {
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes + at, "libamd_comgr.so.3", 17);
        write_file(path, bytes, sizeof bytes);
        ck_assert(libfile_contains(path, "libamd_comgr.so.3"));
        ck_assert(!libfile_contains(path, "libamd_comgr.so.4"));
    }
    unlink(path);
    ck_assert(!libfile_contains(path, "x"));
}
END_TEST

#ifdef MXG_FAULT_INJECTION
START_TEST(test_dynlib_faults_are_reported)
{
    static const struct dynlib_symbol symbols[] = { { "cos", 0, 0 } };
    const char *const names[] = { "libm.so.6", NULL };
    struct math_table table;
    void *handle;
    fault_arm(FAULT_DLOPEN, 0);
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, NULL), MXG_E_NO_HIP);
    expect_text("injected fault");
    fault_arm(FAULT_DLSYM, 0);
    ck_assert_int_eq(dynlib_open(names, MXG_E_NO_HIP, &handle, NULL), MXG_OK);
    ck_assert_int_eq(dynlib_resolve(handle, "libm", symbols, 1, MXG_E_HIP_SYMBOL, &table),
                     MXG_E_HIP_SYMBOL);
    expect_text("cos");
    fault_disarm();
    dynlib_close(handle);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("dynlib");
    TCase *tc = tcase_create("dynlib");
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, test_dynlib_open_names_all_that_was_tried);
    tcase_add_test(tc, test_dynlib_open_takes_the_first_that_opens);
    tcase_add_test(tc, test_dynlib_open_of_a_file_that_is_no_library);
    tcase_add_test(tc, test_dynlib_open_tells_of_too_little_static_tls);
    tcase_add_test(tc, test_dynlib_resolve_names_every_missing_symbol);
    tcase_add_test(tc, test_dynlib_memory_and_file_agree);
    tcase_add_test(tc, test_dynlib_identity_of_no_library_is_empty);
    tcase_add_test(tc, test_libfile_build_id_notes_are_bounded);
    tcase_add_test(tc, test_libfile_damaged_files_are_survived);
    tcase_add_test(tc, test_libfile_without_build_id_tells_size_and_time);
    tcase_add_test(tc, test_libfile_contains_finds_text_across_chunks);
#ifdef MXG_FAULT_INJECTION
    tcase_add_test(tc, test_dynlib_faults_are_reported);
#endif
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
