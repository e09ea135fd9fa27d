/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations on memory and LDS: the arithmetic (ISA text, 9.2 "Float Memory
 * Atomics" and the DS opcodes' pseudocode), and the loop over lanes for device memory.
 */
#include "exec_mem.h"
#include "fp_lowp.h"

#include <string.h>

static float as_float(uint32_t u)
{
    return sim_f32_from_bits(u);
}

static double as_double(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static uint64_t double_bits(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static uint32_t flush32(uint32_t u, bool flush)
{
    return flush && (u & 0x7f800000u) == 0 ? u & 0x80000000u : u;
}

static bool is_nan64(uint64_t u)
{
    return (u & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

/* Sum with the NaN rules of 9.2.3: the first NaN operand, made quiet. */
static uint32_t add32(uint32_t a, uint32_t b, bool flush)
{
    if (sim_f32_is_nan(a) || sim_f32_is_nan(b)) {
        return (sim_f32_is_nan(a) ? a : b) | 0x00400000u;
    }
    uint32_t sum = sim_f32_bits(as_float(flush32(a, flush)) + as_float(flush32(b, flush)));
    if (sim_f32_is_nan(sum)) {
        return SIM_F32_QNAN;
    }
    return flush32(sum, flush);
}

static uint64_t add64(uint64_t a, uint64_t b)
{
    if (is_nan64(a) || is_nan64(b)) {
        return (is_nan64(a) ? a : b) | 0x0008000000000000ull;
    }
    uint64_t sum = double_bits(as_double(a) + as_double(b));
    return is_nan64(sum) ? 0x7ff8000000000000ull : sum;
}

/* True when b is the smaller, with -0 below +0. */
static bool below32(uint32_t a, uint32_t b)
{
    uint32_t x = a & 0x80000000u ? ~a : a | 0x80000000u;
    uint32_t y = b & 0x80000000u ? ~b : b | 0x80000000u;
    return y < x;
}

static bool below64(uint64_t a, uint64_t b)
{
    uint64_t x = a >> 63 ? ~a : a | 1ull << 63;
    uint64_t y = b >> 63 ? ~b : b | 1ull << 63;
    return y < x;
}

/* Selection of 9.2.3: signalling NaN first, then the order with quiet NaN at one end. */
static uint32_t pick32(uint32_t a, uint32_t b, bool wants_max, bool flush)
{
    bool a_nan = sim_f32_is_nan(a), b_nan = sim_f32_is_nan(b);
    if (a_nan && !(a & 0x00400000u)) {
        return a | 0x00400000u;
    }
    if (b_nan && !(b & 0x00400000u)) {
        return b | 0x00400000u;
    }
    if (a_nan || b_nan) {
        /* QNaN is smallest for max and largest for min: the number wins either way. */
        return a_nan ? b : a;
    }
    bool b_below = below32(flush32(a, flush), flush32(b, flush));
    return b_below == wants_max ? a : b;
}

static uint64_t pick64(uint64_t a, uint64_t b, bool wants_max)
{
    const uint64_t quiet = 0x0008000000000000ull;
    if (is_nan64(a) && !(a & quiet)) {
        return a | quiet;
    }
    if (is_nan64(b) && !(b & quiet)) {
        return b | quiet;
    }
    if (is_nan64(a) || is_nan64(b)) {
        return is_nan64(a) ? b : a;
    }
    return below64(a, b) == wants_max ? a : b;
}

static uint32_t add_pair(unsigned op, uint32_t old, uint32_t data)
{
    uint32_t result = 0;
    for (unsigned half = 0; half < 2; half++) {
        uint16_t a = (uint16_t)(old >> 16 * half), b = (uint16_t)(data >> 16 * half);
        uint16_t sum;
        if (op == SIM_ATOMIC_PK_ADD_F16) {
            sum = sim_f16_from_f32(add32(sim_f16_to_f32(a), sim_f16_to_f32(b), false));
        } else {
            sum = sim_bf16_from_f32(add32(sim_bf16_to_f32(a), sim_bf16_to_f32(b), false));
        }
        result |= (uint32_t)sum << 16 * half;
    }
    return result;
}

static uint32_t float32(unsigned op, uint32_t old, uint32_t data, uint32_t cmp, bool flush)
{
    switch (op) {
    case SIM_ATOMIC_FCMPSWAP:
        return as_float(flush32(old, flush)) == as_float(flush32(cmp, flush)) ? data : old;
    case SIM_ATOMIC_FADD:
        return add32(old, data, flush);
    case SIM_ATOMIC_FMIN:
        return pick32(old, data, false, flush);
    case SIM_ATOMIC_FMAX:
        return pick32(old, data, true, flush);
    default:
        return add_pair(op, old, data);
    }
}

uint32_t sim_atomic32(unsigned op, uint32_t old, uint32_t data, uint32_t cmp, bool flush)
{
    switch (op) {
    case SIM_ATOMIC_SWAP:
        return data;
    case SIM_ATOMIC_CMPSWAP:
        return old == cmp ? data : old;
    case SIM_ATOMIC_ADD:
        return old + data;
    case SIM_ATOMIC_SUB:
        return old - data;
    case SIM_ATOMIC_RSUB:
        return data - old;
    case SIM_ATOMIC_SMIN:
        return (int32_t)data < (int32_t)old ? data : old;
    case SIM_ATOMIC_UMIN:
        return data < old ? data : old;
    case SIM_ATOMIC_SMAX:
        return (int32_t)data > (int32_t)old ? data : old;
    case SIM_ATOMIC_UMAX:
        return data > old ? data : old;
    case SIM_ATOMIC_AND:
        return old & data;
    case SIM_ATOMIC_OR:
        return old | data;
    case SIM_ATOMIC_XOR:
        return old ^ data;
    case SIM_ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case SIM_ATOMIC_MSKOR: /* data = mask, cmp = bits */
        return (old & ~data) | cmp;
    case SIM_ATOMIC_WRAP: /* data = subtrahend, cmp = addend */
        return old >= data ? old - data : old + cmp;
    default:
        return float32(op, old, data, cmp, flush);
    }
}

uint64_t sim_atomic64(unsigned op, uint64_t old, uint64_t data, uint64_t cmp)
{
    switch (op) {
    case SIM_ATOMIC_SWAP:
        return data;
    case SIM_ATOMIC_CMPSWAP:
        return old == cmp ? data : old;
    case SIM_ATOMIC_ADD:
        return old + data;
    case SIM_ATOMIC_SUB:
        return old - data;
    case SIM_ATOMIC_RSUB:
        return data - old;
    case SIM_ATOMIC_SMIN:
        return (int64_t)data < (int64_t)old ? data : old;
    case SIM_ATOMIC_UMIN:
        return data < old ? data : old;
    case SIM_ATOMIC_SMAX:
        return (int64_t)data > (int64_t)old ? data : old;
    case SIM_ATOMIC_UMAX:
        return data > old ? data : old;
    case SIM_ATOMIC_AND:
        return old & data;
    case SIM_ATOMIC_OR:
        return old | data;
    case SIM_ATOMIC_XOR:
        return old ^ data;
    case SIM_ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case SIM_ATOMIC_MSKOR:
        return (old & ~data) | cmp;
    case SIM_ATOMIC_WRAP:
        return old >= data ? old - data : old + cmp;
    case SIM_ATOMIC_FCMPSWAP:
        return as_double(old) == as_double(cmp) ? data : old;
    case SIM_ATOMIC_FMIN:
        return pick64(old, data, false);
    case SIM_ATOMIC_FMAX:
        return pick64(old, data, true);
    default:
        return add64(old, data);
    }
}

static uint32_t update32(uint64_t addr, unsigned op, uint32_t data, uint32_t cmp)
{
    uint32_t *p = (uint32_t *)(uintptr_t)addr;
    uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    /* "ADD_F32: L2 flushes denorms" (ISA text, table 53); other formats keep them. */
    while (!__atomic_compare_exchange_n(p, &old,
                                        sim_atomic32(op, old, data, cmp, op == SIM_ATOMIC_FADD),
                                        true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
}

static uint64_t update64(uint64_t addr, unsigned op, uint64_t data, uint64_t cmp)
{
    uint64_t *p = (uint64_t *)(uintptr_t)addr;
    uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, sim_atomic64(op, old, data, cmp), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
}

void sim_mem_atomic(struct sim_wave *w, const struct sim_opnd *dst, const struct sim_opnd *data,
                    const struct sim_lanes *l, unsigned bytes, unsigned op)
{
    bool has_cmp = op == SIM_ATOMIC_CMPSWAP || op == SIM_ATOMIC_FCMPSWAP;
    const uint32_t *d = sim_vrow(w, data, 0);
    uint32_t *r = dst ? sim_vrow(w, dst, 0) : NULL;
    w->group->counts.c.atomics += (uint64_t)__builtin_popcountll(l->mask);
    for (uint64_t m = l->mask; m;) {
        unsigned lane = sim_next_lane(&m);
        uint64_t v[2] = { d[lane], 0 };
        if (bytes == 8) {
            v[0] |= (uint64_t)d[SIM_LANES + lane] << 32;
            v[1] =
                has_cmp ? d[2 * SIM_LANES + lane] | (uint64_t)d[3 * SIM_LANES + lane] << 32 : 0;
            v[0] = update64(l->addr[lane], op, v[0], v[1]);
        } else {
            v[1] = has_cmp ? d[SIM_LANES + lane] : 0;
            v[0] = update32(l->addr[lane], op, (uint32_t)v[0], (uint32_t)v[1]);
        }
        if (r) {
            r[lane] = (uint32_t)v[0];
            if (bytes == 8) {
                r[SIM_LANES + lane] = (uint32_t)(v[0] >> 32);
            }
        }
    }
}
