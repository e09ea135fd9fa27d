/* SPDX-License-Identifier: MIT */
/* Host memory through the caller's hooks. */
#include "mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

static void *default_allocate(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void default_deallocate(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

const struct mem mem_default = { default_allocate, default_deallocate, NULL };

void *mem_alloc(const struct mem *mem, size_t size)
{
    if (fault_hit(FAULT_ALLOC)) {
        return NULL;
    }
    return mem->allocate(size > 0 ? size : 1, mem->user);
}

void *mem_zalloc(const struct mem *mem, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    void *p = mem_alloc(mem, count * size);
    if (p != NULL) {
        memset(p, 0, count * size);
    }
    return p;
}

void mem_free(const struct mem *mem, void *pointer)
{
    if (pointer != NULL) {
        mem->deallocate(pointer, mem->user);
    }
}

char *mem_strdup(const struct mem *mem, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mem_alloc(mem, size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}
