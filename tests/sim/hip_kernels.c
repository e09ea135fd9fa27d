/* SPDX-License-Identifier: MIT */
/* Writer of small gfx950 code objects (LLVM AMDGPUUsage, "ELF Code Object" and "Metadata"). */
#include "hip_kernels.h"

#include <assert.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#define WORDS(a) (sizeof(a) / sizeof((a)[0]))

struct kernel {
    const char *name;
    const uint32_t *code;
    unsigned words;
    unsigned arg_size[4]; /* 8 = pointer, 4 = value; 0 ends */
    uint32_t lds, max_threads;
};

static const uint32_t fill_code[] = {
    0xc0060100, 0x00000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
    0xc0060180, 0x00000008, /* s_load_dwordx2 s[6:7], s[0:1], 0x8 */
    0x260000ff, 0x000003ff, /* v_and_b32 v0, 0x3ff, v0 */
    0x8e038602,             /* s_lshl_b32 s3, s2, 6 */
    0x68000003,             /* v_add_u32 v0, s3, v0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0x7d980007,             /* v_cmp_gt_u32 vcc, s7, v0 */
    0xbe88206a,             /* s_and_saveexec_b64 s[8:9], vcc */
    0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
    0x7e040206,             /* v_mov_b32 v2, s6 */
    0xdc708000, 0x00040201, /* global_store_dword v1, v2, s[4:5] */
    0xbf810000,             /* s_endpgm */
};

static const uint32_t copy_code[] = {
    0xc00a0100, 0x00000000, /* s_load_dwordx4 s[4:7], s[0:1], 0x0 */
    0x260000ff, 0x000003ff, /* v_and_b32 v0, 0x3ff, v0 */
    0x8e038602,             /* s_lshl_b32 s3, s2, 6 */
    0x68000003,             /* v_add_u32 v0, s3, v0 */
    0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0xdc508000, 0x02060001, /* global_load_dword v2, v1, s[6:7] */
    0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
    0xdc708000, 0x00040201, /* global_store_dword v1, v2, s[4:5] */
    0xbf810000,             /* s_endpgm */
};

static const uint32_t nop_code[] = { 0xbf810000 };
static const uint32_t illegal_code[] = { 0xffffffff, 0xbf810000 };

static const struct kernel kernels[] = {
    { "fill", fill_code, WORDS(fill_code), { 8, 4, 4, 0 }, 0, 1024 },
    { "copy", copy_code, WORDS(copy_code), { 8, 8, 0, 0 }, 0, 1024 },
    { "nop", nop_code, WORDS(nop_code), { 0, 0, 0, 0 }, 65536, 128 },
    { "illegal", illegal_code, WORDS(illegal_code), { 0, 0, 0, 0 }, 0, 1024 },
};

enum { KERNEL_COUNT = sizeof(kernels) / sizeof(kernels[0]) };

/* Places in the file, which are also virtual addresses. */
enum {
    AT_NOTE = 0x200,
    AT_SYMBOLS = 0xa00,
    AT_STRINGS = 0xc00,
    AT_HASH = 0xd00,
    AT_DYNAMIC = 0xe00,
    AT_DESCRIPTORS = 0xf00,
    AT_GLOBAL = 0x1080,
    AT_TEXT = 0x1100,
    TEXT_STEP = 0x100,
    FILE_END = AT_TEXT + KERNEL_COUNT * TEXT_STEP
};

static void put(uint8_t *out, size_t at, const void *data, size_t size)
{
    assert(at + size <= KERNELS_SIZE);
    memcpy(out + at, data, size);
}

static void put_u32(uint8_t *out, size_t at, uint32_t value)
{
    put(out, at, &value, sizeof(value));
}

static void put_u16(uint8_t *out, size_t at, uint16_t value)
{
    put(out, at, &value, sizeof(value));
}

/* ------------------------------------------------------- MessagePack writing */

struct pack {
    uint8_t data[1600];
    size_t size;
};

static void pack_byte(struct pack *p, unsigned byte)
{
    assert(p->size < sizeof(p->data));
    p->data[p->size++] = (uint8_t)byte;
}

static void pack_map(struct pack *p, unsigned count)
{
    pack_byte(p, 0x80u | count);
}

static void pack_array(struct pack *p, unsigned count)
{
    pack_byte(p, 0x90u | count);
}

static void pack_text(struct pack *p, const char *text)
{
    const size_t length = strlen(text);
    pack_byte(p, 0xd9);
    pack_byte(p, (unsigned)length);
    for (size_t i = 0; i < length; i++) {
        pack_byte(p, (uint8_t)text[i]);
    }
}

static void pack_number(struct pack *p, uint32_t value)
{
    pack_byte(p, 0xce);
    for (int shift = 24; shift >= 0; shift -= 8) {
        pack_byte(p, value >> shift & 0xff);
    }
}

static void pack_pair(struct pack *p, const char *key, uint32_t value)
{
    pack_text(p, key);
    pack_number(p, value);
}

static unsigned arg_count(const struct kernel *k)
{
    unsigned n = 0;
    while (k->arg_size[n] != 0) {
        n++;
    }
    return n;
}

static uint32_t arg_bytes(const struct kernel *k)
{
    uint32_t size = 0;
    for (unsigned i = 0; k->arg_size[i] != 0; i++) {
        size += k->arg_size[i];
    }
    return size;
}

static void pack_kernel(struct pack *p, const struct kernel *k)
{
    char symbol[64];
    uint32_t offset = 0;
    (void)snprintf(symbol, sizeof(symbol), "%s.kd", k->name);
    pack_map(p, 10);
    pack_text(p, ".args");
    pack_array(p, arg_count(k));
    for (unsigned i = 0; k->arg_size[i] != 0; i++) {
        pack_map(p, 3);
        pack_pair(p, ".offset", offset);
        pack_pair(p, ".size", k->arg_size[i]);
        pack_text(p, ".value_kind");
        pack_text(p, k->arg_size[i] == 8 ? "global_buffer" : "by_value");
        offset += k->arg_size[i];
    }
    pack_text(p, ".name");
    pack_text(p, k->name);
    pack_text(p, ".symbol");
    pack_text(p, symbol);
    pack_pair(p, ".kernarg_segment_size", arg_bytes(k));
    pack_pair(p, ".group_segment_fixed_size", k->lds);
    pack_pair(p, ".private_segment_fixed_size", 0);
    pack_pair(p, ".max_flat_workgroup_size", k->max_threads);
    pack_pair(p, ".vgpr_count", 8);
    pack_pair(p, ".sgpr_count", 16);
    pack_pair(p, ".wavefront_size", 64);
}

static size_t write_note(uint8_t *out)
{
    struct pack p = { .size = 0 };
    pack_map(&p, 3);
    pack_text(&p, "amdhsa.version");
    pack_array(&p, 2);
    pack_number(&p, 1);
    pack_number(&p, 2);
    pack_text(&p, "amdhsa.target");
    pack_text(&p, "amdgcn-amd-amdhsa--gfx950");
    pack_text(&p, "amdhsa.kernels");
    pack_array(&p, KERNEL_COUNT);
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        pack_kernel(&p, &kernels[i]);
    }
    const Elf64_Nhdr head = { .n_namesz = 7, .n_descsz = (Elf64_Word)p.size, .n_type = 32 };
    put(out, AT_NOTE, &head, sizeof(head));
    put(out, AT_NOTE + sizeof(head), "AMDGPU\0", 8);
    put(out, AT_NOTE + sizeof(head) + 8, p.data, p.size);
    return (sizeof(head) + 8 + p.size + 3) / 4 * 4;
}

/* ------------------------------------------------------------- symbols, code */

static void write_descriptor(uint8_t *out, unsigned i)
{
    const size_t at = AT_DESCRIPTORS + 64 * i;
    const int64_t entry = (int64_t)(AT_TEXT + TEXT_STEP * i) - (int64_t)at;
    put_u32(out, at, kernels[i].lds);
    put_u32(out, at + 8, arg_bytes(&kernels[i]));
    put(out, at + 16, &entry, sizeof(entry));
    put_u32(out, at + 44, 1);                                           /* accum_offset 8 */
    put_u32(out, at + 48, 1u << 6 | 0xc0u << 12 | 1u << 21 | 1u << 23); /* 8 VGPRs, 16 SGPRs */
    put_u32(out, at + 52, 2u << 1 | 1u << 7); /* two user SGPRs, group id x */
    put_u16(out, at + 56, 1u << 3);           /* kernel argument pointer */
    put(out, AT_TEXT + TEXT_STEP * i, kernels[i].code, kernels[i].words * 4);
}

struct strings {
    size_t size;
};

static Elf64_Word add_string(uint8_t *out, struct strings *s, const char *text)
{
    const Elf64_Word at = (Elf64_Word)s->size;
    put(out, AT_STRINGS + s->size, text, strlen(text) + 1);
    s->size += strlen(text) + 1;
    return at;
}

static void add_symbol(uint8_t *out, unsigned *count, Elf64_Word name, unsigned type,
                       uint64_t value, uint64_t size)
{
    const Elf64_Sym symbol = { .st_name = name,
                               .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                               .st_other = STV_PROTECTED,
                               .st_shndx = 1,
                               .st_value = value,
                               .st_size = size };
    put(out, AT_SYMBOLS + sizeof(symbol) * *count, &symbol, sizeof(symbol));
    (*count)++;
}

/* The dynamic symbols: per kernel a function and a descriptor, and one global. */
static size_t write_symbols(uint8_t *out)
{
    struct strings s = { .size = 1 };
    unsigned count = 1;
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%s.kd", kernels[i].name);
        add_symbol(out, &count, add_string(out, &s, kernels[i].name), STT_FUNC,
                   AT_TEXT + TEXT_STEP * i, kernels[i].words * 4);
        add_symbol(out, &count, add_string(out, &s, name), STT_OBJECT, AT_DESCRIPTORS + 64 * i,
                   64);
    }
    put(out, AT_GLOBAL, "global!", 8);
    add_symbol(out, &count, add_string(out, &s, "greeting"), STT_OBJECT, AT_GLOBAL, 8);
    /* One bucket whose chain holds every symbol. */
    put_u32(out, AT_HASH, 1);
    put_u32(out, AT_HASH + 4, count);
    put_u32(out, AT_HASH + 8, 1);
    for (unsigned i = 1; i + 1 < count; i++) {
        put_u32(out, AT_HASH + 12 + 4 * i, i + 1);
    }
    const Elf64_Dyn dynamic[] = {
        { DT_HASH, { AT_HASH } },
        { DT_SYMTAB, { AT_SYMBOLS } },
        { DT_STRTAB, { AT_STRINGS } },
        { DT_STRSZ, { s.size } },
        { DT_SYMENT, { sizeof(Elf64_Sym) } },
        { DT_NULL, { 0 } },
    };
    put(out, AT_DYNAMIC, dynamic, sizeof(dynamic));
    return sizeof(dynamic);
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t size)
{
    return (Elf64_Phdr){ .p_type = type,
                         .p_flags = flags,
                         .p_offset = at,
                         .p_vaddr = at,
                         .p_paddr = at,
                         .p_filesz = size,
                         .p_memsz = size,
                         .p_align = type == PT_LOAD ? 0x1000 : 4 };
}

size_t kernels_write_for(uint8_t out[KERNELS_SIZE], uint8_t processor)
{
    memset(out, 0, KERNELS_SIZE);
    const size_t note = write_note(out);
    const size_t dynamic = write_symbols(out);
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        write_descriptor(out, i);
    }
    const Elf64_Phdr segments[] = {
        segment(PT_LOAD, PF_R | PF_X, 0, FILE_END),
        segment(PT_DYNAMIC, PF_R, AT_DYNAMIC, dynamic),
        segment(PT_NOTE, PF_R, AT_NOTE, note),
    };
    Elf64_Ehdr header = {
        .e_type = ET_DYN,
        .e_machine = 224, /* EM_AMDGPU */
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(header),
        .e_flags = 0x500u | processor, /* xnack any, sramecc any */
        .e_ehsize = sizeof(header),
        .e_phentsize = sizeof(segments[0]),
        .e_phnum = 3,
    };
    /* 64-bit, little endian, ELFOSABI_AMDGPU_HSA, code object version 5. */
    memcpy(header.e_ident, ELFMAG "\2\1\1\100\3", 9);
    put(out, 0, &header, sizeof(header));
    put(out, sizeof(header), segments, sizeof(segments));
    return FILE_END;
}

size_t kernels_write(uint8_t out[KERNELS_SIZE])
{
    return kernels_write_for(out, 0x4f);
}

size_t kernels_bundle(uint8_t out[2 * KERNELS_SIZE], const char *processor)
{
    char id[64];
    (void)snprintf(id, sizeof(id), "hipv4-amdgcn-amd-amdhsa--%s", processor);
    const char *ids[] = { "host-x86_64-unknown-linux-gnu-", id };
    uint8_t *object = out + 4096;
    memset(out, 0, 2 * KERNELS_SIZE);
    const uint64_t sizes[] = { 0, kernels_write(object) };
    size_t at = 24;
    memcpy(out, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(out + at, &(uint64_t){ 2 }, 8);
    at += 8;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t entry[] = { 4096, sizes[i], strlen(ids[i]) };
        memcpy(out + at, entry, sizeof(entry));
        memcpy(out + at + sizeof(entry), ids[i], strlen(ids[i]));
        at += sizeof(entry) + strlen(ids[i]);
    }
    return 4096 + sizes[1];
}
