/* SPDX-License-Identifier: MIT */
/* Error names, texts and the thread's last error. */
#include "hip_rt.h"

struct error_row {
    int value;
    const char *name, *text;
};

static const struct error_row rows[] = {
#define HIP_ERROR(error_name, error_value, error_text) { error_value, #error_name, error_text },
#include "hip_errors.def"
#undef HIP_ERROR
};

static const struct error_row *row_of(hipError_t error)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value == (int)error) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *hipGetErrorName(hipError_t hip_error)
{
    const struct error_row *row = row_of(hip_error);
    return row != NULL ? row->name : "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t hipError)
{
    const struct error_row *row = row_of(hipError);
    return row != NULL ? row->text : "unknown error";
}

hipError_t hipDrvGetErrorName(hipError_t hipError, const char **errorString)
{
    if (errorString == NULL) {
        return hipErrorInvalidValue;
    }
    *errorString = hipGetErrorName(hipError);
    return row_of(hipError) != NULL ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipDrvGetErrorString(hipError_t hipError, const char **errorString)
{
    if (errorString == NULL) {
        return hipErrorInvalidValue;
    }
    *errorString = hipGetErrorString(hipError);
    return row_of(hipError) != NULL ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGetLastError(void)
{
    const hipError_t error = hip_tls.last_error;
    hip_tls.last_error = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    return hip_tls.last_error;
}

hipError_t hipExtGetLastError(void)
{
    const hipError_t error = hip_tls.last_call;
    hip_tls.last_call = hipSuccess;
    return error;
}
