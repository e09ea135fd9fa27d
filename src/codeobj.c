/* SPDX-License-Identifier: MIT */
/*
 * Reading an AMDGPU code object (ELF64, little endian).  Its metadata is a
 * MessagePack map in a note of type NT_AMDGPU_METADATA named "AMDGPU"; LLVM's
 * "User Guide for AMDGPU Backend", sections "Note Records" and "Code Object
 * V5 Metadata", gives the keys.  Every offset, size and count is checked
 * against the bytes that are there.
 */
#include "codeobj.h"

#include <msgpack.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

/* Not <elf.h>: it is read byte by byte, so that alignment and host do not matter. */
enum {
    EHDR_SIZE = 64,
    PHDR_SIZE = 56,
    SHDR_SIZE = 64,
    ELF_CLASS_64 = 2,
    ELF_LITTLE_ENDIAN = 1,
    ELF_OSABI_AMDGPU_HSA = 64,
    ELF_MACHINE_AMDGPU = 224,
    ELF_TYPE_DYN = 3,
    SEGMENT_NOTE = 4,
    SECTION_PROGBITS = 1,
    SECTION_NOBITS = 8,
    NOTE_METADATA = 32,
    NESTING_MAX = 16 /* of metadata; compilers write 5 levels */
};

/* Fields of e_flags from code object V4 on (user guide, "Header", table of e_flags). */
#define FLAG_MACH 0x0ffu
#define FLAG_XNACK 0x300u
#define FLAG_SRAMECC 0xc00u
#define XNACK_OFF 0x200u
#define XNACK_ON 0x300u
#define SRAMECC_OFF 0x800u
#define SRAMECC_ON 0xc00u

struct image {
    const uint8_t *bytes;
    size_t size;
    uint32_t flags;
    uint64_t phoff, shoff;
    uint32_t phnum, shnum, shstrndx;
};

static const struct { const char *name; uint32_t mach; } archs[] = {
    { "gfx942", 0x4c },
    { "gfx950", 0x4f },
};

static uint64_t get_le(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = size; i > 0; i--) {
        value = value << 8 | at[i - 1];
    }
    return value;
}

static bool in_image(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

static mxg_status image_open(const void *code, size_t size, struct image *image)
{
    memset(image, 0, sizeof *image);
    image->bytes = code;
    image->size = size;
    if (code == NULL || size < EHDR_SIZE) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object has %zu bytes, an ELF header needs %d", size,
                          EHDR_SIZE);
    }
    const uint8_t *b = image->bytes;
    if (memcmp(b, "\177ELF", 4) != 0 || b[4] != ELF_CLASS_64 || b[5] != ELF_LITTLE_ENDIAN) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object is no little-endian 64-bit ELF file");
    }
    const uint32_t machine = (uint32_t)get_le(b + 18, 2), type = (uint32_t)get_le(b + 16, 2);
    if (machine != ELF_MACHINE_AMDGPU || b[7] != ELF_OSABI_AMDGPU_HSA || type != ELF_TYPE_DYN) {
        return status_set(
            MXG_E_CODE_OBJECT,
            "the ELF file has machine %u, OS ABI %u, type %u; an AMD code object has "
            "%d, %d, %d",
            machine, b[7], type, ELF_MACHINE_AMDGPU, ELF_OSABI_AMDGPU_HSA, ELF_TYPE_DYN);
    }
    image->flags = (uint32_t)get_le(b + 48, 4);
    image->phoff = get_le(b + 32, 8);
    image->shoff = get_le(b + 40, 8);
    image->phnum = (uint32_t)get_le(b + 56, 2);
    image->shnum = (uint32_t)get_le(b + 60, 2);
    image->shstrndx = (uint32_t)get_le(b + 62, 2);
    if ((image->phnum > 0 && get_le(b + 54, 2) != PHDR_SIZE) ||
        (image->shnum > 0 && get_le(b + 58, 2) != SHDR_SIZE)) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object's header entries have a wrong size");
    }
    if (!in_image(image, image->phoff, (uint64_t)image->phnum * PHDR_SIZE) ||
        !in_image(image, image->shoff, (uint64_t)image->shnum * SHDR_SIZE)) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object's headers lie outside its %zu bytes", size);
    }
    return MXG_OK;
}

/* --------------------------------------------------------------- sections */

static bool section_is_named(const struct image *image, const uint8_t *section,
                             const char *name)
{
    if (image->shstrndx >= image->shnum) {
        return false;
    }
    const uint8_t *strings =
        image->bytes + image->shoff + (uint64_t)image->shstrndx * SHDR_SIZE;
    const uint64_t offset = get_le(strings + 24, 8), size = get_le(strings + 32, 8);
    const uint64_t at = get_le(section, 4);
    const size_t need = strlen(name) + 1;
    return get_le(strings + 4, 4) != SECTION_NOBITS && in_image(image, offset, size) &&
           at <= size && need <= size - at &&
           memcmp(image->bytes + offset + at, name, need) == 0;
}

static mxg_status find_text(const struct image *image, const uint8_t **text, size_t *text_size)
{
    for (uint32_t i = 0; i < image->shnum; i++) {
        const uint8_t *section = image->bytes + image->shoff + (uint64_t)i * SHDR_SIZE;
        if (get_le(section + 4, 4) != SECTION_PROGBITS ||
            !section_is_named(image, section, ".text")) {
            continue;
        }
        const uint64_t offset = get_le(section + 24, 8), size = get_le(section + 32, 8);
        if (!in_image(image, offset, size)) {
            return status_set(MXG_E_CODE_OBJECT,
                              "the code object's .text lies outside its %zu bytes",
                              image->size);
        }
        *text = image->bytes + offset;
        *text_size = (size_t)size;
        return MXG_OK;
    }
    return status_set(MXG_E_CODE_OBJECT, "the code object has no .text section");
}

mxg_status codeobj_text(const void *code, size_t size, const uint8_t **text, size_t *text_size)
{
    struct image image;
    *text = NULL;
    *text_size = 0;
    mxg_status status = image_open(code, size, &image);
    return status == MXG_OK ? find_text(&image, text, text_size) : status;
}

/* ------------------------------------------------------------------- arch */

/* The sign of ":xnack+" or ":sramecc-" in an architecture's name; 0 if it is not told. */
static char feature_sign(const char *arch, const char *feature)
{
    const char *at = strstr(arch, feature);
    return at != NULL ? at[strlen(feature)] : '\0';
}

/* Code for any setting runs everywhere; code for one needs a device that has it. */
static mxg_status check_feature(const char *arch, const char *feature, uint32_t field,
                                uint32_t off, uint32_t on)
{
    const char sign = feature_sign(arch, feature);
    if ((field == on && sign == '-') || (field == off && sign == '+')) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object was made for %s%c, the device is \"%s\"",
                          feature + 1, field == on ? '+' : '-', arch);
    }
    return MXG_OK;
}

mxg_status codeobj_check_arch(const void *code, size_t size, const char *arch)
{
    struct image image;
    mxg_status status = image_open(code, size, &image);
    if (status != MXG_OK) {
        return status;
    }
    const size_t len = strcspn(arch, ":");
    uint32_t expected = 0;
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        if (strlen(archs[i].name) == len && strncmp(arch, archs[i].name, len) == 0) {
            expected = archs[i].mach;
        }
    }
    if (expected == 0) {
        return status_set(MXG_E_CODE_OBJECT,
                          "no code object is known for the architecture \"%.64s\"", arch);
    }
    if ((image.flags & FLAG_MACH) != expected) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object is for machine 0x%02x, but \"%.64s\" is 0x%02x",
                          image.flags & FLAG_MACH, arch, expected);
    }
    status = check_feature(arch, ":xnack", image.flags & FLAG_XNACK, XNACK_OFF, XNACK_ON);
    if (status == MXG_OK) {
        status = check_feature(arch, ":sramecc", image.flags & FLAG_SRAMECC, SRAMECC_OFF,
                               SRAMECC_ON);
    }
    return status;
}

/* --------------------------------------------------------------- metadata */

/*
 * Find the metadata in the notes of one segment; false if it is not there or the
 * notes are malformed.
 */
static bool find_note(const uint8_t *notes, uint64_t size, const uint8_t **blob,
                      size_t *blob_size)
{
    uint64_t at = 0;
    while (size - at >= 12) {
        const uint64_t name_size = get_le(notes + at, 4), desc_size = get_le(notes + at + 4, 4);
        const uint64_t type = get_le(notes + at + 8, 4);
        const uint64_t name_room = (name_size + 3) & ~UINT64_C(3);
        const uint64_t desc_room = (desc_size + 3) & ~UINT64_C(3);
        at += 12;
        /* The last descriptor's padding may be missing. */
        if (name_room > size - at || desc_size > size - at - name_room) {
            return false;
        }
        if (type == NOTE_METADATA && name_size == 7 && memcmp(notes + at, "AMDGPU", 7) == 0) {
            *blob = notes + at + name_room;
            *blob_size = (size_t)desc_size;
            return true;
        }
        at += name_room;
        at += desc_room < size - at ? desc_room : size - at;
    }
    return false;
}

static bool find_metadata(const struct image *image, const uint8_t **blob, size_t *blob_size)
{
    for (uint32_t i = 0; i < image->phnum; i++) {
        const uint8_t *segment = image->bytes + image->phoff + (uint64_t)i * PHDR_SIZE;
        const uint64_t offset = get_le(segment + 8, 8), size = get_le(segment + 32, 8);
        if (get_le(segment, 4) == SEGMENT_NOTE && in_image(image, offset, size) &&
            find_note(image->bytes + offset, size, blob, blob_size)) {
            return true;
        }
    }
    return false;
}

/* The value of a text key in a map; NULL if it is missing or this is no map. */
static const msgpack_object *map_get(const msgpack_object *object, const char *key)
{
    const size_t len = strlen(key);
    if (object == NULL || object->type != MSGPACK_OBJECT_MAP) {
        return NULL;
    }
    for (uint32_t i = 0; i < object->via.map.size; i++) {
        const msgpack_object *name = &object->via.map.ptr[i].key;
        if (name->type == MSGPACK_OBJECT_STR && name->via.str.size == len &&
            memcmp(name->via.str.ptr, key, len) == 0) {
            return &object->via.map.ptr[i].val;
        }
    }
    return NULL;
}

struct figure {
    const char *key;
    size_t offset;
    bool required;
};

static const struct figure figures[] = {
    { ".vgpr_count", offsetof(struct codeobj_kernel, vgprs), true },
    { ".agpr_count", offsetof(struct codeobj_kernel, agprs), false },
    { ".sgpr_count", offsetof(struct codeobj_kernel, sgprs), true },
    { ".vgpr_spill_count", offsetof(struct codeobj_kernel, vgpr_spills), false },
    { ".sgpr_spill_count", offsetof(struct codeobj_kernel, sgpr_spills), false },
    { ".group_segment_fixed_size", offsetof(struct codeobj_kernel, lds_bytes), true },
    { ".private_segment_fixed_size", offsetof(struct codeobj_kernel, scratch_bytes), true },
    { ".kernarg_segment_size", offsetof(struct codeobj_kernel, kernarg_bytes), true },
    { ".max_flat_workgroup_size", offsetof(struct codeobj_kernel, max_threads), true },
};

static mxg_status read_figures(const msgpack_object *entry, struct codeobj_kernel *kernel)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const msgpack_object *value = map_get(entry, figures[i].key);
        uint32_t number = 0;
        if (value != NULL && value->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
            value->via.u64 <= UINT32_MAX) {
            number = (uint32_t)value->via.u64;
        } else if (value != NULL || figures[i].required) {
            return status_set(MXG_E_CODE_OBJECT,
                              "the code object's metadata has no usable \"%s\"",
                              figures[i].key);
        }
        memcpy((char *)kernel + figures[i].offset, &number, sizeof number);
    }
    return MXG_OK;
}

static mxg_status read_kernels(const msgpack_object *root, struct codeobj_kernel *kernel)
{
    const msgpack_object *kernels = map_get(root, "amdhsa.kernels");
    if (kernels == NULL || kernels->type != MSGPACK_OBJECT_ARRAY ||
        kernels->via.array.size != 1) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object's metadata lists %u kernels, not one",
                          kernels != NULL && kernels->type == MSGPACK_OBJECT_ARRAY
                              ? kernels->via.array.size : 0);
    }
    const msgpack_object *entry = &kernels->via.array.ptr[0];
    const msgpack_object *name = map_get(entry, ".name");
    if (name == NULL || name->type != MSGPACK_OBJECT_STR || name->via.str.size == 0 ||
        name->via.str.size >= sizeof kernel->symbol ||
        memchr(name->via.str.ptr, '\0', name->via.str.size) != NULL) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object's metadata has no kernel name of 1 to %zu bytes",
                          sizeof kernel->symbol - 1);
    }
    memcpy(kernel->symbol, name->via.str.ptr, name->via.str.size);
    return read_figures(entry, kernel);
}

/*
 * Count objects and depth before msgpack-c sees the bytes: it allocates what
 * an array's header announces, before it knows whether the elements are there.
 */
struct scanner {
    const uint8_t *bytes;
    size_t size, at;
};

static bool scan_skip(struct scanner *s, uint64_t count)
{
    if (count > s->size - s->at) {
        return false;
    }
    s->at += (size_t)count;
    return true;
}

static bool scan_number(struct scanner *s, unsigned width, uint64_t *value)
{
    if (width > s->size - s->at) {
        return false;
    }
    *value = 0;
    for (unsigned i = 0; i < width; i++) {
        *value = *value << 8 | s->bytes[s->at++];
    }
    return true;
}

static bool scan_object(struct scanner *s, unsigned depth);

static bool scan_many(struct scanner *s, uint64_t count, unsigned depth)
{
    /* Each object takes a byte or more. */
    if (depth >= NESTING_MAX || count > s->size - s->at) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!scan_object(s, depth + 1)) {
            return false;
        }
    }
    return true;
}

/* One object of the MessagePack specification, "Formats". */
static bool scan_object(struct scanner *s, unsigned depth)
{
    uint64_t count;
    if (s->at >= s->size) {
        return false;
    }
    const uint8_t tag = s->bytes[s->at++];
    if (tag <= 0x7f || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) {
        return true;
    }
    if (tag <= 0x8f) {
        return scan_many(s, 2u * (tag & 0x0fu), depth);
    }
    if (tag <= 0x9f) {
        return scan_many(s, tag & 0x0fu, depth);
    }
    if (tag <= 0xbf) {
        return scan_skip(s, tag & 0x1fu);
    }
    switch (tag) {
    case 0xc4: case 0xc5: case 0xc6: /* bin 8, 16, 32 */
        return scan_number(s, 1u << (tag - 0xc4), &count) && scan_skip(s, count);
    case 0xd9: case 0xda: case 0xdb: /* str 8, 16, 32 */
        return scan_number(s, 1u << (tag - 0xd9), &count) && scan_skip(s, count);
    case 0xc7: case 0xc8: case 0xc9: /* ext 8, 16, 32: a type byte too */
        return scan_number(s, 1u << (tag - 0xc7), &count) && scan_skip(s, count + 1);
    case 0xca: case 0xcb: /* float 32, 64 */
        return scan_skip(s, 4u << (tag - 0xca));
    case 0xcc: case 0xcd: case 0xce: case 0xcf: /* uint 8 to 64 */
        return scan_skip(s, UINT64_C(1) << (tag - 0xcc));
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: /* int 8 to 64 */
        return scan_skip(s, UINT64_C(1) << (tag - 0xd0));
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: /* fixext 1 to 16: a type byte too */
        return scan_skip(s, 1 + (UINT64_C(1) << (tag - 0xd4)));
    case 0xdc: case 0xdd: /* array 16, 32 */
        return scan_number(s, 2u << (tag - 0xdc), &count) && scan_many(s, count, depth);
    case 0xde: case 0xdf: /* map 16, 32 */
        return scan_number(s, 2u << (tag - 0xde), &count) && scan_many(s, 2 * count, depth);
    default:
        return false; /* 0xc1 is never used */
    }
}

static mxg_status read_metadata(const uint8_t *blob, size_t size, struct codeobj_kernel *kernel)
{
    msgpack_unpacked unpacked;
    struct scanner scanner = { blob, size, 0 };
    if (!scan_object(&scanner, 0) || scanner.at != size) {
        return status_set(MXG_E_CODE_OBJECT,
                          "the code object's metadata is malformed at byte %zu of %zu",
                          scanner.at, size);
    }
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    mxg_status status;
    switch (msgpack_unpack_next(&unpacked, (const char *)blob, size, &offset)) {
    case MSGPACK_UNPACK_SUCCESS:
        status = read_kernels(&unpacked.data, kernel);
        break;
    case MSGPACK_UNPACK_NOMEM_ERROR:
        status =
            status_set(MXG_E_HOST_MEMORY, "out of host memory for a code object's metadata");
        break;
    default:
        status = status_set(MXG_E_CODE_OBJECT, "the code object's metadata cannot be unpacked");
        break;
    }
    msgpack_unpacked_destroy(&unpacked);
    return status;
}

mxg_status codeobj_read(const void *code, size_t size, struct codeobj_kernel *kernel)
{
    struct image image;
    struct codeobj_kernel found;
    const uint8_t *blob = NULL, *text;
    size_t blob_size = 0, text_size;
    memset(kernel, 0, sizeof *kernel);
    memset(&found, 0, sizeof found);
    mxg_status status = image_open(code, size, &image);
    if (status == MXG_OK && !find_metadata(&image, &blob, &blob_size)) {
        status = status_set(MXG_E_CODE_OBJECT, "the code object has no metadata note");
    }
    if (status == MXG_OK) {
        status = read_metadata(blob, blob_size, &found);
    }
    if (status == MXG_OK) {
        status = find_text(&image, &text, &text_size);
    }
    if (status == MXG_OK && text_size > UINT32_MAX) {
        status =
            status_set(MXG_E_CODE_OBJECT, "the code object has %zu bytes of code", text_size);
    }
    if (status == MXG_OK) {
        found.code_bytes = (uint32_t)text_size;
        *kernel = found;
    }
    return status;
}
