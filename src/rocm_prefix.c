/* SPDX-License-Identifier: MIT */
/* Reading DIR/mxgemm-rocm.conf: lines of key=value, paths relative to DIR. */
#include "rocm_prefix.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

#define CONF_NAME "mxgemm-rocm.conf"
#define LINE_SIZE 4096

struct conf_key {
    const char *name;
    size_t offset, size;
    bool is_path; /* one path or several joined by colons, each relative to the folder */
    bool required;
};

#define CONF_KEY(member, is_path, required)                                                    \
    {                                                                                          \
#member, offsetof(struct rocm_prefix, member),                                         \
            sizeof(((struct rocm_prefix *)0)->member), is_path, required                       \
    }

static const struct conf_key conf_keys[] = {
    CONF_KEY(version, false, true),      CONF_KEY(loader, true, true),
    CONF_KEY(library_path, true, true),  CONF_KEY(comgr, true, false),
    CONF_KEY(hiprtc, true, false),       CONF_KEY(amdhip, true, false),
};
#define NUM_KEYS (sizeof conf_keys / sizeof conf_keys[0])

/*
 * Copy a value, putting the folder in front of each relative path.  false if it
 * does not fit.
 */
static bool copy_value(const struct conf_key *key, const char *dir, const char *value, char *to)
{
    if (!key->is_path) {
        int n = snprintf(to, key->size, "%s", value);
        return n >= 0 && (size_t)n < key->size;
    }
    size_t used = 0;
    for (const char *at = value; *at != '\0';) {
        int len = (int)strcspn(at, ":");
        int n = snprintf(to + used, key->size - used, "%s%s%s%.*s", used > 0 ? ":" : "",
                         at[0] == '/' ? "" : dir, at[0] == '/' ? "" : "/", len, at);
        if (n < 0 || (size_t)n >= key->size - used) {
            return false;
        }
        used += (size_t)n;
        at += len + (at[len] == ':' ? 1 : 0);
    }
    return true;
}

/* Unknown keys are for later versions of this library and are passed over. */
static bool read_line(char *line, const char *dir, struct rocm_prefix *prefix)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *equals = strchr(line, '=');
    if (line[0] == '#' || equals == NULL) {
        return true;
    }
    *equals = '\0';
    for (size_t i = 0; i < NUM_KEYS; i++) {
        if (strcmp(line, conf_keys[i].name) == 0) {
            return copy_value(&conf_keys[i], dir, equals + 1,
                              (char *)prefix + conf_keys[i].offset);
        }
    }
    return true;
}

mxg_status rocm_prefix_read(const char *dir, struct rocm_prefix *prefix)
{
    char path[ROCM_PREFIX_PATH_SIZE], line[LINE_SIZE];
    memset(prefix, 0, sizeof *prefix);
    if (dir[0] != '/') {
        return status_set(MXG_E_NO_COMPILER, "the ROCm prefix \"%s\" is not an absolute path",
                          dir);
    }
    int n = snprintf(path, sizeof path, "%s/%s", dir, CONF_NAME);
    if (n < 0 || (size_t)n >= sizeof path) {
        return status_set(MXG_E_NO_COMPILER, "the ROCm prefix \"%.64s...\" is too long a path",
                          dir);
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return status_set(MXG_E_NO_COMPILER, "no ROCm prefix in \"%s\": %s: %s", dir, path,
                          strerror(errno));
    }
    mxg_status status = MXG_OK;
    while (status == MXG_OK && fgets(line, sizeof line, file) != NULL) {
        if ((strchr(line, '\n') == NULL && !feof(file)) || !read_line(line, dir, prefix)) {
            status = status_set(MXG_E_NO_COMPILER, "%s: the line \"%.64s...\" is too long",
                                path, line);
        }
    }
    fclose(file);
    for (size_t i = 0; i < NUM_KEYS && status == MXG_OK; i++) {
        if (conf_keys[i].required && ((char *)prefix)[conf_keys[i].offset] == '\0') {
            status = status_set(MXG_E_NO_COMPILER, "%s: the key \"%s\" is missing", path,
                                conf_keys[i].name);
        }
    }
    return status;
}
