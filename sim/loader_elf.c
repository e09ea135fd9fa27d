/* SPDX-License-Identifier: MIT */
/*
 * The ELF side of loading: header, segments into device memory, dynamic symbols,
 * relocations (LLVM AMDGPUUsage, "Relocation Records") and the metadata note's place.
 */
#include "loader_priv.h"

#include "devmem.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif
#define OSABI_AMDGPU_HSA 64
#define MACH_MASK 0xffu
#define MACH_GFX950 0x4fu
#define NOTE_METADATA 32
#define IMAGE_MAX ((uint64_t)1 << 30)
#define SYMBOLS_MAX (1u << 20)

enum {
    REL_NONE,
    REL_ABS32_LO,
    REL_ABS32_HI,
    REL_ABS64,
    REL_REL32,
    REL_REL64,
    REL_ABS32,
    REL_RELATIVE64 = 13
};

/* `bytes` bytes of the file at `offset`, or NULL. */
static const void *file_at(const struct sim_loader *l, uint64_t offset, uint64_t bytes)
{
    return offset <= l->size && bytes <= l->size - offset ? l->elf + offset : NULL;
}

/* `bytes` bytes of the image at virtual address `vaddr`, or NULL. */
static uint8_t *image_at(const struct sim_loader *l, uint64_t vaddr, uint64_t bytes)
{
    uint64_t offset = vaddr - l->low;
    if (vaddr < l->low || offset > l->code->image_size ||
        bytes > l->code->image_size - offset) {
        return NULL;
    }
    return l->code->image + offset;
}

static bool read_header(struct sim_loader *l, Elf64_Ehdr *eh)
{
    const void *p = file_at(l, 0, sizeof *eh);
    if (!p) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "%zu bytes are too few for an ELF header",
                               l->size);
    }
    memcpy(eh, p, sizeof *eh);
    if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
        eh->e_ident[EI_DATA] != ELFDATA2LSB) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "not a 64-bit little-endian ELF file");
    }
    if (eh->e_machine != EM_AMDGPU || eh->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA) {
        return sim_loader_fail(l, SIM_LOAD_WRONG_ARCH,
                               "ELF machine %u, OS ABI %u: not an AMDGPU HSA code object",
                               eh->e_machine, eh->e_ident[EI_OSABI]);
    }
    if ((eh->e_flags & MACH_MASK) != MACH_GFX950) {
        return sim_loader_fail(l, SIM_LOAD_WRONG_ARCH,
                               "e_flags 0x%x name processor 0x%x, not gfx950 (0x%x)",
                               eh->e_flags, eh->e_flags & MACH_MASK, MACH_GFX950);
    }
    unsigned abi = eh->e_ident[EI_ABIVERSION];
    if (abi < 2 || abi > 4) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "ELF ABI version %u: code object versions 4 to 6 are 2 to 4",
                               abi);
    }
    if (eh->e_type != ET_DYN) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "ELF type %u: a linked code object (ET_DYN) is needed",
                               eh->e_type);
    }
    if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == 0 ||
        !file_at(l, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr))) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "%u program headers of %u bytes at %llu do not fit the file",
                               eh->e_phnum, eh->e_phentsize, (unsigned long long)eh->e_phoff);
    }
    l->code->version = abi + 2;
    snprintf(l->code->isa, sizeof l->code->isa, "gfx950");
    return true;
}

static Elf64_Phdr program_header(const struct sim_loader *l, const Elf64_Ehdr *eh, unsigned i)
{
    Elf64_Phdr ph;
    memcpy(&ph, l->elf + eh->e_phoff + i * sizeof ph, sizeof ph);
    return ph;
}

/* Range of virtual addresses of all PT_LOAD segments, each checked against the file. */
static bool measure(struct sim_loader *l, const Elf64_Ehdr *eh, uint64_t *high)
{
    l->low = UINT64_MAX;
    *high = 0;
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        Elf64_Phdr ph = program_header(l, eh, i);
        if (ph.p_type != PT_LOAD || ph.p_memsz == 0) {
            continue;
        }
        if (ph.p_filesz > ph.p_memsz || !file_at(l, ph.p_offset, ph.p_filesz) ||
            ph.p_vaddr > UINT64_MAX - ph.p_memsz) {
            return sim_loader_fail(
                l, SIM_LOAD_DAMAGED, "segment %u (offset %llu, %llu bytes) is not in the file",
                i, (unsigned long long)ph.p_offset, (unsigned long long)ph.p_filesz);
        }
        l->low = ph.p_vaddr < l->low ? ph.p_vaddr : l->low;
        *high = ph.p_vaddr + ph.p_memsz > *high ? ph.p_vaddr + ph.p_memsz : *high;
    }
    if (*high == 0) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "no segment to load");
    }
    /* Offsets keep each segment's alignment: start at a page of the address space. */
    l->low &= ~(uint64_t)4095;
    if (*high - l->low > IMAGE_MAX) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "segments span %llu bytes, more than %llu",
                               (unsigned long long)(*high - l->low),
                               (unsigned long long)IMAGE_MAX);
    }
    return true;
}

static bool load_segments(struct sim_loader *l, const Elf64_Ehdr *eh, int device)
{
    uint64_t high;
    if (!measure(l, eh, &high)) {
        return false;
    }
    struct sim_code *code = l->code;
    code->image_size = (size_t)(high - l->low);
    code->allocation = sim_mem_alloc(device, code->image_size + 4096, SIM_ALLOC_INTERNAL, -1);
    if (!code->allocation) {
        return sim_loader_fail(l, SIM_LOAD_NO_MEMORY, "no memory for an image of %zu bytes",
                               code->image_size);
    }
    code->image = (uint8_t *)(((uintptr_t)code->allocation + 4095) & ~(uintptr_t)4095);
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        Elf64_Phdr ph = program_header(l, eh, i);
        if (ph.p_type != PT_LOAD || ph.p_memsz == 0) {
            continue;
        }
        memcpy(code->image + (ph.p_vaddr - l->low), l->elf + ph.p_offset, ph.p_filesz);
        if ((ph.p_flags & PF_X) && code->text_count < SIM_TEXT_MAX) {
            code->text[code->text_count].start = ph.p_vaddr - l->low;
            code->text[code->text_count].end = ph.p_vaddr - l->low + ph.p_memsz;
            code->text_count++;
        }
    }
    return true;
}

struct dynamic {
    uint64_t symtab, strtab, strsz, hash, rela, relasz, symbols;
};

static bool read_dynamic(struct sim_loader *l, const Elf64_Phdr *ph, struct dynamic *d)
{
    const uint8_t *p = image_at(l, ph->p_vaddr, ph->p_memsz);
    if (!p) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "the dynamic section is outside the image");
    }
    for (uint64_t at = 0; ph->p_memsz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn dyn;
        memcpy(&dyn, p + at, sizeof dyn);
        switch (dyn.d_tag) {
        case DT_NULL:
            return true;
        case DT_SYMTAB:
            d->symtab = dyn.d_un.d_ptr;
            break;
        case DT_STRTAB:
            d->strtab = dyn.d_un.d_ptr;
            break;
        case DT_STRSZ:
            d->strsz = dyn.d_un.d_val;
            break;
        case DT_HASH:
            d->hash = dyn.d_un.d_ptr;
            break;
        case DT_RELA:
            d->rela = dyn.d_un.d_ptr;
            break;
        case DT_RELASZ:
            d->relasz = dyn.d_un.d_val;
            break;
        default:
            break;
        }
    }
    return true;
}

/* Symbols in .dynsym: from the hash table's chain count, else from the section header. */
static void count_symbols(struct sim_loader *l, const Elf64_Ehdr *eh, struct dynamic *d)
{
    const uint8_t *hash = d->hash ? image_at(l, d->hash, 8) : NULL;
    if (hash) {
        uint32_t chains;
        memcpy(&chains, hash + 4, sizeof chains);
        d->symbols = chains;
        return;
    }
    const uint8_t *table =
        eh->e_shentsize == sizeof(Elf64_Shdr)
            ? file_at(l, eh->e_shoff, (uint64_t)eh->e_shnum * eh->e_shentsize)
            : NULL;
    for (unsigned i = 0; table && i < eh->e_shnum; i++) {
        Elf64_Shdr sh;
        memcpy(&sh, table + i * sizeof sh, sizeof sh);
        if (sh.sh_type == SHT_DYNSYM) {
            d->symbols = sh.sh_size / sizeof(Elf64_Sym);
        }
    }
}

/* The name at `offset` of the dynamic string table, or NULL when it is not terminated there. */
static const char *dynamic_string(const struct sim_loader *l, const struct dynamic *d,
                                  uint32_t offset, size_t *length)
{
    const uint8_t *table = image_at(l, d->strtab, d->strsz);
    if (!table || offset >= d->strsz) {
        return NULL;
    }
    const uint8_t *end = memchr(table + offset, 0, d->strsz - offset);
    *length = end ? (size_t)(end - table) - offset : 0;
    return end ? (const char *)table + offset : NULL;
}

static bool read_symbols(struct sim_loader *l, const struct dynamic *d)
{
    if (d->symbols > SYMBOLS_MAX ||
        (d->symbols && !image_at(l, d->symtab, d->symbols * sizeof(Elf64_Sym)))) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "%llu dynamic symbols do not fit the image",
                               (unsigned long long)d->symbols);
    }
    struct sim_code *code = l->code;
    code->symbols = sim_loader_own(l, d->symbols + 1, sizeof *code->symbols);
    if (!code->symbols) {
        return false;
    }
    for (uint64_t i = 1; i < d->symbols; i++) {
        Elf64_Sym sym;
        memcpy(&sym, image_at(l, d->symtab + i * sizeof sym, sizeof sym), sizeof sym);
        size_t length = 0;
        const char *name = dynamic_string(l, d, sym.st_name, &length);
        if (sym.st_shndx == SHN_UNDEF) {
            continue;
        }
        if (!name || !image_at(l, sym.st_value, sym.st_size)) {
            return sim_loader_fail(
                l, SIM_LOAD_DAMAGED,
                "dynamic symbol %llu has a bad name or lies outside the image",
                (unsigned long long)i);
        }
        struct sim_symbol *s = &code->symbols[code->symbol_count];
        s->name = sim_loader_string(l, name, length);
        s->value = sym.st_value - l->low;
        s->size = sym.st_size;
        s->type = ELF64_ST_TYPE(sym.st_info);
        if (!s->name) {
            return false;
        }
        code->symbol_count++;
    }
    return true;
}

/* Device address that symbol `index` stands for in a relocation. */
static bool symbol_address(struct sim_loader *l, const struct dynamic *d, uint32_t index,
                           uint64_t *address)
{
    Elf64_Sym sym;
    if (index >= d->symbols) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "a relocation names symbol %u of %llu",
                               index, (unsigned long long)d->symbols);
    }
    memcpy(&sym, image_at(l, d->symtab + index * sizeof sym, sizeof sym), sizeof sym);
    if (index != 0 && sym.st_shndx == SHN_UNDEF) {
        size_t length = 0;
        const char *name = dynamic_string(l, d, sym.st_name, &length);
        if (ELF64_ST_BIND(sym.st_info) != STB_WEAK) {
            return sim_loader_fail(l, SIM_LOAD_DAMAGED, "undefined symbol %.*s",
                                   (int)(length > 200 ? 200 : length), name ? name : "?");
        }
        *address = 0;
        return true;
    }
    *address = index == 0 ? 0 : (uint64_t)(uintptr_t)l->code->image + (sym.st_value - l->low);
    return true;
}

static bool apply(struct sim_loader *l, const struct dynamic *d, const Elf64_Rela *r)
{
    uint32_t type = ELF64_R_TYPE(r->r_info);
    unsigned width = type == REL_ABS64 || type == REL_REL64 || type == REL_RELATIVE64 ? 8 : 4;
    uint8_t *where = image_at(l, r->r_offset, width);
    uint64_t s = 0;
    if (type == REL_NONE) {
        return true;
    }
    if (!where) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "a relocation at 0x%llx is outside the image",
                               (unsigned long long)r->r_offset);
    }
    if (type != REL_RELATIVE64 && !symbol_address(l, d, ELF64_R_SYM(r->r_info), &s)) {
        return false;
    }
    uint64_t value = s + (uint64_t)r->r_addend;
    uint64_t place = (uint64_t)(uintptr_t)where;
    switch (type) {
    case REL_ABS32_HI:
        value >>= 32;
        break;
    case REL_ABS32_LO:
    case REL_ABS32:
    case REL_ABS64:
        break;
    case REL_REL32:
    case REL_REL64:
        value -= place;
        break;
    case REL_RELATIVE64:
        value = (uint64_t)(uintptr_t)l->code->image + ((uint64_t)r->r_addend - l->low);
        break;
    default:
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "relocation type %u at 0x%llx is not known",
                               type, (unsigned long long)r->r_offset);
    }
    memcpy(where, &value, width);
    return true;
}

static bool relocate(struct sim_loader *l, const struct dynamic *d)
{
    if (d->relasz == 0) {
        return true;
    }
    if (!image_at(l, d->rela, d->relasz)) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "%llu bytes of relocations are not in the image",
                               (unsigned long long)d->relasz);
    }
    for (uint64_t at = 0; d->relasz - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, image_at(l, d->rela + at, sizeof r), sizeof r);
        if (!apply(l, d, &r)) {
            return false;
        }
    }
    return true;
}

/* Find the AMDGPU metadata note in one PT_NOTE segment. */
static bool scan_notes(struct sim_loader *l, const Elf64_Phdr *ph)
{
    const uint8_t *p = file_at(l, ph->p_offset, ph->p_filesz);
    if (!p) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "a note segment is not in the file");
    }
    uint64_t left = ph->p_filesz;
    while (left >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr nh;
        memcpy(&nh, p, sizeof nh);
        uint64_t name = ((uint64_t)nh.n_namesz + 3) & ~(uint64_t)3;
        uint64_t desc = ((uint64_t)nh.n_descsz + 3) & ~(uint64_t)3;
        if (name > left - sizeof nh || nh.n_descsz > left - sizeof nh - name) {
            return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                                   "a note of %u bytes runs past its segment", nh.n_descsz);
        }
        if (nh.n_type == NOTE_METADATA && nh.n_namesz == 7 &&
            memcmp(p + sizeof nh, "AMDGPU", 7) == 0) {
            l->note = p + sizeof nh + name;
            l->note_size = nh.n_descsz;
            return true;
        }
        uint64_t step = sizeof nh + name + desc;
        step = step < left ? step : left;
        p += step;
        left -= step;
    }
    return true;
}

bool sim_loader_elf(struct sim_loader *l)
{
    Elf64_Ehdr eh;
    struct dynamic d = { 0 };
    if (!read_header(l, &eh) || !load_segments(l, &eh, l->device)) {
        return false;
    }
    bool has_dynamic = false;
    for (unsigned i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph = program_header(l, &eh, i);
        if (ph.p_type == PT_DYNAMIC) {
            has_dynamic = true;
            if (!read_dynamic(l, &ph, &d)) {
                return false;
            }
        } else if (ph.p_type == PT_NOTE && !l->note && !scan_notes(l, &ph)) {
            return false;
        }
    }
    if (!has_dynamic) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "no dynamic segment");
    }
    count_symbols(l, &eh, &d);
    return read_symbols(l, &d) && relocate(l, &d);
}
