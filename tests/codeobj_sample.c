/* SPDX-License-Identifier: MIT */
/* A small code object: ELF header, one note segment with metadata, .text, .shstrtab. */
#include "codeobj_sample.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

struct sink {
    uint8_t *bytes;
    size_t size;
};

static void put(struct sink *s, const void *bytes, size_t size)
{
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

static void put_byte(struct sink *s, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    put(s, &byte, 1);
}

/* MessagePack, "Formats": fixstr or str 8, uint 32, fixmap or map 16. */
static void put_text(struct sink *s, const char *text)
{
    size_t len = strlen(text);
    if (len < 32) {
        put_byte(s, 0xa0u | (unsigned)len);
    } else {
        put_byte(s, 0xd9);
        put_byte(s, (unsigned)len);
    }
    put(s, text, len);
}

static void put_number(struct sink *s, uint32_t value)
{
    put_byte(s, 0xce);
    for (int shift = 24; shift >= 0; shift -= 8) {
        put_byte(s, value >> shift & 0xffu);
    }
}

static const struct { const char *key; uint32_t value; } sample_figures[] = {
    { ".agpr_count", 16 },          { ".vgpr_count", 104 },
    { ".sgpr_count", 36 },          { ".vgpr_spill_count", 2 },
    { ".sgpr_spill_count", 1 },     { ".group_segment_fixed_size", 16384 },
    { ".kernarg_segment_size", 72 }, { ".private_segment_fixed_size", 8 },
    { ".max_flat_workgroup_size", 256 },
};
#define NUM_FIGURES (sizeof sample_figures / sizeof sample_figures[0])

static bool is_key(const char *asked, const char *key)
{
    return asked != NULL && strcmp(asked, key) == 0;
}

static void put_kernel(struct sink *s, const struct sample_change *change)
{
    bool drops = false;
    for (size_t i = 0; i < NUM_FIGURES; i++) {
        drops = drops || is_key(change->drop_key, sample_figures[i].key);
    }
    drops = drops || is_key(change->drop_key, ".name");
    put_byte(s, 0xde); /* map 16: figures, name and one key that no reader knows */
    put_byte(s, 0);
    put_byte(s, (unsigned)(NUM_FIGURES + 2 - (drops ? 1 : 0)));
    put_text(s, ".unknown");
    for (uint32_t i = 0; i < change->nesting; i++) {
        put_byte(s, 0x91);
    }
    put_byte(s, 0xc0);
    if (!is_key(change->drop_key, ".name")) {
        put_text(s, ".name");
        put_text(s, change->symbol != NULL ? change->symbol : "sample_kernel");
    }
    for (size_t i = 0; i < NUM_FIGURES; i++) {
        if (is_key(change->drop_key, sample_figures[i].key)) {
            continue;
        }
        put_text(s, sample_figures[i].key);
        if (is_key(change->text_key, sample_figures[i].key)) {
            put_text(s, "12");
        } else {
            put_number(s, sample_figures[i].value);
        }
    }
}

static void put_metadata(struct sink *s, const struct sample_change *change)
{
    const uint32_t kernels = change->kernels > 0 ? change->kernels - 1 : 1;
    put_byte(s, 0x82);
    put_text(s, "amdhsa.version");
    put_byte(s, 0x92);
    put_byte(s, 1);
    put_byte(s, 2);
    if (is_key(change->drop_key, "amdhsa.kernels")) {
        put_text(s, "other");
        put_byte(s, 0xc3);
        return;
    }
    put_text(s, "amdhsa.kernels");
    put_byte(s, 0x90u | kernels);
    for (uint32_t i = 0; i < kernels; i++) {
        put_kernel(s, change);
    }
}

size_t sample_write(const struct sample_change *change, uint8_t *out)
{
    static const struct sample_change usual;
    static const char names[] = "\0.text\0.shstrtab";
    const struct sample_change *c = change != NULL ? change : &usual;
    struct sink s = { out, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) };
    memset(out, 0, SAMPLE_SIZE_MAX);
    const size_t note = s.size;
    s.size += sizeof(Elf64_Nhdr);
    put(&s, "AMDGPU\0", 8);
    const size_t blob = s.size;
    put_metadata(&s, c);
    const Elf64_Nhdr head = { 7, (Elf64_Word)(s.size - blob), 32 };
    memcpy(out + note, &head, sizeof head);
    s.size = (s.size + 255) & ~(size_t)255;
    const size_t note_end = blob + head.n_descsz, text = s.size;
    for (int i = 0; i < SAMPLE_TEXT_SIZE; i++) {
        put_byte(&s, 0xc0u + (unsigned)i);
    }
    const size_t strings = s.size;
    put(&s, names, sizeof names);
    s.size = (s.size + 7) & ~(size_t)7;
    const Elf64_Shdr sections[3] = {
        { .sh_type = SHT_NULL },
        { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
          .sh_offset = text, .sh_size = SAMPLE_TEXT_SIZE },
        { .sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = sizeof names },
    };
    Elf64_Ehdr eh = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 64, 4 },
        .e_type = ET_DYN,
        .e_machine = (Elf64_Half)(c->machine != 0 ? c->machine : 224),
        .e_version = 1,
        .e_phoff = sizeof(Elf64_Ehdr), .e_shoff = s.size,
        .e_flags = c->flags != 0 ? c->flags : 0xe4f,
        .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
    };
    const Elf64_Phdr ph = { .p_type = PT_NOTE,
                            .p_flags = PF_R,
                            .p_offset = note,
                            .p_filesz = note_end - note,
                            .p_memsz = note_end - note,
                            .p_align = 4 };
    memcpy(out, &eh, sizeof eh);
    memcpy(out + sizeof eh, &ph, sizeof ph);
    put(&s, sections, sizeof sections);
    return s.size;
}
