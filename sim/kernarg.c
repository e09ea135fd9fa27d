/* SPDX-License-Identifier: MIT */
/*
 * What a kernel finds in memory at its start: the argument segment with the hidden
 * arguments of code objects v5 and v6 (LLVM AMDGPUUsage, "Code Object V5 Metadata") and
 * the dispatch packet (HSA, hsa_kernel_dispatch_packet_t).
 */
#include "group.h"

#include <string.h>

#define PACKET_SIZE 64
#define QUEUE_SIZE 256

/* Write the low `arg->size` bytes of value, at most 8. */
static void put(uint8_t *segment, const struct sim_arg *arg, uint64_t value)
{
    size_t n = arg->size < sizeof value ? arg->size : sizeof value;
    memcpy(segment + arg->offset, &value, n);
}

static uint64_t hidden_value(const struct sim_dispatch *d, const struct sim_arg *arg)
{
    const struct sim_launch *l = d->launch;
    unsigned i = arg->dim;
    switch (arg->kind) {
    case SIM_ARG_HIDDEN_BLOCK_COUNT:
        /* Complete groups only; the remainder tells of the last one. */
        return d->total_items[i] / l->block[i];
    case SIM_ARG_HIDDEN_GROUP_SIZE:
        return l->block[i];
    case SIM_ARG_HIDDEN_REMAINDER:
        return d->total_items[i] % l->block[i];
    case SIM_ARG_HIDDEN_GRID_DIMS:
        return l->grid[2] * l->block[2] > 1 ? 3 : l->grid[1] * l->block[1] > 1 ? 2 : 1;
    case SIM_ARG_HIDDEN_DYNAMIC_LDS_SIZE:
        return l->dynamic_lds;
    case SIM_ARG_HIDDEN_PRIVATE_BASE:
        return SIM_PRIVATE_BASE >> 32;
    case SIM_ARG_HIDDEN_SHARED_BASE:
        return SIM_SHARED_BASE >> 32;
    case SIM_ARG_HIDDEN_QUEUE_PTR:
        return d->queue;
    default:
        return 0;
    }
}

static void write_packet(const struct sim_dispatch *d, uint8_t *p)
{
    const struct sim_launch *l = d->launch;
    uint16_t setup[6] = {
        0x1502, 3, (uint16_t)l->block[0], (uint16_t)l->block[1], (uint16_t)l->block[2], 0
    };
    uint32_t sizes[5] = { (uint32_t)d->total_items[0], (uint32_t)d->total_items[1],
                          (uint32_t)d->total_items[2], d->scratch_size, d->lds_size };
    uint64_t addresses[2] = { sim_code_base(l->code) + d->kernel->kd, d->kernarg };
    memcpy(p, setup, sizeof setup);
    memcpy(p + 12, sizes, sizeof sizes);
    memcpy(p + 32, addresses, sizeof addresses);
}

bool sim_kernarg_create(struct sim_dispatch *d)
{
    const struct sim_launch *l = d->launch;
    const struct sim_kernel *k = d->kernel;
    int device = l->device;
    size_t size = k->kernarg_size > l->kernarg_size ? k->kernarg_size : l->kernarg_size;
    d->kernarg_size = (size + 63) & ~(size_t)63;
    uint8_t *segment = sim_mem_alloc(device, d->kernarg_size, SIM_ALLOC_INTERNAL, -1);
    uint8_t *packet = sim_mem_alloc(device, PACKET_SIZE + QUEUE_SIZE, SIM_ALLOC_INTERNAL, -1);
    d->kernarg = (uint64_t)(uintptr_t)segment;
    d->packet = (uint64_t)(uintptr_t)packet;
    d->queue = packet ? d->packet + PACKET_SIZE : 0;
    if (!segment || !packet) {
        return false;
    }
    if (l->kernarg_size) {
        memcpy(segment, l->kernarg, l->kernarg_size);
    }
    for (uint32_t i = 0; i < k->arg_count; i++) {
        if (k->args[i].kind >= SIM_ARG_HIDDEN_FIRST) {
            put(segment, &k->args[i], hidden_value(d, &k->args[i]));
        }
    }
    write_packet(d, packet);
    return true;
}

void sim_kernarg_destroy(struct sim_dispatch *d)
{
    if (d->kernarg) {
        sim_mem_free((void *)(uintptr_t)d->kernarg);
    }
    if (d->packet) {
        sim_mem_free((void *)(uintptr_t)d->packet);
    }
}
