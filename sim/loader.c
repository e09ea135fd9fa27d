/* SPDX-License-Identifier: MIT */
/*
 * Code objects from the caller's view: load, look up, unload; kernel descriptors
 * (LLVM AMDGPUUsage, "Kernel Descriptor for GFX6-GFX12") and offload bundles.
 */
#include "loader_priv.h"

#include "devmem.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTOR_SIZE 64
#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define BUNDLE_ENTRIES_MAX 4096

bool sim_loader_fail(struct sim_loader *l, enum sim_load_result result, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (l->err && l->errsize) {
        vsnprintf(l->err, l->errsize, fmt, ap);
    }
    va_end(ap);
    l->result = result;
    return false;
}

void *sim_loader_own(struct sim_loader *l, size_t count, size_t size)
{
    struct sim_owned *o = NULL;
    if (count <= (SIZE_MAX - 64) / (size ? size : 1)) {
        o = calloc(1, 16 + count * size);
    }
    if (!o) {
        sim_loader_fail(l, SIM_LOAD_NO_MEMORY, "no memory for %zu objects of %zu bytes", count,
                        size);
        return NULL;
    }
    o->next = l->code->owned;
    l->code->owned = o;
    return (char *)o + 16;
}

const char *sim_loader_string(struct sim_loader *l, const char *text, size_t length)
{
    char *copy = sim_loader_own(l, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint16_t u16_at(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static const struct sim_symbol *find_symbol(const struct sim_code *code, const char *name)
{
    for (size_t i = 0; i < code->symbol_count; i++) {
        if (strcmp(code->symbols[i].name, name) == 0) {
            return &code->symbols[i];
        }
    }
    return NULL;
}

static bool is_text(const struct sim_code *code, uint64_t pc)
{
    for (unsigned i = 0; i < code->text_count; i++) {
        if (pc >= code->text[i].start && pc < code->text[i].end) {
            return true;
        }
    }
    return false;
}

/* Fill *k from the 64 bytes of its descriptor. */
static bool read_descriptor(struct sim_loader *l, struct sim_kernel *k,
                            const struct sim_symbol *symbol)
{
    struct sim_code *code = l->code;
    const uint8_t *d = code->image + symbol->value;
    int64_t entry;
    memcpy(&entry, d + 16, sizeof entry);
    k->kd = symbol->value;
    k->entry = symbol->value + (uint64_t)entry;
    k->lds_size = u32_at(d);
    k->scratch_size = u32_at(d + 4);
    k->kernarg_size = u32_at(d + 8);
    k->kernarg_align = 8;
    k->rsrc3 = u32_at(d + 44);
    k->rsrc1 = u32_at(d + 48);
    k->rsrc2 = u32_at(d + 52);
    k->properties = u16_at(d + 56);
    k->preload_length = u16_at(d + 58) & 127;
    k->preload_offset = u16_at(d + 58) >> 7;
    /* gfx90a and later: VGPRs in granules of 8, the accumulation file from accum_offset. */
    k->vgpr_count = ((k->rsrc1 & 63) + 1) * 8;
    k->accum_offset = ((k->rsrc3 & 63) + 1) * 4;
    k->sgpr_count = ((k->rsrc1 >> 6 & 15) + 1) * 8;
    k->dynamic_stack = k->properties >> 11 & 1;
    if (k->kernarg_size > 65536) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "kernel %s has %u bytes of arguments",
                               k->name, k->kernarg_size);
    }
    if (k->properties & 1 << 10) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "kernel %s asks for waves of 32 lanes",
                               k->name);
    }
    const struct sim_symbol *function = find_symbol(code, k->name);
    k->code_size = function && function->value == k->entry ? function->size : 0;
    /*
     * Processors with kernarg preloading start 256 bytes further: the code before that
     * loads the arguments where firmware has not (AMDGPUUsage, "Preloaded Kernel
     * Arguments").
     */
    k->entry += k->preload_length ? 256 : 0;
    if (k->entry % 4 || !is_text(code, k->entry)) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "kernel %s starts at 0x%llx, outside the executable segments",
                               k->name, (unsigned long long)k->entry);
    }
    return true;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return n > s && strcmp(name + n - s, suffix) == 0;
}

static bool read_kernels(struct sim_loader *l)
{
    struct sim_code *code = l->code;
    code->kernels = sim_loader_own(l, code->symbol_count + 1, sizeof *code->kernels);
    if (!code->kernels) {
        return false;
    }
    for (size_t i = 0; i < code->symbol_count; i++) {
        const struct sim_symbol *s = &code->symbols[i];
        if (s->type != STT_OBJECT || !has_suffix(s->name, ".kd")) {
            continue;
        }
        if (s->size < DESCRIPTOR_SIZE) {
            return sim_loader_fail(l, SIM_LOAD_DAMAGED, "descriptor %s has %llu bytes, not %d",
                                   s->name, (unsigned long long)s->size, DESCRIPTOR_SIZE);
        }
        struct sim_kernel *k = &code->kernels[code->kernel_count];
        k->name = sim_loader_string(l, s->name, strlen(s->name) - 3);
        if (!k->name || !read_descriptor(l, k, s)) {
            return false;
        }
        code->kernel_count++;
    }
    return true;
}

/* A kernel whose result depends on the order of groups: it adds floats in memory. */
static bool adds_floats(struct sim_code *code, const struct sim_kernel *k)
{
    uint64_t pc = k->entry, end = k->entry + k->code_size;
    end = end < code->image_size ? end : code->image_size;
    while (pc < end) {
        struct sim_inst inst;
        size_t size = sim_decode(code->image + pc, end - pc, pc, &inst);
        if (size == 0) {
            pc += 4;
            continue;
        }
        const struct sim_op *op = inst.op;
        if ((op->flags & SIM_F_VMEM) && (op->flags & SIM_F_ATOMIC) &&
            (op->p[1] == SIM_ATOMIC_FADD || op->p[1] == SIM_ATOMIC_PK_ADD_F16 ||
             op->p[1] == SIM_ATOMIC_PK_ADD_BF16)) {
            return true;
        }
        pc += size;
    }
    return false;
}

/* Replace l->elf by the gfx950 entry when it is an offload bundle; sizes are checked. */
static bool unbundle(struct sim_loader *l)
{
    const size_t magic = sizeof BUNDLE_MAGIC - 1;
    if (l->size >= 4 && memcmp(l->elf, "CCOB", 4) == 0) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "compressed offload bundles are not supported");
    }
    if (l->size < magic + 8 || memcmp(l->elf, BUNDLE_MAGIC, magic) != 0) {
        return true;
    }
    uint64_t count, at = magic + 8;
    memcpy(&count, l->elf + magic, sizeof count);
    for (uint64_t i = 0; i < count && i < BUNDLE_ENTRIES_MAX; i++) {
        uint64_t head[3]; /* offset, size, length of the triple */
        if (l->size - at < sizeof head) {
            break;
        }
        memcpy(head, l->elf + at, sizeof head);
        at += sizeof head;
        if (head[2] > l->size - at) {
            break;
        }
        const char *triple = (const char *)l->elf + at;
        at += head[2];
        bool is_ours = false;
        for (uint64_t c = 0; c + 6 <= head[2] && !is_ours; c++) {
            is_ours = memcmp(triple + c, "gfx950", 6) == 0;
        }
        if (is_ours && head[0] <= l->size && head[1] <= l->size - head[0]) {
            l->elf += head[0];
            l->size = (size_t)head[1];
            return true;
        }
    }
    return sim_loader_fail(l, SIM_LOAD_WRONG_ARCH,
                           "the offload bundle has no entry for gfx950");
}

/* Bytes of an offload bundle: the end of its last entry. */
static size_t bundle_extent(const uint8_t *p)
{
    const size_t magic = sizeof BUNDLE_MAGIC - 1;
    uint64_t count, end = 0, at = magic + 8;
    memcpy(&count, p + magic, sizeof count);
    for (uint64_t i = 0; i < count && i < BUNDLE_ENTRIES_MAX; i++) {
        uint64_t head[3];
        memcpy(head, p + at, sizeof head);
        at += sizeof head + (head[2] < 4096 ? head[2] : 0);
        end = head[0] + head[1] > end ? head[0] + head[1] : end;
    }
    return (size_t)(at > end ? at : end);
}

static uint64_t later(uint64_t end, uint64_t offset, uint64_t bytes)
{
    uint64_t e = offset + bytes < offset ? UINT64_MAX : offset + bytes;
    return e > end ? e : end;
}

size_t sim_elf_extent(const void *elf, size_t avail)
{
    Elf64_Ehdr eh;
    const uint8_t *p = elf;
    if (!elf || avail < sizeof eh) {
        return 0;
    }
    memcpy(&eh, elf, sizeof eh);
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64) {
        return 0;
    }
    uint64_t phs = (uint64_t)eh.e_phnum * sizeof(Elf64_Phdr);
    uint64_t shs = (uint64_t)eh.e_shnum * sizeof(Elf64_Shdr);
    uint64_t end = later(later(sizeof eh, eh.e_phoff, phs), eh.e_shoff, shs);
    if (eh.e_phoff <= avail && phs <= avail - eh.e_phoff) {
        for (unsigned i = 0; i < eh.e_phnum; i++) {
            Elf64_Phdr ph;
            memcpy(&ph, p + eh.e_phoff + i * sizeof ph, sizeof ph);
            end = later(end, ph.p_offset, ph.p_filesz);
        }
    }
    if (eh.e_shoff <= avail && shs <= avail - eh.e_shoff) {
        for (unsigned i = 0; i < eh.e_shnum; i++) {
            Elf64_Shdr sh;
            memcpy(&sh, p + eh.e_shoff + i * sizeof sh, sizeof sh);
            end = later(end, sh.sh_offset, sh.sh_type == SHT_NOBITS ? 0 : sh.sh_size);
        }
    }
    return end > SIZE_MAX ? SIZE_MAX : (size_t)end;
}

/* The size to trust when the caller knows none. */
static size_t known_size(const void *elf, size_t avail)
{
    if (avail != SIZE_MAX) {
        return avail;
    }
    if (memcmp(elf, BUNDLE_MAGIC, sizeof BUNDLE_MAGIC - 1) == 0) {
        return bundle_extent(elf);
    }
    size_t extent = sim_elf_extent(elf, SIZE_MAX);
    /* No real code object is this large; a broken header is answered by its checks. */
    return extent && extent < ((size_t)1 << 32) ? extent : sizeof(Elf64_Ehdr);
}

enum sim_load_result sim_code_load(int device, const void *elf, size_t avail,
                                   struct sim_code **out, char *err, size_t errsize)
{
    struct sim_loader l = { .device = device, .err = err, .errsize = errsize };
    *out = NULL;
    if (err && errsize) {
        err[0] = 0;
    }
    if (!elf || avail == 0) {
        sim_loader_fail(&l, SIM_LOAD_DAMAGED, "no code object: null pointer or zero bytes");
        return l.result;
    }
    l.elf = elf;
    l.size = known_size(elf, avail);
    l.code = calloc(1, sizeof *l.code);
    if (!l.code) {
        sim_loader_fail(&l, SIM_LOAD_NO_MEMORY, "no memory for a code object");
        return l.result;
    }
    bool ok = unbundle(&l) && sim_loader_elf(&l) && read_kernels(&l) && sim_loader_metadata(&l);
    if (ok && !sim_icache_init(&l.code->icache, l.code->image_size)) {
        ok = sim_loader_fail(&l, SIM_LOAD_NO_MEMORY, "no memory to index %zu bytes of code",
                             l.code->image_size);
    }
    for (size_t i = 0; ok && i < l.code->kernel_count; i++) {
        l.code->kernels[i].ordered_groups = adds_floats(l.code, &l.code->kernels[i]);
    }
    if (!ok) {
        sim_code_unload(l.code);
        return l.result;
    }
    *out = l.code;
    return SIM_LOAD_OK;
}

void sim_code_unload(struct sim_code *code)
{
    if (!code) {
        return;
    }
    sim_icache_destroy(&code->icache);
    if (code->allocation) {
        sim_mem_free(code->allocation);
    }
    for (struct sim_owned *o = code->owned, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    free(code);
}

const struct sim_kernel *sim_code_kernel(const struct sim_code *code, const char *name)
{
    size_t length = strlen(name);
    if (has_suffix(name, ".kd")) {
        length -= 3;
    }
    for (size_t i = 0; i < code->kernel_count; i++) {
        const char *k = code->kernels[i].name;
        if (strlen(k) == length && memcmp(k, name, length) == 0) {
            return &code->kernels[i];
        }
    }
    return NULL;
}

size_t sim_code_kernel_count(const struct sim_code *code)
{
    return code->kernel_count;
}

const struct sim_kernel *sim_code_kernel_at(const struct sim_code *code, size_t i)
{
    return i < code->kernel_count ? &code->kernels[i] : NULL;
}

bool sim_code_global(const struct sim_code *code, const char *name, uint64_t *addr,
                     size_t *size)
{
    const struct sim_symbol *s = find_symbol(code, name);
    if (!s || s->type != STT_OBJECT || has_suffix(name, ".kd")) {
        return false;
    }
    *addr = (uint64_t)(uintptr_t)code->image + s->value;
    *size = (size_t)s->size;
    return true;
}

const char *sim_code_isa(const struct sim_code *code)
{
    return code->isa;
}

uint32_t sim_code_object_version(const struct sim_code *code)
{
    return code->version;
}

uint64_t sim_code_base(const struct sim_code *code)
{
    return (uint64_t)(uintptr_t)code->image;
}

size_t sim_code_size(const struct sim_code *code)
{
    return code->image_size;
}
