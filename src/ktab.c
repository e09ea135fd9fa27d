/* SPDX-License-Identifier: MIT */
/* The in-memory table: plans by shape key, kernels by config, single flight per kernel. */
#include "ktab.h"

#include <pthread.h>
#include <string.h>

#include "status.h"
#include "uthash_cfg.h"

enum entry_state { ENTRY_ABSENT, ENTRY_BUILDING, ENTRY_READY, ENTRY_FAILED };

struct kernel_entry {
    struct kernel_config config; /* key; constant */
    /* Guarded by ktab.lock. */
    enum entry_state state;
    uint64_t generation;   /* of builds; tells a waiter that the build it waited for is over */
    struct kernel *kernel; /* READY */
    mxg_status failure;    /* of the last build that failed */
    char *failure_text;
    UT_hash_handle hh;
};

struct plan_entry {
    struct plan_key key;
    struct ready_plan plan;
    UT_hash_handle hh;
};

struct ktab {
    const struct mem *mem;
    pthread_mutex_t lock;
    pthread_cond_t built;         /* some build ended */
    struct kernel_entry *kernels; /* Guarded by lock. */
    struct plan_entry *plans;     /* Guarded by lock. */
};

mxg_status ktab_create(const struct mem *mem, struct ktab **table)
{
    struct ktab *t = mem_zalloc(mem, 1, sizeof *t);
    *table = NULL;
    if (t == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for the kernel table");
    }
    t->mem = mem;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->built, NULL);
    *table = t;
    return MXG_OK;
}

void ktab_destroy(struct ktab *table, void (*unload)(struct kernel *, void *), void *user)
{
    if (table == NULL) {
        return;
    }
    const struct mem *mem = table->mem;
    struct plan_entry *plan, *next_plan;
    HASH_ITER(hh, table->plans, plan, next_plan)
    {
        HASH_DEL(table->plans, plan);
        mem_free(mem, plan);
    }
    struct kernel_entry *entry, *next_entry;
    HASH_ITER(hh, table->kernels, entry, next_entry)
    {
        HASH_DEL(table->kernels, entry);
        if (entry->kernel != NULL) {
            unload(entry->kernel, user);
        }
        mem_free(mem, entry->failure_text);
        mem_free(mem, entry);
    }
    pthread_cond_destroy(&table->built);
    pthread_mutex_destroy(&table->lock);
    mem_free(mem, table);
}

const struct ready_plan *ktab_find_plan(struct ktab *table, const struct plan_key *key)
{
    struct plan_entry *entry = NULL;
    pthread_mutex_lock(&table->lock);
    HASH_FIND(hh, table->plans, key, sizeof *key, entry);
    pthread_mutex_unlock(&table->lock);
    return entry != NULL ? &entry->plan : NULL;
}

const struct ready_plan *ktab_add_plan(struct ktab *table, const struct plan_key *key,
                                       const struct ready_plan *plan)
{
    const struct mem *mem = table->mem;
    struct plan_entry *made = mem_zalloc(mem, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->key = *key;
    made->plan = *plan;
    struct plan_entry *entry = NULL;
    pthread_mutex_lock(&table->lock);
    HASH_FIND(hh, table->plans, key, sizeof *key, entry);
    if (entry == NULL) {
        HASH_ADD(hh, table->plans, key, sizeof made->key, made);
        if (made->hh.tbl != NULL) {
            entry = made;
        }
    }
    pthread_mutex_unlock(&table->lock);
    if (entry != made) {
        mem_free(mem, made);
    }
    return entry != NULL ? &entry->plan : NULL;
}

/* Under the lock: the entry of a config, made if there is none; NULL = out of memory. */
static struct kernel_entry *find_or_add(struct ktab *table, const struct kernel_config *config)
{
    const struct mem *mem = table->mem;
    struct kernel_entry *entry = NULL;
    HASH_FIND(hh, table->kernels, config, sizeof *config, entry);
    if (entry != NULL) {
        return entry;
    }
    entry = mem_zalloc(mem, 1, sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    entry->config = *config;
    HASH_ADD(hh, table->kernels, config, sizeof entry->config, entry);
    if (entry->hh.tbl == NULL) {
        mem_free(mem, entry);
        return NULL;
    }
    return entry;
}

mxg_status ktab_acquire(struct ktab *table, const struct kernel_config *config,
                        enum ktab_role *role, struct kernel_entry **entry,
                        const struct kernel **kernel, mxg_status *failure, bool *waited)
{
    *waited = false;
    *kernel = NULL;
    *failure = MXG_OK;
    pthread_mutex_lock(&table->lock);
    struct kernel_entry *e = find_or_add(table, config);
    *entry = e;
    if (e == NULL) {
        pthread_mutex_unlock(&table->lock);
        return status_set(MXG_E_HOST_MEMORY, "no memory for a kernel table entry");
    }
    if (e->state == ENTRY_BUILDING) {
        const uint64_t generation = e->generation;
        *waited = true;
        while (e->generation == generation) {
            pthread_cond_wait(&table->built, &table->lock);
        }
    }
    /* A waiter shares the outcome of the build it waited for, remembered or not. */
    if (e->state == ENTRY_READY) {
        *role = KTAB_READY;
        *kernel = e->kernel;
    } else if (e->state == ENTRY_FAILED || *waited) {
        *role = KTAB_FAILED;
        *failure = e->failure;
        status_set(e->failure, "%s", e->failure_text != NULL ? e->failure_text : "");
    } else {
        *role = KTAB_BUILD;
        e->state = ENTRY_BUILDING;
    }
    pthread_mutex_unlock(&table->lock);
    return MXG_OK;
}

void ktab_publish(struct ktab *table, struct kernel_entry *entry, struct kernel *kernel)
{
    pthread_mutex_lock(&table->lock);
    entry->kernel = kernel;
    entry->state = ENTRY_READY;
    entry->generation++;
    pthread_cond_broadcast(&table->built);
    pthread_mutex_unlock(&table->lock);
}

/* Memory may be there the next time; a source that does not compile never will. */
static bool is_worth_remembering(mxg_status status)
{
    return status != MXG_E_HOST_MEMORY && status != MXG_E_DEVICE_MEMORY && status != MXG_E_HIP;
}

void ktab_fail(struct ktab *table, struct kernel_entry *entry, mxg_status status,
               const char *text)
{
    char *copy = mem_strdup(table->mem, text);
    pthread_mutex_lock(&table->lock);
    mem_free(table->mem, entry->failure_text);
    entry->failure_text = copy;
    entry->failure = status;
    entry->state = is_worth_remembering(status) ? ENTRY_FAILED : ENTRY_ABSENT;
    entry->generation++;
    pthread_cond_broadcast(&table->built);
    pthread_mutex_unlock(&table->lock);
}

const struct kernel *ktab_peek(struct ktab *table, const struct kernel_config *config)
{
    struct kernel_entry *entry = NULL;
    const struct kernel *kernel = NULL;
    pthread_mutex_lock(&table->lock);
    HASH_FIND(hh, table->kernels, config, sizeof *config, entry);
    if (entry != NULL && entry->state == ENTRY_READY) {
        kernel = entry->kernel;
    }
    pthread_mutex_unlock(&table->lock);
    return kernel;
}

void ktab_forget_failures(struct ktab *table)
{
    struct kernel_entry *entry, *next;
    pthread_mutex_lock(&table->lock);
    HASH_ITER(hh, table->kernels, entry, next)
    {
        if (entry->state == ENTRY_FAILED) {
            entry->state = ENTRY_ABSENT;
        }
    }
    pthread_mutex_unlock(&table->lock);
}
