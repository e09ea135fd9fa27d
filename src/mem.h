/* SPDX-License-Identifier: MIT */
/* Host memory through the caller's hooks, with overflow-checked sizes. */
#ifndef MXG_MEM_H
#define MXG_MEM_H

#include <stddef.h>

struct mem {
    void *(*allocate)(size_t size, void *user);
    void (*deallocate)(void *pointer, void *user);
    void *user;
};

/* malloc and free. */
extern const struct mem mem_default;

/* NULL on failure; size 0 gives a unique pointer.  mem_zalloc also checks count * size. */
void *mem_alloc(const struct mem *mem, size_t size);
void *mem_zalloc(const struct mem *mem, size_t count, size_t size);
void mem_free(const struct mem *mem, void *pointer);
char *mem_strdup(const struct mem *mem, const char *text);

#endif
