/* SPDX-License-Identifier: MIT */
/* Log lines to the caller's callback, or to stderr. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

void log_write(const struct log *log, mxg_log_level level, const char *fmt, ...)
{
    static const char *const names[] = { "", "error", "warning", "info", "debug" };
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    /* What a compiler printed may have several lines; a log entry is one. */
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r') {
            *c = ' ';
        }
    }
    if (log->callback != NULL) {
        log->callback(level, text, log->user);
    } else {
        fprintf(stderr, "mxgemm: %s: %s\n", names[level], text);
    }
}
