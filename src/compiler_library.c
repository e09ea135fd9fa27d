/* SPDX-License-Identifier: MIT */
/* Where the compiler's libraries are looked for. */
#include "compiler_library.h"

#include <stdio.h>
#include <unistd.h>

#include "dynlib.h"

/* Interface 3 only: 2 has other action numbers and does not know gfx950. */
const char *const compiler_comgr_sonames[] = { "libamd_comgr.so.3", "libamd_comgr.so", NULL };
const char *const compiler_hiprtc_sonames[] = { "libhiprtc.so.7", "libhiprtc.so.6",
                                                "libhiprtc.so", NULL };

static const char *const lib_folders[] = { "lib", "lib64" };
#define NUM_FOLDERS (sizeof lib_folders / sizeof lib_folders[0])
#define NAMES_MAX 8 /* sonames of one list */

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

mxg_status compiler_library_open(const struct compiler_config *config,
                                 const char *explicit_path, const char *const *sonames,
                                 void **handle)
{
    char paths[NUM_FOLDERS * NAMES_MAX][COMPILER_PATH_SIZE];
    const char *names[NUM_FOLDERS * NAMES_MAX + NAMES_MAX + 1];
    size_t count = 0, num_paths = 0;
    if (is_set(explicit_path)) {
        names[count++] = explicit_path;
    } else {
        for (size_t f = 0; is_set(config->rocm_path) && f < NUM_FOLDERS; f++) {
            for (size_t i = 0; sonames[i] != NULL && i < NAMES_MAX; i++) {
                int n = snprintf(paths[num_paths], sizeof paths[0], "%s/%s/%s",
                                 config->rocm_path, lib_folders[f], sonames[i]);
                /* Only files that are there: the error text must stay readable. */
                if (n > 0 && (size_t)n < sizeof paths[0] &&
                    access(paths[num_paths], F_OK) == 0) {
                    names[count++] = paths[num_paths++];
                }
            }
        }
        for (size_t i = 0; sonames[i] != NULL && i < NAMES_MAX; i++) {
            names[count++] = sonames[i];
        }
    }
    names[count] = NULL;
    return dynlib_open(names, MXG_E_NO_COMPILER, handle, NULL);
}

bool compiler_library_find(const struct compiler_config *config, const char *const *sonames,
                           char *path, size_t size)
{
    for (size_t f = 0; is_set(config->rocm_path) && f < NUM_FOLDERS; f++) {
        for (size_t i = 0; sonames[i] != NULL; i++) {
            int n =
                snprintf(path, size, "%s/%s/%s", config->rocm_path, lib_folders[f], sonames[i]);
            if (n > 0 && (size_t)n < size && access(path, R_OK) == 0) {
                return true;
            }
        }
    }
    return false;
}
