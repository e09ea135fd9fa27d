/* SPDX-License-Identifier: MIT */
/*
 * A context runs one workgroup at a time, in slices, on whatever thread holds it.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct sim_context;
struct sim_dispatch;

enum sim_slice {
    SIM_SLICE_DONE,   /* the workgroup ended, or the launch was stopped */
    SIM_SLICE_YIELDED /* it waits for something, or has run for long */
};

struct sim_context *sim_context_create(void);
void sim_context_destroy(struct sim_context *context);

/* A link for the owner's lists. */
struct sim_context **sim_context_link(struct sim_context *context);

/* Set the waves of workgroup `linear` to their initial state; false without memory. */
bool sim_group_begin(struct sim_context *context, struct sim_dispatch *d, uint64_t linear);
enum sim_slice sim_group_slice(struct sim_context *context);
void sim_group_end(struct sim_context *context);

#endif
