/* SPDX-License-Identifier: MIT */
/*
 * The library as a host meets it: opened with dlopen, used, closed, opened again; every name of
 * HIP there; a process that ends, or forks, with work queued.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>
#include <stdlib.h>

#include "hip_abi.h"

static const char *library_path(void)
{
    static char path[4096];
    const char *given = getenv("MXG_HIP_LIBRARY");
    const char *build = getenv("abs_top_builddir");
    if (given != NULL && given[0] != '\0') {
        return given;
    }
    (void)snprintf(path, sizeof(path), "%s/sim/.libs/libhipsim.so",
                   build != NULL ? build : ".");
    return path;
}

static void *open_library(void)
{
    void *library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return library;
}

/* A function pointer out of dlsym, without a cast that ISO C does not define. */
static void resolve(void *library, const char *name, void *pointer_to_function)
{
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol != NULL, "%s is missing", name);
    memcpy(pointer_to_function, &symbol, sizeof(symbol));
}

/* Sanitizers start a thread of their own with the first one that a program makes. */
static void *do_nothing(void *unused)
{
    return unused;
}

static void settle_threads(void)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    pthread_join(thread, NULL);
}

static int thread_count(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        count += e->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static void sleep_20ms(void *unused)
{
    const struct timespec t = { .tv_nsec = 20000000 };
    (void)unused;
    nanosleep(&t, NULL);
}

struct api {
    hipError_t (*malloc)(void **, size_t);
    hipError_t (*free)(void *);
    hipError_t (*stream_create)(hipStream_t *);
    hipError_t (*launch_host)(hipStream_t, hipHostFn_t, void *);
    hipError_t (*synchronize)(void);
    hipError_t (*memset_async)(void *, int, size_t, hipStream_t);
};

static void resolve_api(void *library, struct api *api)
{
    resolve(library, "hipMalloc", &api->malloc);
    resolve(library, "hipFree", &api->free);
    resolve(library, "hipStreamCreate", &api->stream_create);
    resolve(library, "hipLaunchHostFunc", &api->launch_host);
    resolve(library, "hipDeviceSynchronize", &api->synchronize);
    resolve(library, "hipMemsetAsync", &api->memset_async);
}

/* Leaves memory, streams and queued work behind on purpose. */
static void work(const struct api *api, bool wait)
{
    hipStream_t stream;
    void *p = NULL;
    ck_assert_int_eq(api->stream_create(&stream), hipSuccess);
    ck_assert_int_eq(api->malloc(&p, 4096), hipSuccess);
    ck_assert_int_eq(api->memset_async(p, 1, 4096, stream), hipSuccess);
    ck_assert_int_eq(api->launch_host(stream, sleep_20ms, NULL), hipSuccess);
    ck_assert_int_eq(api->launch_host(hipStreamPerThread, sleep_20ms, NULL), hipSuccess);
    ck_assert_int_eq(api->launch_host(NULL, sleep_20ms, NULL), hipSuccess);
    if (wait) {
        ck_assert_int_eq(api->synchronize(), hipSuccess);
        ck_assert_int_eq(api->free(p), hipSuccess);
    }
}

START_TEST(test_hip_dlopen_loop)
{
    settle_threads();
    const int before = thread_count();
    for (int i = 0; i < 12; i++) {
        struct api api;
        void *library = open_library();
        resolve_api(library, &api);
        ck_assert_int_eq(thread_count(), before); /* nothing starts by itself */
        work(&api, i % 2 == 0);
        ck_assert_int_gt(thread_count(), before);
        ck_assert_int_eq(dlclose(library), 0);
        ck_assert_int_eq(thread_count(), before);
    }
}
END_TEST

/* The thread that used its own default stream ends after the library has gone. */
START_TEST(test_hip_dlopen_outlived_by_thread)
{
    struct api api;
    void *library = open_library();
    resolve_api(library, &api);
    work(&api, false);
    ck_assert_int_eq(dlclose(library), 0);
    library = open_library();
    resolve_api(library, &api);
    work(&api, true);
    ck_assert_int_eq(dlclose(library), 0);
}
END_TEST

#define HIP_SIMULATED(name) #name,
#define HIP_UNSIMULATED(name) #name,
#define HIP_UNSIMULATED_PTR(name) #name,
static const char *const all_names[] = {
#include "hip_names.def"
};
#undef HIP_SIMULATED
#undef HIP_UNSIMULATED
#undef HIP_UNSIMULATED_PTR

START_TEST(test_hip_names_all_exported)
{
    void *library = open_library();
    const size_t count = sizeof(all_names) / sizeof(all_names[0]);
    ck_assert_uint_gt(count, 500);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(dlsym(library, all_names[i]) != NULL, "%s is missing", all_names[i]);
    }
    ck_assert_int_eq(dlclose(library), 0);
}
END_TEST

/* What `call` writes to stderr, without its newline. */
static void capture_stderr(int (*call)(void), int *result, char *text, size_t size)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const int saved = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    *result = call();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    const ssize_t length = read(ends[0], text, size - 1);
    close(ends[0]);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

START_TEST(test_hip_unsimulated_is_loud)
{
    void *library = open_library();
    int (*array_create)(void);
    void *(*name_ref)(void);
    hipError_t (*last_error)(void);
    char text[256];
    int result = 0;
    resolve(library, "hipArrayCreate", &array_create);
    resolve(library, "hipKernelNameRef", &name_ref);
    resolve(library, "hipGetLastError", &last_error);
    unsetenv("MXGSIM_QUIET");
    capture_stderr(array_create, &result, text, sizeof(text));
    ck_assert_int_eq(result, hipErrorNotSupported);
    ck_assert_str_eq(text, "hipsim: hipArrayCreate is not simulated");
    ck_assert_int_eq(last_error(), hipErrorNotSupported);
    setenv("MXGSIM_QUIET", "1", 1);
    ck_assert_ptr_null(name_ref());
    ck_assert_int_eq(dlclose(library), 0);
}
END_TEST

static int exit_status_of(pid_t child)
{
    int status = 0;
    for (int i = 0; i < 300; i++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        sleep_20ms(NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1; /* it hung */
}

static void exit_now(void *unused)
{
    (void)unused;
    exit(3);
}

/* exit() while streams hold work, from the main thread and from a stream's own thread. */
START_TEST(test_hip_process_exit_with_work)
{
    for (int from_stream = 0; from_stream < 2; from_stream++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            struct api api;
            void *library = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
            resolve_api(library, &api);
            work(&api, false);
            if (from_stream) {
                (void)api.launch_host(NULL, exit_now, NULL);
                (void)api.synchronize();
                for (int i = 0; i < 200; i++) {
                    sleep_20ms(NULL);
                }
            }
            exit(3);
        }
        ck_assert_int_eq(exit_status_of(child), 3);
    }
}
END_TEST

/* A forked child has no stream threads: calls fail, and it can exit. */
START_TEST(test_hip_fork_child_refused)
{
    struct api api;
    void *library = open_library();
    resolve_api(library, &api);
    work(&api, false);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        void *p = NULL;
        const hipError_t status = api.malloc(&p, 16);
        exit(status == hipErrorNotInitialized ? 7 : 8);
    }
    ck_assert_int_eq(exit_status_of(child), 7);
    ck_assert_int_eq(api.synchronize(), hipSuccess);
    ck_assert_int_eq(dlclose(library), 0);
}
END_TEST

int main(void)
{
    setenv("MXGSIM_QUIET", "1", 1);
    Suite *s = suite_create("hip_dlopen");
    TCase *c = tcase_create("dlopen");
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    tcase_add_test(c, test_hip_dlopen_loop);
    tcase_add_test(c, test_hip_dlopen_outlived_by_thread);
    tcase_add_test(c, test_hip_names_all_exported);
    tcase_add_test(c, test_hip_unsimulated_is_loud);
    tcase_add_test(c, test_hip_process_exit_with_work);
    tcase_add_test(c, test_hip_fork_child_refused);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
