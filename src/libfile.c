/* SPDX-License-Identifier: MIT */
/* Which build a shared library file is, read from its ELF headers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "libfile.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynlib.h"

#define NAME_SIZE 128
#define PATH_SIZE 1024
#define NEEDED_MAX 16
#define HEADERS_MAX 64    /* program headers; linkers write about a dozen */
#define NOTES_MAX 4096
#define DYNAMIC_MAX 256   /* entries; linkers write about 40 */

struct library {
    int fd;
    struct stat st;
    char soname[NAME_SIZE];
    char runpath[PATH_SIZE];
    char build_id[LIBFILE_BUILD_ID_SIZE];
    char needed[NEEDED_MAX][NAME_SIZE];
    size_t num_needed;
    Elf64_Phdr headers[HEADERS_MAX];
    size_t num_headers;
};

void libfile_build_id_of_notes(const uint8_t *notes, size_t size, char *hex)
{
    hex[0] = '\0';
    size_t at = 0;
    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name_size = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        size_t desc_size = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name_size > size - at || desc_size > size - at - name_size) {
            return;
        }
        const uint8_t *desc = notes + at + name_size;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + at, "GNU", 4) == 0 &&
            head.n_descsz <= (LIBFILE_BUILD_ID_SIZE - 1) / 2) {
            for (size_t i = 0; i < head.n_descsz; i++) {
                snprintf(hex + 2 * i, 3, "%02x", desc[i]);
            }
            return;
        }
        at += name_size + desc_size;
    }
}

bool libfile_append_identity(const char *soname, const char *build_id, const struct stat *st,
                             char *text, size_t size)
{
    char id[LIBFILE_BUILD_ID_SIZE];
    if (build_id[0] != '\0') {
        snprintf(id, sizeof id, "%s", build_id);
    } else if (st != NULL) {
        snprintf(id, sizeof id, "file:%lld:%lld.%09ld", (long long)st->st_size,
                 (long long)st->st_mtim.tv_sec, (long)st->st_mtim.tv_nsec);
    } else {
        return false;
    }
    size_t used = strlen(text);
    int n = snprintf(text + used, size - used, "%s%s=%s", used > 0 ? "," : "", soname, id);
    return n > 0 && (size_t)n < size - used;
}

/*
 * pread, not mmap: a file that is cut short while it is read must give an
 * error, not a SIGBUS in the host.
 */
static bool read_at(const struct library *lib, uint64_t offset, void *to, size_t size)
{
    return offset <= INT64_MAX && pread(lib->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* File offset of a virtual address; false if no segment of the file holds it. */
static bool file_offset(const struct library *lib, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < lib->num_headers; i++) {
        const Elf64_Phdr *ph = &lib->headers[i];
        if (ph->p_type == PT_LOAD && address >= ph->p_vaddr &&
            address - ph->p_vaddr < ph->p_filesz) {
            *offset = ph->p_offset + (address - ph->p_vaddr);
            return true;
        }
    }
    return false;
}

/* Read a terminated string; empty if it does not end within `size` bytes. */
static void read_string(const struct library *lib, uint64_t offset, char *to, size_t size)
{
    ssize_t n = offset <= INT64_MAX ? pread(lib->fd, to, size, (off_t)offset) : -1;
    if (n <= 0 || memchr(to, '\0', (size_t)n) == NULL) {
        to[0] = '\0';
    }
}

static void read_names(struct library *lib, const Elf64_Dyn *dyn, size_t num, uint64_t strings)
{
    for (size_t i = 0; i < num && dyn[i].d_tag != DT_NULL; i++) {
        char name[NAME_SIZE];
        uint64_t at = strings + dyn[i].d_un.d_val;
        switch (dyn[i].d_tag) {
        case DT_SONAME:
            read_string(lib, at, lib->soname, sizeof lib->soname);
            break;
        case DT_RUNPATH:
        case DT_RPATH:
            read_string(lib, at, lib->runpath, sizeof lib->runpath);
            break;
        case DT_NEEDED:
            read_string(lib, at, name, sizeof name);
            if (lib->num_needed < NEEDED_MAX && dynlib_is_compiler_part(name)) {
                memcpy(lib->needed[lib->num_needed++], name, sizeof name);
            }
            break;
        default:
            break;
        }
    }
}

static bool read_dynamic(struct library *lib, const Elf64_Phdr *ph)
{
    Elf64_Dyn dyn[DYNAMIC_MAX];
    size_t count = ph->p_filesz / sizeof dyn[0];
    uint64_t strings = 0;
    if (count > DYNAMIC_MAX || !read_at(lib, ph->p_offset, dyn, count * sizeof dyn[0])) {
        return false;
    }
    for (size_t i = 0; i < count && dyn[i].d_tag != DT_NULL; i++) {
        if (dyn[i].d_tag == DT_STRTAB && !file_offset(lib, dyn[i].d_un.d_ptr, &strings)) {
            return false;
        }
    }
    if (strings == 0) {
        return false;
    }
    read_names(lib, dyn, count, strings);
    return true;
}

static void read_notes(struct library *lib, const Elf64_Phdr *ph)
{
    uint8_t notes[NOTES_MAX];
    if (ph->p_filesz <= sizeof notes && read_at(lib, ph->p_offset, notes, ph->p_filesz)) {
        libfile_build_id_of_notes(notes, ph->p_filesz, lib->build_id);
    }
}

static bool read_headers(struct library *lib)
{
    Elf64_Ehdr eh;
    if (!read_at(lib, 0, &eh, sizeof eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof lib->headers[0] ||
        eh.e_phnum > HEADERS_MAX ||
        !read_at(lib, eh.e_phoff, lib->headers, eh.e_phnum * sizeof lib->headers[0])) {
        return false;
    }
    lib->num_headers = eh.e_phnum;
    bool is_dynamic = false;
    for (size_t i = 0; i < lib->num_headers; i++) {
        if (lib->headers[i].p_type == PT_NOTE && lib->build_id[0] == '\0') {
            read_notes(lib, &lib->headers[i]);
        } else if (lib->headers[i].p_type == PT_DYNAMIC) {
            is_dynamic = read_dynamic(lib, &lib->headers[i]);
        }
    }
    return is_dynamic;
}

static bool read_library(const char *path, struct library *lib)
{
    memset(lib, 0, sizeof *lib);
    lib->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (lib->fd < 0) {
        return false;
    }
    bool ok = fstat(lib->fd, &lib->st) == 0 && S_ISREG(lib->st.st_mode) && read_headers(lib);
    close(lib->fd);
    if (lib->soname[0] == '\0') {
        const char *slash = strrchr(path, '/');
        snprintf(lib->soname, sizeof lib->soname, "%s", slash != NULL ? slash + 1 : path);
    }
    return ok;
}

/* Try each folder of a colon-separated list; $ORIGIN stands for `origin`. */
static bool find_in_dirs(const char *dirs, const char *origin, const char *name, char *path)
{
    while (dirs != NULL && *dirs != '\0') {
        size_t len = strcspn(dirs, ":");
        int n;
        if (strncmp(dirs, "$ORIGIN", 7) == 0 && len >= 7) {
            n = snprintf(path, PATH_SIZE, "%s%.*s/%s", origin, (int)(len - 7), dirs + 7, name);
        } else {
            n = snprintf(path, PATH_SIZE, "%.*s/%s", (int)len, dirs, name);
        }
        if (len > 0 && n > 0 && n < PATH_SIZE && access(path, R_OK) == 0) {
            return true;
        }
        dirs += len + (dirs[len] == ':' ? 1 : 0);
    }
    return false;
}

bool libfile_closure(const char *path, const char *dirs, char *text, size_t size)
{
    struct library lib, part;
    char origin[PATH_SIZE], part_path[PATH_SIZE];
    text[0] = '\0';
    const char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash - path) >= sizeof origin || !read_library(path, &lib)) {
        return false;
    }
    snprintf(origin, sizeof origin, "%.*s", (int)(slash - path), path);
    if (!libfile_append_identity(lib.soname, lib.build_id, &lib.st, text, size)) {
        return false;
    }
    for (size_t i = 0; i < lib.num_needed; i++) {
        bool found = find_in_dirs(dirs, origin, lib.needed[i], part_path) ||
                     find_in_dirs(lib.runpath, origin, lib.needed[i], part_path) ||
                     find_in_dirs(origin, origin, lib.needed[i], part_path);
        if (!found || !read_library(part_path, &part) ||
            !libfile_append_identity(part.soname, part.build_id, &part.st, text, size)) {
            return false;
        }
    }
    return true;
}

bool libfile_contains(const char *path, const char *text)
{
    char chunk[65536];
    size_t len = strlen(text), kept = 0;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    /* The last len - 1 bytes of a chunk are kept, so that no match is missed between two. */
    for (;;) {
        ssize_t n = read(fd, chunk + kept, sizeof chunk - kept);
        if (n <= 0) {
            break;
        }
        size_t filled = kept + (size_t)n;
        if (memmem(chunk, filled, text, len) != NULL) {
            found = true;
            break;
        }
        kept = filled < len - 1 ? filled : len - 1;
        memmove(chunk, chunk + filled - kept, kept);
    }
    close(fd);
    return found;
}
