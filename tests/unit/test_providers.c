/* SPDX-License-Identifier: MIT */
/*
 * The providers with ROCm's real compiler.  Run as it is, this reaches the
 * worker (and comgr and hiprtc where ROCm is installed); under the loader of
 * a ROCm prefix (providers_in_prefix.sh, MXG_TEST_IN_PREFIX=1) all of them.
 * Exits with 77 where there is no compiler.
 */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bake.h"
#include "codeobj.h"
#include "compiler.h"
#include "compiler_setup.h"
#include "fault.h"
#include "select.h"

#define ARCH "gfx950:sramecc+:xnack-"

static const char *const all_providers[] = { "comgr", "hiprtc", "worker:comgr",
                                             "worker:hiprtc" };
#define NUM_PROVIDERS (sizeof all_providers / sizeof all_providers[0])

/* Compilers that open here, opened; NULL where one does not. */
static struct compiler *compilers[NUM_PROVIDERS];

static bool in_prefix(void)
{
    const char *value = getenv("MXG_TEST_IN_PREFIX");
    return value != NULL && strcmp(value, "1") == 0;
}

static void open_all(void)
{
    /* Under the loader the last row is left out: without it, it was compared with the third. */
    for (size_t i = 0; i < (in_prefix() ? NUM_PROVIDERS - 1 : NUM_PROVIDERS); i++) {
        struct compiler_config config = setup_config(all_providers[i]);
        mxg_status status = compiler_open(&config, &compilers[i]);
        /*
         * The workers are why this program runs at all; under the prefix's
         * loader all must open.
         */
        ck_assert_msg(status == MXG_OK ||
                          (status == MXG_E_NO_COMPILER && i < 2 && !in_prefix()),
                      "%s: %s", all_providers[i], mxg_last_error());
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        compiler_close(compilers[i]);
        compilers[i] = NULL;
    }
}

static void compile_good(struct compiler *compiler, const struct compile_request *request,
                         struct compile_result *result)
{
    mxg_status status = compiler_compile(compiler, request, result);
    ck_assert_msg(status == MXG_OK, "%s: %s", compiler_name(compiler), mxg_last_error());
    struct codeobj_kernel kernel;
    status = codeobj_read(result->code, result->code_size, &kernel);
    ck_assert_msg(status == MXG_OK, "%s: %s", compiler_name(compiler), mxg_last_error());
    status = codeobj_check_arch(result->code, result->code_size, request->arch);
    ck_assert_msg(status == MXG_OK, "%s: %s", compiler_name(compiler), mxg_last_error());
}

/* Compile with every provider; all must make the machine code that the first makes. */
static void expect_one_text(const struct compile_request *request)
{
    uint8_t *first = NULL;
    size_t first_size = 0;
    const char *first_name = NULL;
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        struct compile_result result;
        const uint8_t *text;
        size_t size;
        if (compilers[i] == NULL) {
            continue;
        }
        compile_good(compilers[i], request, &result);
        ck_assert_int_eq(codeobj_text(result.code, result.code_size, &text, &size), MXG_OK);
        ck_assert_uint_gt(size, 0);
        if (first == NULL) {
            first = malloc(size);
            ck_assert_ptr_nonnull(first);
            memcpy(first, text, size);
            first_size = size;
            first_name = compiler_name(compilers[i]);
        } else {
            ck_assert_msg(size == first_size && memcmp(first, text, size) == 0,
                          "\"%s\": %s makes %zu bytes of code, %s other %zu", request->name,
                          first_name, first_size, compiler_name(compilers[i]), size);
        }
        compile_result_free(&mem_default, &result);
    }
    free(first);
}

/* ------------------------------------------------------------ same machine code */

START_TEST(test_providers_make_the_same_text)
{
    const struct compile_request requests[] = {
        setup_request(setup_kernel_small, ARCH),
        /* loads whatever the device's features are */
        setup_request(setup_kernel_small, "gfx950"),
        setup_request(setup_kernel_large, ARCH),
    };
    open_all();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        expect_one_text(&requests[i]);
    }
    close_all();
}
END_TEST

START_TEST(test_providers_make_the_same_text_at_each_level)
{
    /* Not -O0: it keeps what hiprtc's prelude defines, used or not. */
    static const char *const levels[] = { "-O1", "-Os" };
    open_all();
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const char *options[] = { levels[i], "-std=c++17" };
        struct compile_request request = setup_request(setup_kernel_large, ARCH);
        request.options = options;
        expect_one_text(&request);
    }
    close_all();
}
END_TEST

/* The library's own kernels: what the chooser takes for small and large M, each variant. */
START_TEST(test_providers_make_the_same_text_of_our_kernels)
{
    static const struct gemm_shape shapes[] = {
        { 4, 2880, 512, MXG_TYPE_BF16, MXG_TYPE_BF16, MXG_LAYOUT_SHUFFLED, MXG_LAYOUT_SHUFFLED,
          MXG_VARIANT_FUSED },
        { 256, 3072, 1536, MXG_TYPE_BF16, MXG_TYPE_BF16, MXG_LAYOUT_SHUFFLED,
          MXG_LAYOUT_SHUFFLED, MXG_VARIANT_PREQUANT },
        { 33, 100, 416, MXG_TYPE_MXFP4, MXG_TYPE_F32, MXG_LAYOUT_SHUFFLED, MXG_LAYOUT_SHUFFLED,
          MXG_VARIANT_QUANTIZED },
    };
    const struct device_facts device = { ARCH, 256, 163840 };
    open_all();
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct select_plan plan;
        ck_assert_msg(select_choose(&device, &shapes[s], &plan) == MXG_OK, "%s",
                      mxg_last_error());
        for (uint32_t i = 0; i < plan.num_kernels; i++) {
            char *source, name[64];
            struct compile_request request = { .arch = ARCH };
            ck_assert_int_eq(bake_source(&mem_default, &plan.kernels[i], &source,
                                         &request.source_size), MXG_OK);
            kernel_config_name(&plan.kernels[i], name, sizeof name);
            request.name = name;
            request.source = source;
            request.options = bake_options(&request.num_options);
            expect_one_text(&request);
            mem_free(&mem_default, source);
        }
    }
    close_all();
}
END_TEST

START_TEST(test_providers_are_deterministic)
{
    open_all();
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        struct compile_request request = setup_request(setup_kernel_large, ARCH);
        struct compile_result one, two;
        if (compilers[i] == NULL) {
            continue;
        }
        compile_good(compilers[i], &request, &one);
        compile_good(compilers[i], &request, &two);
        ck_assert_uint_eq(one.code_size, two.code_size);
        ck_assert(memcmp(one.code, two.code, one.code_size) == 0);
        compile_result_free(&mem_default, &one);
        compile_result_free(&mem_default, &two);
    }
    close_all();
}
END_TEST

/* ------------------------------------------------------------------ errors */

static void expect_compile_error(struct compiler *compiler,
                                 const struct compile_request *request, const char *text)
{
    struct compile_result result;
    mxg_status status = compiler_compile(compiler, request, &result);
    ck_assert_msg(status == MXG_E_COMPILE, "%s: %s: %s", compiler_name(compiler),
                  mxg_status_name(status), mxg_last_error());
    ck_assert_ptr_null(result.code);
    ck_assert_ptr_null(result.log);
    ck_assert_msg(strstr(mxg_last_error(), text) != NULL, "%s: \"%s\" lacks \"%s\"",
                  compiler_name(compiler), mxg_last_error(), text);
}

START_TEST(test_providers_report_the_compilers_log)
{
    static const char wrong[] = "extern \"C\" __attribute__((global)) void k(float *p)\n"
                                "{\n    p[0] = undeclared_name;\n}\n";
    static const char unlinked[] = "__attribute__((device)) float f(float);\n"
                                   "extern \"C\" __attribute__((global)) void k(float *p)\n"
                                   "{\n    p[0] = f(p[1]);\n}\n";
    open_all();
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        struct compile_request request = setup_request(wrong, ARCH);
        struct compile_result result;
        if (compilers[i] == NULL) {
            continue;
        }
        expect_compile_error(compilers[i], &request, "undeclared_name");
        ck_assert_ptr_nonnull(strstr(mxg_last_error(), ":3:12: error:"));
        request = setup_request(unlinked, ARCH);
        expect_compile_error(compilers[i], &request, "undefined");
        request = setup_request(setup_kernel_small, "gfx9999");
        expect_compile_error(compilers[i], &request, "gfx9999");
        /* hiprtc refuses it, comgr makes an object without kernels */
        request = setup_request("", ARCH);
        struct codeobj_kernel kernel;
        if (compiler_compile(compilers[i], &request, &result) == MXG_OK) {
            ck_assert_int_eq(codeobj_read(result.code, result.code_size, &kernel),
                             MXG_E_CODE_OBJECT);
            compile_result_free(&mem_default, &result);
        }
        request = setup_request(setup_kernel_small, ARCH);
        compile_good(compilers[i], &request, &result); /* and it goes on */
        compile_result_free(&mem_default, &result);
    }
    close_all();
}
END_TEST

/* LLVM calls exit() for this one: the worker survives it, in the host it must not be tried. */
START_TEST(test_providers_survive_an_option_that_ends_the_compiler)
{
    const char *options[] = { "-O3", "-mllvm", "-no-such-llvm-option" };
    open_all();
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        struct compile_request request = setup_request(setup_kernel_small, ARCH);
        struct compile_result result;
        if (compilers[i] == NULL) {
            continue;
        }
        request.options = options;
        request.num_options = 3;
        if (i < 2) {
            expect_compile_error(compilers[i], &request, "-mllvm");
        } else {
            ck_assert_int_eq(compiler_compile(compilers[i], &request, &result), MXG_E_WORKER);
            ck_assert_ptr_nonnull(strstr(mxg_last_error(), "no-such-llvm-option"));
            ck_assert_uint_eq(compiler_restarts(compilers[i]), 1);
        }
        request = setup_request(setup_kernel_small, ARCH);
        compile_good(compilers[i], &request, &result);
        compile_result_free(&mem_default, &result);
    }
    close_all();
}
END_TEST

/* ---------------------------------------------------------------- identity */

START_TEST(test_providers_identity_names_every_part)
{
    char parts[2][128] = { "", "" };
    open_all();
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        if (compilers[i] == NULL) {
            continue;
        }
        const char *identity = compiler_identity(compilers[i]);
        const char *comgr = strstr(identity, "libamd_comgr.so.3=");
        ck_assert_msg(comgr != NULL, "%s: %s", all_providers[i], identity);
        /* The same comgr, told from memory in this process and from the file by the worker. */
        snprintf(parts[1], sizeof parts[1], "%.*s", (int)strcspn(comgr, ", ;"), comgr);
        ck_assert(parts[0][0] == '\0' || strcmp(parts[0], parts[1]) == 0);
        memcpy(parts[0], parts[1], sizeof parts[0]);
        ck_assert_uint_gt(strlen(parts[0]), strlen("libamd_comgr.so.3=") + 10);
        if (strstr(all_providers[i], "hiprtc") != NULL) {
            ck_assert_ptr_nonnull(strstr(identity, "libhiprtc.so."));
        }
    }
    close_all();
}
END_TEST

START_TEST(test_providers_auto_takes_the_first)
{
    struct compiler_config config = setup_config("auto");
    struct compiler *c;
    setup_log_text();
    ck_assert_int_eq(compiler_open(&config, &c), MXG_OK);
    if (in_prefix()) {
        ck_assert_str_eq(compiler_name(c), "comgr");
    }
    ck_assert_ptr_nonnull(strstr(setup_log_text(), compiler_name(c)));
    compiler_close(c);
}
END_TEST

/* ------------------------------------------------------------------ threads */

#define NUM_THREADS 3

struct thread_work {
    struct compiler *compiler;
    struct compile_result result;
    mxg_status status;
    char error[512];
};

static void *compile_in_thread(void *user)
{
    struct thread_work *work = user;
    struct compile_request request = setup_request(setup_kernel_small, ARCH);
    work->status = compiler_compile(work->compiler, &request, &work->result);
    snprintf(work->error, sizeof work->error, "%s", mxg_last_error());
    return NULL;
}

START_TEST(test_providers_serve_threads)
{
    open_all();
    for (size_t i = 0; i < NUM_PROVIDERS; i++) {
        struct thread_work work[NUM_THREADS];
        pthread_t threads[NUM_THREADS];
        if (compilers[i] == NULL) {
            continue;
        }
        for (int t = 0; t < NUM_THREADS; t++) {
            work[t].compiler = compilers[i];
            ck_assert_int_eq(pthread_create(&threads[t], NULL, compile_in_thread, &work[t]), 0);
        }
        for (int t = 0; t < NUM_THREADS; t++) {
            pthread_join(threads[t], NULL);
            ck_assert_msg(work[t].status == MXG_OK, "%s: %s", all_providers[i], work[t].error);
            ck_assert_uint_eq(work[t].result.code_size, work[0].result.code_size);
            ck_assert(memcmp(work[t].result.code, work[0].result.code,
                             work[0].result.code_size) == 0);
        }
        for (int t = 0; t < NUM_THREADS; t++) {
            compile_result_free(&mem_default, &work[t].result);
        }
    }
    close_all();
}
END_TEST

/* -------------------------------------------------------------- the helper */

static long only_child(pid_t parent)
{
    char path[64];
    long child = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%ld", &child) != 1) {
        child = 0;
    }
    fclose(file);
    return child;
}

static struct compiler *open_worker(void)
{
    struct compiler_config config = setup_config("worker:comgr");
    struct compiler *c;
    mxg_status status = compiler_open(&config, &c);
    ck_assert_msg(status == MXG_OK, "%s", mxg_last_error());
    return c;
}

static void compile_small(struct compiler *c)
{
    struct compile_request request = setup_request(setup_kernel_small, ARCH);
    struct compile_result result;
    compile_good(c, &request, &result);
    compile_result_free(&mem_default, &result);
}

static size_t count_scratch(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        count +=
            strncmp(e->d_name, "mxgemm-cc-", 10) == 0 || strncmp(e->d_name, "comgr-", 6) == 0;
    }
    closedir(dir);
    return count;
}

START_TEST(test_helper_has_no_descriptor_of_the_host)
{
    char path[64];
    int inherited = open("/dev/null", O_RDONLY); /* not close-on-exec */
    ck_assert_int_ge(inherited, 3);
    int high = fcntl(inherited, F_DUPFD, 200);
    struct compiler *c = open_worker();
    /* not started before it is needed, if files tell who it is */
    ck_assert_int_eq(only_child(getpid()), 0);
    compile_small(c);
    long child = only_child(getpid());
    ck_assert_int_gt(child, 0);
    snprintf(path, sizeof path, "/proc/%ld/fd", child);
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    size_t count = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        count += e->d_name[0] != '.';
    }
    closedir(dir);
    ck_assert_uint_eq(count, 4); /* standard ones and the socket */
    compiler_close(c);
    close(inherited);
    close(high);
}
END_TEST

/* The host's whole process group is killed, as a test runner or a container does it. */
START_TEST(test_helper_ends_with_its_host)
{
    char folder[] = "/tmp/mxg-test-host-XXXXXX";
    int ready[2];
    char byte;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    ck_assert_int_eq(pipe(ready), 0);
    pid_t host = fork();
    if (host == 0) {
        setpgid(0, 0);
        struct compiler *c = open_worker();
        compile_small(c);
        if (write(ready[1], "r", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    long helper = only_child(host);
    ck_assert_int_gt(helper, 0);
    ck_assert_uint_eq(count_scratch(folder), 1);
    kill(-host, SIGKILL);
    waitpid(host, NULL, 0);
    /*
     * It is no child of ours, so its end is seen by its number; another 10 s
     * would be a failure.
     */
    for (int i = 0; i < 1000 && (kill((pid_t)helper, 0) == 0 || count_scratch(folder) > 0);
         i++) {
        char path[64], state = 'R';
        snprintf(path, sizeof path, "/proc/%ld/stat", helper);
        FILE *file = fopen(path, "r");
        if (file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'Z') {
            fclose(file);
            break; /* whoever adopted it has not reaped it yet */
        }
        if (file != NULL) {
            fclose(file);
        }
        usleep(10000);
    }
    ck_assert_uint_eq(count_scratch(folder), 0);
    close(ready[0]);
    close(ready[1]);
    rmdir(folder);
}
END_TEST

static void *compile_large_in_thread(void *user)
{
    struct thread_work *work = user;
    const char *options[] = { "-O3", "-std=c++17" };
    struct compile_request request = setup_request(setup_kernel_large, ARCH);
    request.options = options;
    work->status = MXG_OK;
    for (int i = 0; i < 20 && work->status == MXG_OK; i++) {
        work->status = compiler_compile(work->compiler, &request, &work->result);
        snprintf(work->error, sizeof work->error, "%s", mxg_last_error());
        compile_result_free(&mem_default, &work->result);
    }
    return NULL;
}

/* Killed in mid-compile a few times: each request is retried, and no file stays behind. */
START_TEST(test_helper_killed_in_mid_compile_leaves_nothing)
{
    char folder[] = "/tmp/mxg-test-kill-XXXXXX";
    struct thread_work work;
    pthread_t thread;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    work.compiler = open_worker();
    compile_small(work.compiler);
    ck_assert_int_eq(pthread_create(&thread, NULL, compile_large_in_thread, &work), 0);
    for (int i = 0; i < 3; i++) {
        usleep(150000);
        long helper = only_child(getpid());
        if (helper > 0) {
            kill((pid_t)helper, SIGKILL);
        }
    }
    pthread_join(thread, NULL);
    /* Two kills can hit one request, which is then an error that says so. */
    ck_assert_msg(work.status == MXG_OK || (work.status == MXG_E_WORKER &&
                  strstr(work.error, "SIGKILL") != NULL), "%s", work.error);
    ck_assert_uint_ge(compiler_restarts(work.compiler), 1);
    compile_small(work.compiler);
    compiler_close(work.compiler);
    ck_assert_uint_eq(count_scratch(folder), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

#ifdef MXG_FAULT_INJECTION
/* Every allocation of ours in comgr's provider, in this process. */
START_TEST(test_comgr_every_failed_allocation_is_reported)
{
    struct compiler_config config = setup_config("comgr");
    struct compile_request request = setup_request(setup_kernel_small, ARCH);
    long n = 0;
    for (bool fired = true; fired; n++) {
        struct compiler *c = NULL;
        struct compile_result result = { NULL, 0, NULL };
        fault_arm(FAULT_ALLOC, n);
        mxg_status status = compiler_open(&config, &c);
        if (status == MXG_OK) {
            status = compiler_compile(c, &request, &result);
        }
        fired = fault_fired() > 0;
        fault_disarm();
        if (status == MXG_E_NO_COMPILER && !in_prefix()) {
            return;
        }
        ck_assert_msg(fired ? status == MXG_E_HOST_MEMORY : status == MXG_OK, "n = %ld: %s: %s",
                      n, mxg_status_name(status), mxg_last_error());
        compile_result_free(&mem_default, &result);
        compiler_close(c);
    }
    ck_assert_int_gt(n, 5);
}
END_TEST
#endif

/* ------------------------------------------------------------ comgr's cache */

static void damage_files(const char *folder)
{
    char path[512];
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%.200s/%.200s", folder, e->d_name);
        struct stat st;
        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 64) {
            continue;
        }
        int fd = open(path, O_RDWR | O_CLOEXEC);
        char bytes[16];
        for (off_t at = 300; at + 16 < st.st_size; at += 64) {
            if (pread(fd, bytes, 16, at) == 16) {
                for (int i = 0; i < 16; i++) {
                    bytes[i] = (char)~bytes[i];
                }
                ck_assert_int_eq(pwrite(fd, bytes, 16, at), 16);
            }
        }
        close(fd);
    }
    closedir(dir);
}

/*
 * comgr's own cache is on and its entries are damaged: comgr in this process
 * must not serve them.
 */
START_TEST(test_comgr_own_cache_is_not_used)
{
    char folder[] = "/tmp/mxg-test-cache-XXXXXX", command[128];
    struct compiler_config config = setup_config("comgr");
    struct compile_request request = setup_request(setup_kernel_large, ARCH);
    struct compile_result one, two;
    struct compiler *c;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("AMD_COMGR_CACHE", "1", 1);
    setenv("AMD_COMGR_CACHE_DIR", folder, 1);
    if (compiler_open(&config, &c) == MXG_OK) {
        compile_good(c, &request, &one);
        damage_files(folder);
        compile_good(c, &request, &two);
        ck_assert_uint_eq(one.code_size, two.code_size);
        ck_assert(memcmp(one.code, two.code, one.code_size) == 0);
        /* the host's environment is as it was */
        ck_assert_str_eq(getenv("AMD_COMGR_CACHE"), "1");
        compile_result_free(&mem_default, &one);
        compile_result_free(&mem_default, &two);
        compiler_close(c);
    } else {
        ck_assert(!in_prefix());
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    if (!setup_has_compiler("worker:comgr") || !setup_has_compiler("worker:hiprtc")) {
        fprintf(stderr, "skipped: %s\n", mxg_last_error());
        return 77;
    }
    Suite *suite = suite_create("providers");
    TCase *tc = tcase_create("providers");
    tcase_set_timeout(tc, 240);
    tcase_add_test(tc, test_providers_make_the_same_text);
    tcase_add_test(tc, test_providers_make_the_same_text_at_each_level);
    tcase_add_test(tc, test_providers_make_the_same_text_of_our_kernels);
    tcase_add_test(tc, test_providers_are_deterministic);
    tcase_add_test(tc, test_providers_report_the_compilers_log);
    tcase_add_test(tc, test_providers_survive_an_option_that_ends_the_compiler);
    tcase_add_test(tc, test_providers_identity_names_every_part);
    tcase_add_test(tc, test_providers_auto_takes_the_first);
    tcase_add_test(tc, test_providers_serve_threads);
    if (!in_prefix()) {
        tcase_add_test(tc, test_helper_has_no_descriptor_of_the_host);
        tcase_add_test(tc, test_helper_ends_with_its_host);
        tcase_add_test(tc, test_helper_killed_in_mid_compile_leaves_nothing);
    }
#ifdef MXG_FAULT_INJECTION
    tcase_add_test(tc, test_comgr_every_failed_allocation_is_reported);
#endif
    tcase_add_test(tc, test_comgr_own_cache_is_not_used);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
