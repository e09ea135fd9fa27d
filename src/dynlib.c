/* SPDX-License-Identifier: MIT */
/*
 * Opening shared libraries by name, resolving tables of symbols, and telling
 * which build of a library is mapped into this process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "dynlib.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fault.h"
#include "libfile.h"
#include "status.h"

/* Append to a fixed text; what does not fit is cut. */
static void text_append(char *text, size_t size, const char *head, const char *tail)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s", used > 0 ? "; " : "", head, tail);
}

mxg_status dynlib_open(const char *const *names, mxg_status failure, void **handle,
                       const char **opened)
{
    char tried[2048] = "";
    *handle = NULL;
    if (opened != NULL) {
        *opened = NULL;
    }
    for (size_t i = 0; names[i] != NULL; i++) {
        if (fault_hit(FAULT_DLOPEN)) {
            text_append(tried, sizeof tried, names[i], ": injected fault");
            continue;
        }
        void *h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (h != NULL) {
            *handle = h;
            if (opened != NULL) {
                *opened = names[i];
            }
            return MXG_OK;
        }
        /* glibc's text begins with the name when the file itself was the trouble. */
        const char *why = dlerror();
        why = why != NULL ? why : "unknown error";
        bool named = strncmp(why, names[i], strlen(names[i])) == 0;
        char head[512];
        snprintf(head, sizeof head, "%s%s", named ? "" : names[i], named ? "" : ": ");
        text_append(tried, sizeof tried, head, why);
    }
    return status_set(failure, "no library opens: %s",
                      tried[0] != '\0' ? tried : "no name to try");
}

mxg_status dynlib_resolve(void *handle, const char *library,
                          const struct dynlib_symbol *symbols, size_t count, mxg_status failure,
                          void *table)
{
    char missing[2048] = "";
    for (size_t i = 0; i < count; i++) {
        void *address = fault_hit(FAULT_DLSYM) ? NULL : dlsym(handle, symbols[i].name);
        /* memcpy: ISO C has no conversion from object pointer to function pointer. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
        if (address == NULL && !symbols[i].optional) {
            size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used > 0 ? ", " : "",
                     symbols[i].name);
        }
    }
    if (missing[0] != '\0') {
        return status_set(failure, "%s lacks %s", library, missing);
    }
    return MXG_OK;
}

void dynlib_close(void *handle)
{
    if (handle != NULL) {
        dlclose(handle);
    }
}

bool dynlib_is_compiler_part(const char *soname)
{
    static const char *const parts[] = { "libamd_comgr", "libLLVM", "libclang", "liblld" };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strncmp(soname, parts[i], strlen(parts[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------ what is mapped in memory */

#define NEEDED_MAX 16

struct object {
    char path[1024];
    char soname[128];
    char build_id[LIBFILE_BUILD_ID_SIZE];
    char needed[NEEDED_MAX][128]; /* compiler parts only */
    size_t num_needed;
};

struct search {
    uintptr_t address;  /* find the object that holds it, or ... */
    const char *soname; /* ... the one of this name */
    struct object *found;
    bool done;
};

static void read_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) *ph, char *hex)
{
    const uint8_t *notes = (const uint8_t *)(info->dlpi_addr + ph->p_vaddr);
    libfile_build_id_of_notes(notes, ph->p_memsz, hex);
}

/* What does not fit is cut. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = strnlen(from, size - 1);
    memcpy(to, from, len);
    to[len] = '\0';
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Phdr) *ph,
                         struct object *object)
{
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + ph->p_vaddr);
    uintptr_t strings = 0;
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) {
            strings = d->d_un.d_ptr;
        }
    }
    if (strings == 0) {
        return;
    }
    /* glibc relocates the address in place on most machines; musl leaves it as linked. */
    if (strings < info->dlpi_addr) {
        strings += info->dlpi_addr;
    }
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        const char *text = (const char *)(strings + d->d_un.d_val);
        if (d->d_tag == DT_SONAME) {
            copy_text(object->soname, sizeof object->soname, text);
        } else if (d->d_tag == DT_NEEDED && object->num_needed < NEEDED_MAX &&
                   dynlib_is_compiler_part(text)) {
            copy_text(object->needed[object->num_needed++], sizeof object->needed[0], text);
        }
    }
}

static void read_object(const struct dl_phdr_info *info, struct object *object)
{
    memset(object, 0, sizeof *object);
    copy_text(object->path, sizeof object->path, info->dlpi_name);
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_NOTE && object->build_id[0] == '\0') {
            read_build_id(info, ph, object->build_id);
        } else if (ph->p_type == PT_DYNAMIC) {
            read_dynamic(info, ph, object);
        }
    }
    if (object->soname[0] == '\0') {
        const char *slash = strrchr(object->path, '/');
        copy_text(object->soname, sizeof object->soname,
                  slash != NULL ? slash + 1 : object->path);
    }
}

static bool holds_address(const struct dl_phdr_info *info, uintptr_t address)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD && address >= start && address - start < ph->p_memsz) {
            return true;
        }
    }
    return false;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    (void)size;
    if (search->soname == NULL && !holds_address(info, search->address)) {
        return 0;
    }
    read_object(info, search->found);
    search->done = search->soname == NULL || strcmp(search->found->soname, search->soname) == 0;
    return search->done ? 1 : 0;
}

static bool find_object(const void *address, const char *soname, struct object *object)
{
    struct search search = { (uintptr_t)address, soname, object, false };
    dl_iterate_phdr(visit_object, &search);
    return search.done;
}

void dynlib_identity(const void *symbol, char *path, size_t path_size, char *build_id,
                     size_t build_id_size)
{
    struct object object;
    if (!find_object(symbol, NULL, &object)) {
        memset(&object, 0, sizeof object);
    }
    copy_text(path, path_size, object.path);
    copy_text(build_id, build_id_size, object.build_id);
}

static bool append_object(const struct object *object, char *text, size_t size)
{
    struct stat st;
    bool has_file = object->build_id[0] == '\0' && stat(object->path, &st) == 0;
    return libfile_append_identity(object->soname, object->build_id, has_file ? &st : NULL,
                                   text, size);
}

bool dynlib_closure(const void *symbol, char *text, size_t size)
{
    struct object object;
    text[0] = '\0';
    if (!find_object(symbol, NULL, &object) || !append_object(&object, text, size)) {
        return false;
    }
    for (size_t i = 0; i < object.num_needed; i++) {
        struct object part;
        if (!find_object(NULL, object.needed[i], &part) || !append_object(&part, text, size)) {
            return false;
        }
    }
    return true;
}
