/* SPDX-License-Identifier: MIT */
/* Writer of small gfx950 code objects. */
#include "code_builder.h"

#include <assert.h>
#include <elf.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define DESCRIPTOR 64u
#define NAME_MAX_BYTES 128

struct layout {
    uint32_t note, note_size, symbols, strings, strings_size, hash, rela, descriptors, dynamic;
    uint32_t data, text, text_size, end;
    uint32_t text_at[64], name_at[64], kd_name_at[64], data_name_at;
};

static uint32_t align(uint32_t v, uint32_t a)
{
    return (v + a - 1) / a * a;
}

static void pack_str(msgpack_packer *p, const char *s)
{
    msgpack_pack_str(p, strlen(s));
    msgpack_pack_str_body(p, s, strlen(s));
}

static void pack_uint(msgpack_packer *p, const char *key, uint64_t value)
{
    pack_str(p, key);
    msgpack_pack_uint64(p, value);
}

static void pack_args(msgpack_packer *p, const struct build_kernel *k, uint32_t kernarg)
{
    struct build_arg plain[64];
    const struct build_arg *args = k->args;
    if (!args) {
        uint32_t n = 0;
        for (; n < kernarg / 8 && n < 63; n++) {
            plain[n] = (struct build_arg){ "global_buffer", 8 * n, 8 };
        }
        plain[n].kind = NULL;
        args = plain;
    }
    size_t count = 0;
    while (args[count].kind) {
        count++;
    }
    pack_str(p, ".args");
    msgpack_pack_array(p, count);
    for (size_t i = 0; i < count; i++) {
        msgpack_pack_map(p, 4);
        pack_uint(p, ".offset", args[i].offset);
        pack_uint(p, ".size", args[i].size);
        pack_str(p, ".name");
        pack_str(p, "arg");
        pack_str(p, ".value_kind");
        pack_str(p, args[i].kind);
    }
}

static uint32_t kernarg_size(const struct build_kernel *k)
{
    return k->kernarg ? k->kernarg : 32;
}

static void pack_metadata(const struct build_object *o, msgpack_sbuffer *out)
{
    msgpack_packer p;
    msgpack_packer_init(&p, out, msgpack_sbuffer_write);
    msgpack_pack_map(&p, 3);
    pack_str(&p, "amdhsa.target");
    pack_str(&p, "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-");
    pack_str(&p, "amdhsa.version");
    msgpack_pack_array(&p, 2);
    msgpack_pack_uint64(&p, 1);
    msgpack_pack_uint64(&p, 2);
    pack_str(&p, "amdhsa.kernels");
    msgpack_pack_array(&p, o->count);
    for (size_t i = 0; i < o->count; i++) {
        const struct build_kernel *k = &o->kernels[i];
        char symbol[NAME_MAX_BYTES];
        snprintf(symbol, sizeof symbol, "%s.kd", k->name);
        msgpack_pack_map(&p, 9);
        pack_str(&p, ".name");
        pack_str(&p, k->name);
        pack_str(&p, ".symbol");
        pack_str(&p, symbol);
        pack_uint(&p, ".kernarg_segment_size", kernarg_size(k));
        pack_uint(&p, ".kernarg_segment_align", 8);
        pack_uint(&p, ".group_segment_fixed_size", k->lds);
        pack_uint(&p, ".private_segment_fixed_size", k->scratch);
        pack_uint(&p, ".vgpr_count", k->vgprs ? k->vgprs : 64);
        pack_uint(&p, ".max_flat_workgroup_size", k->max_flat ? k->max_flat : 1024);
        pack_args(&p, k, kernarg_size(k));
    }
}

static void plan(const struct build_object *o, struct layout *l, uint32_t note_bytes)
{
    uint32_t symbols = 2 + 2 * (uint32_t)o->count;
    assert(o->count < 64);
    l->note = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr);
    l->note_size = 12 + 8 + align(note_bytes, 4);
    l->symbols = align(l->note + l->note_size, 8);
    l->strings = l->symbols + symbols * (uint32_t)sizeof(Elf64_Sym);
    uint32_t at = 1;
    for (size_t i = 0; i < o->count; i++) {
        uint32_t n = (uint32_t)strlen(o->kernels[i].name) + 1;
        l->name_at[i] = at;
        l->kd_name_at[i] = at + n;
        at += 2 * n + 3;
    }
    l->data_name_at = at;
    l->strings_size = at + (uint32_t)sizeof "device_data";
    l->hash = align(l->strings + l->strings_size, 8);
    l->rela = align(l->hash + (3 + symbols) * 4, 8);
    l->descriptors = align(l->rela + (uint32_t)sizeof(Elf64_Rela), 64);
    l->dynamic = align(l->descriptors + DESCRIPTOR * (uint32_t)o->count, 16);
    l->data = align(l->dynamic + 10 * (uint32_t)sizeof(Elf64_Dyn), 64);
    l->text = align(l->data + o->global_size, PAGE);
    at = l->text;
    for (size_t i = 0; i < o->count; i++) {
        const struct build_kernel *k = &o->kernels[i];
        l->text_at[i] = at;
        at = align(at + (k->preload ? 256 : 0) + 4 * (uint32_t)k->count, 256);
    }
    l->text_size = at - l->text;
    l->end = at;
}

static void put(uint8_t *out, uint32_t at, const void *p, size_t n)
{
    memcpy(out + at, p, n);
}

static void put32(uint8_t *out, uint32_t at, uint32_t v)
{
    put(out, at, &v, sizeof v);
}

static void write_descriptor(uint8_t *out, const struct build_kernel *k, uint32_t at,
                             uint32_t entry)
{
    uint32_t arch = align(k->vgprs ? k->vgprs : 64, 4);
    uint32_t total = align(arch + k->agprs, 8);
    int64_t offset = (int64_t)entry - at;
    uint32_t user = 2 + k->preload;
    put32(out, at, k->lds);
    put32(out, at + 4, k->scratch);
    put32(out, at + 8, kernarg_size(k));
    put(out, at + 16, &offset, sizeof offset);
    put32(out, at + 44, arch / 4 - 1);
    /* VGPR granules; DENORM 16/64 and 32 = 3, keep; DX10_CLAMP, IEEE. */
    put32(out, at + 48, (total / 8 - 1) | 15u << 16 | 1u << 21 | 1u << 23 | k->extra_rsrc1);
    put32(out, at + 52, (k->scratch ? 1u : 0) | user << 1 | 7u << 7 | 2u << 11);
    put32(out, at + 56, 1u << 3 | k->preload << 16);
}

static void write_symbol(uint8_t *out, const struct layout *l, unsigned i, uint32_t name,
                         unsigned type, uint32_t value, uint32_t size)
{
    Elf64_Sym s = { .st_name = name,
                    .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                    .st_other = 3,
                    .st_shndx = 1,
                    .st_value = value,
                    .st_size = size };
    put(out, l->symbols + i * (uint32_t)sizeof s, &s, sizeof s);
}

static void write_kernels(uint8_t *out, const struct build_object *o, const struct layout *l)
{
    for (unsigned i = 0; i < o->count; i++) {
        const struct build_kernel *k = &o->kernels[i];
        uint32_t kd = l->descriptors + DESCRIPTOR * i;
        uint32_t start = l->text_at[i] + (k->preload ? 256 : 0);
        uint32_t bytes = 4 * (uint32_t)k->count;
        /* What stands before the code of a kernel with preloading must not run: s_trap 2. */
        for (uint32_t at = l->text_at[i]; at < start; at += 4) {
            put32(out, at, 0xbf920002);
        }
        put(out, start, k->words, bytes);
        write_descriptor(out, k, kd, l->text_at[i]);
        strcpy((char *)out + l->strings + l->name_at[i], k->name);
        sprintf((char *)out + l->strings + l->kd_name_at[i], "%s.kd", k->name);
        write_symbol(out, l, 1 + 2 * i, l->name_at[i], STT_FUNC, l->text_at[i],
                     start - l->text_at[i] + bytes);
        write_symbol(out, l, 2 + 2 * i, l->kd_name_at[i], STT_OBJECT, kd, DESCRIPTOR);
    }
}

static void write_dynamic(uint8_t *out, const struct build_object *o, const struct layout *l)
{
    uint32_t symbols = 2 + 2 * (uint32_t)o->count;
    Elf64_Dyn dyn[] = {
        { DT_SYMTAB, { l->symbols } },
        { DT_SYMENT, { sizeof(Elf64_Sym) } },
        { DT_STRTAB, { l->strings } },
        { DT_STRSZ, { l->strings_size } },
        { DT_HASH, { l->hash } },
        { o->has_relocation ? DT_RELA : DT_FLAGS, { o->has_relocation ? l->rela : 0 } },
        { o->has_relocation ? DT_RELASZ : DT_FLAGS,
          { o->has_relocation ? sizeof(Elf64_Rela) : 0 } },
        { DT_NULL, { 0 } },
    };
    put(out, l->dynamic, dyn, sizeof dyn);
    put32(out, l->hash, 1);
    put32(out, l->hash + 4, symbols);
    Elf64_Rela r = { .r_offset = l->data,
                     .r_addend = 0,
                     .r_info = ELF64_R_INFO((uint64_t)symbols - 1, 3) }; /* R_AMDGPU_ABS64 */
    put(out, l->rela, &r, sizeof r);
    memset(out + l->data, 0x5a, o->global_size);
    strcpy((char *)out + l->strings + l->data_name_at, "device_data");
    write_symbol(out, l, symbols - 1, l->data_name_at, STT_OBJECT, l->data, o->global_size);
}

static void write_headers(uint8_t *out, const struct build_object *o, const struct layout *l,
                          const msgpack_sbuffer *meta)
{
    Elf64_Ehdr eh = { .e_type = ET_DYN,
                      .e_machine = 224,
                      .e_version = EV_CURRENT,
                      .e_phoff = sizeof eh,
                      .e_flags = 0x54f,
                      .e_ehsize = sizeof eh,
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = 5,
                      .e_shentsize = sizeof(Elf64_Shdr) };
    memcpy(eh.e_ident, ELFMAG, SELFMAG);
    eh.e_ident[EI_CLASS] = ELFCLASS64;
    eh.e_ident[EI_DATA] = ELFDATA2LSB;
    eh.e_ident[EI_VERSION] = EV_CURRENT;
    eh.e_ident[EI_OSABI] = 64;
    eh.e_ident[EI_ABIVERSION] = (unsigned char)((o->version ? o->version : 5) - 2);
    Elf64_Phdr ph[5] = {
        { PT_LOAD, PF_R, 0, 0, 0, l->dynamic, l->dynamic, PAGE },
        { PT_LOAD, PF_R | PF_W, l->dynamic, l->dynamic, l->dynamic, l->text - l->dynamic,
          l->text - l->dynamic, 16 },
        { PT_LOAD, PF_R | PF_X, l->text, l->text, l->text, l->text_size, l->text_size, PAGE },
        { PT_DYNAMIC, PF_R, l->dynamic, l->dynamic, l->dynamic, 8 * sizeof(Elf64_Dyn),
          8 * sizeof(Elf64_Dyn), 8 },
        { PT_NOTE, PF_R, l->note, l->note, l->note, l->note_size, l->note_size, 4 },
    };
    put(out, 0, &eh, sizeof eh);
    put(out, sizeof eh, ph, sizeof ph);
    put32(out, l->note, 7);
    put32(out, l->note + 4, (uint32_t)meta->size);
    put32(out, l->note + 8, 32);
    put(out, l->note + 12, "AMDGPU", 7);
    put(out, l->note + 20, meta->data, meta->size);
}

uint8_t *build_code(const struct build_object *o, size_t *size)
{
    struct layout l = { 0 };
    msgpack_sbuffer meta;
    msgpack_sbuffer_init(&meta);
    pack_metadata(o, &meta);
    plan(o, &l, (uint32_t)meta.size);
    uint8_t *out = calloc(1, l.end);
    assert(out);
    write_headers(out, o, &l, &meta);
    write_kernels(out, o, &l);
    write_dynamic(out, o, &l);
    msgpack_sbuffer_destroy(&meta);
    *size = l.end;
    return out;
}
