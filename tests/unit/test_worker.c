/* SPDX-License-Identifier: MIT */
/* The worker provider against helpers that crash, hang and lie, and the protocol itself. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"
#include "compiler_setup.h"
#include "fault.h"
#include "worker_wire.h"

static char folder[] = "/tmp/mxg-test-worker-XXXXXX";
static char fake_path[1024], counter_path[128];

static void setup(void)
{
    snprintf(fake_path, sizeof fake_path, "%s", setup_fake_worker());
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(counter_path, sizeof counter_path, "%s/starts", folder);
    setenv("MXG_FAKE_COUNTER", counter_path, 1);
    setenv("TMPDIR", folder, 1);
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        count += e->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

/* Nothing may be left of any helper: no child, no file of its own. */
static void teardown(void)
{
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    unlink(counter_path);
    ck_assert_uint_eq(count_entries(folder), 0);
    rmdir(folder);
}

static long starts(void)
{
    struct stat st;
    return stat(counter_path, &st) == 0 ? (long)st.st_size : 0;
}

static struct compiler_config fake_config(const char *mode, uint64_t timeout_ms)
{
    struct compiler_config config = setup_config("worker");
    config.rocm_path = NULL;
    config.rocm_prefix = NULL;
    config.worker_path = fake_path;
    config.timeout_ms = timeout_ms;
    setenv("MXG_FAKE_MODE", mode, 1);
    return config;
}

static struct compiler *open_fake(const char *mode, uint64_t timeout_ms)
{
    struct compiler_config config = fake_config(mode, timeout_ms);
    struct compiler *compiler;
    mxg_status status = compiler_open(&config, &compiler);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    return compiler;
}

static mxg_status compile_text(struct compiler *compiler, const char *source,
                               struct compile_result *result)
{
    struct compile_request request = setup_request(source, "gfx950");
    return compiler_compile(compiler, &request, result);
}

static void expect_good(struct compiler *compiler, const char *source)
{
    struct compile_result result;
    mxg_status status = compile_text(compiler, source, &result);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    ck_assert_uint_eq(result.code_size, strlen(source));
    size_t wrong = 0;
    for (size_t i = 0; i < result.code_size; i++) {
        const uint8_t expected = (uint8_t)(0xff - (uint8_t)source[i]);
        wrong += ((uint8_t *)result.code)[i] != expected;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_str_eq(result.log, "a warning");
    compile_result_free(&mem_default, &result);
}

static void expect_failure(struct compiler *compiler, mxg_status expected, const char *text)
{
    struct compile_result result;
    mxg_status status = compile_text(compiler, "source", &result);
    ck_assert_msg(status == expected, "%s: %s", mxg_status_name(status), mxg_last_error());
    ck_assert_ptr_null(result.code);
    ck_assert_ptr_null(result.log);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

static void expect_no_open(const char *mode, uint64_t timeout_ms, mxg_status expected,
                           const char *text)
{
    struct compiler_config config = fake_config(mode, timeout_ms);
    struct compiler *compiler;
    mxg_status status = compiler_open(&config, &compiler);
    ck_assert_msg(status == expected, "%s: %s", mxg_status_name(status), mxg_last_error());
    ck_assert_ptr_null(compiler);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "\"%s\" lacks \"%s\"",
                  mxg_last_error(), text);
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---------------------------------------------------------------- protocol */

START_TEST(test_wire_fields_round_trip)
{
    struct wire_writer w = { &mem_default, NULL, 0, 0, false };
    size_t size;
    wire_put_u32(&w, 0xdeadbeef);
    wire_put_text(&w, "");
    wire_put_text(&w, "text");
    wire_put_block(&w, "a\0b", 3);
    ck_assert(!w.failed);
    struct wire_reader r = { w.bytes, w.size, 0, false };
    ck_assert_uint_eq(wire_get_u32(&r), 0xdeadbeef);
    char *empty = wire_get_text(&r, &mem_default), *text = wire_get_text(&r, &mem_default);
    ck_assert_str_eq(empty, "");
    ck_assert_str_eq(text, "text");
    const uint8_t *block = wire_get_block(&r, &size);
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(block, "a\0b", 3);
    ck_assert(wire_reader_done(&r));
    mem_free(&mem_default, empty);
    mem_free(&mem_default, text);
    for (size_t n = 0; n < w.size; n++) { /* each truncation is noticed */
        struct wire_reader cut = { w.bytes, n, 0, false };
        wire_get_u32(&cut);
        mem_free(&mem_default, wire_get_text(&cut, &mem_default));
        mem_free(&mem_default, wire_get_text(&cut, &mem_default));
        wire_get_block(&cut, &size);
        ck_assert(!wire_reader_done(&cut));
        ck_assert(cut.failed);
        ck_assert_uint_eq(wire_get_u32(&cut), 0);
    }
    wire_writer_free(&w);
}
END_TEST

START_TEST(test_wire_deadline_and_closed_peer)
{
    int pair[2];
    uint8_t *payload;
    size_t size;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    double start = seconds();
    ck_assert_int_eq(wire_receive(pair[0], &mem_default, WIRE_HELLO, &payload, &size,
                                  wire_deadline(50)), WIRE_TIMEOUT);
    ck_assert(seconds() - start >= 0.045 && seconds() - start < 5.0);
    /* Nobody reads: a message larger than the socket's buffer meets the deadline too. */
    uint8_t *large = calloc(1, 8 << 20);
    ck_assert_ptr_nonnull(large);
    ck_assert_int_eq(wire_send(pair[0], WIRE_HELLO, large, 8 << 20, wire_deadline(50)),
                     WIRE_TIMEOUT);
    free(large);
    close(pair[1]);
    ck_assert_int_eq(wire_send(pair[0], WIRE_HELLO, "x", 1, WIRE_NO_DEADLINE), WIRE_CLOSED);
    ck_assert_int_eq(wire_receive(pair[0], &mem_default, WIRE_HELLO, &payload, &size,
                                  WIRE_NO_DEADLINE), WIRE_CLOSED);
    ck_assert_ptr_null(payload);
    close(pair[0]);
}
END_TEST

START_TEST(test_wire_refuses_wrong_type_and_magic)
{
    int pair[2];
    uint8_t *payload;
    size_t size;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    wire_send(pair[1], WIRE_RESULT, "abc", 3, WIRE_NO_DEADLINE);
    ck_assert_int_eq(wire_receive(pair[0], &mem_default, WIRE_HELLO, &payload, &size,
                                  wire_deadline(1000)), WIRE_GARBAGE);
    close(pair[0]);
    close(pair[1]);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(send(pair[1], "sixteen bytes ok", 16, 0), 16);
    ck_assert_int_eq(wire_receive(pair[0], &mem_default, WIRE_HELLO, &payload, &size,
                                  wire_deadline(1000)), WIRE_GARBAGE);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* ------------------------------------------------------------ good helpers */

START_TEST(test_worker_keeps_one_helper)
{
    struct compiler *c = open_fake("good", 0);
    ck_assert_str_eq(compiler_name(c), "worker:comgr");
    ck_assert_ptr_nonnull(strstr(compiler_identity(c), "fake 1.0"));
    for (int i = 0; i < 5; i++) {
        expect_good(c, "some source");
    }
    ck_assert_int_eq(starts(), 1);
    ck_assert_uint_eq(compiler_restarts(c), 0);
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_carries_large_sources)
{
    size_t size = 6 << 20;
    char *source = malloc(size + 1);
    ck_assert_ptr_nonnull(source);
    memset(source, 's', size);
    source[size] = '\0';
    struct compiler *c = open_fake("good", 0);
    expect_good(c, source);
    compiler_close(c);
    free(source);
}
END_TEST

START_TEST(test_worker_output_of_the_compiler_is_kept_apart)
{
    struct compiler *c = open_fake("noise", 0);
    for (int i = 0; i < 3; i++) {
        expect_good(c, "source");
    }
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_compile_error_is_passed_on)
{
    struct compiler *c = open_fake("compile-error", 0);
    expect_failure(c, MXG_E_COMPILE, "kernel.hip:7:3: error: fake");
    expect_failure(c, MXG_E_COMPILE, "kernel.hip:7:3: error: fake");
    ck_assert_int_eq(starts(), 1); /* the helper is fine, the source was not */
    compiler_close(c);
}
END_TEST

static void *compile_many(void *compiler)
{
    for (int i = 0; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof text, "source %d of %lu", i, (unsigned long)pthread_self());
        expect_good(compiler, text);
    }
    return NULL;
}

START_TEST(test_worker_serves_threads)
{
    struct compiler *c = open_fake("good", 0);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_many, c), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(starts(), 1);
    compiler_close(c);
}
END_TEST

/* ------------------------------------------------------------- bad helpers */

START_TEST(test_worker_crash_is_retried_once)
{
    struct compiler *c = open_fake("crash-once", 0);
    setup_log_text();
    expect_good(c, "source");
    ck_assert_int_eq(starts(), 2);
    ck_assert_uint_eq(compiler_restarts(c), 1);
    const char *log = setup_log_text();
    ck_assert_msg(strstr(log, "SIGABRT") != NULL, "log: %s", log);
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_crash_tells_signal_and_last_words)
{
    struct compiler *c = open_fake("crash", 0);
    expect_failure(c, MXG_E_WORKER, "signal 6 (SIGABRT)");
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "fake compiler: assertion failed"));
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "while compiling \"kernel\""));
    ck_assert_int_eq(starts(), 2);
    setenv("MXG_FAKE_MODE", "good", 1); /* the next request starts a new one */
    expect_good(c, "source");
    ck_assert_uint_eq(compiler_restarts(c), 2);
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_lies_are_errors)
{
    static const struct { const char *mode, *text; } cases[] = {
        { "exit-3", "exit code 3" },          { "garbage", "malformed message" },
        { "huge-length", "malformed" },       { "cut-answer", "exit code 5" },
        { "bad-status", "malformed message" }, { "extra-bytes", "malformed message" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct compiler *c = open_fake(cases[i].mode, 0);
        expect_failure(c, MXG_E_WORKER, cases[i].text);
        setenv("MXG_FAKE_MODE", "good", 1);
        expect_good(c, "source");
        compiler_close(c);
    }
}
END_TEST

START_TEST(test_worker_hang_is_killed_at_the_deadline)
{
    struct compiler *c = open_fake("hang", 300);
    double start = seconds();
    expect_failure(c, MXG_E_WORKER, "no answer within 300 ms");
    ck_assert(seconds() - start >= 0.29 && seconds() - start < 5.0);
    ck_assert_int_eq(starts(), 1); /* a second wait would double the caller's */
    setenv("MXG_FAKE_MODE", "good", 1);
    expect_good(c, "source");
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_close_ends_a_helper_that_ignores_it)
{
    struct compiler *c = open_fake("good", 0);
    double start = seconds();
    compiler_close(c);
    ck_assert(seconds() - start < 2.0);
}
END_TEST

START_TEST(test_worker_start_failures_tell_why)
{
    expect_no_open("crash-at-start", 0, MXG_E_WORKER, "SIGABRT");
    expect_no_open("hello-cut", 0, MXG_E_WORKER, "malformed");
    expect_no_open("wrong-protocol", 0, MXG_E_WORKER, "protocol 99");
    expect_no_open("hello-error", 0, MXG_E_NO_COMPILER, "libfake.so lacks everything");
    expect_no_open("silent", 200, MXG_E_WORKER, "no answer within 200 ms");
    snprintf(fake_path, sizeof fake_path, "/nowhere/mxgemm-cc");
    expect_no_open("good", 0, MXG_E_NO_COMPILER, "/nowhere/mxgemm-cc");
    snprintf(fake_path, sizeof fake_path, "%s", counter_path);
    FILE *file = fopen(counter_path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("not a program\n", file);
    fclose(file);
    chmod(counter_path, 0700);
    expect_no_open("good", 0, MXG_E_WORKER, "cannot be started");
}
END_TEST

/* A folder that looks like an installed ROCm, so that the identity comes from a file. */
START_TEST(test_worker_identity_from_files_is_checked_at_the_first_compile)
{
    char lib[160], link[200];
    snprintf(lib, sizeof lib, "%s/lib", folder);
    snprintf(link, sizeof link, "%s/libamd_comgr.so.3", lib);
    mkdir(lib, 0700);
    ck_assert_int_eq(symlink(fake_path, link), 0); /* any ELF file with a dynamic section */
    struct compiler_config config = fake_config("good", 0);
    struct compiler *c;
    config.rocm_path = folder;
    ck_assert_msg(compiler_open(&config, &c) == MXG_OK, "%s", mxg_last_error());
    ck_assert_int_eq(starts(), 0); /* told without starting the helper */
    const char *identity = strstr(compiler_identity(c), "libamd_comgr.so.3=");
    ck_assert_ptr_nonnull(identity);
    expect_failure(c, MXG_E_WORKER, "the compiler changed while it was in use");
    ck_assert_int_eq(starts(), 1);
    char told[512];
    snprintf(told, sizeof told, "fake %.*s", (int)strcspn(identity, " "), identity);
    setenv("MXG_FAKE_IDENTITY", told, 1);
    expect_good(c, "source");
    compiler_close(c);
    unsetenv("MXG_FAKE_IDENTITY");
    unlink(link);
    rmdir(lib);
}
END_TEST

/* A helper started again must be the same compiler. */
START_TEST(test_worker_other_identity_after_a_restart_is_refused)
{
    struct compiler *c = open_fake("crash-once", 0);
    setenv("MXG_FAKE_IDENTITY", "fake 2.0", 1);
    expect_failure(c, MXG_E_WORKER, "fake 2.0");
    unsetenv("MXG_FAKE_IDENTITY");
    compiler_close(c);
}
END_TEST

/* ---------------------------------------------------------------- the host */

static size_t count_fds(void)
{
    return count_entries("/proc/self/fd");
}

START_TEST(test_worker_leaves_the_host_as_it_was)
{
    struct sigaction before[NSIG], after;
    sigset_t mask_before, mask_after;
    char cwd_before[1024], cwd_after[1024];
    size_t fds = count_fds();
    memset(before, 0, sizeof before);
    for (int s = 1; s < NSIG; s++) {
        sigaction(s, NULL, &before[s]);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    ck_assert_ptr_nonnull(getcwd(cwd_before, sizeof cwd_before));
    struct compiler *c = open_fake("crash-once", 0);
    expect_good(c, "source");
    compiler_close(c);
    expect_no_open("crash-at-start", 0, MXG_E_WORKER, "SIGABRT");
    for (int s = 1; s < NSIG; s++) {
        memset(&after, 0, sizeof after);
        sigaction(s, NULL, &after);
        ck_assert_msg(before[s].sa_handler == after.sa_handler, "signal %d", s);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    for (int s = 1; s < NSIG; s++) {
        ck_assert_int_eq(sigismember(&mask_before, s), sigismember(&mask_after, s));
    }
    ck_assert_ptr_nonnull(getcwd(cwd_after, sizeof cwd_after));
    ck_assert_str_eq(cwd_before, cwd_after);
    ck_assert_uint_eq(count_fds(), fds);
}
END_TEST

/* Its default action would end this process. */
START_TEST(test_worker_killed_between_requests_raises_no_sigpipe)
{
    char path[64];
    long child = 0;
    signal(SIGPIPE, SIG_DFL);
    struct compiler *c = open_fake("good", 0);
    expect_good(c, "source");
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld", &child), 1);
    fclose(file);
    kill((pid_t)child, SIGKILL);
    usleep(50000);
    expect_good(c, "source");
    ck_assert_uint_eq(compiler_restarts(c), 1);
    compiler_close(c);
}
END_TEST

START_TEST(test_worker_host_that_ignores_its_children)
{
    signal(SIGCHLD, SIG_IGN); /* the kernel reaps; waitid finds nothing */
    struct compiler *c = open_fake("crash-once", 0);
    expect_good(c, "source");
    compiler_close(c);
    signal(SIGCHLD, SIG_DFL);
}
END_TEST

START_TEST(test_worker_closed_standard_descriptors)
{
    int kept[3];
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
    struct compiler_config config = fake_config("noise", 0);
    struct compiler *c = NULL;
    struct compile_result result;
    mxg_status opened = compiler_open(&config, &c);
    mxg_status compiled = opened == MXG_OK ? compile_text(c, "source", &result) : opened;
    compiler_close(c);
    for (int fd = 0; fd < 3; fd++) {
        if (kept[fd] >= 0) {
            dup2(kept[fd], fd);
            close(kept[fd]);
        }
    }
    ck_assert_msg(compiled == MXG_OK, "%s", mxg_last_error());
    compile_result_free(&mem_default, &result);
}
END_TEST

START_TEST(test_worker_forked_child_leaves_the_helper_alone)
{
    struct compiler *c = open_fake("good", 0);
    expect_good(c, "source");
    pid_t child = fork();
    if (child == 0) {
        struct compile_result result;
        mxg_status status = compile_text(c, "source", &result);
        compiler_close(c);
        _exit(status == MXG_E_FORKED ? 0 : 1);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    expect_good(c, "source");
    ck_assert_int_eq(starts(), 1);
    compiler_close(c);
}
END_TEST

#ifdef MXG_FAULT_INJECTION
START_TEST(test_worker_every_failed_allocation_is_reported)
{
    long n = 0;
    for (;; n++) {
        struct compiler_config config = fake_config("good", 0);
        struct compiler *c = NULL;
        struct compile_result result = { NULL, 0, NULL };
        fault_arm(FAULT_ALLOC, n);
        mxg_status status = compiler_open(&config, &c);
        if (status == MXG_OK) {
            status = compile_text(c, "source", &result);
        }
        bool fired = fault_fired() > 0;
        fault_disarm();
        ck_assert_msg(status == MXG_OK || status == MXG_E_HOST_MEMORY, "n = %ld: %s", n,
                      mxg_last_error());
        ck_assert(fired == (status != MXG_OK));
        compile_result_free(&mem_default, &result);
        compiler_close(c);
        if (!fired) {
            break;
        }
        ck_assert_int_lt(n, 200);
    }
    ck_assert_int_gt(n, 5);
}
END_TEST

START_TEST(test_worker_failed_start_is_reported)
{
    struct compiler_config config = fake_config("good", 0);
    struct compiler *c = NULL;
    fault_arm(FAULT_SPAWN, 0);
    ck_assert_int_eq(compiler_open(&config, &c), MXG_E_WORKER);
    fault_disarm();
    ck_assert_ptr_nonnull(strstr(mxg_last_error(), "cannot be started"));
}
END_TEST
#endif

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, test_worker_keeps_one_helper);
    tcase_add_test(tc, test_worker_carries_large_sources);
    tcase_add_test(tc, test_worker_output_of_the_compiler_is_kept_apart);
    tcase_add_test(tc, test_worker_compile_error_is_passed_on);
    tcase_add_test(tc, test_worker_serves_threads);
    tcase_add_test(tc, test_worker_crash_is_retried_once);
    tcase_add_test(tc, test_worker_crash_tells_signal_and_last_words);
    tcase_add_test(tc, test_worker_lies_are_errors);
    tcase_add_test(tc, test_worker_hang_is_killed_at_the_deadline);
    tcase_add_test(tc, test_worker_close_ends_a_helper_that_ignores_it);
    tcase_add_test(tc, test_worker_start_failures_tell_why);
    tcase_add_test(tc, test_worker_identity_from_files_is_checked_at_the_first_compile);
    tcase_add_test(tc, test_worker_other_identity_after_a_restart_is_refused);
    tcase_add_test(tc, test_worker_leaves_the_host_as_it_was);
    tcase_add_test(tc, test_worker_killed_between_requests_raises_no_sigpipe);
    tcase_add_test(tc, test_worker_host_that_ignores_its_children);
    tcase_add_test(tc, test_worker_closed_standard_descriptors);
    tcase_add_test(tc, test_worker_forked_child_leaves_the_helper_alone);
#ifdef MXG_FAULT_INJECTION
    tcase_add_test(tc, test_worker_every_failed_allocation_is_reported);
    tcase_add_test(tc, test_worker_failed_start_is_reported);
#endif
}

int main(void)
{
    Suite *suite = suite_create("worker");
    TCase *wire = tcase_create("wire"), *tc = tcase_create("worker");
    tcase_add_test(wire, test_wire_fields_round_trip);
    tcase_add_test(wire, test_wire_deadline_and_closed_peer);
    tcase_add_test(wire, test_wire_refuses_wrong_type_and_magic);
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    add_tests(tc);
    suite_add_tcase(suite, wire);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
