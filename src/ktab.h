/* SPDX-License-Identifier: MIT */
/*
 * The in-memory table: plans by shape key, kernels by config, and the single
 * flight that makes sure each kernel is built once.
 *
 * A kernel entry goes ABSENT -> BUILDING -> READY or FAILED.  Entries and
 * kernels live until ktab_destroy, so pointers handed out stay valid.
 */
#ifndef MXG_KTAB_H
#define MXG_KTAB_H

#include <stdbool.h>

#include "kernel_config.h"
#include "mem.h"
#include "mxgemm.h"
#include "select.h"

struct kernel;
struct ktab;

/* Zeroed, then filled: its bytes are the key. */
struct plan_key {
    int64_t n, k;
    uint32_t m_class;
    uint32_t a_type, c_type, b_layout, b_scale_layout, variant;
};

/* A plan with all of its kernels loaded.  Immutable once it is in the table. */
struct ready_plan {
    struct select_plan plan;
    const struct kernel *kernels[MXG_PLAN_MAX_KERNELS];
};

struct kernel_entry;

enum ktab_role {
    KTAB_BUILD,  /* the caller must build it, then call ktab_publish or ktab_fail */
    KTAB_READY,
    KTAB_FAILED
};

mxg_status ktab_create(const struct mem *mem, struct ktab **table);
/* Frees entries, plans and failure texts; kernels are handed to `unload` first. */
void ktab_destroy(struct ktab *table, void (*unload)(struct kernel *kernel, void *user),
                  void *user);

const struct ready_plan *ktab_find_plan(struct ktab *table, const struct plan_key *key);
/*
 * Copies the plan in; if another thread was first, its plan is returned.  NULL = out of
 * memory.
 */
const struct ready_plan *ktab_add_plan(struct ktab *table, const struct plan_key *key,
                                       const struct ready_plan *plan);

/*
 * Find or make the entry of a config.  Waits while another thread builds it;
 * *waited tells.  KTAB_READY sets *kernel.  KTAB_FAILED sets the detail text
 * and *status to the failure.  Returns OK or E_HOST_MEMORY.
 */
mxg_status ktab_acquire(struct ktab *table, const struct kernel_config *config,
                        enum ktab_role *role, struct kernel_entry **entry,
                        const struct kernel **kernel, mxg_status *failure, bool *waited);
void ktab_publish(struct ktab *table, struct kernel_entry *entry, struct kernel *kernel);
/*
 * `text` is copied.  A failure that is not worth remembering goes to those who wait now
 * only.
 */
void ktab_fail(struct ktab *table, struct kernel_entry *entry, mxg_status status,
               const char *text);

/* The kernel of a config if it is READY; never waits. */
const struct kernel *ktab_peek(struct ktab *table, const struct kernel_config *config);

/* FAILED entries become ABSENT. */
void ktab_forget_failures(struct ktab *table);

#endif
