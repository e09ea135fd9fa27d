/* SPDX-License-Identifier: MIT */
/* Options and MXG_* variables of one context.  The only file that reads MXG_* variables. */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

mxg_status settings_check_size(const void *structure, size_t struct_size, size_t known,
                               const char *name)
{
    if (struct_size < known) {
        return status_set(MXG_E_VERSION,
                          "%s.struct_size is %zu; it must be %zu or more: initialise with the "
                          "header's _INIT macro",
                          name, struct_size, known);
    }
    /* Longer than any structure this library will have: the member was not initialised. */
    if (struct_size > known + 4096) {
        return status_set(MXG_E_VERSION, "%s.struct_size is %zu; at most %zu makes sense", name,
                          struct_size, known + 4096);
    }
    const unsigned char *bytes = structure;
    for (size_t i = known; i < struct_size; i++) {
        if (bytes[i] != 0) {
            return status_set(
                MXG_E_VERSION,
                "%s has a nonzero byte at offset %zu, past the %zu bytes that this "
                "library (%d) knows: a newer header's member is in use",
                name, i, known, MXG_VERSION);
        }
    }
    return MXG_OK;
}

static mxg_status take_text(const struct mem *mem, const char *option, const char *variable,
                            char **out)
{
    const char *value = option;
    if (value == NULL && variable != NULL) {
        value = secure_getenv(variable);
    }
    if (value == NULL) {
        return MXG_OK;
    }
    *out = mem_strdup(mem, value);
    return *out != NULL ? MXG_OK
                        : status_set(MXG_E_HOST_MEMORY, "no memory for the value of %s",
                                     variable != NULL ? variable : "an option");
}

static mxg_status take_number(uint64_t option, const char *variable, uint64_t fallback,
                              uint64_t *out)
{
    const char *text = secure_getenv(variable);
    *out = option != 0 ? option : fallback;
    if (option != 0 || text == NULL || *text == '\0') {
        return MXG_OK;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value == 0 || text[0] < '0' || text[0] > '9') {
        return status_set(MXG_E_OPTION, "%s is \"%s\"; it must be a whole number above 0",
                          variable, text);
    }
    *out = value;
    return MXG_OK;
}

static mxg_status take_log_level(int option, int *out)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    const char *text = secure_getenv("MXG_LOG");
    *out = MXG_LOG_WARNING;
    if (option != 0) {
        if (option < MXG_LOG_ERROR || option > MXG_LOG_DEBUG) {
            return status_set(MXG_E_OPTION, "log_level is %d; it must be %d to %d, or 0",
                              option, MXG_LOG_ERROR, MXG_LOG_DEBUG);
        }
        *out = option;
        return MXG_OK;
    }
    if (text == NULL || *text == '\0') {
        return MXG_OK;
    }
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i + 1;
            return MXG_OK;
        }
    }
    return status_set(MXG_E_OPTION,
                      "MXG_LOG is \"%s\"; it must be error, warning, info or debug", text);
}

/*
 * The default cache folder: $XDG_CACHE_HOME/mxgemm/kernels, else ~/.cache/mxgemm/kernels,
 * else none.
 */
static mxg_status default_cache_dir(struct settings *s)
{
    const char *base = secure_getenv("XDG_CACHE_HOME");
    const char *middle = "";
    /* The XDG base directory specification: a relative path is invalid and ignored. */
    if (base == NULL || base[0] != '/') {
        base = secure_getenv("HOME");
        middle = "/.cache";
    }
    if (base == NULL || base[0] != '/') {
        return MXG_OK;
    }
    const size_t size = strlen(base) + strlen(middle) + sizeof "/mxgemm/kernels";
    s->cache_dir = mem_alloc(&s->mem, size);
    if (s->cache_dir == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for the cache folder's name");
    }
    snprintf(s->cache_dir, size, "%s%s/mxgemm/kernels", base, middle);
    s->cache_dir_is_from_env = true;
    return MXG_OK;
}

static mxg_status take_cache_dir(const char *option, struct settings *s)
{
    mxg_status status = take_text(&s->mem, option, "MXG_CACHE_DIR", &s->cache_dir);
    if (status != MXG_OK) {
        return status;
    }
    s->cache_dir_is_from_env = option == NULL;
    if (s->cache_dir == NULL) {
        return default_cache_dir(s);
    }
    return MXG_OK;
}

static mxg_status read_all(const mxg_context_options *o, struct settings *s)
{
    const struct {
        const char *option, *variable;
        char **out;
    } texts[] = {
        { o->hip_library, "MXG_HIP_LIBRARY", &s->hip_library },
        { o->compiler, "MXG_COMPILER", &s->compiler },
        { o->rocm_path, "ROCM_PATH", &s->rocm_path },
        { o->rocm_prefix, "MXG_ROCM_PREFIX", &s->rocm_prefix },
        { o->worker_path, "MXG_WORKER", &s->worker_path },
        { o->cache_read_dirs, "MXG_CACHE_READ_DIRS", &s->cache_read_dirs },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mxg_status status =
            take_text(&s->mem, texts[i].option, texts[i].variable, texts[i].out);
        if (status != MXG_OK) {
            return status;
        }
    }
    const struct {
        uint64_t option;
        const char *variable;
        uint64_t fallback;
        uint64_t *out;
    } numbers[] = {
        { o->cache_max_bytes, "MXG_CACHE_MAX_BYTES", UINT64_C(1) << 30, &s->cache_max_bytes },
        { o->cache_max_entries, "MXG_CACHE_MAX_ENTRIES", 16384, &s->cache_max_entries },
        { o->compile_timeout_ms, "MXG_COMPILE_TIMEOUT_MS", 120000, &s->compile_timeout_ms },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        mxg_status status = take_number(numbers[i].option, numbers[i].variable,
                                        numbers[i].fallback, numbers[i].out);
        if (status != MXG_OK) {
            return status;
        }
    }
    mxg_status status = take_log_level(o->log_level, &s->log.level);
    return status == MXG_OK ? take_cache_dir(o->cache_dir, s) : status;
}

mxg_status settings_read(const mxg_context_options *options, struct settings *settings)
{
    static const mxg_context_options defaults = MXG_CONTEXT_OPTIONS_INIT;
    const mxg_context_options *o = options != NULL ? options : &defaults;
    memset(settings, 0, sizeof *settings);
    mxg_status status =
        settings_check_size(o, o->struct_size, sizeof *o, "mxg_context_options");
    if (status != MXG_OK) {
        return status;
    }
    if ((o->allocate == NULL) != (o->deallocate == NULL)) {
        return status_set(MXG_E_OPTION, "allocate and deallocate go together; %s is NULL",
                          o->allocate == NULL ? "allocate" : "deallocate");
    }
    if (o->device < 0) {
        return status_set(MXG_E_NO_DEVICE, "device is %d; ordinals start at 0", o->device);
    }
    settings->mem = mem_default;
    if (o->allocate != NULL) {
        settings->mem = (struct mem){ o->allocate, o->deallocate, o->allocate_user };
    }
    settings->device = o->device;
    settings->log.callback = o->log;
    settings->log.user = o->log_user;
    status = read_all(o, settings);
    if (status != MXG_OK) {
        settings_clear(settings);
    }
    return status;
}

void settings_clear(struct settings *s)
{
    char **texts[] = { &s->hip_library, &s->compiler,  &s->rocm_path,      &s->rocm_prefix,
                       &s->worker_path, &s->cache_dir, &s->cache_read_dirs };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mem_free(&s->mem, *texts[i]);
        *texts[i] = NULL;
    }
}
