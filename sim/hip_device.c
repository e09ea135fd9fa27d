/* SPDX-License-Identifier: MIT */
/*
 * Devices: count, choice, properties and attributes of the simulated MI355X,
 * synchronising and resetting, and the few context calls that HIP keeps.
 *
 * Figures are those of AMD's CDNA4 white paper and data sheet where they give
 * them; what AMD's runtime derives from them is derived the same way.  Timing figures
 * describe the real chip, not the simulation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_core.h"
#include "hip_rt.h"

static int clamp_int(size_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

static bool device_exists(int device)
{
    return device >= 0 && device < hip_rt.device_count;
}

/* "gfx950:..." -> 9, 5; "gfx90a" -> 9, 0; the last two digits are minor and stepping. */
static void arch_version(int *major, int *minor, int *number)
{
    const char *digits = strncmp(hip_rt.arch, "gfx", 3) == 0 ? hip_rt.arch + 3 : "000";
    const int length = (int)strcspn(digits, ":");
    *major = 0;
    for (int i = 0; i < length - 2; i++) {
        *major = *major * 10 + (digits[i] - '0');
    }
    *minor = length >= 2 ? digits[length - 2] - '0' : 0;
    const int stepping =
        length >= 1 ? (int)strtol((char[]){ digits[length - 1], 0 }, NULL, 16) : 0;
    *number = *major * 100 + *minor * 10 + stepping;
}

static void fill_limits(hipDeviceProp_tR0600 *p)
{
    p->sharedMemPerBlock = HIP_SIM_LDS_BYTES; /* no opt-in is needed on AMD */
    p->sharedMemPerBlockOptin = HIP_SIM_LDS_BYTES;
    p->sharedMemPerMultiprocessor = HIP_SIM_LDS_BYTES;
    p->maxSharedMemoryPerMultiProcessor = HIP_SIM_LDS_BYTES;
    p->regsPerBlock = 65536;
    p->regsPerMultiprocessor = 65536;
    p->warpSize = 64;
    p->maxThreadsPerBlock = (int)HIP_SIM_MAX_THREADS;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsDim[2] = (int)HIP_SIM_MAX_THREADS;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65536;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->memPitch = INT32_MAX;
    p->totalConstMem = INT32_MAX;
    p->textureAlignment = 256;
    p->texturePitchAlignment = 256;
    p->surfaceAlignment = 256;
}

static void fill_features(hipDeviceProp_tR0600 *p)
{
    p->deviceOverlap = 1;
    p->asyncEngineCount = 8;
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->ECCEnabled = 1;
    p->unifiedAddressing = 1;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = 1;
    p->localL1CacheSupported = 1;
    p->hostNativeAtomicSupported = 1;
    p->hostRegisterSupported = 1;
    p->isLargeBar = 1;
    /* The one-bit fields of hipDeviceArch_t that AMD's runtime sets, from bit 0: 32-bit global
     * and shared atomics and exchanges, float add, 64-bit atomics, doubles, vote, ballot,
     * shuffle; bit 12: system fence; bit 15: 3-D grids. */
    p->arch.bits = 0x7ffu | 1u << 12 | 1u << 15;
}

static hipError_t fill_properties(hipDeviceProp_tR0600 *p, int device)
{
    if (p == NULL) {
        return hipErrorInvalidValue;
    }
    if (!device_exists(device)) {
        return hipErrorInvalidDevice;
    }
    memset(p, 0, sizeof(*p));
    (void)snprintf(p->name, sizeof(p->name), "AMD Instinct MI355X (mxgemm simulator)");
    (void)snprintf(p->uuid.bytes, sizeof(p->uuid.bytes), "mxgsim-%08x", (unsigned)device);
    (void)snprintf(p->gcnArchName, sizeof(p->gcnArchName), "%s", hip_rt.arch);
    int number = 0;
    arch_version(&p->major, &p->minor, &number);
    p->totalGlobalMem = hip_rt.memory_bytes;
    p->multiProcessorCount = 256;
    p->clockRate = 2400000;
    p->memoryClockRate = 2000000;
    p->memoryBusWidth = 8192;
    p->clockInstructionRate = HIP_SIM_WALL_CLOCK_KHZ;
    p->l2CacheSize = 4 << 20; /* of one of the eight dies, as AMD's runtime reports it */
    p->persistingL2CacheMaxSize = p->l2CacheSize;
    p->pciBusID = 5 + device;
    p->multiGpuBoardGroupID = 0;
    fill_limits(p);
    fill_features(p);
    return hipSuccess;
}

hipError_t hipInit(unsigned flags)
{
    HIP_ENTER(hipInit, HIP_NEED_DEVICE);
    return hip_leave(flags != 0 ? hipErrorInvalidValue : hipSuccess);
}

static hipError_t version(int *out)
{
    if (out == NULL) {
        return hipErrorInvalidValue;
    }
    *out = HIP_SIM_VERSION;
    return hipSuccess;
}

hipError_t hipDriverGetVersion(int *driverVersion)
{
    HIP_ENTER(hipDriverGetVersion, 0);
    return hip_leave(version(driverVersion));
}

hipError_t hipRuntimeGetVersion(int *runtimeVersion)
{
    HIP_ENTER(hipRuntimeGetVersion, 0);
    return hip_leave(version(runtimeVersion));
}

hipError_t hipGetDeviceCount(int *count)
{
    HIP_ENTER(hipGetDeviceCount, 0);
    if (count == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *count = hip_rt.device_count;
    return hip_leave(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipGetDevice(int *deviceId)
{
    HIP_ENTER(hipGetDevice, HIP_NEED_DEVICE);
    if (deviceId == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *deviceId = hip_tls.device;
    return hip_leave(hipSuccess);
}

hipError_t hipSetDevice(int deviceId)
{
    HIP_ENTER(hipSetDevice, HIP_NEED_DEVICE);
    if (!device_exists(deviceId)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    hip_tls.device = deviceId;
    return hip_leave(hipSuccess);
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal)
{
    HIP_ENTER(hipDeviceGet, HIP_NEED_DEVICE);
    if (device == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    if (!device_exists(ordinal)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    *device = ordinal;
    return hip_leave(hipSuccess);
}

hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device)
{
    HIP_ENTER(hipDeviceGetName, HIP_NEED_DEVICE);
    hipDeviceProp_tR0600 p;
    if (name == NULL || len <= 0) {
        return hip_leave(hipErrorInvalidValue);
    }
    const hipError_t status = fill_properties(&p, device);
    if (status == hipSuccess) {
        (void)snprintf(name, (size_t)len, "%s", p.name);
    }
    return hip_leave(status);
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    HIP_ENTER(hipDeviceGetUuid, HIP_NEED_DEVICE);
    hipDeviceProp_tR0600 p;
    const hipError_t status = uuid == NULL ? hipErrorInvalidValue : fill_properties(&p, device);
    if (status == hipSuccess) {
        *uuid = p.uuid;
    }
    return hip_leave(status);
}

hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    HIP_ENTER(hipDeviceGetPCIBusId, HIP_NEED_DEVICE);
    hipDeviceProp_tR0600 p;
    if (pciBusId == NULL || len < 13) {
        return hip_leave(hipErrorInvalidValue);
    }
    const hipError_t status = fill_properties(&p, device);
    if (status == hipSuccess) {
        (void)snprintf(pciBusId, (size_t)len, "%04x:%02x:%02x.0", (unsigned)p.pciDomainID,
                       (unsigned)p.pciBusID, (unsigned)p.pciDeviceID);
    }
    return hip_leave(status);
}

hipError_t hipDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    HIP_ENTER(hipDeviceGetByPCIBusId, HIP_NEED_DEVICE);
    unsigned domain = 0, bus = 0, slot = 0;
    if (device == NULL || pciBusId == NULL ||
        sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        return hip_leave(hipErrorInvalidValue);
    }
    for (int i = 0; i < hip_rt.device_count; i++) {
        hipDeviceProp_tR0600 p;
        if (fill_properties(&p, i) == hipSuccess && (unsigned)p.pciBusID == bus &&
            (unsigned)p.pciDomainID == domain && (unsigned)p.pciDeviceID == slot) {
            *device = i;
            return hip_leave(hipSuccess);
        }
    }
    return hip_leave(hipErrorInvalidDevice);
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    HIP_ENTER(hipDeviceTotalMem, HIP_NEED_DEVICE);
    if (!device_exists(device)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    if (bytes == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *bytes = hip_rt.memory_bytes;
    return hip_leave(hipSuccess);
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
    HIP_ENTER(hipDeviceComputeCapability, HIP_NEED_DEVICE);
    if (!device_exists(device)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    if (major == NULL || minor == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    int number = 0;
    arch_version(major, minor, &number);
    return hip_leave(hipSuccess);
}

static hipError_t attribute(const hipDeviceProp_tR0600 *p, hipDeviceAttribute_t attr,
                            int *value)
{
    switch ((int)attr) {
#define HIP_ATTR(name, number, expr)                                                           \
    case number:                                                                               \
        *value = expr;                                                                         \
        return hipSuccess;
#include "hip_attrs.def"
#undef HIP_ATTR
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId)
{
    HIP_ENTER(hipDeviceGetAttribute, HIP_NEED_DEVICE);
    hipDeviceProp_tR0600 p;
    const hipError_t status = pi == NULL ? hipErrorInvalidValue : fill_properties(&p, deviceId);
    return hip_leave(status != hipSuccess ? status : attribute(&p, attr, pi));
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int device)
{
    HIP_ENTER(hipGetDevicePropertiesR0600, HIP_NEED_DEVICE);
    return hip_leave(fill_properties(prop, device));
}

/* The old layout: the fields that both have. */
static hipError_t fill_old_properties(hipDeviceProp_tR0000 *o, int device)
{
    hipDeviceProp_tR0600 p;
    const hipError_t status = o == NULL ? hipErrorInvalidValue : fill_properties(&p, device);
    if (status != hipSuccess) {
        return status;
    }
    memset(o, 0, sizeof(*o));
    memcpy(o->name, p.name, sizeof(o->name));
    memcpy(o->gcnArchName, p.gcnArchName, sizeof(o->gcnArchName));
    memcpy(o->maxThreadsDim, p.maxThreadsDim, sizeof(o->maxThreadsDim));
    memcpy(o->maxGridSize, p.maxGridSize, sizeof(o->maxGridSize));
#define COPY(field) o->field = p.field
    COPY(totalGlobalMem), COPY(sharedMemPerBlock), COPY(regsPerBlock), COPY(warpSize);
    COPY(maxThreadsPerBlock), COPY(clockRate), COPY(memoryClockRate), COPY(memoryBusWidth);
    COPY(totalConstMem), COPY(major), COPY(minor), COPY(multiProcessorCount);
    COPY(l2CacheSize), COPY(maxThreadsPerMultiProcessor), COPY(computeMode);
    COPY(clockInstructionRate), COPY(arch), COPY(concurrentKernels), COPY(pciDomainID);
    COPY(pciBusID), COPY(pciDeviceID), COPY(maxSharedMemoryPerMultiProcessor);
    COPY(isMultiGpuBoard), COPY(canMapHostMemory), COPY(integrated), COPY(cooperativeLaunch);
    COPY(cooperativeMultiDeviceLaunch), COPY(memPitch), COPY(textureAlignment);
    COPY(texturePitchAlignment), COPY(kernelExecTimeoutEnabled), COPY(ECCEnabled);
    COPY(tccDriver), COPY(isLargeBar), COPY(asicRevision), COPY(managedMemory);
    COPY(directManagedMemAccessFromHost), COPY(concurrentManagedAccess);
    COPY(pageableMemoryAccess), COPY(pageableMemoryAccessUsesHostPageTables);
#undef COPY
    int major = 0, minor = 0;
    arch_version(&major, &minor, &o->gcnArch);
    return hipSuccess;
}

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int device)
{
    HIP_ENTER(hipGetDevicePropertiesR0000, HIP_NEED_DEVICE);
    return hip_leave(fill_old_properties(prop, device));
}

hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *prop, int device)
{
    HIP_ENTER(hipGetDeviceProperties, HIP_NEED_DEVICE);
    return hip_leave(fill_old_properties(prop, device));
}

hipError_t hipDeviceSynchronize(void)
{
    HIP_ENTER(hipDeviceSynchronize, HIP_NEED_DEVICE);
    const hipError_t status = hip_capture_guard();
    return hip_leave(status != hipSuccess ? status
                                          : hip_device_finish(hip_current_device(), false));
}

/*
 * After the device's work: its streams end, its memory is freed, its fault is
 * forgotten.  Modules stay loaded.
 */
hipError_t hipDeviceReset(void)
{
    HIP_ENTER(hipDeviceReset, HIP_NEED_DEVICE);
    struct hip_device *device = hip_current_device();
    (void)hip_device_finish(device, false);
    hip_streams_close(device);
    hip_alloc_free_device(device->id);
    pthread_mutex_lock(&hip_rt.lock);
    device->fault = hipSuccess;
    device->flags = 0;
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(hipSuccess);
}

hipError_t hipSetDeviceFlags(unsigned flags)
{
    HIP_ENTER(hipSetDeviceFlags, HIP_NEED_DEVICE);
    /* hipDeviceScheduleMask, hipDeviceMapHost, hipDeviceLmemResizeToMax: hints without effect.
     */
    if ((flags & ~0x1fu) != 0) {
        return hip_leave(hipErrorInvalidValue);
    }
    pthread_mutex_lock(&hip_rt.lock);
    hip_current_device()->flags = flags;
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(hipSuccess);
}

hipError_t hipGetDeviceFlags(unsigned *flags)
{
    HIP_ENTER(hipGetDeviceFlags, HIP_NEED_DEVICE);
    if (flags == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    pthread_mutex_lock(&hip_rt.lock);
    *flags = hip_current_device()->flags;
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(hipSuccess);
}

hipError_t hipDeviceCanAccessPeer(int *canAccessPeer, int deviceId, int peerDeviceId)
{
    HIP_ENTER(hipDeviceCanAccessPeer, HIP_NEED_DEVICE);
    if (canAccessPeer == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    if (!device_exists(deviceId) || !device_exists(peerDeviceId)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    *canAccessPeer = deviceId != peerDeviceId; /* one address space */
    return hip_leave(hipSuccess);
}

/* ------------------------------------------------------------------ contexts */

/* A context is its device's primary one; the handle is the device's record. */
static hipCtx_t context_of(int device)
{
    return (hipCtx_t)(void *)&hip_rt.devices[device];
}

hipError_t hipCtxGetCurrent(hipCtx_t *ctx)
{
    HIP_ENTER(hipCtxGetCurrent, HIP_NEED_DEVICE);
    if (ctx == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *ctx = context_of(hip_tls.device);
    return hip_leave(hipSuccess);
}

hipError_t hipCtxSetCurrent(hipCtx_t ctx)
{
    HIP_ENTER(hipCtxSetCurrent, HIP_NEED_DEVICE);
    for (int i = 0; i < hip_rt.device_count; i++) {
        if (ctx == context_of(i)) {
            hip_tls.device = i;
            return hip_leave(hipSuccess);
        }
    }
    return hip_leave(hipErrorInvalidContext);
}

hipError_t hipCtxSynchronize(void)
{
    HIP_ENTER(hipCtxSynchronize, HIP_NEED_DEVICE);
    const hipError_t status = hip_capture_guard();
    return hip_leave(status != hipSuccess ? status
                                          : hip_device_finish(hip_current_device(), false));
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
    HIP_ENTER(hipCtxGetDevice, HIP_NEED_DEVICE);
    if (device == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    *device = hip_tls.device;
    return hip_leave(hipSuccess);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev)
{
    HIP_ENTER(hipDevicePrimaryCtxRetain, HIP_NEED_DEVICE);
    if (pctx == NULL) {
        return hip_leave(hipErrorInvalidValue);
    }
    if (!device_exists(dev)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    *pctx = context_of(dev);
    return hip_leave(hipSuccess);
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev)
{
    HIP_ENTER(hipDevicePrimaryCtxRelease, HIP_NEED_DEVICE);
    return hip_leave(device_exists(dev) ? hipSuccess : hipErrorInvalidDevice);
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned *flags, int *active)
{
    HIP_ENTER(hipDevicePrimaryCtxGetState, HIP_NEED_DEVICE);
    if (!device_exists(dev)) {
        return hip_leave(hipErrorInvalidDevice);
    }
    pthread_mutex_lock(&hip_rt.lock);
    if (flags != NULL) {
        *flags = hip_rt.devices[dev].flags;
    }
    if (active != NULL) {
        *active = dev == hip_tls.device;
    }
    pthread_mutex_unlock(&hip_rt.lock);
    return hip_leave(hipSuccess);
}
