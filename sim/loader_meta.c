/* SPDX-License-Identifier: MIT */
/*
 * The metadata note (LLVM AMDGPUUsage, "Code Object V3 and Above Metadata"): MessagePack,
 * read with msgpack-c into the kernels that the symbols named.
 */
#include "loader_priv.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define ARGS_MAX 4096

/* Bytes of the head at p: type byte and length field; 0 when they do not fit. */
static size_t head_size(uint8_t type)
{
    switch (type) {
    case 0xc4:
    case 0xd9:
        return 2;
    case 0xc5:
    case 0xda:
    case 0xdc:
    case 0xde:
        return 3;
    case 0xc6:
    case 0xdb:
    case 0xdd:
    case 0xdf:
        return 5;
    default:
        return 1;
    }
}

static uint64_t big_endian(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

/* Payload bytes (*bytes) and child objects (*children) of the object with this head. */
static void measure_object(const uint8_t *p, size_t head, uint64_t *bytes, uint64_t *children)
{
    static const uint8_t fixed[] = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };
    uint8_t t = p[0];
    uint64_t n = big_endian(p + 1, head - 1);
    *bytes = *children = 0;
    if ((t & 0xf0) == 0x80 || t == 0xde || t == 0xdf) {
        *children = 2 * (head == 1 ? (uint64_t)(t & 15) : n);
    } else if ((t & 0xf0) == 0x90 || t == 0xdc || t == 0xdd) {
        *children = head == 1 ? (uint64_t)(t & 15) : n;
    } else if ((t & 0xe0) == 0xa0) {
        *bytes = t & 31;
    } else if (t >= 0xca && t <= 0xd3) {
        *bytes = fixed[t - 0xca];
    } else if (head > 1) {
        *bytes = n;
    }
}

/*
 * True when every container's count and every length fits the bytes that follow, so that
 * the parser allocates no more than a small multiple of the note.  Extension types are
 * refused: the metadata has none.
 */
static bool is_plausible(const uint8_t *p, size_t size)
{
    uint64_t left[DEPTH_MAX] = { 1 };
    unsigned depth = 0;
    size_t at = 0;
    for (;;) {
        while (left[depth] == 0) {
            if (depth == 0) {
                return true;
            }
            depth--;
        }
        left[depth]--;
        if (at >= size || p[at] == 0xc1 || (p[at] >= 0xc7 && p[at] <= 0xc9) ||
            (p[at] >= 0xd4 && p[at] <= 0xd8)) {
            return false;
        }
        size_t head = head_size(p[at]);
        uint64_t bytes, children;
        if (head > size - at) {
            return false;
        }
        measure_object(p + at, head, &bytes, &children);
        at += head;
        if (bytes > size - at || children > size - at) {
            return false;
        }
        at += bytes;
        if (children && ++depth == DEPTH_MAX) {
            return false;
        }
        if (children) {
            left[depth] = children;
        }
    }
}

static const msgpack_object *map_get(const msgpack_object *map, const char *key)
{
    size_t length = strlen(key);
    if (!map || map->type != MSGPACK_OBJECT_MAP) {
        return NULL;
    }
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *k = &map->via.map.ptr[i].key;
        if (k->type == MSGPACK_OBJECT_STR && k->via.str.size == length &&
            memcmp(k->via.str.ptr, key, length) == 0) {
            return &map->via.map.ptr[i].val;
        }
    }
    return NULL;
}

/* Unsigned field of a map that fits 32 bits; `otherwise` when absent or of another type. */
static uint32_t map_u32(const msgpack_object *map, const char *key, uint32_t otherwise)
{
    const msgpack_object *o = map_get(map, key);
    return o && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= UINT32_MAX
               ? (uint32_t)o->via.u64
               : otherwise;
}

static bool is_text(const msgpack_object *o, const char *text)
{
    size_t length = strlen(text);
    return o && o->type == MSGPACK_OBJECT_STR && o->via.str.size == length &&
           memcmp(o->via.str.ptr, text, length) == 0;
}

static void set_kind(struct sim_arg *arg, const msgpack_object *kind)
{
    static const struct {
        const char *text;
        uint8_t kind, dim;
    } kinds[] = {
        { "by_value", SIM_ARG_BY_VALUE, 0 },
        { "global_buffer", SIM_ARG_GLOBAL_BUFFER, 0 },
        { "dynamic_shared_pointer", SIM_ARG_DYNAMIC_LDS, 0 },
        { "hidden_block_count_x", SIM_ARG_HIDDEN_BLOCK_COUNT, 0 },
        { "hidden_block_count_y", SIM_ARG_HIDDEN_BLOCK_COUNT, 1 },
        { "hidden_block_count_z", SIM_ARG_HIDDEN_BLOCK_COUNT, 2 },
        { "hidden_group_size_x", SIM_ARG_HIDDEN_GROUP_SIZE, 0 },
        { "hidden_group_size_y", SIM_ARG_HIDDEN_GROUP_SIZE, 1 },
        { "hidden_group_size_z", SIM_ARG_HIDDEN_GROUP_SIZE, 2 },
        { "hidden_remainder_x", SIM_ARG_HIDDEN_REMAINDER, 0 },
        { "hidden_remainder_y", SIM_ARG_HIDDEN_REMAINDER, 1 },
        { "hidden_remainder_z", SIM_ARG_HIDDEN_REMAINDER, 2 },
        { "hidden_global_offset_x", SIM_ARG_HIDDEN_GLOBAL_OFFSET, 0 },
        { "hidden_global_offset_y", SIM_ARG_HIDDEN_GLOBAL_OFFSET, 1 },
        { "hidden_global_offset_z", SIM_ARG_HIDDEN_GLOBAL_OFFSET, 2 },
        { "hidden_grid_dims", SIM_ARG_HIDDEN_GRID_DIMS, 0 },
        { "hidden_dynamic_lds_size", SIM_ARG_HIDDEN_DYNAMIC_LDS_SIZE, 0 },
        { "hidden_private_base", SIM_ARG_HIDDEN_PRIVATE_BASE, 0 },
        { "hidden_shared_base", SIM_ARG_HIDDEN_SHARED_BASE, 0 },
        { "hidden_queue_ptr", SIM_ARG_HIDDEN_QUEUE_PTR, 0 },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (is_text(kind, kinds[i].text)) {
            arg->kind = kinds[i].kind;
            arg->dim = kinds[i].dim;
            return;
        }
    }
    bool is_hidden = kind && kind->type == MSGPACK_OBJECT_STR && kind->via.str.size >= 7 &&
                     memcmp(kind->via.str.ptr, "hidden_", 7) == 0;
    arg->kind = is_hidden ? SIM_ARG_HIDDEN_ZERO : SIM_ARG_OTHER_EXPLICIT;
}

static bool read_args(struct sim_loader *l, struct sim_kernel *k, const msgpack_object *list)
{
    if (!list || list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size == 0) {
        return true;
    }
    uint32_t count = list->via.array.size;
    if (count > ARGS_MAX) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "kernel %s has %u arguments", k->name,
                               count);
    }
    k->args = sim_loader_own(l, count, sizeof *k->args);
    if (!k->args) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const msgpack_object *o = &list->via.array.ptr[i];
        struct sim_arg *arg = &k->args[i];
        arg->offset = map_u32(o, ".offset", UINT32_MAX);
        arg->size = map_u32(o, ".size", UINT32_MAX);
        set_kind(arg, map_get(o, ".value_kind"));
        if ((uint64_t)arg->offset + arg->size > k->kernarg_size) {
            return sim_loader_fail(
                l, SIM_LOAD_DAMAGED,
                "argument %u of kernel %s (offset %u, %u bytes) is outside its "
                "%u bytes of arguments",
                i, k->name, arg->offset, arg->size, k->kernarg_size);
        }
        const msgpack_object *name = map_get(o, ".name");
        bool has_name = name && name->type == MSGPACK_OBJECT_STR;
        arg->name = has_name ? sim_loader_string(l, name->via.str.ptr, name->via.str.size) : "";
        if (!arg->name) {
            return false;
        }
        if (arg->kind < SIM_ARG_HIDDEN_FIRST) {
            k->explicit_count++;
            k->kernarg_explicit = arg->offset + arg->size > k->kernarg_explicit
                                      ? arg->offset + arg->size
                                      : k->kernarg_explicit;
        }
    }
    k->arg_count = count;
    return true;
}

static struct sim_kernel *find_by_symbol(struct sim_loader *l, const msgpack_object *symbol)
{
    for (size_t i = 0; i < l->code->kernel_count; i++) {
        struct sim_kernel *k = &l->code->kernels[i];
        size_t length = strlen(k->name);
        if (symbol && symbol->type == MSGPACK_OBJECT_STR &&
            symbol->via.str.size == length + 3 &&
            memcmp(symbol->via.str.ptr, k->name, length) == 0 &&
            memcmp(symbol->via.str.ptr + length, ".kd", 3) == 0) {
            return k;
        }
    }
    return NULL;
}

static bool read_kernel(struct sim_loader *l, const msgpack_object *o)
{
    struct sim_kernel *k = find_by_symbol(l, map_get(o, ".symbol"));
    if (!k) {
        return true;
    }
    k->kernarg_size = map_u32(o, ".kernarg_segment_size", k->kernarg_size);
    k->kernarg_align = map_u32(o, ".kernarg_segment_align", 8);
    k->meta_vgpr = map_u32(o, ".vgpr_count", 0);
    k->meta_agpr = map_u32(o, ".agpr_count", 0);
    k->meta_sgpr = map_u32(o, ".sgpr_count", 0);
    k->vgpr_spills = map_u32(o, ".vgpr_spill_count", 0);
    k->sgpr_spills = map_u32(o, ".sgpr_spill_count", 0);
    k->max_flat_group_size = map_u32(o, ".max_flat_workgroup_size", 0);
    const msgpack_object *dynamic = map_get(o, ".uses_dynamic_stack");
    k->dynamic_stack |=
        dynamic && dynamic->type == MSGPACK_OBJECT_BOOLEAN && dynamic->via.boolean;
    const msgpack_object *required = map_get(o, ".reqd_workgroup_size");
    if (required && required->type == MSGPACK_OBJECT_ARRAY && required->via.array.size == 3) {
        for (unsigned i = 0; i < 3; i++) {
            const msgpack_object *n = &required->via.array.ptr[i];
            bool fits = n->type == MSGPACK_OBJECT_POSITIVE_INTEGER && n->via.u64 <= 1024;
            k->reqd_group_size[i] = fits ? (uint32_t)n->via.u64 : 0;
        }
    }
    if (k->kernarg_size > 65536) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED, "kernel %s has %u bytes of arguments",
                               k->name, k->kernarg_size);
    }
    return read_args(l, k, map_get(o, ".args"));
}

static void set_isa(struct sim_loader *l, const msgpack_object *target)
{
    /* "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-": keep what follows the last dash pair. */
    if (!target || target->type != MSGPACK_OBJECT_STR) {
        return;
    }
    const char *p = target->via.str.ptr;
    size_t n = target->via.str.size;
    for (size_t i = n; i-- > 1;) {
        if (p[i] == '-' && p[i - 1] == '-') {
            size_t length = n - i - 1;
            length = length < sizeof l->code->isa ? length : sizeof l->code->isa - 1;
            memcpy(l->code->isa, p + i + 1, length);
            l->code->isa[length] = 0;
            return;
        }
    }
}

bool sim_loader_metadata(struct sim_loader *l)
{
    if (!l->note) {
        return true;
    }
    if (!is_plausible(l->note, l->note_size)) {
        return sim_loader_fail(l, SIM_LOAD_DAMAGED,
                               "the metadata note is not valid MessagePack");
    }
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    size_t offset = 0;
    msgpack_unpack_return status =
        msgpack_unpack_next(&result, (const char *)l->note, l->note_size, &offset);
    bool ok;
    if (status != MSGPACK_UNPACK_SUCCESS && status != MSGPACK_UNPACK_EXTRA_BYTES) {
        ok = sim_loader_fail(
            l, status == MSGPACK_UNPACK_NOMEM_ERROR ? SIM_LOAD_NO_MEMORY : SIM_LOAD_DAMAGED,
            "the metadata note cannot be unpacked (msgpack status %d)", (int)status);
    } else {
        const msgpack_object *kernels = map_get(&result.data, "amdhsa.kernels");
        set_isa(l, map_get(&result.data, "amdhsa.target"));
        ok = true;
        for (uint32_t i = 0; ok && kernels && kernels->type == MSGPACK_OBJECT_ARRAY &&
                             i < kernels->via.array.size;
             i++) {
            ok = read_kernel(l, &kernels->via.array.ptr[i]);
        }
    }
    msgpack_unpacked_destroy(&result);
    return ok;
}
