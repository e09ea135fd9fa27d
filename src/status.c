/* SPDX-License-Identifier: MIT */
/*
 * Statuses and the calling thread's detail text.  The text lives in a fixed
 * thread-local buffer: no allocation that could fail while an error is being
 * reported, and no TLS destructor that could run after dlclose.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[STATUS_DETAIL_SIZE];

mxg_status status_set(mxg_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    return status;
}

mxg_status status_prefix(mxg_status status, const char *fmt, ...)
{
    char head[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(head, sizeof head, fmt, args);
    va_end(args);
    if (n < 0) {
        return status;
    }
    size_t len = (size_t)n < sizeof head ? (size_t)n : sizeof head - 1;
    size_t keep = strlen(detail);
    if (keep > sizeof detail - 1 - len) {
        keep = sizeof detail - 1 - len;
    }
    memmove(detail + len, detail, keep);
    memcpy(detail, head, len);
    detail[len + keep] = '\0';
    return status;
}

const char *mxg_last_error(void)
{
    return detail;
}

const char *mxg_status_name(mxg_status status)
{
    switch (status) {
#define STATUS_NAME(name, value, text) case MXG_##name: return "MXG_" #name;
        MXG_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "MXG_UNKNOWN";
}

const char *mxg_status_string(mxg_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text) case MXG_##name: return text;
        MXG_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

int mxg_version(void)
{
    return MXG_VERSION;
}
