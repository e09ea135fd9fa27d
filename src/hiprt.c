/* SPDX-License-Identifier: MIT */
/* The HIP runtime, opened with dlopen: AMD's library or the simulator. */
#include "hiprt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynlib.h"
#include "status.h"

static const struct dynlib_symbol symbols[] = {
#define HIPRT(name, parameters) { #name, offsetof(struct hiprt, name), 0 },
#include "hiprt.def"
#undef HIPRT
    { "hipGetErrorName", offsetof(struct hiprt, error_name), 0 },
    { "hipGetErrorString", offsetof(struct hiprt, error_string), 0 },
};

mxg_status hiprt_open(const char *name, const char *rocm_path, struct hiprt *hip)
{
    char in_rocm[512];
    const char *names[6];
    size_t n = 0;
    memset(hip, 0, sizeof *hip);
    if (name != NULL && *name != '\0') {
        names[n++] = name;
    } else {
        names[n++] = "libamdhip64.so.7";
        names[n++] = "libamdhip64.so.6";
        names[n++] = "libamdhip64.so";
        snprintf(in_rocm, sizeof in_rocm, "%s/lib/libamdhip64.so",
                 rocm_path != NULL && *rocm_path != '\0' ? rocm_path : "/opt/rocm");
        names[n++] = in_rocm;
    }
    names[n] = NULL;
    const char *opened = NULL;
    mxg_status status = dynlib_open(names, MXG_E_NO_HIP, &hip->handle, &opened);
    if (status != MXG_OK) {
        return status;
    }
    /* in_rocm ends with this function; the name is for messages only. */
    hip->library = opened == in_rocm ? "libamdhip64.so in ROCm's folder" : opened;
    status = dynlib_resolve(hip->handle, hip->library, symbols,
                            sizeof symbols / sizeof symbols[0], MXG_E_HIP_SYMBOL, hip);
    if (status != MXG_OK) {
        hiprt_close(hip);
    }
    return status;
}

void hiprt_close(struct hiprt *hip)
{
    dynlib_close(hip->handle);
    memset(hip, 0, sizeof *hip);
}

mxg_status hiprt_error(const struct hiprt *hip, mxg_status status, int error, const char *call)
{
    const char *name = hip->error_name(error);
    const char *text = hip->error_string(error);
    if (error == HIP_ERROR_OUT_OF_MEMORY) {
        status = MXG_E_DEVICE_MEMORY;
    }
    return status_set(status, "%s failed with %d (%s): %s", call, error,
                      name != NULL ? name : "?", text != NULL ? text : "?");
}

/*
 * gcnArchName in hipDeviceProp_tR0600 (hip_runtime_api.h of HIP 6 and 7), and room for the
 * whole structure.
 */
enum { PROPERTIES_SIZE = 4096, PROPERTIES_ARCH_OFFSET = 1160 };

/* hipDeviceAttribute_t of HIP 6 and 7. */
enum { ATTRIBUTE_MULTIPROCESSOR_COUNT = 63 };

/*
 * LDS of a gfx950 compute unit (CDNA4 ISA text, "LDS"); HIP states only what one workgroup
 * may take.
 */
enum { LDS_PER_CU = 160 * 1024 };

static mxg_status read_facts(const struct hiprt *hip, int device, struct device_facts *facts)
{
    char *properties = calloc(1, PROPERTIES_SIZE);
    if (properties == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for the device's properties");
    }
    int error = hip->hipGetDevicePropertiesR0600(properties, device);
    if (error == HIP_SUCCESS) {
        /* Longest known name: "gfx90a:sramecc+:xnack-"; a longer one is no arch of ours. */
        strncpy(facts->arch, properties + PROPERTIES_ARCH_OFFSET, sizeof facts->arch - 1);
    }
    free(properties);
    if (error != HIP_SUCCESS) {
        return hiprt_error(hip, MXG_E_HIP, error, "hipGetDevicePropertiesR0600");
    }
    int units = 0;
    error = hip->hipDeviceGetAttribute(&units, ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (error != HIP_SUCCESS || units <= 0) {
        return hiprt_error(hip, MXG_E_HIP, error, "hipDeviceGetAttribute(MultiprocessorCount)");
    }
    facts->compute_units = (uint32_t)units;
    facts->lds_per_cu = LDS_PER_CU;
    return MXG_OK;
}

mxg_status hiprt_device_facts(const struct hiprt *hip, int device, struct device_facts *facts)
{
    int count = 0;
    memset(facts, 0, sizeof *facts);
    int error = hip->hipInit(0);
    if (error == HIP_SUCCESS) {
        error = hip->hipGetDeviceCount(&count);
    }
    if (error == HIP_ERROR_NO_DEVICE || error == HIP_ERROR_INVALID_DEVICE ||
        (error == HIP_SUCCESS && count == 0)) {
        return status_set(MXG_E_NO_DEVICE,
                          "%s opened, but reports no GPU: is the amdgpu driver loaded and "
                          "/dev/kfd readable by this user?",
                          hip->library);
    }
    if (error != HIP_SUCCESS) {
        return hiprt_error(hip, MXG_E_HIP, error, "hipInit or hipGetDeviceCount");
    }
    if (device >= count) {
        return status_set(MXG_E_NO_DEVICE, "device is %d, but %s reports %d device%s", device,
                          hip->library, count, count == 1 ? "" : "s");
    }
    mxg_status status = read_facts(hip, device, facts);
    if (status == MXG_OK && !select_arch_supported(facts->arch)) {
        return status_set(MXG_E_ARCH, "device %d is \"%s\"; kernels exist for gfx950", device,
                          facts->arch);
    }
    return status;
}

mxg_status hiprt_enter(const struct hiprt *hip, int device, int *previous)
{
    int error = hip->hipGetDevice(previous);
    if (error != HIP_SUCCESS) {
        return hiprt_error(hip, MXG_E_HIP, error, "hipGetDevice");
    }
    if (*previous == device) {
        return MXG_OK;
    }
    error = hip->hipSetDevice(device);
    return error == HIP_SUCCESS ? MXG_OK : hiprt_error(hip, MXG_E_HIP, error, "hipSetDevice");
}

void hiprt_leave(const struct hiprt *hip, int device, int previous)
{
    if (previous != device) {
        hip->hipSetDevice(previous);
    }
}
