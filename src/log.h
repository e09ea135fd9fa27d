/* SPDX-License-Identifier: MIT */
/*
 * Log lines to the caller's callback, or to stderr.  Arguments are not evaluated when the
 * level is off.
 */
#ifndef MXG_LOG_H
#define MXG_LOG_H

#include "mxgemm.h"

struct log {
    int level; /* mxg_log_level; lines above it are dropped */
    mxg_log_callback callback; /* NULL = stderr */
    void *user;
};

void log_write(const struct log *log, mxg_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_at(log, lvl, ...)                          \
    do {                                               \
        if ((int)(lvl) <= (log)->level) {              \
            log_write((log), (lvl), __VA_ARGS__);      \
        }                                              \
    } while (0)

#define log_error(log, ...) log_at(log, MXG_LOG_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_at(log, MXG_LOG_WARNING, __VA_ARGS__)
#define log_info(log, ...) log_at(log, MXG_LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at(log, MXG_LOG_DEBUG, __VA_ARGS__)

#endif
