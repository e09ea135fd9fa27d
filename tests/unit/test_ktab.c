/* SPDX-License-Identifier: MIT */
/* The in-memory table: identity of keys, single flight, shared and remembered failures. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktab.h"
#include "status.h"

static int kernels[512]; /* stand-ins: the table never looks inside a kernel */
static atomic_int unloaded;

static struct kernel *kernel_number(int i)
{
    return (struct kernel *)(void *)&kernels[i];
}

static void count_unload(struct kernel *kernel, void *user)
{
    ck_assert_ptr_nonnull(kernel);
    ck_assert_ptr_eq(user, &unloaded);
    atomic_fetch_add(&unloaded, 1);
}

static struct kernel_config config_of(int64_t n)
{
    struct kernel_config c;
    memset(&c, 0, sizeof c);
    c.n = n;
    c.k = 512;
    c.family = FAMILY_GEMM;
    return c;
}

static struct ktab *table_make(void)
{
    struct ktab *table = NULL;
    atomic_store(&unloaded, 0);
    ck_assert_int_eq(ktab_create(&mem_default, &table), MXG_OK);
    return table;
}

static enum ktab_role acquire(struct ktab *table, int64_t n, struct kernel_entry **entry,
                              const struct kernel **kernel, mxg_status *failure, bool *waited)
{
    const struct kernel_config config = config_of(n);
    enum ktab_role role;
    ck_assert_int_eq(ktab_acquire(table, &config, &role, entry, kernel, failure, waited),
                     MXG_OK);
    return role;
}

START_TEST(test_ktab_finds_what_was_published)
{
    struct ktab *table = table_make();
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(acquire(table, i, &entry, &kernel, &failure, &waited), KTAB_BUILD);
        ktab_publish(table, entry, kernel_number(i));
    }
    for (int i = 0; i < 300; i++) {
        const struct kernel_config config = config_of(i);
        ck_assert_int_eq(acquire(table, i, &entry, &kernel, &failure, &waited), KTAB_READY);
        ck_assert_ptr_eq(kernel, kernel_number(i));
        ck_assert(!waited);
        ck_assert_ptr_eq(ktab_peek(table, &config), kernel_number(i));
    }
    const struct kernel_config other = config_of(300);
    ck_assert_ptr_null(ktab_peek(table, &other));
    ktab_destroy(table, count_unload, &unloaded);
    ck_assert_int_eq(atomic_load(&unloaded), 300);
}
END_TEST

START_TEST(test_ktab_remembers_a_failed_compile_until_asked)
{
    struct ktab *table = table_make();
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_BUILD);
    ktab_fail(table, entry, MXG_E_COMPILE, "line 7: no such thing");
    status_set(MXG_OK, "cleared");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_FAILED);
        ck_assert_int_eq(failure, MXG_E_COMPILE);
        ck_assert_str_eq(mxg_last_error(), "line 7: no such thing");
    }
    ktab_forget_failures(table);
    ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_BUILD);
    ktab_publish(table, entry, kernel_number(1));
    ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_READY);
    ktab_destroy(table, count_unload, &unloaded);
}
END_TEST

START_TEST(test_ktab_does_not_remember_lack_of_memory)
{
    static const mxg_status passing[] = { MXG_E_HOST_MEMORY, MXG_E_DEVICE_MEMORY, MXG_E_HIP };
    struct ktab *table = table_make();
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_BUILD);
        ktab_fail(table, entry, passing[i], "full");
    }
    ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_BUILD);
    ktab_publish(table, entry, kernel_number(1));
    ktab_destroy(table, count_unload, &unloaded);
}
END_TEST

struct flight {
    struct ktab *table;
    int64_t n;
    mxg_status outcome; /* what the builder reports */
    atomic_int builds, ready, failed, waits;
};

static void *fly(void *argument)
{
    struct flight *f = argument;
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    const enum ktab_role role = acquire(f->table, f->n, &entry, &kernel, &failure, &waited);
    atomic_fetch_add(&f->waits, waited);
    if (role == KTAB_BUILD) {
        atomic_fetch_add(&f->builds, 1);
        usleep(50000);
        if (f->outcome == MXG_OK) {
            ktab_publish(f->table, entry, kernel_number(1));
        } else {
            ktab_fail(f->table, entry, f->outcome, "shared");
        }
    } else if (role == KTAB_READY) {
        ck_assert_ptr_eq(kernel, kernel_number(1));
        atomic_fetch_add(&f->ready, 1);
    } else {
        ck_assert_int_eq(failure, f->outcome);
        ck_assert_str_eq(mxg_last_error(), "shared");
        atomic_fetch_add(&f->failed, 1);
    }
    return NULL;
}

static void fly_many(struct flight *f)
{
    pthread_t threads[16];
    for (int i = 0; i < 16; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fly, f), 0);
    }
    for (int i = 0; i < 16; i++) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(test_ktab_builds_once_for_many_threads)
{
    struct flight f = { .table = table_make(), .n = 1, .outcome = MXG_OK };
    fly_many(&f);
    ck_assert_int_eq(f.builds, 1);
    ck_assert_int_eq(f.ready, 15);
    ck_assert_int_eq(f.failed, 0);
    ktab_destroy(f.table, count_unload, &unloaded);
}
END_TEST

START_TEST(test_ktab_waiters_share_the_failure)
{
    struct flight f = { .table = table_make(), .n = 1, .outcome = MXG_E_COMPILE };
    fly_many(&f);
    ck_assert_int_eq(f.builds, 1);
    ck_assert_int_eq(f.failed, 15);
    ktab_destroy(f.table, count_unload, &unloaded);

    /* Not remembered, yet those who waited for that build see it. */
    struct flight g = { .table = table_make(), .n = 1, .outcome = MXG_E_HOST_MEMORY };
    fly_many(&g);
    ck_assert_int_ge(g.failed, g.waits);
    ck_assert_int_eq(g.failed + g.builds, 16);
    ktab_destroy(g.table, count_unload, &unloaded);
}
END_TEST

static void *build_other_key(void *argument)
{
    struct ktab *table = argument;
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    ck_assert_int_eq(acquire(table, 2, &entry, &kernel, &failure, &waited), KTAB_BUILD);
    ck_assert(!waited);
    ktab_publish(table, entry, kernel_number(2));
    return NULL;
}

START_TEST(test_ktab_a_build_does_not_hold_up_other_keys)
{
    struct ktab *table = table_make();
    struct kernel_entry *entry;
    const struct kernel *kernel;
    mxg_status failure;
    bool waited;
    pthread_t other;
    ck_assert_int_eq(acquire(table, 1, &entry, &kernel, &failure, &waited), KTAB_BUILD);
    ck_assert_int_eq(pthread_create(&other, NULL, build_other_key, table), 0);
    pthread_join(other, NULL); /* hangs, and so fails, if key 2 waits for key 1 */
    ktab_publish(table, entry, kernel_number(1));
    ktab_destroy(table, count_unload, &unloaded);
    ck_assert_int_eq(atomic_load(&unloaded), 2);
}
END_TEST

START_TEST(test_ktab_first_plan_of_a_key_stays)
{
    struct ktab *table = table_make();
    struct plan_key key;
    struct ready_plan plan;
    memset(&key, 0, sizeof key);
    memset(&plan, 0, sizeof plan);
    key.n = 7;
    ck_assert_ptr_null(ktab_find_plan(table, &key));
    plan.plan.num_kernels = 1;
    const struct ready_plan *first = ktab_add_plan(table, &key, &plan);
    ck_assert_ptr_nonnull(first);
    plan.plan.num_kernels = 2;
    ck_assert_ptr_eq(ktab_add_plan(table, &key, &plan), first);
    ck_assert_ptr_eq(ktab_find_plan(table, &key), first);
    ck_assert_uint_eq(first->plan.num_kernels, 1);
    key.m_class = 1;
    ck_assert_ptr_null(ktab_find_plan(table, &key));
    ktab_destroy(table, count_unload, &unloaded);
}
END_TEST

/* An allocator with a budget of allocations: every failure must be clean. */
struct budget {
    long left;
    long live;
};

static void *budget_allocate(size_t size, void *user)
{
    struct budget *b = user;
    if (b->left-- <= 0) {
        return NULL;
    }
    b->live++;
    return malloc(size);
}

static void budget_deallocate(void *pointer, void *user)
{
    ((struct budget *)user)->live--;
    free(pointer);
}

static bool fill(struct ktab *table)
{
    for (int i = 0; i < 40; i++) {
        const struct kernel_config config = config_of(i);
        enum ktab_role role;
        struct kernel_entry *entry;
        const struct kernel *kernel;
        mxg_status failure;
        bool waited;
        struct plan_key key;
        struct ready_plan plan;
        if (ktab_acquire(table, &config, &role, &entry, &kernel, &failure, &waited) != MXG_OK) {
            return false;
        }
        ktab_publish(table, entry, kernel_number(i));
        memset(&key, 0, sizeof key);
        memset(&plan, 0, sizeof plan);
        key.n = i;
        if (ktab_add_plan(table, &key, &plan) == NULL) {
            return false;
        }
    }
    return true;
}

START_TEST(test_ktab_survives_every_failed_allocation)
{
    bool whole = false;
    for (long n = 0; !whole; n++) {
        struct budget b = { n, 0 };
        const struct mem mem = { budget_allocate, budget_deallocate, &b };
        struct ktab *table = NULL;
        if (ktab_create(&mem, &table) == MXG_OK) {
            whole = fill(table);
            ktab_destroy(table, count_unload, &unloaded);
        }
        ck_assert_int_eq(b.live, 0);
        ck_assert_msg(n < 1000 && !(whole && n == 0), "n = %ld", n);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ktab");
    TCase *tc = tcase_create("table");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_ktab_finds_what_was_published);
    tcase_add_test(tc, test_ktab_remembers_a_failed_compile_until_asked);
    tcase_add_test(tc, test_ktab_does_not_remember_lack_of_memory);
    tcase_add_test(tc, test_ktab_builds_once_for_many_threads);
    tcase_add_test(tc, test_ktab_waiters_share_the_failure);
    tcase_add_test(tc, test_ktab_a_build_does_not_hold_up_other_keys);
    tcase_add_test(tc, test_ktab_first_plan_of_a_key_stays);
    tcase_add_test(tc, test_ktab_survives_every_failed_allocation);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
