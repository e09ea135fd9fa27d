/* SPDX-License-Identifier: MIT */
/* What mxgsim.h offers beyond reports, counters and faults; and look-up by name. */
#include <string.h>

#include "hip_rt.h"
#include "mxgsim.h"

int mxgsim_reset_device(int device)
{
    if (hip_start() != hipSuccess || device < 0 || device >= hip_rt.device_count ||
        hip_tls.is_stream) {
        return hipErrorInvalidDevice;
    }
    (void)hip_device_finish(&hip_rt.devices[device], false);
    pthread_mutex_lock(&hip_rt.lock);
    const hipError_t fault = hip_rt.devices[device].fault;
    hip_rt.devices[device].fault = hipSuccess;
    pthread_mutex_unlock(&hip_rt.lock);
    return fault;
}

void mxgsim_shutdown(void)
{
    hip_stop();
}

struct entry_point {
    const char *name;
    void (*function)(void);
};

/* Names without a prototype here: declared only to take their address. */
#define HIP_SIMULATED(name)
#define HIP_UNSIMULATED(name) hipError_t name(void);
#define HIP_UNSIMULATED_PTR(name) void *name(void);
#include "hip_names.def"
#undef HIP_SIMULATED
#undef HIP_UNSIMULATED
#undef HIP_UNSIMULATED_PTR

static const struct entry_point entry_points[] = {
#define HIP_SIMULATED(name) { #name, (void (*)(void))name },
#define HIP_UNSIMULATED(name) { #name, (void (*)(void))name },
#define HIP_UNSIMULATED_PTR(name) { #name, (void (*)(void))name },
#include "hip_names.def"
};

static void (*find_entry(const char *symbol))(void)
{
    for (size_t i = 0; i < sizeof(entry_points) / sizeof(entry_points[0]); i++) {
        if (strcmp(entry_points[i].name, symbol) == 0) {
            return entry_points[i].function;
        }
    }
    return NULL;
}

/* symbolStatus: 0 found, 1 not found; flags: 0, 1 legacy or 2 per-thread default stream. */
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                             int *symbolStatus)
{
    HIP_ENTER(hipGetProcAddress, 0);
    if (symbol == NULL || symbol[0] == '\0' || pfn == NULL || flags > 2 ||
        strlen(symbol) > 100) {
        return hip_leave(hipErrorInvalidValue);
    }
    *pfn = NULL;
    char name[128] = "";
    strcpy(name, symbol);
    if (hipVersion >= 600 && (strcmp(symbol, "hipGetDeviceProperties") == 0 ||
                              strcmp(symbol, "hipChooseDevice") == 0)) {
        strcat(name, "R0600");
    }
    void (*found)(void) = NULL;
    if (flags == 2) {
        strcat(name, "_spt");
        found = find_entry(name);
        name[strlen(name) - 4] = '\0';
    }
    if (found == NULL) {
        found = find_entry(name);
    }
    memcpy(pfn, &found, sizeof(*pfn));
    if (symbolStatus != NULL) {
        *symbolStatus = found == NULL;
    }
    return hip_leave(found != NULL ? hipSuccess : hipErrorInvalidValue);
}

/* A pure function of texture code that hosts call without a device. */
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (hipChannelFormatDesc){ x, y, z, w, f };
}
