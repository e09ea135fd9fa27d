/* SPDX-License-Identifier: MIT */
/* Statuses and the calling thread's detail text. */
#ifndef MXG_STATUS_H
#define MXG_STATUS_H

#include "mxgemm.h"

/* Longest detail text kept, terminator included; compile logs are cut to fit. */
#define STATUS_DETAIL_SIZE 8192

/*
 * Set the thread's detail text and return `status`, so that callers can `return
 * status_set(...)`.
 */
mxg_status status_set(mxg_status status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Put a text in front of the present detail text ("while ...: detail"). */
mxg_status status_prefix(mxg_status status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
