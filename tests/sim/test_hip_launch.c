/* SPDX-License-Identifier: MIT */
/* Modules and launches: what is refused and how, what a fault does, that kernels run. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hip_test.h"

static uint8_t image[2 * KERNELS_SIZE];
static hipModule_t module;
static hipFunction_t fill, copy, nop, illegal;

static void launch_setup(void)
{
    hip_test_setup();
    (void)kernels_write(image);
    ck_hip(hipModuleLoadData(&module, image));
    ck_hip(hipModuleGetFunction(&fill, module, "fill"));
    ck_hip(hipModuleGetFunction(&copy, module, "copy"));
    ck_hip(hipModuleGetFunction(&nop, module, "nop"));
    ck_hip(hipModuleGetFunction(&illegal, module, "illegal"));
}

/* fill(out, value, n) with enough blocks of 64. */
static hipError_t launch_fill(uint32_t *out, uint32_t value, uint32_t n, hipStream_t stream)
{
    void *params[] = { &out, &value, &n };
    return hipModuleLaunchKernel(fill, (n + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params, NULL);
}

static hipError_t launch_nop(unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned lds)
{
    return hipModuleLaunchKernel(nop, gx, gy, 1, bx, by, 1, lds, NULL, NULL, NULL);
}

START_TEST(test_hip_launch_runs_kernels)
{
    uint32_t *a = NULL, *b = NULL, host[256];
    hipStream_t s;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipMalloc((void **)&a, 1024));
    ck_hip(hipMalloc((void **)&b, 1024));
    ck_hip(launch_fill(a, 0x12345678, 250, s));
    struct {
        void *out, *in;
    } packed = { b, a };
    size_t size = sizeof(packed);
    void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                      &size, HIP_LAUNCH_PARAM_END };
    ck_hip(hipModuleLaunchKernel(copy, 4, 1, 1, 64, 1, 1, 0, s, NULL, extra));
    memset(&packed, 0, sizeof(packed)); /* read when the call was made */
    ck_hip(hipStreamSynchronize(s));
    ck_hip(hipMemcpy(host, b, 1024, hipMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        ck_assert_uint_eq(host[i], i < 250 ? 0x12345678u : 0xffffffffu);
    }
    ck_hip(hipFree(a));
    ck_hip(hipFree(b));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_launch_many_streams_in_order)
{
    enum { STREAMS = 4, STEPS = 25 };
    hipStream_t s[STREAMS];
    uint32_t *p[STREAMS], host[64];
    for (int i = 0; i < STREAMS; i++) {
        ck_hip(hipStreamCreateWithFlags(&s[i], hipStreamNonBlocking));
        ck_hip(hipMalloc((void **)&p[i], 256));
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < STREAMS; i++) {
            ck_hip(launch_fill(p[i], i * 1000 + step, 64, s[i]));
        }
    }
    ck_hip(hipDeviceSynchronize());
    for (uint32_t i = 0; i < STREAMS; i++) {
        ck_hip(hipMemcpy(host, p[i], 256, hipMemcpyDeviceToHost));
        ck_assert_uint_eq(host[63], i * 1000 + STEPS - 1);
        ck_hip(hipFree(p[i]));
        ck_hip(hipStreamDestroy(s[i]));
    }
}
END_TEST

START_TEST(test_hip_launch_shape_limits)
{
    ck_hip(launch_nop(1, 1, 128, 1, 0));
    ck_hip_is(launch_nop(0, 1, 64, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(1, 0, 64, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(1, 1, 0, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(1, 1, 1025, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(1, 1, 64, 32, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(1, 65537, 64, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(0x80000000u, 1, 1, 1, 0), hipErrorInvalidValue);
    ck_hip_is(launch_nop(0x7fffffffu, 1, 64, 1, 0), hipErrorInvalidValue); /* > 2^32 items */
    ck_hip_is(launch_nop(1, 1, 64, 1, 163841), hipErrorInvalidValue);
    /* 64 KiB of its own and 97 KiB more are over 160 KiB. */
    ck_hip_is(launch_nop(1, 1, 64, 1, 98305), hipErrorLaunchOutOfResources);
    ck_hip(launch_nop(1, 1, 64, 1, 98304));
    ck_hip_is(launch_nop(1, 1, 256, 1, 0), hipErrorLaunchFailure); /* compiled for 128 */
    ck_hip(hipDeviceSynchronize());
}
END_TEST

START_TEST(test_hip_launch_argument_forms)
{
    uint32_t *out = NULL;
    uint32_t value = 1, n = 1;
    void *params[] = { &out, &value, &n }, *holes[] = { &out, NULL, &n };
    size_t size = 12;
    uint8_t packed[16] = { 0 };
    void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                      &size, HIP_LAUNCH_PARAM_END };
#define LAUNCH(f, p, e) hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, p, e)
    ck_hip_is(LAUNCH(fill, NULL, NULL), hipErrorInvalidValue);
    ck_hip_is(LAUNCH(fill, params, extra), hipErrorInvalidValue);
    ck_hip_is(LAUNCH(fill, holes, NULL), hipErrorInvalidValue);
    ck_hip_is(LAUNCH(fill, NULL, extra), hipErrorInvalidValue); /* 12 bytes of 16 */
    extra[4] = NULL;
    size = 16;
    ck_hip_is(LAUNCH(fill, NULL, extra), hipErrorInvalidValue); /* no end mark */
    ck_hip_is(LAUNCH(NULL, params, NULL), hipErrorInvalidHandle);
    ck_hip_is(LAUNCH((hipFunction_t)&size, params, NULL), hipErrorInvalidHandle);
    extra[4] = HIP_LAUNCH_PARAM_END;
    ck_hip_is(LAUNCH(nop, NULL, extra), hipErrorLaunchOutOfResources); /* it has no arguments */
#undef LAUNCH
}
END_TEST

START_TEST(test_hip_launch_dead_stream)
{
    hipStream_t s;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipStreamDestroy(s));
    ck_hip_is(launch_fill(NULL, 0, 1, s), hipErrorContextIsDestroyed);
}
END_TEST

/* The fault appears at the next synchronisation, stays, and a reset clears it. */
START_TEST(test_hip_fault_is_sticky)
{
    uint32_t *p = NULL, host = 0;
    hipStream_t s;
    hipEvent_t e;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipEventCreate(&e));
    ck_hip(hipMalloc((void **)&p, 256));
    ck_hip(hipMemset(p, 0, 256));
    ck_assert_int_eq(mxgsim_delay("kernel", 20000), 0);
    ck_hip(launch_fill(p + 1000, 1, 64, s)); /* past the end */
    ck_hip(hipEventRecord(e, s));            /* the fault has not happened yet */
    ck_hip_is(hipStreamSynchronize(s), hipErrorIllegalAddress);
    ck_hip_is(hipGetLastError(), hipErrorIllegalAddress);
    ck_hip_is(hipDeviceSynchronize(), hipErrorIllegalAddress);
    ck_hip_is(hipEventQuery(e), hipErrorIllegalAddress);
    ck_hip_is(launch_fill(p, 1, 64, s), hipErrorIllegalAddress);
    ck_hip_is(hipMemcpy(&host, p, 4, hipMemcpyDeviceToHost), hipErrorIllegalAddress);
    void *q = NULL;
    ck_hip_is(hipMalloc(&q, 4), hipErrorIllegalAddress);
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorIllegalAddress);
    ck_assert_int_eq(mxgsim_reset_device(0), hipSuccess);
    ck_hip(launch_fill(p, 9, 64, s));
    ck_hip(hipStreamSynchronize(s));
    ck_hip(hipMemcpy(&host, p, 4, hipMemcpyDeviceToHost));
    ck_assert_uint_eq(host, 9);
    ck_hip(hipFree(p));
    ck_hip(hipEventDestroy(e));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_fault_drops_queue_and_frees)
{
    uint32_t *p = NULL, host = 1;
    size_t before = 0, after = 0;
    ck_hip(hipMemGetInfo(&before, NULL));
    ck_hip(hipMalloc((void **)&p, 256));
    ck_hip(hipMemsetD32(p, 5, 64));
    ck_hip(launch_fill(NULL, 1, 64, NULL));
    (void)launch_fill(p, 1, 64, NULL); /* queued or refused, by timing: not run either way */
    ck_hip_is(hipDeviceSynchronize(), hipErrorIllegalAddress);
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorIllegalAddress);
    ck_hip(hipMemcpy(&host, p, 4, hipMemcpyDeviceToHost));
    ck_assert_uint_eq(host, 5);
    ck_hip(launch_fill(NULL, 1, 64, NULL));
    ck_hip_is(hipFree(p), hipErrorIllegalAddress); /* and the memory is free */
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorIllegalAddress);
    ck_hip(hipMemGetInfo(&after, NULL));
    ck_assert_uint_eq(before, after);
    ck_hip(launch_fill(NULL, 1, 64, NULL));
    ck_hip(hipDeviceReset());
    ck_hip(hipDeviceSynchronize());
}
END_TEST

START_TEST(test_hip_fault_illegal_instruction)
{
    ck_hip(hipModuleLaunchKernel(illegal, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    ck_hip_is(hipDeviceSynchronize(), hipErrorLaunchFailure);
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorLaunchFailure);
}
END_TEST

START_TEST(test_hip_fault_use_after_free)
{
    uint32_t *p = NULL;
    ck_hip(hipMalloc((void **)&p, 256));
    ck_hip(hipFree(p));
    ck_hip(launch_fill(p, 1, 64, NULL));
    ck_hip_is(hipDeviceSynchronize(), hipErrorIllegalAddress);
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorIllegalAddress);
}
END_TEST

START_TEST(test_hip_fault_stays_on_its_device)
{
    with_env("MXGSIM_DEVICES", "2");
    hipModule_t m;
    ck_hip(hipModuleLoadData(&m, image));
    ck_hip(hipModuleGetFunction(&fill, m, "fill"));
    ck_hip(launch_fill(NULL, 1, 64, NULL));
    ck_hip_is(hipDeviceSynchronize(), hipErrorIllegalAddress);
    ck_hip(hipSetDevice(1));
    ck_hip(hipDeviceSynchronize());
    void *p = NULL;
    ck_hip(hipMalloc(&p, 16));
    ck_hip(hipFree(p));
    /* A function of the other device's module. */
    ck_hip_is(launch_fill(NULL, 1, 64, NULL), hipErrorInvalidHandle);
    ck_hip(hipSetDevice(0));
    ck_hip_is(hipMalloc(&p, 16), hipErrorIllegalAddress);
}
END_TEST

START_TEST(test_hip_inject_kernel_error)
{
    uint32_t *p = NULL;
    ck_hip(hipMalloc((void **)&p, 256));
    ck_assert_int_eq(mxgsim_fail("kernel", 2, 0, hipErrorLaunchFailure), 0);
    ck_assert_int_eq(mxgsim_fail("hipModuleLaunchKernel", 4, 0, hipErrorOutOfMemory), 0);
    ck_hip(launch_fill(p, 1, 64, NULL));
    ck_hip(hipDeviceSynchronize());
    ck_hip(launch_fill(p, 2, 64, NULL));
    ck_hip_is(hipDeviceSynchronize(), hipErrorLaunchFailure);
    ck_assert_int_eq(mxgsim_reset_device(0), hipErrorLaunchFailure);
    ck_hip(launch_fill(p, 3, 64, NULL));
    ck_hip_is(launch_fill(p, 4, 64, NULL), hipErrorOutOfMemory);
    ck_hip(hipDeviceSynchronize());
    ck_hip(hipFree(p));
}
END_TEST

START_TEST(test_hip_delay_makes_kernels_slow)
{
    uint32_t *p = NULL;
    ck_hip(hipMalloc((void **)&p, 256));
    ck_assert_int_eq(mxgsim_delay("kernel", 50000), 0);
    ck_hip(launch_fill(p, 1, 64, NULL));
    ck_hip_is(hipStreamQuery(NULL), hipErrorNotReady);
    ck_hip(hipFree(p)); /* waits */
    ck_hip(hipStreamQuery(NULL));
}
END_TEST

/* ------------------------------------------------------------------- modules */

START_TEST(test_hip_module_load_forms)
{
    hipModule_t m = NULL;
    hipFunction_t f = NULL;
    unsigned count = 0;
    ck_hip(hipModuleLoadDataEx(&m, image, 0, NULL, NULL));
    ck_hip(hipModuleGetFunctionCount(&count, m));
    ck_assert_uint_eq(count, 4);
    ck_hip(hipModuleGetFunction(&f, m, "fill"));
    ck_assert_ptr_ne(f, fill); /* another module */
    hipFunction_t again = NULL;
    ck_hip(hipModuleGetFunction(&again, m, "fill"));
    ck_assert_ptr_eq(f, again);
    ck_hip(hipModuleUnload(m));
    ck_hip_is(hipModuleUnload(m), hipErrorInvalidHandle);
    ck_hip_is(hipModuleGetFunction(&f, m, "fill"), hipErrorInvalidHandle);
    ck_hip_is(hipModuleLaunchKernel(again, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL),
              hipErrorInvalidHandle);
    (void)kernels_bundle(image, "gfx950");
    ck_hip(hipModuleLoadData(&m, image));
    ck_hip(hipModuleGetFunction(&f, m, "copy"));
    ck_hip(hipModuleUnload(m));
}
END_TEST

START_TEST(test_hip_module_load_file)
{
    hipModule_t m = NULL;
    hipFunction_t f = NULL;
    char name[] = "/tmp/test_hip_launch_XXXXXX";
    const int fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    const size_t size = kernels_write(image);
    ck_assert_int_eq((int)write(fd, image, size), (int)size);
    close(fd);
    ck_hip(hipModuleLoad(&m, name));
    ck_hip(hipModuleGetFunction(&f, m, "nop"));
    ck_hip(hipModuleUnload(m));
    ck_assert_int_eq(truncate(name, 100), 0);
    ck_hip_is(hipModuleLoad(&m, name), hipErrorInvalidImage);
    ck_assert_int_eq(truncate(name, 0), 0);
    ck_hip_is(hipModuleLoad(&m, name), hipErrorInvalidImage);
    unlink(name);
    ck_hip_is(hipModuleLoad(&m, name), hipErrorFileNotFound);
    ck_hip_is(hipModuleLoad(&m, NULL), hipErrorInvalidValue);
    ck_assert_ptr_null(m);
}
END_TEST

START_TEST(test_hip_module_wrong_image)
{
    hipModule_t m = NULL;
    ck_hip_is(hipModuleLoadData(&m, NULL), hipErrorInvalidValue);
    ck_hip_is(hipModuleLoadData(NULL, image), hipErrorInvalidValue);
    (void)kernels_write_for(image, 0x4c); /* gfx942 */
    ck_hip_is(hipModuleLoadData(&m, image), hipErrorNoBinaryForGpu);
    (void)kernels_bundle(image, "gfx942");
    ck_hip_is(hipModuleLoadData(&m, image), hipErrorNoBinaryForGpu);
    memset(image, 0x41, sizeof(image));
    ck_hip_is(hipModuleLoadData(&m, image), hipErrorInvalidImage);
    ck_assert_ptr_null(m);
    ck_hip(hipGetDevice(&(int){ 0 }));
}
END_TEST

START_TEST(test_hip_module_wrong_device)
{
    with_env("MXGSIM_ARCH", "gfx942:sramecc+:xnack-");
    hipModule_t m = NULL;
    hipDeviceProp_tR0600 p;
    ck_hip(hipGetDevicePropertiesR0600(&p, 0));
    ck_assert_str_eq(p.gcnArchName, "gfx942:sramecc+:xnack-");
    ck_assert_int_eq(p.minor, 4);
    ck_hip_is(hipModuleLoadData(&m, image), hipErrorNoBinaryForGpu);
}
END_TEST

START_TEST(test_hip_module_symbols)
{
    hipFunction_t f = NULL;
    void *address = NULL;
    size_t size = 0;
    char text[8] = "";
    ck_hip_is(hipModuleGetFunction(&f, module, "no_such_kernel"), hipErrorNotFound);
    ck_hip_is(hipModuleGetFunction(&f, module, ""), hipErrorInvalidValue);
    ck_hip_is(hipModuleGetFunction(&f, NULL, "fill"), hipErrorInvalidHandle);
    ck_assert_ptr_null(f);
    ck_hip(hipModuleGetGlobal(&address, &size, module, "greeting"));
    ck_assert_uint_eq(size, 8);
    memcpy(text, address, 8);
    ck_assert_str_eq(text, "global!");
    ck_hip_is(hipModuleGetGlobal(&address, &size, module, "missing"), hipErrorNotFound);
    ck_hip_is(hipModuleGetGlobal(NULL, NULL, module, "greeting"), hipErrorInvalidValue);
}
END_TEST

START_TEST(test_hip_function_attributes)
{
    int value = 0;
    ck_hip(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, nop));
    ck_assert_int_eq(value, 65536);
    ck_hip(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nop));
    ck_assert_int_eq(value, 128);
    ck_hip(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, nop));
    ck_assert_int_eq(value, 163840 - 65536);
    ck_hip(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, fill));
    ck_assert_int_eq(value, 8);
    ck_hip_is(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX, nop), hipErrorInvalidValue);
    ck_hip_is(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, NULL),
              hipErrorInvalidHandle);
    ck_hip(hipFuncSetAttribute(nop, hipFuncAttributeMaxDynamicSharedMemorySize, 98304));
    ck_hip_is(hipFuncSetAttribute(nop, hipFuncAttributeMaxDynamicSharedMemorySize, 98305),
              hipErrorInvalidValue);
    ck_hip_is(hipFuncSetAttribute(image, hipFuncAttributeMaxDynamicSharedMemorySize, 0),
              hipErrorInvalidDeviceFunction);
    int blocks = 0;
    /* 8 registers: 8 waves on each of 4 SIMDs, that is 32 blocks of one wave. */
    ck_hip(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 0));
    ck_assert_int_eq(blocks, 32);
    ck_hip(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 1024, 81920));
    ck_assert_int_eq(blocks, 2);
    ck_hip(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 64, 0));
    ck_assert_int_eq(blocks, 2); /* 160 KiB hold two of 64 KiB */
    ck_hip_is(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 0, 0),
              hipErrorInvalidValue);
}
END_TEST

START_TEST(test_hip_ext_launch_with_events)
{
    uint32_t *p = NULL, host[100], value = 3, n = 100;
    hipEvent_t a, b;
    float ms = -1;
    void *params[] = { &p, &value, &n };
    ck_hip(hipMalloc((void **)&p, sizeof(host)));
    ck_hip(hipEventCreate(&a));
    ck_hip(hipEventCreate(&b));
    ck_hip(hipExtModuleLaunchKernel(fill, 128, 1, 1, 64, 1, 1, 0, NULL, params, NULL, a, b, 0));
    ck_hip(hipEventSynchronize(b));
    ck_hip(hipEventElapsedTime(&ms, a, b));
    ck_assert(ms >= 0);
    ck_hip(hipMemcpy(host, p, sizeof(host), hipMemcpyDeviceToHost));
    ck_assert_uint_eq(host[99], 3);
    ck_hip(hipEventDestroy(a));
    ck_hip(hipEventDestroy(b));
    ck_hip(hipFree(p));
}
END_TEST

START_TEST(test_hip_launch_in_graph)
{
    uint32_t *p = NULL, host = 0;
    hipStream_t s;
    hipGraph_t graph;
    hipGraphExec_t exec;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipMalloc((void **)&p, 256));
    ck_hip(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
    ck_hip(hipMemsetAsync(p, 0, 256, s));
    ck_hip(launch_fill(p, 77, 64, s));
    ck_hip(hipStreamEndCapture(s, &graph));
    ck_hip(hipGraphInstantiateWithFlags(&exec, graph, 0));
    ck_hip(hipGraphDestroy(graph));
    ck_hip(hipMemcpy(&host, p, 4, hipMemcpyDeviceToHost));
    ck_assert_uint_eq(host, 0xffffffff);
    ck_hip(hipGraphLaunch(exec, s));
    ck_hip(hipStreamSynchronize(s));
    ck_hip(hipMemcpy(&host, p, 4, hipMemcpyDeviceToHost));
    ck_assert_uint_eq(host, 77);
    ck_hip(hipGraphExecDestroy(exec));
    ck_hip(hipFree(p));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hip_launch");
    TCase *c = tcase_create("launch");
    tcase_add_checked_fixture(c, launch_setup, hip_test_teardown);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    tcase_add_test(c, test_hip_launch_runs_kernels);
    tcase_add_test(c, test_hip_launch_many_streams_in_order);
    tcase_add_test(c, test_hip_launch_shape_limits);
    tcase_add_test(c, test_hip_launch_argument_forms);
    tcase_add_test(c, test_hip_launch_dead_stream);
    tcase_add_test(c, test_hip_fault_is_sticky);
    tcase_add_test(c, test_hip_fault_drops_queue_and_frees);
    tcase_add_test(c, test_hip_fault_illegal_instruction);
    tcase_add_test(c, test_hip_fault_use_after_free);
    tcase_add_test(c, test_hip_fault_stays_on_its_device);
    tcase_add_test(c, test_hip_inject_kernel_error);
    tcase_add_test(c, test_hip_delay_makes_kernels_slow);
    tcase_add_test(c, test_hip_module_load_forms);
    tcase_add_test(c, test_hip_module_load_file);
    tcase_add_test(c, test_hip_module_wrong_image);
    tcase_add_test(c, test_hip_module_wrong_device);
    tcase_add_test(c, test_hip_module_symbols);
    tcase_add_test(c, test_hip_function_attributes);
    tcase_add_test(c, test_hip_ext_launch_with_events);
    tcase_add_test(c, test_hip_launch_in_graph);
    return hip_test_main(s);
}
