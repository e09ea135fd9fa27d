/* SPDX-License-Identifier: MIT */
/* Devices, attributes, errors, memory, copies and fills of the simulated runtime. */
#include <stdio.h>
#include <string.h>

#include "hip_test.h"

START_TEST(test_hip_device_properties)
{
    int count = 0;
    ck_hip(hipGetDeviceCount(&count));
    ck_assert_int_eq(count, 1);
    hipDeviceProp_tR0600 p;
    ck_hip(hipGetDevicePropertiesR0600(&p, 0));
    ck_assert_str_eq(p.gcnArchName, "gfx950:sramecc+:xnack-");
    ck_assert_int_eq(p.multiProcessorCount, 256);
    ck_assert_int_eq(p.warpSize, 64);
    ck_assert_int_eq(p.major * 10 + p.minor, 95);
    ck_assert_uint_eq(p.sharedMemPerBlock, 163840);
    ck_assert_uint_eq(p.totalGlobalMem, (size_t)288 << 30);
    hipDeviceProp_tR0000 old;
    ck_hip(hipGetDeviceProperties(&old, 0));
    ck_assert_str_eq(old.name, p.name);
    ck_assert_int_eq(old.gcnArch, 950);
    ck_hip_is(hipGetDevicePropertiesR0600(&p, 1), hipErrorInvalidDevice);
    ck_hip_is(hipGetDevicePropertiesR0600(NULL, 0), hipErrorInvalidValue);
    char name[8];
    ck_hip(hipDeviceGetName(name, sizeof(name), 0));
    ck_assert_str_eq(name, "AMD Ins");
}
END_TEST

START_TEST(test_hip_device_attributes)
{
    static const struct {
        hipDeviceAttribute_t attr;
        int value;
    } rows[] = {
        { hipDeviceAttributeMultiprocessorCount, 256 },
        { hipDeviceAttributeWarpSize, 64 },
        { hipDeviceAttributeClockRate, 2400000 },
        { hipDeviceAttributeL2CacheSize, 4 << 20 },
        { hipDeviceAttributeMaxThreadsPerBlock, 1024 },
        { hipDeviceAttributeMaxSharedMemoryPerBlock, 163840 },
        { hipDeviceAttributeSharedMemPerBlockOptin, 163840 },
        { hipDeviceAttributeComputeCapabilityMajor, 9 },
        { hipDeviceAttributeComputeCapabilityMinor, 5 },
        { hipDeviceAttributeNumberOfXccs, 8 },
        { hipDeviceAttributeMaxAvailableVgprsPerThread, 512 },
        { hipDeviceAttributeTotalGlobalMem, INT32_MAX },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int value = -1;
        ck_hip(hipDeviceGetAttribute(&value, rows[i].attr, 0));
        ck_assert_int_eq(value, rows[i].value);
    }
    int value = -1;
    ck_hip_is(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)9998, 0),
              hipErrorInvalidValue);
    ck_hip_is(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
    ck_hip_is(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 7),
              hipErrorInvalidDevice);
}
END_TEST

START_TEST(test_hip_device_none)
{
    with_env("MXGSIM_DEVICES", "0");
    int count = -1;
    void *p = NULL;
    ck_hip_is(hipGetDeviceCount(&count), hipErrorNoDevice);
    ck_assert_int_eq(count, 0);
    ck_hip_is(hipInit(0), hipErrorNoDevice);
    ck_hip_is(hipMalloc(&p, 16), hipErrorNoDevice);
    ck_hip_is(hipDeviceSynchronize(), hipErrorNoDevice);
    int version = 0;
    ck_hip(hipRuntimeGetVersion(&version));
    ck_assert_int_eq(version / 10000000, 7);
}
END_TEST

START_TEST(test_hip_device_several)
{
    with_env("MXGSIM_DEVICES", "3");
    int count = 0, device = -1;
    ck_hip(hipGetDeviceCount(&count));
    ck_assert_int_eq(count, 3);
    ck_hip(hipSetDevice(2));
    ck_hip(hipGetDevice(&device));
    ck_assert_int_eq(device, 2);
    ck_hip_is(hipSetDevice(3), hipErrorInvalidDevice);
    ck_hip_is(hipSetDevice(-1), hipErrorInvalidDevice);
    void *p = NULL;
    ck_hip(hipMalloc(&p, 100));
    hipPointerAttribute_t a;
    ck_hip(hipPointerGetAttributes(&a, p));
    ck_assert_int_eq(a.device, 2);
    hipStream_t stream;
    ck_hip(hipStreamCreate(&stream));
    ck_hip(hipStreamGetDevice(stream, &device));
    ck_assert_int_eq(device, 2);
    ck_assert_int_eq(hipGetStreamDeviceId(stream), 2);
    char bus[32];
    ck_hip(hipDeviceGetPCIBusId(bus, sizeof(bus), 1));
    ck_hip(hipDeviceGetByPCIBusId(&device, bus));
    ck_assert_int_eq(device, 1);
    hipCtx_t ctx;
    ck_hip(hipDevicePrimaryCtxRetain(&ctx, 1));
    ck_hip(hipCtxSetCurrent(ctx));
    ck_hip(hipCtxGetDevice(&device));
    ck_assert_int_eq(device, 1);
    ck_hip(hipFree(p));
    ck_hip(hipStreamDestroy(stream));
}
END_TEST

START_TEST(test_hip_error_last_semantics)
{
    int count;
    ck_hip_is(hipSetDevice(9), hipErrorInvalidDevice);
    /* A success does not hide the error; reading it clears it. */
    ck_hip(hipGetDeviceCount(&count));
    ck_hip_is(hipPeekAtLastError(), hipErrorInvalidDevice);
    ck_hip_is(hipGetLastError(), hipErrorInvalidDevice);
    ck_hip(hipGetLastError());
    ck_hip_is(hipSetDevice(9), hipErrorInvalidDevice);
    ck_hip(hipGetDeviceCount(&count));
    ck_hip_is(hipExtGetLastError(), hipSuccess);
    ck_hip_is(hipGetLastError(), hipErrorInvalidDevice);
}
END_TEST

START_TEST(test_hip_error_texts)
{
    ck_assert_str_eq(hipGetErrorName(hipErrorNoBinaryForGpu), "hipErrorNoBinaryForGpu");
    ck_assert_str_eq(hipGetErrorString(hipErrorIllegalAddress),
                     "an illegal memory access was encountered");
    ck_assert_str_eq(hipGetErrorName((hipError_t)4242), "hipErrorUnknown");
    ck_assert_str_eq(hipGetErrorString((hipError_t)4242), "unknown error");
    const char *text = NULL;
    ck_hip(hipDrvGetErrorName(hipErrorNotReady, &text));
    ck_assert_str_eq(text, "hipErrorNotReady");
    ck_hip_is(hipDrvGetErrorString((hipError_t)4242, &text), hipErrorInvalidValue);
    ck_hip_is(hipDrvGetErrorString(hipSuccess, NULL), hipErrorInvalidValue);
}
END_TEST

/* The texts are AMD's; a few by value, so that an edit of the table is noticed. */
START_TEST(test_hip_error_values)
{
    ck_assert_int_eq(hipErrorInvalidImage, 200);
    ck_assert_int_eq(hipErrorNoBinaryForGpu, 209);
    ck_assert_int_eq(hipErrorInvalidHandle, 400);
    ck_assert_int_eq(hipErrorIllegalAddress, 700);
    ck_assert_int_eq(hipErrorLaunchFailure, 719);
    ck_assert_int_eq(hipErrorNotSupported, 801);
}
END_TEST

START_TEST(test_hip_memory_alloc)
{
    unsigned char *p = NULL, host[64];
    ck_hip(hipMalloc((void **)&p, 64));
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % 256, 0);
    ck_hip(hipMemcpy(host, p, 64, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        ck_assert_uint_eq(host[i], 0xff);
    }
    void *base = NULL, *none = p;
    size_t size = 0;
    ck_hip(hipMemGetAddressRange(&base, &size, p + 10));
    ck_assert_ptr_eq(base, p);
    ck_assert_uint_eq(size, 64);
    ck_hip(hipMalloc(&none, 0));
    ck_assert_ptr_null(none);
    ck_hip_is(hipMalloc(NULL, 10), hipErrorInvalidValue);
    ck_hip_is(hipFree(p + 4), hipErrorInvalidValue);
    ck_hip_is(hipHostFree(p), hipErrorInvalidValue);
    ck_hip(hipFree(p));
    ck_hip_is(hipFree(p), hipErrorInvalidValue);
    ck_hip(hipFree(NULL));
}
END_TEST

START_TEST(test_hip_memory_poison)
{
    with_env("MXGSIM_POISON", "0x5a");
    unsigned char *p = NULL, byte = 0;
    ck_hip(hipHostMalloc((void **)&p, 32, hipHostMallocDefault));
    ck_assert_uint_eq(p[31], 0x5a);
    ck_hip(hipHostFree(p));
    ck_hip(hipMalloc((void **)&p, 1));
    ck_hip(hipMemcpyDtoH(&byte, p, 1));
    ck_assert_uint_eq(byte, 0x5a);
    ck_hip(hipFree(p));
}
END_TEST

START_TEST(test_hip_memory_limit)
{
    with_env("MXGSIM_MEMORY", "1048576");
    void *a = NULL, *b = NULL;
    size_t free_bytes = 0, total = 0;
    ck_hip(hipMalloc(&a, 1000000));
    ck_hip(hipMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(total, 1048576);
    ck_assert_uint_eq(free_bytes, 48576);
    ck_hip_is(hipMalloc(&b, 50000), hipErrorOutOfMemory);
    ck_assert_ptr_null(b);
    ck_hip_is(hipMalloc(&b, SIZE_MAX), hipErrorOutOfMemory);
    ck_hip(hipFree(a));
    ck_hip(hipMalloc(&b, 1048576));
    ck_hip(hipFree(b));
}
END_TEST

START_TEST(test_hip_memory_host_register)
{
    static int data[256];
    hipPointerAttribute_t a;
    ck_hip(hipPointerGetAttributes(&a, data));
    ck_assert_int_eq(a.type, hipMemoryTypeUnregistered);
    ck_assert_int_eq(a.device, -2);
    ck_hip(hipHostRegister(data, sizeof(data), hipHostRegisterDefault));
    ck_hip_is(hipHostRegister(data + 1, 64, 0), hipErrorHostMemoryAlreadyRegistered);
    ck_hip(hipPointerGetAttributes(&a, data + 5));
    ck_assert_int_eq(a.type, hipMemoryTypeHost);
    ck_assert_ptr_eq(a.hostPointer, data + 5);
    void *device = NULL;
    ck_hip(hipHostGetDevicePointer(&device, data, 0));
    ck_assert_ptr_eq(device, data);
    ck_hip(hipHostUnregister(data));
    ck_hip_is(hipHostUnregister(data), hipErrorHostMemoryNotRegistered);
    ck_hip_is(hipHostMalloc(&device, 8, hipHostMallocCoherent | hipHostMallocNonCoherent),
              hipErrorInvalidValue);
}
END_TEST

START_TEST(test_hip_copy_checks)
{
    char *a = NULL, *b = NULL, host[128] = { 0 };
    ck_hip(hipMalloc((void **)&a, 128));
    ck_hip(hipMalloc((void **)&b, 128));
    ck_hip_is(hipMemcpy(a, host, 129, hipMemcpyHostToDevice), hipErrorInvalidValue);
    ck_hip_is(hipMemcpy(a + 64, host, 65, hipMemcpyHostToDevice), hipErrorInvalidValue);
    ck_hip_is(hipMemcpy(NULL, host, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    ck_hip_is(hipMemcpy(a, host, 1, (hipMemcpyKind)77), hipErrorInvalidMemcpyDirection);
    ck_hip_is(hipMemcpy(host, host + 64, 8, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    ck_hip(hipMemcpy(a, host, 0, (hipMemcpyKind)77));
    host[127] = 42;
    ck_hip(hipMemcpy(a, host, 128, hipMemcpyDefault));
    ck_hip(hipMemcpyDtoD(b, a, 128));
    memset(host, 0, sizeof(host));
    ck_hip(hipMemcpyDtoH(host, b, 128));
    ck_assert_int_eq(host[127], 42);
    ck_hip(hipFree(a));
    /* A freed address is not taken for ordinary host memory. */
    ck_hip_is(hipMemcpy(host, a, 8, hipMemcpyDefault), hipErrorInvalidValue);
    ck_hip_is(hipMemset(a, 0, 8), hipErrorInvalidValue);
    ck_hip(hipFree(b));
}
END_TEST

START_TEST(test_hip_memset_widths)
{
    unsigned char *p = NULL, host[64];
    hipStream_t s;
    ck_hip(hipStreamCreate(&s));
    ck_hip(hipMalloc((void **)&p, 64));
    ck_hip(hipMemset(p, 0x101, 64)); /* only the low byte counts */
    ck_hip(hipMemsetD8(p + 1, 0x22, 3));
    ck_hip(hipMemsetD16(p + 8, 0x3344, 2));
    ck_hip(hipMemsetD32(p + 16, 0x55667788, 2));
    ck_hip(hipMemsetAsync(p + 32, 0x99, 2, s));
    ck_hip(hipMemsetD8Async(p + 34, 0xaa, 2, s));
    ck_hip(hipMemsetD16Async(p + 36, 0xbbcc, 1, s));
    ck_hip(hipMemsetD32Async(p + 40, -2, 1, s));
    ck_hip(hipMemcpy(host, p, 64, hipMemcpyDeviceToHost));
    static const unsigned char expected[44] = {
        1, 0x22, 0x22, 0x22, 1,    1,    1,    1,    0x44, 0x33, 0x44, 0x33, 1,    1,   1,
        1, 0x88, 0x77, 0x66, 0x55, 0x88, 0x77, 0x66, 0x55, 1,    1,    1,    1,    1,   1,
        1, 1,    0x99, 0x99, 0xaa, 0xaa, 0xcc, 0xbb, 1,    1,    0xfe, 0xff, 0xff, 0xff
    };
    ck_assert_mem_eq(host, expected, sizeof(expected));
    ck_hip_is(hipMemsetD32(p, 0, 17), hipErrorInvalidValue);
    ck_hip_is(hipMemsetD32(p, 0, SIZE_MAX / 2), hipErrorInvalidValue);
    ck_hip_is(hipMemset(host, 0, 1), hipErrorInvalidValue);
    ck_hip(hipFree(p));
    ck_hip(hipStreamDestroy(s));
}
END_TEST

START_TEST(test_hip_inject_nth_call)
{
    with_env("MXGSIM_FAIL", "hipMalloc:2:2,hipSetDevice:1+:101,nonsense,hipMalloc:x:1");
    void *p = NULL, *q = NULL;
    ck_hip(hipMalloc(&p, 8));
    ck_hip_is(hipMalloc(&q, 8), hipErrorOutOfMemory);
    ck_hip_is(hipGetLastError(), hipErrorOutOfMemory);
    ck_hip(hipMalloc(&q, 8));
    ck_hip_is(hipSetDevice(0), hipErrorInvalidDevice);
    ck_hip_is(hipSetDevice(0), hipErrorInvalidDevice);
    ck_assert_uint_eq(mxgsim_call_count("hipMalloc"), 3);
    mxgsim_clear_faults();
    ck_hip(hipSetDevice(0));
    ck_assert_int_eq(mxgsim_fail("hipFree", 1, 0, hipErrorUnknown), 0);
    ck_hip_is(hipFree(p), hipErrorUnknown);
    ck_hip(hipFree(p));
    ck_hip(hipFree(q));
    ck_assert_int_ne(mxgsim_fail("hipNoSuchCall", 1, 0, 1), 0);
    ck_assert_int_ne(mxgsim_delay(NULL, 1), 0);
}
END_TEST

START_TEST(test_hip_get_proc_address)
{
    void *p = NULL;
    int found = -1;
    ck_hip(hipGetProcAddress("hipMalloc", &p, 700, 0, &found));
    ck_assert_int_eq(found, 0);
    ck_assert(p == (void *)(uintptr_t)hipMalloc);
    ck_hip(hipGetProcAddress("hipGetDeviceProperties", &p, 700, 0, NULL));
    ck_assert(p == (void *)(uintptr_t)hipGetDevicePropertiesR0600);
    ck_hip(hipGetProcAddress("hipMemcpyAsync", &p, 700, 2, NULL));
    ck_assert(p == (void *)(uintptr_t)hipMemcpyAsync_spt);
    ck_hip_is(hipGetProcAddress("hipNoSuchThing", &p, 700, 0, &found), hipErrorInvalidValue);
    ck_assert_int_eq(found, 1);
}
END_TEST

START_TEST(test_hip_environment_nonsense)
{
    with_env("MXGSIM_DEVICES", "many");
    with_env("MXGSIM_MEMORY", "-1");
    with_env("MXGSIM_POISON", "256");
    int count = 0;
    size_t total = 0;
    ck_hip(hipGetDeviceCount(&count));
    ck_assert_int_eq(count, 1);
    ck_hip(hipMemGetInfo(NULL, &total));
    ck_assert_uint_eq(total, (size_t)288 << 30);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hip_runtime");
    TCase *c = hip_test_case(s, "device");
    tcase_add_test(c, test_hip_device_properties);
    tcase_add_test(c, test_hip_device_attributes);
    tcase_add_test(c, test_hip_device_none);
    tcase_add_test(c, test_hip_device_several);
    c = hip_test_case(s, "error");
    tcase_add_test(c, test_hip_error_last_semantics);
    tcase_add_test(c, test_hip_error_texts);
    tcase_add_test(c, test_hip_error_values);
    c = hip_test_case(s, "memory");
    tcase_add_test(c, test_hip_memory_alloc);
    tcase_add_test(c, test_hip_memory_poison);
    tcase_add_test(c, test_hip_memory_limit);
    tcase_add_test(c, test_hip_memory_host_register);
    tcase_add_test(c, test_hip_copy_checks);
    tcase_add_test(c, test_hip_memset_widths);
    c = hip_test_case(s, "control");
    tcase_add_test(c, test_hip_inject_nth_call);
    tcase_add_test(c, test_hip_get_proc_address);
    tcase_add_test(c, test_hip_environment_nonsense);
    return hip_test_main(s);
}
